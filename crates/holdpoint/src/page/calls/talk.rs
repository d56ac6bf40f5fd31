//! Expressions in a paused call: what was evaluated there, and a line for one more. The app evaluates.

use holdpoint_engine::{
    callpoints::{Callpoints, paused::Paused},
    failure::{Code, Failure},
    limits,
    repl::Exchange,
};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{doing, has_view, paused};
use crate::{
    app::App,
    page::{
        address::{self, FormFields},
        pieces::{self, icon},
        repl::talk::asker,
        sheet::Then,
    },
};

/// What was said, and where to say more.
#[derive(Default)]
pub(super) struct TalkParts {
    pub(super) said: Markup,
    pub(super) prompt: Markup,
}

pub(super) async fn markup(app: &App, calls: &Callpoints, paused: &Paused) -> TalkParts {
    let mut said: Vec<(String, Exchange)> = Vec::new();
    for id in &paused.repl_sessions {
        if let Some(session) = calls.repl.session(id).await {
            said.extend(session.transcript.into_iter().map(|it| (id.clone(), it)));
        }
    }
    said.sort_by(|a, b| a.1.timestamp.total_cmp(&b.1.timestamp));
    let older = said.len().saturating_sub(limits::NAMES_SHOWN * 2);
    let can = paused.seen.call.pid.is_some() && paused.is_waiting;
    let secrets = app.engine.secrets();
    let to = paused::to(&paused.id);
    let said = html! {
        @if said.is_empty() { li.none { span.quiet { @if can { "Nothing was evaluated yet." } @else { "Nothing can be evaluated: no app waits here." } } } }
        @if older > 0 { li { span.quiet { (older) " before" } } }
        @for (id, it) in said.iter().skip(older) {
            li data-k={ (id) "-" (it.index) } {
                span.in-l { (asker(it.by.as_ref())) code { (pieces::line(&secrets.text(&it.input))) } }
                @if !it.stdout.is_empty() { samp.quiet { (pieces::block(&secrets.text(&it.stdout))) } }
                samp.fail[it.is_error] { (pieces::block(&secrets.named(&it.input, &it.output)))
                    @if let Some(cid) = it.result_cid.as_deref().filter(|_| !it.is_error) { " " a.cid href={ "/values/cid/" (address::word(cid)) } { (short(cid)) } } }
            }
        }
    };
    let prompt = html! {
        @if can {
            form.prompt method="post" action=(to) id={ "prompt-" (paused.id) } {
                input type="hidden" name="do" value="evaluate";
                label.hush for="re" { "Evaluate in the paused call" }
                (icon("repl"))
                input #re.mono name="expression" data-console data-once placeholder="An expression; assignments last" autocomplete="off" spellcheck="false" required;
                kbd { "`" }
            }
        }
        @if has_view("repl") {
            div.repl-links {
                @for id in &paused.repl_sessions { a href={ "/repl/" (address::word(id)) } { "REPL " (pieces::line(id)) } }
                @if can && paused.repl_sessions.is_empty() {
                    form method="post" action=(to) { button.btn.small name="do" value="repl" { (icon("repl")) "Open a REPL" } }
                }
            }
        }
    };
    TalkParts { said, prompt }
}

/// The beginning of a CID.
pub(super) fn short(cid: &str) -> &str {
    cid.get(..limits::CID_DIGITS).unwrap_or(cid)
}

/// Evaluates in the call's session, or in a new one.
pub(super) async fn evaluate(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    ask(app, id, form.get("expression")).await?;
    Ok(Then::Here)
}

/// What an expression gives in a paused call.
pub(super) async fn ask(app: &App, id: &str, expression: &str) -> Result<Value, Failure> {
    let calls = app.engine.callpoints().await;
    let session = calls.paused_one(id).and_then(|it| it.repl_sessions.first().cloned());
    let asked = json!({ "pause_id": id, "expression": expression });
    doing::patiently(app, "breakpoint_repl_eval", session.as_deref(), asked).await
}

/// A session of its own, in the view that has them all.
pub(super) async fn open(app: &App, id: &str) -> Result<Then, Failure> {
    let calls = app.engine.callpoints().await;
    let opened = calls.open_session(id).await;
    let no = |_| Failure::new(Code::NotStopped, "the call has gone on, or no app waits at it");
    Ok(Then::To(format!("/repl/{}", address::word(&opened.map_err(no)?))))
}
