//! JudgedOne condition asked of many calls: what depends on one value alone is decided once for that value.

use std::cell::Cell;

use super::{
    Condition,
    eval::{CallSide, KnownSide},
};
use crate::{
    columns::{RETURNED, UNWOUND},
    damage::Damage,
    head::NONE,
    recording::{ArgumentsNear, CallId, Recording},
};

/// What the columns say of a call, where somebody has them at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedCall {
    pub(crate) call: CallId,
    pub(crate) function: u32,
    pub(crate) ending: u32,
    pub(crate) result: u32,
}

/// A condition, and what is known of it by now.
pub(crate) struct Judge<'a> {
    recording: &'a Recording,
    part: JudgedPart<'a>,
}

enum JudgedPart<'a> {
    All(Vec<JudgedPart<'a>>),
    Any(Vec<JudgedPart<'a>>),
    Not(Box<JudgedPart<'a>>),
    JudgedOne(JudgedOne<'a>),
}

/// A condition that has no others inside.
struct JudgedOne<'a> {
    condition: &'a Condition,
    on: DependsOn<'a>,
    /// Of each process, by the value's number.
    known: Vec<Vec<KnownAnswer>>,
    /// The place of the argument in the function that was asked for last.
    place: Option<((u32, u32), Option<usize>)>,
    /// The arguments of the calls around the one that was asked for last.
    arguments: Option<ArgumentsNear>,
}

/// The one value on which it depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DependsOn<'a> {
    Result,
    Error,
    Argument(&'a str),
    /// Several, or the call itself.
    Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum KnownAnswer {
    No = 0,
    Holds,
    Fails,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(recording: &'a Recording, condition: &'a Condition) -> Judge<'a> {
        Judge { recording, part: JudgedPart::new(condition) }
    }

    /// As [`Condition::holds`] would say.
    pub(crate) fn holds(&mut self, row: &JudgedCall, unsure: &Cell<u64>) -> Result<bool, Damage> {
        self.part.holds(self.recording, row, unsure)
    }
}

impl<'a> JudgedPart<'a> {
    fn new(condition: &'a Condition) -> JudgedPart<'a> {
        match condition {
            Condition::All(parts) => JudgedPart::All(parts.iter().map(JudgedPart::new).collect()),
            Condition::Any(parts) => JudgedPart::Any(parts.iter().map(JudgedPart::new).collect()),
            Condition::Not(inner) => JudgedPart::Not(Box::new(JudgedPart::new(inner))),
            one => JudgedPart::JudgedOne(JudgedOne {
                condition: one,
                on: depends_on(one),
                known: Vec::new(),
                place: None,
                arguments: None,
            }),
        }
    }

    fn holds(
        &mut self,
        recording: &Recording,
        row: &JudgedCall,
        unsure: &Cell<u64>,
    ) -> Result<bool, Damage> {
        match self {
            JudgedPart::All(parts) => {
                for part in parts {
                    if !part.holds(recording, row, unsure)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            JudgedPart::Any(parts) => {
                for part in parts {
                    if part.holds(recording, row, unsure)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            JudgedPart::Not(inner) => Ok(!inner.holds(recording, row, unsure)?),
            JudgedPart::JudgedOne(one) => one.holds(recording, row, unsure),
        }
    }
}

impl JudgedOne<'_> {
    fn holds(
        &mut self,
        recording: &Recording,
        row: &JudgedCall,
        unsure: &Cell<u64>,
    ) -> Result<bool, Damage> {
        let process = row.call.process;
        let Some(value) = self.value(recording, row)? else {
            return self.condition.holds(&CallSide { recording, call: row.call }, unsure);
        };
        if self.known.len() <= process as usize {
            self.known.resize(process as usize + 1, Vec::new());
        }
        let Some(known) = self.known.get_mut(process as usize) else { return Ok(false) };
        if known.is_empty() {
            *known = vec![KnownAnswer::No; recording.process(process)?.head.values as usize];
        }
        match known.get(value as usize) {
            Some(KnownAnswer::Holds) => return Ok(true),
            Some(KnownAnswer::Fails) => return Ok(false),
            _ => {}
        }
        let before = unsure.get();
        let holds = self.condition.holds(&KnownSide { recording, process, value }, unsure)?;
        // What is unsure is counted each time.
        if let Some(place) = known.get_mut(value as usize).filter(|_| unsure.get() == before) {
            *place = if holds { KnownAnswer::Holds } else { KnownAnswer::Fails };
        }
        Ok(holds)
    }

    /// The value's number, if it depends on one and there is one.
    fn value(&mut self, recording: &Recording, row: &JudgedCall) -> Result<Option<u32>, Damage> {
        let ended = |how: u32| {
            let is_it = row.ending & 3 == how && row.result != NONE;
            is_it.then_some(row.result)
        };
        match self.on {
            DependsOn::Result => Ok(ended(RETURNED)),
            DependsOn::Error => Ok(ended(UNWOUND)),
            DependsOn::Argument(name) => {
                let key = (row.call.process, row.function);
                let at = match self.place.filter(|(it, _)| *it == key) {
                    Some((_, at)) => at,
                    None => {
                        let of = recording.process(row.call.process)?;
                        let slots = &of.function(row.function)?.slots;
                        let at = slots.iter().position(|it| of.string(*it) == name);
                        self.place = Some((key, at));
                        at
                    }
                };
                let Some(at) = at else { return Ok(None) };
                let near = match self.arguments.take().filter(|it| it.has(row.call)) {
                    Some(near) => near,
                    None => recording.arguments_near(row.call)?,
                };
                let value = near.of(row.call)?.get(at).copied();
                self.arguments = Some(near);
                Ok(value)
            }
            DependsOn::Call => Ok(None),
        }
    }
}

fn depends_on(condition: &Condition) -> DependsOn<'_> {
    if matches!(condition, Condition::Raised(_) | Condition::Swallowed(_)) {
        return DependsOn::Call;
    }
    let mut all = condition.paths().into_iter().map(|(root, way)| match (root, way.first()) {
        ("result", _) => DependsOn::Result,
        ("error", _) => DependsOn::Error,
        ("args", Some(name)) => DependsOn::Argument(name),
        _ => DependsOn::Call,
    });
    let Some(first) = all.next() else { return DependsOn::Call };
    if all.all(|it| it == first) { first } else { DependsOn::Call }
}
