//! A program under a server, and all that one or two clients can do to it.

use serde_json::{Value, json};

use super::{
    client::{Client, Said},
    counts::Failed,
    lang::programs,
    model::{Model, Move, Now, Point},
    programs::{End, Program},
    round::{Round, within},
    server::{Server, lives},
};
use std::time::{Duration, Instant};

/// What a call about a program may come too late for.
pub(super) const LATE: &[&str] =
    &["E_NOT_STOPPED", "E_ALREADY_STOPPED", "E_SESSION_ENDED", "E_NOT_FOUND", "E_NO_SESSION"];
/// How long a program may take that has nothing to wait for.
const MOVES: Duration = Duration::from_secs(10);
/// Where breakpoints are set.
const PLACES: [&str; 6] = ["write", "tick", "call", "inside", "back", "say"];

pub(super) struct Walk<'r, 'c> {
    pub(super) round: &'r Round<'c>,
    pub(super) server: Server,
    pub(super) second: Option<Client>,
    pub(super) model: Model,
    /// What was acknowledged, and when: it outlives the server.
    pub(super) kept: Vec<(Instant, Point)>,
    /// Of a Python program, for as long as it is walked over.
    python: &'static str,
}

/// One program after the other, from its launch to whoever's end.
pub(super) fn launched(round: &Round<'_>) -> Result<(), Failed> {
    let programs = programs();
    let program = &programs[round.pick(programs.len())];
    let mut walk = Walk::start(round, program)?;
    if round.chance(12) {
        return walk.killed_in_launch();
    }
    walk.launch()?;
    for _ in 0..4 + round.pick(9) {
        walk.step()?;
        if walk.model.now == Now::Ended {
            break;
        }
    }
    walk.finish()
}

impl<'r, 'c> Walk<'r, 'c> {
    pub(super) fn start(
        round: &'r Round<'c>,
        program: &'static Program,
    ) -> Result<Walk<'r, 'c>, Failed> {
        round.note(program.name);
        let mut server = Server::start(round)?;
        let second = if round.chance(20) { Some(Client::http(server.port()?)?) } else { None };
        let python = round.one(super::pythons());
        if program.is_python() {
            round.note(python);
        }
        Ok(Walk { round, server, second, model: Model::new(program), kept: Vec::new(), python })
    }

    pub(super) fn launch_arguments(&self) -> Value {
        if let Some((language, end)) = self.model.program.language {
            let mut arguments = language.launch(self.model.folder.path(), end);
            let folder = self.model.folder.path().canonicalize().unwrap();
            (arguments["cwd"], arguments["timeout_s"]) = (json!(folder), json!(10));
            return arguments;
        }
        let mut arguments = json!({
            "program": self.model.file, "cwd": self.model.folder.path(), "timeout_s": 10,
        });
        if self.model.program.is_python() {
            arguments["interpreter"] = json!(self.python);
        }
        arguments
    }

    pub(super) fn launch(&mut self) -> Result<(), Failed> {
        let arguments = self.launch_arguments();
        let said = self.ok("debug_launch", arguments)?;
        self.begun(&said)
    }

    fn begun(&mut self, said: &Said) -> Result<(), Failed> {
        self.model.id = said.data["session_id"].as_str().unwrap_or_default().to_owned();
        (self.model.now, self.model.stands) = (Now::Running, None);
        self.model.forget();
        self.model.take(self.round, said, Move::Launch)
    }

    /// Either client.
    pub(super) fn client(&mut self) -> &mut Client {
        match &mut self.second {
            Some(second) if self.round.chance(50) => second,
            _ => &mut self.server.client,
        }
    }

    pub(super) fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Said, Failed> {
        self.model.stood_still(self.round)?;
        let has_session = !["debug_launch", "debug_attach", "debug_status"].contains(&tool);
        if tool.starts_with("debug_") && has_session {
            arguments["session_id"] = json!(self.model.id);
        }
        let round = self.round;
        self.client().call(round, tool, arguments)
    }

    /// One that has no reason to fail.
    pub(super) fn ok(&mut self, tool: &str, arguments: Value) -> Result<Said, Failed> {
        let said = self.call(tool, arguments)?;
        self.round.check(said.is_ok(), || format!("{tool}: {}", said.text))?;
        Ok(said)
    }

    /// One thing that a client can do now.
    pub(super) fn step(&mut self) -> Result<(), Failed> {
        let round = self.round;
        let is_stopped = matches!(self.model.now, Now::Stopped(_));
        match round.pick(22) {
            0 | 1 => self.set(),
            2 => self.unset(),
            3 => self.output(),
            4 => self.timeline(),
            5 => self.status(),
            6 if self.second.is_some() => self.race(),
            7 if !self.model.is_attached && round.chance(40) => self.restart(),
            8 => self.threads(),
            9..=11 if is_stopped => self.look(),
            12 if is_stopped => self.stack(),
            17 | 18 if is_stopped => self.until(),
            13..=16 if is_stopped => {
                let action = round.one(self.model.program.steps());
                let said = self.call("debug_step", json!({ "action": action, "timeout_s": 3 }))?;
                // What a debugger cannot, it says.
                if super::lang::is_chosen() && said.text.contains("where no step begins") {
                    return Ok(());
                }
                self.round.check(said.is_ok(), || format!("debug_step: {}", said.text))?;
                self.model.take(round, &said, Move::Step(action))
            }
            _ if is_stopped => {
                let said = self.ok("debug_continue", json!({ "timeout_s": 0.3 }))?;
                self.model.take(round, &said, Move::Run)
            }
            9..=11 => self.command("debug_evaluate", json!({ "expression": "1 + 1" })),
            12..=15 => self.command("debug_pause", json!({ "timeout_s": 1 })),
            16 | 17 => self.moves(),
            _ => self.command("debug_wait", json!({ "timeout_s": 0.1 })),
        }
    }

    /// Of a program that runs, and may stop or end at any moment.
    fn command(&mut self, tool: &str, arguments: Value) -> Result<(), Failed> {
        let said = self.call(tool, arguments)?;
        if said.is_ok() && tool != "debug_evaluate" {
            self.model.take(self.round, &said, Move::Run)?;
            if tool == "debug_pause" && self.model.now == Now::Running {
                self.model.owe();
            }
            return Ok(());
        }
        let may_be = said.is_ok() || said.failed_with(LATE);
        self.round.check(may_be, || format!("{tool}: {}", said.text))?;
        if said.failed_with(&["E_NOT_STOPPED"]) {
            return Ok(());
        }
        let can_stop = !self.model.points.is_empty() || self.model.program.end != End::Never;
        let can_stop = can_stop || !self.model.removed.is_empty() || self.model.owes();
        self.round.check(can_stop, || format!("it runs for ever: {}", said.text))?;
        self.settle(5.0)
    }

    /// What is the case after something came in between.
    pub(super) fn settle(&mut self, patience_s: f64) -> Result<(), Failed> {
        let said = self.ok("debug_wait", json!({ "timeout_s": patience_s }))?;
        self.model.take(self.round, &said, Move::Any)
    }

    fn set(&mut self) -> Result<(), Failed> {
        let mark = self.round.one(&PLACES);
        if self.model.points.iter().any(|it| it.mark == mark) {
            return Ok(());
        }
        let mut place = json!({ "file": self.model.file, "line": self.model.line(mark) });
        let is_choosy = self.round.chance(35);
        if is_choosy {
            let name = if ["inside", "back"].contains(&mark) { "k" } else { "n" };
            let is_node = self.model.program.ending == "js";
            let (name, same) =
                (self.model.program.variable(name), if is_node { "===" } else { "==" });
            place["condition"] = json!(format!("{name} % 7 {same} 3"));
        }
        let said = self.ok("breakpoint_set", place)?;
        let is_bound =
            said.data["state"] == "bound" && said.data["bound_line"] == self.model.line(mark);
        let may_wait = !self.model.program.is_endless() || self.model.now == Now::Ended;
        self.round.check(is_bound || may_wait, || said.text.clone())?;
        let id = said.data["breakpoint_id"].as_u64().unwrap_or_default();
        let point = Point { id, mark, is_choosy };
        self.kept.push((Instant::now(), point.clone()));
        self.model.points.push(point);
        Ok(())
    }

    pub(super) fn unset(&mut self) -> Result<(), Failed> {
        if self.model.points.is_empty() {
            return Ok(());
        }
        let at = self.round.pick(self.model.points.len());
        let point = self.model.points.swap_remove(at);
        self.kept.retain(|(_, it)| it.id != point.id);
        let id = point.id;
        self.model.removed.push(point);
        let said = self.ok("breakpoint_remove", json!({ "id": id }))?;
        self.round.check(said.data["removed"] == true, || said.text.clone())
    }

    /// A program that is said to run does, or comes to where it must stop.
    pub(super) fn moves(&mut self) -> Result<(), Failed> {
        if self.model.now != Now::Running || !self.model.program.is_endless() {
            return Ok(());
        }
        // It may have stood there before the last one was removed.
        if self.model.points.is_empty() && !self.model.removed.is_empty() {
            return self.settle(0.3);
        }
        if self.model.points.is_empty() {
            let before = self.model.passes("0");
            let grows = within(MOVES, || self.model.passes("0") > before);
            return self.round.check(grows || self.model.owes(), || {
                format!("it is said to run, and stays at {before} passes")
            });
        }
        let said = self.ok("debug_wait", json!({ "timeout_s": MOVES.as_secs() }))?;
        self.round.check(said.data["state"] == "stopped", || {
            format!("it passes {:?}: {}", self.model.points, said.text)
        })?;
        self.model.take(self.round, &said, Move::Run)
    }

    /// The program once more; the one before is gone by then.
    fn restart(&mut self) -> Result<(), Failed> {
        let (_, before) = self.server.newest();
        self.model.stands = None;
        let said = self.ok("debug_restart", json!({ "timeout_s": 10 }))?;
        if let Some(before) = before {
            let is_over = within(Duration::from_secs(5), || !lives(before.pid));
            self.round.expect(super::counts::Wrong::Orphan, is_over, || {
                format!("{before:?} lives after the restart")
            })?;
        }
        self.begun(&said)
    }

    /// Two clients want something at the same moment.
    fn race(&mut self) -> Result<(), Failed> {
        let round = self.round;
        let Some(second) = &mut self.second else { return Ok(()) };
        let id = &self.model.id;
        let one = |tool: &'static str| match tool {
            "debug_evaluate" => (tool, json!({ "session_id": id, "expression": "1 + 1" })),
            "debug_step" => (tool, json!({ "session_id": id, "timeout_s": 0.5 })),
            _ => (tool, json!({ "session_id": id, "timeout_s": 0.2 })),
        };
        let commands =
            ["debug_continue", "debug_pause", "debug_step", "debug_evaluate", "debug_wait"];
        let (first, other) = (one(round.one(&commands)), one(round.one(&commands)));
        let asked = self.server.client.ask(round, first.0, first.1);
        let other = second.ask(round, other.0, other.1);
        (self.model.now, self.model.stands, self.model.is_raced) = (Now::Running, None, true);
        for asked in [asked, other] {
            let said = asked.take(round)?;
            let is_fine = said.as_ref().is_some_and(|it| it.is_ok() || it.failed_with(LATE));
            round.check(is_fine, || format!("{said:?}"))?;
        }
        self.model.owe();
        self.settle(0.3)
    }
}
