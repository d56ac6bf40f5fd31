//! Writes: declarations, assignments, `++` and `--`.
//!
//! A write is told by its value, which is the value of the expression that makes it; nothing is read a second time, since
//! reading can run the program's code. A name bound to a function or class without a name of its own is not told: to wrap
//! it would take the name away.

use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty,
    BindingPattern, CallExpression, Expression, UpdateExpression, VariableDeclarator,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_span::GetSpan as _;

use crate::names::{bound, is_nameless};
use crate::probes::Probes;

impl Probes<'_> {
    pub(crate) fn declarator(&mut self, it: &VariableDeclarator<'_>) {
        self.visit_binding_pattern(&it.id);
        let Some(init) = &it.init else { return };
        let BindingPattern::BindingIdentifier(name) = &it.id else {
            // What is taken apart is named in the engine's message if it cannot be.
            let changes = self.spared(init);
            self.visit_expression(init);
            self.say_changes_after(&changes);
            let mut names = Vec::new();
            bound(&it.id, &mut names);
            self.say_after(&names);
            return;
        };
        let name = name.name.as_str();
        self.hint_for(init, Some(name.to_owned()));
        if self.frame().is_none() || is_nameless(init) {
            return self.visit_expression(init);
        }
        let Some(slot) = self.slot(name) else { return };
        self.around(init, &format!("$hp.w({slot},"), ")");
    }

    /// Leaves the writes of these names to whoever ends the statement.
    pub(crate) fn say_after(&mut self, names: &[String]) {
        for name in names {
            if let Some(slot) = self.slot(name) {
                self.after.push_str(&format!(";$hp.w({slot},{name})"));
            }
        }
    }

    fn say_changes_after(&mut self, changes: &str) {
        if let Some(first) = changes.strip_prefix(',') {
            self.after.push_str(&format!(";{first}"));
        }
    }

    pub(crate) fn assignment(&mut self, it: &AssignmentExpression<'_>) {
        self.hint_for(&it.right, self.target_name(&it.left));
        let hint = self.hint.take();
        if self.frame().is_none() {
            self.visit_assignment_target(&it.left);
            self.hint = hint;
            return self.visit_expression(&it.right);
        }
        if let Some(name) = self.target_name(&it.left) {
            return self.plain(it, &name, hint);
        }
        let mut names = Vec::new();
        targets(&it.left, &mut names);
        self.put(it.span.start, "$hp.s(");
        let mut close = self.spared(&it.right);
        walk::walk_assignment_expression(self, it);
        for name in &names {
            if let Some(slot) = self.slot(name) {
                close.push_str(&format!(",$hp.w({slot},{name})"));
            }
        }
        close.push(')');
        self.put(it.span.end, close);
    }

    fn plain(&mut self, it: &AssignmentExpression<'_>, name: &str, hint: Option<String>) {
        let Some(slot) = self.slot(name) else { return };
        // `a ||= b` writes only where it comes to `b`.
        if it.operator.is_logical() {
            self.visit_assignment_target(&it.left);
            let nameless = is_nameless(&it.right);
            self.hint = hint;
            if nameless {
                return self.visit_expression(&it.right);
            }
            return self.around(&it.right, &format!("$hp.w({slot},"), ")");
        }
        self.put(it.span.start, format!("$hp.w({slot},"));
        self.visit_assignment_target(&it.left);
        self.hint = hint;
        self.visit_expression(&it.right);
        self.put(it.span.end, ")");
    }

    pub(crate) fn update(&mut self, it: &UpdateExpression<'_>) {
        let name = self.simple_name(&it.argument);
        let slot =
            if self.frame().is_none() { None } else { name.and_then(|name| self.slot(&name)) };
        let Some(slot) = slot else { return walk::walk_update_expression(self, it) };
        let probe = match (it.prefix, it.operator.as_str()) {
            (true, _) => "w",
            (false, "++") => "p",
            (false, _) => "o",
        };
        self.put(it.span.start, format!("$hp.{probe}({slot},"));
        walk::walk_update_expression(self, it);
        self.put(it.span.end, ")");
    }

    pub(crate) fn call(&mut self, it: &CallExpression<'_>) {
        let derived = self.frame().is_some_and(|frame| frame.derived && !frame.arrow);
        if matches!(it.callee, Expression::Super(_)) && derived {
            // The first time that there is a `this`.
            let slot = self.slot("this").unwrap_or_default();
            self.put(it.span.start, format!("$hp.w({slot},"));
            walk::walk_call_expression(self, it);
            return self.put(it.span.end, ")");
        }
        self.call_that_may_change(it);
    }
}

/// The names that a pattern assigns to. Members are left out: to tell them they would have to be read.
fn targets(target: &AssignmentTarget<'_>, names: &mut Vec<String>) {
    match target {
        AssignmentTarget::AssignmentTargetIdentifier(name) => {
            names.push(name.name.as_str().to_owned())
        }
        AssignmentTarget::ArrayAssignmentTarget(array) => {
            for element in array.elements.iter().flatten() {
                maybe_default(element, names);
            }
            if let Some(rest) = &array.rest {
                targets(&rest.target, names);
            }
        }
        AssignmentTarget::ObjectAssignmentTarget(object) => {
            for property in &object.properties {
                match property {
                    AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                        names.push(it.binding.name.as_str().to_owned());
                    }
                    AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                        maybe_default(&it.binding, names)
                    }
                }
            }
            if let Some(rest) = &object.rest {
                targets(&rest.target, names);
            }
        }
        _ => debug_assert!(target.span().start < target.span().end, "a member has a text"),
    }
}

fn maybe_default(target: &AssignmentTargetMaybeDefault<'_>, names: &mut Vec<String>) {
    match target {
        AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
            targets(&it.binding, names)
        }
        _ => {
            if let Some(target) = target.as_assignment_target() {
                targets(target, names);
            }
        }
    }
}
