//! What a session must be by all that was said and written down: pure but for the logs, which it reads.

use std::{collections::BTreeMap, path::PathBuf};

use holdpoint_testkit::debug::line;
use serde_json::{Value, json};

use super::{
    client::Said,
    counts::Failed,
    programs::{End, LAST, MARKS, PRINTED, Program, passes},
    round::Round,
};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Now {
    Stopped(Stop),
    Running,
    Ended,
}

/// A stop as it was told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stop {
    pub(super) reason: String,
    /// In the program's own file.
    pub(super) is_own: bool,
    pub(super) line: u64,
    pub(super) thread: String,
    pub(super) seq: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) id: u64,
    pub(super) mark: &'static str,
    /// Only where `n % 7 == 3`.
    pub(super) is_choosy: bool,
}

/// What was asked for last, as far as it says where the next stop may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Launch,
    Step(&'static str),
    Run,
    /// Of somebody else too: nobody knows what came first.
    Any,
}

pub(super) struct Model {
    pub(super) program: &'static Program,
    pub(super) folder: tempfile::TempDir,
    pub(super) file: PathBuf,
    pub(super) id: String,
    pub(super) now: Now,
    pub(super) points: Vec<Point>,
    /// Removed while it ran: a stop there may be told that was before.
    pub(super) removed: Vec<Point>,
    pub(super) told: Vec<Stop>,
    /// A loop that stands, and how far it was then.
    pub(super) stands: Option<(String, u64)>,
    /// Steps that were asked for and have not ended, by thread: others may stop first.
    steps: BTreeMap<String, (Stop, &'static str)>,
    /// A step or a pause was told of as still running: its stop is yet to come.
    owes_stop: bool,
    /// Two clients moved it at once: the stop of a step of either may come after another thread's.
    pub(super) is_raced: bool,
    /// Not started by the server.
    pub(super) is_attached: bool,
    lines: BTreeMap<&'static str, u64>,
}

impl Model {
    pub(super) fn new(program: &'static Program) -> Model {
        let folder = tempfile::tempdir().unwrap();
        let file = program.write(folder.path());
        let at = |mark: &'static str| (mark, u64::try_from(line(&file, mark)).unwrap());
        let mut lines: BTreeMap<_, _> = MARKS.into_iter().map(at).collect();
        let entry = if program.language.is_some() { at("entry").1 } else { 1 };
        lines.insert("entry", entry);
        Model {
            program,
            folder,
            file,
            id: String::new(),
            now: Now::Running,
            points: Vec::new(),
            removed: Vec::new(),
            told: Vec::new(),
            stands: None,
            steps: BTreeMap::new(),
            owes_stop: false,
            is_raced: false,
            is_attached: false,
            lines,
        }
    }

    /// Another program: nothing was said of it yet.
    pub(super) fn forget(&mut self) {
        self.told.clear();
        self.steps.clear();
        (self.owes_stop, self.is_raced) = (false, false);
    }

    /// A stop is asked for, and yet to come.
    pub(super) fn owe(&mut self) {
        self.owes_stop = true;
    }

    pub(super) fn owes(&self) -> bool {
        self.owes_stop
    }

    pub(super) fn passes(&self, me: &str) -> u64 {
        passes(self.folder.path(), me)
    }

    pub(super) fn line(&self, mark: &str) -> u64 {
        self.lines[mark]
    }

    /// The mark where it stands, in a loop of its own.
    pub(super) fn mark(&self, stop: &Stop) -> Option<&'static str> {
        let is_here = |(_, line): &(&&'static str, &u64)| **line == stop.line;
        let found = self.lines.iter().find(is_here).map(|(mark, _)| *mark);
        found.filter(|mark| stop.is_own && *mark != "entry")
    }

    /// What an answer says of the program must be so.
    pub(super) fn take(&mut self, round: &Round<'_>, said: &Said, by: Move) -> Result<(), Failed> {
        if let (Move::Step(action), Now::Stopped(from)) = (by, &self.now) {
            self.steps.insert(from.thread.clone(), (from.clone(), action));
        }
        match said.data["state"].as_str() {
            Some("running") => {
                self.now = Now::Running;
                self.owes_stop |= matches!(by, Move::Step(_));
                self.removed.clear();
                self.stands = None;
                Ok(())
            }
            Some("stopped") => self.stopped(round, said, by),
            Some("ended") => self.ended(round, said),
            other => round.check(false, || format!("{other:?}: {}", said.text)),
        }
    }

    fn stopped(&mut self, round: &Round<'_>, said: &Said, by: Move) -> Result<(), Failed> {
        round.counts.stops.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let told = &said.data["stop"];
        let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
        let stop = Stop {
            reason: text("reason"),
            is_own: text("file") == self.file.display().to_string(),
            line: told["line"].as_u64().unwrap_or_default(),
            thread: text("thread_id"),
            seq: said.data["seq"].as_u64().unwrap_or_default(),
        };
        let before = std::mem::replace(&mut self.now, Now::Stopped(stop.clone()));
        let is_new = self.told.last().is_none_or(|it| it.seq != stop.seq);
        if is_new {
            self.told.push(stop.clone());
            self.is_possible(round, &stop, &before, by, &said.text)?;
            self.steps.remove(&stop.thread);
            if self.program.language.is_some() {
                self.steps.clear();
            }
        }
        // Each loop may have stood there before it was removed, and one is told after the other.
        if self.program.loops == 1 {
            self.removed.clear();
        }
        (self.stands, self.owes_stop) = (None, false);
        if self.program.loops == 1 && stop.reason != "pause" && stop.is_own {
            self.stands = Some(("0".to_owned(), self.passes("0")));
        }
        Ok(())
    }

    /// Whether it can be there, for that reason.
    fn is_possible(
        &self,
        round: &Round<'_>,
        stop: &Stop,
        before: &Now,
        by: Move,
        text: &str,
    ) -> Result<(), Failed> {
        let lie = || format!("after {before:?}, {by:?}: {text}");
        match stop.reason.as_str() {
            "entry" => {
                let is_first = stop.line == self.line("entry") && stop.is_own;
                round.check(is_first && matches!(by, Move::Launch | Move::Any), lie)
            }
            "breakpoint" => {
                let at = |it: &&Point| stop.is_own && self.line(it.mark) == stop.line;
                let here: Vec<&Point> =
                    self.points.iter().chain(&self.removed).filter(at).collect();
                round.check(!here.is_empty(), lie)?;
                // One loop: the log says what `n` is.
                let is_known = self.program.loops == 1 && here.iter().all(|it| it.is_choosy);
                let n = self.counted(stop, self.passes("0"));
                round.check(!is_known || n % 7 == 3, || format!("n is {n}; {}", lie()))
            }
            "exception" => {
                // A language's own throws in a function that is called there.
                let is_there = stop.line == self.line("rest") || self.program.language.is_some();
                let is_crash = self.program.end == End::Crash && is_there;
                round.check(is_crash && self.passes("0") == LAST, lie)
            }
            "step" => {
                // Some debuggers give each stop a thread of its own.
                let any = || self.steps.values().next().filter(|_| self.program.language.is_some());
                let Some((from, action)) = self.steps.get(&stop.thread).or_else(any) else {
                    let may_be = by == Move::Any || self.owes_stop || self.is_raced;
                    return round.check(may_be, lie);
                };
                let reached = self.reached(from, action);
                round.check(reached.is_none_or(|it| it.contains(&stop.line)), lie)
            }
            "pause" => Ok(()),
            _ => round.check(false, lie),
        }
    }

    /// The value of `n` (or `k`, inside of `work`) at a stop of a loop that has written so often.
    pub(super) fn counted(&self, stop: &Stop, passes: u64) -> u64 {
        if self.mark(stop) == Some("tick") { passes.saturating_sub(1) } else { passes }
    }

    /// Where a step from there leads, if that is certain.
    fn reached(&self, from: &Stop, action: &str) -> Option<Vec<u64>> {
        let to: &[&str] = match (self.mark(from)?, action) {
            ("tick", "next" | "step_in") => &["call"],
            ("call", "next") => &["say"],
            // A step out leads back to the line of the call, which is over then.
            ("call", "step_in") if from.reason == "step" => &["inside", "say"],
            ("call", "step_in") => &["inside"],
            ("inside", "next" | "step_in") => &["back"],
            ("inside" | "back", _) => &["call", "say"],
            ("write", "next") => &["tick"],
            _ => return None,
        };
        let mut lines: Vec<u64> = to.iter().map(|mark| self.line(mark)).collect();
        if self.program.language.is_some() && to.contains(&"inside") {
            // Some debuggers stand at a function's head first.
            lines.push(self.line("inside") - 1);
        }
        if self.mark(from) == Some("back") {
            // Node stands at the brace once more.
            lines.push(self.line("back") + 1);
        }
        Some(lines)
    }

    fn ended(&mut self, round: &Round<'_>, said: &Said) -> Result<(), Failed> {
        round.counts.ends.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (self.now, self.stands) = (Now::Ended, None);
        let lie = || format!("{:?}: {}", self.program.end, said.text);
        let expected = self.exit();
        round.check(expected.as_ref() == Some(&said.data["exit"]), lie)?;
        let passes = self.passes("0");
        round.check(passes == LAST, || format!("{passes} passes at the end: {}", said.text))
    }

    /// How the program ends by itself.
    pub(super) fn exit(&self) -> Option<Value> {
        match self.program.end {
            _ if self.is_attached => None,
            End::Never => None,
            End::Code(code) => Some(json!({ "code": code })),
            End::Crash => Some(self.program.crashed()),
            End::Signal(signal) => Some(json!({ "signal": signal })),
        }
    }

    /// A loop that stands has done nothing since.
    pub(super) fn stood_still(&self, round: &Round<'_>) -> Result<(), Failed> {
        let Some((me, before)) = &self.stands else { return Ok(()) };
        let now = self.passes(me);
        round.check(now == *before, || {
            format!("it was said to stand, and went from {before} to {now} passes")
        })
    }

    /// What it printed is what the loops wrote down, without a gap.
    pub(super) fn printed(&self, round: &Round<'_>, output: &str) -> Result<(), Failed> {
        for me in 0..self.program.loops {
            let me = me.to_string();
            let head = format!("line {me} ");
            let numbers: Vec<u64> = output
                .lines()
                .filter_map(|it| it.strip_prefix(&head)?.trim().parse().ok())
                .collect();
            let count = u64::try_from(numbers.len()).unwrap();
            let is_whole = (1..=count).eq(numbers.iter().copied());
            let written = self.passes(&me).min(PRINTED);
            round.check(is_whole && count <= written, || {
                format!("loop {me} wrote {written}, and is said to have printed {numbers:?}")
            })?;
            let is_over = self.now == Now::Ended && self.exit().is_some();
            round.check(!is_over || count == written, || {
                format!("it ended, wrote {written} and is said to have printed {count}")
            })?;
        }
        Ok(())
    }
}
