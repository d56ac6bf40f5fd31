//! All programs, live ones first; and a form that starts one.

use std::sync::Arc;

use holdpoint_engine::session::{Holder, Session, Status};
use maud::{Markup, html};

use super::one::{place, state};
use crate::{
    app::App,
    page::{
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) fn sheet(app: &App) -> Sheet {
    let mut all = app.engine.sessions.all();
    all.sort_by_key(|it| (rank(it), std::cmp::Reverse(it.id)));
    let mut parts = LiveParts::default();
    let main = html! {
        header.bar { h1 { "Sessions" } p #sentence aria-live="polite" { (parts.put("sentence", sentence(&all))) } }
        div.body {
            section.panel aria-labelledby="p-h" {
                header { h2 #p-h { "Programs" } small { "live ones first" } }
                div.scroll tabindex="0" role="region" aria-label="All programs, as a table" #programs {
                    (parts.put("programs", table(&all)))
                }
            }
            (start_form(""))
        }
    };
    Sheet { title: "Sessions".to_owned(), is_fill: false, shape: "list", main, parts }
}

fn rank(session: &Session) -> u8 {
    match session.view().status {
        Status::Stopped => 0,
        Status::Running | Status::Starting => 1,
        Status::Ended => 2,
    }
}

fn sentence(all: &[Arc<Session>]) -> Markup {
    let count =
        |status: &[Status]| all.iter().filter(|it| status.contains(&it.view().status)).count();
    let (stopped, running) =
        (count(&[Status::Stopped]), count(&[Status::Running, Status::Starting]));
    html! {
        @if stopped + running == 0 { "No program is under the debugger now." } @else {
            "Programs under the debugger: " (stopped) @if stopped == 1 { " stands still, " } @else { " stand still, " }
            (running) @if running == 1 { " runs." } @else { " run." }
        }
    }
}

fn table(all: &[Arc<Session>]) -> Markup {
    html! {
        @if all.is_empty() {
            div.empty { b { "Nothing has been started." } "An agent starts programs with its tools; you can start one below." }
        } @else {
            table.rows.tall-rows {
                thead { tr {
                    th scope="col" { "Program" } th scope="col" { "State" } th scope="col" { "Where" } th scope="col" { "Language" }
                    th scope="col" .num { "Pid" } th scope="col" { "In control" } th scope="col" .num { "Since" }
                    th scope="col" { span.hush { "Again" } }
                } }
                tbody { @for session in all { (row(session)) } }
            }
        }
    }
}

fn row(session: &Arc<Session>) -> Markup {
    let view = session.view();
    let pid = session.process(holdpoint_engine::ids::TargetId::MAIN).and_then(|it| it.pid);
    let is_over = view.status == Status::Ended;
    html! {
        tr id={ "row-" (session.id) } {
            td { a.row href={ "/sessions/" (session.id) } { b { (pieces::line(&session.name)) } } " " span.quiet { (session.id) } }
            td { (state(session)) }
            td.soft { (place(session)) }
            td.soft { (language(session)) }
            td.num.soft { @if let Some(pid) = pid.filter(|_| !is_over) { (pid) } }
            td { (control(session)) }
            td.num.soft { (pieces::age(session.began.as_millisecond())) }
            td.num {
                @if is_over && session.launch().is_some() {
                    form.over-row method="post" action={ "/sessions/" (session.id) } {
                        button.btn.small name="do" value="restart" aria-label={ "Run " (session.name) " again" } { (icon("restart")) "Again" }
                    }
                }
            }
        }
    }
}

/// `python 3.11.7`
pub(super) fn language(session: &Session) -> Markup {
    let version = session.runtime.as_ref().and_then(|it| it.version.as_deref());
    html! { (session.language) @if let Some(version) = version { " " (pieces::line(version)) } }
}

fn control(session: &Session) -> Markup {
    let last = session.last_move().map(|it| it.by);
    html! {
        @match (session.holder(), last) {
            (Holder::Person, _) => span.by { (pieces::you()) "you" },
            (Holder::Agents, Some(holdpoint_engine::actor::Actor::Client { name, .. })) => {
                span.by { (pieces::who(&name)) (pieces::line(&name)) }
            },
            (Holder::Agents, _) => span.quiet { "agents" },
        }
    }
}

/// To start a program; `command` is what was typed before.
pub(super) fn start_form(command: &str) -> Markup {
    html! {
        section.panel aria-labelledby="l-h" {
            header { h2 #l-h { "Run a program" } small { "it stops before its first line, and you are in control" } }
            form.pad.launch method="post" action="/sessions" {
                input type="hidden" name="do" value="start";
                label.field.grow { span { "Command or file" } input.in.mono name="command" value=(command) placeholder="python app.py --all" required spellcheck="false" autocomplete="off"; }
                label.field { span { "In the folder" } input.in.mono name="cwd" placeholder=(crate::root::current().display()) spellcheck="false" autocomplete="off"; }
                button.btn.main-act { (icon("play")) "Run" }
            }
            form.pad.launch.second method="post" action="/sessions" {
                input type="hidden" name="do" value="attach";
                label.field { span { "Or take one that runs: its process" } input.in.mono.tab name="pid" inputmode="numeric" placeholder="pid" required autocomplete="off"; }
                button.btn { "Attach" }
            }
        }
    }
}
