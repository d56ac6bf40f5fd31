//! `POST /api/call/batch`: what our own clients recorded without asking.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use holdpoint_engine::callpoints::{
    Record,
    call::Process,
    value::{Format, Item},
};
use serde_json::{Value, json, value::RawValue};

use super::{
    body::Sent,
    process,
    wire::{Fields, fingerprint},
};
use crate::app::App;

struct Batch {
    process: Process,
    id: Option<u64>,
    about: Option<Value>,
    format: Format,
    values: Vec<Item>,
    records: Vec<Record>,
    rejected: usize,
    dropped: u64,
}

#[utoipa::path(post, path = "/api/call/batch", responses(
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
    let parsed = sent.parse_batch(parse).await;
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

fn parse(fields: &Fields<'_>) -> Option<Batch> {
    let process = process(fields)?;
    let calls = fields.objects("calls");
    let all = calls.len();
    let records: Vec<Record> = calls.into_iter().flatten().filter_map(|it| record(&it)).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let dropped = fields.number("dropped").unwrap_or_default().max(0.0) as u64;
    Some(Batch {
        id: fields
            .text("batch_id")
            .map(|id| fingerprint(format!("batch {} {id}", process.key()).as_bytes())),
        about: Some(fields.json("process")).filter(|about| !about.is_null()),
        format: fields
            .text("preferred_format")
            .and_then(|it| Format::parse(&it))
            .unwrap_or_default(),
        values: fields.items("values"),
        rejected: all - records.len(),
        records,
        dropped,
        process,
    })
}

fn record(fields: &Fields<'_>) -> Option<Record> {
    use holdpoint_engine::callpoints::Ref;
    let refs = fields.object("client_refs");
    let live = |group: Option<&str>, key: &str| {
        let refs = refs.as_ref()?;
        let value = match group {
            Some(group) => refs.object(group)?.json(key),
            None => refs.json(key),
        };
        Some(value).filter(|value| !value.is_null())
    };
    let one = |field: &str, role: &str| {
        fields.text(field).map(|cid| Ref { cid, client_ref: live(None, role) })
    };
    let texts: Vec<Option<String>> = match fields.json("args") {
        Value::Array(cids) => cids.iter().map(|cid| cid.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let args = texts.into_iter().enumerate().map(|(at, cid)| Ref {
        cid: cid.unwrap_or_default(),
        client_ref: live(Some("args"), &at.to_string()),
    });
    let named = fields.named("kwargs").into_iter().map(|(name, raw): (String, &RawValue)| {
        let cid = serde_json::from_str(raw.get()).unwrap_or_default();
        let client_ref = live(Some("kwargs"), &name);
        (name, Ref { cid, client_ref })
    });
    Some(Record {
        method_name: fields.text("method_name")?,
        signature: fields.json("signature"),
        target: one("target_cid", "target"),
        args: args.collect(),
        kwargs: named.collect(),
        result: one("result_cid", "result"),
        exception: one("exception_cid", "exception"),
        exception_type: fields.text("exception_type"),
        exception_message: fields.text("exception_message"),
        exception_traceback: fields.text("exception_traceback"),
        status: fields.text("status").unwrap_or_else(|| "success".to_owned()),
        started_at: fields.number("started_at")?,
        completed_at: fields.number("completed_at")?,
        origin: fields.origin(),
        site: fields.site(),
    })
}
