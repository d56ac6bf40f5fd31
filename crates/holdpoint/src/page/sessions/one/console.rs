//! What was evaluated where the program stands, by agents and persons; what the program wrote, and what it is given.

use std::sync::Arc;

use holdpoint_engine::{
    actor::Actor,
    event::{Evaluation, Event},
    limits,
    session::{Session, Shown, Status, Stream},
};
use maud::{Markup, html};

use crate::{
    app::App,
    page::{
        address::PageAddress,
        happened,
        pieces::{self, icon},
        sheet::LiveParts,
    },
};

/// Evaluations that are shown; the timeline has the others.
const TALK: usize = 40;

pub(super) fn talk(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
    frame: usize,
    shown: Option<&Shown>,
    parts: &mut LiveParts,
) -> Markup {
    let function = shown.and_then(|it| it.stack.frames.get(frame)).map(|it| it.function.clone());
    let mut said = happened::newest(app, TALK, |it| match &*it.event {
        Event::Evaluated(one) => one.session == session.id,
        _ => false,
    });
    said.reverse();
    html! {
        section.pane.console aria-labelledby="con-h" {
            header {
                h2 #con-h { "Console" }
                span.end.quiet #evaluates { (parts.put("evaluates", html! { @if let Some(function) = &function { "evaluates in " code { (pieces::line(function)) } } })) }
            }
            ol.talk #talk tabindex="0" aria-label="What was evaluated" data-end {
                (parts.put("talk", html! {
                    @if said.is_empty() { li.none { span.quiet { "Nothing was evaluated yet." } } }
                    @for record in &said {
                        @if let Event::Evaluated(one) = &*record.event { li id={ "t" (record.seq) } { (line(one)) } }
                    }
                }))
            }
            form.prompt method="post" action=(at.path()) {
                input type="hidden" name="do" value="evaluate";
                input type="hidden" name="frame" value=(frame);
                label.hush for="ev" { "Evaluate" }
                (icon("repl"))
                input #ev.mono name="expression" data-console data-once placeholder="An expression of the program’s language" autocomplete="off" spellcheck="false";
                kbd { "`" }
            }
        }
    }
}

fn line(one: &Evaluation) -> Markup {
    html! {
        span.in-l {
            @match &one.by {
                Actor::Client { name, .. } => (pieces::who(name)),
                Actor::Person | Actor::App | Actor::Server => (pieces::you()),
            }
            code { (pieces::line(&one.expression)) }
        }
        samp.fail[one.failed] { (pieces::block(&one.result)) @if let Some(kind) = &one.kind { " " i { (pieces::line(kind)) } } }
    }
}

pub(super) fn output(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
    parts: &mut LiveParts,
) -> Markup {
    let is_over = session.view().status == Status::Ended;
    html! {
        section.pane.output aria-labelledby="out-h" {
            header {
                h2 #out-h { "Output" }
                span.end.quiet #out-n { (parts.put("out-n", counted(session))) }
            }
            pre.out #out tabindex="0" data-end data-lays { (parts.put("out", written(app, session))) }
            @if session.launch().is_some() {
                form.prompt method="post" action=(at.path()) {
                    input type="hidden" name="do" value="input";
                    label.hush for="stdin" { "Write to the program’s input" }
                    (icon("right"))
                    input #stdin.mono name="text" data-once placeholder="To its input" autocomplete="off" spellcheck="false" disabled[is_over];
                }
            }
        }
    }
}

fn counted(session: &Session) -> Markup {
    let bytes = session.output.cursor();
    html! { @if bytes > 0 { (pieces::number(usize::try_from(bytes).unwrap_or_default())) " bytes" } }
}

/// The end of what it wrote, in order, what went to stderr in its own colour.
fn written(app: &App, session: &Session) -> Markup {
    let tail = session.output.tail(limits::PAGE_OUTPUT);
    let secrets = app.engine.secrets();
    html! {
        @if tail.left_out > 0 { span.quiet { "… " (tail.left_out) " bytes before\n" } }
        @for (stream, text) in &tail.pieces {
            @match stream {
                Stream::Stdout => span { (pieces::block(&secrets.text(text))) },
                Stream::Stderr => span.err { (pieces::block(&secrets.text(text))) },
                Stream::Debugger => span.quiet { (pieces::block(&secrets.text(text))) },
            }
        }
    }
}
