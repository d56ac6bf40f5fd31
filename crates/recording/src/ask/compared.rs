//! What an assertion compared, and which call had answered it.
//!
//! The values of a comparison are not recorded; the names in its line are, and the calls that were made at it. Where
//! neither leads to a call, none is named: a guess would look like a finding.

use crate::{
    columns::{Field, RETURNED},
    damage::Damage,
    datum::Datum,
    head::NONE,
    recording::{CallId, Recording},
};

/// Lines of a comparison that is written over several.
const LINES_MOST: usize = 8;

/// Calls that are looked at, from the last one back.
const CALLS_MOST: usize = 2_000;

/// How well a result explains a compared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    None,
    /// One is inside of the other.
    Part,
    Same,
}

impl Recording {
    /// Whether an exception says that a comparison failed.
    pub(super) fn is_assertion(&self, process: u32, value: u32) -> Result<bool, Damage> {
        let Datum::Exception { kind, bases, .. } = self.datum(process, value)? else {
            return Ok(false);
        };
        let of = self.process(process)?;
        Ok([kind].into_iter().chain(bases).any(|it| of.string(it).contains("Assertion")))
    }

    /// The last call of a frame whose result its failed comparison has: made in the comparison itself, else bound to
    /// a name in it.
    pub(super) fn compared_answer(
        &self,
        frame: CallId,
        line: u32,
    ) -> Result<Option<CallId>, Damage> {
        let children = self.children(frame).collect::<Result<Vec<_>, _>>()?;
        let last = children.iter().rev().take(CALLS_MOST);
        let mut answering = Vec::new();
        for child in last {
            if !self.is_text_of_runner(*child)? {
                answering.push(*child);
            }
        }
        let end = line.saturating_add(self.statement(frame, line)?.len() as u32).max(line + 1);
        for child in &answering {
            if (line..end).contains(&self.small(*child, Field::Site)?) {
                return Ok(Some(*child));
            }
        }
        let held = self.held_by_names(frame, line)?;
        let mut best = (Likeness::None, None);
        for child in answering {
            let result = self.small(child, Field::Result)?;
            if result == NONE || self.small(child, Field::Ending)? & 3 != RETURNED {
                continue;
            }
            for value in &held {
                let likeness = self.likeness(frame.process, result, *value)?;
                if likeness > best.0 {
                    best = (likeness, Some(child));
                }
            }
        }
        Ok(best.1)
    }

    /// The lines of the statement that begins here, until its brackets are closed.
    fn statement(&self, frame: CallId, line: u32) -> Result<Vec<String>, Damage> {
        let source = self.lines_of(frame)?;
        let (mut open, mut all) = (0_i32, Vec::new());
        let from = (line as usize).saturating_sub(1);
        for text in source.into_iter().skip(from).take(LINES_MOST) {
            let count = |these: &[char]| text.matches(these).count() as i32;
            open += count(&['(', '[', '{']) - count(&[')', ']', '}']);
            all.push(text);
            if open <= 0 {
                break;
            }
        }
        Ok(all)
    }

    /// What the names of a statement held when it failed.
    fn held_by_names(&self, frame: CallId, line: u32) -> Result<Vec<u32>, Damage> {
        let text = self.statement(frame, line)?.join("\n");
        let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
        let words: Vec<&str> = text.split(|it| !is_part(it)).filter(|it| !it.is_empty()).collect();
        let number = self.small(frame, Field::Function)?;
        let of = self.process(frame.process)?;
        let mut held = vec![NONE; of.function(number)?.slots.len()];
        for (place, value) in held.iter_mut().zip(self.arguments(frame)?) {
            *place = value;
        }
        for (slot, value, _) in self.visits(frame, number)?.all.iter().flat_map(|it| &it.writes) {
            held.get_mut(*slot as usize).into_iter().for_each(|it| *it = *value);
        }
        let slots = of.function(number)?.slots.iter().map(|it| of.string(*it));
        let named = slots.zip(held).filter(|(name, value)| *value != NONE && words.contains(name));
        Ok(named.map(|(_, value)| value).collect())
    }

    fn likeness(&self, process: u32, result: u32, value: u32) -> Result<Likeness, Damage> {
        if self.is_alike(process, result, value)? {
            return Ok(Likeness::Same);
        }
        for (whole, part) in [(result, value), (value, result)] {
            for inside in parts(&self.datum(process, whole)?) {
                if self.is_alike(process, inside, part)? && self.is_telling(process, part)? {
                    return Ok(Likeness::Part);
                }
            }
        }
        Ok(Likeness::None)
    }

    /// The same object, or the same text or number.
    fn is_alike(&self, process: u32, one: u32, other: u32) -> Result<bool, Damage> {
        if one == other {
            return Ok(true);
        }
        let (first, second) = (self.datum(process, one)?, self.datum(process, other)?);
        match (object(&first), object(&second)) {
            (Some(first), Some(second)) => Ok(first == second),
            (None, None) => Ok(self.value_hash(process, one)? == self.value_hash(process, other)?),
            _ => Ok(false),
        }
    }

    /// Whether it says anything that such a value is inside of another.
    fn is_telling(&self, process: u32, value: u32) -> Result<bool, Damage> {
        let datum = self.datum(process, value)?;
        Ok(!matches!(datum, Datum::None | Datum::Undefined | Datum::True | Datum::False))
    }
}

fn object(datum: &Datum) -> Option<u64> {
    match datum {
        Datum::List { object, .. }
        | Datum::Dict { object, .. }
        | Datum::Object { object, .. }
        | Datum::Exception { object, .. }
        | Datum::Opaque { object, .. } => Some(*object),
        _ => None,
    }
}

fn parts(datum: &Datum) -> Vec<u32> {
    match datum {
        Datum::List { items, .. } => items.clone(),
        Datum::Dict { pairs, .. } | Datum::Object { own: pairs, .. } => {
            pairs.iter().map(|(_, value)| *value).collect()
        }
        _ => Vec::new(),
    }
}
