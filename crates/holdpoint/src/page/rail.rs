//! The rail beside every view: the views with their counts, what is held now, who is connected.

use holdpoint_engine::{
    actor::Actor,
    session::{Holder, Session, Status},
};
use maud::{Markup, html};

use super::{
    VIEWS,
    address::PageAddress,
    calls,
    pieces::{self, icon},
    sheet::{Count, LiveParts},
};
use crate::app::App;

const PARTS: [&str; 3] = ["nav", "holds", "people"];

pub(super) fn is_its(part: &str) -> bool {
    PARTS.contains(&part)
}

pub(super) fn markup(app: &App, at: &PageAddress, parts: &mut LiveParts) -> Markup {
    html! {
        header.rail {
            a.brand href="/now" { (pieces::brand()) "Holdpoint" }
            nav.nav aria-label="Views" { ul #nav { (parts.put("nav", views(app, at))) } }
            section.holds aria-labelledby="holds-h" {
                h2 #holds-h { "Held now" }
                ul #holds { (parts.put("holds", holds(app))) }
            }
            div.rail-end {
                section aria-labelledby="people-h" {
                    h2 #people-h { "Connected" }
                    ul.people #people { (parts.put("people", people(app))) }
                }
                p.live #live data-state="live" {
                    span.beat aria-hidden="true" {}
                    span { b #live-word { "Live" } " seq " span #live-seq { (app.engine.log.head()) } }
                    button.btn.bare.icon.small.keys-btn type="button" data-keys aria-label="Keyboard shortcuts"
                        title="Keyboard shortcuts (?)" { (icon("keys")) }
                    button.btn.bare.icon.small type="button" data-theme-next aria-label="Colours: as the system"
                        title="Light, dark or as the system" { (icon("theme")) }
                }
            }
        }
    }
}

fn views(app: &App, at: &PageAddress) -> Markup {
    let here = at.view().map(|it| it.name);
    html! {
        @for view in VIEWS {
            li {
                a href={ "/" (view.name) } data-go=(view.key) aria-current=[(here == Some(view.name)).then_some("page")] {
                    (icon(view.icon)) span { (view.title) }
                    @match (view.count)(app) {
                        Count::None | Count::Some(0) | Count::Held(0) => {},
                        Count::Some(count) => span.n { (pieces::number(count)) },
                        Count::Held(count) => span.n.held aria-label={ (count) " held" } { (count) },
                    }
                }
            }
        }
    }
}

/// What is held, the longest first.
fn holds(app: &App) -> Markup {
    let held = held(app);
    html! {
        @if held.is_empty() { li.nothing { small.quiet { "nothing" } } }
        @for hold in held {
            li {
                a href=(hold.to) {
                    svg.i.duo[hold.is_call] aria-hidden="true" { (pieces::using(if hold.is_call { "paused" } else { "held" })) }
                    b.cut { (pieces::line(&hold.what)) }
                    (pieces::age(hold.since_ms))
                    small.cut { (pieces::line(&hold.who)) }
                }
            }
        }
    }
}

/// Something that stands until somebody lets it go on.
pub(super) struct HeldThing {
    pub(super) to: String,
    pub(super) what: String,
    pub(super) who: String,
    pub(super) since_ms: i64,
    pub(super) is_call: bool,
}

/// What is held, the longest first.
pub(super) fn held(app: &App) -> Vec<HeldThing> {
    let sessions = app.engine.sessions.all();
    let stopped = sessions.iter().filter(|it| it.view().status == Status::Stopped);
    let mut all: Vec<HeldThing> = stopped
        .filter_map(|session| {
            let shown = session.view().stop.clone()?;
            let what = match shown.stack.frames.first() {
                Some(top) => pieces::short_spot(top),
                None => session.name.clone(),
            };
            let who = format!("{}, {}", at_it(session), session.id);
            let since_ms = pieces::told_ms(app, shown.seq);
            Some(HeldThing {
                to: format!("/sessions/{}", session.id),
                what,
                who,
                since_ms,
                is_call: false,
            })
        })
        .collect();
    let paused = app.engine.opened_callpoints().map(|it| it.paused()).unwrap_or_default();
    all.extend(paused.iter().filter(|it| it.is_waiting).map(|it| HeldThing {
        to: calls::to(&it.id),
        what: it.seen.call.name.clone(),
        who: "a call waits".to_owned(),
        since_ms: pieces::seconds_ms(it.paused_at),
        is_call: true,
    }));
    all.sort_by_key(|it| it.since_ms);
    all
}

/// Who looks at a program that stands, in words.
fn at_it(session: &Session) -> String {
    match (session.holder(), session.last_move().map(|it| it.by)) {
        (Holder::Person, _) => "you are at it".to_owned(),
        (Holder::Agents, Some(Actor::Client { name, .. })) => format!("{name} is at it"),
        (Holder::Agents, _) => "nobody looks at it yet".to_owned(),
    }
}

fn people(app: &App) -> Markup {
    html! {
        @for client in app.clients.live() {
            li { (pieces::who(&client.name)) span.cut { (pieces::line(&client.name)) } small { (client.transport.as_str()) } }
        }
        li { (pieces::you()) "you" small { "this page" } }
    }
}
