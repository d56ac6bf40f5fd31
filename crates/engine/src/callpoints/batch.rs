//! Records of calls that nobody had to ask about: our own clients ship them in batches.
//!
//! A batch is always taken as far as it goes: what is wrong in it is counted, what is missing is named.

use std::collections::HashSet;

use holdpoint_store::{Cid, era};
use serde_json::Value;

use super::{
    Callpoints, Live,
    book::{end_snapshots, snapshots},
    look::look_each,
};
use crate::{
    budget,
    calls::{
        call::{AppProcess, Call, CallOrigin, CallSite, End, Given},
        clock,
        value::{Format, Item},
    },
    event::Event,
    limits,
    records::recorder::Bring,
};

/// A call that has ended, its values by CID.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallRecord {
    pub method_name: String,
    pub signature: Value,
    pub target: Option<LiveRef>,
    pub args: Vec<LiveRef>,
    pub kwargs: Vec<(String, LiveRef)>,
    pub result: Option<LiveRef>,
    pub exception: Option<LiveRef>,
    pub exception_type: Option<String>,
    pub exception_message: Option<String>,
    pub exception_traceback: Option<String>,
    pub status: String,
    pub started_at: f64,
    pub completed_at: f64,
    pub origin: CallOrigin,
    pub site: CallSite,
}

/// A value by its CID, and the live object that it was of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRef {
    pub cid: String,
    pub client_ref: Option<Value>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchAnswer {
    pub accepted: usize,
    /// Values that were refused.
    pub bad_values: usize,
    /// Values that are named and that nobody sent.
    pub missing: Vec<String>,
}

impl Callpoints {
    pub async fn batch(
        &self,
        process: &AppProcess,
        about: Option<Value>,
        format: Format,
        values: Vec<Item>,
        records: Vec<CallRecord>,
    ) -> BatchAnswer {
        let (found, bad_values) = look_each(values).await;
        let mut bring = Bring::default();
        {
            let mut live = self.live();
            live.keep(found, &mut bring);
            let key = live.key(process);
            let page = records.first().and_then(|it| it.site.page_url.as_deref());
            live.meet(process, &key, page, about.as_ref(), &mut bring);
        }
        let missing = self.missing_of(&records).await;
        let accepted = records.len();
        // In pieces: a batch of thousands must not hold up a call that waits.
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            let piece = records.by_ref().take(limits::BATCH_PIECE);
            let told = piece.map(|record| self.take_record(process, format, record, &mut bring));
            let told: Vec<Event> = told.flatten().collect();
            self.recorder.bring(std::mem::take(&mut bring)).await;
            self.log.append_all(told);
            tokio::task::yield_now().await;
        }
        self.recorder.bring(bring).await;
        BatchAnswer { accepted, bad_values, missing }
    }

    /// Whether this batch came before; from now on it did.
    pub fn had_batch(&self, fingerprint: u64) -> bool {
        let mut live = self.live();
        if live.batches.contains(&fingerprint) {
            return true;
        }
        live.batches.push_back(fingerprint);
        if live.batches.len() > limits::BATCHES {
            live.batches.pop_front();
        }
        false
    }

    /// An app had to drop records.
    pub fn dropped(&self, process: &AppProcess, records: u64) {
        if records > 0 {
            self.log.append(Event::CallsDropped { process: process.key(), calls: records });
        }
    }

    /// Returns what is to be told of it.
    fn take_record(
        &self,
        process: &AppProcess,
        format: Format,
        record: CallRecord,
        bring: &mut Bring,
    ) -> Option<Event> {
        let failed = record.exception.is_some() || record.status == "exception";
        let call = {
            let mut live = self.live();
            let (id, _) = live.flights.next_id();
            live.recorded(process, format, id, record, failed, bring)
        };
        snapshots(&call, bring);
        end_snapshots(&call, bring);
        let told = self.teller.completed(&call, false);
        bring.calls.push(call.into_row());
        told
    }

    async fn missing_of(&self, records: &[CallRecord]) -> Vec<String> {
        let mut open: HashSet<Cid> = HashSet::new();
        {
            let live = self.live();
            let now = era(clock::now());
            for cid in
                records.iter().flat_map(CallRecord::refs).filter_map(|it| Cid::parse(&it.cid))
            {
                if !live.recent.is_fresh(&cid, now) {
                    open.insert(cid);
                }
            }
        }
        if open.is_empty() {
            return Vec::new();
        }
        let kept = self.lookup(open.iter().copied().collect()).await;
        let missing = open.iter().filter(|cid| !kept.contains_key(cid));
        missing.map(Cid::to_string).take(limits::MISSING_NAMED).collect()
    }
}

impl CallRecord {
    fn refs(&self) -> impl Iterator<Item = &LiveRef> {
        let begun =
            self.target.iter().chain(&self.args).chain(self.kwargs.iter().map(|(_, it)| it));
        begun.chain(&self.result).chain(&self.exception)
    }
}

impl Live {
    fn recorded(
        &mut self,
        process: &AppProcess,
        format: Format,
        id: String,
        record: CallRecord,
        failed: bool,
        bring: &mut Bring,
    ) -> Call {
        let mut call = Call {
            id,
            name: record.method_name,
            process: self.key(process),
            started_at: record.started_at,
            pid: Some(process.pid),
            process_start: Some(process.start_time),
            signature: record.signature,
            page_url: record.site.page_url.clone(),
            site: record.site,
            format,
            origin: record.origin,
            ..Call::default()
        };
        self.place_stack(&mut call, bring);
        let mut given = |call: &mut Call, it: LiveRef| {
            let (cid, client_ref) = (Some(it.cid), it.client_ref);
            let item = Item { cid, format: Some(format), client_ref, ..Item::default() };
            self.give(call, &item, None, bring)
        };
        call.target = record.target.map(|it| given(&mut call, it));
        call.args = record.args.into_iter().map(|it| given(&mut call, it)).collect();
        let named: Vec<(String, Given)> =
            record.kwargs.into_iter().map(|(name, it)| (name, given(&mut call, it))).collect();
        call.kwargs = named;
        let result = record.result.map(|it| given(&mut call, it));
        let exception = record.exception.map(|it| given(&mut call, it));
        let cut = |text: Option<String>| text.map(|it| budget::cut(&it, limits::TRACEBACK_BYTES));
        call.end = Some(End {
            status: record.status,
            completed_at: record.completed_at,
            result,
            exception,
            exception_type: record.exception_type,
            exception_message: cut(record.exception_message),
            exception_traceback: cut(record.exception_traceback),
            repl_sessions: Vec::new(),
            failed,
        });
        call
    }
}
