//! Tells the log of calls that end: each by itself, and in a flood by their number.
//!
//! A busy app ends thousands of calls a second. Told one by one they would push everything else out
//! of the log and drown every client; all of them are in the store.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tokio::task::JoinHandle;

use crate::{event::Event, limits, log::Log};

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
    failed: u64,
    last: Option<String>,
}

impl Teller {
    pub(super) fn new(log: Arc<Log>) -> Teller {
        let told = Told { since: Instant::now(), told: 0, calls: 0, failed: 0, last: None };
        Teller(Arc::new(Inner { log, state: Mutex::new(told) }))
    }

    pub(super) fn completed(&self, call_id: &str, name: &str, status: &str, failed: bool) {
        let mut told = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if told.since.elapsed() >= limits::TELL_WINDOW {
            (told.since, told.told) = (Instant::now(), 0);
        }
        if told.told >= limits::TELL_EACH {
            told.calls += 1;
            told.failed += u64::from(failed);
            told.last = Some(name.to_owned());
            return;
        }
        told.told += 1;
        drop(told);
        self.0.log.append(Event::CallCompleted {
            call_id: call_id.to_owned(),
            method_name: name.to_owned(),
            status: status.to_owned(),
        });
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
        let (calls, failed, last) = {
            let mut told = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let calls = std::mem::take(&mut told.calls);
            (calls, std::mem::take(&mut told.failed), told.last.take())
        };
        if calls > 0 {
            let last = last.unwrap_or_default();
            self.log.append(Event::CallsCompleted { calls, failed, last });
        }
    }
}
