//! One call, line by line: only what changed, loops condensed.

use std::collections::{BTreeMap, HashMap};

use super::{
    NextAsk,
    heads::with_heads,
    passes::{Stretch, Visit, stretches},
};
use crate::{
    columns::Field,
    damage::Damage,
    head::NONE,
    recording::{AskError, CallId, Recording, SpotId},
    show::{CallShown, LONG, SHORT, cut, one_line},
};

/// Which frame, and what of it.
#[derive(Debug, Clone)]
pub struct FrameAsk {
    pub call: CallId,
    /// These lines alone, each time they ran.
    pub lines: Option<(u32, u32)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FrameTold {
    pub call: CallShown,
    pub last_line: u32,
    pub rows: Vec<FrameRow>,
    /// The calls it made: function, how often, the first.
    pub children: Vec<(String, u64, CallId)>,
    pub notes: Vec<String>,
    /// Whether lines were kept at all.
    pub has_lines: bool,
    pub missing: Vec<String>,
    pub next: Option<NextAsk>,
}

/// A line of the source and what happened there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameRow {
    pub line: u32,
    pub source: Option<String>,
    pub times: u64,
    pub changes: Vec<String>,
}

/// What every name held before a line ran.
#[derive(Debug, Clone, PartialEq)]
pub struct StateAt {
    pub call: CallShown,
    pub line: u32,
    pub nth: u32,
    pub values: Vec<(String, String)>,
    pub missing: Vec<String>,
}

/// The first and the last passes of a loop are shown, and so many of those that went another way.
const FIRST: usize = 5;
const LAST: usize = 5;
const OTHERS: usize = 3;

/// Functions that a line of a loop called.
const CALLED: usize = 3;

/// Straight lines that are told one by one.
const STRAIGHT_MAX: usize = 400;

impl Recording {
    pub fn frame(&self, ask: &FrameAsk) -> Result<FrameTold, AskError> {
        let call = ask.call;
        let number = self.small(call, Field::Function)?;
        let of = self.process(call.process)?;
        let function = of.function(number)?;
        let visits = self.visits(call, number)?;
        let writer = RowWriter { recording: self, call, number, source: self.lines_of(call)? };
        let mut rows = Vec::new();
        match ask.lines {
            Some((first, last)) => {
                let wanted = |it: &&Visit| (first..=last).contains(&it.line);
                let all = visits.all.iter().filter(wanted).take(STRAIGHT_MAX);
                rows.extend(all.map(|it| writer.one(it)));
            }
            None => {
                for stretch in stretches(&visits.all) {
                    match stretch {
                        Stretch::Straight(all) => {
                            rows.extend(all.iter().take(STRAIGHT_MAX).map(|it| writer.one(it)));
                        }
                        Stretch::Loop(all) => rows.extend(writer.many(all)),
                    }
                }
            }
        }
        let rows = with_heads(rows, &writer.source, function.first_line);
        let has_lines = visits.all.iter().any(|it| it.nth > 0);
        let (missing, next) = self.frame_missing(call, number, has_lines, &visits.all)?;
        Ok(FrameTold {
            call: self.call_shown(call, LONG / 2)?,
            last_line: function.last_line,
            rows,
            children: self.made(call)?,
            notes: self.notes_of(call)?,
            has_lines,
            missing,
            next,
        })
    }

    /// The last lines of a frame, one by one.
    pub(crate) fn last_lines(&self, call: CallId, count: usize) -> Result<Vec<FrameRow>, Damage> {
        let number = self.small(call, Field::Function)?;
        let visits = self.visits(call, number)?;
        let writer = RowWriter { recording: self, call, number, source: self.lines_of(call)? };
        let from = visits.all.len().saturating_sub(count);
        let last = visits.all.get(from..).unwrap_or_default();
        Ok(last.iter().filter(|it| it.nth > 0).map(|it| writer.one(it)).collect())
    }

    /// One visit, as it is shown among others.
    pub(crate) fn visit_row(&self, call: CallId, visit: &Visit) -> Result<FrameRow, Damage> {
        let number = self.small(call, Field::Function)?;
        Ok(RowWriter { recording: self, call, number, source: self.lines_of(call)? }.one(visit))
    }

    /// What every name held when the call was at a line for the nth time, before that line ran.
    pub fn state(&self, spot: SpotId) -> Result<StateAt, AskError> {
        let call = spot.call;
        let number = self.small(call, Field::Function)?;
        let visits = self.visits(call, number)?;
        let is_it = |it: &Visit| match spot.line {
            Some(line) => it.line == line && it.nth == spot.nth,
            None => false,
        };
        let at = visits.all.iter().position(is_it);
        let Some(at) = at else {
            let times = visits.all.iter().filter(|it| Some(it.line) == spot.line).count();
            let line = spot.line.unwrap_or(0);
            let what = format!("call {call} was not seen at line {line} for the time {}", spot.nth);
            let hint = format!("it was there {times} times; record_frame shows its lines");
            return Err(AskError::NotFound { what, hint });
        };
        let of = self.process(call.process)?;
        let function = of.function(number)?;
        let mut held = vec![NONE; function.slots.len()];
        for (place, value) in held.iter_mut().zip(self.arguments(call)?) {
            *place = value;
        }
        for visit in visits.all.iter().take(at) {
            for (slot, value, _) in &visit.writes {
                held.get_mut(*slot as usize).into_iter().for_each(|it| *it = *value);
            }
        }
        let named = function.slots.iter().map(|it| of.string(*it)).zip(&held);
        let values = named
            .filter(|(name, value)| **value != NONE && is_plain(name))
            .map(|(name, value)| (name.to_owned(), self.shown(call.process, *value, LONG)))
            .collect();
        let gaps: u64 = visits.all.iter().take(at).map(|it| it.gap).sum();
        let mut missing = self.missing();
        if gaps > 0 {
            missing.insert(0, format!("{gaps} events before it, so a value may be an older one"));
        }
        let (line, nth) = (spot.line.unwrap_or(0), spot.nth);
        Ok(StateAt { call: self.call_shown(call, SHORT)?, line, nth, values, missing })
    }

    pub(super) fn frame_missing(
        &self,
        call: CallId,
        number: u32,
        has_lines: bool,
        visits: &[Visit],
    ) -> Result<(Vec<String>, Option<NextAsk>), Damage> {
        let of = self.process(call.process)?;
        let function = of.qualified(number).to_owned();
        let mut missing = Vec::new();
        let gaps: u64 = visits.iter().map(|it| it.gap).sum();
        let mut next = None;
        if !has_lines {
            let level = of.head.levels.iter().rfind(|it| it.function == number);
            let why = level.map(|it| format!(" ({})", it.why)).unwrap_or_default();
            missing.push(format!("the lines of this call were not kept{why}"));
            next = Some(NextAsk::Focus { function });
        } else if gaps > 0 {
            missing.push(format!("{gaps} events in the middle of its loops"));
            next = Some(NextAsk::Focus { function });
        }
        if visits.iter().any(|it| it.is_partial) {
            missing.push("writes of lines marked `?` may not have happened".to_owned());
        }
        missing.extend(self.missing());
        let child = self.children(call).next().transpose()?;
        Ok((missing, next.or(child.map(NextAsk::Frame))))
    }

    /// The calls that it made, by function.
    fn made(&self, call: CallId) -> Result<Vec<(String, u64, CallId)>, Damage> {
        let of = self.process(call.process)?;
        let mut all: Vec<(u32, u64, CallId)> = Vec::new();
        for child in self.children(call) {
            let child = child?;
            let function = self.small(child, Field::Function)?;
            match all.iter_mut().find(|(it, ..)| *it == function) {
                Some((_, times, _)) => *times += 1,
                None => all.push((function, 1, child)),
            }
        }
        let named =
            all.into_iter().map(|(it, times, first)| (of.qualified(it).to_owned(), times, first));
        Ok(named.collect())
    }

    /// The source of a call's file, as it was kept.
    pub(super) fn lines_of(&self, call: CallId) -> Result<Vec<String>, Damage> {
        let of = self.process(call.process)?;
        let path = of.path(self.small(call, Field::Function)?);
        let text = self.source(path).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.unwrap_or_default().lines().map(str::to_owned).collect())
    }
}

struct RowWriter<'a> {
    recording: &'a Recording,
    call: CallId,
    number: u32,
    source: Vec<String>,
}

impl RowWriter<'_> {
    fn source(&self, line: u32) -> Option<String> {
        let at = (line as usize).checked_sub(1)?;
        self.source.get(at).map(|it| it.trim_end().to_owned())
    }

    fn name(&self, slot: u32) -> String {
        let Ok(of) = self.recording.process(self.call.process) else { return "?".to_owned() };
        let slots = of.function(self.number).map(|it| it.slots.get(slot as usize));
        slots.ok().flatten().map_or("?", |it| of.string(*it)).to_owned()
    }

    fn value(&self, value: u32) -> String {
        self.recording.shown(self.call.process, value, SHORT + SHORT / 2)
    }

    fn one(&self, visit: &Visit) -> FrameRow {
        let mut changes = Vec::new();
        let doubt = if visit.is_partial { "?" } else { "" };
        for (slot, value, before) in &visit.writes {
            let name = self.name(*slot);
            if !is_plain(&name) {
                continue;
            }
            let (now, was) = (self.value(*value), (*before != NONE).then(|| self.value(*before)));
            changes.push(match was {
                Some(was) if was != now => format!("{name} {was}→{now}{doubt}"),
                _ => format!("{name}={now}{doubt}"),
            });
        }
        self.others(visit, &mut changes);
        let (line, source) = (visit.line, self.source(visit.line));
        FrameRow { line, source, times: 1, changes }
    }

    /// Calls, exceptions, what was left out.
    fn others(&self, visit: &Visit, changes: &mut Vec<String>) {
        for child in visit.children.iter().take(3) {
            let id = CallId { number: *child, ..self.call };
            let Ok(shown) = self.recording.call_shown(id, SHORT / 2) else { continue };
            changes.push(format!("{} {id} {}", shown.function, shown.end.shown()));
        }
        if visit.children.len() > 3 {
            changes.push(format!("and {} more calls", visit.children.len() - 3));
        }
        for (name, arguments, result) in visit.leaves.iter().take(2) {
            let Ok(of) = self.recording.process(self.call.process) else { continue };
            let all: Vec<String> = arguments.iter().take(3).map(|it| self.value(*it)).collect();
            let result = self.value(*result);
            changes.push(format!(
                "{}({}) → {result}",
                of.string(*name),
                cut(all.join(", "), SHORT)
            ));
        }
        if let Some(value) = visit.raised {
            changes.push(format!("raises {}", self.value(value)));
        }
        if let Some(value) = visit.handled {
            changes.push(format!("{} caught", self.value(value)));
        }
        if let Some(value) = visit.yielded {
            changes.push(format!("yields {}", self.value(value)));
        }
        if visit.gap > 0 {
            changes.push(format!("… {} events not kept", visit.gap));
        }
    }

    /// A loop: each of its lines once, with how often and with its values from pass to pass; then the passes that
    /// went another way.
    fn many(&self, all: &[Visit]) -> Vec<FrameRow> {
        let mut by_line: BTreeMap<u32, Vec<&Visit>> = BTreeMap::new();
        for visit in all {
            by_line.entry(visit.line).or_default().push(visit);
        }
        let mut rows: Vec<FrameRow> =
            by_line.iter().map(|(line, visits)| self.together(*line, visits)).collect();
        rows.extend(self.other_ways(all));
        rows
    }

    fn together(&self, line: u32, visits: &[&Visit]) -> FrameRow {
        if let [only] = visits {
            return self.one(only);
        }
        let mut changes = Vec::new();
        let mut slots: Vec<u32> = Vec::new();
        for (slot, ..) in visits.iter().flat_map(|it| &it.writes) {
            if !slots.contains(slot) {
                slots.push(*slot);
            }
        }
        for slot in slots {
            let name = self.name(slot);
            if is_plain(&name) {
                let of = visits.iter().flat_map(|it| &it.writes).filter(|(it, ..)| *it == slot);
                let values: Vec<u32> = of.map(|(_, value, _)| *value).collect();
                changes.push(format!("{name}={}", self.sequence(&values)));
            }
        }
        changes.extend(self.called(visits));
        for visit in visits.iter().filter(|it| it.raised.is_some() || it.gap > 0).take(2) {
            let alone = Visit { writes: Vec::new(), children: Vec::new(), ..(*visit).clone() };
            let mut told = Vec::new();
            self.others(&alone, &mut told);
            changes.extend(told.into_iter().map(|it| format!("{it} (time {})", visit.nth)));
        }
        let (times, source) = (visits.len() as u64, self.source(line));
        FrameRow { line, source, times, changes }
    }

    /// The functions that a line called, over all its times: `rate ×6 from #2`.
    fn called(&self, visits: &[&Visit]) -> Vec<String> {
        let mut all: Vec<(u32, u64, CallId)> = Vec::new();
        for child in visits.iter().flat_map(|it| &it.children) {
            let id = CallId { number: *child, ..self.call };
            let Ok(function) = self.recording.small(id, Field::Function) else { continue };
            match all.iter_mut().find(|(it, ..)| *it == function) {
                Some((_, times, _)) => *times += 1,
                None => all.push((function, 1, id)),
            }
        }
        let Ok(of) = self.recording.process(self.call.process) else { return Vec::new() };
        let told = all.iter().take(CALLED).map(|(function, times, first)| match times {
            1 => format!("{} {first}", of.qualified(*function)),
            times => format!("{} ×{times} from {first}", of.qualified(*function)),
        });
        let mut told: Vec<String> = told.collect();
        if all.len() > CALLED {
            told.push(format!("and {} more functions", all.len() - CALLED));
        }
        told
    }

    /// The first five and the last five; what repeats is said once.
    fn sequence(&self, values: &[u32]) -> String {
        let shown = |values: &[u32]| {
            let all =
                values.iter().map(|it| self.recording.shown(self.call.process, *it, SHORT / 2));
            all.collect::<Vec<_>>().join(",")
        };
        if let [first, rest @ ..] = values
            && rest.iter().all(|it| it == first)
        {
            return self.value(*first);
        }
        if values.len() <= FIRST + LAST {
            return shown(values);
        }
        let (first, rest) = values.split_at(FIRST);
        let last = rest.get(rest.len().saturating_sub(LAST)..).unwrap_or_default();
        format!("{},…,{}", shown(first), shown(last))
    }

    /// Passes over other lines than most passes.
    fn other_ways(&self, all: &[Visit]) -> Vec<FrameRow> {
        let Some(head) = all.first().map(|it| it.line) else { return Vec::new() };
        let mut passes: Vec<&[Visit]> = all.chunk_by(|_, next| next.line != head).collect();
        // A loop's head may be visited once before it begins.
        if passes.first().is_some_and(|it| it.len() == 1) && passes.len() > 1 {
            passes.remove(0);
        }
        let way = |pass: &[Visit]| {
            let mut lines: Vec<u32> = pass.iter().map(|it| it.line).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let mut ways: HashMap<Vec<u32>, usize> = HashMap::new();
        for pass in &passes {
            *ways.entry(way(pass)).or_default() += 1;
        }
        let usual = ways.iter().max_by_key(|(lines, times)| (**times, lines.len()));
        let Some(usual) = usual.map(|(lines, _)| lines.clone()) else { return Vec::new() };
        let is_last = |at: usize| at + 1 == passes.len();
        let other = passes.iter().enumerate().filter(|(at, it)| way(it) != usual && !is_last(*at));
        let mut told = Vec::new();
        for (at, pass) in other.take(OTHERS) {
            let lines = way(pass).iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let changes: Vec<String> =
                pass.iter().flat_map(|it| self.one(it).changes).take(6).collect();
            let note = format!("pass {} of {} took lines {lines}", at + 1, passes.len());
            let changes = [note].into_iter().chain(changes).collect();
            told.push(FrameRow { line: 0, source: None, times: 1, changes });
        }
        told
    }
}

/// Names that somebody wrote: runners' own temporaries are none.
pub(crate) fn is_plain(name: &str) -> bool {
    let first = one_line(name).chars().next();
    first.is_some_and(|it| it.is_alphabetic() || it == '_' || it == '$')
}
