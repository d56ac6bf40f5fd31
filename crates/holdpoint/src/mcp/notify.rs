//! From the log to the clients: one task per client reads on from its own place and sends.
//!
//! A slow client holds up its own task only; when the ring has overtaken it, it is told which
//! numbers it missed. In a burst a client is sent many notifications at a time, so that a thousand hits
//! are not a thousand wake-ups of every client.

mod message;
mod updates;
mod written;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use holdpoint_engine::{
    failure::{Code, Failure},
    ids::Seq,
    limits,
    log::Read,
};
use rmcp::{model::LoggingLevel, service::SubscriptionContext};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::updates::Updates;
pub(crate) use self::written::Written;
use super::{outlet::Outlet, resources};
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
///
/// To a client of which nobody listens nothing is written, and nothing is promised: most clients of HTTP that are
/// gone leave without a word. One who opens a stream later hears from there on where this stood still.
pub(super) async fn pump(app: App, mut outlet: Outlet, wishes: Arc<Mutex<Wishes>>, from: Seq) {
    let mut told = app.delivery.enter(from);
    let mut reader = app.engine.log.reader(from);
    let mut updates = Updates::default();
    let mut pace = Pace::default();
    loop {
        if outlet.is_deaf() {
            drop(told);
            outlet.is_heard().await;
            let (missed, from) = backlog(reader.place(), app.engine.log.head());
            told = app.delivery.enter(from);
            reader = app.engine.log.reader(from);
            let messages: Vec<Arc<str>> = missed.into_iter().map(|text| text.json).collect();
            if outlet.send(&messages).await.is_err() {
                return;
            }
        }
        let reads = tokio::select! {
            biased;
            // What happens from here on may not be kept any more, so nobody is told.
            () = app.shutdown.cancelled() => return,
            reads = reader.batch(limits::NOTIFY_BATCH) => reads,
            () = updates.due() => Vec::new(),
        };
        let (level, uris) = {
            let wishes = wishes.lock().unwrap_or_else(PoisonError::into_inner);
            (wishes.level, wishes.uris.clone())
        };
        updates.note(&app, &uris, &reads);
        let messages = messages(&app, level, &reads, &updates.take(&uris));
        if let Err(error) = outlet.send(&messages).await {
            tracing::debug!(%error, "a client no longer takes notifications");
            return;
        }
        if updates.is_empty() {
            told.send_replace(reader.place());
        }
        pace.keep(reads.len()).await;
    }
}

/// Where one goes on who listens again, and what it is told of what is too much to tell.
fn backlog(place: Seq, head: Seq) -> (Vec<message::Text>, Seq) {
    let from = Seq(head.0.saturating_sub(limits::BACKLOG)).max(place);
    let missed = if from > place { message::gap(Seq(place.0 + 1), from) } else { Vec::new() };
    (missed, from)
}

/// What a client is sent, in order.
fn messages(
    app: &App,
    level: LoggingLevel,
    reads: &[Read],
    updated: &BTreeSet<String>,
) -> Vec<Arc<str>> {
    let mut all = Vec::new();
    let mut add = |texts: &[message::Text]| {
        let heard = texts.iter().filter(|text| text.is_for(level));
        all.extend(heard.map(|text| Arc::clone(&text.json)));
    };
    for read in reads {
        match read {
            Read::Record(record) => add(&app.written.of(record)),
            Read::Gap { first, last } => add(&message::gap(*first, *last)),
        }
    }
    for uri in updated {
        add(&[message::updated(uri)]);
    }
    all
}

/// In a burst, takes a moment between batches, so that they are batches.
#[derive(Default)]
struct Pace {
    since: Option<Instant>,
    count: usize,
}

impl Pace {
    async fn keep(&mut self, count: usize) {
        if self.since.is_none_or(|since| since.elapsed() >= limits::BURST_WINDOW) {
            (self.since, self.count) = (Some(Instant::now()), 0);
        }
        self.count += count;
        // Not to wait for anything: to be woken once for many.
        if self.count >= limits::BURST && count < limits::NOTIFY_BATCH {
            tokio::time::sleep(limits::BURST_PAUSE).await;
        }
    }
}

/// `subscriptions/listen` of revision 2026-07-28: resource updates on the stream of one request.
pub(super) async fn listen(
    app: &App,
    subscription: &SubscriptionContext,
    from: Seq,
    gone: &CancellationToken,
) {
    let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
    let uris: BTreeSet<String> = uris.into_iter().collect();
    let mut reader = app.engine.log.reader(from);
    let mut updates = Updates::default();
    let mut pace = Pace::default();
    loop {
        let reads = tokio::select! {
            reads = reader.batch(limits::NOTIFY_BATCH) => reads,
            () = updates.due() => Vec::new(),
            () = subscription.cancelled() => return,
            () = gone.cancelled() => return,
            () = app.shutdown.cancelled() => return,
        };
        updates.note(app, &uris, &reads);
        for uri in updates.take(&uris) {
            if let Err(error) = subscription.sink().notify_resource_updated(uri.as_str()).await {
                tracing::debug!(%error, "a subscription no longer takes notifications");
                return;
            }
        }
        pace.keep(reads.len()).await;
    }
}
