//! The task that owns the websocket.
//!
//! It ends when the program closes the connection, when the last [`crate::Requester`] is dropped or one
//! asks to close, and when the [`crate::Inbox`] is dropped. It sends no pings: V8 does not answer them.
//!
//! Whoever ends it, it is never cut off while the program speaks: Node's inspector writes to a connection
//! of which it has just read the end, and the program dies of that (SIGSEGV in `TcpHolder::WriteRaw`, seen
//! with 20.20). So the program is asked to be silent first, then told that we go.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _, future::join_all};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message, Utf8Bytes},
};

use crate::{
    error::{Closing, ClosingCell},
    inbox::Outlet,
    message,
    router::{Call, Router},
    types::Target,
};

/// After these the program says nothing unasked. Workers first: they speak through the main thread.
const SILENCE: [&str; 3] = ["NodeWorker.disable", "Debugger.disable", "Runtime.disable"];

#[derive(Debug)]
pub(crate) enum Request {
    Call(Call),
    Close,
}

pub(crate) struct Connection<S> {
    pub(crate) socket: WebSocketStream<S>,
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) outlet: Outlet,
    pub(crate) router: Router,
    /// Ready when the inbox is dropped.
    pub(crate) abandoned: oneshot::Receiver<()>,
    pub(crate) leave: Duration,
}

impl<S> Connection<S>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    /// Until the end. The reason is set before the callers and the inbox learn that it is over.
    pub(crate) async fn run(mut self, closing: ClosingCell) {
        let reason = self.serve().await;
        if matches!(reason, Closing::Ours | Closing::Undrained)
            && timeout(self.leave, self.part()).await.is_err()
        {
            tracing::debug!("a program was left that does not answer");
        }
        tracing::debug!(%reason, "inspector connection closed");
        closing.set(reason);
    }

    async fn serve(&mut self) -> Closing {
        loop {
            let step = tokio::select! {
                frame = self.socket.next() => self.read(frame).await,
                request = self.requests.recv() => self.write(request).await,
                _ = &mut self.abandoned => Err(Closing::Ours),
            };
            if let Err(reason) = step {
                return reason;
            }
        }
    }

    /// Ends the connection in good order, as far as the program does its part.
    async fn part(&mut self) {
        if self.silence().await.is_err() {
            // It is gone already, and there is nobody to say goodbye to.
            return;
        }
        if self.socket.close(None).await.is_ok() {
            while let Some(Ok(_)) = self.socket.next().await {}
        }
    }

    /// Until the program has heard that it is to say nothing more. What it says till then is told as long
    /// as there is room for it.
    async fn silence(&mut self) -> Result<(), Closing> {
        let mut asked = Vec::new();
        for method in SILENCE {
            let (reply, answer) = oneshot::channel();
            let Ok(params) = message::raw(method, serde_json::json!({})) else { continue };
            let target = Target::Main;
            self.send(Call { target, method: method.to_owned(), params, reply }).await?;
            asked.push(answer);
        }
        let mut answered = join_all(asked);
        loop {
            let frame = tokio::select! {
                _ = &mut answered => return Ok(()),
                frame = self.socket.next() => frame,
            };
            let Some(text) = text(frame)? else { continue };
            if let Some((target, event)) = self.router.incoming(&text) {
                self.outlet.offer(target, event, text.len());
            }
        }
    }

    async fn read(
        &mut self,
        frame: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<(), Closing> {
        let Some(text) = text(frame)? else { return Ok(()) };
        match self.router.incoming(&text) {
            Some((target, event)) => self.outlet.put(target, event, text.len()).await,
            None => Ok(()),
        }
    }

    async fn write(&mut self, request: Option<Request>) -> Result<(), Closing> {
        match request {
            Some(Request::Call(call)) => self.send(call).await,
            Some(Request::Close) | None => Err(Closing::Ours),
        }
    }

    async fn send(&mut self, call: Call) -> Result<(), Closing> {
        let Some(text) = self.router.outgoing(call) else { return Ok(()) };
        let sent = self.socket.send(Message::text(text)).await;
        sent.map_err(|error| Closing::Lost(error.to_string()))
    }
}

/// What the program says; `None` for a frame that says nothing.
fn text(frame: Option<Result<Message, tungstenite::Error>>) -> Result<Option<Utf8Bytes>, Closing> {
    match frame {
        Some(Ok(Message::Text(text))) => Ok(Some(text)),
        Some(Ok(Message::Close(frame))) => {
            let words = frame.map(|f| format!(": {} {}", f.code, f.reason));
            Err(Closing::Theirs(words.unwrap_or_default()))
        }
        Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
            tracing::debug!("a frame that is not text is ignored");
            Ok(None)
        }
        Some(Err(error)) => Err(Closing::Lost(error.to_string())),
        None => Err(Closing::Theirs(String::new())),
    }
}
