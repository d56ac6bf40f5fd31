//! Going inside a value: its children, a page at a time, and lookup by path.

mod step;

use std::fmt;

use self::step::Step;
use crate::{
    limits::{CHILDREN_MAX, Show},
    node::Node,
    pickle::{Face, Pickle, Ref},
    value::{Label, Part, Segment, Text, Value},
};

/// A page of what is inside a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Children {
    /// How many there are in all.
    pub total: usize,
    pub items: Vec<Child>,
}

/// One value inside another.
#[derive(Debug, Clone, PartialEq)]
pub struct Child {
    /// What leads from the parent's path to the child's: `.name`, `[0]`, `['key']`.
    pub step: String,
    pub value: Ref,
}

/// A path that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// It does not read as a path.
    Syntax(String),
    /// Its first `found` steps lead to a value that has not the next.
    Missing { found: String, step: String, inside: Vec<String>, total: usize },
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFound::Syntax(what) => {
                write!(f, "not a path: {what}; a path looks like `items[0].name['key']`")
            }
            NotFound::Missing { found, step, inside, total } => {
                let at = if found.is_empty() { "the value" } else { found };
                write!(f, "no `{step}` in {at}")?;
                match total - inside.len() {
                    _ if inside.is_empty() => write!(f, "; there is nothing inside"),
                    0 => write!(f, "; there is {}", inside.join(" ")),
                    more => write!(f, "; there is {} and {more} more", inside.join(" ")),
                }
            }
        }
    }
}

impl std::error::Error for NotFound {}

impl Pickle<'_> {
    /// What is inside a value, from the `from`-th on, at most `max` (and [`CHILDREN_MAX`]).
    pub fn children(&self, at: Ref, from: usize, max: usize) -> Children {
        let segments = self.segments(at);
        let total = segments.iter().map(Segment::len).sum();
        let mut items = Vec::new();
        let mut before = 0;
        for segment in &segments {
            let count = segment.len();
            for index in from.saturating_sub(before).min(count)..count {
                if items.len() >= max.min(CHILDREN_MAX) {
                    return Children { total, items };
                }
                if let Some(Part { label, value: Some(value) }) = segment.part(index, self) {
                    items.push(Child { step: self.step(&label, before + index), value });
                }
            }
            before += count;
        }
        Children { total, items }
    }

    /// The value at a path from the root.
    pub fn find(&self, path: &str) -> Result<Ref, NotFound> {
        self.find_from(self.root(), path)
    }

    /// The value at a path from another.
    pub fn find_from(&self, at: Ref, path: &str) -> Result<Ref, NotFound> {
        let steps = step::parse(path).map_err(NotFound::Syntax)?;
        let mut at = at;
        let mut found = String::new();
        for step in &steps {
            let Some(next) = self.enter(at, step) else {
                let children = self.children(at, 0, 10);
                let inside = children.items.into_iter().map(|child| child.step).collect();
                let step = step.to_string();
                return Err(NotFound::Missing { found, step, inside, total: children.total });
            };
            at = next;
            found.push_str(&step.to_string());
        }
        Ok(at)
    }

    fn segments(&self, at: Ref) -> Vec<Segment<'_>> {
        match self.value(at) {
            Value::Group(group) => self.entered(group),
            _ => Vec::new(),
        }
    }

    fn enter(&self, at: Ref, step: &Step) -> Option<Ref> {
        if let Step::Entry(place) = step {
            let child = self.children(at, *place, 1).items.pop()?;
            return Some(child.value);
        }
        let segments = self.segments(at);
        let found = segments.iter().find_map(|segment| self.enter_segment(segment, step));
        // `args` of whatever was called, although its parts are shown without it.
        let args = || match (self.node(at.id), step, at.face) {
            (Node::Object(object), Step::Field(name), Face::Whole) if name == "args" => {
                Some(object.args.into())
            }
            _ => None,
        };
        found.or_else(args)
    }

    fn enter_segment(&self, segment: &Segment<'_>, step: &Step) -> Option<Ref> {
        match (segment, step) {
            (Segment::Items(items) | Segment::Named { values: items, .. }, Step::Index(index)) => {
                let from_end = items.len().checked_add_signed(isize::try_from(*index).ok()?);
                let at = usize::try_from(*index).ok().or(from_end.filter(|_| *index < 0))?;
                items.get(at).map(|id| (*id).into())
            }
            (Segment::Items(_), _) => None,
            _ => {
                let mut parts = (0..segment.len()).filter_map(|at| segment.part(at, self));
                parts.find(|part| self.is_at(&part.label, step))?.value
            }
        }
    }

    fn is_at(&self, label: &Label<'_>, step: &Step) -> bool {
        match (label, step) {
            (
                Label::Field(name) | Label::Unlabelled(name),
                Step::Field(wanted) | Step::Key(wanted),
            ) => name == wanted,
            (Label::Key(key), Step::Field(wanted) | Step::Key(wanted)) => {
                matches!(self.value(*key), Value::Str(Text::Plain(text)) if text == wanted)
            }
            (Label::Key(key), Step::Index(wanted)) => {
                matches!(self.value(*key), Value::Int(int) if int == *wanted)
            }
            _ => false,
        }
    }

    /// The step that leads to a part.
    fn step(&self, label: &Label<'_>, at: usize) -> String {
        match label {
            Label::Index(index) => format!("[{index}]"),
            Label::Field(name) | Label::Unlabelled(name) => step::field(name),
            Label::Key(key) => match self.value(*key) {
                // A key of a megabyte is no step that anybody would write.
                Value::Str(Text::Plain(text)) if text.len() < 1_000 => step::key(text),
                Value::Int(int) => format!("[{int}]"),
                _ => format!("{{{at}}}"),
            },
        }
    }

    /// A key as a name: of JSON, or of a listing.
    pub(crate) fn key_text(&self, key: Ref, show: Show) -> String {
        match self.value(key) {
            Value::Str(Text::Plain(text)) if text.len() <= show.chars_max => text.to_owned(),
            _ => self.render(key, show),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Field(name) => f.write_str(&step::field(name)),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(name) => f.write_str(&step::key(name)),
            Step::Entry(at) => write!(f, "{{{at}}}"),
        }
    }
}
