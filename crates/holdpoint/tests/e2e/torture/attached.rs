//! Programs that run already: taken by process or port, walked over, and left as they were found. Whatever dies
//! but themselves, they go on.

use std::{
    fs::File,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    counts::{Failed, Victim, Wrong},
    lang::Language,
    lang::programs,
    model::{Move, Now},
    programs::Program,
    round::{Round, within},
    walk::{LATE, Walk},
};

/// How long a program may take to begin, or to go on.
const GOES: Duration = Duration::from_secs(15);

/// A program of nobody's, gone with its handle.
struct Stray(Child);

impl Drop for Stray {
    fn drop(&mut self) {
        // It may be gone already.
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

pub(super) fn attached(round: &Round<'_>) -> Result<(), Failed> {
    let is_fit = |it: &&Program| it.is_endless() && !it.has_child && it.name != "node worker";
    let fit: Vec<&'static Program> = programs().iter().filter(is_fit).collect();
    let mut walk = Walk::start(round, round.one(&fit))?;
    let by_port = round.chance(50);
    let port = free_port();
    let mut stray = walk.stray(by_port, port);
    let begins = within(GOES, || walk.model.passes("0") > 0);
    round.expect(Wrong::Walk, begins, || "the program does not begin".to_owned())?;
    let pid = i32::try_from(stray.0.id()).unwrap();
    let arguments = match walk.model.program.language {
        Some((language, _)) => language.attach(walk.model.folder.path(), pid, port),
        None if by_port => walk.listens(round)?,
        None => json!({ "pid": pid }),
    };
    walk.model.is_attached = true;
    if round.chance(15) {
        let asked = walk.server.client.ask(round, "debug_attach", arguments);
        round.linger(600);
        round.kills(Victim::Server);
        drop(asked);
        walk.server.kill(round)?;
        return goes_on(&walk, &mut stray);
    }
    let said = walk.ok("debug_attach", arguments)?;
    walk.model.id = said.data["session_id"].as_str().unwrap_or_default().to_owned();
    walk.model.take(round, &said, Move::Run)?;
    for _ in 0..3 + round.pick(7) {
        walk.step()?;
    }
    leave(walk, &mut stray)
}

/// The session ends in some way, and the program goes on unless it was the one to die.
fn leave(mut walk: Walk<'_, '_>, stray: &mut Stray) -> Result<(), Failed> {
    let round = walk.round;
    match round.pick(5) {
        0 => {
            round.kills(Victim::Program);
            stray.0.kill().unwrap();
            let said = walk.end_is_told()?;
            // Its debugger may have kept others from seeing with what.
            let exits = [json!({}), json!({ "signal": 9 })];
            let is_over = said.data["state"] == "ended" && exits.contains(&said.data["exit"]);
            round.check(is_over, || said.text.clone())?;
            return walk.over();
        }
        1 | 2 => {
            round.kills(Victim::Server);
            walk.server.kill(round)?;
        }
        3 => {
            round.kills(Victim::Client);
            let Walk { server, model, .. } = walk;
            server.ends(round, false)?;
            return goes_on_at(round, &model, stray);
        }
        _ => {
            let said = walk.ok("debug_stop", json!({}))?;
            walk.model.stands = None;
            let is_left = said.data["exit"] == json!({ "detached": true });
            round.check(is_left, || said.text.clone())?;
            goes_on(&walk, stray)?;
            let said = walk.call_unchecked("debug_continue", json!({}))?;
            round.check(said.failed_with(LATE), || said.text.clone())?;
            return walk.over();
        }
    }
    goes_on(&walk, stray)
}

fn goes_on(walk: &Walk<'_, '_>, stray: &mut Stray) -> Result<(), Failed> {
    goes_on_at(walk.round, &walk.model, stray)
}

fn goes_on_at(
    round: &Round<'_>,
    model: &super::model::Model,
    stray: &mut Stray,
) -> Result<(), Failed> {
    let before = model.passes("0");
    let goes = within(GOES, || model.passes("0") > before + 3);
    let lives = stray.0.try_wait().is_ok_and(|it| it.is_none());
    round.check(goes && lives, || {
        format!(
            "the program was at {before} passes, is at {} and lives: {lives}",
            model.passes("0")
        )
    })
}

impl Walk<'_, '_> {
    /// Whatever was so before.
    fn call_unchecked(
        &mut self,
        tool: &str,
        arguments: Value,
    ) -> Result<super::client::Said, Failed> {
        (self.model.now, self.model.stands) = (Now::Running, None);
        self.call(tool, arguments)
    }

    /// Starts the program with nobody over it.
    fn stray(&self, by_port: bool, port: u16) -> Stray {
        let model = &self.model;
        if let Some((language, end)) = model.program.language {
            return stray_of(language, end, model.folder.path(), port);
        }
        let mut command = if model.program.is_python() {
            let mut python = Command::new(super::python_path());
            if by_port {
                python.args(["-c", LISTENS, "127.0.0.1"]);
            }
            python
        } else {
            let mut node = Command::new("node");
            // Where SIGUSR1 opens the inspector: the usual port is one for all.
            node.arg(if by_port { "--inspect=127.0.0.1:0" } else { "--inspect-port=127.0.0.1:0" });
            node
        };
        command.arg(&model.file).current_dir(model.folder.path());
        command.env("PYTHONPATH", super::debugpy()).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("PYDEVD_DISABLE_FILE_VALIDATION", "1");
        let said = File::create(model.folder.path().join("said")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        Stray(command.spawn().unwrap())
    }

    /// Where it listens for debuggers.
    fn listens(&self, round: &Round<'_>) -> Result<Value, Failed> {
        let folder = self.model.folder.path();
        let look = || {
            if let Ok(port) = std::fs::read_to_string(folder.join("port")) {
                return port.parse::<u16>().ok();
            }
            let said = std::fs::read_to_string(folder.join("said")).ok()?;
            let (_, after) = said.split_once("ws://127.0.0.1:")?;
            after.split_once('/')?.0.parse().ok()
        };
        let mut port = None;
        within(GOES, || {
            port = look();
            port.is_some()
        });
        round.expect(Wrong::Walk, port.is_some(), || "it does not listen".to_owned())?;
        Ok(json!({ "port": port }))
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn stray_of(language: &Language, end: &str, folder: &std::path::Path, port: u16) -> Stray {
    let (build, run) = language.run(folder, port);
    for words in build {
        let done = Command::new(&words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let mut command = Command::new(&run[0]);
    command.args(&run[1..]).arg(end).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Stray(command.spawn().unwrap())
}

/// Runs a file with a debugger that listens, and says where.
const LISTENS: &str = "\
import debugpy, os, runpy, sys
_, port = debugpy.listen((sys.argv[1], 0))
open('port.new', 'w').write(str(port))
os.rename('port.new', 'port')
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name='__main__')
";
