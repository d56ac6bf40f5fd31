//! What the nodes mean to a Python user.
//!
//! A pickle says "call `datetime.date` with these four bytes"; a Python user says
//! `datetime.date(2024, 1, 2)`. Each value is looked at when it is shown and only one level deep:
//! nothing here follows a structure further than a fixed number of hops.

mod class;
mod clock;
mod function;
mod instance;
mod known;
mod numpy;
mod parts;
mod stdlib;

use std::{borrow::Cow, fmt};

use crate::{
    node::{Id, Node},
    pickle::{Face, Pickle, Ref},
};

/// A value, one level deep.
#[derive(Debug, Clone)]
pub enum Value<'p> {
    None,
    Bool(bool),
    Int(i64),
    /// Beyond 64 bits.
    Integer(Integer<'p>),
    Float(f64),
    Str(Text<'p>),
    Bytes(Bytes<'p>),
    /// Of which the text says everything: a date, a UUID, an enum's member.
    Atom {
        class: Name<'p>,
        text: String,
    },
    /// A name that the program imports.
    Global(Name<'p>),
    /// Everything that has something inside.
    Group(Group<'p>),
}

/// An integer beyond 64 bits, as the pickle has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integer<'p> {
    /// Two's complement, least significant byte first.
    Bytes(&'p [u8]),
    Digits(&'p str),
}

/// A `str`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'p> {
    Plain(&'p str),
    /// UTF-8 but for surrogates that stand alone.
    Surrogates(&'p [u8]),
}

/// A `bytes` or `bytearray`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bytes<'p> {
    Plain(&'p [u8]),
    /// Every character is a byte, as protocols 0 to 2 write them.
    Latin1(&'p str),
    Array(&'p [u8]),
}

/// A class or function by its module and qualified name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'p> {
    pub module: &'p str,
    pub name: &'p str,
}

/// A value with something inside: `open`, the parts with commas between them, `close`.
#[derive(Debug, Clone)]
pub struct Group<'p> {
    pub kind: Kind,
    pub class: Name<'p>,
    pub(crate) open: Cow<'p, str>,
    pub(crate) close: Cow<'p, str>,
    pub(crate) segments: Vec<Segment<'p>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    List,
    Tuple,
    Set,
    Dict,
    Instance,
    Exception,
    Function,
    Class,
}

/// Parts of a group, without a copy: a view of a hundred thousand items costs nothing.
#[derive(Debug, Clone)]
pub(crate) enum Segment<'p> {
    Items(&'p [Id]),
    /// Key, value, key, value of a dict.
    Pairs(&'p [Id]),
    /// Name, value, name, value of an object's state.
    Fields(&'p [Id]),
    Named {
        names: &'p [Id],
        values: &'p [Id],
    },
    One(Part<'p>),
    /// Shown as one part, and entered without a step of its own.
    Through(Ref),
    /// Not shown, but there to be entered.
    Hidden(Part<'p>),
    HiddenFields(&'p [Id]),
}

/// Something inside a group.
#[derive(Debug, Clone)]
pub struct Part<'p> {
    pub label: Label<'p>,
    /// A parameter without a default is a label alone.
    pub value: Option<Ref>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Label<'p> {
    Index(usize),
    Key(Ref),
    Field(Cow<'p, str>),
    /// Shown without a label, entered by this name.
    Unlabelled(Cow<'p, str>),
}

impl<'p> Name<'p> {
    pub(crate) const fn builtin(name: &'p str) -> Self {
        Name { module: "builtins", name }
    }

    /// As an instance is called by: the class without its module and without the function around it.
    pub fn short(&self) -> &'p str {
        self.name.rsplit_once("<locals>.").map_or(self.name, |(_, name)| name)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module {
            "builtins" | "" => f.write_str(self.name),
            module => write!(f, "{module}.{}", self.name),
        }
    }
}

impl<'p> Text<'p> {
    /// The text, where it is one.
    pub fn plain(self) -> Option<&'p str> {
        match self {
            Text::Plain(text) => Some(text),
            Text::Surrogates(_) => None,
        }
    }
}

impl<'p> Group<'p> {
    pub(crate) fn new(
        kind: Kind,
        class: Name<'p>,
        open: impl Into<Cow<'p, str>>,
        close: impl Into<Cow<'p, str>>,
    ) -> Self {
        Group { kind, class, open: open.into(), close: close.into(), segments: Vec::new() }
    }

    pub(crate) fn with(mut self, segment: Segment<'p>) -> Self {
        self.segments.push(segment);
        self
    }

    pub(crate) fn field(self, name: &'p str, value: Ref) -> Self {
        let label = Label::Field(Cow::Borrowed(name));
        self.with(Segment::One(Part { label, value: Some(value) }))
    }

    /// A part that is shown without its name.
    pub(crate) fn unlabelled(self, name: &'p str, value: Ref) -> Self {
        let label = Label::Unlabelled(Cow::Borrowed(name));
        self.with(Segment::One(Part { label, value: Some(value) }))
    }

    pub(crate) fn hidden(self, name: &'p str, value: Option<Ref>) -> Self {
        let Some(value) = value else { return self };
        let label = Label::Field(Cow::Borrowed(name));
        self.with(Segment::Hidden(Part { label, value: Some(value) }))
    }
}

impl Pickle<'_> {
    /// What a value is.
    pub fn value(&self, at: Ref) -> Value<'_> {
        match at.face {
            Face::Whole => self.whole(at.id),
            Face::Items => {
                let extra = self.object(at.id).and_then(|object| object.extra.as_ref());
                list(extra.map_or(&[], |extra| &extra.items))
            }
            Face::Pairs => {
                let extra = self.object(at.id).and_then(|object| object.extra.as_ref());
                dict(extra.map_or(&[], |extra| &extra.pairs))
            }
        }
    }

    fn whole(&self, id: Id) -> Value<'_> {
        match self.node(id) {
            Node::None => Value::None,
            Node::Bool(bool) => Value::Bool(*bool),
            Node::Int(int) => Value::Int(*int),
            Node::Long(bytes) => Value::Integer(Integer::Bytes(bytes)),
            Node::Digits(digits) => Value::Integer(Integer::Digits(digits)),
            Node::Float(float) => Value::Float(*float),
            Node::Str(text) => Value::Str(Text::Plain(text)),
            Node::Surrogates(bytes) => Value::Str(Text::Surrogates(bytes)),
            Node::Bytes(bytes) => Value::Bytes(Bytes::Plain(bytes)),
            Node::ByteArray(bytes) => Value::Bytes(Bytes::Array(bytes)),
            Node::List(items) => list(items),
            Node::Set(items) => set(items),
            Node::FrozenSet(items) => frozen_set(items),
            Node::Dict(pairs) => dict(pairs),
            Node::Global { .. } => self.global(id),
            Node::Object(object) => self.called(id, object),
            Node::Persistent(inner) => {
                let group =
                    Group::new(Kind::Instance, Name::builtin("object"), "<persistent ", ">");
                Value::Group(group.unlabelled("id", (*inner).into()))
            }
            Node::Extension(code) => atom("object", format!("<extension {code}>")),
            Node::Buffer(index) => atom("memoryview", format!("<buffer {index}, sent apart>")),
            node @ (Node::Tuple0
            | Node::Tuple1(_)
            | Node::Tuple2(_)
            | Node::Tuple3(_)
            | Node::Tuple(_)) => tuple(node.tuple().unwrap_or_default()),
        }
    }
}

fn atom(class: &str, text: String) -> Value<'_> {
    Value::Atom { class: Name::builtin(class), text }
}

pub(crate) fn list(items: &[Id]) -> Value<'_> {
    let group = Group::new(Kind::List, Name::builtin("list"), "[", "]");
    Value::Group(group.with(Segment::Items(items)))
}

fn tuple(items: &[Id]) -> Value<'_> {
    let close = if items.len() == 1 { ",)" } else { ")" };
    let group = Group::new(Kind::Tuple, Name::builtin("tuple"), "(", close);
    Value::Group(group.with(Segment::Items(items)))
}

pub(crate) fn set(items: &[Id]) -> Value<'_> {
    let (open, close) = if items.is_empty() { ("set(", ")") } else { ("{", "}") };
    let group = Group::new(Kind::Set, Name::builtin("set"), open, close);
    Value::Group(group.with(Segment::Items(items)))
}

pub(crate) fn frozen_set(items: &[Id]) -> Value<'_> {
    let (open, close) = if items.is_empty() { ("frozenset(", ")") } else { ("frozenset({", "})") };
    let group = Group::new(Kind::Set, Name::builtin("frozenset"), open, close);
    Value::Group(group.with(Segment::Items(items)))
}

pub(crate) fn dict(pairs: &[Id]) -> Value<'_> {
    let group = Group::new(Kind::Dict, Name::builtin("dict"), "{", "}");
    Value::Group(group.with(Segment::Pairs(pairs)))
}
