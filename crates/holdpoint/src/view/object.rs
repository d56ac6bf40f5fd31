//! A captured value looked into, and a live object at one moment.

use holdpoint_engine::records::{Looked, ObjectSeen};
use serde_json::{Map, Value, json};

pub(crate) fn object(looked: &Looked) -> Value {
    let attributes: Map<String, Value> = looked.attributes.iter().cloned().collect();
    let mut json = json!({
        "cid": looked.cid,
        "type": looked.kind,
        "repr": looked.repr,
        "attributes": attributes,
        "size": looked.size,
        "format": looked.format,
    });
    if let Some(json) = json.as_object_mut() {
        if !looked.path.is_empty() {
            json.insert("path".to_owned(), json!(looked.path));
        }
        for (name, count) in [("length", looked.length), ("children_total", looked.children_total)]
        {
            if let Some(count) = count {
                json.insert(name.to_owned(), json!(count));
            }
        }
    }
    json
}

/// A value whose bytes cannot be read.
pub(crate) fn undecodable(cid: &str, why: &str) -> Value {
    json!({
        "cid": cid,
        "type": "unknown",
        "repr": format!("<deserialization failed: {why}>"),
        "attributes": {},
        "error": "deserialization_failed",
    })
}

/// A live object at one moment of one call.
pub(crate) fn object_at(seen: &ObjectSeen) -> Value {
    let ObjectSeen { at, shown } = seen;
    let mut json = json!({
        "timestamp": at.at,
        "call_id": at.call_id,
        "method_name": at.name,
        "role": at.role,
        "cid": at.cid.to_string(),
        "pretty": shown,
        "process_key": at.process,
        "client_ref": at.client_ref,
    });
    if let (Some(json), Some(place)) = (json.as_object_mut(), &at.place) {
        match at.role {
            "arg" => json.insert("index".to_owned(), json!(place.parse::<u64>().unwrap_or(0))),
            _ => json.insert("key".to_owned(), json!(place)),
        };
    }
    json
}
