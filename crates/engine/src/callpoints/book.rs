//! The books of calls: which values are known, which calls are under way, what their records will say.
//!
//! Everything here happens under one short lock and only writes down; [`flow`](super::flow) decides.

use std::{sync::Arc, time::Instant};

use holdpoint_store::{AppRow, Cid, Host, NewValue, SnapshotRow, era};
use serde_json::Value;

use super::{
    Asked, Flight, Live, Met, Unwaited,
    flow::{CallStarted, Refused},
    liveness::is_gone,
    look::{Found, Looked},
};
use crate::{
    calls::{
        call::{AppProcess, Call, Complete, End, Given, Start},
        clock, pretty,
        value::{Checked, Item},
        verdict::Verdict,
    },
    limits,
    records::recorder::Bring,
};

impl Live {
    /// Values that are new go to the store; each is known from here on. With their short texts.
    pub(super) fn keep(&mut self, found: Vec<Found>, bring: &mut Bring) -> Vec<(Cid, Box<str>)> {
        let now = era(clock::now());
        let mut kept = Vec::with_capacity(found.len());
        for Found { checked: Checked { cid, format, bytes }, shown } in found {
            // One that was used in this era is there. An older one another process may have dropped: it goes
            // along, and the store writes it if it is gone.
            if let Some(known) = self.recent.using(&cid, now).filter(|known| !known.aged) {
                kept.push((cid, known.short));
                continue;
            }
            let shown = shown.unwrap_or_else(|| pretty::of(format, &bytes));
            self.recent.add(&cid, now, shown.short.clone());
            let (format, pretty) = (format.as_str(), shown.pretty);
            bring.values.push(NewValue { cid, format, pretty, data: bytes });
            kept.push((cid, shown.short));
        }
        kept
    }

    /// The value of a call: `own` is what its data was found to be.
    pub(super) fn give(
        &mut self,
        call: &mut Call,
        item: &Item,
        own: Option<(Cid, Box<str>)>,
        bring: &mut Bring,
    ) -> Given {
        let reference = || item.cid.as_deref().and_then(Cid::parse);
        let format = item.format.unwrap_or_default();
        let client_ref = item.client_ref.clone();
        let (cid, text) = match own {
            Some((cid, text)) => (Some(cid), text),
            None => match reference() {
                Some(cid) => {
                    let known = self.recent.using(&cid, era(clock::now()));
                    // Looked up in the era before, or of an older one: either way the store hears.
                    if known.as_ref().is_none_or(|known| known.aged) {
                        bring.used.push(cid);
                    }
                    (Some(cid), known.map_or_else(|| "?".into(), |known| known.short))
                }
                None => (None, "?".into()),
            },
        };
        let place = cid.map(|cid| call.place(cid, text));
        let odd = if place.is_none() { item.cid.clone() } else { None };
        Given { place, odd, format, client_ref }
    }

    /// The stack becomes a value like the others, and the first of them: there the tree finds it.
    pub(super) fn place_stack(&mut self, call: &mut Call, bring: &mut Bring) {
        let Some(text) = call.site.stack.take().filter(|text| text.len() > 2) else { return };
        let cid = self.stacks.cid(&text);
        let now = era(clock::now());
        if self.recent.using(&cid, now).is_none_or(|known| known.aged) {
            self.recent.add(&cid, now, "".into());
            let data = text.into_bytes();
            bring.values.push(NewValue { cid, format: "stack", pretty: None, data });
        }
        call.stack = Some(call.place(cid, "".into()));
    }

    /// Keeps the values of a call that begins, and makes the call of them.
    pub(super) fn take_in(
        &mut self,
        start: Start,
        looked: Looked,
        bring: &mut Bring,
    ) -> Result<(Arc<Call>, u64), Refused> {
        let found = self.keep(looked.found, bring);
        if let Some(bad) = looked.bad {
            return Err(bad.into());
        }
        let Start { process, target, args, kwargs, site, fingerprint, .. } = start;
        let mut call = Call {
            id: self.flights.next_id().0,
            name: start.method_name,
            process: self.key(&process),
            started_at: site.timestamp.unwrap_or_else(clock::now),
            pid: Some(process.pid),
            process_start: Some(process.start_time),
            signature: start.signature,
            site,
            page_url: start.page_url,
            format: start.format.ok_or(Refused::Format)?,
            origin: start.origin,
            ..Call::default()
        };
        self.meet(&process, &call.process, call.page_url.as_deref(), None, bring);
        self.place_stack(&mut call, bring);
        let mut found = found.into_iter();
        let mut given = |call: &mut Call, item: &Item| {
            let own = if item.has_data() && item.cid.is_some() { found.next() } else { None };
            self.give(call, item, own, bring)
        };
        call.target = target.as_ref().map(|item| given(&mut call, item));
        call.args = args.iter().map(|item| given(&mut call, item)).collect();
        let named = kwargs.into_iter();
        call.kwargs = named.map(|(name, item)| (name, given(&mut call, &item))).collect();
        snapshots(&call, bring);
        Ok((Arc::new(call), fingerprint))
    }

    /// What becomes of a call that does not pause.
    pub(super) fn unpaused(&self, call: &Call) -> CallStarted {
        let call_id = call.id.clone();
        let point = self.config.point(&call.name);
        match point.and_then(|point| point.replacement.clone()) {
            Some(function_name) => CallStarted::Replace { call_id, function_name },
            None => CallStarted::Continue { call_id },
        }
    }

    /// A result whose call is not known still shows its object at that moment.
    pub(super) fn loose_ends(
        &mut self,
        complete: &Complete,
        found: Vec<(Cid, Box<str>)>,
        bring: &mut Bring,
    ) {
        let Some(process) = &complete.process else { return };
        let mut call = Call {
            id: complete.call_id.clone(),
            process: self.key(process),
            started_at: complete.timestamp.unwrap_or_else(clock::now),
            ..Call::default()
        };
        self.end(&mut call, complete, found, Vec::new(), bring);
        end_snapshots(&call, bring);
    }

    /// An app's key. To write the time in it costs more than to look it up.
    pub(super) fn key(&mut self, process: &AppProcess) -> String {
        if self.keys.len() >= limits::APPS {
            self.keys.clear();
        }
        let key = self.keys.entry((process.pid, process.start_time.to_bits()));
        key.or_insert_with(|| process.key().into()).to_string()
    }

    /// An app is heard of; the store hears now and then.
    pub(super) fn meet(
        &mut self,
        process: &AppProcess,
        key: &str,
        page_url: Option<&str>,
        about: Option<&Value>,
        bring: &mut Bring,
    ) {
        let now = clock::now();
        if let Some(met) = self.apps.get_mut(key) {
            met.heard = now;
            if now - met.told < limits::APP_SEEN.as_secs_f64() && about.is_none() {
                return;
            }
        }
        if self.apps.len() >= limits::APPS && !self.apps.contains_key(key) {
            self.apps.clear();
        }
        let is_here = process.pid > 0 && !is_gone(process.pid);
        self.apps.insert(key.to_owned(), Met { told: now, heard: now, is_here });
        bring.apps.push(AppRow {
            host: Host::here(),
            process: key.to_owned(),
            pid: process.pid,
            started_at: process.start_time,
            page_url: page_url.map(str::to_owned),
            about: about.map(Value::to_string),
            seen_at: now,
        });
    }

    pub(super) fn end(
        &mut self,
        call: &mut Call,
        complete: &Complete,
        found: Vec<(Cid, Box<str>)>,
        repl_sessions: Vec<String>,
        bring: &mut Bring,
    ) {
        let mut found = found.into_iter();
        let mut given = |call: &mut Call, item: &Item| {
            let own = if item.has_data() && item.cid.is_some() { found.next() } else { None };
            item.cid.is_some().then(|| self.give(call, item, own, bring))
        };
        let result = given(call, &complete.result);
        let exception = given(call, &complete.exception);
        let failed = complete.is_exception();
        let status = complete.status.clone();
        let cut = |text: &Option<String>| {
            text.as_deref().map(|text| crate::budget::cut(text, limits::TRACEBACK_BYTES))
        };
        call.end = Some(End {
            status: status
                .unwrap_or_else(|| if failed { "exception" } else { "success" }.to_owned()),
            completed_at: complete.timestamp.unwrap_or_else(clock::now),
            result,
            exception,
            exception_type: cut(&complete.exception_type),
            exception_message: cut(&complete.exception_message),
            exception_traceback: cut(&complete.exception_traceback),
            repl_sessions,
            failed,
        });
    }

    pub(super) fn ask(&mut self, start: &Start) {
        self.asked.push_back(asked(start));
        while self.asked.len() > limits::ASKED {
            self.asked.pop_front();
        }
    }

    pub(super) fn was_asked(&mut self, start: &Start) -> bool {
        if self.asked.is_empty() {
            return false;
        }
        let this = asked(start);
        let at = self.asked.iter().position(|asked| *asked == this);
        at.is_some_and(|at| self.asked.remove(at).is_some())
    }

    /// The call is under way. Returns the oldest ones if there are too many.
    pub(super) fn fly(
        &mut self,
        call: Arc<Call>,
        fingerprint: Option<u64>,
        answer: CallStarted,
        pause: Option<String>,
    ) -> Vec<Arc<Call>> {
        let order = self.flights.next;
        if let Some(fingerprint) = fingerprint {
            self.flights.again.insert(fingerprint, call.id.clone());
        }
        let began = Instant::now();
        let repl_sessions = Vec::new();
        let id = call.id.clone();
        let verdict = match &answer {
            CallStarted::Replace { function_name, .. } => Some(Verdict::replaced(function_name)),
            CallStarted::Continue { .. } | CallStarted::Pause { .. } => None,
        };
        let flight =
            Flight { order, fingerprint, call, answer, pause, repl_sessions, verdict, began };
        self.flights.calls.insert(id, flight);
        if self.flights.calls.len() <= limits::IN_FLIGHT {
            return Vec::new();
        }
        let mut all: Vec<(u64, String)> =
            self.flights.calls.values().map(|it| (it.order, it.call.id.clone())).collect();
        all.sort_unstable();
        let oldest = all.into_iter().take(limits::IN_FLIGHT / 8);
        oldest.filter_map(|(_, id)| self.land(&id)).map(|flight| flight.call).collect()
    }

    /// The call is not under way any more; nor does anything wait before it.
    pub(super) fn land(&mut self, call_id: &str) -> Option<Flight> {
        let mut flight = self.flights.calls.remove(call_id)?;
        if let Some(fingerprint) = flight.fingerprint {
            self.flights.again.remove(&fingerprint);
        }
        if let Some(pause) = &flight.pause {
            if let Some(waiting) = self.pauses.get(pause) {
                flight.repl_sessions.extend(waiting.sessions.clone());
                let (pause_id, method_name) = (pause.clone(), flight.call.name.clone());
                self.unwaited.push(Unwaited { pause_id, method_name });
            }
            self.pauses.forget(pause);
        }
        Some(flight)
    }
}

fn asked(start: &Start) -> Asked {
    Asked {
        process: start.process.key(),
        name: start.method_name.clone(),
        timestamp: start.site.timestamp,
    }
}

/// The live objects of a call that begins.
pub(super) fn snapshots(call: &Call, bring: &mut Bring) {
    let target = call.target.iter().map(|it| ("target", None, it));
    let args = call.args.iter().enumerate().map(|(at, it)| ("arg", Some(at.to_string()), it));
    let kwargs = call.kwargs.iter().map(|(name, it)| ("kwarg", Some(name.clone()), it));
    for (role, place, given) in target.chain(args).chain(kwargs) {
        bring.snapshots.extend(snapshot(call, given, role, place, call.started_at));
    }
}

pub(super) fn end_snapshots(call: &Call, bring: &mut Bring) {
    let Some(end) = &call.end else { return };
    let ends = [("result", &end.result), ("exception", &end.exception)];
    for (role, given) in ends {
        let Some(given) = given else { continue };
        bring.snapshots.extend(snapshot(call, given, role, None, end.completed_at));
    }
}

fn snapshot(
    call: &Call,
    given: &Given,
    role: &'static str,
    place: Option<String>,
    at: f64,
) -> Option<SnapshotRow> {
    let client_ref = match given.client_ref.as_ref()? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let cid = *call.cids.get(given.place?)?;
    let (process, call_id, name) = (call.process.clone(), call.id.clone(), call.name.clone());
    Some(SnapshotRow { process, client_ref, at, call_id, name, role, place, cid })
}
