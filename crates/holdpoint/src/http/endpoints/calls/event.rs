//! What an app tells beside its calls, as clients send it.

use holdpoint_engine::{callpoints::AppEvent, calls::call::AppProcess};
use serde::de::MapAccess;

use crate::http::endpoints::wire::{
    Object,
    fields::{Who, any, number, object, text},
    whole,
};

/// None when it does not say whose it is.
pub(super) fn read(text: &str) -> serde_json::Result<Option<(AppProcess, AppEvent)>> {
    let ReportedEvent { event, who, call_id } = whole(text)?;
    let id = event.id.or(call_id);
    Ok(who.process().map(|process| (process, AppEvent { id, ..event })))
}

#[derive(Default)]
pub(in crate::http) struct ReportedEvent {
    event: AppEvent,
    who: Who,
    call_id: Option<String>,
}

impl<'de> Object<'de> for ReportedEvent {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let event = &mut self.event;
        match name {
            "event_id" => event.id = text(map)?,
            "call_id" => self.call_id = text(map)?,
            "method_name" => event.name = text(map)?,
            "event_type" => event.event_type = text(map)?,
            "status" => event.status = text(map)?,
            "timestamp" => event.timestamp = number(map)?,
            "call_site" => event.site = object(map)?.unwrap_or_default(),
            "signature" => event.signature = any(map)?,
            "page_url" => event.page_url = text(map)?,
            "pretty_args" => event.said.pretty_args = any(map)?,
            "pretty_kwargs" => event.said.pretty_kwargs = any(map)?,
            "pretty_result" => event.said.pretty_result = any(map)?,
            "exception" => event.said.exception = any(map)?,
            name => {
                if let Some(field) = name.strip_prefix("result_") {
                    return event.result.take(field, map);
                }
                if let Some(field) = name.strip_prefix("exception_") {
                    return event.exception.take(field, map);
                }
                return self.who.take(name, map);
            }
        }
        Ok(true)
    }
}
