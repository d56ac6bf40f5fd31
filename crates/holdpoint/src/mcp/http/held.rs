//! The sessions of streamable HTTP: which are used, and which make room.
//!
//! Most clients leave without a word. A session that nobody has a request or a stream open in is idle: it ends
//! after [`limits::HTTP_SESSION_IDLE`], and sooner where [`limits::HTTP_SESSIONS`] are taken, the longest idle
//! first.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::http::HeaderValue;
use holdpoint_engine::limits;
use rmcp::transport::streamable_http_server::session::{
    SessionManager as _, local::LocalSessionManager,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(crate) struct Held {
    manager: Arc<LocalSessionManager>,
    known: Arc<Mutex<HashMap<HeaderValue, Use>>>,
}

struct Use {
    since: Instant,
    /// Requests and streams under way.
    open: usize,
    /// Of these, streams of what is told unasked.
    streams: watch::Sender<usize>,
}

/// A session is used for as long as this lives.
pub(super) struct InHand {
    held: Held,
    session: HeaderValue,
    is_stream: bool,
}

impl InHand {
    /// What is in hand is a stream, and it is open.
    pub(super) fn listens(&mut self) {
        if let Some(used) = self.held.known().get(&self.session) {
            self.is_stream = true;
            used.streams.send_modify(|streams| *streams += 1);
        }
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        if let Some(used) = self.held.known().get_mut(&self.session) {
            used.open = used.open.saturating_sub(1);
            used.since = Instant::now();
            if self.is_stream {
                used.streams.send_modify(|streams| *streams = streams.saturating_sub(1));
            }
        }
    }
}

/// Whether anybody listens in a session; what is written for nobody costs as much as for somebody.
#[derive(Clone)]
pub(crate) struct Listening(watch::Receiver<usize>);

impl Listening {
    pub(crate) fn is_there(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Returns when somebody does; never when the session is gone, whose tasks end with it.
    pub(crate) async fn comes(&mut self) {
        if self.0.wait_for(|streams| *streams > 0).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Held {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Held {
        Held { manager, known: Arc::default() }
    }

    /// Ends idle sessions now and then, until the server stops.
    pub(super) async fn look_after(self, stop: CancellationToken) {
        let mut every = tokio::time::interval(limits::HTTP_SESSIONS_LOOKED_AT);
        while stop.run_until_cancelled(every.tick()).await.is_some() {
            let idle = self.idle_for(limits::HTTP_SESSION_IDLE);
            self.end(idle).await;
        }
    }

    /// A session begins.
    pub(super) fn enter(&self, session: HeaderValue) {
        let streams = watch::channel(0).0;
        self.known().insert(session, Use { since: Instant::now(), open: 0, streams });
    }

    pub(super) fn leave(&self, session: &HeaderValue) {
        self.known().remove(session);
    }

    /// Somebody asks something in a session.
    pub(super) fn hold(&self, session: &HeaderValue) -> Option<InHand> {
        self.known().get_mut(session)?.open += 1;
        Some(InHand { held: self.clone(), session: session.clone(), is_stream: false })
    }

    pub(super) fn listening(&self, session: &HeaderValue) -> Option<Listening> {
        self.known().get(session).map(|used| Listening(used.streams.subscribe()))
    }

    /// Before one more begins.
    pub(super) async fn make_room(&self) {
        let oldest = self.too_many();
        self.end(oldest).await;
    }

    fn too_many(&self) -> Vec<HeaderValue> {
        let known = self.known();
        let too_many = (known.len() + 1).saturating_sub(limits::HTTP_SESSIONS);
        if too_many == 0 {
            return Vec::new();
        }
        let idle = known.iter().filter(|(_, used)| used.open == 0);
        let mut idle: Vec<(Instant, HeaderValue)> =
            idle.map(|(session, used)| (used.since, session.clone())).collect();
        idle.sort_by_key(|(since, _)| *since);
        idle.into_iter().take(too_many).map(|(_, session)| session).collect()
    }

    fn idle_for(&self, patience: Duration) -> Vec<HeaderValue> {
        let is_idle = |used: &Use| used.open == 0 && used.since.elapsed() >= patience;
        let known = self.known();
        let idle = known.iter().filter(|(_, used)| is_idle(used));
        idle.map(|(session, _)| session.clone()).collect()
    }

    async fn end(&self, sessions: Vec<HeaderValue>) {
        for session in sessions {
            self.leave(&session);
            let Ok(id) = session.to_str() else { continue };
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::debug!(%error, id, "an idle session does not end");
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<HeaderValue, Use>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_makes_room_and_who_is_busy_stays() {
        let held = Held::new(Arc::default());
        let name = |number: usize| HeaderValue::from(u64::try_from(number).unwrap());
        for number in 0..limits::HTTP_SESSIONS {
            held.enter(name(number));
        }
        let busy = held.hold(&name(0)).unwrap();
        drop(held.hold(&name(1)));
        assert_eq!(held.too_many(), [name(2)]);
        assert_eq!(held.idle_for(Duration::ZERO).len(), limits::HTTP_SESSIONS - 1);
        drop(busy);
        assert_eq!(held.idle_for(Duration::ZERO).len(), limits::HTTP_SESSIONS);
    }

    #[test]
    fn somebody_listens_for_as_long_as_a_stream_is_open() {
        let held = Held::new(Arc::default());
        let session = HeaderValue::from(1);
        held.enter(session.clone());
        let listening = held.listening(&session).unwrap();
        let request = held.hold(&session).unwrap();
        assert!(!listening.is_there());
        let mut stream = held.hold(&session).unwrap();
        stream.listens();
        assert!(listening.is_there());
        drop(request);
        assert!(listening.is_there());
        drop(stream);
        assert!(!listening.is_there());
    }
}
