//! Expressions evaluated in a paused app: a relay. The app fetches what is queued, evaluates it in its
//! own frames, and posts what came of it; whoever asked waits for that.
//!
//! An open session is in memory, and in the store with every entry of its transcript.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use holdpoint_store::{ReplQuery, ReplRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    Callpoints, clock, pretty,
    value::{BadItem, Format, Item},
};
use crate::{budget, limits};

#[derive(Default)]
pub(super) struct Repls {
    /// Open ones only.
    sessions: HashMap<String, Session>,
    pending: HashMap<String, Pending>,
}

/// The wire's session; its serialised form is also a column of the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub session_id: String,
    pub pause_id: String,
    pub pid: i64,
    pub started_at: f64,
    pub closed_at: Option<f64>,
    pub function_name: String,
    pub call_id: String,
    pub process_key: String,
    pub args: Value,
    pub kwargs: Value,
    pub pretty_args: Value,
    pub pretty_kwargs: Value,
    pub signature: Value,
    pub transcript: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub index: usize,
    pub input: String,
    pub output: String,
    pub stdout: String,
    pub is_error: bool,
    pub result_cid: Option<String>,
    pub timestamp: f64,
}

/// An expression that waits for its app.
pub(super) struct Queued {
    pub(super) eval_id: String,
    pub(super) session_id: String,
    pub(super) expr: String,
    announced: Option<Instant>,
}

struct Pending {
    session_id: String,
    pause_id: String,
    input: String,
    done: oneshot::Sender<Entry>,
}

/// Why there is no session, or no answer. Each is an answer that the wire knows.
#[derive(Debug, Clone, PartialEq)]
pub enum NoRepl {
    PauseNotFound,
    PauseResumed,
    /// The paused call names no process.
    InvalidPause,
    SessionNotFound,
    SessionClosed,
    EvalNotFound,
    /// Nobody fetched or answered it in time.
    Timeout(String),
    Item(BadItem),
    /// As many sessions or evaluations as there may be.
    Full,
}

/// What an app posts about an expression.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub eval_id: String,
    pub session_id: String,
    pub pause_id: String,
    pub result: Option<String>,
    pub stdout: String,
    pub error: Value,
    pub value: Item,
}

impl Queued {
    /// Whether a held poll is to be answered for it. Again after a while: an app that evaluates one
    /// thing at a time passes over the second.
    pub(super) fn announce(&mut self) -> bool {
        let due = self.announced.is_none_or(|at| at.elapsed() >= limits::ANNOUNCE_EVERY);
        if due {
            self.announced = Some(Instant::now());
        }
        due
    }
}

impl Repls {
    pub(super) fn sessions_of(&self, pause_id: &str) -> Vec<String> {
        let of = |session: &&Session| session.pause_id == pause_id;
        self.sessions.values().filter(of).map(|session| session.session_id.clone()).collect()
    }
}

impl Callpoints {
    /// Opens a session in a paused call.
    pub async fn open_session(&self, pause_id: &str) -> Result<String, NoRepl> {
        let row = {
            let mut guard = self.state();
            let state = &mut *guard;
            if state.pauses.is_decided(pause_id) {
                return Err(NoRepl::PauseResumed);
            }
            let pause = state.pauses.get_mut(pause_id).ok_or(NoRepl::PauseNotFound)?;
            if state.repls.sessions.len() >= limits::REPL_SESSIONS {
                return Err(NoRepl::Full);
            }
            let mut now = clock::now();
            let mut session_id = format!("{}-{now:.6}", pause.call.pid);
            while state.repls.sessions.contains_key(&session_id) {
                now += 0.001;
                session_id = format!("{}-{now:.6}", pause.call.pid);
            }
            let data = |name: &str| pause.data.get(name).cloned().unwrap_or(Value::Null);
            let session = Session {
                session_id: session_id.clone(),
                pause_id: pause_id.to_owned(),
                pid: pause.call.pid,
                started_at: now,
                closed_at: None,
                function_name: pause.call.name.clone(),
                call_id: pause.call.id.clone(),
                process_key: pause.call.process.clone(),
                args: data("args"),
                kwargs: data("kwargs"),
                pretty_args: data("pretty_args"),
                pretty_kwargs: data("pretty_kwargs"),
                signature: data("signature"),
                transcript: Vec::new(),
            };
            pause.sessions.push(session_id.clone());
            let row = session.row();
            state.repls.sessions.insert(session_id, session);
            row
        };
        let session_id = row.session_id.clone();
        self.save_session(row).await;
        Ok(session_id)
    }

    /// Evaluates in a session and waits for the answer.
    pub async fn evaluate(
        &self,
        session_id: &str,
        expr: &str,
        patience: Duration,
    ) -> Result<Entry, NoRepl> {
        let eval_id = uuid::Uuid::new_v4().to_string();
        let (done, answer) = oneshot::channel();
        match self.queue_eval(session_id, expr, &eval_id, done) {
            Ok(()) => {}
            Err(NoRepl::SessionNotFound) if self.kept_session(session_id).await.is_some() => {
                return Err(NoRepl::SessionClosed);
            }
            Err(error) => return Err(error),
        }
        let waited = tokio::time::timeout(patience, answer).await;
        match waited {
            Ok(Ok(entry)) => Ok(entry),
            // Its session was closed, or its call went on.
            Ok(Err(_dropped)) => Err(NoRepl::SessionClosed),
            Err(_elapsed) => {
                // Neither fetched later nor answered to nobody.
                let mut state = self.state();
                if let Some(pending) = state.repls.pending.remove(&eval_id)
                    && let Some(pause) = state.pauses.get_mut(&pending.pause_id)
                {
                    pause.evals.retain(|queued| queued.eval_id != eval_id);
                }
                let seconds = patience.as_secs_f64();
                Err(NoRepl::Timeout(format!("Debug client did not respond within {seconds}s")))
            }
        }
    }

    fn queue_eval(
        &self,
        session_id: &str,
        expr: &str,
        eval_id: &str,
        done: oneshot::Sender<Entry>,
    ) -> Result<(), NoRepl> {
        let mut guard = self.state();
        let state = &mut *guard;
        let session = state.repls.sessions.get(session_id).ok_or(NoRepl::SessionNotFound)?;
        let pause_id = session.pause_id.clone();
        let pause = state.pauses.get_mut(&pause_id).ok_or(NoRepl::SessionClosed)?;
        if pause.is_post_mortem() {
            let why = "nothing waits at this pause: the app went on with its exception";
            return Err(NoRepl::Timeout(why.to_owned()));
        }
        if pause.evals.len() >= limits::EVALS {
            return Err(NoRepl::Full);
        }
        pause.evals.push_back(Queued {
            eval_id: eval_id.to_owned(),
            session_id: session_id.to_owned(),
            expr: expr.to_owned(),
            announced: None,
        });
        pause.wake();
        let (session_id, input) = (session_id.to_owned(), expr.to_owned());
        let pending = Pending { session_id, pause_id, input, done };
        state.repls.pending.insert(eval_id.to_owned(), pending);
        Ok(())
    }

    /// The oldest expression that waits for this paused app: the wire's request, or `eval_id: null`.
    pub fn fetch_eval(&self, pause_id: &str) -> Value {
        let mut state = self.state();
        let Some(pause) = state.pauses.get_mut(pause_id) else { return json!({ "eval_id": null }) };
        pause.polled = Some(Instant::now());
        match pause.evals.pop_front() {
            Some(Queued { eval_id, session_id, expr, .. }) => json!({
                "eval_id": eval_id, "session_id": session_id, "pause_id": pause_id, "expr": expr,
            }),
            None => json!({ "eval_id": null }),
        }
    }

    /// What an app found.
    pub async fn answer_eval(&self, outcome: Outcome) -> Result<(), NoRepl> {
        if !self.state().repls.sessions.contains_key(&outcome.session_id) {
            let closed = self.kept_session(&outcome.session_id).await.is_some();
            return Err(if closed { NoRepl::SessionClosed } else { NoRepl::SessionNotFound });
        }
        if !self.state().repls.pending.contains_key(&outcome.eval_id) {
            return Err(NoRepl::EvalNotFound);
        }
        let cid = self.keep_value(&outcome.value).await.map_err(NoRepl::Item)?;
        let shown = match (&outcome.error, cid) {
            (Value::Null, Some(cid)) => self.shown_result(cid, &outcome).await,
            _ => None,
        };
        let (row, done, entry) = {
            let mut guard = self.state();
            let state = &mut *guard;
            let pending = state.repls.pending.remove(&outcome.eval_id);
            let pending = pending.ok_or(NoRepl::EvalNotFound)?;
            let session = state.repls.sessions.get_mut(&pending.session_id);
            let session = session.ok_or(NoRepl::SessionClosed)?;
            let is_error = is_error(&outcome.error);
            let output = match is_error {
                true => error_text(&outcome.error),
                false => shown.or(outcome.result).unwrap_or_default(),
            };
            let entry = Entry {
                index: session.transcript.last().map_or(0, |last| last.index + 1),
                input: pending.input,
                output: budget::cut(&output, limits::REPL_BYTES),
                stdout: budget::cut(&outcome.stdout, limits::REPL_BYTES),
                is_error,
                result_cid: outcome.value.cid.filter(|_| !is_error),
                timestamp: clock::now(),
            };
            session.transcript.push(entry.clone());
            if session.transcript.len() > limits::REPL_ENTRIES {
                session.transcript.remove(0);
            }
            (session.row(), pending.done, entry)
        };
        self.save_session(row).await;
        if done.send(entry).is_err() {
            tracing::debug!("whoever evaluated went away before the answer");
        }
        Ok(())
    }

    /// A captured result as text: what the app printed of it, where that is all there is to know.
    async fn shown_result(&self, cid: holdpoint_store::Cid, outcome: &Outcome) -> Option<String> {
        let format = outcome.value.format.unwrap_or_default();
        if format == Format::Dill && outcome.result.as_ref().is_some_and(|it| !it.is_empty()) {
            return None;
        }
        self.recorder.settle().await;
        let value = self.store.value(cid).await.ok()??;
        let text = match format {
            Format::Dill => value.data.as_deref().and_then(pretty::text_of),
            Format::Json => None,
        };
        text.or_else(|| match pretty::kept(&value) {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        })
    }

    /// Says whether there was such a session.
    pub async fn close_session(&self, session_id: &str) -> bool {
        let closed = self.state().repls.close(session_id);
        match closed {
            Some(row) => {
                self.save_session(row).await;
                true
            }
            None => self.kept_session(session_id).await.is_some(),
        }
    }

    pub(super) async fn close_sessions_of(&self, pause_id: &str) {
        let rows: Vec<ReplRow> = {
            let mut state = self.state();
            let ids = state.repls.sessions_of(pause_id);
            ids.iter().filter_map(|id| state.repls.close(id)).collect()
        };
        for row in rows {
            self.save_session(row).await;
        }
    }

    pub async fn session(&self, session_id: &str) -> Option<Session> {
        let open = self.state().repls.sessions.get(session_id).cloned();
        match open {
            Some(session) => Some(session),
            None => self.kept_session(session_id).await,
        }
    }

    async fn kept_session(&self, session_id: &str) -> Option<Session> {
        let row = self.store.repl(session_id.to_owned()).await.ok()??;
        serde_json::from_str(&row.body).ok()
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, query: ReplQuery) -> Vec<Session> {
        let rows = self.store.repls(query).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "REPL sessions could not be read");
            Vec::new()
        });
        rows.iter().filter_map(|row| serde_json::from_str(&row.body).ok()).collect()
    }

    async fn save_session(&self, row: ReplRow) {
        if let Err(error) = self.store.save_repl(row).await {
            tracing::warn!(%error, "a REPL session was not kept");
        }
    }
}

impl Repls {
    /// Whoever waits in it hears that it is closed, because its sender goes.
    fn close(&mut self, session_id: &str) -> Option<ReplRow> {
        let mut session = self.sessions.remove(session_id)?;
        session.closed_at = Some(clock::now());
        self.pending.retain(|_, pending| pending.session_id != session_id);
        Some(session.row())
    }
}

impl Session {
    fn row(&self) -> ReplRow {
        ReplRow {
            session_id: self.session_id.clone(),
            started_at: self.started_at,
            closed_at: self.closed_at,
            function_name: self.function_name.clone(),
            // A session is plain data: this cannot fail.
            body: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

fn is_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// `TypeError: x is not a function`, whether it came as text or as JavaScript's object (B26).
fn error_text(error: &Value) -> String {
    let field = |name| error.get(name).and_then(Value::as_str);
    match (error, field("name"), field("message")) {
        (Value::String(text), _, _) => text.clone(),
        (_, Some(name), Some(message)) => format!("{name}: {message}"),
        (_, None, Some(message)) => message.to_owned(),
        (other, _, _) => other.to_string(),
    }
}
