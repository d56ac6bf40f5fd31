//! YAML as a tree whose every part knows its line. Only what such files need: one document, no anchors, no tags,
//! no key twice; so nothing in it can be larger than it is written.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::{Literal, complaint::Complaint};

/// Parts inside of each other.
const DEEPEST: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    Scalar(Literal),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) line: usize,
    pub(crate) name: String,
}

/// A part that is not at its end.
struct Open {
    line: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// With the key whose value comes next.
    Map(Vec<(Key, Node)>, Option<Key>),
}

impl Node {
    pub(crate) fn read(text: &str) -> Result<Node, Complaint> {
        let mut open: Vec<Open> = Vec::new();
        let mut whole: Option<Node> = None;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| Complaint {
                line: error.marker().line(),
                text: format!("this is no YAML: {}", error.info()),
            })?;
            let line = span.start.line();
            if let Some(text) = refused(&event).or((open.len() > DEEPEST).then_some("too deep")) {
                return Err(Complaint { line, text: text.to_owned() });
            }
            let Some(done) = take(&mut open, event, span)? else { continue };
            match open.last_mut() {
                Some(parent) => parent.put(done)?,
                None if whole.is_some() => {
                    return Err(complain(done.line, "one document, not two"));
                }
                None => whole = Some(done),
            }
        }
        whole.ok_or_else(|| complain(1, "the file is empty"))
    }

    /// What it says, without its lines.
    pub(crate) fn datum(&self) -> Literal {
        match &self.kind {
            NodeKind::Scalar(datum) => datum.clone(),
            NodeKind::List(items) => Literal::List(items.iter().map(Node::datum).collect()),
            NodeKind::Map(members) => {
                let each = members.iter().map(|(key, it)| (key.name.clone(), it.datum()));
                Literal::Map(each.collect())
            }
        }
    }
}

/// The part that this event ends, if it ends one.
fn take(open: &mut Vec<Open>, event: Event<'_>, span: Span) -> Result<Option<Node>, Complaint> {
    let line = span.start.line();
    Ok(match event {
        Event::Scalar(text, style, ..) => {
            let datum = match style {
                ScalarStyle::Plain => Literal::plain(&text),
                _ => Literal::Text(text.into_owned()),
            };
            Some(Node { line, kind: NodeKind::Scalar(datum) })
        }
        Event::SequenceStart(..) => {
            open.push(Open { line, kind: OpenKind::List(Vec::new()) });
            None
        }
        Event::MappingStart(..) => {
            open.push(Open { line, kind: OpenKind::Map(Vec::new(), None) });
            None
        }
        Event::SequenceEnd | Event::MappingEnd => match open.pop() {
            Some(Open { line, kind: OpenKind::List(items) }) => {
                Some(Node { line, kind: NodeKind::List(items) })
            }
            Some(Open { line, kind: OpenKind::Map(members, _) }) => {
                Some(Node { line, kind: NodeKind::Map(members) })
            }
            None => return Err(complain(line, "an end without a beginning")),
        },
        _ => None,
    })
}

impl Open {
    fn put(&mut self, node: Node) -> Result<(), Complaint> {
        match &mut self.kind {
            OpenKind::List(items) => items.push(node),
            OpenKind::Map(members, key @ None) => {
                let NodeKind::Scalar(name) = node.kind else {
                    return Err(complain(node.line, "a key is a word"));
                };
                let name = match name {
                    Literal::Text(name) => name,
                    other => other.to_string(),
                };
                if members.iter().any(|(it, _)| it.name == name) {
                    return Err(complain(node.line, &format!("`{name}` stands here twice")));
                }
                *key = Some(Key { line: node.line, name });
            }
            OpenKind::Map(members, key) => {
                if let Some(key) = key.take() {
                    members.push((key, node));
                }
            }
        }
        Ok(())
    }
}

fn refused(event: &Event<'_>) -> Option<&'static str> {
    let is_marked = match event {
        Event::Alias(_) => true,
        Event::Scalar(_, _, anchor, tag) => *anchor != 0 || tag.is_some(),
        Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
            *anchor != 0 || tag.is_some()
        }
        _ => false,
    };
    is_marked.then_some("anchors, aliases and tags are not for such files")
}

fn complain(line: usize, text: &str) -> Complaint {
    Complaint { line, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_its_line() {
        let node = Node::read("a: 1\nb:\n  - x\n  - {c: '2'}\n").unwrap();
        assert_eq!(node.datum().to_string(), r#"{"a": 1, "b": ["x", {"c": "2"}]}"#);
        let NodeKind::Map(members) = &node.kind else { panic!("{node:?}") };
        assert_eq!(members[1].0.line, 2);
        let NodeKind::List(items) = &members[1].1.kind else { panic!("{node:?}") };
        assert_eq!((items[0].line, items[1].line), (3, 4));
    }

    #[test]
    fn what_such_files_need_not_have_is_refused_where_it_stands() {
        for (text, line, part) in [
            ("a: 1\na: 2", 2, "twice"),
            ("a: &x 1\nb: *x", 1, "anchors"),
            ("a: !!str 1", 1, "tags"),
            ("a: 1\n---\nb: 2", 3, "one document"),
            ("a: [1", 2, "no YAML"),
            ("", 1, "empty"),
            ("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", 1, "too deep"),
        ] {
            let complaint = Node::read(text).unwrap_err();
            assert!(complaint.text.contains(part), "{text}: {complaint}");
            assert_eq!(complaint.line, line, "{text}: {complaint}");
        }
    }
}
