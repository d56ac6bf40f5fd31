//! Callpoints: what an instrumented app is told before and after its calls.
//!
//! The app asks, [`behavior`] decides, and a call that pauses waits until an agent or a person says
//! what becomes of it. Here is only what is live: the callpoints, the calls under way and the paused ones.
//! What has ended is read in another room ([`records`](crate::records)), expressions are relayed in a third
//! ([`repl`](crate::repl)). Nothing of an app's is ever executed here.

pub mod ask;
pub mod behavior;
pub mod decision;
pub mod functions;
pub mod paused;
pub mod resume;

mod batch;
mod beside;
mod book;
mod expressions;
mod flow;
mod liveness;
mod look;
mod recent;
mod stacks;
mod teller;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

pub use holdpoint_store::Retention;
use holdpoint_store::Tables;
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

pub use self::{
    batch::{BatchAnswer, CallRecord, LiveRef},
    beside::AppEvent,
    flow::{CallStarted, PausedAfter, Refused},
};
use self::{
    functions::Config, paused::Pauses, recent::RecentValues, stacks::Stacks, teller::Teller,
};
use crate::{
    calls::{call::Call, clock, verdict::Verdict},
    limits,
    log::Log,
    records::{Records, Unkept, recorder::Recorder},
    repl::Repl,
};

pub struct Callpoints {
    live: Mutex<Live>,
    /// Changes with every callpoint and behavior, so that apps hear of it at once.
    version: watch::Sender<u64>,
    store: Arc<dyn Tables>,
    recorder: Arc<Recorder>,
    /// What has ended.
    pub records: Records,
    /// Expressions in paused apps.
    pub repl: Repl,
    /// What apps say went wrong with their connections, oldest first.
    com_errors: Mutex<VecDeque<Map<String, Value>>>,
    log: Arc<Log>,
    teller: Teller,
    /// Names this run of the server: an app that meets another one starts anew.
    pub server: String,
    /// Set once, when the server stops: nothing pauses any more.
    leaving: AtomicBool,
    /// Set once, after that: whoever waits goes on.
    closing: watch::Sender<bool>,
    /// A call has ended, or a decision was fetched.
    moved: Notify,
    tasks: Mutex<Vec<AbortOnDropHandle<()>>>,
}

#[derive(Default)]
struct Live {
    config: Config,
    recent: RecentValues,
    stacks: Stacks,
    flights: Flights,
    pauses: Pauses,
    apps: HashMap<String, Met>,
    /// The keys of apps, by process id and the bits of when they began.
    keys: HashMap<(i64, u64), Box<str>>,
    /// Starts that were asked to send missing values: their next may be of a changed object.
    asked: VecDeque<Asked>,
    /// Batches taken of late, which may be sent again.
    batches: VecDeque<u64>,
    /// The recorder's losses when `recent` was last true.
    losses: u64,
    /// Pauses that are gone with their calls; whoever sees the calls off tells of them.
    unwaited: Vec<Unwaited>,
}

/// A pause whose call ended although it was to wait there.
struct Unwaited {
    pause_id: String,
    method_name: String,
}

/// An app that was heard of.
struct Met {
    /// When the store last heard of it.
    told: f64,
    /// When it last asked something.
    heard: f64,
    /// Whether its process number was one of ours while it spoke. An app in a container or on another
    /// host has a number that means nothing here.
    is_here: bool,
}

/// A start that was asked to send values again.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    process: String,
    name: String,
    timestamp: Option<f64>,
}

/// Calls under way.
#[derive(Default)]
struct Flights {
    next: u64,
    calls: HashMap<String, Flight>,
    /// The request that began a call, sent again: its answer is the same.
    again: HashMap<u64, String>,
    /// Requests whose call is about to pause: who sends one again waits for the same answer.
    pausing: HashMap<u64, watch::Receiver<Option<CallStarted>>>,
}

/// A call under way, as it is shown.
#[derive(Debug, Clone)]
pub struct Flying {
    pub call: Arc<Call>,
    pub running: Duration,
}

struct Flight {
    order: u64,
    /// None for a call of this process, which is not sent twice.
    fingerprint: Option<u64>,
    call: Arc<Call>,
    /// What its start was answered.
    answer: CallStarted,
    /// The pause before it, if there was one.
    pause: Option<String>,
    repl_sessions: Vec<String>,
    verdict: Option<Verdict>,
    began: Instant,
}

impl Callpoints {
    /// Takes up what an earlier server left, and starts the tasks that record and look after apps.
    pub async fn open(
        store: Arc<dyn Tables>,
        log: Arc<Log>,
        retention: Retention,
    ) -> Arc<Callpoints> {
        let kept = store.kept_callpoints().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "callpoints were not restored");
            Default::default()
        });
        let live = Live { config: Config::restore(kept), ..Live::default() };
        let recorder = Recorder::start(Arc::clone(&store), Arc::clone(&log));
        let callpoints = Arc::new(Callpoints {
            live: Mutex::new(live),
            version: watch::Sender::new(1),
            records: Records::beside(Arc::clone(&store), Arc::clone(&recorder)),
            repl: Repl::over(Arc::clone(&store), Arc::clone(&log)),
            com_errors: Mutex::default(),
            recorder,
            store,
            teller: Teller::new(Arc::clone(&log)),
            log,
            server: uuid::Uuid::new_v4().simple().to_string(),
            leaving: AtomicBool::new(false),
            closing: watch::Sender::new(false),
            moved: Notify::new(),
            tasks: Mutex::default(),
        });
        let tasks = [
            liveness::watch(Arc::downgrade(&callpoints)),
            liveness::retain(Arc::downgrade(&callpoints), retention),
            callpoints.teller.summaries(),
        ];
        // Aborted when the callpoints are dropped.
        *callpoints.tasks.lock().unwrap_or_else(PoisonError::into_inner) =
            tasks.into_iter().map(AbortOnDropHandle::new).collect();
        callpoints
    }

    /// The server stops: whoever is paused goes on, and what was recorded is written.
    ///
    /// An app that goes on tells how its call ended, and most end with the connection if they cannot. So
    /// they are waited for, [`limits::LAST_CALLS`] at the most.
    pub async fn close(&self) {
        self.leaving.store(true, Relaxed);
        let waiting = self.live().pauses.waiting();
        let paused = self.live().pauses.ids();
        for id in paused {
            self.release(&id, "the server is stopping");
        }
        if timeout(limits::LAST_CALLS, self.see_off(waiting)).await.is_err() {
            tracing::info!("a call that was paused has not ended yet");
        }
        self.closing.send_replace(true);
        self.recorder.settle().await;
    }

    pub fn paused_count(&self) -> usize {
        self.live().pauses.len()
    }

    /// What an app says went wrong with its connection.
    pub fn report_com_error(&self, mut error: Map<String, Value>) {
        let now = clock::now();
        error.entry("timestamp").or_insert_with(|| json!(now));
        error.insert("received_at".to_owned(), json!(now));
        let mut errors = self.com_errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push_back(error);
        while errors.len() > limits::COM_ERRORS {
            errors.pop_front();
        }
    }

    /// Oldest first.
    pub fn com_errors(&self) -> Vec<Map<String, Value>> {
        let errors = self.com_errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.iter().cloned().collect()
    }

    /// An id for a call of which nothing can be recorded.
    pub fn uncaptured(&self) -> String {
        self.live().flights.next_id().0
    }

    /// Calls under way, the oldest first.
    pub fn in_flight(&self) -> Vec<Flying> {
        let live = self.live();
        let mut flights: Vec<&Flight> = live.flights.calls.values().collect();
        flights.sort_by_key(|flight| flight.order);
        let flying = |flight: &&Flight| Flying {
            call: Arc::clone(&flight.call),
            running: flight.began.elapsed(),
        };
        flights.iter().take(limits::IN_FLIGHT_SHOWN).map(flying).collect()
    }

    pub fn in_flight_count(&self) -> usize {
        self.live().flights.calls.len()
    }

    /// Calls that apps were told are taken, and that are not in the store.
    pub fn unkept(&self) -> Unkept {
        self.recorder.unkept()
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // Every change is whole between statements; a panic elsewhere does not spoil it.
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let losses = self.recorder.losses();
        if live.losses != losses {
            live.losses = losses;
            // Any of them may have been among what was lost: the store is asked, and then the app.
            live.recent = live.recent.emptied();
        }
        live
    }
}

impl Flights {
    /// The answer to a request that came before.
    fn again(&self, fingerprint: u64) -> Option<CallStarted> {
        let call_id = self.again.get(&fingerprint)?;
        self.calls.get(call_id).map(|flight| flight.answer.clone())
    }

    /// `<unix time>-<number>`, as the wire has it.
    fn next_id(&mut self) -> (String, u64) {
        self.next += 1;
        let micros = clock::micros();
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        (format!("{seconds}.{micros:06}-{:03}", self.next), self.next)
    }
}
