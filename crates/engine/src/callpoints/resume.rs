//! A paused call goes on: by a decision of somebody, or because there will be none.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Callpoints, Live,
    behavior::Moment,
    decision::{Action, Decision},
    functions::Replacing,
    paused::{Pause, Waiting},
};
use crate::{
    actor::Actor,
    calls::{
        call::{Call, Values},
        verdict::Verdict,
    },
    event::Event,
    records::{NoValue, is_beginning},
};

/// What became of a wish to go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Resumed {
    Done {
        action: &'static str,
        /// What is to be said beside it: the wish came too late, or cannot be carried out.
        warning: Option<String>,
    },
    NotFound,
    Already,
    /// The action is none that there is.
    NoSuchAction,
    /// It names a value by a CID that names none.
    NoSuchValue(NoValue),
    /// The app has no such function, and would raise; those that it has.
    NoSuchFunction {
        known: Vec<String>,
    },
}

impl Callpoints {
    /// Decides about a paused call.
    pub async fn resume(&self, id: &str, decision: &Decision, by: &Actor) -> Resumed {
        let found = self.live().pauses.get(id).map(|it| (Arc::clone(&it.call), it.moment));
        let Some((call, moment)) = found else { return self.unresumed(id) };
        let decision = &match self.with_whole_cids(decision).await {
            Ok(decision) => decision,
            Err(no) => return Resumed::NoSuchValue(no),
        };
        let mut warning = None;
        if let (Some(wanted), Moment::Before) = (&decision.replacement_function, moment) {
            match self.live().config.replacing(wanted, &call) {
                Replacing::Known => {}
                Replacing::Unknown { app_does } => warning = Some(app_does),
                Replacing::Raises { known } => return Resumed::NoSuchFunction { known },
            }
        }
        let values = match decision.needs_values(&call) {
            true => self.full_values(&call).await,
            false => Values::new(),
        };
        let Some(action) = decision.action(&call, moment, &values) else {
            return Resumed::NoSuchAction;
        };
        let word = action.word();
        let verdict = decision.verdict(&action);
        let Some(pause) = self.live().decide(id, action, verdict) else {
            return self.unresumed(id);
        };
        self.after_decision(&pause, word, by).await;
        let late = decision.changes() && word == "continue";
        let too_late =
            "the call had run already: it goes on with its own outcome, and nothing was changed";
        let warning = if late { Some(too_late.to_owned()) } else { warning };
        Resumed::Done { action: word, warning }
    }

    fn unresumed(&self, id: &str) -> Resumed {
        if self.live().pauses.is_over(id) { Resumed::Already } else { Resumed::NotFound }
    }

    async fn after_decision(&self, pause: &Pause, word: &'static str, by: &Actor) {
        self.log.append(Event::CallResumed {
            pause_id: pause.id.clone(),
            method_name: pause.call.name.clone(),
            action: word.to_owned(),
            by: by.clone(),
        });
        pause.wake();
        self.repl.close_all_of(&pause.id).await;
    }

    /// Goes on without a decision, because there will be none.
    pub(super) fn release(&self, id: &str, why: &'static str) {
        let verdict = Decision::default().verdict(&Action::Continue);
        let released = self.live().decide(id, Action::Continue, verdict);
        if let Some(pause) = released {
            tracing::info!(name = pause.call.name, why, "a paused call goes on");
            pause.wake();
        }
    }

    /// Returns when these have heard that they go on, and told how their calls ended.
    pub(super) async fn see_off(&self, mut waiting: Vec<Waiting>) {
        loop {
            let moved = self.moved.notified();
            {
                let live = self.live();
                waiting.retain(|it| match &it.before {
                    Some(call) => live.flights.calls.contains_key(call),
                    None => live.pauses.is_unfetched(&it.id),
                });
            }
            if waiting.is_empty() {
                return;
            }
            moved.await;
        }
    }

    /// Data and all, for apps that need the data again.
    async fn full_values(&self, call: &Call) -> Values {
        let mut values = Values::new();
        for cid in &call.cids {
            if let Ok(Some(value)) = self.records.value(*cid).await {
                values.insert(*cid, value);
            }
        }
        values
    }

    /// The decision with whole CIDs in place of their beginnings: an app knows only those.
    async fn with_whole_cids(&self, decision: &Decision) -> Result<Decision, NoValue> {
        let mut decision = decision.clone();
        for value in decision.modified_args.iter_mut().flatten() {
            self.make_whole(value).await?;
        }
        let named = decision.modified_kwargs.iter_mut().flat_map(Map::values_mut);
        for value in named {
            self.make_whole(value).await?;
        }
        Ok(decision)
    }

    async fn make_whole(&self, value: &mut Value) -> Result<(), NoValue> {
        let Some(Value::String(cid)) = value.get_mut("cid") else { return Ok(()) };
        // What is none is the app's business: it may name its objects as it likes.
        if !is_beginning(cid) {
            return Ok(());
        }
        match self.records.value_named(cid).await {
            Ok(Ok(whole)) => *cid = whole.to_string(),
            Ok(Err(no)) => return Err(no),
            Err(error) => tracing::warn!(%error, "a CID could not be looked up"),
        }
        Ok(())
    }
}

impl Live {
    /// Decides, and lets the call know which sessions looked into it.
    fn decide(&mut self, id: &str, action: Action, verdict: Verdict) -> Option<Pause> {
        let pause = self.pauses.decide(id, action)?;
        if let Some(flight) = self.flights.calls.get_mut(&pause.call.id) {
            flight.verdict = Some(verdict);
            flight.repl_sessions.extend(pause.sessions.iter().cloned());
        }
        Some(pause)
    }
}
