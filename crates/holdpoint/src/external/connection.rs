//! One connection to another server: made by the SDK's client over one of our transports, asked, and closed.
//!
//! Nothing is asked twice: a request that got no answer may have reached the server. Only where the server itself
//! says that it does not know the session, and so did nothing, is the request sent again, by the SDK.

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
        ProtocolVersion, RequestId, RequestOptionalParam, ServerResult,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, PeerRequestOptions, RunningService,
        ServiceError, serve_client_with_lifecycle_and_ct,
    },
    transport::{
        StreamableHttpClientTransport, Transport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::Value;
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    config::{Remote, ServerConfig, Way},
    ears::{Ears, Heard},
    events::unwrapped,
    failure::Unserved,
    http::Http,
    sse,
    stdio::{self, Started},
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

type Running = RunningService<RoleClient, Ears>;

/// How a first try ended.
enum Try {
    /// It answered, and refused this way to begin.
    Refuses(String),
    Failed(String),
}

struct Making<'m> {
    context: &'m Context,
    name: &'m str,
    config: &'m Arc<ServerConfig>,
    heard: Arc<Heard>,
    close: CancellationToken,
}

impl Connection {
    pub(super) async fn make(
        context: &Context,
        name: &str,
        config: &Arc<ServerConfig>,
    ) -> Result<Connection, String> {
        let (heard, close) = (Arc::default(), CancellationToken::new());
        let making = Making { context, name, config, heard, close };
        let made = match &config.way {
            Way::Stdio { .. } => making.stdio().await,
            Way::Sse(remote) => making.sse(remote).await,
            Way::Http(remote) => making.http(remote).await.map_err(|(error, _)| error),
            Way::Either(remote) => making.either(remote).await,
        };
        made.map_err(|error| budget::cut(&config.conceal(&error), limits::EXTERNAL_ERROR))
    }
}

impl Making<'_> {
    fn ears(&self) -> Ears {
        Ears {
            server: self.name.to_owned(),
            config: Arc::clone(self.config),
            heard: Arc::clone(&self.heard),
            log: Arc::clone(&self.context.log),
        }
    }

    async fn serve<T>(&self, transport: T, mode: ClientLifecycleMode) -> Result<Running, Try>
    where
        T: Transport<RoleClient> + 'static,
    {
        let close = self.close.clone();
        let made = serve_client_with_lifecycle_and_ct(self.ears(), transport, mode, close);
        match tokio::time::timeout(limits::EXTERNAL_CONNECT, made).await {
            Ok(Ok(running)) => Ok(running),
            Ok(Err(error)) => Err(tried(&error)),
            Err(_elapsed) => {
                let seconds = limits::EXTERNAL_CONNECT.as_secs();
                Err(Try::Failed(format!("it did not answer within {seconds} s")))
            }
        }
    }

    /// Servers of the stateless revision alone refuse to be initialised; they are asked anew, in their way.
    async fn stdio(&self) -> Result<Connection, String> {
        let mut refusal = None;
        for mode in [ClientLifecycleMode::Initialize, stateless()] {
            let (mut started, pipes) = stdio::start(&self.context.guard, &self.config.way)?;
            match self.serve(pipes, mode).await {
                Ok(running) => return Ok(self.made(running, "stdio", Some(started))),
                Err(Try::Refuses(error)) => refusal = refusal.or(Some(error)),
                Err(Try::Failed(error)) => {
                    let words = started.last_words().await;
                    return Err(refusal.unwrap_or_else(|| format!("{error}; {words}")));
                }
            }
        }
        Err(refusal.unwrap_or_default())
    }

    async fn sse(&self, remote: &Remote) -> Result<Connection, String> {
        let opened = tokio::time::timeout(limits::EXTERNAL_CONNECT, sse::open(remote)).await;
        let opened = opened.map_err(|_| "it did not open a stream in time".to_owned())??;
        match self.serve(opened, ClientLifecycleMode::Initialize).await {
            Ok(running) => Ok(self.made(running, "sse", None)),
            Err(Try::Refuses(error) | Try::Failed(error)) => Err(error),
        }
    }

    /// The error, and whether the address speaks something else.
    async fn http(&self, remote: &Remote) -> Result<Connection, (String, bool)> {
        let http = Http::new(remote).map_err(|error| (error, false))?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str())
            .max_concurrent_requests(limits::EXTERNAL_REQUESTS)
            .max_sse_event_size(usize::MAX);
        config.channel_buffer_capacity = limits::EXTERNAL_QUEUE;
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        let mode = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        match self.serve(transport, mode).await {
            Ok(running) => Ok(self.made(running, "http", None)),
            Err(Try::Refuses(error) | Try::Failed(error)) => Err((error, http.speaks_another())),
        }
    }

    async fn either(&self, remote: &Remote) -> Result<Connection, String> {
        let (first, is_other) = match self.http(remote).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => failed,
        };
        match is_other {
            true => self
                .sse(remote)
                .await
                .map_err(|second| format!("over SSE: {second}; over streamable HTTP: {first}")),
            false => Err(first),
        }
    }

    fn made(
        &self,
        running: Running,
        transport: &'static str,
        started: Option<Started>,
    ) -> Connection {
        let peer = running.peer().clone();
        let ended = CancellationToken::new();
        let tells = ended.clone();
        // Ends with the connection, which `close` ends.
        tokio::spawn(async move {
            if let Err(error) = running.waiting().await {
                tracing::debug!(%error, "a connection ended by itself");
            }
            tells.cancel();
        });
        Connection {
            peer,
            config: Arc::clone(self.config),
            heard: Arc::clone(&self.heard),
            close: self.close.clone(),
            ended,
            stderr: started.as_ref().map(|it| Arc::clone(&it.stderr)),
            started: Mutex::new(started),
            transport,
            in_flight: AtomicUsize::new(0),
            suspect: Notify::new(),
        }
    }
}

fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn tried(error: &ClientInitializeError) -> Try {
    match error {
        ClientInitializeError::JsonRpcError(told) => Try::Refuses(format!(
            "it refused to be initialised: {} ({})",
            told.message, told.code.0
        )),
        ClientInitializeError::ConnectionClosed(_) => {
            Try::Failed("it closed the connection before it was initialised".to_owned())
        }
        ClientInitializeError::TransportError { error, .. } => {
            Try::Failed(causes(error.error.as_ref()))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => tried(fallback),
        other => Try::Failed(budget::cut(&other.to_string(), limits::EXTERNAL_ERROR)),
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

    /// Whether it is there. One with calls under way may be busy with them: it is not asked.
    pub(super) async fn answers(&self) -> bool {
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return true;
        }
        let has_ping =
            self.peer.peer_info().is_none_or(|info| info.protocol_version.has_initialize());
        let request = match has_ping {
            true => ClientRequest::PingRequest(PingRequest::default()),
            // The stateless revision has no ping.
            false => ClientRequest::ListToolsRequest(RequestOptionalParam::default()),
        };
        match self.ask_within(request, limits::EXTERNAL_PONG, &|_| {}).await {
            Ok(_) => true,
            Err(Unserved::Failed { code, .. }) => code.is_some(),
            Err(_) => false,
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
