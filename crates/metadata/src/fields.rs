//! A map of a file, read key by key: what is not known is a complaint, with the key that was meant.

use crate::{
    Literal,
    complaint::{Complaints, meant},
    node::{Key, Node, NodeKind},
};

pub(crate) struct Fields<'n> {
    pub(crate) line: usize,
    /// What the map is of, for complaints.
    what: String,
    members: &'n [(Key, Node)],
}

impl<'n> Fields<'n> {
    /// Complains of whatever is not in `known`. A part that is no map has no members.
    pub(crate) fn of(
        node: &'n Node,
        what: impl Into<String>,
        known: &[&str],
        to: &mut Complaints,
    ) -> Fields<'n> {
        let fields = Fields::any(node, what, to);
        for (key, _) in fields.members {
            if !known.contains(&key.name.as_str()) {
                let near = meant(&key.name, known.iter().copied());
                to.add(key.line, format!("{} has no key `{}`{near}", fields.what, key.name));
            }
        }
        fields
    }

    /// A map whose keys are names of the file's own.
    pub(crate) fn any(node: &'n Node, what: impl Into<String>, to: &mut Complaints) -> Fields<'n> {
        let what = what.into();
        let members = match &node.kind {
            NodeKind::Map(members) => members.as_slice(),
            _ => {
                to.add(node.line, format!("{what} is a map of keys and values"));
                &[]
            }
        };
        Fields { line: node.line, what, members }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&'n Key, &'n Node)> + use<'n> {
        self.members.iter().map(|(key, node)| (key, node))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.members.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    pub(crate) fn need(&self, name: &str, to: &mut Complaints) -> Option<&'n Node> {
        let found = self.get(name);
        if found.is_none() {
            to.add(self.line, format!("{} needs `{name}`", self.what));
        }
        found
    }

    pub(crate) fn text(&self, name: &str, to: &mut Complaints) -> Option<String> {
        let node = self.get(name)?;
        match &node.kind {
            NodeKind::Scalar(Literal::Text(text)) if !text.trim().is_empty() => {
                Some(text.trim().to_owned())
            }
            _ => {
                to.add(node.line, format!("`{name}` is a text, and not an empty one"));
                None
            }
        }
    }

    /// The text that must be there; empty with a complaint.
    pub(crate) fn need_text(&self, name: &str, to: &mut Complaints) -> String {
        match self.need(name, to) {
            Some(_) => self.text(name, to).unwrap_or_default(),
            None => String::new(),
        }
    }

    pub(crate) fn flag(&self, name: &str, to: &mut Complaints) -> Option<bool> {
        let node = self.get(name)?;
        match node.kind {
            NodeKind::Scalar(Literal::Bool(flag)) => Some(flag),
            _ => {
                to.add(node.line, format!("`{name}` is true or false"));
                None
            }
        }
    }

    pub(crate) fn need_flag(&self, name: &str, to: &mut Complaints) -> bool {
        self.need(name, to).is_some() && self.flag(name, to).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str, to: &mut Complaints) -> Option<f64> {
        let node = self.get(name)?;
        let number = node.datum().as_number();
        if number.is_none() {
            to.add(node.line, format!("`{name}` is a number"));
        }
        number
    }

    pub(crate) fn list(&self, name: &str, to: &mut Complaints) -> &'n [Node] {
        let Some(node) = self.get(name) else { return &[] };
        match &node.kind {
            NodeKind::List(items) => items,
            _ => {
                to.add(node.line, format!("`{name}` is a list"));
                &[]
            }
        }
    }

    /// Several words.
    pub(crate) fn words(&self, name: &str, to: &mut Complaints) -> Vec<String> {
        words(self.list(name, to), name, to)
    }
}

pub(crate) fn words(items: &[Node], what: &str, to: &mut Complaints) -> Vec<String> {
    let mut words = Vec::new();
    for item in items {
        match &item.kind {
            NodeKind::Scalar(Literal::Text(word)) => words.push(word.clone()),
            _ => to.add(item.line, format!("`{what}` has texts only; put numbers into quotes")),
        }
    }
    words
}
