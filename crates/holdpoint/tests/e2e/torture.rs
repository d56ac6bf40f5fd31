//! Seeded walks over everything a client can do to a program, with kills at random points; what is said is
//! checked against what the program itself wrote down, and against `/proc`.
//!
//! `cargo xtask torture` runs as many rounds as one likes; here are a few of fixed seeds.

mod abuse;
mod attacks;
mod programs;
mod seeded;
mod store;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use holdpoint_testkit::debug::{Debug, Said, line, python};
use serde_json::{Value, json};

use self::programs::{End, PROGRAMS, Program, truth};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// What is walked where nobody says otherwise.
const ROUNDS: u64 = 12;
const SEED: u64 = 1;

#[test]
fn a_walk_of_fixed_seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let rounds = number("HOLDPOINT_TORTURE_ROUNDS").unwrap_or(ROUNDS);
    let seed = number("HOLDPOINT_TORTURE_SEED").unwrap_or(SEED);
    let limit = number("HOLDPOINT_TORTURE_MINUTES").map(|it| Duration::from_secs(it * 60));
    let started = Instant::now();
    let (mut walked, mut counts) = (0, Counts::default());
    for round in 0..rounds {
        if limit.is_some_and(|limit| started.elapsed() > limit) {
            break;
        }
        let mut walk = Walk::new(seed + round);
        walk.go(&mut counts);
        walked += 1;
    }
    println!("{walked} rounds from seed {seed} in {:?}: {counts:?}", started.elapsed());
    assert!(counts.checked > 0 && counts.killed > 0, "nothing was looked at: {counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    /// Compared with what the program wrote down.
    checked: u64,
    stops: u64,
    ends: u64,
    killed: u64,
}

/// What the session is, by all that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    /// Not begun yet, or somewhere else than at the marked line.
    Elsewhere,
    AtTick,
    Running,
    Ended,
}

struct Walk {
    seed: u64,
    random: u64,
    program: &'static Program,
    folder: tempfile::TempDir,
    file: PathBuf,
    debug: Option<Debug>,
    now: Now,
    point: Option<Value>,
    trail: Vec<String>,
}

impl Drop for Walk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Walk { seed, program, trail, now, .. } = self;
            println!("seed {seed}, {}: {now:?} after {trail:#?}", program.name);
        }
    }
}

impl Walk {
    fn new(seed: u64) -> Walk {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let program = &PROGRAMS[next(&mut random, PROGRAMS.len())];
        let folder = tempfile::tempdir().unwrap();
        let file = program.write(folder.path());
        Walk {
            seed,
            random,
            program,
            folder,
            file,
            debug: Some(python(BIN, FOLDER).start()),
            now: Now::Elsewhere,
            point: None,
            trail: Vec::new(),
        }
    }

    fn go(&mut self, counts: &mut Counts) {
        let more = json!({ "cwd": self.folder.path() });
        let file = self.file.clone();
        let begun = self.debug().launch(&file, more);
        self.take(&begun, counts);
        for _ in 0..6 + self.pick(10) {
            self.step(counts);
            if self.now == Now::Ended || self.debug.is_none() {
                break;
            }
        }
        if self.debug.is_some() && self.now != Now::Ended {
            self.kill(counts);
        }
        // Asserts that nothing is left.
        drop(self.debug.take());
    }

    /// One thing that a client can do now.
    fn step(&mut self, counts: &mut Counts) {
        let is_stopped = matches!(self.now, Now::Elsewhere | Now::AtTick);
        match self.pick(10) {
            0 | 1 if self.point.is_none() => self.set(counts),
            0 => self.unset(counts),
            1 | 2 if is_stopped => self.call("debug_step", json!({ "action": "next" }), counts),
            3 if is_stopped => self.look(counts),
            4 => self.ask("debug_output", counts),
            5 => self.ask("timeline_query", counts),
            6 => self.status(counts),
            _ if is_stopped => self.call("debug_continue", json!({ "timeout_s": 0.3 }), counts),
            7 | 8 => self.call("debug_pause", json!({}), counts),
            _ => self.call("debug_wait", json!({ "timeout_s": 0.2 }), counts),
        }
    }

    fn set(&mut self, counts: &mut Counts) {
        let place = json!({ "file": self.file, "line": line(&self.file, "tick") });
        self.trail.push("set".to_owned());
        counts.calls += 1;
        let said = self.debug().ok("breakpoint_set", place);
        self.point = Some(said.data["id"].clone());
    }

    fn unset(&mut self, counts: &mut Counts) {
        let Some(id) = self.point.take() else { return };
        self.trail.push("remove".to_owned());
        counts.calls += 1;
        self.debug().ok("breakpoint_remove", json!({ "id": id }));
    }

    fn call(&mut self, tool: &str, arguments: Value, counts: &mut Counts) {
        self.trail.push(format!("{tool} {arguments}"));
        counts.calls += 1;
        let said = self.debug().ok(tool, arguments);
        self.take(&said, counts);
    }

    fn ask(&mut self, tool: &str, counts: &mut Counts) {
        self.trail.push(tool.to_owned());
        counts.calls += 1;
        self.debug().ok(tool, json!({}));
    }

    /// Where it stands, by its own word.
    fn look(&mut self, counts: &mut Counts) {
        if self.now != Now::AtTick {
            return self.ask("debug_stack", counts);
        }
        self.trail.push("look".to_owned());
        counts.calls += 1;
        let shown = self.debug().eval("n");
        let n: u64 =
            shown.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{shown}"));
        let truth = truth(self.folder.path());
        counts.checked += 1;
        assert_eq!(n + 1, truth, "`n` and what the program wrote down");
    }

    /// What is said to live lives.
    fn status(&mut self, counts: &mut Counts) {
        self.trail.push("status".to_owned());
        counts.calls += 1;
        let said = self.debug().ok("debug_status", json!({}));
        let lives = !self.debug().children().is_empty();
        if said.text.contains("running") || said.text.contains("stopped") {
            counts.checked += 1;
            assert!(lives || self.program.end != End::Never, "nothing lives: {}", said.text);
        }
    }

    /// What an answer says of the program must be so.
    fn take(&mut self, said: &Said, counts: &mut Counts) {
        self.now = match said.data["state"].as_str() {
            Some("running") => Now::Running,
            Some("ended") => {
                counts.ends += 1;
                counts.checked += 1;
                let expected = match self.program.end {
                    End::Code(code) => json!({ "code": code }),
                    End::Never => panic!("it never ends: {}", said.text),
                };
                assert_eq!(said.data["exit"], expected, "{}", said.text);
                Now::Ended
            }
            Some("stopped") => {
                counts.stops += 1;
                let is_tick = said.data["stop"]["line"] == json!(line(&self.file, "tick"));
                if said.data["stop"]["reason"] == "breakpoint" {
                    counts.checked += 1;
                    assert!(is_tick && self.point.is_some(), "no such point: {}", said.text);
                }
                if is_tick { Now::AtTick } else { Now::Elsewhere }
            }
            other => panic!("{other:?}: {}", said.text),
        };
    }

    /// Somebody dies, and whoever lives says so.
    fn kill(&mut self, counts: &mut Counts) {
        counts.killed += 1;
        match self.pick(4) {
            0 => {
                self.trail.push("kill the server".to_owned());
                self.debug().restart_server(BIN);
            }
            1 => {
                self.trail.push("the client goes".to_owned());
            }
            2 => {
                self.trail.push("kill the guard".to_owned());
                self.kill_one(|words| words.nth(1) == Some("guard"));
                self.ended("guard");
            }
            _ => {
                self.trail.push("kill the program".to_owned());
                let file = self.file.display().to_string();
                let is_program = move |words: &mut dyn Iterator<Item = &str>| {
                    let words: Vec<&str> = words.collect();
                    words.get(1) != Some(&"guard") && words.contains(&file.as_str())
                };
                self.kill_one(is_program);
                self.ended("signal");
            }
        }
    }

    fn kill_one(&mut self, is_it: impl Fn(&mut dyn Iterator<Item = &str>) -> bool) {
        for pid in self.debug().children() {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            if is_it(&mut words.split('\0')) {
                let killed = std::process::Command::new("kill").args(["-s", "KILL", &pid]).status();
                assert!(killed.unwrap().success());
                return;
            }
        }
        // It may have ended by itself meanwhile.
        assert!(self.program.end != End::Never, "not there");
    }

    fn ended(&mut self, by: &str) {
        let said = self.debug().ok("debug_wait", json!({ "timeout_s": 10 }));
        assert_eq!(said.data["state"], "ended", "{}", said.text);
        let exit = said.data["exit"].to_string();
        assert!(exit.contains(by) || self.program.end != End::Never, "{}", said.text);
    }

    fn debug(&mut self) -> &mut Debug {
        self.debug.as_mut().unwrap()
    }

    fn pick(&mut self, of: usize) -> usize {
        next(&mut self.random, of)
    }
}

fn next(random: &mut u64, of: usize) -> usize {
    *random =
        random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*random >> 33).unwrap() % of
}
