//! What is inside a group, one part at a time and without a copy.

use std::borrow::Cow;

use super::{Group, Kind, Label, Part, Segment, Value};
use crate::{
    node::Id,
    pickle::{Pickle, Ref},
};

impl<'p> Segment<'p> {
    /// How many parts are shown.
    fn shown(&self) -> usize {
        match self {
            Segment::Hidden(_) | Segment::HiddenFields(_) => 0,
            Segment::One(_) | Segment::Through(_) => 1,
            _ => self.len(),
        }
    }

    /// How many parts can be entered.
    pub(crate) fn len(&self) -> usize {
        match self {
            Segment::Items(items) => items.len(),
            Segment::Pairs(pairs) | Segment::Fields(pairs) | Segment::HiddenFields(pairs) => {
                pairs.len() / 2
            }
            Segment::Named { names, values } => names.len().min(values.len()),
            Segment::One(part) | Segment::Hidden(part) => part.value.is_some().into(),
            Segment::Through(_) => 1,
        }
    }

    pub(crate) fn part(&self, at: usize, pickle: &'p Pickle<'_>) -> Option<Part<'p>> {
        let part = |label, value: Id| Some(Part { label, value: Some(value.into()) });
        match self {
            Segment::Items(items) => part(Label::Index(at), *items.get(at)?),
            Segment::Pairs(pairs) => {
                let [key, value] = pair(pairs, at)?;
                part(Label::Key(key.into()), value)
            }
            Segment::Fields(pairs) | Segment::HiddenFields(pairs) => {
                let [key, value] = pair(pairs, at)?;
                let label = match pickle.text(key) {
                    Some(name) => Label::Field(Cow::Borrowed(name)),
                    None => Label::Key(key.into()),
                };
                part(label, value)
            }
            Segment::Named { names, values } => {
                let name = pickle.text(*names.get(at)?).unwrap_or("?");
                part(Label::Field(Cow::Borrowed(name)), *values.get(at)?)
            }
            Segment::One(part) | Segment::Hidden(part) => (at == 0).then(|| part.clone()),
            Segment::Through(inner) => {
                let label = Label::Unlabelled(Cow::Borrowed("value"));
                (at == 0).then_some(Part { label, value: Some(*inner) })
            }
        }
    }
}

fn pair(pairs: &[Id], at: usize) -> Option<[Id; 2]> {
    let (pairs, _) = pairs.as_chunks::<2>();
    pairs.get(at).copied()
}

impl<'p> Group<'p> {
    /// How many parts are shown.
    pub(crate) fn shown(&self) -> usize {
        self.segments.iter().map(Segment::shown).sum()
    }

    pub(crate) fn shown_part(&self, at: usize, pickle: &'p Pickle<'_>) -> Option<Part<'p>> {
        let mut at = at;
        for segment in &self.segments {
            let count = segment.shown();
            if at < count {
                return segment.part(at, pickle);
            }
            at -= count;
        }
        None
    }
}

impl Pickle<'_> {
    /// The segments that can be entered: those of a list or dict inside stand for it.
    pub(crate) fn entered<'p>(&'p self, group: Group<'p>) -> Vec<Segment<'p>> {
        let mut segments = Vec::with_capacity(group.segments.len());
        for segment in group.segments {
            match segment {
                Segment::Through(inner) => match self.contents(inner) {
                    Some(contents) => segments.extend(contents),
                    None => segments.push(segment),
                },
                segment => segments.push(segment),
            }
        }
        segments
    }

    fn contents(&self, inner: Ref) -> Option<Vec<Segment<'_>>> {
        match self.value(inner) {
            Value::Group(group)
                if matches!(group.kind, Kind::List | Kind::Tuple | Kind::Set | Kind::Dict) =>
            {
                Some(group.segments)
            }
            _ => None,
        }
    }
}
