//! A call that waits for a decision.

use holdpoint_engine::callpoints::{behavior::Moment, paused::Paused};
use serde_json::{Value, json};

use super::call;

pub(crate) fn pause(paused: &Paused) -> Value {
    let mut data = call::data(&paused.seen);
    if paused.moment != Moment::Before {
        data.extend(call::outcome(&paused.seen));
    }
    data.insert("pause_reason".to_owned(), json!(paused.moment.reason()));
    json!({
        "id": paused.id,
        "line": paused.seen.call.line(),
        "call_data": data,
        "paused_at": paused.paused_at,
        "repl_sessions": paused.repl_sessions,
        "phase": if paused.moment == Moment::Before { "before" } else { "after" },
        "waiting": paused.is_waiting,
        "post_mortem": paused.is_post_mortem,
        "last_seen_s": (paused.silence.as_secs_f64() * 10.0).round() / 10.0,
    })
}
