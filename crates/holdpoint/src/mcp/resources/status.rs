//! `holdpoint://status`: what `server_status` says, as JSON.

use holdpoint_engine::{event::Topic, failure::Failure};
use rmcp::model::ResourceContents;

use super::{Resource, always, no_parts};
use crate::{app::App, tools::server::status::Report};

pub(super) const STATUS: Resource = Resource {
    uri: "holdpoint://status",
    name: "status",
    about: "Version, uptime, sessions, paused calls, clients, store",
    mime: "application/json",
    topic: Topic::Status,
    concerns: always,
    read: |app, uri, _| Box::pin(std::future::ready(read(app, uri))),
    parts: no_parts,
};

fn read(app: &App, uri: &str) -> Result<ResourceContents, Failure> {
    let json = serde_json::to_string(&Report::of(app))
        .map_err(|error| Failure::internal(format!("the status is not JSON: {error}")))?;
    Ok(ResourceContents::text(json, uri))
}
