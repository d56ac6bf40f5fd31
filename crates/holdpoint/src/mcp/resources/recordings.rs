//! `holdpoint://recordings`: the recorded runs that are kept.

use holdpoint_engine::event::Topic;
use rmcp::model::ResourceContents;
use serde_json::json;

use super::{Resource, always, no_parts};

pub(super) const RECORDINGS: Resource = Resource {
    uri: "holdpoint://recordings",
    name: "recordings",
    about: "Recorded runs that are kept, the newest first; `record_run` makes one",
    mime: "application/json",
    topic: Topic::Status,
    concerns: always,
    read: |app, uri, _| {
        Box::pin(async move {
            let all = app.engine.recordings.list();
            Ok(ResourceContents::text(json!({ "recordings": all }).to_string(), uri))
        })
    },
    parts: no_parts,
};
