//! Paused calls: they wait, are polled for, and go on by a decision.
//!
//! A poll is held until there is something to say, so that an app goes on within milliseconds of the
//! decision. It is answered early when an evaluation is queued, which an app fetches only then, and
//! never held for an app whose polls block its event loop.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{Callpoints, Live, behavior::Moment, decision::Action, flow::PausedAfter};
use crate::{
    calls::{
        call::{Call, Values},
        clock,
        seen::Seen,
        value::Format,
    },
    event::Event,
    limits,
};

#[derive(Default)]
pub(super) struct Pauses {
    order: u64,
    paused: HashMap<String, Pause>,
    /// Decided, and perhaps not yet fetched by the app.
    decided: HashMap<String, Decided>,
    /// Those that are over, the newest last.
    over: VecDeque<String>,
    /// Silent for so long that they were given up; one that is heard of again is put back.
    lost: VecDeque<Pause>,
    /// Polls that are held right now.
    held: usize,
}

pub(super) struct Pause {
    pub(super) id: String,
    order: u64,
    pub(super) call: Arc<Call>,
    pub(super) moment: Moment,
    pub(super) paused_at: f64,
    pub(super) born: Instant,
    /// How the call is shown, made once.
    pub(super) seen: Arc<Seen>,
    pub(super) is_async: bool,
    /// When the app last asked, and how many of its polls are held now.
    pub(super) polled: Option<Instant>,
    pub(super) open: usize,
    changed: watch::Sender<()>,
    pub(super) sessions: Vec<String>,
}

/// A paused call, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Paused {
    pub id: String,
    pub seen: Arc<Seen>,
    pub moment: Moment,
    /// Seconds since 1970.
    pub paused_at: f64,
    pub repl_sessions: Vec<String>,
    /// Whoever asked is there.
    pub is_waiting: bool,
    /// It went on with its exception: nothing waits here.
    pub is_post_mortem: bool,
    /// How long ago it was heard of.
    pub silence: Duration,
}

struct Decided {
    action: Action,
    at: Instant,
    /// The app has it.
    fetched: bool,
}

/// A pause whose app is there, and the call that it was before, which goes on by it.
pub(super) struct Waiting {
    pub(super) id: String,
    pub(super) before: Option<String>,
}

/// What a poll hears.
#[derive(Debug, Clone, PartialEq)]
pub enum Polled {
    Waiting,
    Ready(Action),
}

impl Pause {
    /// Whether the app is there: it asks, or has asked a moment ago.
    pub(super) fn is_waiting(&self) -> bool {
        let asked = self.polled.map_or(self.born, |polled| polled);
        let patience = if self.polled.is_some() { limits::SILENCE } else { limits::FIRST_POLL };
        self.open > 0 || (!self.is_post_mortem() && asked.elapsed() < patience)
    }

    /// The exception went on its way: existing clients do not wait after one.
    pub(super) fn is_post_mortem(&self) -> bool {
        self.moment == Moment::AfterException
            && self.polled.is_none()
            && self.born.elapsed() > limits::FIRST_POLL
    }

    pub(super) fn wake(&self) {
        self.changed.send_replace(());
    }

    fn shown(&self) -> Paused {
        let silence = self.polled.unwrap_or(self.born).elapsed();
        Paused {
            id: self.id.clone(),
            seen: Arc::clone(&self.seen),
            moment: self.moment,
            paused_at: self.paused_at,
            repl_sessions: self.sessions.clone(),
            is_waiting: self.is_waiting(),
            is_post_mortem: self.is_post_mortem(),
            silence: if self.open > 0 { Duration::ZERO } else { silence },
        }
    }
}

impl Pauses {
    pub(super) fn len(&self) -> usize {
        self.paused.len()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.oldest_first().into_iter().map(|pause| pause.id.clone()).collect()
    }

    /// Those whose app is there.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let there = self.paused.values().filter(|pause| pause.is_waiting());
        let waiting = |pause: &Pause| Waiting {
            id: pause.id.clone(),
            before: (pause.moment == Moment::Before).then(|| pause.call.id.clone()),
        };
        there.map(waiting).collect()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Pause> {
        self.paused.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Pause> {
        self.paused.get_mut(id)
    }

    pub(super) fn is_decided(&self, id: &str) -> bool {
        self.decided.contains_key(id)
    }

    /// Whether its app has yet to hear what was decided.
    pub(super) fn is_unfetched(&self, id: &str) -> bool {
        self.decided.get(id).is_some_and(|decided| !decided.fetched)
    }

    pub(super) fn is_over(&self, id: &str) -> bool {
        self.is_decided(id) || self.over.iter().any(|over| over == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pause> {
        self.paused.values()
    }

    fn oldest_first(&self) -> Vec<&Pause> {
        let mut all: Vec<&Pause> = self.paused.values().collect();
        all.sort_by_key(|pause| pause.order);
        all
    }

    /// The pause after this call, if the app is to wait for it.
    pub(super) fn after(&self, call_id: &str) -> Option<PausedAfter> {
        let waits = |it: &&Pause| it.call.id == call_id && it.moment != Moment::Before;
        let pause = self.paused.values().find(waits)?;
        Some(PausedAfter { pause_id: pause.id.clone(), is_async: pause.is_async })
    }

    /// Neither the pause nor its decision matter any more; only that there was one.
    pub(super) fn forget(&mut self, id: &str) {
        self.paused.remove(id);
        if self.decided.remove(id).is_some() {
            self.over.push_back(id.to_owned());
        }
        if self.over.len() > limits::RESUMED_KNOWN {
            self.over.pop_front();
        }
    }

    /// Takes a pause away without a decision; it is put back if its app asks again.
    pub(super) fn lose(&mut self, id: &str) -> Option<Arc<Call>> {
        let pause = self.paused.remove(id)?;
        let call = Arc::clone(&pause.call);
        self.lost.push_back(pause);
        while self.lost.len() > limits::LOST_PAUSES {
            self.lost.pop_front();
        }
        Some(call)
    }

    fn find_again(&mut self, id: &str) {
        if let Some(at) = self.lost.iter().position(|pause| pause.id == id)
            && let Some(pause) = self.lost.remove(at)
        {
            self.paused.insert(id.to_owned(), pause);
        }
    }

    /// Somebody in this process waits for it: hears of every change, and is there until then.
    pub(super) fn hold(&mut self, id: &str) -> Option<watch::Receiver<()>> {
        let pause = self.paused.get_mut(id)?;
        pause.open += 1;
        Some(pause.changed.subscribe())
    }

    /// What was decided; that it was is known from then on.
    pub(super) fn take_decision(&mut self, id: &str) -> Option<Action> {
        let action = self.decided.get(id).map(|decided| decided.action.clone())?;
        self.forget(id);
        Some(action)
    }

    pub(super) fn decide(&mut self, id: &str, action: Action) -> Option<Pause> {
        let pause = self.paused.remove(id)?;
        self.decided.insert(id.to_owned(), Decided { action, at: Instant::now(), fetched: false });
        if self.decided.len() > limits::DECIDED {
            self.decided.retain(|_, decided| decided.at.elapsed() < limits::DECIDED_KEPT);
            self.drop_decided();
        }
        Some(pause)
    }
}

impl Pauses {
    /// Those that were fetched first, then the oldest: whoever asks late goes on as if nothing was decided.
    fn drop_decided(&mut self) {
        let too_many = self.decided.len().saturating_sub(limits::DECIDED);
        let mut all: Vec<(bool, Instant, String)> =
            self.decided.iter().map(|(id, it)| (!it.fetched, it.at, id.clone())).collect();
        all.sort_unstable();
        // Some more than needed: not to sort at each decision.
        let some = too_many + limits::DECIDED / 8;
        for (_, _, id) in all.into_iter().take(if too_many > 0 { some } else { 0 }) {
            self.forget(&id);
        }
    }
}

/// Counts a poll as held until it is dropped.
struct Held<'c> {
    callpoints: &'c Callpoints,
    id: &'c str,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut live = self.callpoints.live();
        live.pauses.held = live.pauses.held.saturating_sub(1);
        if let Some(pause) = live.pauses.get_mut(self.id) {
            pause.open = pause.open.saturating_sub(1);
            pause.polled = Some(Instant::now());
        }
    }
}

impl Callpoints {
    /// The call pauses, unless more are paused than anyone can look at.
    pub(super) async fn pause(
        &self,
        call: &Arc<Call>,
        moment: Moment,
        sessions: Vec<String>,
    ) -> Option<PausedAfter> {
        let values = self.values_of(call).await;
        let is_async = call.origin.is_async || looks_async(call, &values);
        let seen = Arc::new(Seen::of(Arc::clone(call), &values));
        let mut live = self.live();
        if self.leaving.load(Relaxed) {
            return None;
        }
        if live.pauses.len() >= limits::PAUSES {
            tracing::warn!(name = call.name, "a call goes on: too many are paused already");
            return None;
        }
        let id = uuid::Uuid::new_v4().to_string();
        let paused_at = clock::now();
        live.pauses.order += 1;
        let pause = Pause {
            id: id.clone(),
            order: live.pauses.order,
            call: Arc::clone(call),
            moment,
            paused_at,
            born: Instant::now(),
            seen,
            is_async,
            polled: None,
            open: 0,
            changed: watch::Sender::new(()),
            sessions,
        };
        live.pauses.paused.insert(id.clone(), pause);
        drop(live);
        self.log.append(Event::CallPaused {
            pause_id: id.clone(),
            method_name: call.name.clone(),
            pause_reason: moment.reason(),
            paused_at,
            call_id: call.id.clone(),
            line: call.line_without(self.log.secrets()),
            process: call.process.clone(),
        });
        Some(PausedAfter { pause_id: id, is_async })
    }

    /// The values of a call, as the store has them.
    pub(super) async fn values_of(&self, call: &Call) -> Values {
        self.recorder.settle().await;
        self.lookup(call.cids.clone()).await
    }

    /// What an app that polls hears. `hold` is how long it says it can wait; without it, as long as
    /// is good for what is known of the app.
    pub async fn poll(&self, id: &str, hold: Option<Duration>) -> Polled {
        let Some((held, deadline)) = self.begin_poll(id, hold) else {
            return self.look(id, Instant::now()).unwrap_or(Polled::Waiting);
        };
        let changed = self.live().pauses.get(id).map(|pause| pause.changed.subscribe());
        let Some(mut changed) = changed else {
            return self.look(id, deadline).unwrap_or(Polled::Waiting);
        };
        loop {
            if let Some(polled) = self.look(id, deadline) {
                drop(held);
                return polled;
            }
            // An evaluation that nobody fetched is announced again.
            let turn = deadline.min(Instant::now() + limits::ANNOUNCE_EVERY);
            tokio::select! {
                // Its end means the pause is gone: the look says what became of it.
                _changed = changed.changed() => {}
                () = tokio::time::sleep_until(turn.into()) => {}
            }
        }
    }

    /// Counts the poll; none when it is not to be held.
    fn begin_poll<'c>(
        &'c self,
        id: &'c str,
        hold: Option<Duration>,
    ) -> Option<(Held<'c>, Instant)> {
        let mut live = self.live();
        live.pauses.find_again(id);
        let room = live.pauses.held < limits::HELD_POLLS;
        let pause = live.pauses.get_mut(id)?;
        pause.polled = Some(Instant::now());
        let usual = match (pause.is_async, pause.call.format) {
            (true, Format::Dill) => Duration::ZERO,
            (_, Format::Json) => limits::HOLD_JSON,
            (false, Format::Dill) => limits::HOLD,
        };
        let hold = hold.unwrap_or(usual).min(limits::HOLD_MAX);
        if !room || hold.is_zero() || pause.call.origin.is_async {
            return None;
        }
        pause.open += 1;
        live.pauses.held += 1;
        Some((Held { callpoints: self, id }, Instant::now() + hold))
    }

    /// The answer to a poll, if there is one by now.
    fn look(&self, id: &str, deadline: Instant) -> Option<Polled> {
        let mut live = self.live();
        if let Some(decided) = live.pauses.decided.get_mut(id) {
            decided.fetched = true;
            self.moved.notify_waiters();
            return Some(Polled::Ready(decided.action.clone()));
        }
        if live.pauses.get(id).is_none() {
            // Of an earlier server, or given up: nobody will ever decide.
            return Some(Polled::Ready(Action::Continue));
        }
        drop(live);
        (self.repl.announces(id) || Instant::now() >= deadline).then_some(Polled::Waiting)
    }

    /// Every paused call, oldest first.
    pub fn paused(&self) -> Vec<Paused> {
        self.live().pauses.oldest_first().into_iter().map(Pause::shown).collect()
    }

    pub fn paused_one(&self, id: &str) -> Option<Paused> {
        self.live().pauses.get(id).map(Pause::shown)
    }
}

impl Live {
    /// The paused calls whose app has not been heard of for longer than `silence`.
    pub(super) fn silent(&self, silence: Duration) -> Vec<(String, Arc<Call>)> {
        let quiet = |pause: &&Pause| {
            pause.open == 0 && pause.polled.unwrap_or(pause.born).elapsed() > silence
        };
        let silent = self.pauses.iter().filter(quiet);
        silent.map(|it| (it.id.clone(), Arc::clone(&it.call))).collect()
    }
}

/// Whether the polls of this call would hold up an event loop: the cideldill client says so only by
/// where it was called from, and by the signature of its helper.
fn looks_async(call: &Call, values: &Values) -> bool {
    let helper = call.signature.as_str().is_some_and(|it| it.contains("*call_args: 'Any'"));
    if helper || call.format == Format::Json {
        return helper;
    }
    let stack = call.stack.and_then(|at| call.cids.get(at)).and_then(|cid| values.get(cid));
    let text =
        stack.and_then(|value| value.data.as_ref()).map(|data| String::from_utf8_lossy(data));
    text.is_some_and(|text| text.contains("/asyncio/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody fetches what was decided, and all of it is young.
    #[test]
    fn decisions_that_nobody_fetches_are_bounded() {
        let mut pauses = Pauses::default();
        for number in 0..=limits::DECIDED {
            let fetched = number % 2 == 0;
            let decided = Decided { action: Action::Continue, at: Instant::now(), fetched };
            pauses.decided.insert(format!("p{number}"), decided);
        }
        pauses.drop_decided();
        assert!(pauses.decided.len() < limits::DECIDED, "{}", pauses.decided.len());
        assert!(pauses.is_decided("p1"), "one that was not fetched stays longer");
        assert!(pauses.over.len() <= limits::RESUMED_KNOWN);
    }
}
