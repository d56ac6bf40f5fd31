//! Looks after apps that are gone, and after what is kept.
//!
//! A paused app asks again and again: whoever asks is alive, whatever its process number. One that is
//! silent, and whose process was there and is not any more, has died: its pause is dropped and said so.
//! One that is silent for long is dropped too, and put back should it ask again.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use holdpoint_store::Retention;
use tokio::task::JoinHandle;

use super::{Callpoints, paused::Pause};
use crate::{
    calls::{call::Call, clock},
    event::Event,
    limits,
};

/// Ends with the callpoints.
pub(super) fn watch(callpoints: Weak<Callpoints>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut every = tokio::time::interval(limits::LIVENESS_EVERY);
        loop {
            every.tick().await;
            let Some(callpoints) = callpoints.upgrade() else { return };
            callpoints.drop_the_dead().await;
        }
    })
}

/// Ends with the callpoints.
pub(super) fn retain(callpoints: Weak<Callpoints>, keep: Retention) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut every = tokio::time::interval(limits::PRUNE_EVERY);
        loop {
            every.tick().await;
            let Some(callpoints) = callpoints.upgrade() else { return };
            callpoints.prune(keep).await;
        }
    })
}

impl Callpoints {
    async fn drop_the_dead(&self) {
        let silent = self.live().silent(limits::SILENCE);
        for (id, call) in silent {
            if self.live().has_ended(&call) {
                let why = format!("its process {} has ended", call.pid.unwrap_or_default());
                self.give_up(&id, &call.name, why).await;
            }
        }
        let silent = self.live().silent(limits::SILENCE_MAX);
        for (id, call) in silent {
            let silence = limits::SILENCE_MAX.as_secs();
            self.give_up(&id, &call.name, format!("its app was silent for {silence} s")).await;
        }
        let gone = self.live().flights_of_the_dead();
        self.record_abandoned(gone, "the process has ended").await;
    }

    async fn give_up(&self, id: &str, name: &str, why: String) {
        let lost = self.live().pauses.lose(id);
        let Some(_call) = lost else { return };
        self.repl.close_all_of(id).await;
        let (pause_id, method_name) = (id.to_owned(), name.to_owned());
        self.log.append(Event::CallLost { pause_id, method_name, why });
    }

    /// Drops what is too old or too much.
    async fn prune(self: Arc<Self>, keep: Retention) {
        let floor = |era| self.live().recent.raise_floor(era);
        match self.store.prune(keep, clock::now(), &floor).await {
            Ok(done) if done.calls + done.values > 0 => {
                tracing::info!(calls = done.calls, values = done.values, "old calls were dropped");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "old calls could not be dropped"),
        }
    }
}

impl super::Live {
    /// Calls under way for a while whose process is not there any more.
    fn flights_of_the_dead(&mut self) -> Vec<Arc<Call>> {
        let flights = self.flights.calls.values();
        let old = flights.filter(|flight| flight.began.elapsed() > limits::SILENCE);
        let mut apps: HashMap<&str, bool> = HashMap::new();
        let mut ids: Vec<String> = Vec::new();
        for flight in old {
            let key = flight.call.process.as_str();
            let ended = *apps.entry(key).or_insert_with(|| self.has_ended(&flight.call));
            let waits = flight.pause.as_ref().and_then(|id| self.pauses.get(id));
            if ended && !waits.is_some_and(Pause::is_waiting) {
                ids.push(flight.call.id.clone());
            }
        }
        ids.iter().filter_map(|id| self.land(id)).map(|flight| flight.call).collect()
    }

    /// Whether the process of a call was one of ours, says nothing any more, and is gone.
    fn has_ended(&self, call: &Call) -> bool {
        let silence = limits::SILENCE.as_secs_f64();
        self.apps.get(&call.process).is_some_and(|met| {
            met.is_here && clock::now() - met.heard > silence && call.pid.is_some_and(is_gone)
        })
    }
}

/// Whether no process has this number. One that we may not signal is there.
pub(super) fn is_gone(pid: i64) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}
