//! How a connection comes to be: which transport, which way to begin, and why there is none.

use std::sync::{Arc, atomic::AtomicUsize};

use holdpoint_engine::{budget, limits};
use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService,
        serve_client_with_lifecycle_and_ct,
    },
    transport::{
        StreamableHttpClientTransport, Transport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use super::{Connection, Context, causes};
use crate::external::{
    config::{Remote, ServerConfig, Way},
    ears::{Ears, Heard},
    http::Http,
    login, sse,
    stdio::{self, Started},
};

type Running = RunningService<RoleClient, Ears>;

/// How a first try ended.
enum Try {
    /// It answered, and refused this way to begin.
    Refuses(String),
    Failed(NotMade),
}

/// Why there is no connection.
pub(crate) struct NotMade {
    pub(crate) text: String,
    /// What the server said that asks for a login.
    pub(crate) challenge: Option<String>,
}

impl From<String> for NotMade {
    fn from(text: String) -> NotMade {
        NotMade { text, challenge: None }
    }
}

impl From<&str> for NotMade {
    fn from(text: &str) -> NotMade {
        text.to_owned().into()
    }
}

impl Try {
    fn failed(text: impl Into<NotMade>) -> Try {
        Try::Failed(text.into())
    }

    fn into_not_made(self) -> NotMade {
        match self {
            Try::Refuses(text) => text.into(),
            Try::Failed(failed) => failed,
        }
    }
}

struct Making<'m> {
    context: &'m Context,
    name: &'m str,
    config: &'m Arc<ServerConfig>,
    heard: Arc<Heard>,
    close: CancellationToken,
}

impl Connection {
    pub(crate) async fn make(
        context: &Context,
        name: &str,
        config: &Arc<ServerConfig>,
    ) -> Result<Connection, NotMade> {
        let (heard, close) = (Arc::default(), CancellationToken::new());
        let making = Making { context, name, config, heard, close };
        let made = match &config.way {
            Way::Stdio { .. } => making.stdio().await.map_err(NotMade::from),
            Way::Sse(remote) => making.sse(remote).await,
            Way::Http(remote) => making.http(remote).await.map_err(|(error, _)| error),
            Way::Either(remote) => making.either(remote).await,
        };
        made.map_err(|NotMade { text, challenge }| {
            let text = match &challenge {
                Some(asked) => format!("it asks for a login: {}", login::advice(name, asked)),
                None => text,
            };
            let text = budget::cut(&config.conceal(&text), limits::EXTERNAL_ERROR);
            NotMade { text, challenge }
        })
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
                Err(Try::failed(format!("it did not answer within {seconds} s")))
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
                Err(Try::Failed(failed)) => {
                    let words = started.last_words().await;
                    return Err(refusal.unwrap_or_else(|| format!("{}; {words}", failed.text)));
                }
            }
        }
        Err(refusal.unwrap_or_default())
    }

    async fn sse(&self, remote: &Remote) -> Result<Connection, NotMade> {
        let opened = sse::open(self.name, remote);
        let opened = tokio::time::timeout(limits::EXTERNAL_CONNECT, opened).await;
        let opened = opened.map_err(|_| NotMade::from("it did not open a stream in time"))??;
        let served = self.serve(opened, ClientLifecycleMode::Initialize).await;
        served.map(|it| self.made(it, "sse", None)).map_err(Try::into_not_made)
    }

    /// The error, and whether the address speaks something else.
    async fn http(&self, remote: &Remote) -> Result<Connection, (NotMade, bool)> {
        let http = Http::new(self.name, remote).map_err(|error| (error.into(), false))?;
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
            Err(failed) => Err((failed.into_not_made(), http.speaks_another())),
        }
    }

    async fn either(&self, remote: &Remote) -> Result<Connection, NotMade> {
        let (first, is_other) = match self.http(remote).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => failed,
        };
        match is_other {
            true => self.sse(remote).await.map_err(|mut second| {
                second.text =
                    format!("over SSE: {}; over streamable HTTP: {}", second.text, first.text);
                second
            }),
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
            server: self.name.to_owned(),
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
    if let Some(challenge) = asked_to_log_in(error) {
        return Try::Failed(NotMade { text: String::new(), challenge: Some(challenge.to_owned()) });
    }
    match error {
        ClientInitializeError::JsonRpcError(told) => Try::Refuses(format!(
            "it refused to be initialised: {} ({})",
            told.message, told.code.0
        )),
        ClientInitializeError::ConnectionClosed(_) => {
            Try::failed("it closed the connection before it was initialised")
        }
        ClientInitializeError::TransportError { error, .. } => {
            Try::failed(causes(error.error.as_ref()))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => tried(fallback),
        other => Try::failed(budget::cut(&other.to_string(), limits::EXTERNAL_ERROR)),
    }
}

fn asked_to_log_in(error: &ClientInitializeError) -> Option<&str> {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            login::challenge(error.error.as_ref())
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => asked_to_log_in(fallback),
        _ => None,
    }
}
