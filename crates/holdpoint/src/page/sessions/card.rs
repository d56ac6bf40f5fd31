//! A program that stands still, on Now: where, since when, the lines around, and the two moves that are wanted most.

use std::sync::Arc;

use holdpoint_engine::session::Session;
use maud::{Markup, html};

use super::one::{self, source};
use crate::{
    app::App,
    page::pieces::{self, icon},
};

/// Lines before and behind the one where it stands.
const AROUND: u32 = 2;

pub(in crate::page) async fn card(app: &App, session: &Arc<Session>) -> Markup {
    let view = session.view();
    let Some(shown) = view.stop.clone() else { return html! {} };
    let top = shown.stack.frames.first();
    let to = format!("/sessions/{}", session.id);
    let brief = match top {
        Some(top) => source::brief(app, session, &shown, top, AROUND).await,
        None => html! {},
    };
    html! {
        article.panel.hold-card id={ "hold-" (session.id) } {
            header {
                svg.i.hold-i aria-hidden="true" { (pieces::using("held")) }
                div.grow {
                    h3 { a href=(to) { (pieces::line(&session.name)) " stopped" @if let Some(top) = top { " in " code { (pieces::line(&top.function)) } } } }
                    p { (one::place(session)) ", " (session.language) ", " (session.id) }
                }
                span.meta { (one::who(session)) }
                span.meta.tab { (pieces::age(pieces::told_ms(app, shown.seq))) }
            }
            (brief)
            footer {
                form.btns-row method="post" action="/now" {
                    input type="hidden" name="session" value=(session.id);
                    a.btn.small.main-act href=(to) { "Open" }
                    button.btn.small name="do" value="continue" { (icon("play")) "Continue" }
                    button.btn.small name="do" value="over" { (icon("over")) "Step over" }
                }
                span.quiet { "The program stands still until somebody lets it go on." }
            }
        }
    }
}
