//! Passes that are reported without stopping: tracepoints and probes, counted against the program's own log.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use serde_json::{Value, json};

use super::{
    counts::{Failed, Victim, Wrong, wrong},
    lang::programs,
    model::Now,
    programs::{End, LAST, Program},
    round::{Round, within},
    server::kill,
    walk::Walk,
};

/// How long the last hits of a program that stands may take to be told.
const TOLD: Duration = Duration::from_secs(5);

/// A tracepoint from the beginning to the end, or to somebody's death.
pub(super) fn traced(round: &Round<'_>) -> Result<(), Failed> {
    let fit: Vec<&'static Program> = programs().iter().filter(|it| it.name != "py held").collect();
    let mut walk = Walk::start(round, round.one(&fit))?;
    walk.launch()?;
    let line = walk.model.line("call");
    let program = walk.model.program;
    let message = format!("at {{{}}} {{{}}}", program.variable("me"), program.variable("n"));
    let said = walk.ok(
        "tracepoint_set",
        json!({ "file": walk.model.file, "line": line, "log_message": message }),
    )?;
    round.check(said.data["state"] == "bound", || said.text.clone())?;
    let said =
        walk.ok("debug_continue", json!({ "timeout_s": 0.2 + 0.1 * round.pick(6) as f64 }))?;
    walk.model.take(round, &said, super::model::Move::Run)?;
    if walk.model.program.end != End::Never {
        return walk.told_to_the_end();
    }
    walk.read(None)?;
    match round.pick(3) {
        0 => walk.told_to_a_kill(Victim::Program),
        1 => walk.told_to_a_kill(Victim::Guard),
        _ => walk.told_at_a_stop(),
    }
}

impl Walk<'_, '_> {
    /// Every pass of a program that ended by itself was told.
    fn told_to_the_end(mut self) -> Result<(), Failed> {
        for _ in 0..3 {
            if let Now::Stopped(stop) = &self.model.now {
                // Of the exception that it ends by.
                let is_crash = stop.reason == "exception";
                self.round.check(is_crash, || "it stops at a tracepoint".to_owned())?;
                let said = self.ok("debug_continue", json!({ "timeout_s": 5 }))?;
                self.model.take(self.round, &said, super::model::Move::Run)?;
            } else if self.model.now == Now::Running {
                self.settle(5.0)?;
            }
        }
        let is_over = self.model.now == Now::Ended;
        self.round.check(is_over, || "it does not end".to_owned())?;
        // Hits go out in batches: a signal takes the last one along.
        let is_signal = matches!(self.model.program.end, End::Signal(_));
        self.read((!is_signal).then_some(LAST))?;
        self.over()
    }

    /// What was told of a program that was killed is its beginning.
    fn told_to_a_kill(mut self, victim: Victim) -> Result<(), Failed> {
        let (Some(guard), Some(program)) = self.server.newest() else {
            return wrong(Wrong::Lie, "it was said to run, and is not there");
        };
        self.round.kills(victim);
        kill(if victim == Victim::Guard { guard.pid } else { program.pid });
        let said = self.end_is_told()?;
        self.round.check(said.data["state"] == "ended", || said.text.clone())?;
        self.model.now = Now::Ended;
        self.read(None)?;
        self.over()
    }

    /// A program that stands has told all that it passed.
    fn told_at_a_stop(mut self) -> Result<(), Failed> {
        let line = self.model.line("say");
        if self.model.program.is_endless() && self.model.program.loops == 1 {
            let set = json!({ "file": self.model.file, "line": line });
            let set = self.ok("breakpoint_set", set)?;
            // A flood on a machine with no time left answers late, is said to, and must stop all the same.
            let patience_s = if set.data["state"] == "bound" { 10 } else { 100 };
            let said = self.ok("debug_wait", json!({ "timeout_s": patience_s }))?;
            let is_there = said.data["stop"]["line"] == line;
            self.round.check(is_there, || said.text.clone())?;
            let passes = self.model.passes("0");
            let mut read = Ok(());
            within(TOLD, || {
                read = self.read(Some(passes));
                read.is_ok()
            });
            read?;
            self.round.check(self.model.passes("0") == passes, || "it goes on".to_owned())?;
        }
        self.stops()?;
        self.over()
    }

    /// Hits are told in order and without a gap, and none that was not; `exactly` so many, of the first loop.
    fn read(&mut self, exactly: Option<u64>) -> Result<(), Failed> {
        let arguments = json!({ "since": 0, "limit": 1_000, "budget_tokens": 50_000 });
        let said = self.ok("tracepoint_read", arguments)?;
        let hits = said.data["hits"].as_array().cloned().unwrap_or_default();
        self.round.counts.hits.fetch_add(hits.len() as u64, Relaxed);
        for me in 0..self.model.program.loops {
            let head = format!("at {me} ");
            let message =
                |hit: &Value| hit["log_message"].as_str().map(|it| it.replace(['\'', '"'], ""));
            let numbers: Vec<u64> = hits
                .iter()
                .filter_map(|hit| message(hit)?.strip_prefix(&head)?.parse().ok())
                .collect();
            let count = numbers.len() as u64;
            let passes = self.model.passes(&me.to_string());
            let is_whole = (1..=count).eq(numbers.iter().copied());
            self.round.check(is_whole && count <= passes, || {
                format!("loop {me} passed {passes} times, and is said to: {numbers:?}")
            })?;
        }
        let total = said.data["total"].as_u64().unwrap_or_default();
        let Some(exactly) = exactly else { return Ok(()) };
        self.round.check(total == exactly, || format!("{exactly} passes, and {total} are told"))
    }
}

/// One call from launch to values, of a program that ends by itself; or somebody dies in it.
pub(super) fn probed(round: &Round<'_>) -> Result<(), Failed> {
    let fit: Vec<&'static Program> = programs().iter().filter(|it| it.end != End::Never).collect();
    let mut walk = Walk::start(round, round.one(&fit))?;
    let mut arguments = walk.launch_arguments();
    arguments["file"] = json!(walk.model.file);
    arguments["line"] = json!(walk.model.line("call"));
    arguments["expressions"] = json!([walk.model.program.variable("n")]);
    arguments["hits"] = round.one(&["all", "3"]).into();
    let is_all = arguments["hits"] == "all";
    let asked = walk.server.client.ask(round, "debug_probe", arguments);
    let is_killed = round.chance(30);
    if is_killed {
        round.linger(700);
        let (guard, program) = walk.server.newest();
        let victim = round.one(&[Victim::Guard, Victim::Program]);
        if let Some(it) = if victim == Victim::Guard { guard } else { program } {
            round.kills(victim);
            kill(it.pid);
        }
    }
    let Some(said) = asked.take(round)? else {
        return wrong(Wrong::Crash, "the connection ended");
    };
    walk.server.nothing_is_left(round)?;
    if !is_killed {
        round.check(said.is_ok(), || said.text.clone())?;
        let passes = walk.model.passes("0");
        if is_all {
            let told = said.data["passes"][0]["total"].as_u64().unwrap_or_default();
            // A signal takes the last batch along, and that is said.
            let is_cut = matches!(walk.model.program.end, End::Signal(_))
                && said.text.contains("may be missing");
            let is_so = passes == LAST && (told == passes || (is_cut && told < passes));
            round.check(is_so, || format!("{passes} passes: {}", said.text))?;
            let exit = said.data["exit"].clone();
            round.check(Some(exit) == walk.model.exit(), || said.text.clone())?;
        } else {
            let hits = said.data["hits_total"].as_u64();
            round.check(hits == Some(3), || said.text.clone())?;
        }
    }
    walk.over()
}
