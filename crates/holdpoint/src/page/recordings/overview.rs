//! What a run comes to: how it ended, the way to the failure with what was given and what came back, what was swallowed,
//! what is odd, and what was kept of it.

use holdpoint_engine::{
    failure::Failure,
    limits,
    recordings::{CallShown, FailureShown, FrameRow, Overview, RecordingKnown},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{list, to, words};
use crate::{app::App, page::pieces};

/// Calls of the way that are shown: the outermost and the innermost.
const OUTERMOST: usize = 3;
const INNERMOST: usize = 9;

/// As markup: what happened, and the facts beside it.
pub(super) async fn asked(app: &App, of: &RecordingKnown) -> Result<Markup, Failure> {
    let id = of.about.id.clone();
    let found = app.engine.recordings.ask(Some(&id), |opened| Ok(opened.recording.overview()?));
    let overview = found.await?;
    let secrets = app.engine.secrets();
    Ok(html! {
        section.panel aria-labelledby="o-h" {
            header { h2 #o-h { "What happened" } span.end { (words::verdict(of, Some(&overview.verdict()))) } }
            div.came-to {
                (failure(secrets, &id, &overview))
                (exceptions(secrets, &id, &overview))
                (odd(secrets, &id, &overview))
                @if overview.failure.is_none() && overview.raised == 0 && overview.odd.is_empty() {
                    p.quiet { @if overview.calls == 0 { "No call of code below " code { (pieces::line(&of.about.launch.cwd.display().to_string())) } " was recorded." } @else { "Nothing was raised, and no result is unlike the others of its function." } }
                }
            }
        }
        section.panel aria-labelledby="k-h" {
            header { h2 #k-h { "What was kept" } }
            (facts(secrets, of, &overview))
        }
    })
}

/// The exception that ended it, and the way there.
fn failure(secrets: &Secrets, id: &str, of: &Overview) -> Markup {
    let message = of.failed_test.as_ref().and_then(|it| it.message.as_deref());
    html! {
        @if let Some(test) = of.failed_test.as_ref().filter(|_| of.tests.2 > 1) {
            p { "The test " code { (words::plain(secrets, &test.name)) } " failed, " (of.tests.1) " of " (of.tests.2) "." }
        }
        @match &of.failure {
            Some(failure) => {
                p.what-failed { code.fail-t { (words::plain(secrets, &failure.exception)) } " " span.quiet { "at " code { (words::plain(secrets, &failure.file)) ":" (failure.line) } } }
                (path(secrets, id, failure))
                @if !failure.last_lines.is_empty() { h3 { "Its last lines" } (last_lines(secrets, &failure.last_lines)) }
            },
            None => @if let Some(message) = message { p.what-failed { code.fail-t { (words::plain(secrets, message)) } } },
        }
        @if let Some(message) = message {
            details.schema { summary { "What the runner said" } pre.trace-back tabindex="0" { (pieces::block(&holdpoint_engine::budget::cut(&secrets.text(message), limits::PAGE_OUTPUT))) } }
        }
    }
}

/// From the outermost call to the one that raised it.
fn path(secrets: &Secrets, id: &str, failure: &FailureShown) -> Markup {
    let all = failure.path.get(..failure.depth).unwrap_or(&failure.path);
    let answers = failure.path.get(failure.depth..).unwrap_or_default();
    let left = all.len().saturating_sub(OUTERMOST + INNERMOST);
    html! {
        h3 { "The way there" }
        ol.way {
            @for (at, call) in all.iter().enumerate() {
                @if left > 0 && at == OUTERMOST { li.quiet { (left) " calls between" } }
                @if left == 0 || at < OUTERMOST || at >= OUTERMOST + left {
                    (way(secrets, id, call))
                }
            }
        }
        @if !answers.is_empty() {
            h3 { "What it had been answered" }
            ol.way { @for call in answers { (way(secrets, id, call)) } }
        }
    }
}

fn way(secrets: &Secrets, id: &str, call: &CallShown) -> Markup {
    html! {
        li { span.way-call { (words::call(secrets, id, call)) } span.came.cut { (words::came(secrets, &call.end)) } (words::handle(id, call.id)) }
    }
}

fn last_lines(secrets: &Secrets, rows: &[FrameRow]) -> Markup {
    html! {
        ol.source.brief.boxed tabindex="0" aria-label="The last lines before it" {
            @for row in rows {
                li { span.g { (row.line) } code { (pieces::block(&secrets.text(row.source.as_deref().unwrap_or_default()))) " " }
                    @if !row.changes.is_empty() { span.vals { (words::plain(secrets, &row.changes.join("  "))) } } }
            }
        }
    }
}

fn exceptions(secrets: &Secrets, id: &str, of: &Overview) -> Markup {
    html! {
        @if of.raised > 0 {
            h3 { "Raised " (words::count(of.raised)) ", swallowed " (words::count(of.swallowed)) }
            @if !of.swallowed_shown.is_empty() {
                ul.findings {
                    @for it in &of.swallowed_shown {
                        li {
                            code.fail-t { (words::plain(secrets, &it.exception)) }
                            @if it.raised_in.id != it.handled_by.id { " from " code { (pieces::line(&it.raised_in.function)) } " " (words::handle(id, it.raised_in.id)) "," }
                            " handled at " code { (words::plain(secrets, &it.file)) ":" (it.line) } " by "
                            code { (pieces::line(&it.handled_by.function)) } " " (words::handle(id, it.handled_by.id)) ", which came to " (words::came(secrets, &it.handled_by.end))
                        }
                    }
                }
            }
        }
    }
}

fn odd(secrets: &Secrets, id: &str, of: &Overview) -> Markup {
    html! {
        @if !of.odd.is_empty() {
            h3 { "Odd results" }
            ul.findings {
                @for it in &of.odd {
                    li { code { (pieces::line(&it.function)) } " gave " code { (words::plain(secrets, &it.what)) } " "
                        @if it.times == 1 { "once" } @else { (words::count(it.times)) " times" } " in " (words::count(it.calls)) " calls, first at " (words::handle(id, it.first))
                        "; else " code { (words::plain(secrets, &it.usual)) } }
                }
            }
        }
    }
}

fn facts(secrets: &Secrets, of: &RecordingKnown, overview: &Overview) -> Markup {
    let about = &of.about;
    let fact = |name: &str, value: Markup| html! { dt { (name) } dd { (value) } };
    html! {
        dl.kv.pad {
            (fact("Ran", html! { code { (words::plain(secrets, &about.title)) } }))
            @if let Some(name) = &about.name { (fact("Called", words::plain(secrets, name))) }
            @if let Some(change) = &about.change { (fact("Differs in", words::plain(secrets, change))) }
            (fact("In", html! { code { (words::plain(secrets, &about.launch.cwd.display().to_string())) } }))
            (fact("Began", list::when(of)))
            @if about.took_ms > 0 { (fact("Took", html! { (pieces::took(about.took_ms as f64 / 1e3)) })) }
            @if let Some(ended) = &about.ended { (fact("Ended with", words::plain(secrets, ended))) }
            @if let Some(runtime) = &about.runtime { (fact("By", html! { code { (words::plain(secrets, runtime)) } })) }
            (fact("Kept", html! { (words::count(overview.calls)) " calls, " (words::count(overview.lines)) " lines, " (words::count(overview.events)) " events" @if overview.processes.len() > 1 { " of " (overview.processes.len()) " processes" } }))
            (fact("Size", html! { (words::size(of.bytes)) }))
            @if !about.focus.is_empty() { (fact("Kept whole", words::plain(secrets, &about.focus.join(", ")))) }
            @for level in overview.levels.iter().take(limits::NAMES_SHOWN) { (fact("Less of", words::plain(secrets, level))) }
            @if let Some(note) = &about.note { (fact("Note", words::plain(secrets, note))) }
            (fact("Missing", html! { @if overview.missing.is_empty() { "nothing" } @for it in overview.missing.iter().take(limits::NAMES_SHOWN) { p { (words::plain(secrets, it)) } } }))
        }
        @if !about.output.trim().is_empty() {
            details.schema.wrote { summary { "The end of what it wrote" } pre.trace-back tabindex="0" { (pieces::block(&secrets.text(&about.output))) } }
        }
        footer { a href={ (to(&about.id)) "/history" } { "The life of a value" } }
    }
}
