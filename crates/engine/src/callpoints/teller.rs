//! Tells the log of calls that end: each by itself, and in a flood by their number.
//!
//! A busy app ends thousands of calls a second. Told one by one they would push everything else out
//! of the log and drown every client; all of them are in the store. One that failed, or that somebody
//! held up, is always told.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tokio::task::JoinHandle;

use crate::{calls::call::Call, event::Event, limits, log::Log};

pub(super) struct Teller(Arc<Inner>);

struct Inner {
    log: Arc<Log>,
    state: Mutex<Told>,
}

struct Told {
    since: Instant,
    /// Told one by one in this second.
    told: u32,
    /// Not told yet.
    calls: u64,
    last: Option<String>,
}

impl Teller {
    pub(super) fn new(log: Arc<Log>) -> Teller {
        let told = Told { since: Instant::now(), told: 0, calls: 0, last: None };
        Teller(Arc::new(Inner { log, state: Mutex::new(told) }))
    }

    /// What is to be told of a call that has ended, once its record can be found.
    pub(super) fn completed(&self, call: &Call, was_paused: bool) -> Option<Event> {
        let end = call.end.as_ref()?;
        let matters = was_paused || end.failed;
        let mut told = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if told.since.elapsed() >= limits::TELL_WINDOW {
            (told.since, told.told) = (Instant::now(), 0);
        }
        if told.told >= limits::TELL_EACH && !matters {
            told.calls += 1;
            if told.last.as_ref() != Some(&call.name) {
                told.last = Some(call.name.clone());
            }
            return None;
        }
        told.told += u32::from(!matters);
        Some(Event::CallCompleted {
            call_id: call.id.clone(),
            method_name: call.name.clone(),
            status: end.status.clone(),
        })
    }

    /// Ends with the teller's owner, who aborts it.
    pub(super) fn summaries(&self) -> JoinHandle<()> {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let mut every = tokio::time::interval(limits::TELL_WINDOW);
            loop {
                every.tick().await;
                inner.summarise();
            }
        })
    }
}

impl Inner {
    fn summarise(&self) {
        let (calls, last) = {
            let mut told = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (std::mem::take(&mut told.calls), told.last.take())
        };
        if calls > 0 {
            let last = last.unwrap_or_default();
            // Those that failed were told one by one.
            self.log.append(Event::CallsCompleted { calls, failed: 0, last });
        }
    }
}
