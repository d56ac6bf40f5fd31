//! Small pieces of markup that several views use. Text of programs goes through [`line`] or [`block`]: what would act or
//! hide in it is written out.

use std::fmt::Write as _;

use holdpoint_engine::{failure::Failure, ids::Seq, nouns::Frame};
use jiff::Timestamp;
use maud::{Markup, PreEscaped, Render, html};

use crate::app::App;

/// The symbols that [`icon`] names, once per page.
pub(super) fn sprite() -> Markup {
    PreEscaped(include_str!("assets/icons.svg").to_owned())
}

pub(super) fn icon(name: &str) -> Markup {
    html! { svg.i aria-hidden="true" { (using(name)) } }
}

/// What stands in an `svg` that shows a symbol.
pub(super) fn using(name: &str) -> Markup {
    html! { use href={ "#i-" (name) } {} }
}

/// What is set, by its shape: `bp`, `bpif`, `bpoff`, `tp`, `tpoff`, `cp`.
pub(super) fn mark(shape: &str, class: &str) -> Markup {
    html! { svg class={ "i mark " (class) } aria-hidden="true" { (using(shape)) } }
}

/// A state with its word.
pub(super) fn badge(class: &str, symbol: &str, word: &str) -> Markup {
    html! { span class={ "badge " (class) } { (icon(symbol)) (word) } }
}

pub(super) fn brand() -> Markup {
    html! {
        svg viewBox="0 0 26 16" aria-hidden="true" {
            path.flow d="M1 8h8" {} circle.dot cx="13" cy="8" r="4" {} path.held d="M19 8h7" {}
        }
    }
}

/// An agent by its initial and hue; its name is beside it.
pub(super) fn who(name: &str) -> Markup {
    let initial =
        name.chars().find(|it| it.is_alphanumeric()).map(|it| it.to_uppercase().to_string());
    let hue = ["a", "b", "c"].get(name.bytes().map(usize::from).sum::<usize>() % 3).unwrap_or(&"a");
    html! { span class={ "who " (hue) } aria-hidden="true" { (initial.unwrap_or_default()) } }
}

pub(super) fn you() -> Markup {
    html! { span.who.you aria-hidden="true" { "Y" } }
}

/// How long ago, counted by the browser; without a script, when.
pub(super) fn age(since_ms: i64) -> Markup {
    html! { time.tab data-since=(since_ms) { (clock(since_ms).0) } }
}

/// `09:00:49` and `.237`.
pub(super) fn clock(at_ms: i64) -> (String, String) {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    let text = at.to_string();
    let time = text.split('T').nth(1).and_then(|it| it.get(..8)).unwrap_or_default();
    (time.to_owned(), format!(".{:03}", at_ms.rem_euclid(1000)))
}

pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Seconds since 1970 as a clock of milliseconds.
pub(super) fn seconds_ms(seconds: f64) -> i64 {
    let duration = jiff::SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    Timestamp::from_duration(duration).unwrap_or_default().as_millisecond()
}

/// When an event was told, if it is still kept; else now.
pub(super) fn told_ms(app: &App, seq: Seq) -> i64 {
    let page = app.engine.log.page(Seq(seq.0.saturating_sub(1)), 1, |_| true);
    let found = page.records.first().filter(|it| it.seq == seq);
    found.map_or_else(|| app.engine.started_at.as_millisecond(), |it| it.at.as_millisecond())
}

/// `10,126`
pub(super) fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The colour of a value: a string, a number, or neither.
pub(super) fn hue(text: &str) -> &'static str {
    match text.chars().next() {
        Some('\'' | '"' | '`') => "s",
        Some(first) if first.is_ascii_digit() || first == '-' => "d",
        _ => "",
    }
}

/// When it was, to the millisecond; in the person's own zone with a script.
pub(super) fn moment(at_s: f64) -> Markup {
    let at_ms = seconds_ms(at_s);
    let (time, rest) = clock(at_ms);
    html! { time.tab data-at=(at_ms) { (time) span { (rest) } } }
}

/// How long something took: `4 µs`, `12.3 ms`, `2.10 s`.
pub(super) fn took(seconds: f64) -> String {
    match seconds.max(0.0) {
        it if it < 0.000_999_5 => format!("{:.0} µs", it * 1e6),
        it if it < 0.999_5 => format!("{:.1} ms", it * 1e3),
        it if it < 60.0 => format!("{it:.2} s"),
        it if it < 3_600.0 => {
            format!("{:.0} min {:.0} s", (it / 60.0).floor(), (it % 60.0).floor())
        }
        it if it < 86_400.0 => format!("{:.1} h", it / 3_600.0),
        it => format!("{:.0} days", it / 86_400.0),
    }
}

/// `pricing.py:43`
pub(super) fn short_spot(frame: &Frame) -> String {
    let file = frame
        .file
        .as_deref()
        .and_then(|it| it.file_name())
        .map(|it| it.to_string_lossy().into_owned());
    let place = file.or_else(|| frame.place.clone()).unwrap_or_else(|| "unknown source".to_owned());
    format!("{place}:{}", frame.line)
}

/// What went wrong: text, hint, then the code.
pub(super) fn failure(failure: &Failure) -> Markup {
    html! {
        div.failure {
            (icon("fail"))
            b { (line(&failure.message)) }
            p { @if let Some(hint) = &failure.hint { (line(hint)) " " } code.e { (failure.code.as_str()) } }
        }
    }
}

/// The same, to be filled in by the script.
pub(super) fn failure_form() -> Markup {
    html! { div.failure { (icon("fail")) b {} p { span {} " " code.e {} } } }
}

/// A command to copy.
pub(super) fn copy_line(text: &str) -> Markup {
    html! { div.copy.one { pre tabindex="0" { (text) } (copy_button()) } }
}

/// Several lines to copy.
pub(super) fn copy_block(text: &str) -> Markup {
    html! { div.copy { pre tabindex="0" { (text) } (copy_button()) } }
}

fn copy_button() -> Markup {
    html! { button.btn.small.icon type="button" data-copy aria-label="Copy" { (icon("copy")) } }
}

/// A program's text on one line.
pub(super) fn line(text: &str) -> PlainText<'_> {
    PlainText { text, is_block: false }
}

/// A program's text with its lines and tabs.
pub(super) fn block(text: &str) -> PlainText<'_> {
    PlainText { text, is_block: true }
}

/// Text of a program, as text: what controls a terminal or turns the direction is written out.
pub(super) struct PlainText<'a> {
    text: &'a str,
    is_block: bool,
}

impl Render for PlainText<'_> {
    fn render_to(&self, out: &mut String) {
        let mut plain = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match c {
                '\n' | '\t' if self.is_block => plain.push(c),
                '\n' => plain.push('⏎'),
                '\r' if self.is_block => {}
                c if is_hidden(c) => match u32::from(c) {
                    // Writing to a string cannot fail.
                    code if code < 0x100 => write!(plain, "\\x{code:02x}").unwrap_or_default(),
                    code => write!(plain, "\\u{code:04x}").unwrap_or_default(),
                },
                c => plain.push(c),
            }
        }
        plain.as_str().render_to(out);
    }
}

/// What acts instead of being seen: controls, marks of direction, what has no width.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x2069 | 0x061c | 0xfeff | 0xfff9..=0xfffb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_text() {
        let html = |text| line(text).render().into_string();
        assert_eq!(html("</script><img src=x>"), "&lt;/script&gt;&lt;img src=x&gt;");
        assert_eq!(html("a\u{1b}[31mred\nb"), "a\\x1b[31mred⏎b");
        assert_eq!(html("invoice\u{202e}fdp.exe"), "invoice\\u202efdp.exe");
        assert_eq!(block("a\tb\r\nc").render().into_string(), "a\tb\nc");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let all = [0.000_004, 0.000_136, 0.001_6, 2.1, 125.9, 9_000.0, 1e9].map(took);
        assert_eq!(all, ["4 µs", "136 µs", "1.6 ms", "2.10 s", "2 min 5 s", "2.5 h", "11574 days"]);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            (number(0), number(999), number(1_000), number(10_126)),
            ("0".into(), "999".into(), "1,000".into(), "10,126".into())
        );
    }
}
