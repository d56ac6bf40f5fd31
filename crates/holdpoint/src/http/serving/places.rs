//! Who is connected: a bound on connections, and who makes room when it is reached.
//!
//! A connection without a request under way can be closed: its client opens another when it needs one.
//! So when all places are taken, the one that has been idle longest goes. Only where every connection
//! is busy do new ones wait, and whoever waited in vain is told so.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use futures::task::AtomicWaker;
use holdpoint_engine::limits;
use http_body::{Frame, SizeHint};
use tokio::{sync::Notify, time::timeout_at};

/// All places of one process.
pub(crate) struct Places {
    limit: usize,
    taken: Mutex<Taken>,
    /// Somebody left, or has no request under way any more.
    freed: Notify,
    /// Requests under way that are not about calls.
    others: AtomicUsize,
}

#[derive(Default)]
struct Taken {
    next: u64,
    all: HashMap<u64, Arc<Place>>,
}

/// One connection's place.
pub(crate) struct Place {
    number: u64,
    places: Arc<Places>,
    /// Requests under way; HTTP/1 has one at a time.
    requests: AtomicUsize,
    /// Bytes that came since the last request began: the head of the next.
    head: AtomicUsize,
    idle_since: Mutex<Instant>,
    closing: AtomicBool,
    /// The connection, when it waits for its next request.
    reader: AtomicWaker,
}

impl Places {
    pub(crate) fn new() -> Arc<Places> {
        Places::of(limit())
    }

    fn of(limit: usize) -> Arc<Places> {
        let (taken, others) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(Places { limit, taken, freed: Notify::new(), others })
    }

    /// A place, at once or within `wait`.
    pub(super) async fn enter(self: &Arc<Self>, wait: Duration) -> Option<Arc<Place>> {
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // From here on nothing is missed that happens after the look.
            freed.as_mut().enable();
            if let Some(place) = self.look() {
                return Some(place);
            }
            timeout_at(deadline, freed).await.ok()?;
        }
    }

    fn look(self: &Arc<Self>) -> Option<Arc<Place>> {
        let mut taken = self.taken();
        if taken.all.len() >= self.limit {
            let idle = taken.all.values().filter(|place| place.is_idle());
            let longest = idle.min_by_key(|place| place.idle_since()).map(|place| place.number)?;
            taken.all.remove(&longest)?.close();
        }
        taken.next += 1;
        let place = Arc::new(Place {
            number: taken.next,
            places: Arc::clone(self),
            requests: AtomicUsize::new(0),
            head: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
            closing: AtomicBool::new(false),
            reader: AtomicWaker::new(),
        });
        taken.all.insert(place.number, Arc::clone(&place));
        Some(place)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Half of the files that this process may open: programs, stores and pipes need theirs.
fn limit() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
    limits::HTTP_CONNECTIONS.min(files / 2)
}

impl Place {
    /// Whether the connection is to end; else whoever asks is woken when it is.
    pub(super) fn poll_closing(&self, cx: &Context<'_>) -> bool {
        self.reader.register(cx.waker());
        self.closing.load(Relaxed)
    }

    /// How many bytes may be read now; none means that a head never ends.
    pub(super) fn room(&self) -> usize {
        if self.requests.load(Relaxed) > 0 {
            return usize::MAX;
        }
        limits::HEAD_BYTES.saturating_sub(self.head.load(Relaxed))
    }

    pub(super) fn came(&self, bytes: usize) {
        if self.requests.load(Relaxed) == 0 {
            self.head.fetch_add(bytes, Relaxed);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.requests.load(Relaxed) == 0
    }

    /// The connection is gone.
    pub(super) fn leave(&self) {
        self.places.taken().all.remove(&self.number);
        self.places.freed.notify_waiters();
    }

    fn close(&self) {
        self.closing.store(true, Relaxed);
        self.reader.wake();
    }

    fn idle_since(&self) -> Instant {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way, until its answer is made.
pub(super) struct Busy {
    place: Arc<Place>,
    is_other: bool,
}

impl Busy {
    /// One about a call.
    pub(super) fn new(place: Arc<Place>) -> Busy {
        place.requests.fetch_add(1, Relaxed);
        place.head.store(0, Relaxed);
        Busy { place, is_other: false }
    }

    /// Any other. None where they have taken all that is not kept for the calls of apps.
    pub(super) fn other(place: Arc<Place>) -> Option<Busy> {
        let mut busy = Busy::new(place);
        let places = &busy.place.places;
        let most = places.limit * limits::HTTP_OTHERS_QUARTERS / 4;
        busy.is_other = true;
        // A moment too many is one that is refused.
        (places.others.fetch_add(1, Relaxed) < most.max(1)).then_some(busy)
    }

    /// The answer is made, but for a stream, which is written while it is made.
    pub(super) fn until_made(self, response: Response) -> Response {
        if response.body().size_hint().exact().is_some() {
            return response;
        }
        response.map(|body| Body::new(Stream { body, _busy: self }))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let place = &self.place;
        *place.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if self.is_other {
            place.places.others.fetch_sub(1, Relaxed);
        }
        place.requests.fetch_sub(1, Relaxed);
        place.places.freed.notify_waiters();
    }
}

/// An answer that is written while it is made, and keeps its connection busy for as long.
struct Stream {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Stream {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(limit: usize) -> Arc<Places> {
        Places::of(limit)
    }

    #[tokio::test]
    async fn the_longest_idle_makes_room() {
        let places = places(2);
        let first = places.enter(Duration::ZERO).await.unwrap();
        let second = places.enter(Duration::ZERO).await.unwrap();
        drop(Busy::new(Arc::clone(&first)));
        places.enter(Duration::ZERO).await.unwrap();
        assert!(!first.closing.load(Relaxed) && second.closing.load(Relaxed));
    }

    #[tokio::test]
    async fn a_busy_connection_is_not_closed_and_the_next_waits() {
        let places = places(1);
        let first = places.enter(Duration::ZERO).await.unwrap();
        let busy = Busy::new(Arc::clone(&first));
        assert!(places.enter(Duration::ZERO).await.is_none());
        let next = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.enter(Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        drop(busy);
        assert!(next.await.unwrap().is_some() && first.closing.load(Relaxed));
    }

    #[tokio::test]
    async fn others_leave_places_for_the_calls_of_apps() {
        let places = places(8);
        let enter = || async { places.enter(Duration::ZERO).await.unwrap() };
        let mut others = Vec::new();
        for _ in 0..6 {
            others.push(Busy::other(enter().await).expect("a place"));
        }
        let next = enter().await;
        assert!(Busy::other(Arc::clone(&next)).is_none());
        let call = Busy::new(Arc::clone(&next));
        assert!(!next.is_idle());
        drop((call, others.pop()));
        assert!(Busy::other(next).is_some());
    }

    #[tokio::test]
    async fn who_leaves_makes_room() {
        let places = places(1);
        let first = places.enter(Duration::ZERO).await.unwrap();
        let _busy = Busy::new(Arc::clone(&first));
        first.leave();
        assert!(places.enter(Duration::ZERO).await.is_some());
    }

    #[tokio::test]
    async fn a_head_has_an_end() {
        let place = places(1).enter(Duration::ZERO).await.unwrap();
        place.came(limits::HEAD_BYTES);
        assert_eq!(place.room(), 0);
        let _busy = Busy::new(Arc::clone(&place));
        assert_eq!(place.room(), usize::MAX);
    }
}
