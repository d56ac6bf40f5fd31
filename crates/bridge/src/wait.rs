//! A wait that may be longer than a job: it is asked in slices, and what happens between two of them is not lost.
//!
//! Our own extension says with what the next slice begins where the last one ended (`details.again`). The public one
//! does not, and answers `{event: "timeout"}`.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Bridge, BridgeAnswer, BridgeError, limits};

/// What is waited for, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Waiting<'a> {
    pub script: &'a str,
    /// The parameter that says how long, in milliseconds.
    pub field: &'a str,
    pub within: Duration,
    /// What a job may take beside its wait.
    pub grace: Duration,
    /// When its caller is gone.
    pub until: Instant,
}

/// `None` where nothing happened in that time. `told` hears before each slice how much is left.
pub(crate) async fn wait(
    bridge: &Bridge,
    waiting: Waiting<'_>,
    mut params: Value,
    cancel: &CancellationToken,
    told: impl Fn(Duration),
) -> Result<Option<BridgeAnswer>, BridgeError> {
    let end = waiting.until.min(Instant::now() + waiting.within);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let slice = left.min(limits::WAIT_SLICE);
        let millis = u64::try_from(slice.as_millis()).unwrap_or(u64::MAX).max(1);
        put(&mut params, waiting.field, millis.into());
        told(left);
        let caller = waiting.until.saturating_duration_since(Instant::now());
        let timeout = (slice + waiting.grace).min(caller);
        match bridge.call(waiting.script, params.clone(), timeout, cancel).await {
            Ok(answer) if is_nothing(&answer.data) => {}
            Ok(answer) => return Ok(Some(answer)),
            Err(BridgeError::Script { code, details, .. }) if code == "E_TIMEOUT" => {
                let again = details.as_ref().and_then(|it| it.get("again")?.as_object());
                for (name, value) in again.into_iter().flatten() {
                    put(&mut params, name, value.clone());
                }
            }
            Err(error) => return Err(error),
        }
        if Instant::now() >= end {
            return Ok(None);
        }
    }
}

fn is_nothing(data: &Value) -> bool {
    data.get("event").and_then(Value::as_str) == Some("timeout")
}

fn put(params: &mut Value, name: &str, value: Value) {
    if let Some(params) = params.as_object_mut() {
        params.insert(name.to_owned(), value);
    }
}
