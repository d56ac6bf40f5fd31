//! One transcript: the call that it is in, what was asked, what the app answered; and a line to ask on while it is live.

use holdpoint_engine::{
    actor::Actor,
    budget,
    failure::Failure,
    limits,
    repl::{Exchange, ReplSession},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{refused, to};
use crate::{
    app::App,
    page::{
        address,
        pieces::{self, block, icon, line},
        sheet::{LiveParts, Then},
    },
};

/// Exchanges that are shown; the newest are.
const SHOWN: usize = 200;

pub(super) fn pane(app: &App, one: &ReplSession, parts: &mut LiveParts) -> Markup {
    html! {
        section.pane aria-labelledby="rt-h" {
            header #rt-head { (parts.put("rt-head", head(app, one))) }
            ol.talk.roomy #rt-talk tabindex="0" aria-label="Transcript" data-end { (parts.put("rt-talk", said(app, one))) }
            div #rt-prompt { (parts.put("rt-prompt", prompt(one))) }
        }
    }
}

fn prompt(one: &ReplSession) -> Markup {
    let id = &one.session_id;
    html! {
        @if one.closed_at.is_none() {
            form.prompt id={ "prompt-" (address::word(id)) } method="post" action=(to(id)) {
                input type="hidden" name="do" value="evaluate";
                label.hush for="rp" { "Evaluate in the paused call" }
                (icon("repl"))
                input #rp.mono name="expression" data-console data-once required placeholder="An expression of the app’s language; assignments last" autocomplete="off" spellcheck="false";
                kbd { "`" }
            }
        } @else {
            p.prompt.over { (icon("repl")) span.quiet { "The call has gone on; nothing more can be asked here." } }
        }
    }
}

fn head(app: &App, one: &ReplSession) -> Markup {
    let is_live = one.closed_at.is_none();
    html! {
        h2 #rt-h { code { (line(&one.function_name)) (given(app, one)) } }
        @if is_live { (pieces::badge("hold", "paused", "paused")) } @else { (pieces::badge("", "stop", "closed")) }
        span.quiet.pid { "pid " (one.pid) }
        span.end.btns-row {
            @if is_live {
                form method="post" action=(to(&one.session_id)) { button.btn.small name="do" value="close" { "Close" } }
                a.btn.small href={ "/calls/paused/" (address::word(&one.pause_id)) } { "Decide" }
            } @else {
                a.btn.small href={ "/calls/call/" (address::word(&one.call_id)) } { "The call" }
            }
        }
    }
}

/// `('fay', 71200)`, without what is secret.
pub(super) fn given(app: &App, one: &ReplSession) -> Markup {
    let word = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let args = one.pretty_args.as_array().into_iter().flatten().map(&word);
    let named = one.pretty_kwargs.as_object().into_iter().flatten();
    let secrets = app.engine.secrets();
    let named = named.map(|(name, it)| format!("{name}={}", secrets.named(name, &word(it))));
    let all: Vec<String> = args.map(|it| secrets.text(&it).into_owned()).chain(named).collect();
    let text = format!("({})", all.join(", "));
    html! { (line(&budget::cut(&text, limits::PAGE_VALUE))) }
}

fn said(app: &App, one: &ReplSession) -> Markup {
    let older = one.transcript.len().saturating_sub(SHOWN);
    html! {
        @if one.transcript.is_empty() { li.none { span.quiet { "Nothing was asked yet." } } }
        @if older > 0 { li { span.quiet { (older) " before these; " a href={ "/api/repl/" (address::word(&one.session_id)) } { "all of them as JSON" } } } }
        @for it in one.transcript.iter().skip(older) { (exchange(app, it)) }
    }
}

fn exchange(app: &App, it: &Exchange) -> Markup {
    let secrets = app.engine.secrets();
    let at = pieces::seconds_ms(it.timestamp);
    let cut = |text: &str| budget::cut(text, limits::PAGE_OUTPUT);
    html! {
        li data-k=(it.index) {
            span.in-l { (asker(it.by.as_ref())) code { (line(&secrets.text(&cut(&it.input)))) } time.tab data-at=(at) { (pieces::clock(at).0) } }
            @if !it.stdout.is_empty() { samp.quiet { (block(&secrets.text(&cut(&it.stdout)))) } }
            samp.fail[it.is_error] {
                (block(&secrets.named(&it.input, &cut(&it.output))))
                @if let Some(cid) = &it.result_cid {
                    " " a.cid href={ "/values/cid/" (address::word(cid)) } { (cid.get(..limits::CID_DIGITS).unwrap_or(cid)) }
                }
            }
        }
    }
}

/// Who asked, by their mark; their name is said beside it.
pub(in crate::page) fn asker(by: Option<&Actor>) -> Markup {
    html! {
        @match by {
            Some(Actor::Client { name, .. }) => { (pieces::who(name)) b.asker { (line(name)) } },
            Some(Actor::Person) => { (pieces::you()) b.asker { "you" } },
            Some(Actor::App | Actor::Server) | None => (icon("repl")),
        }
    }
}

pub(super) async fn evaluate(app: &App, id: &str, expression: &str) -> Result<Then, Failure> {
    let calls = app.engine.callpoints().await;
    // What the app threw is in the transcript.
    calls.evaluate(id, expression, Actor::Person, limits::EVAL).await.map_err(refused)?;
    Ok(Then::Here)
}
