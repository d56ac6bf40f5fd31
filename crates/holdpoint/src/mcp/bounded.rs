//! A bound on what one connection may have open, around any transport of the SDK.
//!
//! The SDK starts a task per request and holds answers until the client takes them, without limit.
//! A client that asks and never reads would make us grow; past [`limits::UNANSWERED_REQUESTS`]
//! we stop reading it until it takes its answers. Others are not concerned.
//! A request whose id is in use is refused here: the SDK would answer one of the two, and never the other.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use holdpoint_engine::limits;
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(super) struct Bounded<T> {
    inner: T,
    /// Told, after a moment, when the client has gone.
    gone: CancellationToken,
    open: Arc<Open>,
    /// Whether a request has come yet: the SDK gives up on a connection that begins otherwise.
    begun: bool,
}

#[derive(Default)]
struct Open {
    /// A list: there are one or two at nearly all times.
    unanswered: Mutex<Vec<RequestId>>,
    /// Refusals on their way out.
    refused: AtomicUsize,
    answered: Notify,
}

impl<T> Bounded<T> {
    pub(super) fn new(inner: T, gone: CancellationToken) -> Self {
        Bounded { inner, gone, open: Arc::default(), begun: false }
    }

    /// Why a request is not run.
    fn refused(&self, id: &RequestId) -> Option<ErrorData> {
        let text = match id {
            RequestId::String(text) if text.len() > limits::NAME_BYTES => {
                format!("an id may have {} bytes, this one has {}", limits::NAME_BYTES, text.len())
            }
            id if !self.open.open(id) => {
                format!(
                    "the id {id} is in use: the request before has no answer yet; this one was not run"
                )
            }
            RequestId::String(_) | RequestId::Number(_) => return None,
        };
        Some(ErrorData::invalid_request(text, None))
    }

    /// Answers under way may still be read by a client that only closed its own end; a call that
    /// waits is waited for by nobody, and would hold up our end for seconds.
    fn leave(&self) {
        let gone = self.gone.clone();
        // Ends within its grace.
        tokio::spawn(async move {
            tokio::time::sleep(limits::GONE_GRACE).await;
            gone.cancel();
        });
    }
}

impl Open {
    fn ids(&self) -> MutexGuard<'_, Vec<RequestId>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the request may be run: its id is not that of another one under way.
    fn open(&self, id: &RequestId) -> bool {
        let mut ids = self.ids();
        let is_new = !ids.contains(id);
        if is_new {
            ids.push(id.clone());
        }
        is_new
    }

    fn close(&self, id: &RequestId) {
        let mut ids = self.ids();
        if let Some(at) = ids.iter().position(|open| open == id) {
            ids.swap_remove(at);
            self.answered.notify_one();
        }
    }

    /// Returns when another request may be read. Only one task waits: the connection's own.
    async fn room(&self) {
        let open = || self.ids().len() + self.refused.load(Ordering::Relaxed);
        while open() >= limits::UNANSWERED_REQUESTS {
            self.answered.notified().await;
        }
    }
}

impl<T: Transport<RoleServer>> Bounded<T> {
    fn refuse(&mut self, id: RequestId, error: ErrorData) {
        let sent = self.inner.send(JsonRpcMessage::error(error, Some(id)));
        let open = Arc::clone(&self.open);
        open.refused.fetch_add(1, Ordering::Relaxed);
        // Ends when the client takes it, or is gone; there are no more of them than may be unanswered.
        tokio::spawn(async move {
            if let Err(error) = sent.await {
                tracing::debug!(%error, "a refusal did not reach the client");
            }
            open.refused.fetch_sub(1, Ordering::Relaxed);
            open.answered.notify_one();
        });
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Bounded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answers = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let open = Arc::clone(&self.open);
        let sent = self.inner.send(item);
        async move {
            let result = sent.await;
            if let Some(id) = answers {
                open.close(&id);
            }
            result
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.open.room().await;
            let Some(message) = self.inner.receive().await else {
                self.leave();
                return None;
            };
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.begun = true;
                    if let Some(error) = self.refused(&request.id) {
                        self.refuse(request.id.clone(), error);
                        continue;
                    }
                }
                JsonRpcMessage::Notification(notification) => {
                    // A cancelled request is never answered.
                    if let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.close(id);
                    }
                }
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
            }
            if self.begun {
                return Some(message);
            }
            tracing::debug!("ignored a message before the first request");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
