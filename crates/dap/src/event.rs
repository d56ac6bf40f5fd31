//! What an adapter tells by itself.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{lenient::unlike, types as t};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The adapter takes breakpoints now. Comes before or after the answer to `launch`.
    Initialized,
    Stopped(t::StoppedEvent),
    Continued(t::ContinuedEvent),
    Exited(t::ExitedEvent),
    Terminated(t::TerminatedEvent),
    Thread(t::ThreadEvent),
    Output(t::OutputEvent),
    Breakpoint(t::BreakpointEvent),
    Module(t::ModuleEvent),
    LoadedSource(t::LoadedSourceEvent),
    Process(t::ProcessEvent),
    Capabilities(t::CapabilitiesChange),
    Invalidated(t::InvalidatedEvent),
    Memory(t::MemoryEvent),
    /// An event that we do not know, or a known one that could not be read.
    Other {
        event: String,
        body: Value,
    },
}

impl Event {
    /// Reads an event. One that is known and cannot be read says why.
    pub fn read(event: &str, body: &Value) -> Result<Event, String> {
        Ok(match event {
            "initialized" => Event::Initialized,
            "stopped" => Event::Stopped(known(body)?),
            "continued" => Event::Continued(known(body)?),
            "exited" => Event::Exited(known(body)?),
            "terminated" => Event::Terminated(known(body)?),
            "thread" => Event::Thread(known(body)?),
            "output" => Event::Output(known(body)?),
            "breakpoint" => Event::Breakpoint(known(body)?),
            "module" => Event::Module(known(body)?),
            "loadedSource" => Event::LoadedSource(known(body)?),
            "process" => Event::Process(known(body)?),
            "capabilities" => Event::Capabilities(t::CapabilitiesChange::read(body)?),
            "invalidated" => Event::Invalidated(known(body)?),
            "memory" => Event::Memory(known(body)?),
            other => Event::Other { event: other.to_owned(), body: body.clone() },
        })
    }
}

fn known<T: DeserializeOwned + Default>(body: &Value) -> Result<T, String> {
    match body {
        Value::Null => Ok(T::default()),
        Value::Object(_) => T::deserialize(body).map_err(|problem| problem.to_string()),
        other => Err(unlike("an object", other)),
    }
}
