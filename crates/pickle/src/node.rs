//! What a pickle holds, as it stands there: values in one arena, named by their number.
//!
//! Nothing here is recursive, so that no depth and no cycle can overflow a stack, and dropping
//! a value of any shape is a loop. What the nodes mean to a Python user is `value.rs`.

use std::{borrow::Cow, num::NonZeroU32};

/// A node's place in the arena. Place 0 is taken by a node that stands for what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Id(NonZeroU32);

impl Id {
    /// Nodes that every arena begins with, so that the commonest values cost nothing.
    pub(crate) const NONE: Id = Id(NonZeroU32::MIN);
    pub(crate) const FALSE: Id = Id(NonZeroU32::MIN.saturating_add(1));
    pub(crate) const TRUE: Id = Id(NonZeroU32::MIN.saturating_add(2));
    pub(crate) const EMPTY_TUPLE: Id = Id(NonZeroU32::MIN.saturating_add(3));

    /// The id of the node that is pushed next; `None` when 32 bits are not enough.
    pub(crate) fn next(nodes: &[Node<'_>]) -> Option<Id> {
        u32::try_from(nodes.len()).ok().and_then(NonZeroU32::new).map(Id)
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<'a> {
    None,
    Bool(bool),
    Int(i64),
    /// Two's complement, least significant byte first, as the pickle has it.
    Long(&'a [u8]),
    /// Decimal digits beyond 64 bits, with their sign.
    Digits(&'a str),
    Float(f64),
    Str(Cow<'a, str>),
    /// UTF-8 but for surrogates that stand alone, which Python allows in a `str`.
    Surrogates(Cow<'a, [u8]>),
    Bytes(Cow<'a, [u8]>),
    ByteArray(&'a [u8]),
    List(Vec<Id>),
    Tuple0,
    Tuple1([Id; 1]),
    Tuple2([Id; 2]),
    Tuple3([Id; 3]),
    Tuple(Box<[Id]>),
    Set(Vec<Id>),
    FrozenSet(Box<[Id]>),
    /// Key, value, key, value.
    Dict(Vec<Id>),
    Global {
        module: Id,
        name: Id,
    },
    Object(Object),
    /// What only the pickle's writer can resolve.
    Persistent(Id),
    Extension(u32),
    /// The n-th buffer that travels beside the pickle.
    Buffer(u32),
}

/// A call that Python would make to get the value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) how: How,
    pub(crate) callable: Id,
    pub(crate) args: Id,
    pub(crate) state: Option<Id>,
    pub(crate) extra: Option<Box<Extra>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `callable(*args)`
    Reduce,
    /// `cls.__new__(cls, *args)`
    New,
}

/// What few objects have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Extra {
    pub(crate) kwargs: Option<Id>,
    /// States after the first.
    pub(crate) states: Vec<Id>,
    /// Appended, as to a list.
    pub(crate) items: Vec<Id>,
    /// Set, as in a dict: key, value, key, value.
    pub(crate) pairs: Vec<Id>,
    /// Set by `setattr`: name, value, name, value.
    pub(crate) attributes: Vec<Id>,
}

impl Object {
    pub(crate) fn new(how: How, callable: Id, args: Id) -> Self {
        Object { how, callable, args, state: None, extra: None }
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}

impl Node<'_> {
    /// The items of a tuple.
    pub(crate) fn tuple(&self) -> Option<&[Id]> {
        match self {
            Node::Tuple0 => Some(&[]),
            Node::Tuple1(items) => Some(items),
            Node::Tuple2(items) => Some(items),
            Node::Tuple3(items) => Some(items),
            Node::Tuple(items) => Some(items),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_as_small_as_the_limits_say() {
        assert!(size_of::<Node<'_>>() <= 32, "{}", size_of::<Node<'_>>());
    }
}
