//! The calls that wait, and one of them with everything that is known of it and everything that can become of it.

use holdpoint_engine::{
    callpoints::{Callpoints, behavior::Moment, paused::Paused},
    event::Event,
    failure::Failure,
    limits,
};
use maud::{Markup, html};

use super::{ShownCall, callpoints, decide, places, talk};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        happened,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    id: Option<&str>,
    frame: &str,
    at: &PageAddress,
) -> Result<Sheet, Failure> {
    let all = calls.paused();
    let chosen = match id {
        Some(id) => all.iter().find(|it| it.id == id),
        None => all.iter().find(|it| it.is_waiting).or_else(|| all.first()),
    };
    let waiting = all.iter().filter(|it| it.is_waiting).count();
    let mut parts = LiveParts::default();
    let tabs = super::tabs(app, calls, "/calls", &mut parts).await?;
    let secrets = app.engine.secrets();
    let call = chosen.map(|it| ShownCall::paused(secrets, it));
    let (top, called, talk) = match (chosen, &call) {
        (Some(paused), Some(call)) => {
            let path = to(&paused.id);
            let top = decide::markup(app, calls, paused, call);
            let called = places::markup(app, call, at, &path, frame).await;
            (top, called, talk::markup(app, calls, paused).await)
        }
        _ => (gone(app, id, waiting), html! {}, talk::TalkParts::default()),
    };
    let main = html! {
        header.bar { h1 { "Calls" } p #sentence aria-live="polite" { (parts.put("sentence", sentence(waiting))) } }
        (tabs)
        div.body.paused {
            div.col {
                section.panel aria-labelledby="p-h" {
                    header { h2 #p-h { "Paused" } small { "oldest first" } }
                    ul.pick #paused { (parts.put("paused", list(&all, chosen))) }
                }
                section.panel aria-labelledby="f-h" {
                    header { h2 #f-h { "In flight" } small { "begun, not ended" } }
                    ul.pick #flights { (parts.put("flights", flights(app, calls, &all))) }
                }
                (callpoints::brief(calls, &mut parts))
            }
            article.panel.decide aria-labelledby="d-h" {
                div.decide-top #decide { (parts.put("decide", top)) }
                div.cols {
                    section aria-labelledby="w-h" { h3 #w-h { "Called at" } div.places #called { (parts.put("called", called)) } }
                    section.repl-box aria-labelledby="r-h" {
                        h3 #r-h { "Look inside " span.quiet { "evaluated by the paused app" } }
                        div.boxed.talk-box {
                            ol.talk #talk tabindex="0" aria-label="What was evaluated" data-end { (parts.put("talk", talk.said)) }
                            div #prompt { (parts.put("prompt", talk.prompt)) }
                        }
                    }
                }
            }
        }
    };
    let title = match waiting {
        0 => "Calls".to_owned(),
        count => format!("{count} paused, calls"),
    };
    Ok(Sheet { title, is_fill: false, shape: "paused", main, parts })
}

pub(in crate::page) fn to(id: &str) -> String {
    format!("/calls/paused/{}", address::word(id))
}

fn sentence(waiting: usize) -> Markup {
    html! {
        @match waiting {
            0 => "No call is paused. What a callpoint holds shows up here.",
            1 => "One call is paused. Its app waits for an answer.",
            count => { (count) " calls are paused. Their apps wait for an answer." },
        }
    }
}

/// When it pauses, in words.
pub(in crate::page) fn when(moment: Moment) -> &'static str {
    match moment {
        Moment::Before => "before it runs",
        Moment::AfterSuccess => "after it ran",
        Moment::AfterException => "after it raised",
    }
}

/// `pid 17417`, or the page that calls, or who else does.
pub(super) fn whose(call: &ShownCall) -> String {
    let url = call.word("page_url");
    let pid = call.get("process_pid");
    match (url, pid.as_i64()) {
        ("", Some(pid)) => format!("pid {pid}"),
        ("", None) if !call.word("server").is_empty() => format!("server {}", call.word("server")),
        ("", None) => call.word("source").to_owned(),
        (url, _) => format!("JS {url}"),
    }
}

fn list(all: &[Paused], chosen: Option<&Paused>) -> Markup {
    html! {
        @if all.is_empty() { li.none { span.li.quiet { "None." } } }
        @for it in all.iter().take(limits::CALLS_LISTED) {
            @let is_on = chosen.is_some_and(|chosen| chosen.id == it.id);
            li.is-on[is_on] id={ "p-" (it.id) } {
                a.row href=(to(&it.id)) aria-current=[is_on.then_some("true")] {
                    svg.i.hold-i.duo aria-hidden="true" { (pieces::using("paused")) }
                    span.grow {
                        b.cut { code { (pieces::line(&it.seen.call.name)) } }
                        small.cut { (when(it.moment)) @if !it.is_waiting { ", nobody waits" } @if let Some(pid) = it.seen.call.pid { ", pid " (pid) } }
                    }
                    span.tab { (pieces::age(pieces::seconds_ms(it.paused_at))) }
                }
            }
        }
        @if all.len() > limits::CALLS_LISTED { li { span.li.quiet { (all.len() - limits::CALLS_LISTED) " more" } } }
    }
}

/// Calls under way that are not the paused ones themselves.
fn flights(app: &App, calls: &Callpoints, paused: &[Paused]) -> Markup {
    let is_paused = |id: &str| paused.iter().any(|it| it.seen.call.id == id);
    let all: Vec<_> = calls.in_flight().into_iter().filter(|it| !is_paused(&it.call.id)).collect();
    let secrets = app.engine.secrets();
    html! {
        @if all.is_empty() { li.none { span.li.quiet { "None." } } }
        @for it in all.iter().take(limits::NAMES_SHOWN) {
            li id={ "f-" (it.call.id) } {
                span.li {
                    (pieces::mark("cp", "cp"))
                    span.grow { b.cut { code { (pieces::line(&it.call.name)) } } small.cut { (pieces::line(&it.call.line_without(secrets))) } }
                    span.tab { (pieces::age(pieces::seconds_ms(it.call.started_at))) }
                }
            }
        }
        @if all.len() > limits::NAMES_SHOWN { li { span.li.quiet { (all.len() - limits::NAMES_SHOWN) " more" } } }
    }
}

/// In place of a pause that is over, or never was.
fn gone(app: &App, id: Option<&str>, waiting: usize) -> Markup {
    let Some(id) = id else {
        return html! {
            header.tall { div.grow { h2 #d-h { "Nothing waits" } p { "A call pauses here when its function has a callpoint that says so." } } }
            p.pad.quiet { "Hold a function on the left, or let an agent do it with " code { "breakpoint_add" } ". Apps started with " code { "holdpoint run" } " ask here before their calls." }
        };
    };
    let told = happened::newest(app, 1, |it| match &*it.event {
        Event::CallResumed { pause_id, .. } | Event::CallLost { pause_id, .. } => pause_id == id,
        _ => false,
    });
    let began = happened::newest(
        app,
        1,
        |it| matches!(&*it.event, Event::CallPaused { pause_id, .. } if pause_id == id),
    );
    let call = began.first().and_then(|it| match &*it.event {
        Event::CallPaused { call_id, .. } => Some(call_id.clone()),
        _ => None,
    });
    html! {
        header.tall { (icon("check")) div.grow {
            h2 #d-h { "This call is not paused any more" }
            @match told.first().map(|it| &*it.event) {
                Some(Event::CallResumed { method_name, action, by, .. }) => p { code { (pieces::line(method_name)) } " went on: " (pieces::line(action)) ", decided by " (pieces::line(&by.to_string())) "." },
                Some(Event::CallLost { method_name, why, .. }) => p { code { (pieces::line(method_name)) } ": " (pieces::line(why)) "." },
                _ => p { "It went on, or was never here." },
            }
        } }
        div.pad.btns-row {
            @if let Some(call) = &call { a.btn href={ "/calls/call/" (address::word(call)) } { "What came of it" } }
            @if waiting > 0 { a.btn.main-act href="/calls" { "The next that waits" } } @else { a.btn href="/calls/records" { "Records" } }
        }
    }
}
