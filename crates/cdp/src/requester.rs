//! Calls to the inspector of one thread: the main one, or a worker.

use std::os::fd::{AsFd as _, OwnedFd};

use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        client::IntoClientRequest as _,
        handshake::client::Request as Handshake,
        http::{HeaderValue, header},
        protocol::WebSocketConfig,
    },
};
use tracing::Instrument as _;

use holdpoint_loopback::Quick;

use crate::{
    connection::{Connection, Request},
    discover::host_header,
    error::{ClosingCell, Error},
    inbox::{self, Inbox},
    limits::Limits,
    message,
    router::{Call, Router},
    types::{Command, Target, WorkerSession, debugger, runtime, worker},
};

/// A handle to one thread of a program; clones are handles to the same.
#[derive(Clone, Debug)]
pub struct Requester {
    requests: mpsc::Sender<Request>,
    target: Target,
    closing: ClosingCell,
}

impl Requester {
    /// Connects to an address as the inspector prints it: `ws://127.0.0.1:9229/<uuid>`.
    pub async fn connect(url: &str, limits: Limits) -> Result<(Requester, Inbox), Error> {
        let socket = opened(url, &limits).await?;
        Ok(Requester::over(socket, url, limits))
    }

    /// The same with a second handle to the connection, for somebody who is to keep it open.
    pub async fn connect_kept(
        url: &str,
        limits: Limits,
    ) -> Result<(Requester, Inbox, OwnedFd), Error> {
        let socket = opened(url, &limits).await?;
        let kept = socket.get_ref().stream().as_fd().try_clone_to_owned();
        let kept = kept.map_err(|error| unreachable_at(url, &error))?;
        let (requester, inbox) = Requester::over(socket, url, limits);
        Ok((requester, inbox, kept))
    }

    fn over(socket: WebSocketStream<Quick>, url: &str, limits: Limits) -> (Requester, Inbox) {
        let (outlet, queue) = inbox::channel(&limits);
        let (sender, requests) = mpsc::channel(limits.calls.max(1));
        let closing = ClosingCell::default();
        let router = Router::new(limits.calls);
        let (held, abandoned) = oneshot::channel();
        let leave = limits.leave;
        let connection = Connection { socket, requests, outlet, router, abandoned, leave };
        let task = connection.run(closing.clone()).instrument(tracing::debug_span!("cdp", url));
        // Ends with its inbox or its last requester, as soon as the program has heard of it.
        tokio::spawn(task);
        let inbox = Inbox::new(queue, closing.clone(), held);
        (Requester { requests: sender, target: Target::Main, closing }, inbox)
    }

    /// The same connection, speaking to a worker that was announced as attached.
    pub fn worker(&self, session: WorkerSession) -> Requester {
        Requester { target: Target::Worker(session), ..self.clone() }
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Any command by name. Waits for the answer as long as the connection lives; dropping the
    /// future gives up waiting, though not what the program is doing.
    pub async fn call(&self, method: &str, params: impl Serialize) -> Result<Value, Error> {
        let answer = self.ask(method, params).await?;
        message::parse(method, &answer)
    }

    /// A command with a type.
    pub async fn send<C: Command>(&self, command: C) -> Result<C::Answer, Error> {
        let answer = self.ask(C::METHOD, command).await?;
        message::parse(C::METHOD, &answer)
    }

    /// Makes the thread tell of scripts, stops, console and, on the main thread, workers. A program
    /// that waits for a debugger still waits: set breakpoints, then [`Requester::run`].
    ///
    /// Each step waits for its answer. Sent at once, Node lost the entry stop in 3 of 50 tries.
    pub async fn enable(&self) -> Result<(), Error> {
        self.send(debugger::Enable::default()).await?;
        self.send(runtime::Enable {}).await?;
        if self.target == Target::Main {
            self.send(worker::Enable { wait_for_debugger_on_start: true }).await?;
            self.send(runtime::NotifyWhenWaitingForDisconnect { enabled: true }).await?;
        }
        Ok(())
    }

    /// Lets a thread that waits for a debugger start.
    pub async fn run(&self) -> Result<(), Error> {
        self.send(runtime::RunIfWaitingForDebugger {}).await.map(drop)
    }

    /// Begins to end the connection, of all threads. A stopped program goes on.
    pub async fn close(&self) {
        // An error means that it is closed already.
        self.requests.send(Request::Close).await.unwrap_or_default();
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        self.requests.closed().await;
    }

    async fn ask(&self, method: &str, params: impl Serialize) -> Result<String, Error> {
        let params = message::raw(method, params)?;
        let (reply, answer) = oneshot::channel();
        let call = Call { target: self.target.clone(), method: method.to_owned(), params, reply };
        self.requests.send(Request::Call(call)).await.map_err(|_| self.closing.error())?;
        answer.await.map_err(|_| self.closing.error())?
    }
}

async fn opened(url: &str, limits: &Limits) -> Result<WebSocketStream<Quick>, Error> {
    timeout(limits.connect, open(url, limits))
        .await
        .map_err(|_| unreachable_at(url, &"no answer in time"))?
}

async fn open(url: &str, limits: &Limits) -> Result<WebSocketStream<Quick>, Error> {
    let (request, host, port) = handshake(url)?;
    let stream =
        Quick::connect((host.as_str(), port)).await.map_err(|error| unreachable_at(url, &error))?;
    // Tungstenite offers no compression, which would only cost on loopback.
    let config = WebSocketConfig::default()
        .max_message_size(Some(limits.message_bytes))
        .max_frame_size(Some(limits.message_bytes));
    let (socket, _) = client_async_with_config(request, stream, Some(config))
        .await
        .map_err(|error| unreachable_at(url, &error))?;
    Ok(socket)
}

fn handshake(url: &str) -> Result<(Handshake, String, u16), Error> {
    let malformed = |detail: &str| Error::Malformed { what: url.into(), detail: detail.into() };
    let mut request = url.into_client_request().map_err(|error| malformed(&error.to_string()))?;
    if request.uri().scheme_str() != Some("ws") {
        return Err(malformed("an inspector address starts with `ws://`"));
    }
    let host = request.uri().host().ok_or_else(|| malformed("no host"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = request.uri().port_u16().ok_or_else(|| malformed("no port"))?;
    let value = HeaderValue::from_str(&host_header(&host, port))
        .map_err(|error| malformed(&error.to_string()))?;
    request.headers_mut().insert(header::HOST, value);
    Ok((request, host, port))
}

fn unreachable_at(url: &str, detail: &dyn std::fmt::Display) -> Error {
    Error::Unreachable { address: url.to_owned(), detail: detail.to_string() }
}
