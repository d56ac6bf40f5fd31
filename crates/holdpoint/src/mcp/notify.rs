//! From the log to the clients: one task per client reads on from its own place and sends.
//!
//! A slow client holds up its own task only; when the ring has overtaken it, it is told which
//! numbers it missed. The same facts go out twice: as our own notification, and as the standard
//! ones (`resources/updated`, a log message) for clients that drop what they do not know.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use holdpoint_engine::{
    event::Event,
    failure::{Code, Failure},
    ids::Seq,
    limits,
    log::{Read, Record},
};
use rmcp::{
    Peer, RoleServer,
    model::{
        CustomNotification, LoggingLevel, LoggingMessageNotificationParam,
        ResourceUpdatedNotificationParam, ServerNotification,
    },
    service::{ServiceError, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::resources;
use crate::app::App;

/// What one client wants to hear.
pub(super) struct Wishes {
    uris: BTreeSet<String>,
    pub(super) level: LoggingLevel,
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes { uris: BTreeSet::new(), level: LoggingLevel::Info }
    }
}

impl Wishes {
    pub(super) fn subscribe(&mut self, uri: String) -> Result<(), Failure> {
        if self.uris.len() >= limits::SUBSCRIPTIONS && !self.uris.contains(&uri) {
            let many = limits::SUBSCRIPTIONS;
            return Err(Failure::new(Code::Busy, format!("{many} subscriptions are open already"))
                .hint("unsubscribe from one first"));
        }
        self.uris.insert(uri);
        Ok(())
    }

    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.uris.remove(uri);
    }
}

/// The SDK tells a client that it will hear of changes before it lets us listen for them.
/// This keeps the place from before the promise. Of several promises under way each gets the
/// earliest place: an update too many is harmless, one too few is not.
#[derive(Default)]
pub(super) struct Begins(Mutex<(usize, Seq)>);

impl Begins {
    /// Before the promise.
    pub(super) fn mark(&self, app: &App) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.0 == 0 {
            open.1 = app.engine.log.head();
        }
        open.0 += 1;
    }

    /// After the promise: where to begin.
    pub(super) fn take(&self, app: &App) -> Seq {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.0 == 0 {
            return app.engine.log.head();
        }
        open.0 -= 1;
        open.1
    }
}

/// Sends what happens from now on, until the connection ends. Owned by the client's handler.
pub(super) async fn pump(app: App, peer: Peer<RoleServer>, wishes: Arc<Mutex<Wishes>>, from: Seq) {
    let told = app.told.enter(from);
    let mut reader = app.engine.log.reader(from);
    loop {
        let reads = reader.batch(limits::NOTIFY_BATCH).await;
        if let Err(error) = send(&app, &peer, &wishes, &reads).await {
            tracing::debug!(%error, "a client no longer takes notifications");
            return;
        }
        told.send_replace(reader.place());
    }
}

async fn send(
    app: &App,
    peer: &Peer<RoleServer>,
    wishes: &Mutex<Wishes>,
    reads: &[Read],
) -> Result<(), ServiceError> {
    for read in reads {
        match read {
            Read::Record(record) => announce(peer, wishes, record).await?,
            Read::Gap { first, last } => announce_gap(peer, *first, *last).await?,
        }
    }
    let uris = wishes.lock().unwrap_or_else(PoisonError::into_inner).uris.clone();
    for uri in uris.into_iter().filter(|uri| any_changed(app, uri, reads)) {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}

/// `subscriptions/listen` of revision 2026-07-28: resource updates on the stream of one request.
pub(super) async fn listen(
    app: &App,
    subscription: &SubscriptionContext,
    from: Seq,
    gone: &CancellationToken,
) {
    let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
    let mut reader = app.engine.log.reader(from);
    loop {
        let reads = tokio::select! {
            reads = reader.batch(limits::NOTIFY_BATCH) => reads,
            () = subscription.cancelled() => return,
            () = gone.cancelled() => return,
            () = app.shutdown.cancelled() => return,
        };
        for uri in uris.iter().filter(|uri| any_changed(app, uri, &reads)) {
            if let Err(error) = subscription.sink().notify_resource_updated(uri.as_str()).await {
                tracing::debug!(%error, "a subscription no longer takes notifications");
                return;
            }
        }
    }
}

/// One update for a whole batch: a client reads the resource once, however often it changed.
fn any_changed(app: &App, uri: &str, reads: &[Read]) -> bool {
    reads.iter().any(|read| match read {
        Read::Record(record) => resources::changed(app, uri, &record.event),
        // What was lost may have changed anything.
        Read::Gap { .. } => true,
    })
}

async fn announce(
    peer: &Peer<RoleServer>,
    wishes: &Mutex<Wishes>,
    record: &Record,
) -> Result<(), ServiceError> {
    let Some((method, params)) = custom(record) else { return Ok(()) };
    peer.send_notification(ServerNotification::CustomNotification(CustomNotification::new(
        method,
        Some(params),
    )))
    .await?;
    let level = level(&record.event);
    let wanted = wishes.lock().unwrap_or_else(PoisonError::into_inner).level;
    if severity(wanted) <= severity(level) {
        let message = LoggingMessageNotificationParam::new(level, record.to_json())
            .with_logger("holdpoint.timeline");
        peer.notify_logging_message(message).await?;
    }
    Ok(())
}

async fn announce_gap(peer: &Peer<RoleServer>, first: Seq, last: Seq) -> Result<(), ServiceError> {
    let params = json!({ "first": first, "last": last });
    peer.send_notification(ServerNotification::CustomNotification(CustomNotification::new(
        "notifications/timeline/gap",
        Some(params.clone()),
    )))
    .await?;
    let message = json!({ "text": "events were lost to this client", "gap": params });
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Warning, message)
        .with_logger("holdpoint.timeline");
    peer.notify_logging_message(message).await
}

/// The notification of our own that tells of an event, if it has one.
fn custom(record: &Record) -> Option<(&'static str, Value)> {
    let method = match &*record.event {
        Event::Note { .. } => "notifications/timeline/note",
        Event::ServerStopping { .. } => "notifications/server/stopping",
        // These are on the timeline, and resources change with them.
        Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::SessionStarted { .. }
        | Event::Stopped(_)
        | Event::Resumed { .. }
        | Event::SessionEnded { .. } => return None,
    };
    Some((method, record.to_json()))
}

fn level(event: &Event) -> LoggingLevel {
    match event {
        Event::ServerStopping { .. } => LoggingLevel::Warning,
        Event::Note { .. } => LoggingLevel::Notice,
        Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::SessionStarted { .. }
        | Event::Stopped(_)
        | Event::Resumed { .. }
        | Event::SessionEnded { .. } => LoggingLevel::Info,
    }
}

/// The SDK's levels have no order; the protocol's do (RFC 5424).
fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
