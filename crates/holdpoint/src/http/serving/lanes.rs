//! Which thread serves a connection.
//!
//! A request of an MCP client hops between tasks, and a hop to another core costs more than the
//! request; so everything is served by the one main thread. What an app asks about its calls is
//! answered within its connection's own task. Of such connections every other one is served by a
//! second thread, which is started when there is more than one.

use std::{
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use futures::future::BoxFuture;
use holdpoint_engine::limits;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    door::{Door, Visitor},
    listen::{Bounded, Connection},
};
use crate::serve;

pub(crate) struct Lanes {
    door: Arc<Door>,
    stop: CancellationToken,
    /// Connections of apps, by the thread that serves them.
    on_main: AtomicUsize,
    on_other: AtomicUsize,
    /// To the other thread; none when the system gives none.
    other: OnceLock<Option<mpsc::Sender<Task>>>,
    connections: TaskTracker,
}

/// A connection, to be served by whoever runs it.
type Task = BoxFuture<'static, ()>;

impl Lanes {
    pub(crate) fn new(door: Door, stop: CancellationToken) -> Arc<Lanes> {
        Arc::new(Lanes {
            door: Arc::new(door),
            stop,
            on_main: AtomicUsize::new(0),
            on_other: AtomicUsize::new(0),
            other: OnceLock::new(),
            connections: TaskTracker::new(),
        })
    }

    /// Serves whoever connects, until the server stops and the last one has its answer.
    pub(crate) async fn serve(self: Arc<Self>, mut listener: Bounded) {
        let stop = self.stop.clone();
        while let Some(connection) = stop.run_until_cancelled(listener.accept()).await {
            // Ended by its client or by the token, awaited below.
            self.connections.spawn(Arc::clone(&self).assign(connection));
        }
        drop(listener);
        self.connections.close();
        self.connections.wait().await;
    }

    /// To the thread that its first request asks for.
    async fn assign(self: Arc<Self>, connection: Connection) {
        let mut first = [0; limits::FIRST_BYTES];
        let first = self.stop.run_until_cancelled(connection.first_bytes(&mut first)).await;
        let Some(first) = first else { return };
        if !is_app(first) {
            return self.attend(connection).await;
        }
        // The tasks behind them outlive connections: they are the main thread's.
        self.door.app.engine.callpoints().await;
        match self.other_if_emptier() {
            None => {
                let _counted = Counted::new(&self, |lanes| &lanes.on_main);
                self.attend(connection).await;
            }
            Some(other) => {
                let counted = Counted::new(&self, |lanes| &lanes.on_other);
                let released = connection.release();
                let lanes = Arc::clone(&self);
                let task = self.connections.track_future(async move {
                    let _counted = counted;
                    match released.and_then(Connection::take_up) {
                        Ok(connection) => lanes.attend(connection).await,
                        Err(error) => tracing::warn!(%error, "a connection changed threads badly"),
                    }
                });
                if other.send(Box::pin(task)).await.is_err() {
                    tracing::warn!("a connection was lost: its thread is gone");
                }
            }
        }
    }

    fn other_if_emptier(&self) -> Option<&mpsc::Sender<Task>> {
        if self.on_main.load(Relaxed) <= self.on_other.load(Relaxed) {
            return None;
        }
        self.other.get_or_init(start_other).as_ref()
    }

    /// Serves one connection to its end. When the server stops, its last answer still goes out.
    async fn attend(&self, connection: Connection) {
        let (door, place) = (Arc::clone(&self.door), Arc::clone(connection.place()));
        let visitor = Visitor { door, place, caller: connection.caller };
        // Head and body of an answer leave as one piece: nearly all are small.
        let mut builder = http1::Builder::new();
        let http = builder.writev(false).serve_connection(TokioIo::new(connection), visitor);
        let mut http = pin!(http.with_upgrades());
        let ended = tokio::select! {
            biased;
            ended = http.as_mut() => ended,
            () = self.stop.cancelled() => {
                http.as_mut().graceful_shutdown();
                http.await
            }
        };
        if let Err(error) = ended {
            tracing::trace!(%error, "a connection ended badly");
        }
    }
}

/// Counts an app's connection while it is served.
struct Counted {
    lanes: Arc<Lanes>,
    count: fn(&Lanes) -> &AtomicUsize,
}

impl Counted {
    fn new(lanes: &Arc<Lanes>, count: fn(&Lanes) -> &AtomicUsize) -> Counted {
        count(lanes).fetch_add(1, Relaxed);
        Counted { lanes: Arc::clone(lanes), count }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.count)(&self.lanes).fetch_sub(1, Relaxed);
    }
}

/// A thread that serves what it is given. It ends when nobody can give it more.
fn start_other() -> Option<mpsc::Sender<Task>> {
    let runtime = serve::runtime().ok()?;
    let (give, mut given) = mpsc::channel::<Task>(limits::HANDED);
    let work = async move {
        while let Some(connection) = given.recv().await {
            // Ended by its client or by the shutdown token, awaited with all connections.
            tokio::spawn(connection);
        }
    };
    let thread = thread::Builder::new().name("holdpoint-calls".to_owned());
    thread.spawn(move || runtime.block_on(work)).ok()?;
    Some(give)
}

/// Whether a request that begins so is of the kind that apps make, which is answered where it arrives.
/// What is no REST is MCP, or a page.
fn is_app(first: &[u8]) -> bool {
    let path = b" /api/";
    first.windows(path.len()).any(|window| window == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_known_by_their_first_request() {
        for first in ["POST /api/call/s", "GET /api/poll/12", "DELETE /api/brea"] {
            assert!(first.len() == limits::FIRST_BYTES && is_app(first.as_bytes()), "{first}");
        }
        for first in ["POST /mcp HTTP/1", "GET / HTTP/1.1\r\n", "GET /x /api", ""] {
            assert!(!is_app(first.as_bytes()), "{first}");
        }
    }
}
