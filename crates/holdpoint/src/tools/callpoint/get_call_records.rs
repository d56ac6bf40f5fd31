//! `breakpoint_get_call_records`: what was called, newest first.

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    records::RecordQuery,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::refuse;
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::{call, short},
};

pub(crate) struct GetCallRecords;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    function_name: Option<String>,
    limit: Option<i64>,
    /// In seconds since 1970.
    completed_after: Option<f64>,
    completed_before: Option<f64>,
    search: Option<String>,
    /// `next` of an earlier answer.
    before: Option<i64>,
    /// Stacks, whole CIDs.
    #[serde(default)]
    full: bool,
}

impl Tool for GetCallRecords {
    const NAME: &'static str = "breakpoint_get_call_records";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What was a function called with, what did it return: recorded \
        calls of apps, newest first.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Recorded calls";
    const LONG: bool = true;
    const OLD_NAMES: &'static [(&'static str, &'static str)] =
        &[("since", "completed_after"), ("until", "completed_before")];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, boundary: Call) -> Result<Reply, Failure> {
        let limit = params.limit.unwrap_or(limits::RECORDS_PAGE as i64);
        let Some(limit) = usize::try_from(limit).ok().filter(|limit| *limit >= 1) else {
            let message = "limit must be >= 1";
            return Ok(refuse("invalid_limit", json!({ "limit": limit, "message": message })));
        };
        let wanted = RecordQuery {
            name: params.function_name,
            since: params.completed_after,
            until: params.completed_before,
            search: params.search,
            before: params.before,
            limit,
            ..RecordQuery::default()
        };
        let page = app.engine.callpoints().await.records.page(wanted).await;
        let page = page.map_err(|error| Failure::new(Code::StoreFailed, error.to_string()))?;
        let budget = boundary.asked_budget;
        let calls = page.calls.iter().map(call::record);
        let calls = calls.map(|it| short::without(app.engine.secrets(), it));
        let (calls, left_out) = match params.full {
            true => short::fit(calls, budget),
            false => short::fit(calls.map(|it| short::call(&it)), budget),
        };
        let last = calls.len().checked_sub(1).and_then(|at| page.calls.get(at)).map(|it| it.id);
        let next = if left_out > 0 { last } else { page.next };
        let shown = calls.len();
        let mut answer = json!({
            "calls": calls, "total_count": page.total, "truncated": next.is_some(),
        });
        if let (Some(answer), Some(next)) = (answer.as_object_mut(), next) {
            answer.insert("next".to_owned(), json!(next));
            if left_out > 0 {
                answer.insert("left_out".to_owned(), json!(left_out));
            }
            let hint =
                format!("{shown} of {}, the newest; older ones: `before: {next}`", page.total);
            answer.insert("hint".to_owned(), json!(hint));
        }
        Ok(Reply::Json(answer))
    }
}
