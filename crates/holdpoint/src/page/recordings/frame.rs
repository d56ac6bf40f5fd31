//! One call: its source with values beside each line, in all passes of its loops or in one of them; who called it, what
//! it called, what it was given and what came of it.

use holdpoint_engine::{
    failure::{Code, Failure},
    recordings::{FrameLook, LookAsk, PassSeen, RecordingKnown},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{answered, flame, history, source::SourceShown, to, to_call, tree, words};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

/// Bytes of a title.
const TITLE: usize = 80;

pub(super) async fn sheet(
    app: &App,
    at: &PageAddress,
    id: &str,
    call: &str,
) -> Result<Sheet, Failure> {
    let of = app.engine.recordings.known_as(id)?;
    let pass = pass(at)?;
    let mut parts = LiveParts::default();
    let question = format!("look {call} {pass:?}");
    let (body, is_late) =
        answered(app, &of, &question, body(app, &of, at.path(), call, pass)).await?;
    parts.late(is_late);
    let (made, is_late) = tree::level(app, &of, call, "").await?;
    parts.late(is_late);
    let drawn = flame::drawn(app, id, 0, call);
    let (drawn, is_late) = answered(app, &of, &format!("flame 0 {call}"), drawn).await?;
    parts.late(is_late);
    let main = html! {
        header.bar {
            a.crumb href="/recordings" { "Recordings" } a.crumb href=(to(&of.about.id)) { (of.about.id) }
            h1 { "Call #" (pieces::line(call)) }
            p.cut { (words::plain(app.engine.secrets(), &of.about.title)) }
        }
        div.rframe {
            div.rframe-main #look { (parts.put("look", html! { (*body) })) }
            section.panel.rframe-made aria-labelledby="made-h" {
                header { h2 #made-h { "Calls it made" } }
                div.made { div #made { (parts.put("made", tree::panel(&made))) } div #made-flame { (parts.put("made-flame", html! { (*drawn) })) } }
            }
        }
    };
    let title = format!("Call #{}", holdpoint_engine::budget::cut(call, TITLE));
    Ok(Sheet { title, is_fill: false, shape: "recorded call", main, parts })
}

/// `?line=14&nth=2`; a line alone is its first time.
fn pass(at: &PageAddress) -> Result<Option<(u32, u32)>, Failure> {
    let number = |name: &str| match at.chosen(name) {
        "" => Ok(None),
        text => text.parse::<u32>().map(Some).map_err(|_| {
            Failure::new(Code::InvalidParams, format!("`{name}` is a number, not `{text}`"))
        }),
    };
    Ok(number("line")?.zip(number("nth")?.or(Some(1))))
}

async fn body(
    app: &App,
    of: &RecordingKnown,
    path: &str,
    call: &str,
    pass: Option<(u32, u32)>,
) -> Result<Markup, Failure> {
    let named = call.to_owned();
    let asked = app.engine.recordings.ask(Some(&of.about.id), move |opened| {
        let call = opened.recording.call_named(&named)?;
        opened.recording.look(&LookAsk { call, pass })
    });
    let look = asked.await?;
    let (secrets, id) = (app.engine.secrets(), of.about.id.as_str());
    let at = look.pass.as_ref().map(|it| it.line);
    let source = SourceShown { secrets, id, path, look: &look, at, around: None };
    Ok(html! {
        section.pane.rframe-code aria-labelledby="src-h" {
            header {
                h2 #src-h { code { (pieces::line(&look.call.function)) } }
                span.end.quiet.cut { (words::plain(secrets, &look.call.file)) ":" (look.call.line) "–" (look.last_line) }
            }
            (passes(path, &look))
            (notes(&look))
            ol.source #source tabindex="0" aria-label="Source, with values beside its lines" { (source.markup()) }
            @for note in &look.notes { p.note.flat { (icon("alert")) span { (words::plain(secrets, note)) } } }
        }
        div.rframe-side { (side(secrets, id, &look)) }
    })
}

/// All passes at once, or one: by links to the first lines of loops, and a slider over the times there.
fn passes(path: &str, look: &FrameLook) -> Markup {
    let to = |line: u32, nth: u32| {
        let (line, nth) = (line.to_string(), nth.to_string());
        address::to(path, [("line", line.as_str()), ("nth", nth.as_str())].into_iter())
    };
    let chosen = look.pass.as_ref();
    let mut lines = look.loops.clone();
    if let Some(it) = chosen.filter(|it| lines.iter().all(|(line, _)| *line != it.line)) {
        lines.push((it.line, it.times));
    }
    html! {
        @if !lines.is_empty() {
            div.passes {
                nav.seg.ranges aria-label="Passes" {
                    a href=(path) aria-current=[chosen.is_none().then_some("true")] { "All passes" }
                    @for (line, times) in &lines {
                        a href=(to(*line, 1)) aria-current=[chosen.is_some_and(|it| it.line == *line).then_some("true")] { "Line " (line) " ×" (words::count(u64::from(*times))) }
                    }
                }
                @if let Some(it) = chosen { (slider(path, it, &to)) }
            }
        }
    }
}

fn slider(path: &str, it: &PassSeen, to: &dyn Fn(u32, u32) -> String) -> Markup {
    html! {
        form.life.pass-slider method="get" action=(path) {
            input type="hidden" name="line" value=(it.line);
            @if it.nth > 1 { a.btn.small.icon.flip href=(to(it.line, it.nth - 1)) data-press="," aria-label="The pass before" title="The pass before (,)" { (icon("right")) } }
            label.hush for="nth" { "Which time at line " (it.line) }
            input #nth type="range" name="nth" min="1" max=(it.times) value=(it.nth) data-acts;
            @if it.nth < it.times { a.btn.small.icon href=(to(it.line, it.nth + 1)) data-press="." aria-label="The next pass" title="The next pass (.)" { (icon("right")) } }
            span.tab.pass-n { "pass " (it.nth) " of " (it.times) }
            noscript { button.btn.small { "Go there" } }
        }
    }
}

fn notes(look: &FrameLook) -> Markup {
    html! {
        @if look.source.is_none() { p.note.flat { (icon("info")) span { "Its source was not kept." } } }
        @if look.source.as_ref().is_some_and(|it| !it.is_same) { p.note.flat { (icon("info")) span { "The file may have been changed since it was loaded." } } }
        (words::missing(&look.missing))
    }
}

fn side(secrets: &Secrets, id: &str, look: &FrameLook) -> Markup {
    let call = &look.call;
    html! {
        @if let Some(pass) = &look.pass {
            details.pane open { summary { h2 { "Before line " (pass.line) } span.end.quiet { "time " (pass.nth) " of " (pass.times) } } (held(secrets, id, call.function.as_str(), &pass.state, "state")) }
        }
        details.pane open { summary { h2 { "Given" } span.end.quiet { (call.arguments.len()) } } (held(secrets, id, call.function.as_str(), &call.arguments, "given")) }
        details.pane open { summary { h2 { "Came to" } span.end.quiet { (words::took(call)) } } p.pad #came-to { (words::came(secrets, &call.end)) } }
        details.pane open { summary { h2 { "Called by" } span.end.quiet { @if look.callers.is_empty() { "nothing recorded" } } }
            ul.stack #callers {
                @for it in &look.callers {
                    li { a href=(to_call(id, it.call)) { b { (pieces::line(&it.function)) } code { (words::plain(secrets, &it.file)) @if it.line > 0 { ":" (it.line) } } } }
                }
            }
        }
    }
}

/// Names with what they hold; each leads to its life.
fn held(
    secrets: &Secrets,
    id: &str,
    function: &str,
    all: &[(String, String)],
    name: &str,
) -> Markup {
    html! {
        ul.tree id=(name) {
            @for (name, value) in all {
                li.leaf { a.name href=(history::to(id, name, function)) { (pieces::line(name)) } span class={ "val " (pieces::hue(value)) } { (words::value(secrets, name, value)) } }
            }
            @if all.is_empty() { li.leaf { span.val { "nothing" } } }
        }
    }
}
