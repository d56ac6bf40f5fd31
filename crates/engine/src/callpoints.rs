//! Callpoints: what an instrumented app is told before and after its calls.
//!
//! The app asks, [`behavior`] decides, and a call that pauses waits until an agent or a person says
//! what becomes of it. In memory are only the callpoints, the calls under way and the paused ones;
//! what has ended is in the store. Nothing of an app's is ever executed here.

pub mod behavior;
pub mod call;
pub mod decision;
pub mod functions;
pub mod lenient;
pub mod paused;
pub mod repl;
pub mod value;

mod batch;
mod beside;
mod book;
mod clock;
mod flow;
mod known;
mod liveness;
mod look;
mod name;
mod object;
mod pretty;
mod read;
mod recorder;
mod stacks;
mod teller;
mod tree;
mod verdict;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use holdpoint_store::Store;
pub use holdpoint_store::{CallStats, ReplQuery, Retention, StoreError};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

pub use self::{
    batch::{BatchAnswer, Record, Ref},
    beside::AppEvent,
    flow::{Refused, Started},
    name::NoValue,
    object::Inspected,
    read::{Page, Wanted},
    tree::Node,
};
use self::{
    call::Call, functions::Config, known::Known, paused::Pauses, recorder::Recorder, repl::Repls,
    stacks::Stacks, teller::Teller, verdict::Verdict,
};
use crate::{limits, log::Log};

pub struct Callpoints {
    state: Mutex<State>,
    /// Changes with every callpoint and behavior, so that apps hear of it at once.
    version: watch::Sender<u64>,
    store: Arc<Store>,
    recorder: Arc<Recorder>,
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
struct State {
    config: Config,
    known: Known,
    stacks: Stacks,
    flights: Flights,
    pauses: Pauses,
    repls: Repls,
    com_errors: VecDeque<Value>,
    apps: HashMap<String, Met>,
    /// The keys of apps, by process id and the bits of when they began.
    keys: HashMap<(i64, u64), Box<str>>,
    /// Starts that were asked to send missing values: their next may be of a changed object (B34).
    asked: VecDeque<Asked>,
    /// Batches taken of late, which may be sent again.
    batches: VecDeque<u64>,
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
}

struct Flight {
    order: u64,
    fingerprint: u64,
    call: Arc<Call>,
    /// What its start was answered.
    answer: Started,
    /// The pause before it, if there was one.
    pause: Option<String>,
    repl_sessions: Vec<String>,
    verdict: Option<Verdict>,
    began: std::time::Instant,
}

impl Callpoints {
    /// Takes up what an earlier server left, and starts the tasks that record and look after apps.
    pub async fn open(store: Arc<Store>, log: Arc<Log>, retention: Retention) -> Arc<Callpoints> {
        let kept = store.kept_callpoints().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "callpoints were not restored");
            Default::default()
        });
        let state = State { config: Config::restore(kept), ..State::default() };
        let callpoints = Arc::new(Callpoints {
            state: Mutex::new(state),
            version: watch::Sender::new(1),
            recorder: Recorder::start(Arc::clone(&store)),
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
        let waiting = self.state().pauses.waiting();
        let paused = self.state().pauses.ids();
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
        self.state().pauses.len()
    }

    /// What an app says went wrong with its connection.
    pub fn report_com_error(&self, mut error: Value) {
        let now = clock::now();
        let Some(object) = error.as_object_mut() else { return };
        object.entry("timestamp").or_insert_with(|| json!(now));
        object.insert("received_at".to_owned(), json!(now));
        let mut state = self.state();
        state.com_errors.push_back(error);
        while state.com_errors.len() > limits::COM_ERRORS {
            state.com_errors.pop_front();
        }
    }

    /// Oldest first.
    pub fn com_errors(&self) -> Vec<Value> {
        self.state().com_errors.iter().cloned().collect()
    }

    /// An id for a call of which nothing can be recorded.
    pub fn uncaptured(&self) -> String {
        self.state().flights.next_id().0
    }

    /// Calls under way, the oldest first.
    pub fn in_flight(&self) -> Vec<Value> {
        let state = self.state();
        let mut flights: Vec<&Flight> = state.flights.calls.values().collect();
        flights.sort_by_key(|flight| flight.order);
        let row = |flight: &&Flight| {
            json!({
                "call_id": flight.call.id,
                "method_name": flight.call.name,
                "process_key": flight.call.process,
                "started_at": flight.call.started_at,
                "running_s": flight.began.elapsed().as_secs_f64(),
                "line": flight.call.line(),
            })
        };
        flights.iter().take(limits::IN_FLIGHT_SHOWN).map(row).collect()
    }

    pub fn in_flight_count(&self) -> usize {
        self.state().flights.calls.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole between statements; a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flights {
    /// The answer to a request that came before.
    fn again(&self, fingerprint: u64) -> Option<Started> {
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
