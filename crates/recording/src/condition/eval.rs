//! Whether a condition holds for one call or one value.

use std::cell::Cell;

use super::{Comparison, Condition, Term};
use crate::{
    columns::{Field, RETURNED, SUSPENDED, SWALLOWED, UNWOUND},
    damage::Damage,
    datum::Datum,
    head::NONE,
    recording::{CallId, Recording},
};

/// What a term is worth.
#[derive(Debug, Clone)]
pub(crate) enum Operand {
    /// There is none, so nothing holds of it.
    Missing,
    Number(f64),
    Text(String),
    Bool(bool),
    List(Vec<Operand>),
    /// A recorded value.
    Recorded(Datum, u32),
}

/// Where paths begin.
pub(crate) trait ConditionSide {
    fn recording(&self) -> &Recording;
    fn process(&self) -> u32;
    fn root(&self, root: &str) -> Result<Operand, Damage>;
    /// `args.x`: a name that is no part of a value.
    fn named(&self, root: &str, name: &str) -> Result<Option<Operand>, Damage>;
    fn raised(&self, name: Option<&str>, is_swallowed: bool) -> Result<bool, Damage>;
}

/// A call: `args`, `result`, `error`, `ms`, `function`.
pub(crate) struct CallSide<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) call: CallId,
}

/// A value of a history: `value`.
pub(crate) struct ValueSide<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) process: u32,
    pub(crate) value: u32,
}

/// The one value of a call on which a condition depends, whatever it is called there.
pub(super) struct KnownSide<'a> {
    pub(super) recording: &'a Recording,
    pub(super) process: u32,
    pub(super) value: u32,
}

impl Condition {
    /// `unsure` counts what cannot be known because only a part of a value was kept.
    pub(crate) fn holds(
        &self,
        side: &dyn ConditionSide,
        unsure: &Cell<u64>,
    ) -> Result<bool, Damage> {
        Ok(match self {
            Condition::All(parts) => {
                for part in parts {
                    if !part.holds(side, unsure)? {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Any(parts) => {
                for part in parts {
                    if part.holds(side, unsure)? {
                        return Ok(true);
                    }
                }
                false
            }
            Condition::Not(inner) => !inner.holds(side, unsure)?,
            Condition::Raised(name) => side.raised(name.as_deref(), false)?,
            Condition::Swallowed(name) => side.raised(name.as_deref(), true)?,
            Condition::Holds(term) => truthy(&term.value(side)?),
            Condition::Compare(left, how, right) => {
                compare(side, &left.value(side)?, *how, &right.value(side)?, unsure)
            }
        })
    }
}

impl Term {
    fn value(&self, side: &dyn ConditionSide) -> Result<Operand, Damage> {
        Ok(match self {
            Term::None => Operand::Recorded(Datum::None, NONE),
            Term::Undefined => Operand::Recorded(Datum::Undefined, NONE),
            Term::Bool(it) => Operand::Bool(*it),
            Term::NotANumber => Operand::Number(f64::NAN),
            Term::Number(number) => Operand::Number(*number),
            Term::Text(text) => Operand::Text(text.clone()),
            Term::List(items) => {
                Operand::List(items.iter().map(|it| it.value(side)).collect::<Result<_, _>>()?)
            }
            Term::Length(inner) => length(&inner.value(side)?),
            Term::Type(inner) => type_of(side, &inner.value(side)?)?,
            Term::Path(root, way) => path(side, root, way)?,
        })
    }
}

fn path(side: &dyn ConditionSide, root: &str, way: &[String]) -> Result<Operand, Damage> {
    let (mut at, rest) = match way.split_first() {
        Some((name, rest)) => match side.named(root, name)? {
            Some(found) => (found, rest),
            None => (side.root(root)?, way),
        },
        None => (side.root(root)?, way),
    };
    for name in rest {
        at = inside(side, &at, name)?;
    }
    Ok(at)
}

fn recorded(side: &dyn ConditionSide, value: u32) -> Result<Operand, Damage> {
    Ok(Operand::Recorded(side.recording().datum(side.process(), value)?, value))
}

/// A part of a value, as far as it was kept.
fn inside(side: &dyn ConditionSide, of: &Operand, name: &str) -> Result<Operand, Damage> {
    let Operand::Recorded(datum, _) = of else { return Ok(Operand::Missing) };
    match datum {
        Datum::Object { own, .. } => {
            let strings = side.recording().process(side.process())?;
            let found = own.iter().find(|(it, _)| strings.string(*it) == name);
            found.map_or(Ok(Operand::Missing), |(_, value)| recorded(side, *value))
        }
        Datum::List { items, .. } => {
            let found = name.parse::<usize>().ok().and_then(|at| items.get(at));
            found.map_or(Ok(Operand::Missing), |value| recorded(side, *value))
        }
        Datum::Dict { pairs, .. } => {
            for (key, value) in pairs {
                let key = side.recording().datum(side.process(), *key)?;
                let is_it = match key {
                    Datum::Text { text, .. } => text == name,
                    Datum::Integer(number) => number.to_string() == name,
                    _ => false,
                };
                if is_it {
                    return recorded(side, *value);
                }
            }
            Ok(Operand::Missing)
        }
        Datum::Exception { message, .. } if name == "message" => Ok(Operand::Text(message.clone())),
        _ => Ok(Operand::Missing),
    }
}

fn length(of: &Operand) -> Operand {
    match of {
        Operand::Text(text) => Operand::Number(text.chars().count() as f64),
        Operand::List(items) => Operand::Number(items.len() as f64),
        Operand::Recorded(datum, _) => {
            datum.length().map_or(Operand::Missing, |it| Operand::Number(it as f64))
        }
        _ => Operand::Missing,
    }
}

fn type_of(side: &dyn ConditionSide, of: &Operand) -> Result<Operand, Damage> {
    let process = side.recording().process(side.process())?;
    let is_python = process.language == "python";
    let name = |python: &str, other: &str| if is_python { python } else { other }.to_owned();
    Ok(Operand::Text(match of {
        Operand::Recorded(datum, _) => match datum {
            Datum::None => name("NoneType", "null"),
            Datum::Undefined => "undefined".to_owned(),
            Datum::True | Datum::False => name("bool", "boolean"),
            Datum::Integer(_) | Datum::Digits(_) => name("int", "number"),
            Datum::Float(_) => name("float", "number"),
            Datum::Text { .. } => name("str", "string"),
            Datum::Bytes { .. } => name("bytes", "Buffer"),
            Datum::List { kind, .. }
            | Datum::Dict { kind, .. }
            | Datum::Object { kind, .. }
            | Datum::Exception { kind, .. }
            | Datum::Named { kind, .. }
            | Datum::Secret { kind, .. }
            | Datum::Opaque { kind, .. } => process.string(*kind).to_owned(),
        },
        Operand::Text(_) => name("str", "string"),
        Operand::Number(_) => name("float", "number"),
        Operand::Bool(_) => name("bool", "boolean"),
        Operand::List(_) | Operand::Missing => return Ok(Operand::Missing),
    }))
}

fn truthy(of: &Operand) -> bool {
    match of {
        Operand::Missing => false,
        Operand::Number(number) => *number != 0.0,
        Operand::Text(text) => !text.is_empty(),
        Operand::Bool(it) => *it,
        Operand::List(items) => !items.is_empty(),
        Operand::Recorded(datum, _) => match datum {
            Datum::None | Datum::Undefined | Datum::False | Datum::Integer(0) => false,
            Datum::Float(number) => *number != 0.0 && !number.is_nan(),
            other => other.length() != Some(0),
        },
    }
}

/// As plain as it can be compared.
fn number(of: &Operand) -> Option<f64> {
    match of {
        Operand::Number(number) | Operand::Recorded(Datum::Float(number), _) => Some(*number),
        Operand::Recorded(Datum::Integer(number), _) => Some(*number as f64),
        Operand::Recorded(Datum::Digits(digits), _) => digits.parse().ok(),
        _ => None,
    }
}

fn text(of: &Operand) -> Option<(&str, bool)> {
    match of {
        Operand::Text(text) => Some((text, true)),
        Operand::Recorded(Datum::Text { chars, text }, _) => {
            Some((text, text.chars().count() as u64 == *chars))
        }
        _ => None,
    }
}

fn boolean(of: &Operand) -> Option<bool> {
    match of {
        Operand::Bool(it) => Some(*it),
        Operand::Recorded(Datum::True, _) => Some(true),
        Operand::Recorded(Datum::False, _) => Some(false),
        _ => None,
    }
}

fn compare(
    side: &dyn ConditionSide,
    left: &Operand,
    how: Comparison,
    right: &Operand,
    unsure: &Cell<u64>,
) -> bool {
    let same = || equal(side, left, right, unsure);
    match how {
        _ if matches!(left, Operand::Missing) || matches!(right, Operand::Missing) => false,
        Comparison::Equal => same(),
        Comparison::Unequal => !same(),
        Comparison::In => within(side, right, left, unsure),
        Comparison::Contains => within(side, left, right, unsure),
        Comparison::Less | Comparison::AtMost | Comparison::More | Comparison::AtLeast => {
            let order = match (number(left), number(right), text(left), text(right)) {
                (Some(one), Some(other), ..) => one.partial_cmp(&other),
                (.., Some((one, _)), Some((other, _))) => Some(one.cmp(other)),
                _ => None,
            };
            order.is_some_and(|it| match how {
                Comparison::Less => it.is_lt(),
                Comparison::AtMost => it.is_le(),
                Comparison::More => it.is_gt(),
                _ => it.is_ge(),
            })
        }
    }
}

fn equal(side: &dyn ConditionSide, left: &Operand, right: &Operand, unsure: &Cell<u64>) -> bool {
    if let (Some(one), Some(other)) = (number(left), number(right)) {
        return one == other || one.is_nan() && other.is_nan();
    }
    if let (Some((one, one_whole)), Some((other, other_whole))) = (text(left), text(right)) {
        let is_sure = one_whole && other_whole;
        let begins = one.starts_with(other) || other.starts_with(one);
        unsure.set(unsure.get() + u64::from(!is_sure && begins));
        return is_sure && one == other;
    }
    if let (Some(one), Some(other)) = (boolean(left), boolean(right)) {
        return one == other;
    }
    let hashed = |it: u32| side.recording().value_hash(side.process(), it).ok();
    match (left, right) {
        (Operand::Recorded(one, first), Operand::Recorded(other, second)) => {
            let is_plain = *first == NONE || *second == NONE;
            one == other
                || !is_plain && hashed(*first).is_some() && hashed(*first) == hashed(*second)
        }
        _ => false,
    }
}

/// Whether a text, list, dict or object has it.
fn within(side: &dyn ConditionSide, whole: &Operand, part: &Operand, unsure: &Cell<u64>) -> bool {
    if let (Some((whole, is_whole)), Some((part, _))) = (text(whole), text(part)) {
        let has = whole.contains(part);
        unsure.set(unsure.get() + u64::from(!has && !is_whole));
        return has;
    }
    let (items, length): (Vec<Operand>, u64) = match whole {
        Operand::List(items) => (items.clone(), items.len() as u64),
        Operand::Recorded(Datum::List { items, length, .. }, _) => {
            (items.iter().filter_map(|it| recorded(side, *it).ok()).collect(), *length)
        }
        Operand::Recorded(Datum::Dict { pairs, length, .. }, _) => {
            (pairs.iter().filter_map(|(key, _)| recorded(side, *key).ok()).collect(), *length)
        }
        _ => return false,
    };
    let has = items.iter().any(|it| equal(side, it, part, unsure));
    unsure.set(unsure.get() + u64::from(!has && length > items.len() as u64));
    has
}

impl ConditionSide for CallSide<'_> {
    fn recording(&self) -> &Recording {
        self.recording
    }

    fn process(&self) -> u32 {
        self.call.process
    }

    fn root(&self, root: &str) -> Result<Operand, Damage> {
        let of = self.recording.process(self.call.process)?;
        let ending = self.recording.small(self.call, Field::Ending)? & 3;
        let result = self.recording.small(self.call, Field::Result)?;
        match root {
            // Nobody knows how long one takes that was left and never resumed.
            "ms" if ending == SUSPENDED => Ok(Operand::Missing),
            "ms" => {
                let ticks = self.recording.get(self.call, Field::Took)?;
                Ok(Operand::Number(of.milliseconds(ticks)))
            }
            "file" => {
                let function = self.recording.small(self.call, Field::Function)?;
                Ok(Operand::Text(of.shown_path(function).to_owned()))
            }
            "function" => {
                let function = self.recording.small(self.call, Field::Function)?;
                Ok(Operand::Text(of.qualified(function).to_owned()))
            }
            "result" if ending == RETURNED && result != NONE => recorded(self, result),
            "error" if ending == UNWOUND && result != NONE => recorded(self, result),
            _ => Ok(Operand::Missing),
        }
    }

    fn named(&self, root: &str, name: &str) -> Result<Option<Operand>, Damage> {
        if root != "args" {
            return Ok(None);
        }
        let of = self.recording.process(self.call.process)?;
        let function = of.function(self.recording.small(self.call, Field::Function)?)?;
        let values = self.recording.arguments(self.call)?;
        let found = function.slots.iter().zip(&values).find(|(it, _)| of.string(**it) == name);
        match found {
            Some((_, value)) => recorded(self, *value).map(Some),
            None => Ok(Some(Operand::Missing)),
        }
    }

    fn raised(&self, name: Option<&str>, is_swallowed: bool) -> Result<bool, Damage> {
        let of = self.recording.process(self.call.process)?;
        let ending = self.recording.small(self.call, Field::Ending)?;
        let flag = if is_swallowed { SWALLOWED } else { crate::columns::RAISED };
        let is_unwound = !is_swallowed && ending & 3 == UNWOUND;
        if ending & flag == 0 && !is_unwound {
            return Ok(false);
        }
        let Some(name) = name else { return Ok(true) };
        let is_it = |value: u32| -> Result<bool, Damage> {
            let Datum::Exception { kind, bases, .. } = self.recording.datum(of.number, value)?
            else {
                return Ok(false);
            };
            let names = [kind].into_iter().chain(bases);
            Ok(names.map(|it| of.string(it)).any(|it| it.rsplit('.').next() == Some(name)))
        };
        if is_unwound && is_it(self.recording.small(self.call, Field::Result)?)? {
            return Ok(true);
        }
        let here = |it: &&crate::head::Episode| match is_swallowed {
            true => it.is_swallowed() && it.handled.is_some_and(|(by, _)| by == self.call.number),
            false => it.call == self.call.number,
        };
        for episode in of.head.exceptions.kept.iter().filter(here) {
            if is_it(episode.value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl ConditionSide for KnownSide<'_> {
    fn recording(&self) -> &Recording {
        self.recording
    }

    fn process(&self) -> u32 {
        self.process
    }

    fn root(&self, _root: &str) -> Result<Operand, Damage> {
        recorded(self, self.value)
    }

    fn named(&self, root: &str, _name: &str) -> Result<Option<Operand>, Damage> {
        if root == "args" { recorded(self, self.value).map(Some) } else { Ok(None) }
    }

    fn raised(&self, _name: Option<&str>, _is_swallowed: bool) -> Result<bool, Damage> {
        Ok(false)
    }
}

impl ConditionSide for ValueSide<'_> {
    fn recording(&self) -> &Recording {
        self.recording
    }

    fn process(&self) -> u32 {
        self.process
    }

    fn root(&self, _root: &str) -> Result<Operand, Damage> {
        recorded(self, self.value)
    }

    fn named(&self, _root: &str, _name: &str) -> Result<Option<Operand>, Damage> {
        Ok(None)
    }

    fn raised(&self, _name: Option<&str>, _is_swallowed: bool) -> Result<bool, Damage> {
        Ok(false)
    }
}
