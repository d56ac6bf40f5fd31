//! One call under way: who called, how long it may take, how much it may say.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use holdpoint_engine::{
    actor::Actor,
    budget::{self, Budget},
    calls::value::weight,
    failure::{Code, Failure},
    ids::ClientId,
    limits,
};
use rmcp::{
    Peer, RoleServer,
    model::{JsonObject, ProgressNotificationParam, ProgressToken},
};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{Entry, Shape};
use crate::app::App;

/// Who calls, as the face that took the call knows it.
pub(crate) struct Caller {
    pub(crate) app: App,
    /// The client's own name, for what it leaves behind.
    pub(crate) by: String,
    /// Its number, where it is connected for longer than this call.
    pub(crate) client: Option<ClientId>,
    pub(crate) request_id: String,
    /// What it gets beside the text, and so how long the text may be.
    pub(crate) shape: Shape,
    /// Cancelled by the client.
    pub(crate) cancel: CancellationToken,
    /// Cancelled when the client is gone.
    pub(crate) gone: CancellationToken,
    /// How many calls that wait for their turn it may have under way.
    pub(crate) turns: Arc<Semaphore>,
    /// Where a waiting tool shows that it is alive, when the client asked for that.
    pub(crate) progress: Option<(Peer<RoleServer>, ProgressToken)>,
    /// The request as it came, for the conformance suite's fixtures.
    #[cfg(feature = "conformance")]
    pub(crate) received: crate::conformance::Received,
}

/// What a tool's body gets beside its parameters.
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) by: String,
    /// For the events of what the call changes.
    actor: Actor,
    pub(crate) budget: Budget,
    /// What the client gets beside the text.
    pub(crate) shape: Shape,
    /// The same, if the call named it: what a contract counts is cut for nothing else.
    pub(crate) asked_budget: Option<Budget>,
    /// The session that was named, if any.
    pub(crate) session: Option<String>,
    pub(crate) cancel: CancellationToken,
    /// When the boundary cuts it off.
    pub(crate) until: tokio::time::Instant,
    turns: Arc<Semaphore>,
    progress: Option<(Peer<RoleServer>, ProgressToken)>,
    doing: Doing,
    /// The tool and what it was asked, for whoever watches.
    pub(crate) said: String,
    #[cfg(feature = "conformance")]
    pub(crate) received: crate::conformance::Received,
}

/// What the tool is waiting for right now, in its own words.
#[derive(Clone, Default)]
struct Doing(Arc<Mutex<Option<String>>>, Arc<Mutex<Option<tokio::time::Instant>>>);

impl Doing {
    /// When work that says itself what it does has last said anything.
    fn last(&self) -> Option<tokio::time::Instant> {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    pub(crate) fn new(caller: Caller, budget: Budget, session: Option<String>) -> Call {
        Call {
            app: caller.app,
            actor: Actor::Client { id: caller.client, name: caller.by.clone() },
            by: caller.by,
            budget,
            shape: caller.shape,
            asked_budget: None,
            session,
            cancel: caller.cancel,
            until: tokio::time::Instant::now() + limits::TOOL_TIMEOUT_MAX,
            turns: caller.turns,
            progress: caller.progress,
            doing: Doing::default(),
            said: String::new(),
            #[cfg(feature = "conformance")]
            received: caller.received,
        }
    }

    /// One of a person at the page, who waits for no progress and reads no budget.
    pub(super) fn of_person(app: App, session: Option<String>) -> Call {
        Call {
            app,
            actor: Actor::Person,
            by: Actor::Person.to_string(),
            budget: Budget::default(),
            shape: Shape::Asked,
            asked_budget: None,
            session,
            cancel: CancellationToken::new(),
            until: tokio::time::Instant::now() + limits::TOOL_TIMEOUT_MAX,
            turns: Arc::new(Semaphore::new(limits::TURNS)),
            progress: None,
            doing: Doing::default(),
            said: String::new(),
            #[cfg(feature = "conformance")]
            received: crate::conformance::Received::default(),
        }
    }

    /// The same call, with the words it was made in.
    pub(super) fn saying(self, tool: &str, arguments: &JsonObject) -> Call {
        let bytes: usize = arguments.values().map(weight).sum();
        let arguments = match bytes {
            _ if arguments.is_empty() => String::new(),
            // Nobody reads them here, and to write them would hold up everybody.
            _ if bytes > limits::NAME_BYTES => " …".to_owned(),
            _ => format!(" {}", json!(arguments)),
        };
        Call { said: budget::cut(&format!("{tool}{arguments}"), limits::NAME_BYTES), ..self }
    }

    /// Who calls, for the events of what the call changes.
    pub(crate) fn actor(&self) -> Actor {
        self.actor.clone()
    }

    /// Says what the tool waits for; shown with the next sign of life.
    pub(crate) fn doing(&self, what: impl Into<String>) {
        *self.doing.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what.into());
    }

    /// Waits for its turn among the calls of its client that go elsewhere.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let many = limits::TURNS;
        self.doing(format!("waits for its turn: {many} calls of this client are under way"));
        let turn = Arc::clone(&self.turns).acquire_owned();
        match tokio::time::timeout(limits::TURN, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => {
                let waited = limits::TURN.as_secs();
                let text =
                    format!("{many} calls were under way for {waited} s; this one was not sent");
                Err(Failure::new(Code::Busy, text)
                    .hint("wait for answers, or cancel calls that wait"))
            }
        }
    }

    /// Shows each line as it comes, for work that says itself what it does.
    pub(crate) fn follow(&self) -> tokio::sync::mpsc::Sender<String> {
        let (sender, mut lines) = tokio::sync::mpsc::channel(limits::PROGRESS_QUEUE);
        let doing = self.doing.clone();
        // Ends when the work drops its sender.
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                *doing.1.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(tokio::time::Instant::now());
                *doing.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
            }
        });
        sender
    }

    /// Waits for the deadline, which work that gets on puts off; what it did last then.
    pub(super) fn past(&self, deadline: Duration) -> impl Future<Output = Option<String>> + use<> {
        let (doing, begun) = (self.doing.clone(), tokio::time::Instant::now());
        async move {
            loop {
                let work = doing.last().map(|it| it + limits::WORK_SHOWS);
                let last = begun + limits::TOOL_TIMEOUT_MAX;
                let until = work.map_or(begun + deadline, |it| it.max(begun + deadline)).min(last);
                if until <= tokio::time::Instant::now() {
                    let what = doing.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    return what.filter(|_| work.is_some());
                }
                tokio::time::sleep_until(until).await;
            }
        }
    }

    /// Signs of life until dropped, at most every [`limits::PROGRESS_EVERY`].
    /// Clients with a deadline of their own reset it on these.
    pub(super) fn keep_client_informed<'t>(
        &self,
        tool: &'t str,
        deadline: Duration,
    ) -> impl Future<Output = ()> + use<'t> {
        let progress = self.progress.clone();
        let doing = self.doing.clone();
        async move {
            let Some((peer, token)) = progress else { return std::future::pending().await };
            let started = Instant::now();
            let mut every = tokio::time::interval(limits::PROGRESS_EVERY);
            every.tick().await;
            loop {
                every.tick().await;
                let what = doing.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let sign =
                    ProgressNotificationParam::new(token.clone(), started.elapsed().as_secs_f64())
                        .with_total(deadline.as_secs_f64())
                        .with_message(what.unwrap_or_else(|| format!("{tool} is still working")));
                if let Err(error) = peer.notify_progress(sign).await {
                    tracing::debug!(%error, tool, "a sign of life did not reach the client");
                }
            }
        }
    }
}

/// The parameters every tool takes; declared where they matter: `timeout_s` by what waits, `budget_tokens`
/// by what can be long, `session_id` by what is about a session.
pub(crate) struct Common {
    timeout: Option<Duration>,
    /// The tool has a `timeout_s` of its own and answers by itself when it passes.
    own_timeout: bool,
    pub(crate) budget: Budget,
    pub(crate) asked_budget: Option<Budget>,
    pub(crate) session: Option<String>,
}

impl Common {
    pub(crate) fn take(
        entry: &Entry,
        arguments: &mut JsonObject,
        schema: &JsonObject,
    ) -> Result<Common, Failure> {
        let declares = |name| schema.get("properties").and_then(|it| it.get(name)).is_some();
        // What somebody else's tool declares is its own, whatever we mean by the name.
        let theirs = |name| entry.is_described() && declares(name);
        let given = arguments.get("timeout_s").filter(|_| !theirs("timeout_s"));
        let timeout = timeout(given)?;
        let own_timeout = declares("timeout_s") && !entry.is_described();
        if !declares("timeout_s") {
            arguments.remove("timeout_s");
        }
        let budget = match theirs("budget_tokens") {
            true => None,
            false => arguments.remove("budget_tokens"),
        };
        let asked_budget = match budget {
            None => None,
            Some(value) => Some(Budget::tokens(tokens(&value)?)),
        };
        let budget = asked_budget.unwrap_or_default();
        let takes_session = declares("session_id") && !entry.is_described();
        let session = if takes_session { arguments.remove("session_id") } else { None };
        let session = match session {
            None => None,
            Some(Value::String(id)) => Some(id),
            Some(other) => return Err(wrong("session_id", "a string such as \"s1\"", &other)),
        };
        Ok(Common { timeout, own_timeout, budget, asked_budget, session })
    }

    /// A tool that waits by itself is told the server's time, where the call says none.
    pub(crate) fn told(&self, entry: &Entry, server: Option<Duration>) -> Option<(String, Value)> {
        let is_due = self.own_timeout && self.timeout.is_none() && server.is_some();
        let seconds = self.promised(entry, server).as_secs_f64();
        is_due.then(|| ("timeout_s".to_owned(), json!(seconds)))
    }

    /// When the boundary cuts the tool off.
    pub(crate) fn deadline(&self, entry: &Entry, server: Option<Duration>) -> Duration {
        let promised = self.promised(entry, server);
        if self.own_timeout { promised + entry.grace } else { promised }
    }

    /// When the tool is to be done, as the client knows it.
    pub(crate) fn promised(&self, entry: &Entry, server: Option<Duration>) -> Duration {
        // A tool that knows it takes longer than most keeps its own default.
        let usual = match server {
            Some(server) if entry.timeout == limits::TOOL_TIMEOUT => server,
            _ => entry.timeout,
        };
        self.timeout.unwrap_or(usual)
    }
}

fn timeout(value: Option<&Value>) -> Result<Option<Duration>, Failure> {
    let Some(value) = value else { return Ok(None) };
    let max = limits::TOOL_TIMEOUT_MAX.as_secs_f64();
    match value.as_f64() {
        Some(seconds) if (0.0..=max).contains(&seconds) => {
            Ok(Some(Duration::from_secs_f64(seconds)))
        }
        _ => Err(wrong("timeout_s", &format!("a number of seconds from 0 to {max}"), value)),
    }
}

fn tokens(value: &Value) -> Result<usize, Failure> {
    let max = limits::ANSWER_TOKENS_MAX;
    match value.as_u64().and_then(|tokens| usize::try_from(tokens).ok()) {
        Some(tokens) if (1..=max).contains(&tokens) => Ok(tokens),
        _ => Err(wrong("budget_tokens", &format!("an integer from 1 to {max}"), value)),
    }
}

fn wrong(name: &str, expected: &str, got: &Value) -> Failure {
    let got = super::echo(&got.to_string());
    Failure::new(Code::InvalidParams, format!("parameter `{name}` is `{got}`"))
        .hint(format!("`{name}` is {expected}"))
        .details(json!({ "parameter": name, "expected": expected }))
}
