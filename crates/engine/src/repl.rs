//! Expressions evaluated in a paused app: a relay, in a room of its own. The app fetches what is queued,
//! evaluates it in its own frames, and posts what came of it; whoever asked waits for that.
//!
//! Which calls are paused is not known here: interception ([`callpoints`](crate::callpoints)) opens sessions
//! for them, and closes those of a call that goes on. An open session is in memory, and in the store with
//! every entry of its transcript.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

pub use holdpoint_store::ReplQuery;
use holdpoint_store::{ReplRow, Tables};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    actor::Actor,
    budget,
    calls::{
        call::Reference,
        clock,
        seen::Seen,
        value::{BadItem, Item},
    },
    event::Event,
    limits,
    log::Log,
};

pub struct Repl {
    open: Mutex<Open>,
    store: Arc<dyn Tables>,
    log: Arc<Log>,
}

#[derive(Default)]
struct Open {
    sessions: HashMap<String, ReplSession>,
    /// Expressions by their ids, until they are answered.
    pending: HashMap<String, Pending>,
    /// Those that no app has fetched yet, by the pause that they are for.
    queues: HashMap<String, VecDeque<Queued>>,
}

/// The serialised form is a column of the store, and the wire's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplSession {
    pub session_id: String,
    pub pause_id: String,
    pub pid: i64,
    pub started_at: f64,
    pub closed_at: Option<f64>,
    pub function_name: String,
    pub call_id: String,
    pub process_key: String,
    pub args: Vec<Reference>,
    pub kwargs: serde_json::Map<String, Value>,
    pub pretty_args: Value,
    pub pretty_kwargs: Value,
    pub signature: Value,
    pub transcript: Vec<Exchange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    pub index: usize,
    pub input: String,
    pub output: String,
    pub stdout: String,
    pub is_error: bool,
    pub result_cid: Option<String>,
    pub timestamp: f64,
    /// Who asked; none in what was kept before this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// An expression for an app to evaluate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub eval_id: String,
    pub session_id: String,
    pub text: String,
}

/// An expression that waits for its app.
struct Queued {
    expression: Expression,
    announced: Option<Instant>,
}

struct Pending {
    session_id: String,
    pause_id: String,
    input: String,
    by: Actor,
    done: oneshot::Sender<Exchange>,
}

/// An expression that was queued: its answer comes here. Its end means that the session was closed.
pub(crate) struct Awaited {
    pub(crate) eval_id: String,
    pub(crate) answer: oneshot::Receiver<Exchange>,
}

/// Why there is no session, or no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum NoRepl {
    PauseNotFound,
    PauseResumed,
    /// No app waits at the pause: the call is one of this process.
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
pub struct EvalOutcome {
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
    fn announce(&mut self) -> bool {
        let due = self.announced.is_none_or(|at| at.elapsed() >= limits::ANNOUNCE_EVERY);
        if due {
            self.announced = Some(Instant::now());
        }
        due
    }
}

impl Repl {
    pub(crate) fn over(store: Arc<dyn Tables>, log: Arc<Log>) -> Repl {
        Repl { open: Mutex::default(), store, log }
    }

    /// Opens a session in a paused call.
    pub(crate) async fn open(&self, pause_id: &str, seen: &Seen) -> Result<String, NoRepl> {
        let pid = seen.call.pid.ok_or(NoRepl::InvalidPause)?;
        let (row, event) = {
            let mut open = self.room();
            if open.sessions.len() >= limits::REPL_SESSIONS {
                return Err(NoRepl::Full);
            }
            let mut now = clock::now();
            let mut session_id = format!("{pid}-{now:.6}");
            while open.sessions.contains_key(&session_id) {
                now += 0.001;
                session_id = format!("{pid}-{now:.6}");
            }
            let session = ReplSession::of(session_id.clone(), pause_id, pid, now, seen);
            let row = (session.row(), session.told("opened", None));
            open.sessions.insert(session_id, session);
            row
        };
        let session_id = row.session_id.clone();
        self.save(row).await;
        self.log.append(event);
        Ok(session_id)
    }

    /// The pause of an open session.
    pub(crate) fn pause_of(&self, session_id: &str) -> Option<String> {
        self.room().sessions.get(session_id).map(|session| session.pause_id.clone())
    }

    /// Queues an expression for the app to fetch.
    pub(crate) fn queue(&self, session_id: &str, text: &str, by: Actor) -> Result<Awaited, NoRepl> {
        let mut room = self.room();
        let open = &mut *room;
        let session = open.sessions.get(session_id).ok_or(NoRepl::SessionClosed)?;
        let pause_id = session.pause_id.clone();
        let queue = open.queues.entry(pause_id.clone()).or_default();
        if queue.len() >= limits::EVALS {
            return Err(NoRepl::Full);
        }
        let eval_id = uuid::Uuid::new_v4().to_string();
        let (session_id, text) = (session_id.to_owned(), text.to_owned());
        let input = text.clone();
        let expression =
            Expression { eval_id: eval_id.clone(), session_id: session_id.clone(), text };
        queue.push_back(Queued { expression, announced: None });
        let (done, answer) = oneshot::channel();
        open.pending.insert(eval_id.clone(), Pending { session_id, pause_id, input, by, done });
        Ok(Awaited { eval_id, answer })
    }

    /// Nobody waits for it any more: it is neither fetched later nor answered to nobody.
    pub(crate) fn withdraw(&self, eval_id: &str) {
        let mut room = self.room();
        let open = &mut *room;
        if let Some(pending) = open.pending.remove(eval_id)
            && let Some(queue) = open.queues.get_mut(&pending.pause_id)
        {
            queue.retain(|queued| queued.expression.eval_id != eval_id);
        }
    }

    /// Whether the app of this pause is to be told that something is queued for it.
    pub(crate) fn announces(&self, pause_id: &str) -> bool {
        let mut open = self.room();
        open.queues.get_mut(pause_id).is_some_and(|it| it.iter_mut().any(Queued::announce))
    }

    /// The oldest expression that waits for this app.
    pub(crate) fn fetch(&self, pause_id: &str) -> Option<Expression> {
        let mut open = self.room();
        open.queues.get_mut(pause_id)?.pop_front().map(|queued| queued.expression)
    }

    /// Whether somebody waits for this answer.
    pub(crate) async fn awaits(&self, outcome: &EvalOutcome) -> Result<(), NoRepl> {
        let (is_open, is_pending) = {
            let open = self.room();
            let is_open = open.sessions.contains_key(&outcome.session_id);
            (is_open, open.pending.contains_key(&outcome.eval_id))
        };
        match (is_open, is_pending) {
            (false, _) => Err(self.why_not_open(&outcome.session_id).await),
            (true, false) => Err(NoRepl::EvalNotFound),
            (true, true) => Ok(()),
        }
    }

    /// Whether a session that is not open ever was.
    pub(crate) async fn why_not_open(&self, session_id: &str) -> NoRepl {
        let closed = self.kept(session_id).await.is_some();
        if closed { NoRepl::SessionClosed } else { NoRepl::SessionNotFound }
    }

    /// What an app found; `shown` is its captured value as text.
    pub(crate) async fn answer(
        &self,
        outcome: EvalOutcome,
        shown: Option<String>,
    ) -> Result<(), NoRepl> {
        let (row, event, done, entry) = {
            let mut room = self.room();
            let open = &mut *room;
            let pending = open.pending.remove(&outcome.eval_id).ok_or(NoRepl::EvalNotFound)?;
            let session = open.sessions.get_mut(&pending.session_id);
            let session = session.ok_or(NoRepl::SessionClosed)?;
            let is_error = is_error(&outcome.error);
            let output = match is_error {
                true => error_text(&outcome.error),
                false => shown.or(outcome.result).unwrap_or_default(),
            };
            let entry = Exchange {
                index: session.transcript.last().map_or(0, |last| last.index + 1),
                input: pending.input,
                output: budget::cut(&output, limits::REPL_BYTES),
                stdout: budget::cut(&outcome.stdout, limits::REPL_BYTES),
                is_error,
                result_cid: outcome.value.cid.filter(|_| !is_error),
                timestamp: clock::now(),
                by: Some(pending.by),
            };
            session.transcript.push(entry.clone());
            if session.transcript.len() > limits::REPL_ENTRIES {
                session.transcript.remove(0);
            }
            (session.row(), session.told("answered", Some(&entry)), pending.done, entry)
        };
        self.save(row).await;
        self.log.append(event);
        if done.send(entry).is_err() {
            tracing::debug!("whoever evaluated went away before the answer");
        }
        Ok(())
    }

    /// Says whether there was such a session.
    pub async fn close(&self, session_id: &str) -> bool {
        let closed = self.room().close(session_id);
        match closed {
            Some((row, event)) => {
                self.save(row).await;
                self.log.append(event);
                true
            }
            None => self.kept(session_id).await.is_some(),
        }
    }

    /// The call went on, or is gone: whoever waits in its sessions hears that they are closed.
    pub(crate) async fn close_all_of(&self, pause_id: &str) {
        let closed: Vec<(ReplRow, Event)> = {
            let mut open = self.room();
            open.queues.remove(pause_id);
            let of = open.sessions.values().filter(|session| session.pause_id == pause_id);
            let ids: Vec<String> = of.map(|session| session.session_id.clone()).collect();
            ids.iter().filter_map(|id| open.close(id)).collect()
        };
        for (row, event) in closed {
            self.save(row).await;
            self.log.append(event);
        }
    }

    pub async fn session(&self, session_id: &str) -> Option<ReplSession> {
        let open = self.room().sessions.get(session_id).cloned();
        match open {
            Some(session) => Some(session),
            None => self.kept(session_id).await,
        }
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, query: ReplQuery) -> Vec<ReplSession> {
        let rows = self.store.repls(query).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "REPL sessions could not be read");
            Vec::new()
        });
        rows.iter().filter_map(|row| serde_json::from_str(&row.body).ok()).collect()
    }

    async fn kept(&self, session_id: &str) -> Option<ReplSession> {
        let row = self.store.repl(session_id.to_owned()).await.ok()??;
        serde_json::from_str(&row.body).ok()
    }

    async fn save(&self, row: ReplRow) {
        if let Err(error) = self.store.save_repl(row).await {
            tracing::warn!(%error, "a REPL session was not kept");
        }
    }

    fn room(&self) -> MutexGuard<'_, Open> {
        // Every change is whole between statements; a panic elsewhere does not spoil it.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whoever waits in it hears that it is closed, because its sender goes.
    fn close(&mut self, session_id: &str) -> Option<(ReplRow, Event)> {
        let mut session = self.sessions.remove(session_id)?;
        session.closed_at = Some(clock::now());
        self.pending.retain(|_, pending| pending.session_id != session_id);
        if let Some(queue) = self.queues.get_mut(&session.pause_id) {
            queue.retain(|queued| queued.expression.session_id != session_id);
        }
        Some((session.row(), session.told("closed", None)))
    }
}

impl ReplSession {
    fn of(session_id: String, pause_id: &str, pid: i64, now: f64, seen: &Seen) -> ReplSession {
        let call = &seen.call;
        // A reference is plain data: this cannot fail.
        let item = |given| serde_json::to_value(call.reference(given)).unwrap_or_default();
        ReplSession {
            session_id,
            pause_id: pause_id.to_owned(),
            pid,
            started_at: now,
            closed_at: None,
            function_name: call.name.clone(),
            call_id: call.id.clone(),
            process_key: call.process.clone(),
            args: call.args.iter().map(|given| call.reference(given)).collect(),
            kwargs: call.kwargs.iter().map(|(name, it)| (name.clone(), item(it))).collect(),
            pretty_args: seen.args.clone(),
            pretty_kwargs: seen.kwargs.clone(),
            signature: call.signature.clone(),
            transcript: Vec::new(),
        }
    }

    /// What the log says of a change.
    fn told(&self, change: &'static str, answered: Option<&Exchange>) -> Event {
        let cut = |text: &str| budget::cut(text, limits::EVALUATION_TEXT);
        Event::ReplChanged {
            repl: self.session_id.clone(),
            pause_id: self.pause_id.clone(),
            function_name: self.function_name.clone(),
            change,
            expression: answered.map(|it| cut(&it.input)).unwrap_or_default(),
            result: answered.map(|it| cut(&it.output)).unwrap_or_default(),
            failed: answered.is_some_and(|it| it.is_error),
        }
    }

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

/// `TypeError: x is not a function`, whether it came as text or as JavaScript's object.
fn error_text(error: &Value) -> String {
    let field = |name| error.get(name).and_then(Value::as_str);
    match (error, field("name"), field("message")) {
        (Value::String(text), _, _) => text.clone(),
        (_, Some(name), Some(message)) => format!("{name}: {message}"),
        (_, None, Some(message)) => message.to_owned(),
        (other, _, _) => other.to_string(),
    }
}
