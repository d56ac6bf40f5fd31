//! The task that owns the websocket.
//!
//! It ends when the program closes the connection, when the last [`crate::Client`] is dropped or one
//! asks to close, and is aborted when the [`crate::Inbox`] is dropped. It sends no pings: V8 does
//! not answer them.

use futures::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message},
};

use crate::{
    error::{Closing, ClosingCell},
    inbox::Outlet,
    router::{Call, Router},
};

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
}

impl<S> Connection<S>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    /// Until the end. The reason is set before the callers and the inbox learn that it is over.
    pub(crate) async fn run(mut self, closing: ClosingCell) {
        let reason = self.serve().await;
        tracing::debug!(%reason, "inspector connection closed");
        closing.set(reason);
    }

    async fn serve(&mut self) -> Closing {
        loop {
            let step = tokio::select! {
                frame = self.socket.next() => self.read(frame).await,
                request = self.requests.recv() => self.write(request).await,
            };
            if let Err(reason) = step {
                return reason;
            }
        }
    }

    async fn read(
        &mut self,
        frame: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<(), Closing> {
        let text = match frame {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Close(frame))) => {
                let words = frame.map(|f| format!(": {} {}", f.code, f.reason));
                return Err(Closing::Theirs(words.unwrap_or_default()));
            }
            Some(Ok(
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => {
                tracing::debug!("a frame that is not text is ignored");
                return Ok(());
            }
            Some(Err(error)) => return Err(Closing::Lost(error.to_string())),
            None => return Err(Closing::Theirs(String::new())),
        };
        match self.router.incoming(&text) {
            Some((target, event)) => self.outlet.put(target, event, text.len()).await,
            None => Ok(()),
        }
    }

    async fn write(&mut self, request: Option<Request>) -> Result<(), Closing> {
        let call = match request {
            Some(Request::Call(call)) => call,
            Some(Request::Close) | None => {
                // The program may be gone already, and then there is nobody to say goodbye to.
                self.socket.close(None).await.unwrap_or_default();
                return Err(Closing::Ours);
            }
        };
        let Some(text) = self.router.outgoing(call) else { return Ok(()) };
        let sent = self.socket.send(Message::text(text)).await;
        sent.map_err(|error| Closing::Lost(error.to_string()))
    }
}
