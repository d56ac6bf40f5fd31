//! Tracepoints woven into a text: at the statement of a traced line a call that evaluates and reports, and is false.
//!
//! `return total;` becomes `return $hpt(3,total)||(total);`. With `||` V8 has no place of its own behind the call, as it
//! has behind a comma, so stops and steps are those of the text as it was; the call is the first thing that the statement
//! does, where a debugger would evaluate. It is given what the point's expressions name, and they are evaluated elsewhere,
//! as functions of those names ([`WovenCall`]): no function is put into the text, for it would make V8 keep variables
//! elsewhere than in the text as it was. Statements for which all that would not be the same are refused, and so is every
//! expression that is not plainly one, or names what may not be there yet (`reads`): whoever asked then traces in another way.

use std::cell::Cell;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Expression, Program, Statement, SwitchStatement, VariableDeclaration, VariableDeclarationKind,
    WithStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan as _, SourceType, Span};
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use crate::insert::Insertions;
use crate::lines::Lines;
use crate::reads::{Reads, Scopes};
use crate::{Goal, LeftAlone, SourceText, TEXT_MAX, source_type};

/// The one name that woven texts know.
pub const PROBE: &str = "$hpt";

/// What is to be told at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenPoint {
    /// What the probe says it is.
    pub id: u64,
    /// From 1.
    pub line: u32,
    pub condition: Option<String>,
    pub expressions: Vec<String>,
}

/// A text with tracepoints in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Woven {
    pub text: String,
    pub pieces: Vec<WovenPiece>,
    /// Where something was inserted: `distance,length,…` in UTF-16 units of the original.
    pub places: String,
    /// The points that are in it. The others are not.
    pub calls: Vec<WovenCall>,
}

/// What a call in the text is to evaluate: each text is an expression of these names, whose values the call is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenCall {
    pub id: u64,
    pub names: Vec<String>,
    pub condition: Option<String>,
    pub expressions: Vec<String>,
}

/// Something that was inserted, in UTF-16 units. The place is one of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WovenPiece {
    pub offset: u32,
    /// From 0, as V8 counts.
    pub line: u32,
    pub column: u32,
    pub length: u32,
}

/// The text with as many of the points as it can soundly hold.
///
/// # Errors
/// Where it can hold none, or cannot be read; see [`LeftAlone`].
pub fn weave(given: SourceText<'_>, points: &[WovenPoint]) -> Result<Woven, LeftAlone> {
    if given.text.len() > TEXT_MAX {
        return Err(LeftAlone::TooLong);
    }
    // Whoever maps a text to another counts its columns; a mark before it is not in what Node runs.
    let is_taken = given.text.contains(PROBE) || given.text.contains("sourceMappingURL");
    if is_taken || given.text.starts_with('\u{feff}') {
        return Err(LeftAlone::Taken);
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, given.text, source_type(given))
        .with_options(options(given.goal))
        .parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(LeftAlone::Syntax);
    }
    if given.goal == Goal::CommonJs && parsed.module_record.has_module_syntax {
        return Err(LeftAlone::Syntax);
    }
    let points: Vec<&WovenPoint> = points.iter().filter(|it| is_plain(it)).collect();
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let scopes = Scopes::new(semantic.scoping(), given.goal);
    let mut weaver = Weaver::new(given.text, points, scopes);
    weaver.visit_program(&parsed.program);
    weaver.finish(given)
}

fn options(goal: Goal) -> ParseOptions {
    ParseOptions {
        allow_return_outside_function: goal == Goal::CommonJs,
        ..ParseOptions::default()
    }
}

/// Whether a point's expressions are some wherever they stand.
fn is_plain(point: &WovenPoint) -> bool {
    point.condition.iter().chain(&point.expressions).all(|it| is_expression(it))
}

fn is_expression(text: &str) -> bool {
    let is_one_line = !text.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    // A comment would swallow what follows.
    let has_comment = ["//", "/*", "<!--", "-->"].iter().any(|it| text.contains(it));
    let allocator = Allocator::default();
    let parser = Parser::new(&allocator, text, SourceType::cjs());
    is_one_line
        && !has_comment
        && !text.contains(PROBE)
        && parser.parse_expression().is_ok_and(|it| it.span().end as usize == text.trim_end().len())
}

struct Weaver<'s> {
    text: &'s str,
    lines: Lines,
    points: Vec<&'s WovenPoint>,
    scopes: Scopes<'s>,
    out: Insertions,
    calls: Vec<WovenCall>,
}

impl<'s> Weaver<'s> {
    fn new(text: &'s str, points: Vec<&'s WovenPoint>, scopes: Scopes<'s>) -> Self {
        let (lines, out) = (Lines::new(text), Insertions::default());
        Self { text, lines, points, scopes, out, calls: Vec::new() }
    }

    /// Puts the probes of a statement's line around what it evaluates first.
    fn statement(&mut self, it: &Statement<'_>) {
        let line = self.lines.own(it.span().start);
        if !self.is_first_on_line(it.span()) || !self.points.iter().any(|it| it.line == line) {
            return;
        }
        let Some(first) = evaluates(it) else { return };
        // What is written before it on its line has run by then; on another line it is another's.
        let here = self.points.iter().filter(|it| it.line == line);
        let calls: Vec<WovenCall> =
            here.filter_map(|point| call(point, &self.scopes, it.span())).collect();
        if calls.is_empty() {
            return;
        }
        let mut open: String = calls.iter().map(probe).collect();
        open.push('(');
        self.out.put(first.start, open);
        self.out.put(first.end, ")".to_owned());
        self.calls.extend(calls);
    }

    /// Whether nothing but space stands before it on its line: V8 binds a line to the first thing on it.
    fn is_first_on_line(&self, span: Span) -> bool {
        let (_, column) = self.lines.place(span.start);
        let begins = span.start.saturating_sub(column.saturating_sub(1)) as usize;
        let before = self.text.get(begins..span.start as usize);
        before.is_some_and(|it| it.chars().all(char::is_whitespace))
    }

    fn finish(self, given: SourceText<'_>) -> Result<Woven, LeftAlone> {
        if self.calls.is_empty() {
            return Err(LeftAlone::Nothing);
        }
        let (text, places) = self.out.apply(self.text);
        let pieces = pieces(self.text, &self.lines, &places);
        let allocator = Allocator::default();
        let again = SourceText { text: &text, ..given };
        let parsed = Parser::new(&allocator, &text, source_type(again))
            .with_options(options(given.goal))
            .parse();
        // `await` where there is none, a private name of another class: as a whole it is no text any more.
        if parsed.panicked || !parsed.diagnostics.is_empty() {
            return Err(LeftAlone::Syntax);
        }
        Ok(Woven { text, pieces, places, calls: self.calls })
    }
}

impl<'a> Visit<'a> for Weaver<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        walk::walk_program(self, it);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.statement(it);
        walk::walk_statement(self, it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.scopes.skips(it.scope_id.get());
        walk::walk_switch_statement(self, it);
    }

    // A name inside of it may be the object's, and so may ours.
    fn visit_with_statement(&mut self, _: &WithStatement<'a>) {}

    fn enter_scope(&mut self, _: ScopeFlags, scope_id: &Cell<Option<ScopeId>>) {
        self.scopes.enter(scope_id.get());
    }

    fn leave_scope(&mut self) {
        self.scopes.leave();
    }
}

/// A point as a call before this statement; none, where what it names may not be there.
fn call(point: &WovenPoint, scopes: &Scopes<'_>, before: Span) -> Option<WovenCall> {
    let mut names = Vec::new();
    let mut of = |text: &String| Reads::of(text)?.at(scopes, before, &mut names);
    let condition = match &point.condition {
        Some(it) => Some(of(it)?),
        None => None,
    };
    let expressions = point.expressions.iter().map(of).collect::<Option<_>>()?;
    Some(WovenCall { id: point.id, names, condition, expressions })
}

fn probe(call: &WovenCall) -> String {
    let given: String =
        call.names.iter().map(|it| format!(",{}", crate::reads::given(it))).collect();
    format!("{PROBE}({}{given})||", call.id)
}

/// What a statement evaluates before all else, where a probe may stand before that and nothing changes.
fn evaluates(it: &Statement<'_>) -> Option<Span> {
    match it {
        Statement::ExpressionStatement(it) => Some(it.expression.span()),
        Statement::ReturnStatement(it) => it.argument.as_ref().map(|it| it.span()),
        Statement::ThrowStatement(it) => Some(it.argument.span()),
        Statement::IfStatement(it) => Some(it.test.span()),
        Statement::SwitchStatement(it) => Some(it.discriminant.span()),
        Statement::VariableDeclaration(it) => declares(it),
        _ => None,
    }
}

fn declares(it: &VariableDeclaration<'_>) -> Option<Span> {
    let is_known = matches!(
        it.kind,
        VariableDeclarationKind::Var
            | VariableDeclarationKind::Let
            | VariableDeclarationKind::Const
    );
    let init = it.declarations.first()?.init.as_ref().filter(|_| is_known && !it.declare)?;
    // A function without a name gets the variable's, and only where it stands alone.
    let is_named = matches!(
        init.without_parentheses(),
        Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_)
    );
    (!is_named).then(|| init.span())
}

/// The pieces as lines and columns, read from the list of their places.
fn pieces(text: &str, lines: &Lines, places: &str) -> Vec<WovenPiece> {
    let mut numbers = places.split(',').filter_map(|it| it.parse::<u32>().ok());
    let mut units = 0_u32;
    let mut walk = text.char_indices();
    let (mut byte, mut counted) = (0_usize, 0_u32);
    let mut all = Vec::new();
    while let (Some(distance), Some(length)) = (numbers.next(), numbers.next()) {
        units = units.saturating_add(distance);
        while counted < units {
            let Some((at, character)) = walk.next() else { break };
            counted = counted.saturating_add(u32::try_from(character.len_utf16()).unwrap_or(1));
            byte = at + character.len_utf8();
        }
        let offset = u32::try_from(byte).unwrap_or(u32::MAX);
        let (line, column) = lines.place(offset);
        let begins = byte.saturating_sub(column.saturating_sub(1) as usize);
        let before = text.get(begins..byte).unwrap_or_default().encode_utf16().count();
        let column = u32::try_from(before).unwrap_or(u32::MAX);
        all.push(WovenPiece { offset: units, line: line.saturating_sub(1), column, length });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: u64, line: u32, expression: &str) -> WovenPoint {
        WovenPoint { id, line, condition: None, expressions: vec![expression.to_owned()] }
    }

    fn woven(text: &str, points: &[WovenPoint]) -> Result<Woven, LeftAlone> {
        weave(SourceText { text, goal: Goal::CommonJs, typescript: false, jsx: false }, points)
    }

    /// Line 2 of a function's body, with a point that shows `n`.
    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let text = format!("async function* f(n, o) {{\n  {line}\n}}\n");
        let found = woven(&text, &[point(7, 2, "n")]);
        let shown = found.as_ref().ok().and_then(|it| it.text.lines().nth(1)).map(str::trim);
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn a_probe_is_the_first_thing_that_a_statement_does() {
        check("return n;", Some("return $hpt(7,n)||(n);"));
        check("o.x = n, n++;", Some("$hpt(7,n)||(o.x = n, n++);"));
        check("await n", Some("$hpt(7,n)||(await n)"));
        check("yield n", Some("$hpt(7,n)||(yield n)"));
        check("throw n;", Some("throw $hpt(7,n)||(n);"));
        check("if (n) o();", Some("if ($hpt(7,n)||(n)) o();"));
        check("switch (n) {}", Some("switch ($hpt(7,n)||(n)) {}"));
        check("const a = n, b = 2;", Some("const a = $hpt(7,n)||(n), b = 2;"));
        check("const { a } = o;", Some("const { a } = $hpt(7,n)||(o);"));
    }

    #[test]
    fn what_would_not_be_the_same_is_left() {
        for line in [
            "return;",
            "const a = () => n;",
            "let a = (function () {});",
            "let a;",
            "for (let i = 0; i < n; i++) o();",
            "while (n) o();",
            "do o(); while (n)",
            "{ o(); }",
            "try { o(); } catch {}",
            "/* a */ o();",
            "break_: o();",
            "class A {}",
            "function g() {}",
            "with (o) { n; }",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn an_expression_is_one_and_nothing_more() {
        let text = "const n = f();\n";
        for bad in ["", "n) || (n", "n // n", "n /* n", "a\nb", "n; m", "await n", "$hpt(1)", "}"] {
            assert!(woven(text, &[point(1, 1, bad)]).is_err(), "{bad}");
        }
        let condition = Some("m => 1".to_owned());
        let expressions = vec!["a, b".to_owned(), "{ a: 1 }".to_owned()];
        let points = [WovenPoint { id: 1, line: 1, condition, expressions }];
        let made = woven(text, &points).unwrap();
        assert_eq!(made.text, "const n = $hpt(1)||(f());\n");
        assert_eq!(made.calls[0].expressions, ["a, b", "{ a: 1 }"]);
    }

    #[test]
    fn pieces_say_where_they_are() {
        let text = "'é𝒳'; g();\n 'é𝒳'.f(\n  n,\n);\n";
        let made = woven(text, &[point(1, 2, "n"), point(2, 2, "n")]).unwrap();
        assert_eq!(made.calls.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 2]);
        let at = |it: &WovenPiece| (it.line, it.column, it.length);
        let open = "$hpt(1)||".len() as u32 * 2 + 1;
        assert_eq!(made.pieces.iter().map(at).collect::<Vec<_>>(), [(1, 1, open), (3, 1, 1)]);
        assert_eq!(made.pieces[0].offset, 13);
        assert_eq!(made.text.lines().count(), text.lines().count());
    }

    #[test]
    fn a_text_that_says_otherwise_is_left_alone() {
        let points = [point(1, 1, "n")];
        assert_eq!(woven("f($hpt);", &points), Err(LeftAlone::Taken));
        assert_eq!(woven("f();\n//# sourceMappingURL=a.map", &points), Err(LeftAlone::Taken));
        assert_eq!(woven("f(;", &points), Err(LeftAlone::Syntax));
        assert_eq!(woven("import 'a';", &points), Err(LeftAlone::Syntax));
        assert_eq!(woven("\nf();", &points), Err(LeftAlone::Nothing));
    }
}
