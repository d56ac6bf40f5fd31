//! The life of a name: every write of a variable, an attribute or an item that was seen, in order.

use std::{
    cell::Cell,
    collections::{HashMap, VecDeque},
    hash::BuildHasherDefault,
};

use super::items::{Asked, Key, item_of, plainly_quoted};
use crate::{
    condition::{Condition, ValueSide, nearest},
    damage::Damage,
    hash::NumberHasher,
    head::{NONE, PieceAt},
    limits,
    recording::{AskError, CallId, Recording, SpotId},
    show::{LONG, SHORT},
    steps::{FrameStep, Segment},
};

/// Whose life.
#[derive(Debug, Clone, Default)]
pub struct HistoryAsk {
    /// `total`, `self.qty`, `Item@3.qty`, `bins[k]`.
    pub name: String,
    /// A function's name.
    pub within: Option<String>,
    pub within_call: Option<CallId>,
    pub before: Option<SpotId>,
    /// `is None`, `changed`, `changed type`, or a condition over `value`.
    pub when: Option<String>,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HistoryFound {
    /// `self.qty of Item@3`.
    pub of: String,
    pub total: u64,
    pub matched: u64,
    pub rows: Vec<WriteRow>,
    /// Other objects with such an attribute: name, writes.
    pub others: Vec<(String, u64)>,
    pub blind: Vec<String>,
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WriteRow {
    pub call: CallId,
    pub function: String,
    /// 0: it was passed as an argument.
    pub line: u32,
    /// `d['x']`, where an item of what was asked for was written.
    pub item: Option<String>,
    pub before: Option<String>,
    pub value: String,
    pub note: Option<String>,
}

const ROWS: usize = 20;

/// What no recorder sees: of the program's own code the methods of builtin containers are seen, and of nothing else.
const BLIND: &str = "writes by libraries and C code; in-place changes by methods of other types than builtin containers";

/// One write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) process: u32,
    pub(super) function: u32,
    pub(super) call: u32,
    pub(super) line: u32,
    pub(super) event: u64,
    pub(super) value: u32,
    /// The slot, from 1, if not the name itself was written but one of its items.
    pub(super) item: u32,
    /// It was found in what was written of its container.
    is_found: bool,
    /// Of the object whose attribute it is; else of nobody.
    object: Option<u64>,
}

/// The object whose life is told, and the others with their writes.
type ChosenObject = (Option<u64>, Vec<(String, u64)>);

/// Writes, the object that they are of, and the others.
type WritesOf = (Vec<Written>, Option<u64>, Vec<(String, u64)>);

/// A slot to look at: its function, and for an attribute the slot of what has it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) process: u32,
    pub(super) function: u32,
    pub(super) slot: u32,
    pub(super) base: Option<u32>,
    /// The slot is an item of what was asked for.
    pub(super) is_item: bool,
    /// The slot is the container of what was asked for, which is this item of it.
    pub(super) key: Option<Key>,
}

enum When {
    Always,
    Changed,
    ChangedType,
    Holds(Condition),
}

impl Recording {
    pub fn history(&self, ask: &HistoryAsk) -> Result<HistoryFound, AskError> {
        let when = when(ask.when.as_deref())?;
        let (object, name) = object_of(&plainly_quoted(&ask.name));
        let functions = match &ask.within {
            Some(name) => Some(self.functions_named(name)?),
            None => None,
        };
        let targets = self.targets(&name, functions.as_deref())?;
        let limit = ask.limit.unwrap_or(ROWS).max(2);
        let is_plain = matches!(when, When::Always) && object.is_none();
        if is_plain
            && ask.before.is_none()
            && ask.within_call.is_none()
            && let Some((total, ends)) = self.ends(&targets, limit)?
        {
            let rows = ends.iter().map(|(it, before)| self.write_row(it, *before));
            let rows = rows.collect::<Result<_, _>>()?;
            let (blind, missing) = (self.blind(&targets)?, self.missing());
            let (others, matched) = (Vec::new(), total);
            return Ok(HistoryFound { of: name, total, matched, rows, others, blind, missing });
        }
        let (all, object, others) = self.writes_of(ask, &targets, object)?;
        let of = match object {
            Some(object) => format!("{name} of {}", self.object_name(&all, &targets, object)?),
            None => name.clone(),
        };
        let (rows, matched) = self.rows(&all, &when, limit, ask.before.is_some())?;
        let blind = self.blind(&targets)?;
        let (total, missing) = (all.len() as u64, self.missing());
        Ok(HistoryFound { of, total, matched, rows, others, blind, missing })
    }

    /// All writes that a question is about, in their order: of an attribute those of one object.
    fn writes_of(
        &self,
        ask: &HistoryAsk,
        targets: &[Target],
        object: Option<u64>,
    ) -> Result<WritesOf, Damage> {
        let mut all = Vec::new();
        for target in targets {
            self.collect(target, ask.within_call, |_| true, &mut all)?;
        }
        all.sort_by_key(|it: &Written| (it.process, it.event, it.call));
        if targets.iter().any(|it| it.key.is_some()) {
            // A container that changed elsewhere has not written this item.
            let mut last = HashMap::new();
            all.retain(|it| {
                let before = last.insert((it.process, it.call), it.value);
                !it.is_found || before != Some(it.value)
            });
        }
        if let Some(before) = ask.before {
            let until = self.event_of(before)?;
            all.retain(|it| match until {
                Some(event) => it.process == before.call.process && it.event < event,
                None => it.call < before.call.number,
            });
        }
        let (object, others) = self.choose_object(&all, object)?;
        if object.is_some() {
            all.retain(|it| it.object == object);
        }
        Ok((all, object, others))
    }

    /// The same for a picture of them.
    pub(super) fn all_writes(&self, ask: &HistoryAsk) -> Result<Vec<Written>, AskError> {
        let (object, name) = object_of(&plainly_quoted(&ask.name));
        let functions = match &ask.within {
            Some(name) => Some(self.functions_named(name)?),
            None => None,
        };
        let targets = self.targets(&name, functions.as_deref())?;
        Ok(self.writes_of(ask, &targets, object)?.0)
    }

    /// Every slot of that name.
    fn targets(&self, name: &str, within: Option<&[(u32, u32)]>) -> Result<Vec<Target>, AskError> {
        let mut found = Vec::new();
        let mut known = Vec::new();
        let attribute = name.rsplit_once('.').map(|(_, last)| format!(".{last}"));
        let item = item_of(name);
        for process in self.processes() {
            for (number, function) in process.head.functions.iter().enumerate() {
                let at = (process.number, number as u32);
                if within.is_some_and(|it| !it.contains(&at)) {
                    continue;
                }
                for (slot, text) in function.slots.iter().enumerate() {
                    let text = process.string(*text);
                    known.push(text);
                    let quoted = plainly_quoted(text);
                    let text = quoted.as_ref();
                    let is_attribute =
                        attribute.as_ref().is_some_and(|it| text.ends_with(it.as_str()));
                    let is_item = text.strip_prefix(name).is_some_and(|it| it.starts_with('['));
                    let key = item.as_ref().filter(|(container, _)| *container == text);
                    let key = key.map(|(_, key)| key.clone());
                    if text != name && !is_attribute && !is_item && key.is_none() {
                        continue;
                    }
                    let base = text.rsplit_once('.').map(|(base, _)| base);
                    let base = base.and_then(|base| {
                        let place =
                            function.slots.iter().position(|it| process.string(*it) == base);
                        place.map(|it| it as u32)
                    });
                    let (process, function) = at;
                    let slot = slot as u32;
                    found.push(Target { process, function, slot, base, is_item, key });
                }
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        known.sort_unstable();
        known.dedup();
        let near = nearest(name, known.iter().copied());
        let near = near.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
        let ends = format!(".{name}");
        let attributes: Vec<&str> =
            known.iter().filter(|it| it.ends_with(&ends)).copied().collect();
        // Without lines there are no writes at all: then that is the reason, and no other.
        let has_lines = self.processes().iter().any(|it| it.head.lines > 0);
        let hint = match attributes.is_empty() {
            true if !has_lines => format!(
                "{near}only calls were kept, no lines: record_run {{\"again\": \"last\", \"focus\": [\"the function that writes it\"]}} keeps them"
            ),
            true => format!(
                "{near}no write of it was seen, which does not say that there was none: libraries' own are not recorded"
            ),
            false => format!("as an attribute there is: {}", attributes.join(", ")),
        };
        let place = match within {
            Some(_) => "the functions that were named write",
            None => "no recorded function writes",
        };
        Err(AskError::NotFound {
            what: format!("{place} no `{name}`").replace("writes no", "writes"),
            hint,
        })
    }

    /// All writes of one slot in some pieces, and what was passed for it.
    pub(super) fn collect(
        &self,
        target: &Target,
        only: Option<CallId>,
        pieces: impl Fn(&PieceAt) -> bool,
        into: &mut Vec<Written>,
    ) -> Result<(), Damage> {
        let of = self.process(target.process)?.function(target.function)?;
        let parameter = (target.slot < of.parameters).then_some(target.slot as usize);
        let parameters = of.parameters;
        let number = only.map(|it| it.number);
        if only.is_some_and(|it| it.process != target.process) {
            return Ok(());
        }
        let is_wanted = |piece: &PieceAt| {
            number.is_none_or(|it| piece.low <= it && it <= piece.high) && pieces(piece)
        };
        let mut long: Vec<u32> = Vec::new();
        let visit = |mut segment: Segment<'_>| {
            if number.is_some_and(|it| it != segment.call) {
                return Ok(true);
            }
            let call = CallId { process: target.process, number: segment.call };
            let mut base = match target.base.filter(|it| *it < parameters) {
                Some(slot) => self.argument(call, slot as usize)?,
                None => None,
            };
            let one = |line, event, value, object| Written {
                process: target.process,
                function: target.function,
                call: call.number,
                line,
                event,
                value,
                item: if target.is_item { target.slot + 1 } else { 0 },
                is_found: target.key.is_some(),
                object,
            };
            let mut asked = Asked::new(target.key.as_ref());
            // What it was given stands before its first part alone.
            let is_first = !long.contains(&call.number);
            if is_first && segment.is_long() {
                long.push(call.number);
            }
            if let Some(at) = parameter.filter(|_| is_first)
                && let Some(value) = self.argument(call, at)?
                && let Some(value) = asked.of(self, target.process, value)?
            {
                into.push(one(0, segment.event().saturating_sub(1), value, None));
            }
            while let Some((event, slot, value)) = segment.next_write()? {
                if slot == target.slot {
                    let Some(value) = asked.of(self, target.process, value)? else { continue };
                    let object = match base {
                        Some(value) => self.datum(target.process, value)?.object(),
                        None => None,
                    };
                    into.push(one(segment.line(), event, value, object));
                } else if Some(slot) == target.base {
                    base = Some(value);
                }
            }
            Ok(into.len() < limits::WRITES_MAX)
        };
        self.segments(target.process, target.function, visit, is_wanted)
    }

    /// The number of the event at which a place is reached.
    fn event_of(&self, spot: SpotId) -> Result<Option<u64>, Damage> {
        let steps = self.steps(spot.call)?;
        let Some(line) = spot.line else { return Ok(steps.first().map(|it| it.event)) };
        let at_line = steps.iter().filter(|it| it.step == FrameStep::Line(line));
        Ok(at_line.map(|it| it.event).nth(spot.nth.saturating_sub(1) as usize))
    }

    /// Of an attribute one object's life is told: the named one's, else that of the last write.
    fn choose_object(&self, all: &[Written], named: Option<u64>) -> Result<ChosenObject, Damage> {
        let mut counts: HashMap<u64, (u64, Written)> = HashMap::new();
        for written in all {
            if let Some(object) = written.object {
                counts.entry(object).or_insert((0, *written)).0 += 1;
            }
        }
        let last = all.iter().rev().find_map(|it| it.object);
        let chosen = named.or(last);
        let mut others: Vec<(u64, u64)> = counts
            .iter()
            .filter(|(it, _)| Some(**it) != chosen)
            .map(|(it, (n, _))| (*it, *n))
            .collect();
        others.sort_by_key(|(object, times)| (std::cmp::Reverse(*times), *object));
        let told = others.iter().take(5).map(|(object, times)| (format!("@{object}"), *times));
        Ok((chosen, told.collect()))
    }

    /// `Item@3`.
    fn object_name(
        &self,
        all: &[Written],
        targets: &[Target],
        object: u64,
    ) -> Result<String, Damage> {
        let Some(written) = all.first() else { return Ok(format!("@{object}")) };
        let is_it = |it: &&Target| it.function == written.function && it.process == written.process;
        let base = targets.iter().find(is_it).and_then(|it| it.base);
        let call = CallId { process: written.process, number: written.call };
        let value = base.and_then(|it| self.arguments(call).ok()?.get(it as usize).copied());
        let Some(value) = value else { return Ok(format!("@{object}")) };
        let kind = self.datum(written.process, value)?.strings().next();
        let kind = kind.map(|it| self.process(written.process).map(|of| of.string(it).to_owned()));
        Ok(format!("{}@{object}", kind.transpose()?.unwrap_or_default()))
    }

    fn rows(
        &self,
        all: &[Written],
        when: &When,
        limit: usize,
        is_before: bool,
    ) -> Result<(Vec<WriteRow>, u64), Damage> {
        let mut last: HashMap<(u32, u32, u32), u32, BuildHasherDefault<NumberHasher>> =
            HashMap::default();
        let (mut matched, unsure) = (0_u64, Cell::new(0));
        // Of a life before something the last part tells most, else both ends.
        let first_max = if is_before { 0 } else { limit / 2 };
        let (mut first, mut rest) = (Vec::new(), VecDeque::new());
        for written in all {
            // A local variable begins anew in each call.
            let key = match written.object {
                Some(_) if written.item == 0 => (written.process, NONE, 0),
                _ => (written.process, written.call, written.item),
            };
            let before = last.insert(key, written.value);
            let is_it = match when {
                When::Always => true,
                When::Changed => before.is_some_and(|it| it != written.value),
                When::ChangedType => match before {
                    Some(before) => {
                        self.kind_of(written.process, before)?
                            != self.kind_of(written.process, written.value)?
                    }
                    None => false,
                },
                When::Holds(condition) => {
                    let (process, value) = (written.process, written.value);
                    condition.holds(&ValueSide { recording: self, process, value }, &unsure)?
                }
            };
            if !is_it {
                continue;
            }
            matched += 1;
            if first.len() < first_max {
                first.push((*written, before));
                continue;
            }
            if rest.len() >= limit - first_max {
                rest.pop_front();
            }
            rest.push_back((*written, before));
        }
        let rows = first.into_iter().chain(rest).map(|(it, before)| self.write_row(&it, before));
        Ok((rows.collect::<Result<_, _>>()?, matched))
    }

    fn kind_of(
        &self,
        process: u32,
        value: u32,
    ) -> Result<(std::mem::Discriminant<crate::datum::Datum>, Option<u32>), Damage> {
        let datum = self.datum(process, value)?;
        let kind = datum.strings().next();
        Ok((std::mem::discriminant(&datum), kind))
    }

    fn write_row(&self, written: &Written, before: Option<u32>) -> Result<WriteRow, Damage> {
        let of = self.process(written.process)?;
        let call = CallId { process: written.process, number: written.call };
        let shown = self.call_shown(call, SHORT / 2)?;
        let signature = shown.signature(LONG / 2);
        let note = signature.split_once('(').map(|(_, rest)| rest.trim_end_matches(')').to_owned());
        Ok(WriteRow {
            call,
            function: of.qualified(written.function).to_owned(),
            line: written.line,
            item: self.item_name(written)?,
            before: before.map(|it| self.shown(written.process, it, SHORT)),
            value: self.shown(written.process, written.value, SHORT),
            note: note.filter(|it| !it.is_empty()),
        })
    }

    fn item_name(&self, written: &Written) -> Result<Option<String>, Damage> {
        let Some(slot) = written.item.checked_sub(1) else { return Ok(None) };
        let of = self.process(written.process)?;
        let text = of.function(written.function)?.slots.get(slot as usize);
        Ok(text.map(|it| plainly_quoted(of.string(*it)).into_owned()))
    }

    /// What could have written it unseen.
    fn blind(&self, targets: &[Target]) -> Result<Vec<String>, Damage> {
        let mut all = vec![BLIND.to_owned()];
        for target in targets {
            let of = self.process(target.process)?;
            let Some(tally) = of.head.tallies.get(target.function as usize) else { continue };
            let without = tally.calls.saturating_sub(tally.with_lines) + tally.counted;
            if without > 0 && all.len() < 4 {
                let name = of.qualified(target.function);
                all.push(format!("{without} calls of {name} whose lines were not kept"));
            }
        }
        Ok(all)
    }
}

/// `Item@3.qty`: the object, and the attribute.
fn object_of(name: &str) -> (Option<u64>, String) {
    let found = name.split_once('@').and_then(|(_, rest)| {
        let (number, attribute) = rest.split_once('.')?;
        Some((number.parse().ok()?, format!("self.{attribute}")))
    });
    match found {
        Some((object, name)) => (Some(object), name),
        None => (None, name.to_owned()),
    }
}

fn when(text: Option<&str>) -> Result<When, AskError> {
    let Some(text) = text.map(str::trim).filter(|it| !it.is_empty()) else {
        return Ok(When::Always);
    };
    match text {
        "changed" | "changes" => return Ok(When::Changed),
        "changed type" | "changes type" => return Ok(When::ChangedType),
        _ => {}
    }
    let begins = |it: &str| text.starts_with(it);
    let is_short =
        ["is ", "in ", "not in ", "contains ", "<", ">", "=", "!"].iter().any(|it| begins(it));
    let whole = if is_short { format!("value {text}") } else { text.to_owned() };
    Condition::parse(&whole, &["value"]).map(When::Holds)
}
