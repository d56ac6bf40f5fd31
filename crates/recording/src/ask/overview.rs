//! What a run comes to: how it ended, the way to the failure, what was swallowed, what is odd, what was kept.

use std::collections::BTreeSet;

use super::{NextAsk, frame::FrameRow};
use crate::{
    columns::Field,
    damage::Damage,
    datum::Datum,
    head::{Episode, NONE},
    ingest::class_name,
    recording::{CallId, Process, ProcessFacts, Recording, TestFacts, is_failure},
    show::{CallShown, LONG, SHORT},
    tell::plural,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    pub processes: Vec<ProcessFacts>,
    /// Passed, failed, of all.
    pub tests: (usize, usize, usize),
    pub failed_test: Option<TestFacts>,
    pub failure: Option<FailureShown>,
    pub raised: u64,
    pub swallowed: u64,
    pub swallowed_shown: Vec<SwallowedShown>,
    pub odd: Vec<OddResult>,
    pub calls: u64,
    pub lines: u64,
    pub events: u64,
    /// What of some functions was not kept, and from when on.
    pub levels: Vec<String>,
    pub missing: Vec<String>,
    pub next: Option<NextAsk>,
}

/// The exception that ended a test or the program.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureShown {
    pub exception: String,
    pub file: String,
    pub line: u32,
    /// From the outermost call to the one that raised it; then what that one had asked last.
    pub path: Vec<CallShown>,
    /// How many of them are the way to what raised it; the rest is what it was answered.
    pub depth: usize,
    pub last_lines: Vec<FrameRow>,
    /// Whether it says that a comparison failed, in a frame whose lines were kept.
    pub is_assertion: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SwallowedShown {
    pub exception: String,
    /// As often is one of this type caught there: what happens all the time is how the program works.
    pub times: u64,
    /// Whether it was on the way to what the failing call was told.
    pub is_near: bool,
    /// Whether such are caught all the time.
    pub is_course: bool,
    pub raised_in: CallShown,
    pub handled_by: CallShown,
    pub file: String,
    pub line: u32,
}

/// One result unlike all others of its function.
#[derive(Debug, Clone, PartialEq)]
pub struct OddResult {
    pub function: String,
    pub what: String,
    pub times: u64,
    pub calls: u64,
    pub first: CallId,
    pub usual: String,
    /// As of what was swallowed.
    pub is_near: bool,
}

/// How many of each are told.
const SWALLOWED: usize = 3;
const ODD: usize = 3;

/// The rank of an odd result that is far from the failure, and is something.
const FAR_RANK: u64 = 11_000;
const LAST_LINES: usize = 4;

/// Calls of a function before one result can be odd.
const ODD_CALLS: u64 = 4;

/// What a runner asks of objects when it writes about a failure.
const TEXTS: &[&str] = &["__repr__", "__str__", "__format__", "toString", "toJSON", "inspect"];

/// Exceptions that are caught as a matter of course: the end of an iterator, a package that one may have.
const ENDS: &[&str] =
    &["StopIteration", "StopAsyncIteration", "GeneratorExit", "ImportError", "ModuleNotFoundError"];

/// Functions that say by nothing that there is no more.
const STEPS: &[&str] = &["next", "__next__", "__anext__"];

/// Who returns more classes of results than these has no odd one.
const ODD_CLASSES: usize = 3;

/// Calls that one answer is followed through.
const ANSWERS: usize = 3;

/// So far up is looked for who asked.
const NEAR_DEPTH: usize = 200;

/// The call that failed, and the one that had answered it.
#[derive(Default)]
struct Near {
    origin: Option<CallId>,
    answer: Option<CallId>,
}

impl Near {
    fn of(failure: Option<&FailureShown>) -> Near {
        let Some(failure) = failure else { return Near::default() };
        let at = |place: usize| failure.path.get(place).map(|it| it.id);
        Near { origin: failure.depth.checked_sub(1).and_then(at), answer: at(failure.depth) }
    }
}

/// What was raised in one place and caught in another: functions and lines.
#[derive(PartialEq, Eq)]
struct CaughtKey {
    process: u32,
    raised: (u32, u32),
    handled: (u32, u32),
    kind: String,
}

/// All exceptions of one such kind.
struct CaughtKind<'a> {
    key: CaughtKey,
    times: u64,
    last: &'a Episode,
    by: CallId,
    is_near: bool,
}

/// Caught more often than this, it is how the program works.
const SWALLOWED_RARE: u64 = 3;

/// Where to look first: what was swallowed or odd on the way to the failing answer, else that answer, else the calls.
fn next(
    swallowed: Option<&SwallowedShown>,
    odd: Option<&OddResult>,
    failure: Option<&FailureShown>,
    is_fine: bool,
) -> NextAsk {
    let rare = swallowed.filter(|it| it.times <= SWALLOWED_RARE && !it.is_course);
    let Some(failure) = failure else {
        // Of a run that went well, who tries and handles it at once does so as a matter of course.
        let rare = rare.filter(|it| !is_fine || it.raised_in.id != it.handled_by.id);
        return rare.map_or(NextAsk::Tree(None), |it| NextAsk::Frame(it.handled_by.id));
    };
    let is_answered = failure.path.len() > failure.depth;
    let only = rare.filter(|it| it.times == 1 && !is_answered);
    if let Some(it) = rare.filter(|it| it.is_near).or(only) {
        return NextAsk::Frame(it.handled_by.id);
    }
    if let Some(it) = odd.filter(|it| it.is_near) {
        return NextAsk::Frame(it.first);
    }
    match failure.path.last() {
        // Nobody's answer is in what was compared: the frame itself shows what is.
        Some(last) if failure.is_assertion && !is_answered => NextAsk::Frame(last.id),
        // A test that nobody answered: what did it do?
        Some(only) if failure.path.len() == 1 => NextAsk::Tree(Some(only.id)),
        // What it did comes later than its frame.
        Some(last) if last.end.is_promise() => NextAsk::Tree(Some(last.id)),
        Some(last) => NextAsk::Frame(last.id),
        None => NextAsk::Tree(None),
    }
}

impl Recording {
    pub fn overview(&self) -> Result<Overview, Damage> {
        let tests: Vec<(u32, TestFacts)> = self
            .processes()
            .iter()
            .flat_map(|it| it.tests().into_iter().map(|test| (it.number, test)))
            .collect();
        let has_failed = |it: &TestFacts| it.outcome.as_deref().is_some_and(is_failure);
        let failed = tests.iter().find(|(_, it)| has_failed(it)).cloned();
        let failures = tests.iter().filter(|(_, it)| has_failed(it)).count();
        let passed = tests.iter().filter(|(_, it)| it.outcome.is_some() && !has_failed(it)).count();
        let episode = self.failing(failed.as_ref());
        let failure = match &episode {
            Some((process, episode)) => Some(self.failure(*process, episode)?),
            None => None,
        };
        let range = failed.as_ref().map(|(process, it)| (*process, it.first_call, it.end_call));
        let near = Near::of(failure.as_ref());
        let swallowed_shown = self.swallowed(range, &near)?;
        let odd = self.odd(range, &near)?;
        let sum = |of: fn(&Process) -> u64| self.processes().iter().map(of).sum();
        let has_ended_well = |it: &Process| it.exit().is_none_or(|code| code == 0);
        let is_fine = failures == 0 && self.processes().iter().all(has_ended_well);
        let next = Some(next(swallowed_shown.first(), odd.first(), failure.as_ref(), is_fine));
        Ok(Overview {
            processes: self.process_facts(),
            tests: (passed, failures, tests.len()),
            failed_test: failed.map(|(_, it)| it),
            failure,
            raised: sum(|it| it.head.exceptions.total),
            swallowed: sum(|it| it.head.exceptions.swallowed),
            swallowed_shown,
            odd,
            calls: sum(|it| u64::from(it.head.calls)),
            lines: sum(|it| it.head.lines),
            events: sum(|it| it.head.events),
            levels: self.levels(),
            missing: self.missing_of_run(),
            next,
        })
    }

    /// The exception that ended the failed test; without tests the one that ended the program.
    fn failing(&self, failed: Option<&(u32, TestFacts)>) -> Option<(u32, Episode)> {
        let left = |it: &&Episode| it.escaped || it.outside;
        match failed {
            Some((process, test)) => {
                let of = self.process(*process).ok()?;
                let range = test.first_call..test.end_call;
                let kept = of.head.exceptions.kept.iter().filter(|it| range.contains(&it.call));
                let found =
                    kept.clone().rfind(|it| it.escaped).or_else(|| kept.clone().rfind(left));
                found.map(|it| (*process, it.clone()))
            }
            None => {
                let has_failed = |it: &&Process| it.exit().is_none_or(|code| code != 0);
                let of = self.processes().iter().find(has_failed)?;
                // Without its end nobody knows whether it failed.
                let found = of.head.exceptions.kept.iter().rfind(|it| it.escaped)?;
                Some((of.number, found.clone()))
            }
        }
    }

    fn failure(&self, process: u32, episode: &Episode) -> Result<FailureShown, Damage> {
        let of = self.process(process)?;
        let origin = CallId { process, number: episode.call };
        let mut path = vec![origin];
        while let Some(above) = path.last().map(|it| self.parent(*it)).transpose()?.flatten() {
            path.push(above);
        }
        path.reverse();
        let depth = path.len();
        let last_lines = self.last_lines(origin, LAST_LINES)?;
        // Without lines nobody knows what was compared.
        let is_assertion = !last_lines.is_empty() && self.is_assertion(process, episode.value)?;
        if is_assertion {
            if let Some(answer) = self.compared_answer(origin, episode.line)? {
                path.push(answer);
                path.extend(self.unchanged_from(answer)?);
            }
        } else if depth <= 2 {
            // It failed on what it was told: by whom?
            path.extend(self.last_answer(origin, episode.line)?);
        }
        let shown = path.iter().map(|it| self.call_shown(*it, SHORT)).collect::<Result<_, _>>()?;
        let function = self.small(origin, Field::Function)?;
        Ok(FailureShown {
            exception: self.shown(process, episode.value, LONG * 2),
            file: of.shown_path(function).to_owned(),
            line: episode.line,
            path: shown,
            depth,
            last_lines,
            is_assertion,
        })
    }

    /// The last call that answered it anything, and those from which that one's result came unchanged.
    fn last_answer(&self, of: CallId, line: u32) -> Result<Vec<CallId>, Damage> {
        let children = self.children(of).collect::<Result<Vec<_>, _>>()?;
        for child in children.into_iter().rev() {
            if self.answers(child, line)? {
                let from = self.unchanged_from(child)?;
                return Ok([child].into_iter().chain(from).collect());
            }
        }
        Ok(Vec::new())
    }

    /// The calls from which an answer came as it is, one made by the other.
    fn unchanged_from(&self, answer: CallId) -> Result<Vec<CallId>, Damage> {
        let (mut chain, mut at) = (Vec::new(), answer);
        while chain.len() < ANSWERS - 1 {
            let children = self.children(at).collect::<Result<Vec<_>, _>>()?;
            let mut last = None;
            for child in children.into_iter().rev() {
                if !self.is_text_of_runner(child)? {
                    last = Some(child);
                    break;
                }
            }
            let Some(last) = last else { break };
            let (one, other) = (self.small(at, Field::Result)?, self.small(last, Field::Result)?);
            let is_known = one != NONE && other != NONE;
            let hash = |it: u32| self.value_hash(answer.process, it);
            if !is_known || hash(one)? != hash(other)? {
                break;
            }
            chain.push(last);
            at = last;
        }
        Ok(chain)
    }

    /// A runner asks objects for their texts after the failure.
    pub(super) fn is_text_of_runner(&self, call: CallId) -> Result<bool, Damage> {
        let of = self.process(call.process)?;
        let name = of.qualified(self.small(call, Field::Function)?);
        Ok(name.rsplit('.').next().is_some_and(|it| TEXTS.contains(&it)))
    }

    /// Whether somebody could have failed on what this call returned: who returns nothing at another line than the
    /// failing one has told nothing.
    fn answers(&self, call: CallId, line: u32) -> Result<bool, Damage> {
        let is_something = !self.is_nothing(call)? || self.small(call, Field::Site)? == line;
        Ok(is_something && !self.is_text_of_runner(call)?)
    }

    /// Those of the failed test, each kind at each place once: what was near to the failure before the others, then
    /// what is rare.
    fn swallowed(
        &self,
        range: Option<(u32, u32, u32)>,
        near: &Near,
    ) -> Result<Vec<SwallowedShown>, Damage> {
        let mut kinds: Vec<CaughtKind<'_>> = Vec::new();
        for of in self.processes() {
            let here = |call: u32| match range {
                Some((process, first, end)) => process == of.number && (first..end).contains(&call),
                None => true,
            };
            for episode in of.head.exceptions.kept.iter().filter(|it| it.is_swallowed()) {
                let Some((by, line)) = episode.handled.filter(|_| here(episode.call)) else {
                    continue;
                };
                let by = CallId { process: of.number, number: by };
                let function = self.small(by, Field::Function)?;
                let kind = self.shown(of.number, episode.value, LONG / 2);
                let kind = kind.split(' ').next().unwrap_or_default().to_owned();
                let raised = CallId { process: of.number, number: episode.call };
                let raised = (self.small(raised, Field::Function)?, episode.line);
                let handled = (function, line);
                let key = CaughtKey { process: of.number, raised, handled, kind };
                let is_near = self.is_near(by, near)?;
                match kinds.iter_mut().find(|it| it.key == key) {
                    Some(known) => {
                        known.times += 1;
                        if is_near || !known.is_near {
                            (known.last, known.by, known.is_near) = (episode, by, is_near);
                        }
                    }
                    None => {
                        let last = episode;
                        kinds.push(CaughtKind { key, times: 1, last, by, is_near });
                    }
                }
            }
        }
        kinds.sort_by_key(|it| {
            let is_course = ENDS.contains(&it.key.kind.as_str());
            (is_course, !it.is_near, it.times, std::cmp::Reverse(it.last.event))
        });
        kinds.iter().take(SWALLOWED).map(|it| self.swallowed_shown(it)).collect()
    }

    fn swallowed_shown(&self, of: &CaughtKind<'_>) -> Result<SwallowedShown, Damage> {
        let CaughtKey { process, handled: (function, line), kind, .. } = &of.key;
        let raised = CallId { process: *process, number: of.last.call };
        Ok(SwallowedShown {
            exception: self.shown(*process, of.last.value, LONG / 2),
            times: of.times,
            is_near: of.is_near,
            is_course: ENDS.contains(&kind.as_str()),
            raised_in: self.call_shown(raised, SHORT)?,
            handled_by: self.call_shown(of.by, SHORT)?,
            file: self.process(*process)?.shown_path(*function).to_owned(),
            line: *line,
        })
    }

    /// Whether a call was made for the answer on which the failing one failed, or came to nothing for it: it returned
    /// nothing, and so did all between them.
    fn is_near(&self, call: CallId, near: &Near) -> Result<bool, Damage> {
        let (mut at, mut came_to_nothing) = (Some(call), true);
        for _ in 0..NEAR_DEPTH {
            let Some(call) = at else { return Ok(false) };
            if near.answer == Some(call) {
                return Ok(true);
            }
            came_to_nothing &= self.is_nothing(call)?;
            at = self.parent(call)?;
            if came_to_nothing && at.is_some() && at == near.origin {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_nothing(&self, call: CallId) -> Result<bool, Damage> {
        let result = self.small(call, Field::Result)?;
        if result == NONE {
            return Ok(true);
        }
        Ok(matches!(self.datum(call.process, result)?, Datum::None | Datum::Undefined))
    }

    fn odd(&self, range: Option<(u32, u32, u32)>, near: &Near) -> Result<Vec<OddResult>, Damage> {
        let mut all: Vec<(u64, OddResult)> = Vec::new();
        for of in self.processes() {
            for (function, tally) in of.head.tallies.iter().enumerate() {
                let returned: u64 = tally.results.iter().map(|(_, times, _)| times).sum();
                let usual = tally.results.iter().max_by_key(|(_, times, _)| *times);
                let (Some(usual), true) = (usual, returned >= ODD_CALLS) else { continue };
                let name = of.qualified(function as u32);
                // Who returns whatever there is has nothing odd, and an iterator's end is none.
                let is_iterator = name.rsplit('.').next().is_some_and(|it| STEPS.contains(&it));
                if tally.results.len() > ODD_CLASSES || is_iterator {
                    continue;
                }
                let rare = tally.results.iter().filter(|(class, times, _)| {
                    *class != usual.0 && times.saturating_mul(ODD_CALLS) <= returned
                });
                for (class, times, first) in rare {
                    let is_within = range.is_none_or(|(process, begin, end)| {
                        process == of.number && (begin..end).contains(first)
                    });
                    let class_of = |class: u32| class_name(class, &of.language, &of.head.strings);
                    let first = CallId { process: of.number, number: *first };
                    let is_near = is_within && self.is_near(first, near)?;
                    let odd = OddResult {
                        function: name.to_owned(),
                        what: class_of(*class),
                        times: *times,
                        calls: returned,
                        first,
                        usual: class_of(usual.0),
                        is_near,
                    };
                    // The rarer the odder; nothing at all most of all.
                    let is_nothing = matches!(class & 31, 0 | 1);
                    let rank = u64::from(!is_within) * 1_000_000
                        + u64::from(!is_near) * 10_000
                        + u64::from(!is_nothing) * 1_000
                        + (*times * 100 / returned);
                    all.push((rank, odd));
                }
            }
        }
        all.sort_by_key(|(rank, _)| *rank);
        // Beside a failure, what is far from it and not even nothing explains nothing.
        let most = if near.origin.is_some() { FAR_RANK } else { u64::MAX };
        let told = all.into_iter().filter(|(rank, _)| *rank < most).take(ODD);
        Ok(told.map(|(_, it)| it).collect())
    }

    /// What a run as a whole lacks: what every answer does, and what was not kept of it.
    pub(crate) fn missing_of_run(&self) -> Vec<String> {
        let mut all = self.missing();
        if self.processes().iter().all(|it| it.head.calls == 0) {
            all.push("every call".to_owned());
        }
        // One may have been given less twice.
        let names: BTreeSet<&str> = self
            .processes()
            .iter()
            .flat_map(|of| of.head.levels.iter().map(move |it| of.qualified(it.function)))
            .collect();
        if let Some(one) = names.first() {
            all.push(format!(
                "lines of {} that ran often; `record_run` with `focus` [\"{one}\"] keeps one whole",
                plural(names.len() as u64, "function")
            ));
        }
        all
    }

    /// Functions of which less than their lines was kept.
    fn levels(&self) -> Vec<String> {
        let mut told = Vec::new();
        for of in self.processes() {
            for level in &of.head.levels {
                let name = of.qualified(level.function);
                let kept = match level.level {
                    0 => "counts",
                    1 => "calls",
                    _ => "lines",
                };
                told.push(format!("{name}: {kept} from event {} on ({})", level.event, level.why));
            }
        }
        told
    }
}
