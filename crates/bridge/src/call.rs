//! The course of one call: room, a job, its being taken, its answer; and what becomes of it where the bridge is gone,
//! another, full or closed, or where the caller has no time left. A script is run once at the most.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Bridge, BridgeAnswer, BridgeError, Flavour, Ran,
    answer::{self, Found},
    host,
    job::{Claim, Job},
    limits,
    watch::Watch,
};

/// What one job came to.
enum Outcome {
    Answered(Result<BridgeAnswer, BridgeError>),
    /// Nobody took it, and nobody will.
    Untaken,
    NoRoom,
    Closed(Duration),
}

pub(crate) async fn call(
    bridge: &Bridge,
    script: &str,
    params: Value,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Result<BridgeAnswer, BridgeError> {
    // Code that is sent to be run would be anybody's who can make us send it.
    if script.is_empty() || script.starts_with('@') {
        return Err(BridgeError::Forbidden(script.to_owned()));
    }
    let params = sliced(params);
    let asked =
        Asked { bridge, script, params, deadline: Instant::now() + timeout, timeout, cancel };
    let result = asked.run().await;
    if let Err(BridgeError::Script { .. }) = &result {
        bridge.inner.pace.failed();
    }
    result
}

/// A wait inside of a script is never long enough for the job to be run again.
fn sliced(mut params: Value) -> Value {
    if let Some(wait) = params.get_mut("timeoutMs") {
        let longest = u64::try_from(limits::WAIT_SLICE.as_millis()).unwrap_or(u64::MAX);
        if wait.as_f64().is_some_and(|it| it > limits::WAIT_SLICE.as_secs_f64() * 1_000.0) {
            *wait = longest.into();
        }
    }
    params
}

struct Asked<'a> {
    bridge: &'a Bridge,
    script: &'a str,
    params: Value,
    deadline: Instant,
    timeout: Duration,
    cancel: &'a CancellationToken,
}

impl Asked<'_> {
    async fn run(&self) -> Result<BridgeAnswer, BridgeError> {
        self.breathe().await?;
        let _place = self.or_given_up(self.bridge.inner.pace.place()).await?;
        let mut pause = limits::ROOM;
        loop {
            let owner = self.owner(Ran::No)?;
            let left = self.deadline.saturating_duration_since(Instant::now());
            let (folder, premade) = (&self.bridge.inner.folder, &self.bridge.inner.pace.premade);
            let submitting = Job::submit(folder, premade, self.script, &self.params, left);
            let job = self.or_given_up(submitting).await??;
            match self.follow(job, &owner).await {
                Outcome::Answered(answer) => {
                    premade.prepare(folder);
                    return answer;
                }
                // Given again if the bridge lives still; it looks at each turn.
                Outcome::Untaken => {}
                Outcome::NoRoom => {
                    let until = Instant::now() + pause;
                    if until >= self.deadline {
                        return Err(BridgeError::Full);
                    }
                    self.or_given_up(tokio::time::sleep_until(until)).await?;
                    pause = (pause * 2).min(limits::ROOM_MAX);
                }
                Outcome::Closed(retry_after) => {
                    self.bridge.inner.pace.closed(retry_after);
                    return Err(BridgeError::Closed { retry_after });
                }
            }
        }
    }

    /// Leaves the bridge alone for as long as it needs, where that is not long.
    async fn breathe(&self) -> Result<(), BridgeError> {
        // Ours has no breaker.
        if self.bridge.inner.flavour == Flavour::Ours {
            return Ok(());
        }
        let wait = self.bridge.inner.pace.wait();
        let left = self.deadline.saturating_duration_since(Instant::now());
        if wait > limits::BREATHER.min(left) {
            return Err(BridgeError::Closed { retry_after: wait });
        }
        self.or_given_up(tokio::time::sleep(wait)).await
    }

    /// The bridge that owns the folder now, if it lives.
    fn owner(&self, ran: Ran) -> Result<String, BridgeError> {
        let folder = &self.bridge.inner.folder;
        match host::is_ours(folder) {
            Ok(false) => return Err(BridgeError::OtherUser(folder.clone())),
            Ok(true) => {}
            Err(error) => {
                let why = format!("its folder is gone ({error})");
                return Err(BridgeError::Unavailable { why, ran });
            }
        }
        let status = host::status(folder, self.bridge.inner.flavour);
        match (status.dead, status.bridge_id) {
            (None, Some(id)) => Ok(id),
            (why, _) => {
                let why = why.unwrap_or_else(|| "it has no id".to_owned());
                Err(BridgeError::Unavailable { why, ran })
            }
        }
    }

    /// Waits for something that has not begun to matter: nothing was run where this gives up.
    async fn or_given_up<T>(&self, what: impl Future<Output = T>) -> Result<T, BridgeError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(self.cancelled(Ran::No)),
            done = what => Ok(done),
            () = tokio::time::sleep_until(self.deadline) => Err(self.late(Ran::No)),
        }
    }

    fn cancelled(&self, ran: Ran) -> BridgeError {
        BridgeError::Cancelled { script: self.script.to_owned(), ran }
    }

    fn late(&self, ran: Ran) -> BridgeError {
        BridgeError::Timeout { script: self.script.to_owned(), after: self.timeout, ran }
    }

    /// Follows a job to its end, whichever that is. Its folder is removed.
    async fn follow(&self, job: Job, owner: &str) -> Outcome {
        let mut course = Course::new(self, owner, &job);
        let outcome = loop {
            if let Some(outcome) = course.look(&job) {
                break outcome;
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    break self.give_up(&job, |ran| self.cancelled(ran)).await;
                }
                () = course.watch.changed(limits::TOUCH) => {}
            }
            if Instant::now() >= course.deadline() {
                break self.give_up(&job, |ran| self.late(ran)).await;
            }
        };
        job.over();
        outcome
    }

    /// Takes the job back, or has it stopped and waits a moment for it to say so.
    async fn give_up(&self, job: &Job, error: impl Fn(Ran) -> BridgeError) -> Outcome {
        if job.take_back() {
            return Outcome::Answered(Err(error(Ran::No)));
        }
        job.cancel();
        let until = Instant::now() + limits::CANCEL;
        while !job.is_done() && job.is_there() && Instant::now() < until {
            tokio::time::sleep(limits::POLL).await;
        }
        // It may have been done in the same moment: then that is the truth.
        match answer::read(job.folder(), self.script) {
            Found::Answer(answer) if job.is_done() => Outcome::Answered(Ok(answer)),
            Found::NoRoom | Found::Closed(_) => Outcome::Answered(Err(error(Ran::No))),
            _ => Outcome::Answered(Err(error(Ran::Maybe))),
        }
    }
}

/// How far a job has come, as far as its files show.
struct Course<'a> {
    asked: &'a Asked<'a>,
    owner: &'a str,
    watch: Watch,
    given: Instant,
    touched: Instant,
    looked_at_host: Instant,
    taken: Option<Taken>,
    /// Since when it is done and cannot be read.
    unreadable: Option<Instant>,
}

struct Taken {
    at: Instant,
    by: Option<String>,
}

impl<'a> Course<'a> {
    fn new(asked: &'a Asked<'a>, owner: &'a str, job: &Job) -> Course<'a> {
        let now = Instant::now();
        let watch = Watch::new(job.folder(), asked.bridge.inner.is_watched);
        let (taken, unreadable) = (None, None);
        Course {
            asked,
            owner,
            watch,
            given: now,
            touched: now,
            looked_at_host: now,
            taken,
            unreadable,
        }
    }

    /// The caller's, or before the public bridge runs the job once more.
    fn deadline(&self) -> Instant {
        let lease = match (&self.taken, self.asked.bridge.inner.flavour) {
            (Some(taken), Flavour::Public) => Some(taken.at + limits::LEASE),
            _ => None,
        };
        lease.map_or(self.asked.deadline, |it| it.min(self.asked.deadline))
    }

    fn look(&mut self, job: &Job) -> Option<Outcome> {
        let now = Instant::now();
        self.see_claim(job, now);
        if job.is_done() {
            return self.read(job, now);
        }
        if !job.is_there() {
            // Somebody may have taken it between two looks.
            let error = match self.asked.owner(Ran::Maybe) {
                Ok(_) => BridgeError::Restarted { ran: Ran::Maybe },
                Err(error) => error,
            };
            return Some(Outcome::Answered(Err(error)));
        }
        match &self.taken {
            None => self.look_for_taker(job, now),
            Some(_) => self.look_at_host(now),
        }
    }

    fn see_claim(&mut self, job: &Job, now: Instant) {
        let is_known = self.taken.as_ref().is_some_and(|it| it.by.is_some());
        if is_known {
            return;
        }
        if let Claim::By(by) = job.claim() {
            let at = self.taken.as_ref().map_or(now, |it| it.at);
            self.taken = Some(Taken { at, by });
        }
    }

    fn look_for_taker(&mut self, job: &Job, now: Instant) -> Option<Outcome> {
        if now >= self.given + limits::PICKUP {
            // Whoever was about to take it has taken it, or never will.
            return job.take_back().then_some(Outcome::Untaken);
        }
        if now >= self.touched + limits::TOUCH {
            self.touched = now;
            job.touch();
        }
        None
    }

    /// A window that is closed or opened anew answers no job that it took before.
    fn look_at_host(&mut self, now: Instant) -> Option<Outcome> {
        if now < self.looked_at_host + limits::LOOK_AT_HOST {
            return None;
        }
        self.looked_at_host = now;
        let owner = match self.asked.owner(Ran::Maybe) {
            Ok(owner) => owner,
            Err(error) => return Some(Outcome::Answered(Err(error))),
        };
        let taker = self.taken.as_ref().and_then(|it| it.by.as_deref());
        let is_gone = owner != self.owner && taker == Some(self.owner);
        is_gone.then(|| Outcome::Answered(Err(BridgeError::Restarted { ran: Ran::Maybe })))
    }

    fn read(&mut self, job: &Job, now: Instant) -> Option<Outcome> {
        let read = answer::read(job.folder(), self.asked.script);
        let outcome = match read {
            Found::NoRoom => return Some(Outcome::NoRoom),
            Found::Closed(retry_after) => return Some(Outcome::Closed(retry_after)),
            Found::Unreadable(why) => {
                let since = *self.unreadable.get_or_insert(now);
                if now < since + limits::HALF_WRITTEN {
                    return None;
                }
                let script = self.asked.script.to_owned();
                Err(BridgeError::Malformed { script, why })
            }
            Found::Failed(error) => Err(error),
            Found::Answer(answer) => Ok(answer),
        };
        if let Some(split) = self.split() {
            return Some(Outcome::Answered(Err(split)));
        }
        let taken = self.taken.as_ref().map_or(now, |it| it.at);
        Some(Outcome::Answered(outcome.map(|answer| BridgeAnswer {
            pickup: taken - self.given,
            took: now - taken,
            ..answer
        })))
    }

    /// Another than the owner took it: two windows are open on the folder, each with sessions of its own.
    fn split(&self) -> Option<BridgeError> {
        let other = self.taken.as_ref()?.by.clone()?;
        // The owner as it is now: it may have changed before the job was taken.
        let owner = host::read(&self.asked.bridge.inner.folder).ok()?.bridge_id;
        if other == owner {
            return None;
        }
        *self.asked.bridge.split() = Some((owner.clone(), other.clone()));
        Some(BridgeError::Split { owner, other })
    }
}
