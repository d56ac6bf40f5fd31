//! The moments of one object, newest first, with what each changed; two of them are compared.

use holdpoint_engine::{budget, limits, records::ObjectSeen};
use maud::{Markup, html};

use super::objects::written;
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces,
    },
};

/// The two that are compared. A moment is named by its place in the history.
pub(super) struct Picked<'a> {
    pub(super) a: Option<&'a ObjectSeen>,
    pub(super) b: Option<&'a ObjectSeen>,
    a_at: usize,
    b_at: usize,
}

impl<'a> Picked<'a> {
    /// What was chosen; else the newest, and the newest that differs from it.
    pub(super) fn of(at: &PageAddress, history: &'a [ObjectSeen]) -> Picked<'a> {
        let last = history.len().saturating_sub(1);
        let b_at = at.chosen("b").parse().unwrap_or(last).min(last);
        let b = history.get(b_at);
        let differs = |it: &&ObjectSeen| b.is_some_and(|b| b.at.cid != it.at.cid);
        let before = history.iter().take(b_at);
        let usual = before.clone().rposition(|it| differs(&it)).unwrap_or(0);
        let a_at = at.chosen("a").parse().unwrap_or(usual).min(last);
        Picked { a: history.get(a_at), b, a_at, b_at }
    }
}

pub(super) fn list(
    app: &App,
    at: &PageAddress,
    path: &str,
    history: &[ObjectSeen],
    picked: &Picked<'_>,
) -> Markup {
    let secrets = app.engine.secrets();
    let first = history.len().saturating_sub(page(at));
    let link = |name: &str, number: usize| {
        let (number, a, b) = (number.to_string(), picked.a_at.to_string(), picked.b_at.to_string());
        let chosen = [("a", a.as_str()), ("b", b.as_str())].map(|(known, value)| {
            if known == name { (known, number.as_str()) } else { (known, value) }
        });
        address::to(path, chosen.into_iter())
    };
    html! {
        @for (number, it) in history.iter().enumerate().skip(first).rev() {
            @let (is_a, is_b) = (number == picked.a_at, number == picked.b_at);
            @let before = number.checked_sub(1).and_then(|it| history.get(it));
            @let change = before.map(|before| changed(&written(&before.shown), &written(&it.shown))).unwrap_or_default();
            li.is-a[is_a].is-b[is_b] data-k={ "m" (number) } {
                span.ab {
                    a.ab-pick href=(link("a", number)) aria-label={ "Compare from moment " (number + 1) } aria-current=[is_a.then_some("true")] { "A" }
                    a.ab-pick href=(link("b", number)) aria-label={ "Compare to moment " (number + 1) } aria-current=[is_b.then_some("true")] { "B" }
                }
                (pieces::moment(it.at.at))
                a.cut href={ "/calls/call/" (address::word(&it.at.call_id)) } { code { (pieces::line(it.at.name.rsplit(':').next().unwrap_or_default())) } }
                span.cut.chg-t { (pieces::line(&secrets.text(&change))) }
                a.cid href={ "/values/cid/" (it.at.cid) } { (it.at.cid.to_string().get(..limits::CID_DIGITS).unwrap_or_default()) }
            }
        }
        @if first > 0 { li.further { a href=(address::to(path, [("shown", (page(at) * 4).to_string().as_str())].into_iter())) { (first) " earlier" } } }
    }
}

fn page(at: &PageAddress) -> usize {
    at.chosen("shown")
        .parse()
        .unwrap_or(limits::PAGE_RECORDS)
        .clamp(limits::PAGE_RECORDS, limits::HISTORY)
}

/// The first place where two texts differ, in words: `'ink': 10 → 9`.
fn changed(before: &str, now: &str) -> String {
    if before == now {
        return String::new();
    }
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '\'' | '"' | '-' | '.');
    let same = before.chars().zip(now.chars()).take_while(|(a, b)| a == b);
    let at: usize = same.map(|(it, _)| it.len_utf8()).sum();
    let shared = before.get(..at).unwrap_or_default();
    // From the beginning of the value that differs.
    let begin = shared.rfind(|it| !is_word(it)).map_or(0, |it| it + 1);
    let begin = (begin..=at).find(|it| before.is_char_boundary(*it)).unwrap_or(at);
    let value = |text: &str| {
        let rest = text.get(begin..).unwrap_or_default();
        let end = rest.find([',', '}', ']', ')']).unwrap_or(rest.len());
        budget::cut(rest.get(..end).unwrap_or_default(), 40)
    };
    let head = before.get(..begin).unwrap_or_default().trim_end();
    let name = head.strip_suffix([':', '=']).map(|it| {
        let from = it.rfind([',', '{', '(', '[', ' ']).map_or(0, |at| at + 1);
        it.get(from..).unwrap_or_default().trim_matches(['\'', '"', ' '])
    });
    match name.filter(|it| !it.is_empty()) {
        Some(name) => format!("{name} {} → {}", value(before), value(now)),
        None => format!("{} → {}", value(before), value(now)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_said_in_few_words() {
        let of = changed;
        assert_eq!(
            of("Stock(levels={'pen': 1, 'ink': 10})", "Stock(levels={'pen': 1, 'ink': 9})"),
            "ink 10 → 9"
        );
        assert_eq!(of("Cart(total=5)", "Cart(total=12)"), "total 5 → 12");
        assert_eq!(of("[1, 2]", "[1, 3]"), "2 → 3");
        assert_eq!((of("x", "x"), of("[]", "[1]")), (String::new(), " → 1".to_owned()));
        assert_eq!(of("'äö'", "'äü'"), "'äö' → 'äü'");
    }
}
