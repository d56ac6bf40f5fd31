//! Names that are declared and not assigned yet. Pure.
//!
//! V8 clears such a variable only where it cannot prove that nobody reads it too early, so in a loop it shows,
//! and evaluates to, the value of the round before. Where it is declared tells the truth: a `let`, `const` or
//! `class` has no value before the end of its declaration in the same block.

use std::collections::BTreeMap;

use super::tokens::{At, Kind, Token};

/// What of the text a scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A module: everything.
    Whole,
    /// A function: from its parameters on, its body counts.
    Function(At),
    /// A block or the head of a loop: what stands in the brackets that begin there.
    Block(At),
}

/// The names that a scope declares, and whether each is assigned when the program stands at `at`.
pub(super) fn declared(tokens: &[Token], extent: Extent, at: At) -> BTreeMap<String, bool> {
    let inside = match extent {
        Extent::Whole => tokens,
        Extent::Function(start) => group(after(tokens, start), is_brace),
        Extent::Block(start) => match after(tokens, start) {
            all @ [first, ..] if is_mark(first, '(') => group(all, |it| is_mark(it, '(')),
            all => group(all, is_brace),
        },
    };
    let mut scan = Scan { tokens: inside, at, found: BTreeMap::new() };
    scan.run();
    scan.found
}

fn after(tokens: &[Token], start: At) -> &[Token] {
    let first = tokens.partition_point(|it| it.at < start);
    tokens.get(first..).unwrap_or_default()
}

/// What is between the first bracket of that kind, outside of others, and its end.
fn group(tokens: &[Token], wanted: impl Fn(&Token) -> bool) -> &[Token] {
    let mut depth = 0_usize;
    for (number, token) in tokens.iter().enumerate() {
        if depth == 0 && wanted(token) {
            let end = closing(tokens, number);
            return tokens.get(number + 1..end).unwrap_or_default();
        }
        match token.kind {
            Kind::Mark('(' | '[' | '{') => depth += 1,
            Kind::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    &[]
}

/// Where the bracket ends that begins there.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (number, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Mark('(' | '[' | '{') => depth += 1,
            Kind::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return number;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

struct Scan<'a> {
    tokens: &'a [Token],
    at: At,
    found: BTreeMap<String, bool>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut next = 0;
        while let Some(token) = self.tokens.get(next) {
            next = match &token.kind {
                Kind::Mark('(' | '[' | '{') => closing(self.tokens, next) + 1,
                Kind::Word(word) if word == "const" || word == "let" => self.declarations(next + 1),
                Kind::Word(word) if word == "class" && self.begins(next) => self.class(next),
                _ => next + 1,
            };
        }
    }

    /// `a = 1, {b, c: [d]} = e;`
    fn declarations(&mut self, first: usize) -> usize {
        let mut next = first;
        loop {
            let mut names = Vec::new();
            match self.tokens.get(next).map(|it| &it.kind) {
                Some(Kind::Word(name)) => {
                    names.push(name.clone());
                    next += 1;
                }
                Some(Kind::Mark('{' | '[')) => next = self.pattern(next, &mut names),
                _ => return next,
            }
            if self.tokens.get(next).is_some_and(|it| is_mark(it, '=')) {
                next = self.expression(next + 1);
            }
            self.take(names, next);
            match self.tokens.get(next) {
                Some(token) if is_mark(token, ',') => next += 1,
                _ => return next,
            }
        }
    }

    fn class(&mut self, at: usize) -> usize {
        let name = match self.tokens.get(at + 1).map(|it| &it.kind) {
            Some(Kind::Word(name)) if name != "extends" => vec![name.clone()],
            _ => Vec::new(),
        };
        let rest = self.tokens.get(at..).unwrap_or_default();
        let body = rest.iter().position(is_brace).map_or(self.tokens.len(), |it| at + it);
        let end = closing(self.tokens, body);
        self.take(name, end);
        end + 1
    }

    /// A declaration ends where this token begins.
    fn take(&mut self, names: Vec<String>, end: usize) {
        let is_assigned = self.tokens.get(end).is_some_and(|end| end.at <= self.at)
            || (end >= self.tokens.len() && self.tokens.last().is_some_and(|it| it.at < self.at));
        self.found.extend(names.into_iter().map(|name| (name, is_assigned)));
    }

    /// The names that a pattern binds; where it ends.
    fn pattern(&self, open: usize, names: &mut Vec<String>) -> usize {
        let is_object = self.tokens.get(open).is_some_and(is_brace);
        let end = closing(self.tokens, open);
        let mut next = open + 1;
        while next < end {
            let is_key =
                |at: usize| is_object && self.tokens.get(at + 1).is_some_and(|it| is_mark(it, ':'));
            next = match self.tokens.get(next).map(|it| &it.kind) {
                Some(Kind::Mark('=')) => self.expression(next + 1),
                // A key that is computed.
                Some(Kind::Mark('[')) if is_key(closing(self.tokens, next)) => {
                    closing(self.tokens, next) + 2
                }
                Some(Kind::Mark('{' | '[')) => self.pattern(next, names),
                Some(_) if is_key(next) => next + 2,
                Some(Kind::Word(name)) => {
                    names.push(name.clone());
                    next + 1
                }
                _ => next + 1,
            };
        }
        end + 1
    }

    /// Where an expression ends: at a comma, a semicolon, a bracket of what it is in, or with its line where
    /// what follows cannot go on.
    fn expression(&self, first: usize) -> usize {
        let mut next = first;
        while let Some(token) = self.tokens.get(next) {
            match token.kind {
                Kind::Mark(',' | ';' | ')' | ']' | '}') => return next,
                _ if next > first && self.breaks(next) => return next,
                Kind::Mark('(' | '[' | '{') => next = closing(self.tokens, next) + 1,
                _ => next += 1,
            }
        }
        next
    }

    /// Whether a statement ends before this token, which is on a new line.
    fn breaks(&self, at: usize) -> bool {
        let (Some(token), Some(before)) = (self.tokens.get(at), self.tokens.get(at - 1)) else {
            return false;
        };
        let goes_on = ["in", "instanceof", "of", "as", "satisfies"];
        let begins = match &token.kind {
            Kind::Word(word) => !goes_on.contains(&word.as_str()),
            Kind::Text(_) | Kind::Mark('{' | '!' | '~' | '@' | '#') => true,
            Kind::Mark(_) | Kind::Arrow | Kind::Value => false,
        };
        token.at.line > before.at.line && begins && is_operand(before)
    }

    /// Whether a statement begins here.
    fn begins(&self, at: usize) -> bool {
        let before =
            at.checked_sub(1).and_then(|it| Some((self.tokens.get(it)?, self.tokens.get(at)?)));
        before.is_none_or(|(before, token)| match &before.kind {
            Kind::Mark(';' | '}' | '{' | ':') => true,
            Kind::Word(word) if word == "export" || word == "default" => true,
            _ => token.at.line > before.at.line && is_operand(before),
        })
    }
}

/// What can end an expression.
fn is_operand(token: &Token) -> bool {
    const NEEDS_MORE: &[&str] = &[
        "typeof",
        "new",
        "await",
        "yield",
        "void",
        "delete",
        "in",
        "of",
        "instanceof",
        "async",
        "function",
        "class",
        "extends",
        "return",
        "case",
        "throw",
        "static",
        "get",
        "set",
    ];
    match &token.kind {
        Kind::Word(word) => !NEEDS_MORE.contains(&word.as_str()),
        Kind::Text(_) | Kind::Value | Kind::Mark(')' | ']' | '}') => true,
        Kind::Mark(_) | Kind::Arrow => false,
    }
}

fn is_brace(token: &Token) -> bool {
    is_mark(token, '{')
}

fn is_mark(token: &Token, mark: char) -> bool {
    token.kind == Kind::Mark(mark)
}

#[cfg(test)]
mod tests {
    use super::{super::tokens::tokens, *};

    /// The program stands at `¦`; the scope begins at `«`. What is not assigned there.
    #[track_caller]
    fn check(text: &str, extent: fn(At) -> Extent, expected: &[&str]) {
        let place = |mark: char| {
            let before = text.split(mark).next().unwrap().replace(['«', '¦'], "");
            let line = u32::try_from(before.matches('\n').count()).unwrap() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count();
            At { line, column: u32::try_from(column).unwrap() + 1 }
        };
        let tokens = tokens(&text.replace(['«', '¦'], ""));
        let found = declared(&tokens, extent(place('«')), place('¦'));
        let found: Vec<_> = found.into_iter().filter(|it| !it.1).map(|it| it.0).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_declared_further_on_is_not_assigned() {
        let block = Extent::Block;
        check(
            "for (;;) «{ ¦f(); const x = 1; let y, z = x; class K {} }",
            block,
            &["K", "x", "y", "z"],
        );
        check("«{ const x = ¦f(1); let y = 2; }", block, &["x", "y"]);
        check("«{ const x = f(1); let ¦y = 2; }", block, &["y"]);
        check("«{ const x = 1, y = ¦f(x), z = 3 }", block, &["y", "z"]);
        check("«{ const x = 1; { let y = 2 } ¦g(); if (a) { const b = 1 } }", block, &[]);
        check("«{ class K { m() { ¦f() } } const x = class { } }", block, &["K", "x"]);
    }

    #[test]
    fn lines_end_declarations_where_nothing_goes_on() {
        let block = Extent::Block;
        check("«{\n const x = a\n  .b()\n ¦const y = 2\n}", block, &["y"]);
        check("«{\n const x = a +\n  ¦b\n const y = 2\n}", block, &["x", "y"]);
        check("«{\n const f = async () => {\n  let inner = 1\n }\n ¦f()\n}", block, &[]);
        check("«{\n const t = `a\n b`\n ¦f()\n const u = 1 }", block, &["u"]);
        check("«{\n let a\n ¦a = 1\n let b\n}", block, &["b"]);
    }

    #[test]
    fn patterns_bind_names_and_not_keys_or_defaults() {
        let block = Extent::Block;
        let text = "«{ ¦f(); const { a, b: { c }, d = other, [key]: e, 'x y': g, ...rest } = h, [i, , j] = k; }";
        check(text, block, &["a", "c", "d", "e", "g", "i", "j", "rest"]);
    }

    #[test]
    fn functions_have_parameters_first_and_loops_heads() {
        check("function f«({ a } = {}, b) { ¦g(); let x = 1 }", Extent::Function, &["x"]);
        check("const f = «a => { ¦g(); let x = 1 }", Extent::Function, &["x"]);
        check("for «(const ¦x of xs) { const x = 2 }", Extent::Block, &["x"]);
        check("for «(const x of xs) { ¦const y = 2 }", Extent::Block, &[]);
        check(
            "«import a from 'b'\n¦f()\nexport const x = 1\nexport class K {}",
            |_| Extent::Whole,
            &["K", "x"],
        );
    }
}
