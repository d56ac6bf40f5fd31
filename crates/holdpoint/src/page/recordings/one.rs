//! One recording: what it came to, its calls over time and as a tree, and those that a condition finds.

use std::sync::Arc;

use holdpoint_engine::{failure::Failure, recordings::RecordingKnown};
use maud::{Markup, html};

use super::{answered, flame, overview, search, to, tree, words};
use crate::{
    app::App,
    page::{
        address::PageAddress,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(app: &App, at: &PageAddress, id: &str) -> Result<Sheet, Failure> {
    let of = app.engine.recordings.known_as(id)?;
    let id = of.about.id.clone();
    let mut parts = LiveParts::default();
    // It grows without an event.
    parts.late(of.is_written);
    let process = at.chosen("process").parse::<u32>().ok().and_then(|it| it.checked_sub(1));
    let process = process.unwrap_or(0);
    let told = shown(answered(app, &of, "overview", overview::asked(app, &of)).await, &mut parts);
    let under = at.chosen("under");
    let question = format!("flame {process} {under}");
    let drawn = flame::drawn(app, &id, process, under);
    let drawn = shown(answered(app, &of, &question, drawn).await, &mut parts);
    let wanted = search::CallsWanted::of(at);
    let calls = match wanted.is_empty() {
        true => shown(tree::level(app, &of, under, at.chosen("after")).await, &mut parts),
        false => shown(search::found(app, &of, &wanted).await, &mut parts),
    };
    let calls = match wanted.is_empty() {
        true => html! { (tree::leads_on(at)) (tree::panel(&calls)) },
        false => html! { (*calls) },
    };
    let main = html! {
        (bar(app, &of, &mut parts))
        div.body.one-rec {
            div.rec-top #rec-over { (parts.put("rec-over", html! { (*told) })) }
            section.panel aria-labelledby="fl-h" {
                header { h2 #fl-h { "Over time" } @if !under.is_empty() { small { "below " (pieces::line(under)) } } }
                div #rec-flame { (parts.put("rec-flame", html! { (*drawn) })) }
            }
            section.panel aria-labelledby="c-h" {
                header { h2 #c-h { "Calls" } (search::form(&id, &wanted)) }
                div #rec-calls { (parts.put("rec-calls", calls)) }
            }
        }
    };
    Ok(Sheet { title: of.about.title.clone(), is_fill: false, shape: "recording", main, parts })
}

/// What was said; or in its place why there is nothing, so that the rest of the view stands.
fn shown(answer: Result<(Arc<Markup>, bool), Failure>, parts: &mut LiveParts) -> Arc<Markup> {
    match answer {
        Ok((markup, is_late)) => {
            parts.late(is_late);
            markup
        }
        Err(failure) => Arc::new(pieces::failure(&failure)),
    }
}

fn bar(app: &App, of: &RecordingKnown, parts: &mut LiveParts) -> Markup {
    let about = &of.about;
    let secrets = app.engine.secrets();
    let state = html! {
        @if of.is_written { (words::verdict(of, None)) span { "What there is of it so far." } }
        @else { @if let Some(change) = &about.change { (words::plain(secrets, change)) } }
    };
    let acts = html! {
        @if of.is_written {
            button.btn.danger name="do" value="end" { (icon("stop")) span { "End" } }
        } @else {
            button.btn name="do" value="again" { (icon("restart")) span { "Record again" } }
            details.menu { summary.btn { span { "Delete" } (icon("down")) } ul { li { button.btn.danger name="do" value="delete" { "Delete " (about.id) " for good" } } } }
        }
    };
    html! {
        header.bar {
            a.crumb href="/recordings" { "Recordings" }
            h1 { (words::plain(secrets, &about.title)) } span.quiet { (about.id) @if let Some(name) = &about.name { ", " (words::plain(secrets, name)) } }
            p #rec-state { (parts.put("rec-state", state)) }
            form.end method="post" action=(to(&about.id)) #rec-acts { (parts.put("rec-acts", acts)) }
        }
    }
}
