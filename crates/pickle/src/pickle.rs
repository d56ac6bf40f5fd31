//! A pickle that was read, and what its nodes say about each other.

use crate::{
    fault::{Cut, Fault},
    limits::{Limits, SEARCH_MAX, WORD_MAX},
    node::{Id, Node, Object},
    read,
};

/// What a pickle holds, as data. Borrows the text and bytes of the input.
#[derive(Debug)]
pub struct Pickle<'a> {
    nodes: Vec<Node<'a>>,
    root: Id,
    cut: Option<Cut>,
}

/// A value inside a [`Pickle`]; only good with the pickle that it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ref {
    pub(crate) id: Id,
    pub(crate) face: Face,
}

/// An object can be a list or a dict beside what else it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Face {
    Whole,
    /// What was appended to it, as a list.
    Items,
    /// What was set in it, as a dict.
    Pairs,
}

impl From<Id> for Ref {
    fn from(id: Id) -> Self {
        Ref { id, face: Face::Whole }
    }
}

impl<'a> Pickle<'a> {
    /// Reads a pickle. One that is too large for the limits is read as far as they allow;
    /// [`Pickle::cut`] tells.
    pub fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, Fault> {
        let read = read::read(bytes, limits)?;
        Ok(Pickle { nodes: read.nodes, root: read.root, cut: read.cut })
    }

    pub fn root(&self) -> Ref {
        self.root.into()
    }

    /// Where reading ended, if a limit ended it: what is shown is then not the whole.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    pub(crate) fn node(&self, id: Id) -> &Node<'a> {
        const MISSING: &Node<'static> = &Node::None;
        self.nodes.get(id.index()).unwrap_or(MISSING)
    }

    pub(crate) fn object(&self, id: Id) -> Option<&Object> {
        match self.node(id) {
            Node::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match self.node(id) {
            Node::Str(text) => Some(text),
            _ => None,
        }
    }

    /// A text that is part of another: a name, a file. One that is too long to be is cut.
    pub(crate) fn word(&self, id: Id) -> Option<&str> {
        let text = self.text(id)?;
        text.get(..text.floor_char_boundary(WORD_MAX))
    }

    pub(crate) fn int(&self, id: Id) -> Option<i64> {
        match self.node(id) {
            Node::Int(int) => Some(*int),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, id: Id) -> Option<&[u8]> {
        match self.node(id) {
            Node::Bytes(bytes) => Some(bytes),
            Node::ByteArray(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items of a tuple, or nothing.
    pub(crate) fn tuple(&self, id: Id) -> &[Id] {
        self.node(id).tuple().unwrap_or_default()
    }

    /// The items of a tuple or list, or nothing.
    pub(crate) fn sequence(&self, id: Id) -> &[Id] {
        match self.node(id) {
            Node::List(items) => items,
            node => node.tuple().unwrap_or_default(),
        }
    }

    /// Key, value, key, value of a dict, or nothing.
    pub(crate) fn pairs(&self, id: Id) -> &[Id] {
        match self.node(id) {
            Node::Dict(pairs) => pairs,
            _ => &[],
        }
    }

    /// The value of a text key among the first pairs.
    pub(crate) fn lookup(&self, pairs: &[Id], wanted: &str) -> Option<Id> {
        let (pairs, _) = pairs.as_chunks::<2>();
        let mut pairs = pairs.iter().take(SEARCH_MAX);
        pairs.find(|[key, _]| self.text(*key) == Some(wanted)).map(|[_, value]| *value)
    }

    /// The states that an object was given, in order.
    pub(crate) fn states(&self, object: &Object) -> impl Iterator<Item = Id> {
        let more = object.extra.as_ref().map_or(&[][..], |extra| &extra.states);
        object.state.into_iter().chain(more.iter().copied())
    }

    /// The dicts of a state: one, or the pair that objects with slots have.
    pub(crate) fn state_dicts(&self, state: Id) -> [&[Id]; 2] {
        match self.node(state) {
            Node::Tuple2([dict, slots]) => [self.pairs(*dict), self.pairs(*slots)],
            _ => [self.pairs(state), &[]],
        }
    }

    /// Something set on an object by its state or by `setattr`.
    pub(crate) fn attribute(&self, object: &Object, wanted: &str) -> Option<Id> {
        let set = object.extra.as_ref().and_then(|extra| self.lookup(&extra.attributes, wanted));
        set.or_else(|| {
            let mut dicts = self.states(object).flat_map(|state| self.state_dicts(state));
            dicts.find_map(|pairs| self.lookup(pairs, wanted))
        })
    }
}
