//! The run: stops are looked at and resumed until there are as many as were asked for, or the program ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::{Duration, Instant},
};

use holdpoint_engine::{
    backend::{Backend, Exceptions},
    breakpoints::{Breakpoints, Place, passes::Passes},
    budget,
    failure::{Code, Failure},
    ids::Epoch,
    limits,
    process::Exit,
    session::{Outcome, Session, Shown},
};

use super::{
    failure::{self, Failed},
    hits::{self, Hit, Names},
    plan::{Expression, Plan, Planned, Want},
    said,
};
use crate::tools::debug::report;

/// What a run showed.
pub(super) struct Seen {
    pub(super) hits: Vec<Hit>,
    /// The passes of places where the program was stopped for each.
    pub(super) passes: BTreeMap<usize, Passes>,
    /// An exception that nobody caught, and where.
    pub(super) thrown: Option<String>,
    /// Exceptions that are, or may be, the failure that is looked for.
    pub(super) failures: Vec<Failed>,
    pub(super) end: End,
    /// Conditions that failed at places where something was to be tried, by place.
    pub(super) failed: BTreeMap<usize, String>,
    /// What ran of the files that were asked about, where the runtime counted it.
    pub(super) reached: BTreeMap<PathBuf, BTreeSet<u32>>,
}

/// Why it was over.
pub(super) enum End {
    /// Everything that was asked for is there.
    Done,
    Exit(Exit),
    Late(Duration),
}

pub(super) struct Watch<'a> {
    session: &'a Session,
    own: &'a Breakpoints,
    plan: &'a Plan,
    patience: Duration,
    names: Names,
    /// Passes of all places where the program is stopped for each.
    passed: u64,
    /// A test may be expected to fail, so that its runner is heard out.
    runs_tests: bool,
    /// Exceptions that a runner of tests provoked itself.
    passed_over: usize,
    seen: Seen,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        session: &'a Session,
        own: &'a Breakpoints,
        plan: &'a Plan,
        patience: Duration,
    ) -> Watch<'a> {
        let seen = Seen {
            hits: Vec::new(),
            passes: BTreeMap::new(),
            thrown: None,
            failures: Vec::new(),
            end: End::Done,
            failed: BTreeMap::new(),
            reached: BTreeMap::new(),
        };
        Watch {
            session,
            own,
            plan,
            patience,
            names: Names::default(),
            passed: 0,
            runs_tests: session.launch().is_some_and(said::runs_tests),
            passed_over: 0,
            seen,
        }
    }

    pub(super) async fn run(mut self) -> Result<Seen, Failure> {
        let begun = Instant::now();
        self.session.joined().await;
        self.check_conditions()?;
        let mut from = Epoch::default();
        loop {
            let left = self.patience.saturating_sub(begun.elapsed());
            // What comes of a failure is worth a moment.
            let left = if self.has_failed() { left.min(limits::PROBE_AFTER) } else { left };
            match self.session.wait(from, left).await {
                Outcome::Stopped(shown) => {
                    from = shown.stop.epoch;
                    self.stopped(&shown).await?;
                    if self.is_done() && !self.plan.runs_on {
                        break;
                    }
                    self.session.resume().await?;
                }
                Outcome::Ended(exit) => {
                    self.seen.end = End::Exit(exit);
                    break;
                }
                Outcome::Running if self.has_failed() => break,
                Outcome::Running => {
                    self.seen.end = End::Late(self.patience);
                    break;
                }
            }
        }
        for file in self.plan.marks.keys() {
            if let Some(lines) = self.session.lines_reached(file).await {
                self.seen.reached.insert(file.clone(), lines);
            }
        }
        Ok(self.seen)
    }

    /// A condition that is none is known as the program begins.
    fn check_conditions(&self) -> Result<(), Failure> {
        for (point, why) in self.session.pending() {
            let Some(planned) = self.plan.places.iter().find(|it| it.id == point.id) else {
                continue;
            };
            let Some(why) = why else { continue };
            if why.contains("does not parse") || why.contains("SyntaxError") {
                let condition = planned.condition.as_deref().unwrap_or_default();
                let text = format!("the condition `{condition}` of {}: {why}", planned.label);
                return Err(Failure::new(Code::InvalidParams, text)
                    .hint("the condition is in the program's own language"));
            }
        }
        Ok(())
    }

    async fn stopped(&mut self, shown: &Shown) -> Result<(), Failure> {
        let plan = self.plan;
        if shown.stop.reason.as_str() == "exception" {
            match &plan.failure {
                Some(expressions) => self.failed(shown, expressions).await?,
                None => self.thrown(shown).await,
            }
            return Ok(());
        }
        if plan.runs_on && shown.stop.text.as_deref().is_some_and(|it| it.contains("condition")) {
            self.sort_out(shown).await;
            return Ok(());
        }
        let hit = plan.places.iter().enumerate().filter(|(_, it)| shown.stop.hits.contains(&it.id));
        for (at, planned) in hit {
            if let Some(text) = shown.stop.text.as_deref().filter(|it| it.contains("condition")) {
                return Err(failed_condition(&planned.label, planned.condition.as_deref(), text));
            }
            match planned.want {
                Want::AllStopping => self.pass(shown, at).await,
                Want::Nth(number) => self.hit(shown, at, number).await,
                Want::First(_) | Want::All => {
                    let number = self.count(at) + 1;
                    self.hit(shown, at, number).await;
                }
            }
        }
        Ok(())
    }

    fn count(&self, at: usize) -> u64 {
        self.seen.hits.iter().filter(|it| it.at == at).count() as u64
    }

    async fn hit(&mut self, shown: &Shown, at: usize, number: u64) {
        let Some(planned) = self.plan.places.get(at) else { return };
        // Another process may come to its own Nth pass before it is told that one is enough.
        if self.is_satisfied(at) {
            return;
        }
        let mut hit = hits::look(self.session, shown, (at, planned), number, &mut self.names).await;
        if let (Some(trial), Ok(backend)) =
            (&planned.trial, self.session.backend(shown.stop.thread.target))
        {
            let frames = hits::whole(&backend, shown).await;
            hit.tried = Some(trial.run(&backend, &frames, self.own).await);
        }
        self.seen.hits.push(hit);
        if self.is_satisfied(at) && (self.plan.runs_on || !self.is_done()) {
            self.pass_by(planned).await;
        }
    }

    /// A condition failed where several may stand, and nobody says whose: each is asked for by itself.
    async fn sort_out(&mut self, shown: &Shown) {
        let plan = self.plan;
        let Ok(backend) = self.session.backend(shown.stop.thread.target) else { return };
        let frames = hits::whole(&backend, shown).await;
        let here: Vec<&Place> = plan
            .places
            .iter()
            .filter(|it| shown.stop.hits.contains(&it.id))
            .map(|it| &it.place)
            .collect();
        for (at, planned) in plan.places.iter().enumerate() {
            if self.is_satisfied(at) || !here.contains(&&planned.place) {
                continue;
            }
            let holds = match (&planned.condition, &planned.trial) {
                (Some(condition), Some(trial)) => trial.is_so(&backend, &frames, condition).await,
                _ => Ok(true),
            };
            match holds {
                Ok(true) => self.hit(shown, at, 1).await,
                Ok(false) => {}
                Err(why) => {
                    self.seen.failed.insert(at, why);
                    self.pass_by(planned).await;
                }
            }
        }
    }

    /// From now on the program passes there as if nobody had asked.
    async fn pass_by(&self, planned: &Planned) {
        let passes = planned.trial.as_ref().and_then(|it| it.passes);
        let mut is_other = self.own.enable(planned.id, false).is_ok();
        is_other |= passes.is_some_and(|id| self.own.enable(id, false).is_ok());
        if is_other {
            self.session.sync_breakpoints(self.own, &planned.place).await;
        }
    }

    /// One pass of a place where the program stops at each.
    async fn pass(&mut self, shown: &Shown, at: usize) {
        let plan = self.plan;
        let Some(planned) = plan.places.get(at) else { return };
        let hit = hits::look(self.session, shown, (at, planned), u64::MAX, &mut self.names).await;
        let text =
            |value: Result<_, String>| value.map(|it: holdpoint_engine::backend::Value| it.text);
        let values = hit.values.into_iter().map(|(_, value)| text(value)).collect();
        let key = match (&plan.by_value, self.session.backend(shown.stop.thread.target)) {
            (Some(by), Ok(backend)) => Some(self.key(&backend, shown, by).await),
            _ => plan.by.as_ref().map(|_| self.own.gathered().turn().to_string()),
        };
        let passes = self.seen.passes.entry(at).or_default();
        if passes.site.is_none() {
            let file = shown.stack.frames.first().and_then(|it| it.file.clone());
            let file = file.map(|it| it.display().to_string()).unwrap_or_default();
            passes.site = Some((file, hit.line, Some(hit.function)));
        }
        self.passed += 1;
        passes.add(self.passed, hit.who, values, key.as_deref());
    }

    async fn key(&self, backend: &Backend, shown: &Shown, by: &str) -> String {
        let by = Expression::of(by);
        match hits::evaluate(backend, &shown.stack.frames, &by).await {
            Ok(value) => value.text,
            Err(error) => format!("<{error}>"),
        }
    }

    async fn thrown(&mut self, shown: &Shown) {
        if self.seen.thrown.is_some() {
            return;
        }
        let what = failure::what(self.session, shown).await;
        let frames = &shown.stack.frames;
        let at = frames.iter().find(|it| it.is_user).or(frames.first());
        let at = at.map(|it| format!(" at {} in {}", report::spot(it, self.session), it.function));
        let who = self.names.of(self.session, shown).await;
        let who = who.map(|it| format!(" ({it})")).unwrap_or_default();
        let what = budget::cut(&what.replace('\n', "⏎"), 300);
        self.seen.thrown = Some(format!("uncaught {what}{}{who}", at.unwrap_or_default()));
    }

    /// The run goes on to its end, which says what came of it.
    async fn failed(&mut self, shown: &Shown, expressions: &[Expression]) -> Result<(), Failure> {
        if self.has_failed() && !self.runs_tests {
            return Ok(());
        }
        match failure::look(self.session, shown, expressions, &mut self.names).await {
            Some(failed) => self.seen.failures.push(failed),
            None => self.passed_over += 1,
        }
        let is_enough = self.has_failed() && !self.runs_tests
            || self.seen.failures.len() >= limits::PROBE_FAILURES
            || self.passed_over >= limits::PROBE_PASSED_OVER;
        if is_enough {
            let none = Exceptions { uncaught: false, ..Exceptions::default() };
            self.own.set_exceptions(none.clone());
            self.session.set_exceptions(&none).await?;
        }
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.seen.failures.iter().any(|it| it.is_sure)
    }

    fn is_satisfied(&self, at: usize) -> bool {
        if self.seen.failed.contains_key(&at) {
            return true;
        }
        match self.plan.places.get(at).map(|it| it.want) {
            Some(Want::Nth(_)) => self.count(at) >= 1,
            Some(Want::First(wanted)) => self.count(at) >= wanted,
            Some(Want::All | Want::AllStopping) | None => false,
        }
    }

    fn is_done(&self) -> bool {
        self.plan.failure.is_none() && (0..self.plan.places.len()).all(|at| self.is_satisfied(at))
    }
}

/// The program stands where it failed; whoever asked has to correct it.
pub(super) fn failed_condition(label: &str, condition: Option<&str>, text: &str) -> Failure {
    let why = text.rsplit_once("failed: ").map_or(text, |(_, why)| why);
    let condition = condition.unwrap_or_default();
    let text = format!("the condition `{condition}` failed at {label}: {}", budget::cut(why, 300));
    Failure::new(Code::InvalidParams, text)
        .hint("it is evaluated at each pass, in the function that is there; the program was ended")
}
