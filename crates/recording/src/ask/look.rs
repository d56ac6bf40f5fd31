//! One call to be looked at: its source, what happened at each of its lines, in all passes or in one of them.
//!
//! The same as [`crate::FrameTold`], but for a page: each thing by itself and not in words.

use std::collections::BTreeMap;

use super::{
    frame::is_plain,
    passes::{Stretch, Visit, stretches},
};
use crate::{
    columns::Field,
    damage::Damage,
    head::NONE,
    recording::{AskError, CallId, Recording, SpotId},
    show::{CallEnd, CallShown, LONG, SHORT, cut},
};

/// Which frame, and which of its passes.
#[derive(Debug, Clone, Copy)]
pub struct LookAsk {
    pub call: CallId,
    /// From the nth time at this line to the next.
    pub pass: Option<(u32, u32)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FrameLook {
    pub call: CallShown,
    pub last_line: u32,
    /// As it was kept; none where it was not.
    pub source: Option<RecordedText>,
    /// Those at which it was, by their numbers.
    pub lines: Vec<LineSeen>,
    /// Where its loops begin: line, times there.
    pub loops: Vec<(u32, u32)>,
    pub pass: Option<PassSeen>,
    /// Who called it, the nearest first, up to a bound.
    pub callers: Vec<CallerSeen>,
    /// Exceptions that ended in it.
    pub notes: Vec<String>,
    pub has_lines: bool,
    pub missing: Vec<String>,
}

/// A call that was open when it ran, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerSeen {
    pub call: CallId,
    pub function: String,
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedText {
    pub path: String,
    pub text: String,
    /// It is certainly what ran.
    pub is_same: bool,
}

/// What happened at one line.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeen {
    pub line: u32,
    /// In all of the call.
    pub times: u64,
    /// It was reached in the pass that is looked at.
    pub is_reached: bool,
    pub notes: Vec<LineNote>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LineNote {
    /// A name got a value; it may not have, where that is not sure.
    Wrote {
        name: String,
        was: Option<String>,
        now: String,
        is_sure: bool,
    },
    /// A name's values from pass to pass, the first and the last of them; how many are between those.
    Series {
        name: String,
        first: Vec<String>,
        last: Vec<String>,
        left: u64,
    },
    Called {
        call: CallId,
        function: String,
        end: CallEnd,
    },
    /// Several calls, by their first.
    Calls {
        first: CallId,
        function: String,
        times: u64,
    },
    /// A call into code that was not recorded.
    Leaf(String),
    Raised(String),
    Caught(String),
    Yielded(String),
    /// So many events were not kept.
    Lost(u64),
}

/// The pass that is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct PassSeen {
    pub line: u32,
    pub nth: u32,
    pub times: u32,
    /// Before it.
    pub state: Vec<(String, String)>,
}

/// Values of one name that are shown of many passes, of each end.
const ENDS: usize = 4;

/// Things of one kind that are told of one visit, and visits of one line in a pass.
const EACH: usize = 3;

/// Callers that are named: a recursion may be thousands deep.
const CALLERS: usize = 40;

/// Characters of a value beside its line.
const VALUE: usize = SHORT + SHORT / 2;

impl Recording {
    pub fn look(&self, ask: &LookAsk) -> Result<FrameLook, AskError> {
        let call = ask.call;
        let number = self.small(call, Field::Function)?;
        let function = self.process(call.process)?.function(number)?;
        let visits = self.visits(call, number)?.all;
        let pass = match ask.pass {
            Some((line, nth)) => Some(self.pass(call, &visits, line, nth)?),
            None => None,
        };
        let has_lines = visits.iter().any(|it| it.nth > 0);
        let (missing, _) = self.frame_missing(call, number, has_lines, &visits)?;
        let loops = loops(&visits);
        let within = pass.as_ref().map_or(&*visits, |it| it.1);
        let seer = LineSeer { recording: self, call, number };
        Ok(FrameLook {
            lines: seer.lines(&visits, within, pass.is_some()),
            call: self.call_shown(call, LONG)?,
            last_line: function.last_line,
            source: self.source_of(call)?,
            loops,
            pass: pass.map(|it| it.0),
            callers: self.callers(call)?,
            notes: self.notes_of(call)?,
            has_lines,
            missing,
        })
    }

    fn callers(&self, call: CallId) -> Result<Vec<CallerSeen>, Damage> {
        let of = self.process(call.process)?;
        let (mut all, mut at) = (Vec::new(), call);
        while all.len() < CALLERS
            && let Some(above) = self.parent(at)?
        {
            let number = self.small(above, Field::Function)?;
            all.push(CallerSeen {
                call: above,
                function: of.qualified(number).to_owned(),
                file: of.shown_path(number).to_owned(),
                line: self.small(at, Field::Site)?,
            });
            at = above;
        }
        Ok(all)
    }

    /// The source of a call's file, as it was kept.
    fn source_of(&self, call: CallId) -> Result<Option<RecordedText>, Damage> {
        let path = self.process(call.process)?.path(self.small(call, Field::Function)?);
        Ok(self.source(path).map(|(bytes, is_same)| RecordedText {
            path: path.to_owned(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            is_same,
        }))
    }

    /// From the nth time at a line to the next, or to the end of its loop; with what every name held before.
    fn pass<'v>(
        &self,
        call: CallId,
        visits: &'v [Visit],
        line: u32,
        nth: u32,
    ) -> Result<(PassSeen, &'v [Visit]), AskError> {
        let state = self.state(SpotId { call, line: Some(line), nth })?;
        let is_there = |it: &&Visit| it.line == line && it.nth > 0;
        let times = visits.iter().filter(is_there).count() as u32;
        let begin = visits.iter().position(|it| it.line == line && it.nth == nth).unwrap_or(0);
        let rest = visits.get(begin..).unwrap_or_default();
        let next = rest.iter().skip(1).position(|it| it.line == line).map(|it| it + 1);
        let end = next.unwrap_or_else(|| loop_end(visits, begin).saturating_sub(begin));
        let within = rest.get(..end.clamp(1, rest.len())).unwrap_or_default();
        Ok((PassSeen { line, nth, times, state: state.values }, within))
    }
}

/// Where the outermost loop around a visit ends; the end of the call where there is none.
fn loop_end(visits: &[Visit], at: usize) -> usize {
    let mut begin = 0;
    for stretch in stretches(visits) {
        let (is_loop, count) = match stretch {
            Stretch::Straight(all) => (false, all.len()),
            Stretch::Loop(all) => (true, all.len()),
        };
        begin += count;
        if at < begin {
            return if is_loop { begin } else { at + 1 };
        }
    }
    visits.len()
}

/// The first lines of the outermost loops; a recursion of one line is none.
fn loops(visits: &[Visit]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for stretch in stretches(visits) {
        if let Stretch::Loop([first, ..]) = stretch
            && found.iter().all(|(line, _)| *line != first.line)
        {
            let times = visits.iter().filter(|it| it.line == first.line && it.nth > 0).count();
            found.push((first.line, times as u32));
        }
    }
    found.retain(|(_, times)| *times > 1);
    found
}

struct LineSeer<'a> {
    recording: &'a Recording,
    call: CallId,
    number: u32,
}

impl LineSeer<'_> {
    /// Every line that was reached, with what happened there within some visits.
    fn lines(&self, all: &[Visit], within: &[Visit], is_pass: bool) -> Vec<LineSeen> {
        let mut times: BTreeMap<u32, u64> = BTreeMap::new();
        for visit in all {
            *times.entry(visit.line).or_default() += u64::from(visit.nth > 0);
        }
        let mut by_line: BTreeMap<u32, Vec<&Visit>> = BTreeMap::new();
        for visit in within {
            by_line.entry(visit.line).or_default().push(visit);
        }
        let told = |visits: &[&Visit]| match visits {
            [only] => self.one(only),
            few if is_pass && few.len() <= EACH => few.iter().flat_map(|it| self.one(it)).collect(),
            many => self.many(many),
        };
        let seen = |(line, times): (&u32, &u64)| {
            let here = by_line.get(line);
            let notes = here.map(|it| told(it)).unwrap_or_default();
            LineSeen { line: *line, times: *times, is_reached: here.is_some(), notes }
        };
        times.iter().map(seen).collect()
    }

    fn name(&self, slot: u32) -> Option<String> {
        let of = self.recording.process(self.call.process).ok()?;
        let slot = of.function(self.number).ok()?.slots.get(slot as usize)?;
        Some(of.string(*slot).to_owned()).filter(|it| is_plain(it))
    }

    fn value(&self, value: u32) -> String {
        self.recording.shown(self.call.process, value, VALUE)
    }

    /// One visit, thing by thing.
    fn one(&self, visit: &Visit) -> Vec<LineNote> {
        let mut notes = Vec::new();
        for (slot, value, before) in &visit.writes {
            let Some(name) = self.name(*slot) else { continue };
            let now = self.value(*value);
            let was = (*before != NONE).then(|| self.value(*before)).filter(|it| *it != now);
            notes.push(LineNote::Wrote { name, was, now, is_sure: !visit.is_partial });
        }
        for child in visit.children.iter().take(EACH) {
            let call = CallId { number: *child, ..self.call };
            if let Ok(shown) = self.recording.call_shown(call, SHORT) {
                notes.push(LineNote::Called { call, function: shown.function, end: shown.end });
            }
        }
        if let Some(more) = visit.children.get(EACH) {
            let first = CallId { number: *more, ..self.call };
            let times = (visit.children.len() - EACH) as u64;
            notes.push(LineNote::Calls { first, function: "others".to_owned(), times });
        }
        for (name, arguments, result) in visit.leaves.iter().take(EACH) {
            let Ok(of) = self.recording.process(self.call.process) else { continue };
            let given: Vec<String> =
                arguments.iter().take(EACH).map(|it| self.value(*it)).collect();
            let given = cut(given.join(", "), SHORT);
            notes.push(LineNote::Leaf(format!(
                "{}({given}) → {}",
                of.string(*name),
                self.value(*result)
            )));
        }
        self.ends(visit, &mut notes);
        notes
    }

    fn ends(&self, visit: &Visit, notes: &mut Vec<LineNote>) {
        notes.extend(visit.raised.map(|it| LineNote::Raised(self.value(it))));
        notes.extend(visit.handled.map(|it| LineNote::Caught(self.value(it))));
        notes.extend(visit.yielded.map(|it| LineNote::Yielded(self.value(it))));
        if visit.gap > 0 {
            notes.push(LineNote::Lost(visit.gap));
        }
    }

    /// Many visits of one line: each name's values, the calls by number.
    fn many(&self, visits: &[&Visit]) -> Vec<LineNote> {
        let mut values: Vec<(u32, Vec<u32>)> = Vec::new();
        for (slot, value, _) in visits.iter().flat_map(|it| &it.writes) {
            match values.iter_mut().find(|(it, _)| it == slot) {
                Some((_, all)) => all.push(*value),
                None => values.push((*slot, vec![*value])),
            }
        }
        let mut notes: Vec<LineNote> = Vec::new();
        for (slot, all) in &values {
            let Some(name) = self.name(*slot) else { continue };
            notes.push(self.series(name, all));
        }
        let times: usize = visits.iter().map(|it| it.children.len()).sum();
        if let Some(first) = visits.iter().find_map(|it| it.children.first()) {
            let first = CallId { number: *first, ..self.call };
            let shown = self.recording.call_shown(first, SHORT);
            let function = shown.map(|it| it.function).unwrap_or_default();
            notes.push(LineNote::Calls { first, function, times: times as u64 });
        }
        let odd = visits.iter().filter(|it| it.raised.is_some() || it.gap > 0).take(EACH);
        odd.for_each(|it| self.ends(it, &mut notes));
        notes
    }

    fn series(&self, name: String, all: &[u32]) -> LineNote {
        let shown = |values: &[u32]| values.iter().map(|it| self.short(*it)).collect::<Vec<_>>();
        if let [first, rest @ ..] = all
            && rest.iter().all(|it| it == first)
        {
            let now = self.value(*first);
            return LineNote::Wrote { name, was: None, now, is_sure: true };
        }
        if all.len() <= 2 * ENDS {
            return LineNote::Series { name, first: shown(all), last: Vec::new(), left: 0 };
        }
        let (first, rest) = all.split_at(ENDS);
        let (between, last) = rest.split_at(rest.len() - ENDS);
        let left = between.len() as u64;
        LineNote::Series { name, first: shown(first), last: shown(last), left }
    }

    fn short(&self, value: u32) -> String {
        self.recording.shown(self.call.process, value, SHORT / 2)
    }
}
