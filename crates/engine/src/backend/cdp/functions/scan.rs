//! The functions of a source text, by name, with the place where each begins to run. Pure.

use std::collections::HashMap;

use super::super::tokens::{At, Kind, Token, tokens};

/// A function that has a name, or was given one by what it was assigned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name, after the names of what it is in.
    pub(super) path: Vec<String>,
    /// Where its text begins.
    pub(super) head: At,
    /// Its first statement, or what it returns.
    pub(super) body: At,
    /// The line of its last brace.
    pub(super) last: u32,
}

impl Function {
    pub(super) fn is_named(&self, wanted: &str) -> bool {
        let wanted: Vec<&str> = wanted.split('.').filter(|it| !is_nothing(it)).collect();
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        !wanted.is_empty() && path.ends_with(&wanted)
    }
}

pub(super) fn functions(source: &str) -> Vec<Function> {
    let tokens = tokens(source);
    let mut scan = Scan {
        pairs: pairs(&tokens),
        tokens: &tokens,
        inside: Vec::new(),
        named: HashMap::new(),
        found: Vec::new(),
    };
    for at in 0..tokens.len() {
        scan.token(at);
    }
    scan.found
}

struct Scan<'a> {
    tokens: &'a [Token],
    /// The other one of each pair of brackets.
    pairs: HashMap<usize, usize>,
    /// What the braces that are open here belong to.
    inside: Vec<Vec<String>>,
    /// What braces further on belong to.
    named: HashMap<usize, Vec<String>>,
    found: Vec<Function>,
}

/// Words before a bracket that are no method's name.
const KEYWORDS: &[&str] = &[
    "if", "for", "while", "switch", "catch", "with", "function", "return", "await", "typeof",
    "new", "do", "else", "delete", "void", "yield", "throw", "case", "import", "super",
];

impl Scan<'_> {
    fn token(&mut self, at: usize) {
        match self.kind(at) {
            Some(Kind::Mark('{')) => {
                let name = self.named.remove(&at).or_else(|| self.assigned(at));
                self.inside.push(name.unwrap_or_default());
            }
            Some(Kind::Mark('}')) => drop(self.inside.pop()),
            Some(Kind::Arrow) => self.arrow(at),
            Some(Kind::Word(word)) if word == "function" => self.function(at),
            Some(Kind::Word(word)) if word == "class" && !self.is_mark(at + 1, ':') => {
                self.class(at);
            }
            Some(Kind::Word(word)) if !KEYWORDS.contains(&word.as_str()) => {
                let name = word.trim_start_matches('#').to_owned();
                self.method(at, name);
            }
            Some(Kind::Text(text)) => self.method(at, text.clone()),
            _ => {}
        }
    }

    fn function(&mut self, at: usize) {
        let mut next = at + 1;
        if self.is_mark(next, '*') {
            next += 1;
        }
        let own = match self.kind(next) {
            Some(Kind::Word(word)) => {
                next += 1;
                Some(vec![word.clone()])
            }
            _ => None,
        };
        let is_async = self.is_word(at.wrapping_sub(1), "async");
        let given = self.assigned(at.saturating_sub(usize::from(is_async)));
        let Some(open) = self.body(self.generics(next)) else { return };
        for name in [own, given].into_iter().flatten() {
            self.takes(name, at, open);
        }
    }

    fn class(&mut self, at: usize) {
        let name = match self.kind(at + 1) {
            Some(Kind::Word(word)) if word != "extends" => Some(vec![word.clone()]),
            _ => self.assigned(at),
        };
        let mut next = at + 1;
        while let Some(kind) = self.kind(next) {
            match kind {
                Kind::Mark('{') => {
                    self.named.insert(next, name.unwrap_or_default());
                    return;
                }
                Kind::Mark('(') => next = self.pairs.get(&next).copied().unwrap_or(next),
                Kind::Mark(';' | '}' | ')') => return,
                _ => {}
            }
            next += 1;
        }
    }

    fn method(&mut self, at: usize, name: String) {
        let before = at.checked_sub(1).and_then(|it| self.kind(it));
        let is_call = match before {
            Some(Kind::Mark('.')) => true,
            Some(Kind::Mark('*')) => self.is_word(at.wrapping_sub(2), "function"),
            Some(Kind::Word(word)) => word == "new" || word == "function" || word == "class",
            _ => false,
        };
        if is_call {
            return;
        }
        // A brace that is a class's already belongs to `class A extends mixin(B) {`.
        let open = self.body(self.generics(at + 1)).filter(|it| !self.named.contains_key(it));
        if let Some(open) = open {
            self.takes(vec![name], at, open);
        }
    }

    fn arrow(&mut self, at: usize) {
        let Some(start) = self.parameters(at) else { return };
        let is_async = start > 0 && self.is_word(start - 1, "async");
        let name = self.assigned(start - usize::from(is_async));
        let Some(name) = name else { return };
        match self.tokens.get(at + 1) {
            Some(Token { kind: Kind::Mark('{'), .. }) => self.takes(name, start, at + 1),
            Some(body) => {
                let (path, body) = (self.path(&name), body.at);
                let head = self.tokens.get(start).map_or(body, |it| it.at);
                self.found.push(Function { path, head, body, last: body.line });
            }
            None => {}
        }
    }

    /// Where the parameters before an arrow begin; a type may stand between.
    fn parameters(&self, arrow: usize) -> Option<usize> {
        let mut at = arrow.checked_sub(1)?;
        if matches!(self.kind(at)?, Kind::Word(_)) && !self.is_mark(at.wrapping_sub(1), ':') {
            return Some(at);
        }
        for _ in 0..40 {
            match self.kind(at)? {
                Kind::Mark(')') => {
                    let open = *self.pairs.get(&at)?;
                    return Some(self.generics_before(open));
                }
                Kind::Mark('=' | ';' | '{' | '(') => return None,
                _ => at = at.checked_sub(1)?,
            }
        }
        None
    }

    /// A function: its body begins behind the brace.
    fn takes(&mut self, name: Vec<String>, begin: usize, open: usize) {
        if let Some(first) = self.tokens.get(self.first_statement(open + 1)) {
            let (path, body) = (self.path(&name), first.at);
            let head = self.tokens.get(begin).map_or(body, |it| it.at);
            let close = self.pairs.get(&open).and_then(|it| self.tokens.get(*it));
            let last = close.map_or(body.line, |it| it.at.line);
            self.found.push(Function { path, head, body, last });
        }
        self.named.insert(open, name);
    }

    /// Past functions that are only declared: V8 would take their first statement for the one meant.
    fn first_statement(&self, mut at: usize) -> usize {
        loop {
            let declares = at + usize::from(self.is_word(at, "async"));
            if !self.is_word(declares, "function") {
                return at;
            }
            let name = declares + 1 + usize::from(self.is_mark(declares + 1, '*'));
            let open = self.body(self.generics(name + 1));
            match open.and_then(|open| self.pairs.get(&open)) {
                Some(close) => at = close + 1,
                None => return at,
            }
        }
    }

    fn path(&self, name: &[String]) -> Vec<String> {
        self.inside.iter().flatten().chain(name).cloned().collect()
    }

    /// The brace of a body, if parameters begin here; a type may stand between.
    fn body(&self, open: usize) -> Option<usize> {
        if !self.is_mark(open, '(') {
            return None;
        }
        let mut at = self.pairs.get(&open)? + 1;
        if self.is_mark(at, '{') {
            return Some(at);
        }
        if !self.is_mark(at, ':') {
            return None;
        }
        for _ in 0..60 {
            at += 1;
            match self.kind(at)? {
                Kind::Mark('{') => {
                    let is_type =
                        matches!(self.kind(at - 1), Some(Kind::Mark(':' | '|' | '&' | '<' | ',')));
                    if !is_type {
                        return Some(at);
                    }
                    at = *self.pairs.get(&at)?;
                }
                Kind::Mark('(' | '[') => at = *self.pairs.get(&at)?,
                Kind::Mark(';' | '}' | ')' | '=') => return None,
                _ => {}
            }
        }
        None
    }

    /// Behind `<T>`, if it is there: `index < limit) { … }` is none.
    fn generics(&self, begin: usize) -> usize {
        if !self.is_mark(begin, '<') {
            return begin;
        }
        let mut at = begin + 1;
        for _ in 0..40 {
            match self.kind(at) {
                Some(Kind::Mark('>')) if self.is_mark(at + 1, '(') => return at + 1,
                Some(Kind::Mark('(' | '[' | '{')) => match self.pairs.get(&at) {
                    Some(close) => at = *close,
                    None => return begin,
                },
                None | Some(Kind::Mark(')' | ']' | '}' | ';')) => return begin,
                _ => {}
            }
            at += 1;
        }
        begin
    }

    fn generics_before(&self, open: usize) -> usize {
        match open.checked_sub(1) {
            Some(end) if self.is_mark(end, '>') => {
                let begins = (end.saturating_sub(40)..end).rev().find(|it| self.is_mark(*it, '<'));
                begins.unwrap_or(open)
            }
            _ => open,
        }
    }

    /// The name of what the value that begins here is given to.
    fn assigned(&self, at: usize) -> Option<Vec<String>> {
        let sign = at.checked_sub(1)?;
        match self.kind(sign)? {
            Kind::Mark(':') => match self.kind(sign.checked_sub(1)?)? {
                // `const f: (x) => y` is a type.
                Kind::Word(_) if self.is_declared(sign - 1) => None,
                Kind::Word(word) | Kind::Text(word) => Some(vec![word.clone()]),
                _ => None,
            },
            Kind::Mark('=') => self.declared(sign).or_else(|| self.dotted(sign)),
            _ => None,
        }
    }

    fn is_declared(&self, at: usize) -> bool {
        ["const", "let", "var"].iter().any(|it| self.is_word(at.wrapping_sub(1), it))
    }

    /// `const name: Type =`
    fn declared(&self, sign: usize) -> Option<Vec<String>> {
        let mut at = sign;
        for _ in 0..40 {
            at = at.checked_sub(1)?;
            match self.kind(at)? {
                Kind::Word(word) if matches!(word.as_str(), "const" | "let" | "var") => {
                    return match self.kind(at + 1)? {
                        Kind::Word(name) => Some(vec![name.clone()]),
                        _ => None,
                    };
                }
                Kind::Mark(';' | '{' | '}' | '=') => return None,
                _ => {}
            }
        }
        None
    }

    /// `Cart.prototype.total =`
    fn dotted(&self, sign: usize) -> Option<Vec<String>> {
        let mut at = sign.checked_sub(1)?;
        let mut names = Vec::new();
        while let Some(Kind::Word(word)) = self.kind(at) {
            if !is_nothing(word) {
                names.insert(0, word.trim_start_matches('#').to_owned());
            }
            match at.checked_sub(2) {
                Some(before) if self.is_mark(at - 1, '.') => at = before,
                _ => break,
            }
        }
        (!names.is_empty()).then_some(names)
    }

    fn kind(&self, at: usize) -> Option<&Kind> {
        self.tokens.get(at).map(|it| &it.kind)
    }

    fn is_mark(&self, at: usize, mark: char) -> bool {
        self.kind(at) == Some(&Kind::Mark(mark))
    }

    fn is_word(&self, at: usize, wanted: &str) -> bool {
        matches!(self.kind(at), Some(Kind::Word(word)) if word == wanted)
    }
}

/// Parts of a path that nobody says.
fn is_nothing(name: &str) -> bool {
    matches!(name, "prototype" | "exports" | "module" | "this" | "globalThis")
}

fn pairs(tokens: &[Token]) -> HashMap<usize, usize> {
    let mut pairs = HashMap::new();
    let mut open: Vec<(char, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Mark(mark) = token.kind else { continue };
        let closes = match mark {
            '(' | '[' | '{' => {
                open.push((mark, at));
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        // One that closes nothing closes nothing else either.
        let begins = open.iter().rposition(|(it, _)| *it == closes);
        if let Some((_, begin)) = begins.and_then(|begins| open.drain(begins..).next()) {
            pairs.insert(begin, at);
            pairs.insert(at, begin);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Expect) {
        let found = functions(source);
        let lines: Vec<String> = found
            .iter()
            .map(|it| format!("{} {}:{}", it.path.join("."), it.body.line, it.body.column))
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn functions_of_all_kinds_are_found() {
        check(
            "function total(a, b) { return a }\n\
             async function* later() {\n  yield 1\n}\n\
             const add = (a, b) => a + b;\n\
             let twice = async x => {\n  return 2 * x };\n\
             exports.run = function () { go() };\n\
             Cart.prototype.sum = function sum2(x) { return x }\n\
             module.exports = { one() { return 1 }, two: () => 2, 'three'() { x() } };",
            expect![[r#"
                total 1:24
                later 3:3
                add 5:23
                twice 7:3
                run 8:29
                sum2 9:41
                Cart.sum 9:41
                one 10:28
                two 10:51
                three 10:66"#]],
        );
    }

    #[test]
    fn classes_and_what_is_inside_of_functions_have_paths() {
        check(
            "class Cart extends mixin(Base) {\n  #secret() { hide() }\n  static async of(x) { return x }\n  \
             get size() { return 1 }\n  handler = () => { this.x() };\n}\n\
             function outer() { function inner() { a() } return inner() }",
            expect![[r#"
                Cart.secret 2:15
                Cart.of 3:24
                Cart.size 4:16
                Cart.handler 5:21
                outer 7:45
                outer.inner 7:39"#]],
        );
    }

    #[test]
    fn types_do_not_hide_functions() {
        check(
            "function total<T extends {a: 1}>(items: T[], by: {x: number}): number {\n  return 1\n}\n\
             const pick = <T>(x: T): T => x;\n\
             const f: (x: number) => number = (x) => x;\n\
             function shape(): { a: number } { return { a: 1 } }\n\
             abstract class A { abstract no(): void; yes(): Map<string, number> { return m } }",
            expect![[r#"
                total 2:3
                pick 4:30
                f 5:41
                shape 6:35
                A.yes 7:70"#]],
        );
    }

    #[test]
    fn what_only_looks_like_code_is_not_taken_for_it() {
        check(
            "// function no() {}\n/* class No { no() {} } */\n\
             const text = 'function no() {}', re = /function no\\(\\) {/g, t = `${() => { x() }} no() {`;\n\
             if (a) { b() } else if (c) { d() }\nfor (const x of y) { z() }\ncall(x);\n\
             new Thing(x)\nconst half = a / b; const other = () => half / 2;\n\
             if (is && index < limit) {\n  obj = [];\n} else if (is) {\n  throw new RangeError('x');\n} else if (no(1)) {\n  y();\n}",
            expect!["other 8:41"],
        );
    }

    #[test]
    fn a_name_matches_the_end_of_a_path() {
        let found = functions("class Cart { total() { return 1 } }");
        let total = found.first().unwrap();
        for name in ["total", "Cart.total", "Cart.prototype.total"] {
            assert!(total.is_named(name), "{name}");
        }
        for name in ["Cart", "tota", "x.total", ""] {
            assert!(!total.is_named(name), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(source in "[a-z(){}\\[\\]=>:;,.'\"`/*$#\n\\\\ <]{0,200}") {
            drop(functions(&source));
        }
    }
}
