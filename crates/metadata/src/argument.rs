//! Texts with parameters in them, `--limit={limit}`, and the arguments of a command made of such.
//!
//! A value never becomes more than a part of one argument: there is no shell that could read it otherwise.

use crate::{
    Param, ParamKind,
    complaint::{Complaints, meant},
    fields::Fields,
    node::{Node, NodeKind},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTemplate(pub Vec<TextPiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPiece {
    Literal(String),
    /// By its name.
    Param(String),
}

/// One argument, or several that are there together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPart {
    /// Left out where a parameter of it was not given; one that is nothing but a list becomes as many as that has.
    One(TextTemplate),
    /// Where the parameter was given, and is not `false`.
    When { param: String, add: Vec<TextTemplate> },
}

impl TextTemplate {
    /// `{{` and `}}` are braces.
    pub(crate) fn read(text: &str) -> Result<TextTemplate, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text.chars().peekable();
        while let Some(letter) = rest.next() {
            match letter {
                '{' | '}' if rest.peek() == Some(&letter) => {
                    rest.next();
                    literal.push(letter);
                }
                '{' => {
                    let mut name = String::new();
                    loop {
                        match rest.next() {
                            Some('}') => break,
                            Some(it) => name.push(it),
                            None => return Err(format!("`{text}`: a `{{` is not closed")),
                        }
                    }
                    if !literal.is_empty() {
                        pieces.push(TextPiece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(TextPiece::Param(name));
                }
                '}' => return Err(format!("`{text}`: write `}}}}` for a brace")),
                letter => literal.push(letter),
            }
        }
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(TextPiece::Literal(literal));
        }
        Ok(TextTemplate(pieces))
    }

    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Param(name) => Some(name.as_str()),
            TextPiece::Literal(_) => None,
        })
    }

    /// The one parameter that it is, if it is nothing else.
    pub fn only_param(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TextPiece::Param(name)] => Some(name),
            _ => None,
        }
    }

    /// Reads it, and complains of parameters that there are not or that no text can be made of.
    pub(crate) fn checked(
        text: &str,
        line: usize,
        params: &[Param],
        to: &mut Complaints,
    ) -> Option<TextTemplate> {
        let template = match TextTemplate::read(text) {
            Ok(template) => template,
            Err(problem) => {
                to.add(line, problem);
                return None;
            }
        };
        for name in template.params() {
            let is_only = template.only_param().is_some();
            match known(name, line, params, to).map(|it| &it.kind) {
                Some(ParamKind::Object(_)) => {
                    to.add(line, format!("`{{{name}}}` is an object; no text can be made of it"));
                }
                Some(ParamKind::List(_)) if !is_only => {
                    to.add(line, format!("`{{{name}}}` is a list; it stands alone"));
                }
                _ => {}
            }
        }
        Some(template)
    }
}

fn known<'p>(
    name: &str,
    line: usize,
    params: &'p [Param],
    to: &mut Complaints,
) -> Option<&'p Param> {
    let found = params.iter().find(|it| it.name == *name);
    if found.is_none() {
        let near = meant(name, params.iter().map(|it| it.name.as_str()));
        to.add(line, format!("there is no parameter `{name}`{near}"));
    }
    found
}

impl CommandPart {
    pub(crate) fn read(node: &Node, params: &[Param], to: &mut Complaints) -> Option<CommandPart> {
        if let NodeKind::Map(_) = node.kind {
            let fields = Fields::of(node, "an argument", &["when", "add"], to);
            let param = fields.need_text("when", to);
            known(&param, node.line, params, to);
            fields.need("add", to);
            let add = fields.words("add", to);
            let add = add.iter().filter_map(|it| TextTemplate::checked(it, node.line, params, to));
            return Some(CommandPart::When { param, add: add.collect() });
        }
        let text = match node.datum().as_text() {
            Some(text) => text.to_owned(),
            None => {
                to.add(node.line, "an argument is a text, or `{when: PARAMETER, add: […]}`");
                return None;
            }
        };
        TextTemplate::checked(&text, node.line, params, to).map(CommandPart::One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_braces() {
        let template = TextTemplate::read("--x={a}{{b}}{c}").unwrap();
        let pieces = [
            TextPiece::Literal("--x=".to_owned()),
            TextPiece::Param("a".to_owned()),
            TextPiece::Literal("{b}".to_owned()),
            TextPiece::Param("c".to_owned()),
        ];
        assert_eq!(template.0, pieces);
        assert_eq!(TextTemplate::read("").unwrap().0, [TextPiece::Literal(String::new())]);
        assert_eq!(TextTemplate::read("{a}").unwrap().only_param(), Some("a"));
        assert!(TextTemplate::read("{a").unwrap_err().contains("not closed"));
        assert!(TextTemplate::read("a}").is_err());
    }
}
