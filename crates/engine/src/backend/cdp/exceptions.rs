//! Which exceptions stop the program. V8 knows caught and uncaught; what an exception is, we ask it.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use holdpoint_cdp::types::{
    Paused, RemoteObject,
    debugger::{PauseOn, SetPauseOnExceptions},
    runtime::CallFunctionOn,
};

use super::{Cdp, inspect};
use crate::{backend::Exceptions, failure::Failure, limits};

/// What one thread is to stop for.
#[derive(Default)]
pub(super) struct Wanted {
    exceptions: Mutex<Exceptions>,
    /// An ES module of the user's is loaded: what it throws looks caught to V8.
    has_modules: AtomicBool,
    /// How many caught exceptions were looked at for that.
    looks: AtomicU32,
}

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
    let wanted = &cdp.known.exceptions;
    wanted.exceptions.lock().unwrap_or_else(PoisonError::into_inner).clone_from(exceptions);
    apply(cdp).await
}

/// From here on it matters what looks caught.
pub(super) async fn saw_module(cdp: &Cdp) {
    if !cdp.known.exceptions.has_modules.swap(true, Ordering::Relaxed)
        && let Err(failure) = apply(cdp).await
    {
        tracing::debug!(%failure, "what a module throws is seen late");
    }
}

/// A caught exception was looked at. Each look costs a moment, so there are not many.
pub(super) async fn looked(cdp: &Cdp) {
    let looks = cdp.known.exceptions.looks.fetch_add(1, Ordering::Relaxed);
    if looks + 1 == limits::LOOKS
        && let Err(failure) = apply(cdp).await
    {
        tracing::debug!(%failure, "caught exceptions are still looked at");
    }
}

pub(super) fn wants_caught(cdp: &Cdp) -> bool {
    wanted(cdp).caught
}

pub(super) fn wants_uncaught(cdp: &Cdp) -> bool {
    let wanted = wanted(cdp);
    // Node has no code between the user's own and nothing: what leaves it is uncaught.
    wanted.uncaught || wanted.user_unhandled
}

fn wanted(cdp: &Cdp) -> Exceptions {
    let wanted = &cdp.known.exceptions.exceptions;
    wanted.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

async fn apply(cdp: &Cdp) -> Result<(), Failure> {
    let exceptions = wanted(cdp);
    let all = &cdp.known.exceptions;
    let is_looking = all.has_modules.load(Ordering::Relaxed)
        && cdp.known.has_boot.load(Ordering::Relaxed)
        && all.looks.load(Ordering::Relaxed) < limits::LOOKS;
    let state = match (wants_uncaught(cdp), exceptions.caught) {
        (_, true) => PauseOn::All,
        (true, false) if is_looking => PauseOn::All,
        (true, false) => PauseOn::Uncaught,
        (false, false) => PauseOn::None,
    };
    cdp.ask(SetPauseOnExceptions { state }).await.map(drop)
}

/// Whether V8 stopped at an exception that nobody asked for.
pub(super) async fn is_nobodys(cdp: &Cdp, paused: &Paused) -> bool {
    let types = wanted(cdp).types;
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
