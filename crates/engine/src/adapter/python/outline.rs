//! The functions of a Python source, told by its text alone.

use crate::language::Outlined;

/// A statement of Python, which may go over several lines.
struct Statement<'a> {
    line: u32,
    indent: usize,
    text: &'a str,
}

pub(super) fn outline(text: &str) -> Vec<Outlined> {
    let mut found: Vec<Outlined> = Vec::new();
    // What is open here: indentation, name, and the function's place in `found`.
    let mut inside: Vec<(usize, String, Option<usize>)> = Vec::new();
    for Statement { line, indent, text } in statements(text) {
        while inside.last().is_some_and(|(outer, ..)| *outer >= indent) {
            inside.pop();
        }
        for at in inside.iter().filter_map(|(.., at)| *at) {
            if let Some(around) = found.get_mut(at) {
                around.last = line;
            }
        }
        if let Some(own) = inside.last().and_then(|(.., at)| *at).and_then(|at| found.get_mut(at)) {
            let is_docstring = own.lines.is_empty() && is_string(text);
            if !is_docstring {
                own.lines.push(line);
            }
        }
        let Some((is_function, name)) = defined(text) else { continue };
        let names = inside.iter().map(|(_, name, _)| name.as_str()).chain([name]);
        let path = names.collect::<Vec<_>>().join(".");
        let at = is_function.then_some(found.len());
        if is_function {
            let (head, lines) = (line, Vec::new());
            found.push(Outlined { name: path, head, body: head, last: head, lines });
        }
        inside.push((indent, name.to_owned(), at));
    }
    for it in &mut found {
        it.body = it.lines.first().copied().unwrap_or(it.head);
    }
    found
}

/// Whether a statement defines a function or a class, and its name.
fn defined(text: &str) -> Option<(bool, &str)> {
    let rest = text.strip_prefix("async ").map_or(text, str::trim_start);
    let (is_function, rest) = match (rest.strip_prefix("def "), rest.strip_prefix("class ")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return None,
    };
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty()).map(|name| (is_function, name))
}

fn is_string(text: &str) -> bool {
    text.trim_start_matches(|it: char| "rRuUbB".contains(it)).starts_with(['"', '\''])
}

/// The statements of a text, by where each begins.
fn statements(text: &str) -> Vec<Statement<'_>> {
    let mut all = Vec::new();
    let mut state = Scan::default();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let begins = state.begins_statement();
        let content = line.trim_start();
        if begins && !content.is_empty() && !content.starts_with('#') {
            let margin = line.get(..line.len() - content.len()).unwrap_or_default();
            let indent = margin.chars().map(|it| if it == '\t' { 8 } else { 1 }).sum();
            all.push(Statement { line: number, indent, text: content });
        }
        state.line(line);
    }
    all
}

/// What is open at the end of a line.
#[derive(Default)]
struct Scan {
    depth: usize,
    /// The quote of a string over several lines.
    quote: Option<char>,
    continues: bool,
}

impl Scan {
    fn begins_statement(&self) -> bool {
        self.depth == 0 && self.quote.is_none() && !self.continues
    }

    fn line(&mut self, line: &str) {
        let chars: Vec<char> = line.chars().collect();
        let is_triple =
            |at: usize, quote: char| (at..at + 3).all(|it| chars.get(it) == Some(&quote));
        let mut at = 0;
        // The quote of a string that ends on this line.
        let mut short: Option<char> = None;
        while let Some(it) = chars.get(at).copied() {
            match (short, self.quote, it) {
                (Some(_), _, '\\') | (_, Some(_), '\\') => at += 1,
                (Some(quote), ..) if it == quote => short = None,
                (Some(_), ..) => {}
                (None, Some(quote), _) if is_triple(at, quote) => {
                    self.quote = None;
                    at += 2;
                }
                (None, Some(_), _) => {}
                (None, None, '#') => break,
                (None, None, '"' | '\'') if is_triple(at, it) => {
                    self.quote = Some(it);
                    at += 2;
                }
                (None, None, '"' | '\'') => short = Some(it),
                (None, None, '(' | '[' | '{') => self.depth += 1,
                (None, None, ')' | ']' | '}') => self.depth = self.depth.saturating_sub(1),
                (None, None, _) => {}
            }
            at += 1;
        }
        self.continues = self.quote.is_none() && chars.last() == Some(&'\\');
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn python_functions_have_a_head_a_body_and_an_end() {
        check(
            &outline(
                "import os\n\
                 class Cart:\n    \
                     @property\n    \
                     def total(\n            self,\n    ):\n        \
                         \"\"\"The sum.\n\n        def no(): pass\n        \"\"\"\n        \
                         # A comment.\n        \
                         x = [1,\n             2]\n        \
                         def inner(): return 1\n        \
                         return sum(x)\n\n\
                 async def later(): await go('(')\n\
                 print('#', later)  # def no():\n",
            ),
            expect![[r#"
                Cart.total 4 body 12 to 15 [12, 14, 15]
                Cart.total.inner 14 body 14 to 14 []
                later 17 body 17 to 17 []"#]],
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(source in "[a-z(){}\\[\\]=:'\"#\n\\\\ ]{0,200}") {
            drop(outline(&source));
        }
    }

    #[track_caller]
    fn check(functions: &[Outlined], expected: expect_test::Expect) {
        let told = |it: &Outlined| {
            let Outlined { name, head, body, last, lines } = it;
            format!("{name} {head} body {body} to {last} {lines:?}")
        };
        expected.assert_eq(&functions.iter().map(told).collect::<Vec<_>>().join("\n"));
    }
}
