//! Mutants in a source file, each behind its switch. Pure: text in, text out.
//!
//! `a < b` becomes `(if crate::mutant_is_on("core-1") { a <= b } else { a < b })`. Several may stand at one
//! place or inside each other.

use std::ops::Range;

use anyhow::{Context, Result, bail};

use super::list::Mutant;

/// Names the mutant that is on, in the environment of the tests.
pub(super) const VARIABLE: &str = "HOLDPOINT_MUTANT";

/// What is added to the crate's root.
pub(super) const SWITCH: &str = r#"
pub(crate) fn mutant_is_on(name: &str) -> bool {
    static ON: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var("HOLDPOINT_MUTANT").ok());
    ON.as_deref() == Some(name)
}
"#;

/// A mutant and the name of its switch.
pub(super) struct Named<'a> {
    pub(super) name: String,
    pub(super) mutant: &'a Mutant,
}

#[derive(Debug)]
pub(super) struct Planted {
    pub(super) text: String,
    /// Where each mutant's place begins, in the order they were given.
    pub(super) lines: Vec<usize>,
}

struct Span<'a> {
    range: Range<usize>,
    name: &'a str,
    with: &'a str,
}

pub(super) fn plant(text: &str, mutants: &[Named]) -> Result<Planted> {
    let mut spans = Vec::new();
    let mut lines = Vec::new();
    for Named { name, mutant } in mutants {
        let range = place(text, mutant).with_context(|| format!("{name} (`{}`)", mutant.find))?;
        lines.push(text.get(..range.start).unwrap_or_default().matches('\n').count() + 1);
        spans.push(Span { range, name, with: &mutant.with });
    }
    // What contains others comes before them.
    spans.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
    Ok(Planted { text: render(text, 0..text.len(), &spans)?, lines })
}

fn place(text: &str, mutant: &Mutant) -> Result<Range<usize>> {
    let find = mutant.find.as_str();
    let start = match &mutant.after {
        None => once(text, find)?,
        Some(after) => {
            let begin = once(text, after)? + after.len();
            let rest = text.get(begin..).unwrap_or_default();
            begin + rest.find(find).with_context(|| format!("not found behind `{after}`"))?
        }
    };
    Ok(start..start + find.len())
}

fn once(text: &str, part: &str) -> Result<usize> {
    let first = text.find(part).with_context(|| format!("`{part}` is not found"))?;
    if text.rfind(part) != Some(first) {
        bail!("`{part}` is found several times: say behind what, with `after`");
    }
    Ok(first)
}

fn render(text: &str, whole: Range<usize>, spans: &[Span]) -> Result<String> {
    let part = |range: Range<usize>| text.get(range).context("a place within a character");
    let mut out = String::new();
    let (mut at, mut rest) = (whole.start, spans);
    while let Some(first) = rest.first() {
        let range = first.range.clone();
        let (here, others) = split_while(rest, |it| it.range == range);
        let (inside, behind) = split_while(others, |it| it.range.start < range.end);
        if let Some(other) = inside.iter().find(|it| it.range.end > range.end) {
            bail!("the places of {} and {} overlap", first.name, other.name);
        }
        out += part(at..range.start)?;
        let is_statement = part(range.clone())?.trim_end().ends_with(';');
        let original = render(text, range.clone(), inside)?;
        out += &switched(here, &original, is_statement);
        (at, rest) = (range.end, behind);
    }
    Ok(out + part(at..whole.end)?)
}

fn split_while<'a, 'b>(
    spans: &'a [Span<'b>],
    holds: impl Fn(&Span) -> bool,
) -> (&'a [Span<'b>], &'a [Span<'b>]) {
    let count = spans.iter().take_while(|it| holds(it)).count();
    spans.split_at_checked(count).unwrap_or((spans, &[]))
}

fn switched(mutants: &[Span], original: &str, is_statement: bool) -> String {
    let each = mutants.iter().map(|Span { name, with, .. }| {
        format!(r#"if crate::mutant_is_on("{name}") {{ {with} }} else "#)
    });
    let code = format!("{}{{ {original} }}", each.collect::<String>());
    if is_statement { code } else { format!("({code})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(after: Option<&str>, find: &str, with: &str) -> Mutant {
        Mutant {
            file: String::new(),
            after: after.map(str::to_owned),
            find: find.to_owned(),
            with: with.to_owned(),
            hurts: String::new(),
            excused: None,
        }
    }

    fn planted(text: &str, mutants: &[Mutant]) -> Result<Planted> {
        let named = |(index, mutant)| Named { name: format!("m{index}"), mutant };
        plant(text, &mutants.iter().enumerate().map(named).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(text: &str, mutants: &[Mutant], expected: &str) {
        let text = planted(text, mutants).unwrap().text;
        assert_eq!(text.replace("crate::mutant_is_on", "on"), expected);
    }

    #[test]
    fn an_expression_and_statements() {
        check(
            "if a < b { c(); }",
            &[mutant(None, "a < b", "a <= b"), mutant(None, "c();", "")],
            r#"if (if on("m0") { a <= b } else { a < b }) { if on("m1") {  } else { c(); } }"#,
        );
    }

    #[test]
    fn two_at_one_place_and_one_inside() {
        check(
            "f(a, b)",
            &[mutant(None, "b", "c"), mutant(None, "f(a, b)", "0"), mutant(None, "f(a, b)", "1")],
            r#"(if on("m1") { 0 } else if on("m2") { 1 } else { f(a, (if on("m0") { c } else { b })) })"#,
        );
    }

    #[test]
    fn a_place_is_the_only_one_or_the_first_behind_something() {
        let text = "fn a() { x }\nfn b() { x }";
        let planted = planted(text, &[mutant(Some("fn b"), "x", "y")]).unwrap();
        assert_eq!(planted.lines, [2]);
        assert!(planted.text.starts_with("fn a() { x }\nfn b() { (if"), "{}", planted.text);
    }

    #[test]
    fn what_cannot_be_planted_says_why() {
        let error =
            |mutants: &[Mutant]| format!("{:#}", planted("a + b + a", mutants).unwrap_err());
        assert!(error(&[mutant(None, "a", "c")]).contains("several times"));
        assert!(error(&[mutant(None, "d", "c")]).contains("not found"));
        assert!(error(&[mutant(Some("b"), "b", "c")]).contains("behind `b`"));
        let halves = [mutant(None, "a + b", "0"), mutant(None, "b + a", "0")];
        assert!(error(&halves).contains("m0 and m1 overlap"));
    }

    #[test]
    fn the_switch_listens_to_its_variable() {
        assert!(SWITCH.contains(VARIABLE));
    }
}
