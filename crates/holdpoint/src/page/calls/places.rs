//! Where a call was made: its stack, and the source of one frame of it. Only files that the call itself names are shown,
//! and of them only source.

use std::path::Path;

use holdpoint_engine::{
    adapter,
    callpoints::Callpoints,
    failure::{Code, Failure},
    inspect, limits,
};
use maud::{Markup, html};
use serde_json::Value;

use super::ShownCall;
use crate::{
    app::App,
    page::{
        address::PageAddress,
        pieces,
        sheet::{LiveParts, Sheet},
    },
};

/// Lines before and behind the one that is meant, where not the whole file was asked for.
const AROUND: u32 = 6;

struct PlaceFrame<'a> {
    file: &'a str,
    line: u32,
    function: &'a str,
    code: &'a str,
}

impl PlaceFrame<'_> {
    fn of(frame: &Value) -> PlaceFrame<'_> {
        let text = |name| frame.get(name).and_then(Value::as_str).unwrap_or_default();
        let line = frame.get("lineno").and_then(Value::as_u64).unwrap_or_default();
        PlaceFrame {
            file: text("filename"),
            line: u32::try_from(line).unwrap_or_default(),
            function: text("function"),
            code: text("code_context").trim(),
        }
    }

    /// `shop/orders.py:21`, from the project's folder.
    fn spot(&self) -> String {
        format!("{}:{}", inspect::place(Path::new(self.file), &crate::root::current()), self.line)
    }
}

/// The frames, and the source of the chosen one.
pub(super) async fn markup(
    app: &App,
    call: &ShownCall,
    at: &PageAddress,
    path: &str,
    chosen: &str,
) -> Markup {
    let frames = call.frames();
    let number: usize = chosen.parse().unwrap_or_default();
    let is_whole = at.chosen("whole") == "yes";
    let link = |frame: usize, whole: &str| {
        let frame = frame.to_string();
        crate::page::address::to(
            path,
            [("frame", frame.as_str()), ("whole", whole)].into_iter().filter(|it| !it.1.is_empty()),
        )
    };
    let source = match frames.get(number) {
        Some(frame) => source(app, &PlaceFrame::of(frame), is_whole).await,
        None => html! {},
    };
    html! {
        @if frames.is_empty() { p.quiet.small-t { "Nothing is known of where it was called." } }
        ol.stack.flat {
            @for (place, frame) in frames.iter().enumerate().take(limits::CALLS_LISTED) {
                @let frame = PlaceFrame::of(frame);
                li.is-on[place == number] {
                    a href=(link(place, "")) aria-current=[(place == number).then_some("true")] title=(frame.code) {
                        b { (pieces::line(frame.function)) } code { (pieces::line(&frame.spot())) }
                    }
                }
            }
            @if frames.len() > limits::CALLS_LISTED { li { span.quiet { (frames.len() - limits::CALLS_LISTED) " more" } } }
        }
        (source)
        @if !frames.is_empty() {
            p.small-t { @if is_whole { a href=(link(number, "")) { "Only the lines around it" } } @else { a href=(link(number, "yes")) { "The whole file" } } }
        }
    }
}

async fn source(app: &App, frame: &PlaceFrame<'_>, is_whole: bool) -> Markup {
    let around = if is_whole { whole() } else { AROUND };
    let file = Path::new(frame.file);
    match lines(app, file, frame.line, around).await {
        Some(lines) => lines,
        None => html! {
            ol.source.brief.boxed #source tabindex="0" aria-label="Source" {
                li.here { span.g { (frame.line) } code { (pieces::line(&app.engine.secrets().text(frame.code))) } }
            }
            p.quiet.small-t { "The file cannot be read here; this line came with the call." }
        },
    }
}

/// Lines of a file around one; none where it is no source that can be read.
async fn lines(app: &App, file: &Path, line: u32, around: u32) -> Option<Markup> {
    adapter::of_file(file)?;
    let text = app.desk.file(file).await?;
    let first = line.saturating_sub(around).max(1) as usize;
    let last = (line.saturating_add(around) as usize).min(text.lines);
    let window = app.desk.window(app.engine.secrets(), file, &text, (first, last));
    let shown = last.saturating_sub(first) + 1;
    let numbered = (first..).zip(window.lines.iter()).take(shown);
    Some(html! {
        ol.source.brief.boxed #source tabindex="0" aria-label="Source" {
            @for (number, code) in numbered {
                li.here[number == line as usize] id={ "L" (number) } { span.g { (number) } code { (code) @if code.0.is_empty() { " " } } }
            }
        }
    })
}

/// A file that a paused call names: `/frame/source?file=…&line=…`.
pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
) -> Result<Sheet, Failure> {
    let (file, line) = (at.chosen("file"), at.chosen("line").parse().unwrap_or(1));
    let names = |frames: &Value| {
        let frames = frames.as_array().map(Vec::as_slice).unwrap_or_default();
        frames.iter().any(|it| PlaceFrame::of(it).file == file)
    };
    let refused = || {
        Failure::new(Code::NotFound, format!("`{file}` is not named by a call that is paused"))
            .hint("the frames of a call lead to its sources")
    };
    let is_named = calls.paused().iter().any(|it| names(&it.seen.frames));
    let found = match is_named {
        true => lines(app, Path::new(file), line, whole()).await,
        false => None,
    };
    let lines = found.ok_or_else(refused)?;
    let place = inspect::place(Path::new(file), &crate::root::current());
    let main = html! {
        header.bar { a.crumb href="/calls" { "Calls" } h1 { (pieces::line(&place)) } p { "line " (line) } }
        div.body { section.panel { (lines) } }
    };
    let title = place.clone();
    Ok(Sheet { title, is_fill: false, shape: "source", main, parts: LiveParts::default() })
}

fn whole() -> u32 {
    u32::try_from(limits::PAGE_LINES / 2).unwrap_or(AROUND)
}

/// The places that a traceback names, in its order.
fn traced(text: &str) -> Vec<(&str, u32)> {
    text.lines().filter_map(traced_line).collect()
}

/// `File "shop.py", line 12, in pay`
fn traced_line(line: &str) -> Option<(&str, u32)> {
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next()?;
    Some((file, digits.parse().ok()?))
}

/// A traceback whose lines lead to their sources, and the source of the chosen one.
pub(super) async fn traceback(app: &App, text: &str, path: &str, chosen: &str) -> Markup {
    let text = app.engine.secrets().text(text);
    let number: Option<usize> = chosen.parse().ok();
    let place =
        number.and_then(|it| traced(&text).get(it).map(|(file, line)| ((*file).to_owned(), *line)));
    let source = match &place {
        Some((file, line)) => lines(app, Path::new(file), *line, AROUND).await,
        None => None,
    };
    let mut count = 0;
    let each: Vec<(&str, Option<usize>)> = text
        .lines()
        .map(|line| {
            let number = traced_line(line).map(|_| count);
            count += usize::from(number.is_some());
            (line, number)
        })
        .collect();
    html! {
        pre.trace-back tabindex="0" {
            @for (line, number) in each {
                @match number {
                    Some(number) => a href={ (path) "?trace=" (number) } { (pieces::block(line)) },
                    None => (pieces::block(line)),
                }
                "\n"
            }
        }
        @if let Some(source) = source { (source) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_a_traceback_are_found() {
        let text = "Traceback (most recent call last):\n  File \"/a/shop.py\", line 12, in pay\n    x()\nValueError: no";
        assert_eq!(traced(text), [("/a/shop.py", 12)]);
        assert_eq!(traced("File \"x\", line"), []);
    }
}
