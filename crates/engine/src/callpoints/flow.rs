//! A call through the server: it begins, it may pause, it ends, and is recorded.
//!
//! Nothing here waits for the disk: what a request brings goes to the recorder, and the answer goes
//! out. Only a call that pauses, and a value that is not known here, ask the store.

use std::{
    future::{Ready, ready},
    sync::{Arc, MutexGuard},
};

use futures::future::{BoxFuture, Either};
use holdpoint_store::{Cid, era};
use tokio::sync::watch;

use super::{
    Callpoints, Live, Unwaited,
    behavior::Moment,
    book::end_snapshots,
    look::{Looked, are_light, look, look_at},
};
use crate::{
    calls::{
        call::{Call, Complete, End, Start, Values},
        clock, pretty,
        value::BadItem,
    },
    event::Event,
    limits,
    records::recorder::Bring,
};

/// What an app does with a call that begins.
#[derive(Debug, Clone, PartialEq)]
pub enum CallStarted {
    Continue { call_id: String },
    Pause { call_id: String, pause_id: String, is_async: bool },
    Replace { call_id: String, function_name: String },
}

/// Why a request was refused; each is an answer that the wire knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// Send these with their data.
    Missing(Vec<String>),
    Item(BadItem),
    /// `preferred_format` names none that there is.
    Format,
}

impl From<BadItem> for Refused {
    fn from(bad: BadItem) -> Self {
        Refused::Item(bad)
    }
}

/// A pause after a call, to be waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedAfter {
    pub pause_id: String,
    pub is_async: bool,
}

/// Why a pause is gone whose app went on by itself.
const UNWAITED: &str = "its app ended the call without waiting";

/// An answer that is there, or that is waited for. Nearly all are there: only a call that pauses, a
/// value that is not known here and one that is large take their time, and the room for it.
type Soon<'a, T> = Either<Ready<T>, BoxFuture<'a, T>>;

fn now<'a, T>(answer: T) -> Soon<'a, T> {
    Either::Left(ready(answer))
}

fn later<'a, T>(answer: impl Future<Output = T> + Send + 'a) -> Soon<'a, T> {
    Either::Right(Box::pin(answer))
}

/// A call that was taken in.
enum Begun {
    Goes {
        answer: CallStarted,
        abandoned: Vec<Arc<Call>>,
    },
    Pauses {
        call: Arc<Call>,
        fingerprint: u64,
        answer: watch::Sender<Option<CallStarted>>,
    },
    /// The same request is about to pause already.
    Again {
        call: Arc<Call>,
        fingerprint: u64,
        answer: watch::Receiver<Option<CallStarted>>,
    },
}

/// A call that has ended, or never began.
pub(super) enum Ended {
    Answered(Result<Option<PausedAfter>, Refused>),
    Pauses { call: Arc<Call>, moment: Moment, sessions: Vec<String> },
}

impl Callpoints {
    pub fn start(&self, start: Start) -> Soon<'_, Result<CallStarted, Refused>> {
        // Sent again: the answer is the same.
        if let Some(answer) = self.live().flights.again(start.fingerprint) {
            return now(Ok(answer));
        }
        let at_once = are_light(start.items()) && self.unknown(&start).is_empty();
        if !at_once || self.recorder.is_behind() {
            return later(self.start_in_time(start));
        }
        let lenient = self.live().was_asked(&start);
        let looked = look(start.items(), lenient, false);
        match self.begin(start, looked) {
            Ok(Begun::Goes { answer, abandoned }) if abandoned.is_empty() => now(Ok(answer)),
            Ok(begun) => later(async { Ok(self.go_on(begun).await) }),
            Err(refused) => now(Err(refused)),
        }
    }

    async fn start_in_time(&self, start: Start) -> Result<CallStarted, Refused> {
        self.recorder.keep_up().await;
        let unknown = self.unknown(&start);
        if !unknown.is_empty() {
            let missing = self.missing(unknown).await;
            if !missing.is_empty() {
                self.live().ask(&start);
                return Err(Refused::Missing(missing));
            }
        }
        let lenient = self.live().was_asked(&start);
        let looked = look_at(&start.items().collect::<Vec<_>>(), lenient).await;
        let begun = self.begin(start, looked)?;
        Ok(self.go_on(begun).await)
    }

    /// Takes a call in, and decides what becomes of it.
    fn begin(&self, start: Start, mut looked: Looked) -> Result<Begun, Refused> {
        self.show(&mut looked.found);
        let mut bring = Bring::default();
        let mut live = self.live();
        // The other thread may just have been faster.
        if let Some(answer) = live.flights.again(start.fingerprint) {
            return Ok(Begun::Goes { answer, abandoned: Vec::new() });
        }
        let taken = live.take_in(start, looked, &mut bring);
        // Under the lock: what one request makes known, the next can ask the store for.
        self.recorder.add(bring);
        let (call, fingerprint) = taken?;
        if live.config.pauses(&call.name, Moment::Before) {
            return Ok(live.about_to_pause(call, fingerprint));
        }
        let answer = live.unpaused(&call);
        let abandoned = live.fly(call, Some(fingerprint), answer.clone(), None);
        Ok(Begun::Goes { answer, abandoned })
    }

    /// Does what takes time about a call that begins.
    async fn go_on(&self, begun: Begun) -> CallStarted {
        let (answer, abandoned) = match begun {
            Begun::Goes { answer, abandoned } => (answer, abandoned),
            Begun::Pauses { call, fingerprint, answer } => {
                let answered = self.pause_before(call, fingerprint).await;
                // Nobody waits for it, as a rule.
                answer.send_replace(Some(answered.0.clone()));
                answered
            }
            Begun::Again { call, fingerprint, mut answer } => {
                let first = answer.wait_for(Option::is_some).await.ok().and_then(|it| it.clone());
                match first {
                    Some(answer) => (answer, Vec::new()),
                    // Whoever sent it first went away before it paused.
                    None => {
                        let begun = self.live().about_to_pause(call, fingerprint);
                        return Box::pin(self.go_on(begun)).await;
                    }
                }
            }
        };
        self.record_abandoned(abandoned, "more calls are under way than are kept").await;
        answer
    }

    /// The call pauses before it runs, unless there is no room for that.
    async fn pause_before(
        &self,
        call: Arc<Call>,
        fingerprint: u64,
    ) -> (CallStarted, Vec<Arc<Call>>) {
        let paused = self.pause(&call, Moment::Before, Vec::new()).await;
        let mut live = self.live();
        live.flights.pausing.remove(&fingerprint);
        let (answer, pause) = match paused {
            Some(PausedAfter { pause_id, is_async }) => {
                let (call_id, id) = (call.id.clone(), pause_id.clone());
                (CallStarted::Pause { call_id, pause_id, is_async }, Some(id))
            }
            None => (live.unpaused(&call), None),
        };
        let abandoned = live.fly(call, Some(fingerprint), answer.clone(), pause);
        (answer, abandoned)
    }

    /// References to values that are neither sent nor known here, in the order of the call.
    fn unknown(&self, start: &Start) -> Vec<String> {
        let carried =
            |cid: &String| start.items().any(|it| it.has_data() && it.cid.as_ref() == Some(cid));
        let mut unknown: Vec<String> = Vec::new();
        let live = self.live();
        let now = era(clock::now());
        for item in start.items().filter(|item| !item.has_data()) {
            let Some(cid) = &item.cid else { continue };
            let known = Cid::parse(cid).is_some_and(|cid| live.recent.is_fresh(&cid, now));
            if !known && !unknown.contains(cid) && !carried(cid) {
                unknown.push(cid.clone());
            }
        }
        unknown
    }

    /// Those of them that the store does not have either.
    async fn missing(&self, mut unknown: Vec<String>) -> Vec<String> {
        let cids = unknown.iter().filter_map(|cid| Cid::parse(cid)).collect();
        let kept = self.lookup(cids).await;
        unknown.retain(|cid| Cid::parse(cid).is_none_or(|cid| !kept.contains_key(&cid)));
        unknown
    }

    /// Asks the store, and knows the values from then on.
    pub(super) async fn lookup(&self, cids: Vec<Cid>) -> Values {
        let mut found = self.find(cids.clone()).await;
        let is_coming = |live: &Live, cid: &Cid| !found.contains_key(cid) && live.recent.has(cid);
        let coming: Vec<Cid> = {
            let live = self.live();
            cids.into_iter().filter(|cid| is_coming(&live, cid)).collect()
        };
        if !coming.is_empty() {
            // Brought a moment ago, or gone by another process.
            self.recorder.settle().await;
            found.extend(self.find(coming).await);
        }
        let mut live = self.live();
        // Their era is not known here; the first use tells the store.
        let before = era(clock::now()) - 1;
        for (cid, value) in &found {
            live.recent.add(cid, before, pretty::short(&pretty::kept(value)));
        }
        drop(live);
        found
    }

    async fn find(&self, cids: Vec<Cid>) -> Values {
        self.store.values(cids).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "values could not be looked up");
            Values::new()
        })
    }

    pub fn complete(&self, complete: Complete) -> Soon<'_, Result<Option<PausedAfter>, Refused>> {
        if !are_light(complete.items()) || self.recorder.is_behind() {
            return later(async move {
                self.recorder.keep_up().await;
                let looked = look_at(&complete.items(), false).await;
                let (ended, unwaited) = self.end(&complete, looked);
                self.leave(unwaited, UNWAITED).await;
                self.answer(ended).await
            });
        }
        let looked = look(complete.items(), false, false);
        match self.end(&complete, looked) {
            (Ended::Answered(answer), unwaited) if unwaited.is_empty() => now(answer),
            (ended, unwaited) => later(async move {
                self.leave(unwaited, UNWAITED).await;
                self.answer(ended).await
            }),
        }
    }

    /// Nobody can decide about these any more: what was open in them is closed, and it is told.
    async fn leave(&self, unwaited: Vec<Unwaited>, why: &str) {
        for Unwaited { pause_id, method_name } in unwaited {
            self.repl.close_all_of(&pause_id).await;
            self.log.append(Event::CallLost { pause_id, method_name, why: why.to_owned() });
        }
    }

    pub(super) async fn answer(&self, ended: Ended) -> Result<Option<PausedAfter>, Refused> {
        match ended {
            Ended::Answered(answer) => answer,
            Ended::Pauses { call, moment, sessions } => {
                Ok(self.pause(&call, moment, sessions).await)
            }
        }
    }

    /// Takes the end of a call in, and decides what becomes of it.
    fn end(&self, complete: &Complete, mut looked: Looked) -> (Ended, Vec<Unwaited>) {
        self.show(&mut looked.found);
        let mut bring = Bring::default();
        let mut live = self.live();
        let found = live.keep(looked.found, &mut bring);
        if let Some(bad) = looked.bad {
            self.recorder.add(bring);
            return (Ended::Answered(Err(bad.into())), Vec::new());
        }
        let Some(flight) = live.land(&complete.call_id) else {
            // Unknown, or ended before: nothing is recorded, and a pause is waited for again.
            let already = live.pauses.after(&complete.call_id);
            live.loose_ends(complete, found, &mut bring);
            self.recorder.add(bring);
            return (Ended::Answered(Ok(already)), Vec::new());
        };
        let unwaited = std::mem::take(&mut live.unwaited);
        let was_paused = flight.pause.is_some();
        let mut call = Arc::unwrap_or_clone(flight.call);
        let why = complete.action_error.as_deref();
        call.verdict = flight.verdict.map(|verdict| Box::new(verdict.undone(why)));
        let sessions = flight.repl_sessions;
        live.end(&mut call, complete, found, sessions.clone(), &mut bring);
        (self.conclude(live, call, was_paused, sessions, bring), unwaited)
    }

    /// A call whose end is known is recorded; it may pause once more.
    pub(super) fn conclude(
        &self,
        live: MutexGuard<'_, Live>,
        call: Call,
        was_paused: bool,
        sessions: Vec<String>,
        bring: Bring,
    ) -> Ended {
        let failed = call.end.as_ref().is_some_and(|end| end.failed);
        let moment = if failed { Moment::AfterException } else { Moment::AfterSuccess };
        let pauses = live.config.pauses(&call.name, moment);
        // What is known by now can be asked for by others; the record is this request's own.
        self.recorder.add(bring);
        drop(live);
        self.moved.notify_waiters();
        let paused = pauses.then(|| Arc::new(call.clone()));
        let mut bring = Bring::default();
        end_snapshots(&call, &mut bring);
        self.write_down(call, was_paused || pauses, bring);
        match paused {
            Some(call) => Ended::Pauses { call, moment, sessions },
            None => Ended::Answered(Ok(None)),
        }
    }

    /// A call has ended: the store keeps it, and whoever listens hears of it.
    pub(super) fn write_down(&self, call: Call, was_paused: bool, mut bring: Bring) {
        let told = self.teller.completed(&call, was_paused);
        bring.calls.push(call.into_row());
        self.recorder.add(bring);
        // Only now: whoever hears of it finds it.
        if told.is_some() {
            self.log.append_all(told);
        }
    }

    /// Calls that will never end: their app is gone, or there are too many.
    pub(super) async fn record_abandoned(&self, calls: Vec<Arc<Call>>, why: &str) {
        if calls.is_empty() {
            return;
        }
        self.recorder.keep_up().await;
        self.give_up_calls(calls, why);
        let unwaited = std::mem::take(&mut self.live().unwaited);
        self.leave(unwaited, why).await;
    }

    pub(super) fn give_up_calls(&self, calls: Vec<Arc<Call>>, why: &str) {
        tracing::debug!(calls = calls.len(), why, "calls were given up");
        let mut bring = Bring::default();
        for call in calls {
            let mut call = Arc::unwrap_or_clone(call);
            call.end = Some(End {
                status: "abandoned".to_owned(),
                completed_at: clock::now(),
                exception_message: Some(why.to_owned()),
                failed: true,
                exception_type: Some("abandoned".to_owned()),
                ..End::default()
            });
            bring.calls.push(call.into_row());
        }
        self.recorder.add(bring);
    }
}

impl Live {
    /// The pause is made without the lock: meanwhile the same request may come again.
    fn about_to_pause(&mut self, call: Arc<Call>, fingerprint: u64) -> Begun {
        if let Some(answer) = self.flights.pausing.get(&fingerprint) {
            // Given up by whoever sent it first, it is this one's now.
            if answer.has_changed().is_ok() {
                return Begun::Again { call, fingerprint, answer: answer.clone() };
            }
        }
        let (answer, coming) = watch::channel(None);
        if self.flights.pausing.len() >= limits::PAUSES {
            self.flights.pausing.retain(|_, answer| answer.has_changed().is_ok());
        }
        self.flights.pausing.insert(fingerprint, coming);
        Begun::Pauses { call, fingerprint, answer }
    }
}

#[cfg(test)]
mod tests;
