//! What holds between parameters.

use crate::{
    Literal, Param,
    complaint::{Complaints, meant},
    fields::{Fields, words},
    node::{Node, NodeKind},
};

#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Exactly one of these groups is given, and whole.
    OneOf(Vec<Vec<String>>),
    /// Where this parameter is that, those are given too.
    Needs { param: String, value: Literal, needs: Vec<String> },
}

impl Rule {
    pub(crate) fn read(node: &Node, params: &[Param], to: &mut Complaints) -> Option<Rule> {
        let fields = Fields::of(node, "a rule", &["one_of", "when", "need"], to);
        let names = |names: Vec<String>, line: usize, to: &mut Complaints| {
            for name in names.iter().filter(|name| !params.iter().any(|it| it.name == **name)) {
                let near = meant(name, params.iter().map(|it| it.name.as_str()));
                to.add(line, format!("there is no parameter `{name}`{near}"));
            }
            names
        };
        if fields.get("one_of").is_some() {
            let mut groups = Vec::new();
            for group in fields.list("one_of", to) {
                match &group.kind {
                    NodeKind::List(items) => {
                        groups.push(names(words(items, "one_of", to), group.line, to));
                    }
                    _ => to.add(group.line, "`one_of` is a list of lists of parameters"),
                }
            }
            return Some(Rule::OneOf(groups));
        }
        let when = Fields::any(fields.need("when", to)?, "`when`", to);
        let need = names(fields.words("need", to), node.line, to);
        if need.is_empty() {
            to.add(
                node.line,
                "a rule is `one_of: [[a], [b, c]]` or `when: {a: x}` with `need: [b]`",
            );
        }
        let (key, value) = when.members().next()?;
        names(vec![key.name.clone()], key.line, to);
        Some(Rule::Needs { param: key.name.clone(), value: value.datum(), needs: need })
    }

    /// What of it a call does not keep, and what to do.
    pub(crate) fn check(&self, given: &Literal) -> Result<(), (String, String)> {
        let has = |name: &String| given.get(name).is_some();
        match self {
            Rule::OneOf(groups) => {
                let choices = named(groups);
                let whole: Vec<_> = groups.iter().filter(|group| group.iter().all(has)).collect();
                let begun = groups.iter().filter(|group| group.iter().any(has)).count();
                match (whole.len(), begun) {
                    (1, 1) => Ok(()),
                    (_, 0) => Err((format!("none of {choices} is given"), choices)),
                    (0, _) => Err((format!("of {choices} one must be given whole"), choices)),
                    _ => Err((format!("of {choices} only one can be given"), choices)),
                }
            }
            Rule::Needs { param, value, needs } => {
                let missing = needs.iter().find(|name| !has(name));
                match missing.filter(|_| given.get(param) == Some(value)) {
                    Some(name) => Err((
                        format!("`{param}` is {value}, which needs `{name}`"),
                        format!("`{name}`, or another `{param}`"),
                    )),
                    None => Ok(()),
                }
            }
        }
    }
}

/// "`nodeId`, or `path` with `symbol`"
impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rule::OneOf(groups) => f.write_str(&named(groups)),
            Rule::Needs { param, value, needs } => {
                write!(f, "`{param}` {value} needs `{}`", needs.join("`, `"))
            }
        }
    }
}

fn named(groups: &[Vec<String>]) -> String {
    let groups = groups.iter().map(|group| format!("`{}`", group.join("` with `")));
    groups.collect::<Vec<_>>().join(", or ")
}
