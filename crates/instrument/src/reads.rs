//! What an expression reads, and whether all of it is surely there before a statement: a variable that is not may not be
//! touched, for that would throw in the program.

use std::collections::HashSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AssignmentExpression, AwaitExpression, Class, Function, Ident, IdentifierReference,
    ImportExpression, ImportMeta, NewTarget, PrivateFieldExpression, PrivateInExpression, Super,
    ThisExpression, UnaryExpression, UpdateExpression, YieldExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_semantic::Scoping;
use oxc_span::{SourceType, Span};
use oxc_syntax::operator::UnaryOperator;
use oxc_syntax::scope::{ScopeFlags, ScopeId};
use oxc_syntax::symbol::SymbolFlags;

use crate::Goal;

/// What `this` is called where it is handed on.
const THIS: &str = "$hpthis";
/// What Node hands to every file that is no module.
const WRAPPED: &[&str] = &["require", "module", "exports", "__filename", "__dirname"];
/// No names of parameters, or not the program's.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "eval",
    "implements",
    "interface",
    "let",
    "package",
    "private",
    "protected",
    "public",
    "static",
    "yield",
    THIS,
];

/// How a name is written where it is read.
pub(crate) fn given(name: &str) -> &str {
    if name == THIS { "this" } else { name }
}

/// The scopes around the place that is looked at.
pub(crate) struct Scopes<'s> {
    scoping: &'s Scoping,
    goal: Goal,
    open: Vec<Option<ScopeId>>,
    /// Scopes that are entered in their middle.
    skipping: HashSet<ScopeId>,
}

impl<'s> Scopes<'s> {
    pub(crate) fn new(scoping: &'s Scoping, goal: Goal) -> Self {
        Self { scoping, goal, open: Vec::new(), skipping: HashSet::new() }
    }

    pub(crate) fn enter(&mut self, scope: Option<ScopeId>) {
        self.open.push(scope);
    }

    pub(crate) fn leave(&mut self) {
        self.open.pop();
    }

    /// What is declared in it may be jumped over.
    pub(crate) fn skips(&mut self, scope: Option<ScopeId>) {
        self.skipping.extend(scope);
    }

    fn up(&self) -> impl Iterator<Item = ScopeId> + use<'_> {
        let here = self.open.last().copied().flatten();
        std::iter::successors(here, |it| self.scoping.scope_parent_id(*it))
    }

    fn is_function(&self, scope: ScopeId) -> bool {
        let flags = self.scoping.scope_flags(scope);
        flags.intersects(ScopeFlags::Function | ScopeFlags::ClassStaticBlock)
    }

    /// Whether a name is to be handed on; `None` where it may not be touched.
    fn hands_on(&self, name: &str, before: Span) -> Option<bool> {
        let scoping = self.scoping;
        let here = self.up().next()?;
        if RESERVED.contains(&name) {
            return None;
        }
        let Some(symbol) = scoping.find_binding(here, Ident::from(name)) else {
            // What a text brings along that is made while it runs nobody knows.
            let is_known =
                !self.up().any(|it| scoping.scope_flags(it).contains(ScopeFlags::DirectEval));
            let is_wrapped = self.goal == Goal::CommonJs && WRAPPED.contains(&name);
            return is_known.then_some(is_wrapped);
        };
        let flags = scoping.symbol_flags(symbol);
        let is_before = scoping.symbol_span(symbol).end <= before.start;
        let declared = scoping.symbol_scope_id(symbol);
        let crosses = self.up().take_while(|it| *it != declared).any(|it| self.is_function(it));
        let is_block = flags.intersects(SymbolFlags::BlockScopedVariable | SymbolFlags::Class);
        let is_sure = if is_block {
            is_before && !crosses && !self.skipping.contains(&declared)
        } else if flags.contains(SymbolFlags::FunctionScopedVariable) {
            // A parameter may be read by one before it; of a variable nobody sees whether it is one.
            is_before || !crosses
        } else {
            flags.intersects(SymbolFlags::Function | SymbolFlags::CatchVariable)
        };
        is_sure.then_some(true)
    }

    /// Not before the constructor above has been called.
    fn has_this(&self) -> bool {
        let functions = self.up().map(|it| self.scoping.scope_flags(it));
        let mut own = functions
            .filter(|it| it.contains(ScopeFlags::Function) && !it.contains(ScopeFlags::Arrow));
        !own.next().is_some_and(|it| it.contains(ScopeFlags::Constructor))
    }
}

/// An expression, and what it reads.
pub(crate) struct Reads<'t> {
    text: &'t str,
    names: Vec<String>,
    /// Where it says `this`.
    this: Vec<Span>,
    is_refused: bool,
}

impl<'t> Reads<'t> {
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let allocator = Allocator::default();
        let expression =
            Parser::new(&allocator, text, SourceType::cjs()).parse_expression().ok()?;
        let mut reads = Self { text, names: Vec::new(), this: Vec::new(), is_refused: false };
        reads.visit_expression(&expression);
        (!reads.is_refused).then_some(reads)
    }

    /// The expression as one of names that are handed on before this statement.
    pub(crate) fn at(
        self,
        scopes: &Scopes<'_>,
        before: Span,
        handed: &mut Vec<String>,
    ) -> Option<String> {
        let mut hand = |name: &str| {
            if !handed.iter().any(|it| it == name) {
                handed.push(name.to_owned());
            }
        };
        for name in &self.names {
            if scopes.hands_on(name, before)? {
                hand(name);
            }
        }
        if !self.this.is_empty() {
            if !scopes.has_this() {
                return None;
            }
            hand(THIS);
        }
        let mut text = self.text.to_owned();
        for span in self.this.iter().rev() {
            text.replace_range(span.start as usize..span.end as usize, THIS);
        }
        Some(text)
    }
}

impl<'a> Visit<'a> for Reads<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if !self.names.iter().any(|name| name == it.name.as_str()) {
            self.names.push(it.name.to_string());
        }
    }

    fn visit_this_expression(&mut self, it: &ThisExpression) {
        self.this.push(it.span);
    }

    // What it writes would be written elsewhere, or means something only where it stands.

    fn visit_assignment_expression(&mut self, _: &AssignmentExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_update_expression(&mut self, _: &UpdateExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        self.is_refused |= it.operator == UnaryOperator::Delete;
        walk::walk_unary_expression(self, it);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {
        self.is_refused = true;
    }

    fn visit_class(&mut self, _: &Class<'a>) {
        self.is_refused = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.is_refused = true;
    }

    fn visit_new_target(&mut self, _: &NewTarget) {
        self.is_refused = true;
    }

    fn visit_super(&mut self, _: &Super) {
        self.is_refused = true;
    }

    fn visit_import_expression(&mut self, _: &ImportExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_private_field_expression(&mut self, _: &PrivateFieldExpression<'a>) {
        self.is_refused = true;
    }

    fn visit_private_in_expression(&mut self, _: &PrivateInExpression<'a>) {
        self.is_refused = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::weave::{Woven, WovenPoint, weave};
    use crate::{Goal, SourceText};

    /// What is handed on for an expression at the line that is marked; `None` where it is left to others.
    #[track_caller]
    fn check(text: &str, expression: &str, goal: Goal, expected: Option<&str>) {
        let line = text.lines().position(|it| it.contains("//")).unwrap() + 1;
        let line = u32::try_from(line).unwrap();
        let expressions = vec![expression.to_owned()];
        let point = WovenPoint { id: 7, line, condition: None, expressions };
        let given = SourceText { text, goal, typescript: false, jsx: false };
        let names = |it: Woven| it.calls.first().map(|it| it.names.join(","));
        let found = weave(given, &[point]).ok().and_then(names);
        assert_eq!(found.as_deref(), expected, "`{expression}` in {text}");
    }

    #[test]
    fn what_is_surely_there_is_handed_on() {
        let sure = |text: &str, expression: &str, names: &str| {
            check(text, expression, Goal::CommonJs, Some(names));
        };
        sure("function f(n) {\n g(n); //\n}", "n + 1", "n");
        sure("function f({ n }, m = 1) {\n g(n); //\n}", "n + m", "n,m");
        sure("const a = 1;\ng(); //", "a", "a");
        sure("g(); //\nvar a = 1;", "a", "a");
        sure("function f() {\n let a = 1;\n if (a) {\n  g(); //\n }\n}", "a", "a");
        sure("for (const x of y) {\n g(x); //\n}", "x * 2", "x");
        sure("try { g(); } catch (e) {\n g(e); //\n}", "e.message", "e");
        sure("function f(o) {\n return () => {\n  g(); //\n };\n}", "o.a", "o");
        sure("class A { m() {\n g(); //\n} }", "this.x + this.y", "$hpthis");
        sure("g(); //", "Math.max(1, 2)", "");
        sure("g(); //", "module.id", "module");
        sure("function h() {}\ng(); //", "h.name", "h");
        sure("const xs = [];\ng(); //", "xs.map(x => x.id)", "xs");
    }

    #[test]
    fn what_may_not_be_there_yet_is_left() {
        let unsure = |text: &str, expression: &str| check(text, expression, Goal::CommonJs, None);
        unsure("g(); //\nconst a = 1;", "a");
        unsure("const a = g(); //", "a");
        unsure("const a = 1;\nfunction f() {\n g(); //\n}", "a");
        unsure("switch (n) {\n case 1: let a = 1;\n case 2:\n  g(); //\n}", "a");
        unsure("class B extends A { constructor() {\n g(); //\n super(); } }", "this.x");
        unsure("class A { static {\n g(); //\n} }", "A");
        unsure("function f(a = () => {\n g(); //\n}, b) {}", "b");
        unsure("function f(n) {\n eval('var x = 1');\n g(); //\n}", "x");
        unsure("function f() {\n g(); //\n}", "arguments.length");
        unsure("function f(n) {\n g(); //\n}", "n = 1");
        unsure("function f(n) {\n g(); //\n}", "n++");
        unsure("function f(n) {\n g(); //\n}", "delete n.a");
        check("import a from 'a';\ng(); //", "a", Goal::Module, None);
    }
}
