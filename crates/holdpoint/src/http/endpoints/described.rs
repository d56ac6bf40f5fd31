//! The bodies that are read field by field into the engine's own types, described for OpenAPI. That each of
//! these names is one that is read is tested below.

use serde_json::Value;
use utoipa::ToSchema;

macro_rules! described {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)+ })+) => {$(
        $(#[$about])*
        #[derive(ToSchema)]
        #[expect(dead_code, reason = "describes; what is read goes into types of the engine")]
        pub(super) struct $name { $($(#[$doc])* $field: $type,)+ }
    )+};
}

described! {
    /// A value: with its data, or as a reference to data that came before.
    Item {
        /// SHA-512 of the bytes, in hex.
        cid: Option<String>,
        /// Base64 of a pickle, or JSON text.
        data: Option<String>,
        /// `dill` when not given, or `json`.
        serialization_format: Option<String>,
        /// The live object, as the app numbers it.
        client_ref: Option<Value>,
    }

    /// A call that begins.
    Start {
        /// What callpoints name.
        method_name: String,
        process_pid: i64,
        process_start_time: f64,
        target: Option<Item>,
        args: Option<Vec<Item>>,
        /// Values by name.
        kwargs: Option<Value>,
        /// `{timestamp, target_cid, stack_trace, page_url}`.
        call_site: Option<Value>,
        /// Text, or the number of parameters.
        signature: Option<Value>,
        page_url: Option<String>,
        /// `dill` when not given, or `json`: how decisions are written for this app.
        preferred_format: Option<String>,
        /// The same for a request that is sent again.
        idempotency_key: Option<String>,
        /// `proxy` or `inline`.
        call_type: Option<String>,
        thread_id: Option<Value>,
        thread_name: Option<String>,
        task: Option<Value>,
        /// Which client it is.
        client: Option<String>,
        /// A held poll would hold up the app's event loop.
        r#async: Option<bool>,
    }

    /// A call that has ended.
    Complete {
        call_id: String,
        /// `success` or `exception`.
        status: Option<String>,
        /// In seconds since 1970.
        timestamp: Option<f64>,
        process_pid: Option<i64>,
        process_start_time: Option<f64>,
        result_cid: Option<String>,
        result_data: Option<String>,
        result_serialization_format: Option<String>,
        result_client_ref: Option<Value>,
        exception_cid: Option<String>,
        exception_data: Option<String>,
        exception_serialization_format: Option<String>,
        exception_client_ref: Option<Value>,
        exception_type: Option<String>,
        exception_message: Option<String>,
        exception_traceback: Option<String>,
        /// Why the decision could not be carried out.
        action_error: Option<String>,
    }

    /// Something beside calls.
    Event {
        process_pid: i64,
        process_start_time: f64,
        event_id: Option<String>,
        call_id: Option<String>,
        method_name: Option<String>,
        event_type: Option<String>,
        status: Option<String>,
        timestamp: Option<f64>,
        call_site: Option<Value>,
        signature: Option<Value>,
        page_url: Option<String>,
        pretty_args: Option<Value>,
        pretty_kwargs: Option<Value>,
        pretty_result: Option<Value>,
        exception: Option<Value>,
        result_cid: Option<String>,
        result_data: Option<String>,
        result_serialization_format: Option<String>,
        exception_cid: Option<String>,
        exception_data: Option<String>,
        exception_serialization_format: Option<String>,
    }

    /// Calls that were recorded without asking.
    Batch {
        process_pid: i64,
        process_start_time: f64,
        /// The same for a batch that is sent again.
        batch_id: Option<String>,
        /// What the app says of itself.
        process: Option<Value>,
        preferred_format: Option<String>,
        /// Values that the calls name by their CIDs.
        values: Option<Vec<Item>>,
        calls: Vec<Ended>,
        /// How many calls the app could not keep.
        dropped: Option<u64>,
    }

    /// A recorded call, its values by CID.
    Ended {
        method_name: String,
        /// In seconds since 1970.
        started_at: f64,
        completed_at: f64,
        /// `success` when not given, or `exception`.
        status: Option<String>,
        signature: Option<Value>,
        target_cid: Option<String>,
        args: Option<Vec<String>>,
        /// CIDs by name.
        kwargs: Option<Value>,
        result_cid: Option<String>,
        exception_cid: Option<String>,
        exception_type: Option<String>,
        exception_message: Option<String>,
        exception_traceback: Option<String>,
        call_site: Option<Value>,
        /// Live objects: `{target, args: {place: ref}, kwargs: {name: ref}, result, exception}`.
        client_refs: Option<Value>,
        call_type: Option<String>,
        thread_id: Option<Value>,
        thread_name: Option<String>,
        task: Option<Value>,
        client: Option<String>,
    }

    /// A function of an app.
    Register {
        function_name: String,
        /// Text, or the number of parameters.
        signature: Option<Value>,
        function_metadata: Option<Value>,
        function_cid: Option<String>,
        function_data: Option<String>,
        function_serialization_format: Option<String>,
        function_client_ref: Option<Value>,
    }

    /// What an app found that evaluated an expression.
    Answer {
        eval_id: String,
        session_id: String,
        pause_id: String,
        result: Option<String>,
        stdout: Option<String>,
        /// Text, or `{name, message}`.
        error: Option<Value>,
        result_cid: Option<String>,
        result_data: Option<String>,
        result_serialization_format: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::calls::value;
    use serde::de::MapAccess;
    use utoipa::PartialSchema;

    use super::*;
    use crate::http::endpoints::{
        calls::{batch, ends, event},
        functions, repl,
        wire::{Object, whole},
    };

    /// Reads like the one inside, and notes what that does not know.
    #[derive(Default)]
    struct Spy<T> {
        inside: T,
        unknown: Vec<String>,
    }

    impl<'de, T: Object<'de>> Object<'de> for Spy<T> {
        fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
            let known = self.inside.take(name, map)?;
            if !known {
                self.unknown.push(name.to_owned());
            }
            Ok(known)
        }
    }

    fn unread<S: PartialSchema, T: for<'de> Object<'de>>() -> Vec<String> {
        let schema = serde_json::to_value(S::schema()).unwrap();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert!(!names.is_empty());
        let fields = names.iter().map(|name| (name.to_string(), Value::Null));
        let text = Value::Object(fields.collect()).to_string();
        whole::<Spy<T>>(&text).unwrap().unknown
    }

    #[test]
    fn what_is_described_is_what_is_read() {
        let none: [String; 0] = [];
        assert_eq!(unread::<Item, value::Item>(), none);
        assert_eq!(unread::<Start, ends::Begun>(), none);
        assert_eq!(unread::<Complete, ends::Ended>(), none);
        assert_eq!(unread::<Event, event::ReportedEvent>(), none);
        assert_eq!(unread::<Batch, batch::Shipped>(), none);
        assert_eq!(unread::<Ended, batch::RecordedCall>(), none);
        assert_eq!(unread::<Register, functions::Registered>(), none);
        assert_eq!(unread::<Answer, repl::Evaluated>(), none);
    }
}
