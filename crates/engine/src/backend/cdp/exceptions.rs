//! Which exceptions stop the program. V8 knows caught and uncaught; what an exception is, we ask it.

use std::sync::PoisonError;

use holdpoint_cdp::types::{
    Paused, RemoteObject,
    debugger::{PauseOn, SetPauseOnExceptions},
    runtime::CallFunctionOn,
};

use super::{Cdp, inspect};
use crate::{backend::Exceptions, failure::Failure};

/// The names of what was thrown: of its classes, and the one it goes by.
const NAMES: &str = "function () { const names = []; \
     for (let it = this; it != null; it = Object.getPrototypeOf(it)) { \
         const own = Object.getOwnPropertyDescriptor(it, 'constructor')?.value?.name; \
         if (typeof own === 'string') names.push(own); \
         const goes = Object.getOwnPropertyDescriptor(it, 'name')?.value; \
         if (typeof goes === 'string') names.push(goes); \
         if (names.length > 64) break; } \
     return names; }";

pub(super) async fn set(cdp: &Cdp, exceptions: &Exceptions) -> Result<(), Failure> {
    // Node has no code between the user's own and nothing: what leaves it is uncaught.
    let uncaught = exceptions.uncaught || exceptions.user_unhandled;
    let state = match (uncaught, exceptions.caught) {
        (_, true) => PauseOn::All,
        (true, false) => PauseOn::Uncaught,
        (false, false) => PauseOn::None,
    };
    cdp.known.types.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&exceptions.types);
    cdp.ask(SetPauseOnExceptions { state }).await.map(drop)
}

/// Whether V8 stopped at an exception that nobody asked for.
pub(super) async fn is_nobodys(cdp: &Cdp, paused: &Paused) -> bool {
    let types = cdp.known.types.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // A breakpoint on the same place still counts.
    if types.is_empty() || !inspect::is_exception(paused) || !paused.hit_breakpoints.is_empty() {
        return false;
    }
    let names = names(cdp, paused).await;
    !names.iter().any(|name| types.contains(name))
}

async fn names(cdp: &Cdp, paused: &Paused) -> Vec<String> {
    let thrown: Option<RemoteObject> =
        paused.data.clone().and_then(|data| serde_json::from_value(data).ok());
    let Some(thrown) = thrown else { return Vec::new() };
    let Some(object_id) = thrown.object_id else {
        // `throw 'text'`: its type is all there is.
        return vec![thrown.kind];
    };
    let command = CallFunctionOn {
        function_declaration: NAMES.to_owned(),
        object_id: Some(object_id),
        return_by_value: true,
        silent: true,
        ..CallFunctionOn::default()
    };
    match cdp.ask(command).await {
        Ok(answer) => {
            let names = answer.result.value.unwrap_or_default();
            serde_json::from_value(names).unwrap_or_default()
        }
        Err(failure) => {
            tracing::debug!(%failure, "what was thrown is unknown");
            Vec::new()
        }
    }
}
