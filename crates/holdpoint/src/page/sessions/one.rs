//! One program: source, stack, threads, variables, points, console, output; and who is in control.

mod console;
pub(super) mod source;
mod values;

use std::sync::Arc;

use holdpoint_engine::{
    actor::Actor,
    failure::Failure,
    ids::{TargetId, ThreadKey},
    secrets::Secrets,
    session::{Holder, Session, Shown, Status},
};
use maud::{Markup, html};

use super::{list::language, points};
use crate::{
    app::App,
    page::{
        address::PageAddress,
        desk::SeenStop,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
    tools::debug::report,
};

/// Pieces of it that are asked for by themselves.
pub(super) async fn piece(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
) -> Result<Markup, Failure> {
    match at.word(1) {
        Some("line") => source::raw(app, session, at).await,
        _ => values::answer(app, session, at).await,
    }
}

pub(super) async fn sheet(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
) -> Result<Sheet, Failure> {
    let frame: usize = at.chosen("frame").parse().unwrap_or_default();
    let other = other_thread(session, at);
    let stopped = app.desk.stop(session, if other.is_none() { frame } else { 0 }).await;
    // A thread that tells nothing leaves the panes empty but for the reason.
    let (seen, refused) = match other {
        None => (stopped.clone(), None),
        Some(thread) => match app.desk.thread(session, thread, frame).await {
            Ok(seen) => (Some(seen), None),
            Err(failure) => (None, Some(failure)),
        },
    };
    let shown = seen.as_ref().map(|it| Arc::clone(&it.shown));
    let (console_frame, console_stop) = match other {
        None => (frame, shown.clone()),
        // Expressions are evaluated where it stopped.
        Some(_) => (0, stopped.as_ref().map(|it| Arc::clone(&it.shown))),
    };
    let is_stopped = session.view().status == Status::Stopped;
    let points = points::standing(app, Some(session));
    let code =
        source::CodePane::of(app, session, at, shown.as_deref(), &points, seen.as_deref()).await?;
    let mut parts = LiveParts::default();
    let main = html! {
        (bar(session, at, &mut parts))
        (tools(app.engine.secrets(), session, at, &code, &mut parts))
        div.debug {
            (code.pane(&mut parts))
            div.side {
                (values::pane(app, session, at, frame, seen.as_deref(), &mut parts))
                details.pane open {
                    summary { h2 { "Stack" } span.end.quiet #stack-of { (parts.put("stack-of", as_of(is_stopped, other))) } }
                    ol.stack #stack { (parts.put("stack", stack(session, at, frame, shown.as_deref(), refused.as_ref()))) }
                }
                details.pane open {
                    summary { h2 { "Threads" } span.end.quiet #threads-n { (parts.put("threads-n", html! { (session.view().threads.len()) })) } }
                    ul.stack #threads { (parts.put("threads", threads(session, at, other, stopped.as_deref()))) }
                }
                details.pane open {
                    summary { h2 { "Points" } span.end.quiet #points-n { (parts.put("points-n", html! { (points.len()) })) } }
                    ul.points #points { (parts.put("points", points::side(&points, session.cwd(), &at.whole))) }
                }
                (code.tracer(at))
                (note_form(at))
            }
            (console::talk(app, session, at, console_frame, console_stop.as_deref(), &mut parts))
            (console::output(app, session, at, &mut parts))
        }
    };
    let title = format!("{}, {}", session.name, session.view().status.as_str());
    Ok(Sheet { title, is_fill: true, shape: "session", main, parts })
}

fn bar(session: &Arc<Session>, at: &PageAddress, parts: &mut LiveParts) -> Markup {
    let pid = session.process(TargetId::MAIN).and_then(|it| it.pid);
    html! {
        header.bar {
            a.crumb href="/sessions" { "Sessions" }
            h1 { (pieces::line(&session.name)) }
            span #state { (parts.put("state", state(session))) }
            p.cut #place aria-live="polite" { (parts.put("place", place(session))) }
            div.end {
                span.quiet.tab.nowrap.wide { (session.id) ", " (language(session)) @if let Some(pid) = pid { ", pid " (pid) } }
                form.btns-row method="post" action=(at.path()) #ends { (parts.put("ends", ends(session))) }
            }
        }
    }
}

fn ends(session: &Session) -> Markup {
    let is_over = session.view().status == Status::Ended;
    html! {
        @if session.launch().is_some() {
            button.btn.bare name="do" value="restart" { (icon("restart")) span { @if is_over { "Run again" } @else { "Restart" } } }
        }
        button.btn.bare.danger name="do" value="stop" disabled[is_over] {
            (icon("stop")) span { @if session.attach().is_some() { "Let go" } @else { "End" } }
        }
    }
}

/// A session's state as a badge.
pub(super) fn state(session: &Session) -> Markup {
    match session.view().status {
        Status::Stopped => pieces::badge("hold", "held", "stopped"),
        Status::Running => pieces::badge("run", "play", "running"),
        Status::Starting => pieces::badge("", "clock", "starting"),
        Status::Ended => pieces::badge("", "stop", "ended"),
    }
}

/// `step at shop/pricing.py:43 in quote`, or how it ended.
pub(super) fn place(session: &Session) -> Markup {
    let view = session.view();
    html! {
        @match (view.status, &view.stop, view.exit) {
            (Status::Stopped, Some(shown), _) => {
                @let text = shown.stop.text.as_deref();
                (shown.stop.reason.as_str())
                @for id in &shown.stop.hits { " " (id) }
                @if let Some(top) = shown.stack.frames.first() {
                    " at " code { (pieces::line(&report::spot(top, session))) } " in " code { (pieces::line(&top.function)) }
                }
                @if let Some(text) = text { ": " (pieces::line(text)) }
            },
            (Status::Ended, _, Some(exit)) => { "ended with " (exit) },
            (Status::Ended, _, None) => "ended",
            (Status::Starting, ..) => "it is being started",
            (Status::Running | Status::Stopped, ..) => {
                @let passed: u64 = session.passes().iter().map(|it| it.reported).sum();
                @if passed > 0 { (pieces::number(usize::try_from(passed).unwrap_or_default())) " hits of tracepoints" } @else { "it runs" }
            },
        }
    }
}

/// Who is at it.
pub(super) fn who(session: &Session) -> Markup {
    html! {
        @match (session.holder(), session.last_move()) {
            (Holder::Person, _) => { (pieces::you()) "you are in control" },
            (Holder::Agents, Some(last)) => {
                @if let Actor::Client { name, .. } = &last.by { (pieces::who(name)) (pieces::line(name)) " is at it" } @else { "agents are in control" }
            },
            (Holder::Agents, None) => "nobody yet",
        }
    }
}

fn tools(
    secrets: &Secrets,
    session: &Arc<Session>,
    at: &PageAddress,
    code: &source::CodePane,
    parts: &mut LiveParts,
) -> Markup {
    html! {
        div.tools role="toolbar" aria-label="Control of the program" {
            form.btns-row method="post" action=(at.path()) #moves { (parts.put("moves", moves(session))) }
            (code.to_line(at, session.view().status == Status::Stopped, parts))
            div.control {
                p #control-note aria-live="polite" { (parts.put("control-note", control_note(secrets, session))) }
                form method="post" action=(at.path()) #control { (parts.put("control", switch(session))) }
            }
        }
    }
}

fn moves(session: &Session) -> Markup {
    let status = session.view().status;
    let (stands, runs) = (status == Status::Stopped, status == Status::Running);
    let button = |what: &str, key: &str, symbol: &str, word: &str, on: bool| {
        html! {
            button.btn name="do" value=(what) data-key=(key) title={ (word) " (" (key) ")" } disabled[!on] { (icon(symbol)) span { (word) } }
        }
    };
    html! {
        div.btns { (button("continue", "F8", "play", "Continue", stands)) (button("pause", "F9", "pause", "Pause", runs)) }
        div.btns {
            (button("over", "F10", "over", "Over", stands)) (button("in", "F11", "into", "In", stands))
            (button("out", "Shift F11", "out", "Out", stands))
        }
    }
}

/// A word for the agent.
fn note_form(at: &PageAddress) -> Markup {
    html! {
        details.pane open {
            summary { h2 { "Note to the agent" } span.end.quiet { "its next answer carries it" } }
            form.prompt.in-side method="post" action=(at.path()) {
                input type="hidden" name="do" value="note";
                label.hush for="note-text" { "Note to the agent" }
                (icon("flag"))
                input #note-text name="text" data-once placeholder="What it should know" autocomplete="off";
            }
        }
    }
}

/// What is done by whom, as it happens.
fn control_note(secrets: &Secrets, session: &Session) -> Markup {
    html! {
        @match (session.holder(), session.last_move()) {
            (Holder::Person, _) => "You are in control. An agent’s move is refused; it is told in its next answer.",
            (Holder::Agents, Some(last)) => {
                @match &last.by {
                    Actor::Client { name, .. } => { b { (pieces::line(name)) } ": " code { (pieces::line(&secrets.text(&last.what))) } },
                    Actor::Person | Actor::App | Actor::Server => "Agents are in control. What you press takes over.",
                }
            },
            (Holder::Agents, None) => "Agents are in control. What you press takes over.",
        }
    }
}

fn switch(session: &Session) -> Markup {
    let is_mine = session.holder() == Holder::Person;
    let agent = session.last_move().and_then(|it| match it.by {
        Actor::Client { name, .. } => Some(name),
        Actor::Person | Actor::App | Actor::Server => None,
    });
    let agent = agent.unwrap_or_else(|| "agents".to_owned());
    html! {
        input type="hidden" name="do" value="control";
        fieldset.seg title="Who steers this program (o)" {
            legend.hush { "In control" }
            label { input type="radio" name="control" value="agents" data-acts checked[!is_mine]; span { (pieces::who(&agent)) span.cut { (pieces::line(&agent)) } } }
            label { input type="radio" name="control" value="you" data-acts checked[is_mine]; span { (pieces::you()) "You" } }
        }
        noscript { button.btn.small { "Set" } }
    }
}

/// Another thread than the one that stopped, as the address names it; none once the program runs.
fn other_thread(session: &Session, at: &PageAddress) -> Option<ThreadKey> {
    let thread: ThreadKey = at.chosen("thread").parse().ok()?;
    let view = session.view();
    let here = view.stop.as_ref().filter(|_| view.status == Status::Stopped)?;
    (thread != here.stop.thread).then_some(thread)
}

fn as_of(is_stopped: bool, other: Option<ThreadKey>) -> Markup {
    html! {
        @if !is_stopped { "as of the last stop" }
        @if let Some(thread) = other { "of thread " (thread) }
    }
}

fn stack(
    session: &Session,
    at: &PageAddress,
    chosen: usize,
    shown: Option<&Shown>,
    refused: Option<&Failure>,
) -> Markup {
    if let Some(failure) = refused {
        return html! { li.none { (pieces::failure(failure)) } };
    }
    let Some(shown) = shown else {
        return html! { li.none { span.quiet { "It has not stopped yet." } } };
    };
    let total = shown.stack.total.unwrap_or_default().max(shown.stack.frames.len());
    html! {
        @for (number, frame) in shown.stack.frames.iter().enumerate() {
            li.is-on[number == chosen] {
                a href=(at.with(&[("frame", &number.to_string()), ("file", ""), ("line", "")])) aria-current=[(number == chosen).then_some("true")] {
                    b.quiet[!frame.is_user] { (pieces::line(&frame.function)) }
                    code { (pieces::line(&report::spot(frame, session))) }
                }
            }
        }
        @if total > shown.stack.frames.len() { li.none { span.quiet { (total - shown.stack.frames.len()) " more" } } }
    }
}

fn threads(
    session: &Session,
    at: &PageAddress,
    other: Option<ThreadKey>,
    seen: Option<&SeenStop>,
) -> Markup {
    let view = session.view();
    let here = view.stop.as_ref().map(|it| it.stop.thread);
    let looked_at = other.or(here);
    let is_stopped = view.status == Status::Stopped;
    let to = |key: ThreadKey| {
        let name = if here == Some(key) { String::new() } else { key.to_string() };
        at.with(&[("thread", &name), ("frame", ""), ("file", ""), ("line", "")])
    };
    html! {
        @if view.threads.is_empty() { li.none { span.quiet { "none" } } }
        @for row in &view.threads {
            @let name = seen.and_then(|it| it.threads.get(&row.key)).or(row.name.as_ref());
            @let is_on = looked_at == Some(row.key);
            @let body = html! {
                b { (row.key) " " (pieces::line(name.map_or("thread", String::as_str))) }
                @match (row.is_stopped, here == Some(row.key)) {
                    (true, true) => span.hold-t { "stopped, here" },
                    (true, false) => span.hold-t { "stopped" },
                    (false, _) => span.quiet { "runs" },
                }
            };
            li.is-on[is_on] {
                @if is_stopped { a href=(to(row.key)) aria-current=[is_on.then_some("true")] { (body) } }
                @else { span.a { (body) } }
            }
        }
    }
}
