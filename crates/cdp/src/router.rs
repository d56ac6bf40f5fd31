//! Who waits for which answer, and through which worker it travels. Pure: text in, text out.
//!
//! A worker's message is a string inside a command of the main thread
//! (`NodeWorker.sendMessageToWorker`), which is answered by itself. So a call to a worker takes two
//! ids: its own, and the carrier's, which only matters when the carrier is refused.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    error::{Closing, Error},
    message::{self, Message, Refusal},
    types::{Event, Target, WorkerSession, worker},
};

pub(crate) type Answer = Result<String, Error>;

/// One call on its way out.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) method: String,
    pub(crate) params: Box<RawValue>,
    pub(crate) reply: oneshot::Sender<Answer>,
}

#[derive(Debug)]
pub(crate) struct Router {
    last_id: u64,
    waiting: HashMap<u64, Waiting>,
    /// Node takes messages for a worker that ended, and never answers them.
    workers: HashSet<WorkerSession>,
    calls_max: usize,
}

#[derive(Debug)]
enum Waiting {
    Caller {
        target: Target,
        method: String,
        /// The answer is a whole value, however deep.
        by_value: bool,
        reply: oneshot::Sender<Answer>,
    },
    Carrier {
        of: u64,
    },
}

impl Router {
    pub(crate) fn new(calls_max: usize) -> Router {
        Router { last_id: 0, waiting: HashMap::new(), workers: HashSet::new(), calls_max }
    }

    /// The text to send, unless the call is refused here; then its caller knows already.
    pub(crate) fn outgoing(&mut self, call: Call) -> Option<String> {
        let Call { target, method, params, reply } = call;
        if let Err(error) = self.admits(&target, &method) {
            answer(reply, Err(error));
            return None;
        }
        let by_value = params.get().contains(r#""returnByValue":true"#);
        let id = self.take_id();
        let encoded = message::encode(id, &method, &params).and_then(|text| match &target {
            Target::Main => Ok(text),
            Target::Worker(session) => self.wrapped(id, session, &text),
        });
        match encoded {
            Ok(text) => {
                self.waiting.insert(id, Waiting::Caller { target, method, by_value, reply });
                Some(text)
            }
            Err(error) => {
                answer(reply, Err(error));
                None
            }
        }
    }

    /// Takes one message. Answers go to their callers; an event is returned.
    pub(crate) fn incoming(&mut self, text: &str) -> Option<(Target, Event)> {
        let (method, params) = self.take(&Target::Main, text)?;
        if method != worker::RECEIVED {
            let event = Event::read(&method, params);
            self.note_workers(&event);
            return Some((Target::Main, event));
        }
        let inner: worker::Received = message::parse(&method, params)
            .inspect_err(|error| tracing::warn!(%error, "a worker's message is lost"))
            .ok()?;
        // One level only: Node reports workers of workers to the main thread as well.
        let target = Target::Worker(inner.session_id);
        let (method, params) = self.take(&target, &inner.message)?;
        let event = Event::read(&method, params);
        Some((target, event))
    }

    /// An answer is delivered; an event is given back as its name and its text.
    fn take<'a>(&mut self, target: &Target, text: &'a str) -> Option<(Cow<'a, str>, &'a str)> {
        if text.is_empty() {
            self.lost_an_answer(target);
            return None;
        }
        match message::decode(text) {
            Ok(Message::Event { method, params }) => Some((method, params)),
            Ok(Message::Answer { id, outcome }) => {
                self.answered(id, outcome);
                None
            }
            Err(error) => {
                tracing::warn!(%error, bytes = text.len(), "a message is ignored");
                None
            }
        }
    }

    /// V8 sends an empty message in place of one that is nested deeper than 300. Only values asked
    /// for whole are that deep, and a thread answers in order, so the oldest such call is meant.
    fn lost_an_answer(&mut self, of: &Target) {
        let calls = self.waiting.iter().filter(|(_, waiting)| {
            matches!(waiting, Waiting::Caller { target, by_value: true, .. } if target == of)
        });
        let Some(id) = calls.map(|(id, _)| *id).min() else {
            tracing::warn!("an empty message is ignored");
            return;
        };
        if let Some(Waiting::Caller { method, reply, .. }) = self.waiting.remove(&id) {
            let detail = "the value is nested too deep to be sent whole".to_owned();
            answer(reply, Err(Error::Malformed { what: method, detail }));
        }
    }

    fn note_workers(&mut self, event: &Event) {
        match event {
            Event::WorkerAttached(attached) => {
                self.workers.insert(attached.session_id.clone());
            }
            Event::WorkerDetached(detached) => {
                self.workers.remove(&detached.session_id);
                self.end_worker(&detached.session_id);
            }
            _ => {}
        }
    }

    fn admits(&mut self, target: &Target, method: &str) -> Result<(), Error> {
        match target {
            Target::Worker(session) if !self.workers.contains(session) => {
                Err(Error::Closed { reason: Closing::WorkerEnded })
            }
            Target::Worker(_) | Target::Main if !self.has_room() => {
                Err(Error::Busy { method: method.to_owned(), calls: self.calls_max })
            }
            Target::Worker(_) | Target::Main => Ok(()),
        }
    }

    fn answered(&mut self, id: u64, outcome: Result<&str, Refusal>) {
        match self.waiting.remove(&id) {
            Some(Waiting::Caller { method, reply, .. }) => {
                answer(
                    reply,
                    outcome.map(str::to_owned).map_err(|Refusal { code, message }| {
                        Error::Refused { method, code, message }
                    }),
                )
            }
            // The message never reached the worker, so nobody else will answer.
            Some(Waiting::Carrier { of }) => {
                if let Err(refusal) = outcome {
                    self.answered(of, Err(refusal));
                }
            }
            None => tracing::debug!(id, "an answer that nobody waits for"),
        }
    }

    fn end_worker(&mut self, session: &WorkerSession) {
        let ended = self.waiting.extract_if(|_, waiting| {
            matches!(waiting, Waiting::Caller { target: Target::Worker(of), .. } if of == session)
        });
        for (_, waiting) in ended {
            if let Waiting::Caller { reply, .. } = waiting {
                answer(reply, Err(Error::Closed { reason: Closing::WorkerEnded }));
            }
        }
    }

    fn wrapped(&mut self, of: u64, session: &WorkerSession, text: &str) -> Result<String, Error> {
        let params =
            message::raw(worker::SEND, worker::SendMessage { session_id: session, message: text })?;
        let id = self.take_id();
        let text = message::encode(id, worker::SEND, &params)?;
        self.waiting.insert(id, Waiting::Carrier { of });
        Ok(text)
    }

    fn take_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Callers who gave up make room, but only when it is needed.
    fn has_room(&mut self) -> bool {
        if self.waiting.len() < self.calls_max {
            return true;
        }
        self.waiting.retain(|_, waiting| match waiting {
            Waiting::Caller { reply, .. } => !reply.is_closed(),
            Waiting::Carrier { .. } => true,
        });
        let is_call = |waiting: &&Waiting| matches!(waiting, Waiting::Caller { .. });
        self.waiting.values().filter(is_call).count() < self.calls_max
    }
}

/// A caller that gave up takes no answer, and that is all right.
fn answer(reply: oneshot::Sender<Answer>, answer: Answer) {
    if reply.send(answer).is_err() {
        tracing::debug!("an answer came after its caller gave up");
    }
}

#[cfg(test)]
mod tests;
