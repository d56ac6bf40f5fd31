//! What the tasks and the clients of one connection share: who waits for which answer, and the way out.
//!
//! One lock, never held across an await. A request gets its number and its place in the outbox under that
//! lock, so numbers leave in order and none is given to a request that is never sent.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::RequestError;
use crate::{
    limits,
    message::{self, Response},
    tape::Tape,
};

/// How often something was passed over instead of failing the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers to requests that we never made.
    pub stray_answers: u64,
    /// Messages that are JSON and not the protocol.
    pub malformed: u64,
    /// Stretches of bytes that are no message.
    pub garbage: u64,
}

pub(super) struct Shared {
    state: Mutex<State>,
    outbox: mpsc::Sender<Value>,
    places: Semaphore,
    supports_cancel: AtomicBool,
    stray_answers: AtomicU64,
    malformed: AtomicU64,
    garbage: AtomicU64,
    /// Fires when the connection is closed, for whoever waits for something else.
    pub(super) end: CancellationToken,
    pub(super) tape: Option<Tape>,
}

#[derive(Default)]
struct State {
    last_seq: i64,
    waiting: HashMap<i64, Waiting>,
    /// Sent, and nobody waits: an answer to one of these is no surprise.
    forgotten: BTreeSet<i64>,
    closed: Option<Arc<str>>,
}

struct Waiting {
    command: String,
    answer: oneshot::Sender<Answer>,
}

pub(super) type Answer = Result<Value, RequestError>;
pub(super) type Slot<'a> = mpsc::Permit<'a, Value>;

/// Forgets its request when dropped, if that is still unanswered.
pub(super) struct Ticket<'a> {
    shared: &'a Shared,
    seq: i64,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.shared.forget(self.seq);
    }
}

impl Shared {
    pub(super) fn new(tape: Option<Tape>) -> (Arc<Shared>, mpsc::Receiver<Value>) {
        let (outbox, out) = mpsc::channel(limits::OUTBOX);
        let shared = Shared {
            state: Mutex::default(),
            outbox,
            places: Semaphore::new(limits::IN_FLIGHT),
            supports_cancel: AtomicBool::new(false),
            stray_answers: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
            garbage: AtomicU64::new(0),
            end: CancellationToken::new(),
            tape,
        };
        (Arc::new(shared), out)
    }

    /// Waits until few enough requests are under way.
    pub(super) async fn place(&self) -> Result<SemaphorePermit<'_>, RequestError> {
        self.places.acquire().await.map_err(|_| self.closed_error())
    }

    /// Waits for room in the outbox.
    pub(super) async fn slot(&self) -> Result<Slot<'_>, RequestError> {
        self.outbox.reserve().await.map_err(|_| self.closed_error())
    }

    /// Room in the outbox, if there is some now.
    pub(super) fn free_slot(&self) -> Option<Slot<'_>> {
        self.outbox.try_reserve().ok()
    }

    pub(super) fn send(
        &self,
        slot: Slot<'_>,
        command: &str,
        arguments: Value,
    ) -> Result<(Ticket<'_>, oneshot::Receiver<Answer>), RequestError> {
        let mut state = self.state();
        if let Some(reason) = &state.closed {
            return Err(RequestError::Closed { reason: Arc::clone(reason) });
        }
        let seq = state.next_seq();
        let (answer, receiver) = oneshot::channel();
        state.waiting.insert(seq, Waiting { command: command.to_owned(), answer });
        slot.send(message::request_json(seq, command, arguments));
        Ok((Ticket { shared: self, seq }, receiver))
    }

    /// Answers a request of the adapter.
    pub(super) fn reply(
        &self,
        slot: Slot<'_>,
        request_seq: i64,
        command: &str,
        answer: Result<Value, String>,
    ) {
        let mut state = self.state();
        let seq = state.next_seq();
        slot.send(message::response_json(seq, request_seq, command, answer));
    }

    /// Hands an answer to whoever waits for it.
    pub(super) fn answered(&self, response: Response) {
        let Some(waiting) = self.settle(response.request_seq) else { return };
        let answer = if response.success {
            Ok(response.body)
        } else {
            Err(RequestError::Refused {
                command: waiting.command,
                message: message::refusal_text(response.message, &response.body),
                body: response.body,
            })
        };
        deliver(waiting.answer, answer);
    }

    /// The answer came and cannot be read: better to say so than to let its request wait.
    pub(super) fn spoiled(&self, request_seq: i64, problem: String) {
        let Some(waiting) = self.settle(request_seq) else { return };
        let answer = RequestError::Malformed { command: waiting.command, problem };
        deliver(waiting.answer, Err(answer));
    }

    /// Ends everything under way. The first reason stays.
    pub(super) fn close(&self, reason: &str) {
        let mut state = self.state();
        if state.closed.is_some() {
            return;
        }
        let reason: Arc<str> = Arc::from(reason);
        state.closed = Some(Arc::clone(&reason));
        for (_, waiting) in state.waiting.drain() {
            deliver(waiting.answer, Err(RequestError::Closed { reason: Arc::clone(&reason) }));
        }
        drop(state);
        self.places.close();
        self.end.cancel();
    }

    pub(super) fn closed(&self) -> Option<Arc<str>> {
        self.state().closed.clone()
    }

    pub(super) fn closed_error(&self) -> RequestError {
        let reason = self.closed().unwrap_or_else(|| Arc::from("it was dropped"));
        RequestError::Closed { reason }
    }

    pub(super) fn set_supports_cancel(&self, supports: bool) {
        self.supports_cancel.store(supports, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            stray_answers: self.stray_answers.load(Ordering::Relaxed),
            malformed: self.malformed.load(Ordering::Relaxed),
            garbage: self.garbage.load(Ordering::Relaxed),
        }
    }

    pub(super) fn count_malformed(&self, problem: &str) {
        noise(&self.malformed, problem, "a message of the adapter makes no sense");
    }

    pub(super) fn count_garbage(&self, problem: &str) {
        noise(&self.garbage, problem, "the adapter sent something that is no message");
    }

    /// Takes a request off the list. An answer that nobody wants is nothing to count, one that
    /// nobody asked for is.
    fn settle(&self, request_seq: i64) -> Option<Waiting> {
        let mut state = self.state();
        let waiting = state.waiting.remove(&request_seq);
        if waiting.is_none() && !state.forgotten.remove(&request_seq) {
            let number = request_seq.to_string();
            noise(&self.stray_answers, &number, "the adapter answered a request that was not made");
        }
        waiting
    }

    fn forget(&self, seq: i64) {
        let mut state = self.state();
        if state.waiting.remove(&seq).is_none() {
            return;
        }
        state.remember(seq);
        if !self.supports_cancel.load(Ordering::Relaxed) {
            return;
        }
        // Without room the adapter does not read, and would not see a cancellation either.
        let Some(slot) = self.free_slot() else { return };
        let cancel = state.next_seq();
        state.remember(cancel);
        slot.send(message::request_json(cancel, "cancel", json!({ "requestId": seq })));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between statements; a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_seq(&mut self) -> i64 {
        self.last_seq += 1;
        self.last_seq
    }

    fn remember(&mut self, seq: i64) {
        self.forgotten.insert(seq);
        if self.forgotten.len() > limits::FORGOTTEN {
            self.forgotten.pop_first();
        }
    }
}

/// It may have been forgotten in this very moment; then nobody wants to know.
fn deliver(to: oneshot::Sender<Answer>, answer: Answer) {
    to.send(answer).unwrap_or_default();
}

fn noise(count: &AtomicU64, problem: &str, text: &'static str) {
    let number = count.fetch_add(1, Ordering::Relaxed) + 1;
    if number <= limits::NOISE_WARNINGS {
        tracing::warn!(problem, number, "{text}");
    } else {
        tracing::debug!(problem, number, "{text}");
    }
}
