//! Expressions in paused calls: the relay ([`repl`](crate::repl)) knows sessions, this side knows which calls
//! are paused. Neither's lock is ever taken under the other's.

use std::{sync::Arc, time::Duration, time::Instant};

use holdpoint_store::Cid;
use serde_json::Value;
use tokio::time::timeout;

use super::Callpoints;
use crate::{
    actor::Actor,
    calls::{pretty, value::Format},
    repl::{EvalOutcome, Exchange, Expression, NoRepl},
};

impl Callpoints {
    /// Opens a session in a paused call.
    pub async fn open_session(&self, pause_id: &str) -> Result<String, NoRepl> {
        let seen = {
            let live = self.live();
            if live.pauses.is_decided(pause_id) {
                return Err(NoRepl::PauseResumed);
            }
            let pause = live.pauses.get(pause_id).ok_or(NoRepl::PauseNotFound)?;
            Arc::clone(&pause.seen)
        };
        let session_id = self.repl.open(pause_id, &seen).await?;
        let is_paused = match self.live().pauses.get_mut(pause_id) {
            Some(pause) => {
                pause.sessions.push(session_id.clone());
                true
            }
            None => false,
        };
        if !is_paused {
            // It went on meanwhile, and its sessions were closed before there was this one.
            self.repl.close(&session_id).await;
            return Err(NoRepl::PauseResumed);
        }
        Ok(session_id)
    }

    /// Evaluates in a session and waits for the answer.
    pub async fn evaluate(
        &self,
        session_id: &str,
        expression: &str,
        by: Actor,
        patience: Duration,
    ) -> Result<Exchange, NoRepl> {
        let Some(pause_id) = self.repl.pause_of(session_id) else {
            return Err(self.repl.why_not_open(session_id).await);
        };
        let is_post_mortem = self.live().pauses.get(&pause_id).map(|it| it.is_post_mortem());
        if is_post_mortem.ok_or(NoRepl::SessionClosed)? {
            let why = "nothing waits at this pause: the app went on with its exception";
            return Err(NoRepl::Timeout(why.to_owned()));
        }
        let awaited = self.repl.queue(session_id, expression, by)?;
        if let Some(pause) = self.live().pauses.get(&pause_id) {
            pause.wake();
        }
        match timeout(patience, awaited.answer).await {
            Ok(Ok(entry)) => Ok(entry),
            // Its session was closed, or its call went on.
            Ok(Err(_dropped)) => Err(NoRepl::SessionClosed),
            Err(_elapsed) => {
                self.repl.withdraw(&awaited.eval_id);
                let seconds = patience.as_secs_f64();
                Err(NoRepl::Timeout(format!("Debug client did not respond within {seconds}s")))
            }
        }
    }

    /// The oldest expression that waits for this paused app.
    pub fn fetch_eval(&self, pause_id: &str) -> Option<Expression> {
        self.live().pauses.get_mut(pause_id)?.polled = Some(Instant::now());
        self.repl.fetch(pause_id)
    }

    /// What an app found.
    pub async fn answer_eval(&self, outcome: EvalOutcome) -> Result<(), NoRepl> {
        self.repl.awaits(&outcome).await?;
        let cid = self.keep_value(&outcome.value).await.map_err(NoRepl::Item)?;
        let shown = match (&outcome.error, cid) {
            (Value::Null, Some(cid)) => self.shown_result(cid, &outcome).await,
            _ => None,
        };
        self.repl.answer(outcome, shown).await
    }

    /// A captured result as text: what the app printed of it, where that is all there is to know.
    async fn shown_result(&self, cid: Cid, outcome: &EvalOutcome) -> Option<String> {
        let format = outcome.value.format.unwrap_or_default();
        if format == Format::Dill && outcome.result.as_ref().is_some_and(|it| !it.is_empty()) {
            return None;
        }
        let value = self.records.value(cid).await.ok()??;
        let text = match format {
            Format::Dill => value.data.as_deref().and_then(pretty::text_of),
            Format::Json => None,
        };
        text.or_else(|| match pretty::kept(&value) {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        })
    }
}
