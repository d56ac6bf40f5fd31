//! Lines of the answer, folded where they say the same, and as many as the budget takes.

use holdpoint_engine::budget::{self, Budget};

/// Bytes of one value in a line of many.
pub(super) const SHORT: usize = 100;
/// Bytes of a name in the head of a table.
const NAME: usize = 28;
/// What a cut leaves in a text.
const CUT: &str = " bytes …";

/// One line of the answer.
pub(super) struct Row {
    pub(super) text: String,
    /// The hits that it tells: from which to which.
    pub(super) hits: Option<(u64, u64)>,
    counts: bool,
    /// Whether a head above names its columns.
    is_table: bool,
}

impl Row {
    pub(super) fn head(text: String) -> Row {
        Row { text, hits: None, counts: false, is_table: false }
    }

    pub(super) fn hit(number: u64, text: String) -> Row {
        Row { text, hits: Some((number, number)), counts: true, is_table: false }
    }

    /// A hit below a head that names the columns.
    pub(super) fn cells(number: u64, text: String) -> Row {
        Row { is_table: true, ..Row::hit(number, text) }
    }

    pub(super) fn group(text: String) -> Row {
        Row { text, hits: None, counts: true, is_table: false }
    }

    fn line(&self) -> String {
        let rest = if self.text.is_empty() { String::new() } else { format!(" · {}", self.text) };
        let (one, many) = if self.is_table { ("", "") } else { ("hit ", "hits ") };
        match self.hits {
            None => self.text.clone(),
            Some((first, last)) if first == last => format!("{one}{first}{rest}"),
            Some((first, last)) => format!("{many}{first}–{last}{rest} (×{})", last - first + 1),
        }
    }
}

/// Hits in a row that say the same are one line.
pub(super) fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded: Vec<Row> = Vec::new();
    for row in rows {
        if let (Some(before), Some((first, last))) = (folded.last_mut(), row.hits)
            && let Some((begin, end)) = before.hits
            && before.text == row.text
            && end + 1 == first
        {
            before.hits = Some((begin, last));
            continue;
        }
        folded.push(row);
    }
    folded
}

/// Whether several threads or processes are among them: of one alone, nobody needs to be told each time.
pub(super) fn differ<'a>(mut all: impl Iterator<Item = Option<&'a str>>) -> bool {
    let first = all.next();
    all.any(|it| Some(it) != first)
}

/// A value on one line: a string of JavaScript's that has quotes inside stands in single ones, for escapes hide
/// what it says.
pub(super) fn plain(value: &str, bytes: usize) -> String {
    let is_escaped = value.starts_with('"') && value.contains("\\\"") && !value.contains('\'');
    let inner = is_escaped.then(|| serde_json::from_str::<String>(value).ok()).flatten();
    let value = match inner {
        Some(inner) => format!("'{}'", inner.replace('\\', "\\\\").replace('\n', "\\n")),
        None => value.to_owned(),
    };
    budget::cut(&value.replace('\n', "⏎").replace('\r', ""), bytes)
}

/// Bytes of one value in a line of many: a wider budget has room for more of each.
pub(super) fn short(budget: Budget) -> usize {
    SHORT.max(SHORT * budget.bytes() / Budget::default().bytes())
}

/// A value by itself, below its name; or what was thrown instead of one.
pub(super) fn cell(value: Result<&str, &str>, bytes: usize) -> String {
    match value {
        Ok(value) => plain(value, bytes),
        Err(error) => format!("→ {}", plain(error, bytes)),
    }
}

/// An expression's name in the head of a table: whoever asked knows it by its beginning.
pub(super) fn column(name: &str) -> String {
    let end = name.floor_char_boundary(NAME);
    match name.get(..end).filter(|_| name.len() > NAME + 1) {
        Some(begin) => format!("{begin}…"),
        None => name.to_owned(),
    }
}

/// `x = 3`, `nope → NameError: …`
pub(super) fn pair(name: &str, value: Result<&str, &str>, bytes: usize) -> String {
    match value {
        Ok(value) => format!("{name} = {}", plain(value, bytes)),
        Err(error) => format!("{name} → {}", plain(error, bytes)),
    }
}

/// As many lines as fit; what does not is counted in the last one.
pub(super) fn within(rows: &[Row], tail: Vec<String>, last: &str, budget: Budget) -> String {
    let rest: usize = tail.iter().map(|it| it.len() + 1).sum::<usize>() + last.len() + 90;
    let mut room = budget.bytes().saturating_sub(rest);
    let mut lines: Vec<String> = Vec::new();
    let mut left: Vec<&Row> = Vec::new();
    for row in rows {
        let line = row.line();
        if left.is_empty() && (lines.is_empty() || line.len() < room) {
            room = room.saturating_sub(line.len() + 1);
            lines.push(line);
        } else {
            left.push(row);
        }
    }
    lines.extend(tail);
    let hits: u64 =
        left.iter().filter_map(|it| it.hits).map(|(first, last)| last - first + 1).sum();
    let groups = left.iter().filter(|it| it.counts && it.hits.is_none()).count();
    let whole: usize = rows.iter().map(|it| it.line().len() + 1).sum::<usize>() + rest;
    let needed = budget.tokens_for(whole + 100);
    let cut = match (hits, groups, left.len()) {
        (_, _, 0) => String::new(),
        (0, 0, lines) => format!(" · {lines} lines left out: `budget_tokens: {needed}` shows them"),
        (0, groups, _) => {
            format!(" · {groups} groups left out: `budget_tokens: {needed}` shows them")
        }
        (hits, ..) => format!(" · {hits} hits left out here: `budget_tokens: {needed}` shows them"),
    };
    let is_cut = lines.iter().any(|it| it.contains(CUT));
    let wide = needed.max(Budget::default().tokens_for(Budget::default().bytes())) * 4;
    let wider = format!(" · long values are cut: `budget_tokens: {wide}` shows more");
    lines.push(format!("{last}{cut}{}", if is_cut { &wider } else { "" }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn rows(count: u64, text: impl Fn(u64) -> String) -> Vec<Row> {
        fold((1..=count).map(|it| Row::hit(it, text(it))).collect())
    }

    #[track_caller]
    fn check(rows: &[Row], tokens: usize, expected: Expect) {
        let text = within(rows, Vec::new(), "6 of 6 · ended here", Budget::tokens(tokens));
        expected.assert_eq(&text);
    }

    #[test]
    fn identical_hits_are_one_line() {
        let rows = rows(6, |it| if it < 5 { "x = 1".to_owned() } else { format!("x = {it}") });
        check(
            &rows,
            100,
            expect![[r#"
                hits 1–4 · x = 1 (×4)
                hit 5 · x = 5
                hit 6 · x = 6
                6 of 6 · ended here"#]],
        );
    }

    #[test]
    fn what_does_not_fit_is_counted_with_the_budget_that_shows_it() {
        let rows = rows(6, |it| format!("x = {it}"));
        check(
            &rows,
            38,
            expect![[r#"
                hit 1 · x = 1
                6 of 6 · ended here · 5 hits left out here: `budget_tokens: 84` shows them"#]],
        );
        check(
            &rows,
            85,
            expect![[r#"
                hit 1 · x = 1
                hit 2 · x = 2
                hit 3 · x = 3
                hit 4 · x = 4
                hit 5 · x = 5
                hit 6 · x = 6
                6 of 6 · ended here"#]],
        );
    }

    #[test]
    fn a_wider_budget_shows_more_of_a_long_value() {
        let long = "x".repeat(1_000);
        let shown =
            |budget| within(&[Row::hit(1, cell(Ok(&long), short(budget)))], vec![], "1", budget);
        let said = shown(Budget::default());
        let (_, wide) = said.split_once("`budget_tokens: ").unwrap();
        let (wide, _) = wide.split_once('`').unwrap();
        let more = shown(Budget::tokens(wide.parse().unwrap()));
        assert!(more.matches('x').count() > said.matches('x').count() * 3, "{said}\n{more}");
    }

    #[test]
    fn quotes_inside_of_a_string_are_not_escaped() {
        assert_eq!(plain(r#""{\"a\": 1}""#, 100), r#"'{"a": 1}'"#);
        assert_eq!(plain(r#""it's \"a\"""#, 100), r#""it's \"a\"""#);
        assert_eq!(plain(r#""plain""#, 100), r#""plain""#);
        assert_eq!(plain("'x'", 100), "'x'");
        assert_eq!(plain("a\nb", 100), "a⏎b");
    }
}
