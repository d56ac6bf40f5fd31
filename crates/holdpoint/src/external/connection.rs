//! One connection to another server: made by the SDK's client over one of our transports ([`making`]), asked, and
//! closed.
//!
//! Nothing is asked twice: a request that got no answer may have reached the server. Only where the server itself
//! says that it does not know the session, and so did nothing, is the request sent again, by the SDK.

mod making;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use holdpoint_engine::{budget, limits, log::Log};
use rmcp::{
    Peer, RoleClient,
    model::{
        CancelledNotificationParam, ClientRequest, CustomResult, PingRequest, ProgressToken,
        RequestId, RequestOptionalParam, ServerResult,
    },
    service::{PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub(super) use self::making::NotMade;
use super::{
    config::ServerConfig, ears::Heard, events::unwrapped, failure::Unserved, login, stdio::Started,
    tail::Tail,
};

/// What a connection is made with.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) log: Arc<Log>,
    /// Our own binary, which stands over what we start.
    pub(crate) guard: PathBuf,
}

pub(crate) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    config: Arc<ServerConfig>,
    pub(super) heard: Arc<Heard>,
    close: CancellationToken,
    /// Cancelled when it has ended, whoever ended it.
    ended: CancellationToken,
    started: Mutex<Option<Started>>,
    stderr: Option<Arc<Tail>>,
    pub(super) transport: &'static str,
    in_flight: AtomicUsize,
    /// Something went wrong on the way: it is to be looked whether the server is still there.
    pub(super) suspect: Notify,
}

/// A request under way. Dropped, the server hears that nobody waits any more.
struct Asked<'c> {
    connection: &'c Connection,
    id: RequestId,
    token: ProgressToken,
    is_over: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.connection.heard.forget(&self.token);
        self.connection.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.is_over || self.connection.ended.is_cancelled() {
            return;
        }
        let (peer, id) = (self.connection.peer.clone(), self.id.clone());
        // Dropped with the runtime, there is nobody left to tell it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        // Ends when the server has heard it, or after a moment.
        runtime.spawn(async move {
            let why = Some("whoever asked waits no longer".to_owned());
            let told = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), why));
            if tokio::time::timeout(limits::EXTERNAL_FAREWELL, told).await.is_err() {
                tracing::debug!("a server did not hear that a call was cancelled");
            }
        });
    }
}

impl Connection {
    /// Asks, and waits for the answer as long as the configuration allows; longer while there is progress.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        told: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Value, Unserved> {
        self.ask_within(request, self.config.timeout, told).await
    }

    /// The same for a list, which a short time for calls does not cut off.
    pub(super) async fn list(&self, request: ClientRequest) -> Result<Value, Unserved> {
        let timeout = self.config.timeout.max(limits::EXTERNAL_CONNECT);
        self.ask_within(request, timeout, &|_| {}).await
    }

    async fn ask_within(
        &self,
        request: ClientRequest,
        timeout: Duration,
        told: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Value, Unserved> {
        let latest = Instant::now() + timeout.saturating_mul(limits::EXTERNAL_PROGRESS);
        let late = || Unserved::Timeout { seconds: timeout.as_secs_f64() };
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let sent = tokio::time::timeout(timeout, sent).await.map_err(|_| late())?;
        let mut handle = sent.map_err(|error| self.failed(error))?;
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let mut progress = self.heard.follow(token.clone());
        let mut asked = Asked { connection: self, id, token, is_over: false };
        let mut until = (Instant::now() + timeout).min(latest);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => break answer,
                Some(said) = progress.recv() => {
                    until = (Instant::now() + timeout).min(latest);
                    told(shown(&said));
                }
                () = tokio::time::sleep_until(until) => {
                    self.suspect.notify_one();
                    return Err(late());
                }
            }
        };
        asked.is_over = true;
        match answer {
            Ok(Ok(result)) => Ok(plain(value_of(result))),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_closed) => Err(self.failed(ServiceError::TransportClosed)),
        }
    }

    fn failed(&self, error: ServiceError) -> Unserved {
        match error {
            ServiceError::McpError(told) => Unserved::Failed {
                message: budget::cut(&self.config.conceal(&told.message), limits::EXTERNAL_ERROR),
                code: Some(told.code.0),
                data: told.data.filter(|it| it.to_string().len() <= limits::EXTERNAL_ERROR),
            },
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                let said = self.last_said().map(|it| format!("; stderr: {it}")).unwrap_or_default();
                Unserved::failed(format!("the connection closed before an answer came{said}"))
            }
            ServiceError::TransportSend(error) => {
                self.suspect.notify_one();
                if let Some(challenge) = login::challenge(error.error.as_ref()) {
                    let advice = login::advice(&self.server, challenge);
                    return Unserved::Login { advice, challenge: challenge.to_owned() };
                }
                let text = causes(error.error.as_ref());
                Unserved::failed(self.config.conceal(&format!("it cannot be reached: {text}")))
            }
            other => Unserved::failed(self.config.conceal(&other.to_string())),
        }
    }

    /// The last of what its process wrote to stderr.
    pub(crate) fn last_said(&self) -> Option<String> {
        let text = self.stderr.as_ref()?.text();
        (!text.is_empty()).then(|| self.config.conceal(&text))
    }

    /// Why it is not there. One with calls under way may be busy with them: it is not asked.
    pub(super) async fn absent(&self) -> Option<Unserved> {
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let has_ping =
            self.peer.peer_info().is_none_or(|info| info.protocol_version.has_initialize());
        let request = match has_ping {
            true => ClientRequest::PingRequest(PingRequest::default()),
            // The stateless revision has no ping.
            false => ClientRequest::ListToolsRequest(RequestOptionalParam::default()),
        };
        match self.ask_within(request, limits::EXTERNAL_PONG, &|_| {}).await {
            Ok(_) | Err(Unserved::Failed { code: Some(_), .. }) => None,
            Err(refused) => Some(refused),
        }
    }

    /// Whether the server says that it has resources.
    pub(super) fn has_resources(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// Returns when it has ended.
    pub(super) async fn over(&self) {
        self.ended.cancelled().await;
    }

    /// How its process ended, where it has one that has.
    pub(super) async fn last_words(&self) -> Option<String> {
        let mut started = self.started.lock().await;
        let words = started.as_mut()?.last_words().await;
        Some(self.config.conceal(&words))
    }

    /// Ends it and its process, within a moment.
    pub(super) async fn close(&self) {
        self.close.cancel();
        let over = tokio::time::timeout(limits::EXTERNAL_END, self.over()).await;
        if over.is_err() {
            tracing::debug!("a connection did not close in time");
        }
        if let Some(mut started) = self.started.lock().await.take() {
            started.end().await;
        }
    }
}

/// An error with what caused it: the first of them says little.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let text = error.to_string();
    let mut text = text.strip_prefix("Io error: ").unwrap_or(&text).to_owned();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text += &format!(": {more}");
        }
        source = cause.source();
    }
    text
}

fn shown(said: &rmcp::model::ProgressNotificationParam) -> String {
    let total = said.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let text = said.message.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
    budget::cut(&format!("{}{total}{text}", said.progress), limits::EXTERNAL_LOG)
}

/// What came of a tool is as it came; whatever else is the SDK's.
fn value_of(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(CustomResult(value)) => unwrapped(value),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// A result as every revision has it.
fn plain(mut result: Value) -> Value {
    if let Some(object) = result.as_object_mut()
        && object.get("resultType").and_then(Value::as_str) == Some("complete")
    {
        object.shift_remove("resultType");
    }
    result
}
