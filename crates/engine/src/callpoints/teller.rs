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
    state: Mutex<Telling>,
}

struct Telling {
    since: Instant,
    /// Ended in this second, and how many of them may be told one by one.
    ended: u32,
    each: u32,
    /// Not told yet.
    calls: u64,
    last: Option<String>,
}

impl Teller {
    pub(super) fn new(log: Arc<Log>) -> Teller {
        let told = Telling::new(Instant::now());
        Teller(Arc::new(Inner { log, state: Mutex::new(told) }))
    }

    /// What is to be told of a call that has ended, once its record can be found.
    pub(super) fn completed(&self, call: &Call, was_paused: bool) -> Option<Event> {
        let end = call.end.as_ref()?;
        let matters = was_paused || end.failed;
        let mut told = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matters && !told.tells(Instant::now()) {
            told.calls += 1;
            if told.last.as_ref() != Some(&call.name) {
                told.last = Some(call.name.clone());
            }
            return None;
        }
        Some(Event::CallCompleted {
            call_id: call.id.clone(),
            method_name: call.name.clone(),
            status: end.status.clone(),
            process: call.process.clone(),
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

impl Telling {
    fn new(now: Instant) -> Telling {
        Telling { since: now, ended: 0, each: limits::TELL_EACH, calls: 0, last: None }
    }

    /// Whether one more is told by itself. A flood that goes on is told by its number alone: a thousand
    /// events a second would push everything else out of the log within a minute.
    fn tells(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.since) >= limits::TELL_WINDOW {
            let is_flood = self.ended >= 2 * limits::TELL_EACH;
            self.each = if is_flood { 0 } else { limits::TELL_EACH };
            (self.since, self.ended) = (now, 0);
        }
        self.ended += 1;
        self.ended <= self.each
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_that_goes_on_is_told_by_its_number() {
        let begin = Instant::now();
        let mut told = Telling::new(begin);
        let mut second = |number: u32, calls: u32| {
            let now = begin + limits::TELL_WINDOW * number;
            (0..calls).filter(|_| told.tells(now)).count()
        };
        assert_eq!(second(0, 900), 900);
        assert_eq!(second(1, 1_500), 1_000);
        assert_eq!(second(2, 5_000), 1_000);
        assert_eq!(second(3, 5_000), 0);
        assert_eq!(second(4, 100), 0);
        assert_eq!(second(5, 100), 100);
    }
}
