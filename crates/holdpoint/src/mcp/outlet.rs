//! The way out for notifications: past the SDK where the transport is ours.
//!
//! The SDK takes a notification apart, queues it, starts a task for it and writes it by itself: 35 µs of
//! every hit in a burst. Where we own the transport, a batch goes out as the text it already is, between two
//! messages of the SDK's.

use std::{io, sync::Arc};

use axum::http::request::Parts;
use futures::future::BoxFuture;
use rmcp::{
    Peer, RoleServer,
    model::{CustomNotification, ServerNotification},
    service::NotificationContext,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::http::Listening;

#[derive(Clone)]
pub(super) enum Outlet {
    /// Streamable HTTP: the SDK's own, and whether anybody listens there.
    Sdk(Peer<RoleServer>, Option<Listening>),
    /// Lines, many at a time.
    Lines(Arc<dyn Lines>),
    /// Server-sent events, one by one.
    Events(mpsc::Sender<Arc<str>>),
}

/// Where whole lines can be written.
pub(super) trait Lines: Send + Sync {
    fn write(&self, lines: Vec<u8>) -> BoxFuture<'_, io::Result<()>>;
}

impl Outlet {
    /// The one of a client that came over streamable HTTP.
    pub(super) fn of(context: NotificationContext<RoleServer>) -> Outlet {
        let parts = context.extensions.get::<Parts>();
        let listening = parts.and_then(|it| it.extensions.get::<Listening>()).cloned();
        Outlet::Sdk(context.peer, listening)
    }

    /// Whether nobody would hear what is sent now.
    pub(super) fn is_deaf(&self) -> bool {
        matches!(self, Outlet::Sdk(_, Some(listening)) if !listening.is_there())
    }

    /// Returns when somebody would.
    pub(super) async fn is_heard(&mut self) {
        if let Outlet::Sdk(_, Some(listening)) = self {
            listening.comes().await;
        }
    }

    /// Sends messages in this order. An error means that nobody is there any more.
    pub(super) async fn send(&self, messages: &[Arc<str>]) -> io::Result<()> {
        match self {
            Outlet::Sdk(peer, _) => {
                // One by one: it starts a task for each, and several at a time overtake each other.
                for notification in messages.iter().filter_map(|json| notification(json)) {
                    peer.send_notification(notification).await.map_err(io::Error::other)?;
                }
                Ok(())
            }
            Outlet::Lines(lines) => {
                let size = messages.iter().map(|json| json.len() + 1).sum();
                let mut text = Vec::with_capacity(size);
                for json in messages {
                    text.extend_from_slice(json.as_bytes());
                    text.push(b'\n');
                }
                if text.is_empty() { Ok(()) } else { lines.write(text).await }
            }
            Outlet::Events(events) => {
                for json in messages {
                    let sent = events.send(Arc::clone(json)).await;
                    sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
                }
                Ok(())
            }
        }
    }
}

/// The message as the SDK wants it. Ours are well-formed; what were not would not be sent.
fn notification(json: &str) -> Option<ServerNotification> {
    #[derive(Deserialize)]
    struct Plain {
        method: String,
        params: Value,
    }
    let Plain { method, params } = serde_json::from_str(json).ok()?;
    let custom = CustomNotification::new(method, Some(params));
    Some(ServerNotification::CustomNotification(custom))
}
