//! `POST /api/call/batch`: what our own clients recorded without asking.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    callpoints::{CallRecord, LiveRef},
    calls::{
        call::AppProcess,
        value::{Format, Item},
    },
};
use serde::de::MapAccess;
use serde_json::{Value, json};

use crate::{
    app::App,
    http::endpoints::{
        body::Sent,
        described,
        wire::{
            Object,
            fields::{Who, any, fingerprint, list, number, object, origin, some_json, text},
            whole,
        },
    },
};

struct Batch {
    process: AppProcess,
    id: Option<u64>,
    about: Option<Value>,
    format: Format,
    values: Vec<Item>,
    records: Vec<CallRecord>,
    rejected: usize,
    dropped: u64,
}

#[utoipa::path(post, path = "/api/call/batch", request_body = described::Batch, responses(
    (status = 200, description = "`{status, accepted, rejected, missing_cids}`; missing values may come with \
        the next batch", body = Value),
    (status = 400, description = "`missing_process_identity`, or not JSON", body = Value),
))]
pub(in crate::http) async fn batch(State(app): State<App>, sent: Sent) -> Response {
    if sent.is_cut() {
        let answer = json!({
            "status": "ok", "accepted": 0, "rejected": 0, "missing_cids": [], "captured": false,
        });
        return Json(answer).into_response();
    }
    let parsed = sent.read(read).await;
    // What it said is kept from here on; the text of a full batch is megabytes.
    drop(sent);
    let batch = match parsed {
        Ok(Some(batch)) => batch,
        Ok(None) => return super::no_identity(),
        Err(refusal) => return refusal,
    };
    let callpoints = app.engine.callpoints().await;
    let records = batch.records.len();
    // A batch that is sent again was taken the first time.
    if batch.id.is_some_and(|id| callpoints.had_batch(id)) {
        return Json(json!({
            "status": "ok", "accepted": records, "rejected": batch.rejected, "missing_cids": [],
        }))
        .into_response();
    }
    callpoints.dropped(&batch.process, batch.dropped);
    let Batch { process, about, format, values, records, .. } = batch;
    let answer = callpoints.batch(&process, about, format, values, records).await;
    Json(json!({
        "status": "ok",
        "accepted": answer.accepted,
        "rejected": batch.rejected + answer.bad_values,
        "missing_cids": answer.missing,
    }))
    .into_response()
}

/// None when it does not say whose calls these are.
fn read(text: &str) -> serde_json::Result<Option<Batch>> {
    let shipped: Shipped = whole(text)?;
    let Some(process) = shipped.who.process() else { return Ok(None) };
    let all = shipped.calls.len();
    let records: Vec<CallRecord> =
        shipped.calls.into_iter().filter_map(RecordedCall::record).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let dropped = shipped.dropped.unwrap_or_default().max(0.0) as u64;
    let id = shipped.batch_id;
    Ok(Some(Batch {
        id: id.map(|id| fingerprint(format!("batch {} {id}", process.key()).as_bytes())),
        about: shipped.about,
        format: shipped.format.unwrap_or_default(),
        values: shipped.values,
        rejected: all - records.len(),
        records,
        dropped,
        process,
    }))
}

#[derive(Default)]
pub(in crate::http) struct Shipped {
    who: Who,
    batch_id: Option<String>,
    about: Option<Value>,
    format: Option<Format>,
    values: Vec<Item>,
    calls: Vec<RecordedCall>,
    dropped: Option<f64>,
}

impl<'de> Object<'de> for Shipped {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        match name {
            "batch_id" => self.batch_id = text(map)?,
            "process" => self.about = some_json(map)?,
            "preferred_format" => self.format = text(map)?.and_then(|it| Format::parse(&it)),
            "values" => self.values = list(map)?,
            "calls" => self.calls = list(map)?,
            "dropped" => self.dropped = number(map)?,
            name => return self.who.take(name, map),
        }
        Ok(true)
    }
}

/// A call that has ended, as a client recorded it. Its values are CIDs; which live objects they were of is told
/// beside them.
#[derive(Default)]
pub(in crate::http) struct RecordedCall {
    record: CallRecord,
    started_at: Option<f64>,
    completed_at: Option<f64>,
    refs: Refs,
}

#[derive(Default)]
struct Refs {
    target: Option<Value>,
    args: Live,
    kwargs: Live,
    result: Option<Value>,
    exception: Option<Value>,
}

/// Live objects by the place or the name of what they were given as.
#[derive(Default)]
struct Live(Vec<(String, Value)>);

/// CIDs by name.
#[derive(Default)]
struct Cids(Vec<(String, String)>);

impl RecordedCall {
    /// None where it does not say what was called, and when.
    fn record(self) -> Option<CallRecord> {
        let RecordedCall { mut record, started_at, completed_at, refs } = self;
        if record.method_name.is_empty() {
            return None;
        }
        let set = |of: &mut Option<LiveRef>, live: Option<Value>| {
            if let Some(of) = of {
                of.client_ref = live;
            }
        };
        set(&mut record.target, refs.target);
        set(&mut record.result, refs.result);
        set(&mut record.exception, refs.exception);
        for (place, live) in refs.args.0 {
            if let Some(of) = place.parse().ok().and_then(|at: usize| record.args.get_mut(at)) {
                of.client_ref = Some(live);
            }
        }
        for (name, live) in refs.kwargs.0 {
            for (_, of) in record.kwargs.iter_mut().filter(|(own, _)| *own == name) {
                of.client_ref = Some(live.clone());
            }
        }
        if record.status.is_empty() {
            record.status = SUCCESS.to_owned();
        }
        Some(CallRecord { started_at: started_at?, completed_at: completed_at?, ..record })
    }
}

impl<'de> Object<'de> for RecordedCall {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let record = &mut self.record;
        let one = |cid: Option<String>| cid.map(|cid| LiveRef { cid, client_ref: None });
        match name {
            "method_name" => record.method_name = text(map)?.unwrap_or_default(),
            "signature" => record.signature = any(map)?,
            "target_cid" => record.target = one(text(map)?),
            "args" => record.args = refs(any(map)?),
            "kwargs" => {
                let Cids(named) = object(map)?.unwrap_or_default();
                let named = named.into_iter();
                record.kwargs =
                    named.map(|(name, cid)| (name, LiveRef { cid, client_ref: None })).collect();
            }
            "result_cid" => record.result = one(text(map)?),
            "exception_cid" => record.exception = one(text(map)?),
            "exception_type" => record.exception_type = text(map)?,
            "exception_message" => record.exception_message = text(map)?,
            "exception_traceback" => record.exception_traceback = text(map)?,
            "status" => record.status = text(map)?.unwrap_or_default(),
            "started_at" => self.started_at = number(map)?,
            "completed_at" => self.completed_at = number(map)?,
            "call_site" => record.site = object(map)?.unwrap_or_default(),
            "client_refs" => self.refs = object(map)?.unwrap_or_default(),
            name => return origin(&mut record.origin, name, map),
        }
        Ok(true)
    }
}

/// What a call is that says nothing of how it ended.
const SUCCESS: &str = "success";

fn refs(cids: Value) -> Vec<LiveRef> {
    let Value::Array(cids) = cids else { return Vec::new() };
    let of = |cid: Value| match cid {
        Value::String(cid) => LiveRef { cid, client_ref: None },
        _ => LiveRef::default(),
    };
    cids.into_iter().map(of).collect()
}

impl<'de> Object<'de> for Refs {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        match name {
            "target" => self.target = some_json(map)?,
            "args" => self.args = object(map)?.unwrap_or_default(),
            "kwargs" => self.kwargs = object(map)?.unwrap_or_default(),
            "result" => self.result = some_json(map)?,
            "exception" => self.exception = some_json(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> Object<'de> for Live {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        if let Some(live) = some_json(map)? {
            self.0.push((name.to_owned(), live));
        }
        Ok(true)
    }
}

impl<'de> Object<'de> for Cids {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        self.0.push((name.to_owned(), text(map)?.unwrap_or_default()));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_as_far_as_it_goes() {
        let body = r#"{"process_pid": 7, "process_start_time": "1.5", "batch_id": "b", "dropped": "2",
            "process": {"name": "app"}, "preferred_format": "json",
            "values": [{"cid": "v", "data": "1"}, 5],
            "calls": [{"method_name": "f", "started_at": 1, "completed_at": 2, "args": ["a", 3],
                "kwargs": {"k": "b"}, "result_cid": "r", "thread_id": 9,
                "client_refs": {"args": {"0": 11}, "kwargs": {"k": "x"}, "result": 12}},
                {"method_name": "g"}, "nothing", {"started_at": 1, "completed_at": 2}]}"#;
        let batch = read(body).unwrap().unwrap();
        assert_eq!((batch.process.pid, batch.dropped, batch.rejected), (7, 2, 3));
        assert_eq!((batch.values.len(), batch.format), (2, Format::Json));
        assert_eq!(batch.about, Some(json!({ "name": "app" })));
        let record = batch.records.first().unwrap();
        let live =
            |cid: &str, client_ref: Option<Value>| LiveRef { cid: cid.to_owned(), client_ref };
        assert_eq!(record.args, [live("a", Some(json!(11))), live("", None)]);
        assert_eq!(record.kwargs, [("k".to_owned(), live("b", Some(json!("x"))))]);
        assert_eq!(record.result, Some(live("r", Some(json!(12)))));
        assert_eq!(
            (record.status.as_str(), &record.origin.thread_id),
            ("success", &Some(json!(9)))
        );
        assert!(read(r#"{"calls": []}"#).unwrap().is_none());
    }
}
