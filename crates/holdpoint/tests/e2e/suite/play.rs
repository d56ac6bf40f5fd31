//! One scenario of one language, from a copy of its folder to what came of it.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use holdpoint_testkit::{
    debug::{Debug, Said, line, python},
    packages::copy_tree,
    until,
};
use serde_json::Value;

use super::{
    checks,
    script::{Scenario, What, filled},
    table::{Outcome, Table},
};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Stops of others on the way to an end: a thread each, and some to spare.
const OTHERS: usize = 8;

/// Runs it to its end, or to where a tool refuses or a check does not hold.
#[track_caller]
pub(super) fn play(table: &Table, scenario: &Scenario) -> Outcome {
    let mut stage = Stage::new(table);
    let mut is_emulated = false;
    for step in &scenario.steps {
        let said = match &step.what {
            What::Own(own) => {
                stage.own(own);
                continue;
            }
            What::Call { tool, arguments, succeeds } => {
                let (said, succeeded) = stage.call(tool, arguments);
                match (succeeds, succeeded) {
                    (true, false) => return Outcome::Refused(said.text),
                    (false, true) => panic!("{tool} did not fail: {}", said.text),
                    (true, true) | (false, false) => said,
                }
            }
        };
        is_emulated |= said.data["way"] == "emulated" || said.data["emulated"] == true;
        for check in &step.checks {
            if let Err(why) = stage.check(check, &said) {
                return Outcome::Absent { check: check.clone(), why };
            }
        }
    }
    if is_emulated { Outcome::Emulated } else { Outcome::Passed }
}

struct Stage<'t> {
    table: &'t Table,
    folder: tempfile::TempDir,
    debug: Debug,
    /// A program of nobody's.
    stray: RefCell<Option<Stray>>,
}

struct Stray {
    child: Child,
    port: u16,
}

impl Drop for Stray {
    fn drop(&mut self) {
        // It may be gone already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

impl<'t> Stage<'t> {
    fn new(table: &'t Table) -> Stage<'t> {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&table.folder(), folder.path());
        if table.language == "python" {
            // Provides the debugger, once.
            python(BIN, FOLDER);
        }
        Stage { table, folder, debug: Debug::for_any(BIN, FOLDER), stray: RefCell::default() }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// What a program of the folder is called, by the section of the table that names it.
    fn source(&self, section: &str) -> PathBuf {
        let path =
            if section.is_empty() { "source".to_owned() } else { format!("{section}.source") };
        let name = self.table.text(&path).unwrap_or_else(|| panic!("no `{path}` in the table"));
        self.folder().join(name)
    }

    /// The line of a mark: `add`, or `loop:tick` in another program.
    #[track_caller]
    fn line(&self, mark: &str) -> usize {
        match mark.split_once(':') {
            Some((section, mark)) => line(&self.source(section), mark),
            None => line(&self.source(""), mark),
        }
    }

    fn word(&self, name: &str) -> Option<String> {
        let path = |it: &Path| it.display().to_string();
        let stray = self.stray.borrow();
        Some(match name.split_once(':') {
            Some(("line", mark)) => self.line(mark).to_string(),
            Some(_) => self.line(name).to_string(),
            None => match name {
                "folder" => path(&self.folder()),
                "source" => path(&self.source("")),
                "loop_source" => path(&self.source("loop")),
                "test_source" => path(&self.source("test")),
                "hits" => self.table.hits().to_string(),
                "python" => python(BIN, FOLDER).path.clone(),
                "pid" => stray.as_ref()?.child.id().to_string(),
                "port" => stray.as_ref()?.port.to_string(),
                "attach" => {
                    drop(stray);
                    self.filled(&self.table.text("loop.attach")?)
                }
                _ => self.table.word(name)?,
            },
        })
    }

    #[track_caller]
    fn filled(&self, text: &str) -> String {
        filled(text, |name| self.word(name))
    }

    /// Calls a tool. One that starts a program is given what the language's table says of that program.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &str) -> (Said, bool) {
        let (section, arguments) = match arguments.split_once(' ') {
            Some((section @ ("loop" | "test"), rest)) => (section, rest),
            _ => ("", arguments),
        };
        let text = self.filled(arguments);
        let mut arguments: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if ["debug_launch", "debug_probe"].contains(&tool) {
            let path =
                if section.is_empty() { "launch".to_owned() } else { format!("{section}.launch") };
            let launch =
                self.table.text(&path).unwrap_or_else(|| panic!("no `{path}` in the table"));
            let launch = self.filled(&launch);
            let launch: Value =
                serde_json::from_str(&launch).unwrap_or_else(|error| panic!("{error}: {launch}"));
            merge(&mut arguments, &launch);
        }
        println!("> {tool} {arguments}");
        let (said, succeeded) = self.debug.call(tool, arguments);
        println!("{}\n", said.text);
        (said, succeeded)
    }

    #[track_caller]
    fn check(&mut self, check: &str, said: &Said) -> Result<(), String> {
        let filled = self.filled(check);
        let line = |mark: &str| self.line(mark);
        match filled.strip_prefix("finally ") {
            None => checks::check(&filled, said, &line),
            Some(last) => {
                let mut said = said.clone();
                for _ in 0..OTHERS {
                    match said.data["state"].as_str() {
                        Some("stopped") => {
                            said =
                                self.debug.ok("debug_continue", Value::Object(Default::default()))
                        }
                        Some("running") => {
                            said = self.debug.ok("debug_wait", Value::Object(Default::default()))
                        }
                        _ => break,
                    }
                }
                checks::check(last, &said, &|mark| self.line(mark))
            }
        }
    }

    /// What the suite does beside calling tools.
    #[track_caller]
    fn own(&mut self, what: &str) {
        println!("$ {what}");
        match what {
            "start" => self.start(),
            "goes on" => self.goes_on(),
            "edit" => self.edit(),
            _ => panic!("nobody knows how to `{what}`"),
        }
    }

    /// Starts the loop with nobody over it.
    fn start(&mut self) {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let filled = |it: &String| {
            filled(it, |name| if name == "port" { Some(port.to_string()) } else { self.word(name) })
        };
        for build in self.table.lists("loop.build") {
            let words: Vec<String> = build.iter().map(filled).collect();
            let done =
                Command::new(&words[0]).args(&words[1..]).current_dir(self.folder()).output();
            let done = done.unwrap_or_else(|error| panic!("{words:?}: {error}"));
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        let words: Vec<String> = self.table.list("loop.run").iter().map(filled).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("never").current_dir(self.folder());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{words:?}: {error}"));
        self.stray.replace(Some(Stray { child, port }));
        until("the first pass", || (self.passes() > 0).then_some(()));
    }

    /// How often the loop came by, by its own word.
    fn passes(&self) -> u64 {
        std::fs::metadata(self.folder.path().join("log-0")).map_or(0, |it| it.len())
    }

    fn goes_on(&self) {
        let before = self.passes();
        until("the program to go on", || (self.passes() > before + 3).then_some(()));
        let mut stray = self.stray.borrow_mut();
        let ended = stray.as_mut().expect("a program").child.try_wait().unwrap();
        assert!(ended.is_none(), "it is gone with {ended:?}");
    }

    fn edit(&self) {
        let file = self.source("");
        let text = std::fs::read_to_string(&file).unwrap();
        let what = self.word("edit").expect("a word");
        assert_eq!(text.matches(&what).count(), 1, "`{what}` in {}", file.display());
        std::fs::write(&file, text.replace(&what, &format!("{what} + 1"))).unwrap();
    }
}

/// What the scenario says wins.
fn merge(arguments: &mut Value, launch: &Value) {
    let own = arguments.as_object_mut().expect("an object");
    for (name, value) in launch.as_object().expect("an object") {
        own.entry(name).or_insert_with(|| value.clone());
    }
}
