//! Two runs side by side: where they first part, and what came of it.
//!
//! Calls are compared by the hashes of their subtrees over normal values, so what is equal is never opened. Where they
//! differ the children are aligned by function and arguments. Threads and tasks of one name are compared together: which
//! of them did what, and in which order, is not, nor is the order of calls that nothing recorded made.

mod compare;

use std::collections::HashMap;

use self::compare::TwoRuns;
use crate::{
    ask::{NextAsk, passes::Visit},
    columns::Field,
    damage::Damage,
    datum::Datum,
    hash::{mix, of_bytes},
    head::NONE,
    limits, normal,
    recording::{AskError, CallId, Recording},
    show::{CallShown, LONG, SHORT},
};

/// What to compare, and what to pass over.
#[derive(Debug, Clone, Default)]
pub struct DiffAsk {
    /// Functions whose calls are not compared.
    pub ignore: Vec<String>,
    /// Below these calls alone.
    pub from: Option<(CallId, CallId)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DiffFound {
    pub calls: (u64, u64),
    /// In the order in which they happened.
    pub differences: Vec<Difference>,
    /// More than are listed.
    pub total: u64,
    pub first_line: Option<LineDifference>,
    /// Values that differ only in what differs in every run.
    pub masked: u64,
    /// Threads and tasks of one run that have no counterpart: of the first, of the second.
    pub alone: (usize, usize),
    pub missing: Vec<String>,
    pub next: Option<NextAsk>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub kind: DifferenceKind,
    pub one: Option<CallShown>,
    pub other: Option<CallShown>,
    /// Of arguments: what of them differs, `ticket.state`, in both runs.
    pub parts: Vec<(String, String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The same call came to another end.
    Result,
    /// The same place called it with something else.
    Arguments,
    OnlyFirst,
    OnlySecond,
}

/// The first line at which two frames differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDifference {
    /// The calls whose frames these are, and the how manieth time they were at the line.
    pub calls: (CallId, CallId),
    pub times: (u32, u32),
    pub file: String,
    pub lines: (Option<u32>, Option<u32>),
    pub changes: (Vec<String>, Vec<String>),
    pub sources: (Option<String>, Option<String>),
}

/// Differences that are shown, and arguments of one of them.
const LISTED: usize = 12;
const PARTS: usize = 3;

/// Functions that can be left and resumed: generators, coroutines.
const WAITS: u32 = 3;

/// So many differences are put in order by their steps, which takes reading them.
const ORDERED: usize = 40;

/// How far down the end of a call is looked for.
const MOMENT_DEPTH: usize = 32;

/// What differs, and the calls of both runs.
type Part = (DifferenceKind, Option<CallId>, Option<CallId>);

impl Recording {
    pub fn diff(&self, other: &Recording, ask: &DiffAsk) -> Result<DiffFound, AskError> {
        let mut comparison =
            TwoRuns { one: self, other, ask, found: Vec::new(), total: 0, masked: 0, opened: 0 };
        let mut alone = (0, 0);
        match ask.from {
            Some((first, second)) => comparison.run(vec![first], vec![second])?,
            None => {
                let mut lanes = self.lane_roots()?;
                for (name, theirs) in other.lane_roots()? {
                    match lanes.iter().position(|(it, _)| *it == name) {
                        Some(at) => comparison.run(lanes.remove(at).1, theirs)?,
                        None => alone.1 += 1,
                    }
                }
                alone.0 = lanes.len();
            }
        }
        let TwoRuns { found, total, masked, .. } = comparison;
        let found = self.in_time(found)?;
        let first_line = match found.first() {
            Some((kind, one, another)) => self.first_line(other, *kind, *one, *another)?,
            None => None,
        };
        let next = found.first().and_then(|(_, one, _)| *one).map(NextAsk::Frame);
        let mut differences = Vec::new();
        for (kind, one, another) in found.iter().take(LISTED) {
            let shown = |of: &Recording, call: &Option<CallId>| -> Result<_, Damage> {
                call.map(|it| of.call_shown(it, SHORT)).transpose()
            };
            let parts = match (kind, one, another) {
                (DifferenceKind::Arguments, Some(one), Some(another)) => {
                    self.given_apart(*one, other, *another)?
                }
                _ => Vec::new(),
            };
            let (one, other) = (shown(self, one)?, shown(other, another)?);
            differences.push(Difference { kind: *kind, one, other, parts });
        }
        let count = |of: &Recording| of.processes().iter().map(|it| u64::from(it.head.calls)).sum();
        let mut missing: Vec<String> =
            self.missing().iter().map(|it| format!("of the first: {it}")).collect();
        missing.extend(other.missing().iter().map(|it| format!("of the second: {it}")));
        let calls = (count(self), count(other));
        Ok(DiffFound { calls, differences, total, first_line, masked, alone, missing, next })
    }

    /// A call that ends otherwise differs when it ends, behind all that it called. Threads come one after the other;
    /// what only the second run has keeps its place among its neighbours.
    fn in_time(&self, found: Vec<Part>) -> Result<Vec<Part>, Damage> {
        let (mut timed, mut last) = (Vec::with_capacity(found.len()), (0, 0));
        for part in found {
            if let (kind, Some(call), _) = part {
                let took = match kind {
                    DifferenceKind::Result => self.get(call, Field::Took)?,
                    _ => 0,
                };
                last = (call.process, self.get(call, Field::Begin)?.saturating_add(took));
            }
            timed.push((last, part));
        }
        timed.sort_by_key(|(when, _)| *when);
        let mut found: Vec<Part> = timed.into_iter().map(|(_, part)| part).collect();
        self.in_order(&mut found)?;
        Ok(found)
    }

    /// What was left and resumed ran for less long than it took: its end is where its last step is.
    fn in_order(&self, found: &mut [Part]) -> Result<(), Damage> {
        let mut waits = false;
        for (kind, call, _) in found.iter() {
            if let (DifferenceKind::Result, Some(call)) = (kind, call) {
                let function = self.small(*call, Field::Function)?;
                waits |= self.process(call.process)?.function(function)?.flags & WAITS != 0;
            }
        }
        if !waits || found.len() > ORDERED {
            return Ok(());
        }
        let (mut moments, mut last) = (Vec::with_capacity(found.len()), (0, 0));
        for (kind, call, _) in found.iter() {
            if let Some(call) = call {
                let is_end = *kind == DifferenceKind::Result;
                let Some(moment) = self.moment(*call, is_end, MOMENT_DEPTH)? else { return Ok(()) };
                last = (call.process, moment);
            }
            moments.push(last);
        }
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|at| moments.get(*at).copied());
        let sorted: Vec<Part> = order.iter().filter_map(|at| found.get(*at).copied()).collect();
        found.iter_mut().zip(sorted).for_each(|(place, part)| *place = part);
        Ok(())
    }

    /// The event at which a call began or ended, as near as its steps and those of its last call say.
    fn moment(&self, call: CallId, is_end: bool, depth: usize) -> Result<Option<u64>, Damage> {
        let steps = self.steps(call)?;
        if !is_end {
            return Ok(steps.first().map(|it| it.event));
        }
        let own = steps.last().map(|it| it.event);
        let last = self.children(call).last().transpose()?;
        let inner = match (last, depth.checked_sub(1)) {
            (Some(last), Some(deeper)) => self.moment(last, true, deeper)?,
            _ => None,
        };
        Ok(own.max(inner))
    }

    /// The arguments that differ, each to the part of it that does.
    fn given_apart(
        &self,
        one: CallId,
        other: &Recording,
        another: CallId,
    ) -> Result<Vec<(String, String, String)>, Damage> {
        let of = self.process(one.process)?;
        let function = of.function(self.small(one, Field::Function)?)?;
        let names: Vec<String> =
            function.slots.iter().map(|it| of.string(*it).to_owned()).collect();
        let mut parts = Vec::new();
        for ((mine, their), name) in
            self.arguments(one)?.into_iter().zip(other.arguments(another)?).zip(names)
        {
            let ours = (one.process, mine);
            let theirs = (another.process, their);
            if parts.len() < PARTS
                && self.value_hash(ours.0, ours.1)? != other.value_hash(theirs.0, theirs.1)?
            {
                parts.push(self.apart(ours, other, theirs, name)?);
            }
        }
        Ok(parts)
    }

    /// Down to where two values part: the first field or item that differs while all else is alike.
    fn apart(
        &self,
        mut ours: (u32, u32),
        other: &Recording,
        mut theirs: (u32, u32),
        mut path: String,
    ) -> Result<(String, String, String), Damage> {
        for _ in 0..limits::VALUE_DEPTH_MAX {
            let mine = self.parts_of(ours.0, ours.1)?;
            let their = other.parts_of(theirs.0, theirs.1)?;
            let mut differing = Vec::new();
            for ((name, one), (also, another)) in mine.iter().zip(&their) {
                let is_same =
                    self.value_hash(ours.0, *one)? == other.value_hash(theirs.0, *another)?;
                if name != also || !is_same {
                    differing.push((name, also, *one, *another));
                }
            }
            let ([(name, also, one, another), ..], true) =
                (differing.as_slice(), mine.len() == their.len())
            else {
                break;
            };
            if name != also {
                break;
            }
            path.push_str(name);
            (ours, theirs) = ((ours.0, *one), (theirs.0, *another));
        }
        let shown =
            (self.shown(ours.0, ours.1, LONG / 2), other.shown(theirs.0, theirs.1, LONG / 2));
        Ok((path, shown.0, shown.1))
    }

    /// What a value is made of, as a path goes on to it: `.state`, `[2]`, `['a']`.
    fn parts_of(&self, process: u32, value: u32) -> Result<Vec<(String, u32)>, Damage> {
        let of = self.process(process)?;
        Ok(match self.datum(process, value)? {
            Datum::Object { own, .. } => {
                own.iter().map(|(name, it)| (format!(".{}", of.string(*name)), *it)).collect()
            }
            Datum::List { items, kind, .. } if !normal::is_set(of.string(kind)) => {
                items.iter().enumerate().map(|(at, it)| (format!("[{at}]"), *it)).collect()
            }
            Datum::Dict { pairs, .. } => pairs
                .iter()
                .map(|(key, it)| (format!("[{}]", self.shown(process, *key, SHORT)), *it))
                .collect(),
            _ => Vec::new(),
        })
    }

    /// The outermost calls of threads and tasks, those of one name together; the order is that of the recording.
    fn lane_roots(&self) -> Result<Vec<(u64, Vec<CallId>)>, Damage> {
        let mut all: Vec<(u64, Vec<CallId>)> = Vec::new();
        for of in self.processes() {
            if of.head.lanes.len() <= 1 {
                let calls = self.roots(of.number).collect::<Result<Vec<_>, _>>()?;
                all.push((self.lane_name(of.number, 0)?, calls));
                continue;
            }
            let mut places: HashMap<u64, usize> = HashMap::new();
            for number in 0..of.head.calls {
                let call = CallId { process: of.number, number };
                let lane = self.small(call, Field::Lane)?;
                if let Some(parent) = self.parent(call)?
                    && self.small(parent, Field::Lane)? == lane
                {
                    continue;
                }
                let name = self.lane_name(of.number, lane)?;
                let at = *places.entry(name).or_insert_with(|| {
                    all.push((name, Vec::new()));
                    all.len() - 1
                });
                all.get_mut(at).into_iter().for_each(|(_, calls)| calls.push(call));
            }
        }
        Ok(all)
    }

    /// Names are often numbered, `Thread-3 (work)`, and a system gives the number of a thread that is gone to the next.
    fn lane_name(&self, process: u32, lane: u32) -> Result<u64, Damage> {
        let of = self.process(process)?;
        let lane = of.head.lanes.get(lane as usize).ok_or(Damage::Unknown("thread"))?;
        let name: String = lane.name.chars().filter(|it| !it.is_ascii_digit()).collect();
        Ok(mix(u64::from(process), of_bytes(name.as_bytes())))
    }

    /// What a call is: its function, and what it was given.
    fn key_of(&self, call: CallId) -> Result<(u64, u64), Damage> {
        let of = self.process(call.process)?;
        let function = of_bytes(of.qualified(self.small(call, Field::Function)?).as_bytes());
        let mut given = function;
        for value in self.arguments(call)? {
            given = mix(given, self.value_hash(call.process, value)?);
        }
        Ok((function, given))
    }

    fn end_hash(&self, call: CallId) -> Result<u64, Damage> {
        let result = self.small(call, Field::Result)?;
        let value = if result == NONE { 0 } else { self.value_hash(call.process, result)? };
        Ok(mix(u64::from(self.small(call, Field::Ending)? & 3), value))
    }

    /// The calls of its own thread or task that it made.
    fn own_children(&self, call: CallId) -> Result<Vec<CallId>, Damage> {
        let lane = self.small(call, Field::Lane)?;
        let mut all = Vec::new();
        for child in self.children(call) {
            let child = child?;
            if self.small(child, Field::Lane)? == lane {
                all.push(child);
            }
        }
        Ok(all)
    }

    /// Where the frames of the first difference part: of a call that ended otherwise its own, else its caller's.
    fn first_line(
        &self,
        other: &Recording,
        kind: DifferenceKind,
        one: Option<CallId>,
        another: Option<CallId>,
    ) -> Result<Option<LineDifference>, Damage> {
        let (Some(one), Some(another)) = (one, another) else { return Ok(None) };
        let pair = match kind {
            DifferenceKind::Result => Some((one, another)),
            _ => self.parent(one)?.zip(other.parent(another)?),
        };
        let Some((one, another)) = pair else { return Ok(None) };
        let (ours, theirs) = (self.frame_visits(one)?, other.frame_visits(another)?);
        let function = self.small(one, Field::Function)?;
        let (begin, second) = (self.begin_of(one)?, other.begin_of(another)?);
        let count = ours.len().max(theirs.len());
        for at in 0..count {
            let (mine, their) = (ours.get(at), theirs.get(at));
            let of_mine = mine.map(|it| self.visit_key(one, it, begin)).transpose()?;
            let of_their = their.map(|it| other.visit_key(another, it, second)).transpose()?;
            if of_mine == of_their {
                continue;
            }
            let told = |of: &Recording, call, visit: Option<&Visit>| -> Result<_, Damage> {
                visit.map(|it| of.visit_row(call, it)).transpose()
            };
            let (mine_row, their_row) = (told(self, one, mine)?, told(other, another, their)?);
            let (line, source, changes) = mine_row
                .map_or((None, None, Vec::new()), |it| (Some(it.line), it.source, it.changes));
            let (line2, source2, changes2) = their_row
                .map_or((None, None, Vec::new()), |it| (Some(it.line), it.source, it.changes));
            let nth = |it: Option<&Visit>| it.map_or(0, |it| it.nth);
            return Ok(Some(LineDifference {
                calls: (one, another),
                times: (nth(mine), nth(their)),
                file: self.process(one.process)?.shown_path(function).to_owned(),
                lines: (line, line2),
                changes: (changes, changes2),
                sources: (source, source2),
            }));
        }
        Ok(None)
    }

    fn begin_of(&self, call: CallId) -> Result<u32, Damage> {
        let function = self.small(call, Field::Function)?;
        Ok(self.process(call.process)?.function(function)?.first_line)
    }

    fn frame_visits(&self, call: CallId) -> Result<Vec<Visit>, Damage> {
        let function = self.small(call, Field::Function)?;
        Ok(self.visits(call, function)?.all)
    }

    /// A visit as far as two runs can be compared: the line from the function's first, names and normal values.
    fn visit_key(&self, call: CallId, visit: &Visit, begin: u32) -> Result<u64, Damage> {
        let of = self.process(call.process)?;
        let function = of.function(self.small(call, Field::Function)?)?;
        let mut key = mix(1, u64::from(visit.line.wrapping_sub(begin)));
        for (slot, value, _) in &visit.writes {
            let name = function.slots.get(*slot as usize).map_or("", |it| of.string(*it));
            key = mix(mix(key, of_bytes(name.as_bytes())), self.value_hash(call.process, *value)?);
        }
        for (name, _, result) in &visit.leaves {
            key = mix(key, of_bytes(of.string(*name).as_bytes()));
            key = mix(key, self.value_hash(call.process, *result)?);
        }
        for value in [visit.raised, visit.yielded].into_iter().flatten() {
            key = mix(key, self.value_hash(call.process, value)?);
        }
        Ok(mix(key, visit.children.len() as u64))
    }

    /// A value that differs from run to run and is passed over.
    fn is_masked(&self, call: CallId, other: &Recording, another: CallId) -> Result<bool, Damage> {
        let (one, two) = (self.small(call, Field::Result)?, other.small(another, Field::Result)?);
        if one == NONE || two == NONE {
            return Ok(false);
        }
        let (one, two) =
            (self.shown(call.process, one, LONG), other.shown(another.process, two, LONG));
        Ok(one != two && normal::text_of(&one) == normal::text_of(&two))
    }
}
