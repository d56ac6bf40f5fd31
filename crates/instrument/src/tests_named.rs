//! Which functions are tests: what is handed to `it("…", …)` and its like, whichever runner they are of.
//!
//! Known by the words alone, as a person reads them. The frame of such a function then says when its test begins and ends;
//! no runner has to be hooked for it.

use oxc_ast::ast::{Argument, CallExpression, Expression};
use oxc_ast_visit::walk;
use oxc_span::GetSpan as _;

use crate::probes::Probes;

const TESTS: &[&str] = &["it", "test", "specify", "fit"];
const GROUPS: &[&str] = &["describe", "suite", "context", "fdescribe"];

/// A title beyond this is cut.
const TITLE_MAX: usize = 160;

impl Probes<'_> {
    pub(crate) fn call_maybe_of_test(&mut self, it: &CallExpression<'_>) {
        let word = test_word(self.slice(it.callee.span()));
        let title = match it.arguments.first() {
            Some(first) if it.arguments.iter().skip(1).any(is_function) => self.title(first),
            _ => None,
        };
        let Some(title) = title else { return walk::walk_call_expression(self, it) };
        if GROUPS.contains(&word) {
            self.titles.push(title);
            walk::walk_call_expression(self, it);
            self.titles.pop();
            return;
        }
        if TESTS.contains(&word) {
            let mut whole = self.titles.clone();
            whole.push(title);
            self.test = Some(whole.join(" > "));
        }
        walk::walk_call_expression(self, it);
        self.test = None;
    }

    fn title(&self, argument: &Argument<'_>) -> Option<String> {
        let text = match argument {
            Argument::StringLiteral(text) => text.value.as_str(),
            Argument::TemplateLiteral(text) => self.slice(text.span).trim_matches('`'),
            _ => return None,
        };
        Some(text.chars().take(TITLE_MAX).collect())
    }
}

/// `it` of `it.only`, `test` of `test.each(…)` and of what a bundler makes of an import.
fn test_word(callee: &str) -> &str {
    let mut words =
        callee.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'));
    words.find(|word| TESTS.contains(word) || GROUPS.contains(word)).unwrap_or_default()
}

fn is_function(argument: &Argument<'_>) -> bool {
    let Some(expression) = argument.as_expression() else { return false };
    matches!(expression, Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_))
}
