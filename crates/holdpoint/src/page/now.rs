//! What is held, for how long, and who is at it; what runs; the last events. The first view of all: while there is
//! nothing yet, it says what Holdpoint is and the one command per agent.

mod welcome;

use std::sync::Arc;

use holdpoint_engine::{
    event::EventKind,
    failure::Failure,
    ids::Seq,
    session::{Session, Status},
};
use maud::{Markup, html};

use super::{
    address::{FormFields, PageAddress},
    calls, happened,
    pieces::{self, icon},
    rail,
    sessions::{self, points, steer},
    sheet::{Count, LiveParts, PageView, Sheet, Then},
};
use crate::app::App;

/// Events in the list: what fits beside the rest without being read for long.
const EVENTS: usize = 40;

pub(super) struct Now;

impl PageView for Now {
    const NAME: &'static str = "now";
    const TITLE: &'static str = "Now";
    const ICON: &'static str = "now";
    const KEY: char = 'n';

    fn count(app: &App) -> Count {
        Count::Held(rail::held(app).len())
    }

    async fn show(app: App, _: PageAddress) -> Result<Sheet, Failure> {
        // The first event says that the server started.
        let is_new = app.engine.log.head() <= Seq(1);
        Ok(if is_new { welcome::sheet() } else { full(&app).await })
    }

    async fn act(app: App, _: PageAddress, form: FormFields) -> Result<Then, Failure> {
        steer::act(&app, form.get("session"), &form).await
    }
}

async fn full(app: &App) -> Sheet {
    let mut parts = LiveParts::default();
    let mut cards = Vec::new();
    for session in app.engine.sessions.all() {
        if session.view().status == Status::Stopped {
            cards.push(sessions::card(app, &session).await);
        }
    }
    let paused = paused(app);
    let held = cards.len() + paused.len();
    let running = running(app);
    let main = html! {
        header.bar {
            h1 { "Now" }
            p #sentence aria-live="polite" { (parts.put("sentence", sentence(held, running.len()))) }
            div.end #oldest { (parts.put("oldest", oldest(app))) }
        }
        div.body.now {
            div.col {
                section.held-list aria-labelledby="held-h" {
                    h2 #held-h { "Held " span.quiet #held-n { (parts.put("held-n", html! { (held) })) } }
                    div.held-list #held {
                        (parts.put("held", html! {
                            @if held == 0 { p.quiet { "Nothing is held. What stops shows up here." } }
                            @for card in &cards { (card) }
                            @for card in &paused { (card) }
                        }))
                    }
                }
                section.panel aria-labelledby="run-h" {
                    header { h2 #run-h { "Running" } small #run-n { (parts.put("run-n", html! { (running.len()) })) } }
                    div.scroll #running tabindex="0" role="region" aria-label="What runs, as a table" { (parts.put("running", running_table(&running))) }
                }
                (points::panel(app, &mut parts))
            }
            section.panel.events aria-labelledby="ev-h" {
                header { h2 #ev-h { "What happened" } }
                ol.event-list #events data-tells { (parts.rows("events", events(app))) }
            }
        }
    };
    Sheet { title: title(held), is_fill: false, shape: "full", main, parts }
}

fn title(held: usize) -> String {
    if held == 0 { "Now".to_owned() } else { format!("{held} held, now") }
}

fn sentence(held: usize, running: usize) -> Markup {
    let many = |count: usize, one: &str, more: &str| match count {
        0 => format!("nothing {one}"),
        1 => format!("one {one}"),
        count => format!("{count} {more}"),
    };
    let mut text =
        format!("{}, {}.", many(held, "is held", "are held"), many(running, "runs", "run"));
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    html! { (text) }
}

fn oldest(app: &App) -> Markup {
    html! {
        @if let Some(hold) = rail::held(app).first() {
            a.btn href=(hold.to) { (icon("right")) "Oldest hold " kbd { "h" } }
        }
    }
}

/// Calls that wait, as cards.
fn paused(app: &App) -> Vec<Markup> {
    let all = app.engine.opened_callpoints().map(|it| it.paused()).unwrap_or_default();
    let waiting = all.iter().filter(|it| it.is_waiting);
    let card = waiting.map(|it| {
        html! {
            article.panel.hold-card id={ "hold-" (it.id) } {
                header {
                    svg.i.hold-i.duo aria-hidden="true" { (pieces::using("paused")) }
                    div.grow {
                        h3 { a href=(calls::to(&it.id)) { code { (pieces::line(&it.seen.call.line_without(app.engine.secrets()))) } " paused" } }
                        p { (calls::when(it.moment)) @if let Some(pid) = it.seen.call.pid { ", pid " (pid) } }
                    }
                    span.meta.tab { (pieces::age(pieces::seconds_ms(it.paused_at))) }
                }
                footer {
                    form.btns-row method="post" action=(calls::to(&it.id)) {
                        a.btn.small.main-act href=(calls::to(&it.id)) { "Decide" }
                        input type="hidden" name="act" value="continue";
                        button.btn.small name="do" value="decide" { (icon("play")) "Continue" }
                    }
                    span.quiet { "Its app waits for an answer." }
                }
            }
        }
    });
    card.collect()
}

fn running(app: &App) -> Vec<Arc<Session>> {
    let runs = |it: &Arc<Session>| matches!(it.view().status, Status::Running | Status::Starting);
    app.engine.sessions.all().into_iter().filter(runs).collect()
}

fn running_table(running: &[Arc<Session>]) -> Markup {
    html! {
        @if running.is_empty() { p.pad.quiet { "Nothing runs." } } @else {
            table.rows {
                thead { tr { th scope="col" { "What" } th scope="col" { "State" } th scope="col" { "Tracepoints" }
                    th scope="col" class="num" { "Hits" } th scope="col" class="num" { "Up" } } }
                tbody {
                    @for session in running {
                        @let passes = session.passes();
                        tr id={ "run-" (session.id) } {
                            td { a.row href={ "/sessions/" (session.id) } { b { (pieces::line(&session.name)) } }
                                " " span.quiet { (session.id) ", " (session.language) } }
                            td { (pieces::badge("run", "play", "running")) }
                            td { @if !passes.is_empty() { (pieces::mark("tp", "tp")) span.after-mark { (passes.len()) } } }
                            td.num { (pieces::number(usize::try_from(passes.iter().map(|it| it.reported).sum::<u64>()).unwrap_or_default())) }
                            td.num { (pieces::age(session.began.as_millisecond())) }
                        }
                    }
                }
            }
        }
    }
}

fn events(app: &App) -> Vec<(String, Markup)> {
    let told = happened::newest(app, EVENTS, |it| {
        !matches!(it.event.kind(), EventKind::ThreadStarted | EventKind::ThreadEnded)
    });
    told.iter().map(|record| (happened::id(record.seq), happened::row(record))).collect()
}
