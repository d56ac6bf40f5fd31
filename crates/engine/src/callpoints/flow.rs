//! A call through the server: it begins, it may pause, it ends, and is recorded.
//!
//! Nothing here waits for the disk: what a request brings goes to the recorder, and the answer goes
//! out. Only a call that pauses, and a value that is not known here, ask the store.

use std::sync::Arc;

use holdpoint_store::{Cid, era};
use serde_json::Value;

use super::{
    Callpoints,
    behavior::Moment,
    book::{end_snapshots, snapshots},
    call::{Call, Complete, End, Process, Said, Site, Start, Values},
    clock, pretty,
    recorder::Bring,
    value::{BadItem, Checked, Format, Item},
};
use crate::{aside::aside, limits};

/// What an app does with a call that begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Started {
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

/// Something an app tells that is not a call: a registration, a value that does not pickle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AppEvent {
    pub id: Option<String>,
    pub name: Option<String>,
    pub event_type: Option<String>,
    pub status: Option<String>,
    pub timestamp: Option<f64>,
    pub site: Site,
    pub signature: Value,
    pub page_url: Option<String>,
    pub said: Said,
    pub result: Item,
    pub exception: Item,
}

/// An un-aliased function of the public client posts this with every call of its own (B2).
const PHANTOM: &str = "__getattr__('_cideldill_alias_name')";

/// A pause after a call, to be waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedAfter {
    pub pause_id: String,
    pub is_async: bool,
}

/// Items that were looked at, in their order.
struct Looked {
    found: Vec<Found>,
    bad: Option<BadItem>,
}

/// A checked value, and how it is shown if it is new.
pub(super) struct Found {
    pub(super) checked: Checked,
    pub(super) shown: Option<pretty::Shown>,
}

impl Callpoints {
    pub async fn start(&self, start: Start) -> Result<Started, Refused> {
        if let Some(answer) = self.again(start.fingerprint) {
            return Ok(answer);
        }
        let missing = self.missing(&start).await;
        if !missing.is_empty() {
            self.state().ask(&start);
            return Err(Refused::Missing(missing));
        }
        let lenient = self.state().was_asked(&start);
        let mut bring = Bring::default();
        let taken = self.take_in(start, lenient, &mut bring).await;
        self.recorder.bring(bring).await;
        let (call, fingerprint) = taken?;
        let call = Arc::new(call);
        let (wants_pause, replacement) = {
            let state = self.state();
            let point = state.config.points.get(&call.name);
            let pauses = state.config.pauses(&call.name, Moment::Before);
            (pauses, point.and_then(|point| point.replacement.clone()))
        };
        let call_id = call.id.clone();
        let paused = match wants_pause {
            true => self.pause(&call, Moment::Before, Vec::new()).await,
            false => None,
        };
        let (answer, pause) = match (paused, replacement) {
            (Some(paused), _) => {
                let pause_id = paused.pause_id.clone();
                let is_async = paused.is_async;
                (Started::Pause { call_id, pause_id, is_async }, Some(paused.pause_id))
            }
            (None, Some(function_name)) => (Started::Replace { call_id, function_name }, None),
            (None, None) => (Started::Continue { call_id }, None),
        };
        let abandoned = self.state().fly(call, fingerprint, answer.clone(), pause);
        self.record_abandoned(abandoned, "more calls are under way than are kept").await;
        Ok(answer)
    }

    /// The answer to a request that came before (B23).
    fn again(&self, fingerprint: u64) -> Option<Started> {
        let state = self.state();
        let call_id = state.flights.again.get(&fingerprint)?;
        state.flights.calls.get(call_id).map(|flight| flight.answer.clone())
    }

    /// References to values that nobody sent, in the order of the call.
    async fn missing(&self, start: &Start) -> Vec<String> {
        let carried =
            |cid: &String| start.items().any(|it| it.has_data() && it.cid.as_ref() == Some(cid));
        let mut open: Vec<&String> = Vec::new();
        {
            let mut state = self.state();
            let now = era(clock::now());
            for item in start.items().filter(|item| !item.has_data()) {
                let Some(cid) = &item.cid else { continue };
                let known =
                    Cid::parse(cid).is_some_and(|cid| state.known.using(&cid, now).is_some());
                if !known && !open.contains(&cid) && !carried(cid) {
                    open.push(cid);
                }
            }
        }
        if open.is_empty() {
            return Vec::new();
        }
        let cids = open.iter().filter_map(|cid| Cid::parse(cid)).collect();
        let kept = self.lookup(cids).await;
        let is_kept = |cid: &&&String| Cid::parse(cid).is_some_and(|cid| kept.contains_key(&cid));
        open.iter().filter(|cid| !is_kept(cid)).map(|cid| (*cid).clone()).collect()
    }

    /// Asks the store, and knows the values from then on.
    pub(super) async fn lookup(&self, cids: Vec<Cid>) -> Values {
        let found = self.store.values(cids).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "values could not be looked up");
            Values::new()
        });
        let mut state = self.state();
        // Their era is not known here; the first use tells the store.
        let before = era(clock::now()) - 1;
        for (cid, value) in &found {
            state.known.add(cid, before, pretty::short(&pretty::kept(value)));
        }
        drop(state);
        found
    }

    /// Checks and keeps the values of a call that begins, and makes the call of them.
    async fn take_in(
        &self,
        start: Start,
        lenient: bool,
        bring: &mut Bring,
    ) -> Result<(Call, u64), Refused> {
        let items: Vec<&Item> = start.items().collect();
        let looked = look_at(&items, lenient).await;
        let mut state = self.state();
        let found = state.keep(looked.found, bring);
        if let Some(bad) = looked.bad {
            return Err(bad.into());
        }
        let format = start.format.ok_or(Refused::Format)?;
        let (id, _) = state.flights.next_id();
        let mut call = new_call(&start, id, format);
        state.place_stack(&mut call, bring);
        let mut found = found.into_iter();
        let mut given = |call: &mut Call, item: &Item| {
            let own = if item.has_data() && item.cid.is_some() { found.next() } else { None };
            state.give(call, item, own, bring)
        };
        call.target = start.target.as_ref().map(|item| given(&mut call, item));
        call.args = start.args.iter().map(|item| given(&mut call, item)).collect();
        let named = start.kwargs.iter();
        call.kwargs = named.map(|(name, item)| (name.clone(), given(&mut call, item))).collect();
        state.meet(&start.process, start.page_url.as_deref(), None, bring);
        snapshots(&call, bring);
        Ok((call, start.fingerprint))
    }

    pub async fn complete(&self, complete: Complete) -> Result<Option<PausedAfter>, Refused> {
        let items = [&complete.result, &complete.exception];
        let looked = look_at(&items, false).await;
        let mut bring = Bring::default();
        let (flight, found, already) = {
            let mut state = self.state();
            let found = state.keep(looked.found, &mut bring);
            let flight = match looked.bad {
                None => state.land(&complete.call_id),
                Some(_) => None,
            };
            (flight, found, state.pauses.after(&complete.call_id))
        };
        if let Some(bad) = looked.bad {
            self.recorder.bring(bring).await;
            return Err(bad.into());
        }
        let Some(flight) = flight else {
            // Unknown, or ended before: nothing is recorded, and a pause is waited for again.
            self.loose_ends(&complete, found, &mut bring);
            self.recorder.bring(bring).await;
            return Ok(already);
        };
        let failed = complete.is_exception();
        let mut call = Arc::unwrap_or_clone(flight.call);
        let why = complete.action_error.as_deref();
        call.verdict = flight.verdict.map(|verdict| Box::new(verdict.undone(why)));
        {
            let mut state = self.state();
            state.end(&mut call, &complete, found, flight.repl_sessions.clone(), &mut bring);
        }
        end_snapshots(&call, &mut bring);
        bring.calls.push(call.to_row("call"));
        self.recorder.bring(bring).await;
        let status = call.end.as_ref().map(|end| end.status.clone()).unwrap_or_default();
        self.teller.completed(&call.id, &call.name, &status, failed);
        let moment = if failed { Moment::AfterException } else { Moment::AfterSuccess };
        if self.state().config.pauses(&call.name, moment) {
            return Ok(self.pause(&Arc::new(call), moment, flight.repl_sessions).await);
        }
        Ok(None)
    }

    /// A result whose call is not known still shows its object at that moment.
    fn loose_ends(&self, complete: &Complete, found: Vec<(Cid, Box<str>)>, bring: &mut Bring) {
        let Some(process) = &complete.process else { return };
        let mut call = Call {
            id: complete.call_id.clone(),
            process: process.key(),
            started_at: complete.timestamp.unwrap_or_else(clock::now),
            ..Call::default()
        };
        let mut state = self.state();
        state.end(&mut call, complete, found, Vec::new(), bring);
        drop(state);
        end_snapshots(&call, bring);
    }

    pub async fn event(&self, process: Process, event: AppEvent) -> Result<(), Refused> {
        let looked = look_at(&[&event.result, &event.exception], false).await;
        if let Some(bad) = looked.bad {
            return Err(bad.into());
        }
        let name = event.name.clone().or_else(|| event.event_type.clone());
        let name = name.unwrap_or_else(|| "event".to_owned());
        if name == PHANTOM {
            return Ok(());
        }
        let at = event.timestamp.unwrap_or_else(clock::now);
        let status = event.status.or(event.event_type).unwrap_or_else(|| "event".to_owned());
        let mut call = Call {
            id: event.id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
            name,
            process: process.key(),
            started_at: at,
            pid: process.pid,
            process_start: process.start_time,
            signature: event.signature,
            site: event.site,
            page_url: event.page_url,
            said: Some(Box::new(event.said)),
            ..Call::default()
        };
        let mut bring = Bring::default();
        {
            let mut state = self.state();
            state.place_stack(&mut call, &mut bring);
            let mut found = state.keep(looked.found, &mut bring).into_iter();
            let mut given = |call: &mut Call, item: &Item| {
                let own = if item.has_data() && item.cid.is_some() { found.next() } else { None };
                item.cid.is_some().then(|| state.give(call, item, own, &mut bring))
            };
            let result = given(&mut call, &event.result);
            let exception = given(&mut call, &event.exception);
            call.end = Some(End { status, completed_at: at, result, exception, ..End::default() });
            state.meet(&process, call.page_url.as_deref(), None, &mut bring);
        }
        let registered = (call.name == "with_debug.register")
            .then(|| call.said.as_ref()?.pretty_result.get("function_name")?.as_str())
            .flatten()
            .map(str::to_owned);
        bring.calls.push(call.to_row("event"));
        self.recorder.bring(bring).await;
        if let Some(function) = registered {
            self.registered_in(&function, &call.process).await;
        }
        let status = call.end.map(|end| end.status).unwrap_or_default();
        self.teller.completed(&call.id, &call.name, &status, false);
        Ok(())
    }

    /// Keeps one value that came beside a call: a function's own, a REPL's result.
    pub async fn keep_value(&self, item: &Item) -> Result<Option<Cid>, BadItem> {
        let looked = look_at(&[item], false).await;
        if let Some(bad) = looked.bad {
            return Err(bad);
        }
        let mut bring = Bring::default();
        let found = self.state().keep(looked.found, &mut bring);
        self.recorder.bring(bring).await;
        let reference = || item.cid.as_deref().and_then(Cid::parse);
        Ok(found.into_iter().next().map(|(cid, _)| cid).or_else(reference))
    }

    /// What a function's own value says of it, as metadata.
    pub async fn described(&self, cid: Cid, name: &str) -> Option<Value> {
        self.recorder.settle().await;
        let value = self.store.value(cid).await.ok()??;
        let pretty = pretty::kept(&value);
        if pretty.get("__cideldill_placeholder__").is_some() {
            return Some(pretty);
        }
        let summary = pretty::short(&pretty);
        Some(serde_json::json!({
            "summary": summary, "object_name": name, "object_path": name,
        }))
    }

    /// Calls that will never end: their app is gone, or there are too many.
    pub(super) async fn record_abandoned(&self, calls: Vec<Arc<Call>>, why: &str) {
        if calls.is_empty() {
            return;
        }
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
            bring.calls.push(call.to_row("call"));
        }
        self.recorder.bring(bring).await;
    }
}

/// Checks items; large ones aside, because hashing a megabyte holds up every other call.
async fn look_at(items: &[&Item], lenient: bool) -> Looked {
    let weight: usize = items.iter().map(|item| item.weight()).sum();
    if weight <= limits::ASIDE_BYTES {
        return look(items.iter().copied(), lenient, false);
    }
    let items: Vec<Item> = items.iter().map(|item| (*item).clone()).collect();
    let looked = aside(move || look(items.iter(), lenient, true)).await;
    looked.unwrap_or(Looked { found: Vec::new(), bad: Some(BadItem::Dill) })
}

/// Checks values that came without a call; those that are wrong are counted.
pub(super) async fn look_each(items: Vec<Item>) -> (Vec<Found>, usize) {
    let weight: usize = items.iter().map(Item::weight).sum();
    let look = move || {
        let total = items.len();
        let good =
            items.iter().filter_map(|item| look([item].into_iter(), false, true).found.pop());
        let good: Vec<Found> = good.collect();
        let bad = total - good.len();
        (good, bad)
    };
    if weight <= limits::ASIDE_BYTES {
        return look();
    }
    aside(look).await.unwrap_or_default()
}

fn look<'i>(items: impl Iterator<Item = &'i Item>, lenient: bool, show: bool) -> Looked {
    let mut found = Vec::new();
    for item in items {
        match item.check(lenient) {
            Ok(None) => {}
            Ok(Some(checked)) => {
                let shown = show.then(|| pretty::of(checked.format, &checked.bytes));
                found.push(Found { checked, shown });
            }
            Err(bad) => return Looked { found, bad: Some(bad) },
        }
    }
    Looked { found, bad: None }
}

fn new_call(start: &Start, id: String, format: Format) -> Call {
    Call {
        id,
        name: start.method_name.clone(),
        process: start.process.key(),
        started_at: start.site.timestamp.unwrap_or_else(clock::now),
        pid: start.process.pid,
        process_start: start.process.start_time,
        signature: start.signature.clone(),
        site: start.site.clone(),
        page_url: start.page_url.clone(),
        format,
        origin: start.origin.clone(),
        ..Call::default()
    }
}
