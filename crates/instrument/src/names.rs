//! What functions and slots are called.

use oxc_ast::ast::{
    AssignmentTarget, BindingPattern, Class, Expression, FormalParameters, Function, PropertyKey,
    SimpleAssignmentTarget, Statement, VariableDeclaration,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::probes::Probes;

/// A longer target is named by its last part alone.
const NAME_MAX: usize = 64;

impl Probes<'_> {
    /// Says to the function or class that `value` is, if it is one without a name, what its place calls it.
    pub(crate) fn hint_for(&mut self, value: &Expression<'_>, name: Option<String>) {
        self.hint = if is_nameless(value) { name } else { None };
    }

    pub(crate) fn key_name(&self, key: &PropertyKey<'_>) -> Option<String> {
        match key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.as_str().to_owned()),
            PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name.as_str())),
            PropertyKey::StringLiteral(text) => Some(text.value.as_str().to_owned()),
            _ => self.short(key.span()).map(|text| format!("[{text}]")),
        }
    }

    /// What a write to it is called: `total`, `this.qty`, `a[i]`.
    pub(crate) fn target_name(&self, target: &AssignmentTarget<'_>) -> Option<String> {
        match target {
            AssignmentTarget::ArrayAssignmentTarget(_)
            | AssignmentTarget::ObjectAssignmentTarget(_) => None,
            _ => self.span_name(target.span()),
        }
    }

    pub(crate) fn simple_name(&self, target: &SimpleAssignmentTarget<'_>) -> Option<String> {
        self.span_name(target.span())
    }

    fn span_name(&self, span: Span) -> Option<String> {
        if let Some(text) = self.short(span) {
            return Some(text);
        }
        let text = self.slice(span);
        let last = text.rsplit(['.', '\n']).next()?.trim();
        Some(format!("….{}", last.chars().take(NAME_MAX).collect::<String>()))
    }

    /// The text there, if it is short and on one line; without the blanks of `a . b`.
    pub(crate) fn short(&self, span: Span) -> Option<String> {
        let text = self.slice(span);
        let fits = text.len() <= NAME_MAX && !text.contains(['\n', '\r']);
        fits.then(|| text.trim_matches(['(', ')', ' ']).to_owned())
    }

    /// The slot of this name in the function that is walked.
    pub(crate) fn slot(&mut self, name: &str) -> Option<usize> {
        let frame = self.frame_mut()?;
        if let Some(at) = frame.slots.iter().position(|slot| slot == name) {
            return Some(at);
        }
        frame.slots.push(name.to_owned());
        Some(frame.slots.len() - 1)
    }

    pub(crate) fn qualified(&self, name: &str) -> String {
        let mut whole = self.path.join(".");
        if !whole.is_empty() {
            whole.push('.');
        }
        whole.push_str(name);
        whole
    }
}

/// Whether it takes its name from its place: `const f = () => …`.
pub(crate) fn is_nameless(value: &Expression<'_>) -> bool {
    match value {
        Expression::ArrowFunctionExpression(_) => true,
        Expression::FunctionExpression(function) => function.id.is_none(),
        Expression::ClassExpression(class) => class.id.is_none(),
        Expression::ParenthesizedExpression(inner) => is_nameless(&inner.expression),
        Expression::TSAsExpression(inner) => is_nameless(&inner.expression),
        Expression::TSSatisfiesExpression(inner) => is_nameless(&inner.expression),
        Expression::TSNonNullExpression(inner) => is_nameless(&inner.expression),
        Expression::TSTypeAssertion(inner) => is_nameless(&inner.expression),
        _ => false,
    }
}

/// Every name that a pattern binds, in order.
pub(crate) fn bound(pattern: &BindingPattern<'_>, names: &mut Vec<String>) {
    match pattern {
        BindingPattern::BindingIdentifier(name) => names.push(name.name.as_str().to_owned()),
        BindingPattern::AssignmentPattern(inner) => bound(&inner.left, names),
        BindingPattern::ObjectPattern(object) => {
            for property in &object.properties {
                bound(&property.value, names);
            }
            if let Some(rest) = &object.rest {
                bound(&rest.argument, names);
            }
        }
        BindingPattern::ArrayPattern(array) => {
            for element in array.elements.iter().flatten() {
                bound(element, names);
            }
            if let Some(rest) = &array.rest {
                bound(&rest.argument, names);
            }
        }
    }
}

pub(crate) fn parameters(it: &FormalParameters<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for item in &it.items {
        bound(&item.pattern, &mut names);
    }
    if let Some(rest) = &it.rest {
        bound(&rest.rest.argument, &mut names);
    }
    names
}

/// The names that `var` declares in a function's body, wherever in it.
#[derive(Default)]
pub(crate) struct Vars {
    pub(crate) names: Vec<String>,
}

impl Vars {
    pub(crate) fn visit_all(&mut self, list: &[Statement<'_>]) {
        for statement in list {
            self.visit_statement(statement);
        }
    }
}

impl<'a> Visit<'a> for Vars {
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind.is_var() {
            for declarator in &it.declarations {
                bound(&declarator.id, &mut self.names);
            }
        }
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_class(&mut self, _: &Class<'a>) {}
    fn visit_expression(&mut self, _: &Expression<'a>) {}
}
