//! Everything the inspector tells unasked, as one closed enum.

use serde_json::Value;

use super::{
    debugger::{BreakpointResolved, Paused, ScriptParsed},
    runtime::{BindingCalled, ConsoleApiCalled, ContextCreated, ContextDestroyed, ExceptionThrown},
    worker::{Attached, Detached},
};
use crate::message;

#[derive(Clone, Debug)]
pub enum Event {
    Paused(Box<Paused>),
    Resumed,
    ScriptParsed(Box<ScriptParsed>),
    ScriptFailedToParse(Box<ScriptParsed>),
    BreakpointResolved(BreakpointResolved),
    ConsoleApiCalled(Box<ConsoleApiCalled>),
    ExceptionThrown(Box<ExceptionThrown>),
    ContextCreated(ContextCreated),
    /// Not the end of the program: `vm` contexts come and go. See [`Event::WaitingForDisconnect`].
    ContextDestroyed(ContextDestroyed),
    ContextsCleared,
    BindingCalled(BindingCalled),
    /// The program is over; its process stays until we disconnect.
    WaitingForDisconnect,
    WorkerAttached(Box<Attached>),
    WorkerDetached(Detached),
    /// An event without a type here, or a known one that did not fit its type.
    Other {
        method: String,
        params: Value,
    },
}

impl Event {
    pub(crate) fn read(method: &str, params: &str) -> Event {
        Event::known(method, params).unwrap_or_else(|| Event::Other {
            method: method.to_owned(),
            // Nested deeper than we parse: the name still says what happened.
            params: message::parse(method, params).unwrap_or(Value::Null),
        })
    }

    /// A flood of these loses some and says so, where any other event must arrive.
    pub(crate) fn may_be_dropped(&self) -> bool {
        matches!(self, Event::ConsoleApiCalled(_))
    }

    fn known(method: &str, params: &str) -> Option<Event> {
        let event = match method {
            "Debugger.paused" => message::parse(method, params).map(Event::Paused),
            "Debugger.resumed" => Ok(Event::Resumed),
            "Debugger.scriptParsed" => message::parse(method, params).map(Event::ScriptParsed),
            "Debugger.scriptFailedToParse" => {
                message::parse(method, params).map(Event::ScriptFailedToParse)
            }
            "Debugger.breakpointResolved" => {
                message::parse(method, params).map(Event::BreakpointResolved)
            }
            "Runtime.consoleAPICalled" => {
                message::parse(method, params).map(Event::ConsoleApiCalled)
            }
            "Runtime.exceptionThrown" => message::parse(method, params).map(Event::ExceptionThrown),
            "Runtime.executionContextCreated" => {
                message::parse(method, params).map(Event::ContextCreated)
            }
            "Runtime.executionContextDestroyed" => {
                message::parse(method, params).map(Event::ContextDestroyed)
            }
            "Runtime.executionContextsCleared" => Ok(Event::ContextsCleared),
            "Runtime.bindingCalled" => message::parse(method, params).map(Event::BindingCalled),
            "NodeRuntime.waitingForDisconnect" => Ok(Event::WaitingForDisconnect),
            "NodeWorker.attachedToWorker" => {
                message::parse(method, params).map(Event::WorkerAttached)
            }
            "NodeWorker.detachedFromWorker" => {
                message::parse(method, params).map(Event::WorkerDetached)
            }
            _ => return None,
        };
        event.inspect_err(|error| tracing::warn!(%error, "an event does not fit its type")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_event_that_does_not_fit_is_kept_as_it_came() {
        let Event::Other { method, params } = Event::read("Debugger.paused", r#"{"callFrames":3}"#)
        else {
            panic!("typed");
        };
        assert_eq!(method, "Debugger.paused");
        assert_eq!(params["callFrames"], 3);
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_absent() {
        let Event::Paused(paused) = Event::read("Debugger.paused", r#"{"reason":"x","new":[1]}"#)
        else {
            panic!("not typed");
        };
        assert_eq!((paused.reason.as_str(), paused.call_frames.len()), ("x", 0));
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(params in ".*") {
            for method in ["Debugger.paused", "Debugger.scriptParsed", "NodeWorker.attachedToWorker"] {
                Event::read(method, &params);
            }
        }
    }
}
