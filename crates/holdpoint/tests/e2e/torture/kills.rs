//! Somebody dies at a random point, as a rule in the middle of a request; whoever lives says so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    client::{Said, doomed},
    counts::{Failed, Victim, Wrong, wrong},
    model::{Move, Now},
    programs::End,
    round::within,
    server::{Started, kill, lives},
    sockets,
    walk::Walk,
};

/// How long a program may outlive its guard, and a session its program.
const GONE: Duration = Duration::from_secs(5);
const LAST: Duration = Duration::from_secs(25);
/// What is acknowledged is on the disk by then, as `docs/contract/calls.md` says it of calls.
const KEPT: Duration = Duration::from_millis(500);

impl Walk<'_, '_> {
    /// The end of a round: of its own accord, or somebody's death.
    pub(super) fn finish(mut self) -> Result<(), Failed> {
        if self.model.now == Now::Ended {
            self.output()?;
            self.status()?;
            self.timeline()?;
            return self.over();
        }
        if self.model.program.has_child && self.round.chance(40) {
            return self.child_dies();
        }
        match self.round.pick(9) {
            0 | 1 => self.program_dies(),
            2 | 3 => self.server_dies(),
            4 => self.guard_dies(),
            5 => self.client_dies(),
            6 => self.connection_dies(),
            7 if self.second.is_some() => self.second_dies(),
            _ => {
                self.stops()?;
                self.over()
            }
        }
    }

    /// Nothing lives, and the server ends in good order.
    pub(super) fn over(mut self) -> Result<(), Failed> {
        self.server.nothing_is_left(self.round)?;
        self.server.is_sound(self.round)?;
        let by_signal = self.round.chance(30);
        self.server.ends(self.round, by_signal)
    }

    /// `debug_stop` ends it, and says so.
    pub(super) fn stops(&mut self) -> Result<(), Failed> {
        let said = self.ok("debug_stop", json!({}))?;
        self.model.now = Now::Ended;
        let exit = &said.data["exit"];
        let killed = [json!({ "signal": 9 }), self.model.program.killed()];
        let is_so = killed.contains(exit) || Some(exit) == self.model.exit().as_ref();
        self.round.check(said.data["state"] == "ended" && is_so, || said.text.clone())
    }

    /// The session says that it ended so; nothing of it lives.
    fn has_ended(&mut self, exits: &[Value]) -> Result<(), Failed> {
        let said = self.end_is_told()?;
        let told = &said.data["exit"];
        // A debug server that is gone with its guard tells nothing, and that is what is said.
        let is_unknown = self.model.program.language.is_some() && *told == json!({});
        let is_so = exits.contains(told) || is_unknown || Some(told) == self.model.exit().as_ref();
        self.round.check(said.data["state"] == "ended" && is_so, || {
            format!("one of {exits:?} was to be told: {}", said.text)
        })?;
        self.model.now = Now::Ended;
        self.server.nothing_is_left(self.round)
    }

    /// What is said once the end is known: one that stood is said to stand until then.
    pub(super) fn end_is_told(&mut self) -> Result<Said, Failed> {
        (self.model.now, self.model.stands) = (Now::Running, None);
        let begun = Instant::now();
        loop {
            let said = self.ok("debug_wait", json!({ "timeout_s": 5 }))?;
            // What it reported last is read first, however long that takes on a machine with no time left.
            let patience = if said.data["state"] == "ending" { LAST } else { GONE };
            if said.data["state"] == "ended" || begun.elapsed() > patience {
                return Ok(said);
            }
        }
    }

    /// The newest program and its guard; `None` for one that has ended by itself meanwhile.
    fn victims(&self) -> Result<Option<(Started, Started)>, Failed> {
        match self.server.newest() {
            (Some(guard), Some(program)) => Ok(Some((guard, program))),
            _ if self.model.program.end != End::Never => Ok(None),
            found => wrong(Wrong::Lie, format!("it was said to live, and there is {found:?}")),
        }
    }

    fn program_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        if let Some((_, program)) = self.victims()? {
            self.round.kills(Victim::Program);
            kill(program.pid);
        }
        self.answered(asked)?;
        self.has_ended(&[json!({ "signal": 9 }), self.model.program.killed()])?;
        if self.round.chance(25) {
            let said = self.ok("debug_restart", json!({ "timeout_s": 10 }))?;
            self.model.id = said.data["session_id"].as_str().unwrap_or_default().to_owned();
            self.model.take(self.round, &said, Move::Launch)?;
            self.stops()?;
        }
        self.over()
    }

    fn guard_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        if let Some((guard, program)) = self.victims()? {
            self.round.kills(Victim::Guard);
            kill(guard.pid);
            let is_over = within(GONE, || !lives(program.pid));
            self.round.expect(Wrong::Orphan, is_over, || format!("{program:?} lives"))?;
        }
        self.answered(asked)?;
        // The system kills the program with its guard, and where that is to be seen it is told.
        let mut exits = vec![json!({ "guard_killed_by": 9 })];
        exits.extend(self.model.program.language.is_some().then(|| json!({ "signal": 9 })));
        self.has_ended(&exits)?;
        self.over()
    }

    /// The program goes on, whatever its child did.
    fn child_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        let Some((_, program)) = self.victims()? else { return self.over() };
        let is_child = |it: &&Started| it.parent == program.pid;
        let all = self.server.started();
        if let Some(child) = all.iter().find(is_child) {
            self.round.kills(Victim::Child);
            kill(child.pid);
            let is_over = within(GONE, || !lives(child.pid));
            self.round.expect(Wrong::Orphan, is_over, || format!("{child:?} lives"))?;
        }
        self.answered(asked)?;
        (self.model.now, self.model.stands) = (Now::Running, None);
        while !self.model.points.is_empty() {
            self.unset()?;
        }
        // Stops of both may still be told, one after the other.
        self.model.owe();
        self.settle(0.3)?;
        for _ in 0..4 {
            if matches!(self.model.now, Now::Stopped(_)) {
                // The one that stood may have been the child, of whose end word comes a moment later.
                let said = self.call("debug_continue", json!({ "timeout_s": 0.3 }))?;
                let is_fine = said.is_ok() || said.failed_with(&["E_NOT_STOPPED"]);
                self.round.check(is_fine, || said.text.clone())?;
                match said.is_ok() {
                    true => self.model.take(self.round, &said, Move::Any)?,
                    false => self.model.now = Now::Running,
                }
            }
        }
        let before = self.model.passes("0");
        let grows = within(GONE, || self.model.passes("0") > before);
        self.round.check(grows, || format!("the program stays at {before} passes"))?;
        self.round.check(lives(program.pid), || "the program ended with its child".to_owned())?;
        self.stops()?;
        self.over()
    }

    fn client_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        self.round.kills(Victim::Client);
        drop(asked);
        self.server.ends(self.round, false)
    }

    /// A client over HTTP dies in the middle of its request; the session is the other's too.
    fn second_dies(mut self) -> Result<(), Failed> {
        let port = self.server.port()?;
        let arguments = json!({ "session_id": self.model.id, "timeout_s": 5 });
        let tool = if self.model.now == Now::Running { "debug_wait" } else { "debug_continue" };
        let Some(second) = self.second.take() else { return self.over() };
        let dying = doomed(port, &second, tool, &arguments);
        self.round.linger(20);
        self.round.kills(Victim::Client);
        drop(dying);
        (self.model.now, self.model.stands) = (Now::Running, None);
        self.model.owe();
        self.settle(0.3)?;
        self.server.is_sound(self.round)?;
        if self.model.now != Now::Ended {
            self.stops()?;
        }
        self.over()
    }

    /// All of it ends; the next server knows what was kept.
    fn server_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        let died = Instant::now();
        self.round.kills(Victim::Server);
        self.server.kill(self.round)?;
        drop(asked);
        if self.round.chance(60) {
            return Ok(());
        }
        self.second = None;
        self.server.again(self.round)?;
        (self.model.now, self.model.stands) = (Now::Running, None);
        self.remembers(died)?;
        let said =
            self.server.client.call(self.round, "debug_restart", json!({ "timeout_s": 10 }))?;
        self.round.check(said.is_ok(), || said.text.clone())?;
        self.model.id = said.data["session_id"].as_str().unwrap_or_default().to_owned();
        self.model.take(self.round, &said, Move::Launch)?;
        self.stops()?;
        self.over()
    }

    /// Breakpoints outlive a server.
    fn remembers(&mut self, died: Instant) -> Result<(), Failed> {
        let said = self.ok("breakpoint_list", json!({ "budget_tokens": 20_000 }))?;
        let listed = said.data["breakpoints"].as_array().cloned().unwrap_or_default();
        for (at, point) in &self.kept {
            let is_old = died.duration_since(*at) > KEPT;
            // By its place: each server numbers what it remembers anew.
            let line = self.model.line(point.mark);
            let is_there = listed.iter().any(|it| it["line"] == line);
            self.round.expect(Wrong::Lost, is_there || !is_old, || {
                format!("breakpoint {point:?} is gone: {}", said.text)
            })?;
        }
        Ok(())
    }

    /// The way to its debugger is cut: whatever is said of the program is so, and it can be ended.
    fn connection_dies(mut self) -> Result<(), Failed> {
        let asked = self.amid();
        let Some((_, program)) = self.victims()? else {
            self.answered(asked)?;
            return self.over();
        };
        if sockets::cut(self.server.pid(), program.pid) {
            self.round.kills(Victim::Connection);
        }
        self.answered(asked)?;
        (self.model.now, self.model.stands) = (Now::Running, None);
        let said = self.ok("debug_wait", json!({ "timeout_s": 1 }))?;
        match said.data["state"].as_str() {
            Some("ended") => {
                let is_over = within(GONE, || !lives(program.pid));
                self.round.check(is_over, || format!("{program:?} lives: {}", said.text))?;
            }
            _ => {
                let is_there = lives(program.pid) || self.model.program.end != End::Never;
                self.round.check(is_there, || format!("it is gone: {}", said.text))?;
                let said = self.ok("debug_stop", json!({}))?;
                self.round.check(said.data["state"] == "ended", || said.text.clone())?;
            }
        }
        self.model.now = Now::Ended;
        self.over()
    }
}
