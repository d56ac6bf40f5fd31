//! Calls of this very process: whoever makes them awaits what is to become of each, and says how it ended.
//!
//! They pass the same callpoints, are recorded in the same place and wait in the same list as the calls of
//! apps; only there is no process to look after and nothing to poll. Whoever drops the future lets the pause
//! go, and whoever never says how a call ended has it recorded as given up.

use std::sync::Arc;

use holdpoint_store::Cid;
use serde_json::{Map, Value};

use super::{
    Callpoints,
    behavior::Moment,
    book::{end_snapshots, snapshots},
    decision::{Action, Handed},
    flow::{CallStarted, Ended, PausedAfter},
    look::Found,
};
use crate::{
    aside::aside_if_large,
    calls::{
        call::{Call, CallKind, CallOrigin, End, Given},
        clock, lenient, pretty,
        value::{Checked, Format, weight},
    },
    event::Event,
    limits,
    records::recorder::Bring,
};

/// A call that is about to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asking {
    /// What callpoints name: the function, or the tool with its server.
    pub name: String,
    pub kind: CallKind,
    /// Who makes it, such as `mcp_client`.
    pub source: String,
    /// The server whose tool or resource it is.
    pub server: Option<String>,
    pub signature: Value,
    pub args: Vec<Value>,
    pub kwargs: Map<String, Value>,
}

/// A call that was asked about: what is to become of it, and where to say how it ended.
pub struct Answered {
    pub action: Action,
    call: Open,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Returned(Arc<Value>),
    /// It returned something that says that it failed.
    Failed {
        value: Arc<Value>,
        exception_type: String,
        message: String,
    },
    Raised {
        exception_type: String,
        message: String,
    },
}

/// A call that has begun and not ended. Dropped, it is given up.
struct Open {
    callpoints: Arc<Callpoints>,
    call_id: String,
    is_done: bool,
}

/// A pause that somebody here waits for. Dropped, it is let go.
struct Waits<'c> {
    callpoints: &'c Callpoints,
    pause_id: String,
    name: String,
    is_over: bool,
}

impl Callpoints {
    /// Asks what is to become of a call; where it pauses, when somebody has decided.
    pub async fn ask(self: &Arc<Self>, asking: Asking) -> Answered {
        self.recorder.keep_up().await;
        let (asking, found) = given(asking).await;
        let call = self.take_in_own(asking, found);
        // From here on the call is known, and is given up should this future be dropped.
        let open = Open { callpoints: Arc::clone(self), call_id: call.id.clone(), is_done: false };
        let pauses = self.live().config.pauses(&call.name, Moment::Before);
        let paused = match pauses {
            true => self.pause(&call, Moment::Before, Vec::new()).await,
            false => None,
        };
        let Some(paused) = paused else {
            let action = match self.live().unpaused(&call) {
                CallStarted::Replace { function_name, .. } => {
                    Action::Replace { function: function_name }
                }
                CallStarted::Continue { .. } | CallStarted::Pause { .. } => Action::Continue,
            };
            return Answered { action, call: open };
        };
        if let Some(flight) = self.live().flights.calls.get_mut(&open.call_id) {
            flight.pause = Some(paused.pause_id.clone());
        }
        let action = self.decided(paused, &call.name).await;
        let action = self.in_values(action).await;
        Answered { action, call: open }
    }

    /// Takes a call in that nobody had to send.
    fn take_in_own(&self, asking: Asking, mut found: Vec<Found>) -> Arc<Call> {
        let Asking { name, kind, source, server, signature, args, kwargs } = asking;
        self.show(&mut found);
        let mut bring = Bring::default();
        let mut live = self.live();
        let kept = live.keep(found, &mut bring);
        let mut call = Call {
            id: live.flights.next_id().0,
            name,
            kind,
            process: source.clone(),
            started_at: clock::now(),
            signature,
            format: Format::Json,
            origin: CallOrigin { source: Some(source), server, ..CallOrigin::default() },
            ..Call::default()
        };
        let mut kept = kept.into_iter();
        call.args =
            args.iter().filter_map(|_| kept.next()).map(|it| place(&mut call, it)).collect();
        let named = kwargs.into_iter().zip(kept);
        call.kwargs = named.map(|((name, _), it)| (name, place(&mut call, it))).collect();
        snapshots(&call, &mut bring);
        let call = Arc::new(call);
        let answer = live.unpaused(&call);
        let abandoned = live.fly(Arc::clone(&call), None, answer, None);
        // Under the lock: what one call makes known, the next can ask the store for.
        self.recorder.add(bring);
        drop(live);
        if !abandoned.is_empty() {
            self.give_up_calls(abandoned, "more calls are under way than are kept");
        }
        call
    }

    /// What was decided about a pause, as soon as something is.
    async fn decided(&self, paused: PausedAfter, name: &str) -> Action {
        let PausedAfter { pause_id, .. } = paused;
        let changed = self.live().pauses.hold(&pause_id);
        let name = name.to_owned();
        let mut waits = Waits { callpoints: self, pause_id, name, is_over: false };
        let Some(mut changed) = changed else { return waits.over() };
        loop {
            if let Some(action) = self.live().pauses.take_decision(&waits.pause_id) {
                waits.is_over = true;
                self.moved.notify_waiters();
                return action;
            }
            // Its end means that the pause is gone without a decision.
            if changed.changed().await.is_err() {
                return waits.over();
            }
        }
    }

    /// The action with values in place of references to them: there is no app that knows those.
    async fn in_values(&self, action: Action) -> Action {
        let Action::Modify { args, kwargs } = action else { return action };
        let mut values = Vec::with_capacity(args.len());
        for handed in args {
            values.push(self.in_value(handed).await);
        }
        let mut named = Vec::with_capacity(kwargs.len());
        for (name, handed) in kwargs {
            named.push((name, self.in_value(handed).await));
        }
        Action::Modify { args: values, kwargs: named }
    }

    async fn in_value(&self, handed: Handed) -> Handed {
        let of = |text: &str| lenient::read(text).unwrap_or(Value::Null);
        let value = match &handed {
            Handed::New { .. } => return handed,
            Handed::Own { data: Some(text), .. } => of(text),
            Handed::Own { item, data: None } => match item.cid.as_deref().and_then(Cid::parse) {
                Some(cid) => self.value_of(cid).await,
                None => Value::Null,
            },
            Handed::Named(reference) => {
                let cid = reference.get("cid").and_then(Value::as_str).and_then(Cid::parse);
                match cid {
                    Some(cid) => self.value_of(cid).await,
                    // It names nothing: then it is a value that looks like a reference.
                    None => reference.clone(),
                }
            }
        };
        Handed::New { value, format: Format::Json }
    }

    /// A kept value as JSON; one from Python as the text that it is shown by.
    async fn value_of(&self, cid: Cid) -> Value {
        match self.records.value(cid).await {
            Ok(Some(kept)) => pretty::kept(&kept),
            Ok(None) | Err(_) => pretty::missing(&cid.to_string()),
        }
    }

    /// The end of a call of this process.
    fn end_own(
        &self,
        call_id: &str,
        ending: Ending,
        mut found: Vec<Found>,
    ) -> Option<(Ended, Option<Cid>)> {
        self.show(&mut found);
        let mut bring = Bring::default();
        let mut live = self.live();
        let kept = live.keep(found, &mut bring);
        let flight = live.land(call_id)?;
        let was_paused = flight.pause.is_some();
        let mut call = Arc::unwrap_or_clone(flight.call);
        call.verdict = flight.verdict.map(Box::new);
        let kept = kept.into_iter().next();
        let cid = kept.as_ref().map(|(cid, _)| *cid);
        let result = kept.map(|it| place(&mut call, it));
        let (exception_type, exception_message) = match ending {
            Ending::Returned(_) => (None, None),
            Ending::Failed { exception_type, message, .. }
            | Ending::Raised { exception_type, message } => (Some(exception_type), Some(message)),
        };
        let failed = exception_type.is_some();
        call.end = Some(End {
            status: if failed { "exception" } else { "success" }.to_owned(),
            completed_at: clock::now(),
            result,
            exception_type,
            exception_message,
            failed,
            ..End::default()
        });
        end_snapshots(&call, &mut bring);
        Some((self.conclude(live, call, was_paused, flight.repl_sessions, bring), cid))
    }
}

impl Answered {
    pub fn call_id(&self) -> &str {
        &self.call.call_id
    }

    /// Says how the call ended; where it pauses after it, returns when somebody lets it go on. What it
    /// returned is found by the CID.
    pub async fn complete(mut self, ending: Ending) -> Option<Cid> {
        let callpoints = Arc::clone(&self.call.callpoints);
        callpoints.recorder.keep_up().await;
        let found = returned(&ending).await;
        self.call.is_done = true;
        let (ended, cid) = callpoints.end_own(&self.call.call_id, ending, found)?;
        let name = match &ended {
            Ended::Pauses { call, .. } => call.name.clone(),
            Ended::Answered(_) => return cid,
        };
        if let Ok(Some(paused)) = callpoints.answer(ended).await {
            callpoints.decided(paused, &name).await;
        }
        cid
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let flight = self.callpoints.live().land(&self.call_id);
        if let Some(flight) = flight {
            self.callpoints.give_up_calls(vec![flight.call], "whoever made the call gave it up");
        }
    }
}

impl Waits<'_> {
    fn over(&mut self) -> Action {
        self.is_over = true;
        Action::Continue
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.callpoints.live().pauses.forget(&self.pause_id);
        self.callpoints.log.append(Event::CallLost {
            pause_id: std::mem::take(&mut self.pause_id),
            method_name: std::mem::take(&mut self.name),
            why: "whoever made the call gave it up".to_owned(),
        });
    }
}

/// What a call is given, as it is kept.
async fn given(asking: Asking) -> (Asking, Vec<Found>) {
    let bytes = asking.args.iter().chain(asking.kwargs.values()).map(weight).sum();
    let asking = Arc::new(asking);
    let looks = Arc::clone(&asking);
    let look = move || looks.args.iter().chain(looks.kwargs.values()).map(found).collect();
    let found = aside_if_large(bytes, look).await.unwrap_or_default();
    (Arc::unwrap_or_clone(asking), found)
}

/// What it returned, as it is kept.
async fn returned(ending: &Ending) -> Vec<Found> {
    let value = match ending {
        Ending::Returned(value) | Ending::Failed { value, .. } => Arc::clone(value),
        Ending::Raised { .. } => return Vec::new(),
    };
    aside_if_large(weight(&value), move || vec![found(&value)]).await.unwrap_or_default()
}

/// A value as it is kept; it is what its CID says, because that is made of it. A large one is shown at once: it is
/// looked at aside.
fn found(value: &Value) -> Found {
    let checked = Checked::of(value, Format::Json);
    let is_large = checked.bytes.len() > limits::ASIDE_BYTES;
    let shown = is_large.then(|| pretty::of(checked.format, &checked.bytes));
    Found { checked, shown }
}

fn place(call: &mut Call, (cid, text): (Cid, Box<str>)) -> Given {
    Given { place: Some(call.place(cid, text)), format: Format::Json, ..Given::default() }
}

#[cfg(test)]
mod tests;
