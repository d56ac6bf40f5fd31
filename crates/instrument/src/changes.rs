//! Containers changed in place: `rows.push(x)`, `this.seen.add(k)`, `bins[k].sort()`.
//!
//! A call of a method that changes an array, a map or a set is told by what its receiver is called, and by the content after
//! the call. The call stays as it is, since its own words stand in the engine's messages (`rows.push is not a function`);
//! behind it stands where the receiver is found: names that the text declares, and keys that the probe looks up as
//! own data. So no getter runs a second time. Where not even the call may be wrapped, because the message would name
//! the probe, the next expression around it is, or nothing is told.

use std::collections::HashSet;

use oxc_ast::ast::{
    BindingIdentifier, CallExpression, ChainElement, ChainExpression, Expression, NewExpression,
    Program, SpreadElement, TaggedTemplateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};

use crate::probes::Probes;

/// Of arrays, maps and sets.
const MUTATORS: &[&str] = &[
    "push",
    "pop",
    "shift",
    "unshift",
    "splice",
    "sort",
    "reverse",
    "fill",
    "copyWithin",
    "set",
    "add",
    "delete",
    "clear",
];

/// A receiver with a longer name or more keys is hardly read by anyone.
const NAME_MAX: usize = 64;
const KEYS_MAX: usize = 4;

/// What a receiver is called, and how it is found again: an expression that runs nothing, and keys.
struct Receiver {
    name: String,
    root: String,
    keys: Vec<String>,
}

/// The names that a text declares: to read one of them again runs no code.
#[derive(Default)]
pub(crate) struct Declared {
    names: HashSet<String>,
}

impl Declared {
    pub(crate) fn of(program: &Program<'_>) -> HashSet<String> {
        let mut found = Self::default();
        found.visit_program(program);
        found.names
    }
}

impl<'a> Visit<'a> for Declared {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.names.insert(it.name.as_str().to_owned());
    }
}

impl Probes<'_> {
    /// A call; if it or what it is called on changes something, with that said behind it.
    pub(crate) fn call_that_may_change(&mut self, it: &CallExpression<'_>) {
        if self.bare.remove(&place(it.span)) {
            return self.call_maybe_of_test(it);
        }
        let mut said = self.change(it);
        said.push_str(&self.spared(&it.callee));
        if said.is_empty() {
            return self.call_maybe_of_test(it);
        }
        self.put(it.span.start, "$hp.s(");
        self.call_maybe_of_test(it);
        self.put(it.span.end, format!("{said})"));
    }

    /// The changes that the calls along an expression make, which are not wrapped themselves: whoever asks says them.
    pub(crate) fn spared(&mut self, expression: &Expression<'_>) -> String {
        let mut said = String::new();
        let mut next = Some(expression);
        while let Some(it) = next {
            next = match it {
                Expression::CallExpression(call) => {
                    self.bare.insert(place(call.span));
                    said.insert_str(0, &self.change(call));
                    Some(&call.callee)
                }
                Expression::StaticMemberExpression(it) => Some(&it.object),
                Expression::ComputedMemberExpression(it) => Some(&it.object),
                Expression::PrivateFieldExpression(it) => Some(&it.object),
                Expression::ParenthesizedExpression(it) => Some(&it.expression),
                Expression::TSNonNullExpression(it) => Some(&it.expression),
                Expression::TSAsExpression(it) => Some(&it.expression),
                Expression::TSSatisfiesExpression(it) => Some(&it.expression),
                Expression::TSTypeAssertion(it) => Some(&it.expression),
                Expression::ChainExpression(it) => {
                    self.spare_chain(it);
                    None
                }
                _ => None,
            };
        }
        said
    }

    /// `a?.b.pop().c`: to wrap a part of it would end the chain there. A whole call can be.
    pub(crate) fn spare_chain(&mut self, it: &ChainExpression<'_>) {
        match &it.expression {
            ChainElement::CallExpression(_) => {}
            ChainElement::TSNonNullExpression(it) => drop(self.spared(&it.expression)),
            ChainElement::StaticMemberExpression(it) => drop(self.spared(&it.object)),
            ChainElement::ComputedMemberExpression(it) => drop(self.spared(&it.object)),
            ChainElement::PrivateFieldExpression(it) => drop(self.spared(&it.object)),
        }
    }

    pub(crate) fn chain(&mut self, it: &ChainExpression<'_>) {
        self.spare_chain(it);
        walk::walk_chain_expression(self, it);
    }

    // What is spread, constructed or called as a tag is named in the engine's message if it cannot be.

    pub(crate) fn spread(&mut self, it: &SpreadElement<'_>) {
        drop(self.spared(&it.argument));
        walk::walk_spread_element(self, it);
    }

    pub(crate) fn construction(&mut self, it: &NewExpression<'_>) {
        drop(self.spared(&it.callee));
        walk::walk_new_expression(self, it);
    }

    pub(crate) fn tagged(&mut self, it: &TaggedTemplateExpression<'_>) {
        drop(self.spared(&it.tag));
        walk::walk_tagged_template_expression(self, it);
    }

    /// `,$hp.m(3,this,"rows")` for `this.rows.push(x)`.
    fn change(&mut self, it: &CallExpression<'_>) -> String {
        let Expression::StaticMemberExpression(member) = &it.callee else { return String::new() };
        if self.frame().is_none() || !MUTATORS.contains(&member.property.name.as_str()) {
            return String::new();
        }
        let Some(of) = self.receiver(&member.object) else { return String::new() };
        if of.name.len() > NAME_MAX || of.keys.len() > KEYS_MAX {
            return String::new();
        }
        let Some(slot) = self.slot(&of.name) else { return String::new() };
        let keys: String = of.keys.iter().map(|key| format!(",{key}")).collect();
        format!(",$hp.m({slot},{}{keys})", of.root)
    }

    fn receiver(&self, it: &Expression<'_>) -> Option<Receiver> {
        let root = |text: &str| Receiver {
            name: text.to_owned(),
            root: text.to_owned(),
            keys: Vec::new(),
        };
        match it {
            Expression::Identifier(name) => {
                let name = name.name.as_str();
                self.declared.contains(name).then(|| root(name))
            }
            Expression::ThisExpression(_) => Some(root("this")),
            Expression::ParenthesizedExpression(it) => self.receiver(&it.expression),
            Expression::TSNonNullExpression(it) => self.receiver(&it.expression),
            Expression::TSAsExpression(it) => self.receiver(&it.expression),
            Expression::StaticMemberExpression(it) => {
                let mut of = self.receiver(&it.object)?;
                let key = it.property.name.as_str();
                of.name = format!("{}.{key}", of.name);
                of.keys.push(quoted(key));
                Some(of)
            }
            Expression::ComputedMemberExpression(it) => {
                let mut of = self.receiver(&it.object)?;
                let (name, key) = self.key(&it.expression)?;
                of.name = format!("{}[{name}]", of.name);
                of.keys.push(key);
                Some(of)
            }
            Expression::PrivateFieldExpression(it) => self.private(it),
            _ => None,
        }
    }

    /// `this.#rows`: no accessor, or it would run again.
    fn private(&self, it: &oxc_ast::ast::PrivateFieldExpression<'_>) -> Option<Receiver> {
        let name = it.field.name.as_str();
        let is_this = matches!(it.object, Expression::ThisExpression(_));
        if !is_this || self.text.contains(&format!("get #{name}")) {
            return None;
        }
        let text = format!("this.#{name}");
        Some(Receiver { name: text.clone(), root: text, keys: Vec::new() })
    }

    /// A key that runs nothing: its name in the receiver's, and its text.
    fn key(&self, it: &Expression<'_>) -> Option<(String, String)> {
        match it {
            Expression::Identifier(name) => {
                let name = name.name.as_str();
                self.declared.contains(name).then(|| (name.to_owned(), name.to_owned()))
            }
            Expression::StringLiteral(text) => {
                let text = text.value.as_str();
                // Some of the others are ends of lines.
                let is_plain = text.bytes().all(|it| (b' '..=b'~').contains(&it));
                is_plain.then(|| (format!("'{text}'"), quoted(text)))
            }
            Expression::NumericLiteral(_) => {
                let text = self.slice(it.span());
                Some((text.to_owned(), text.to_owned()))
            }
            _ => None,
        }
    }
}

fn place(span: Span) -> (u32, u32) {
    (span.start, span.end)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
