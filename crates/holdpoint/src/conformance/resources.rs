//! The resources the suite lists, reads and subscribes to.

use futures::future::BoxFuture;
use holdpoint_engine::{event::Topic, failure::Failure};
use rmcp::model::ResourceContents;
use serde_json::json;

use super::content::PNG;
use crate::mcp::resources::Resource;

pub(super) const RESOURCES: &[Resource] = &[STATIC_TEXT, STATIC_BINARY, WATCHED, TEMPLATE];

const STATIC_TEXT: Resource = Resource {
    uri: "test://static-text",
    name: "static-text",
    about: "A text that never changes",
    mime: "text/plain",
    topic: Topic::Status,
    concerns: |_, _| false,
    read: |_, uri, _| {
        now(ResourceContents::text("This is the content of the static text resource.", uri))
    },
    parts: |_| Vec::new(),
};

const STATIC_BINARY: Resource = Resource {
    uri: "test://static-binary",
    name: "static-binary",
    about: "An image that never changes",
    mime: "image/png",
    read: |_, uri, _| now(ResourceContents::blob(PNG, uri)),
    ..STATIC_TEXT
};

const WATCHED: Resource = Resource {
    uri: "test://watched-resource",
    name: "watched-resource",
    about: "A text that changes with every client that comes or goes",
    concerns: |_, _| true,
    read: |app, uri, _| {
        now(ResourceContents::text(format!("{} clients are connected.", app.clients.count()), uri))
    },
    ..STATIC_TEXT
};

const TEMPLATE: Resource = Resource {
    uri: "test://template/{id}/data",
    name: "template",
    about: "Data for whatever id the URI names",
    mime: "application/json",
    read: |_, uri, id| {
        let data = format!("Data for ID: {id}");
        let json = json!({ "id": id, "templateTest": true, "data": data });
        now(ResourceContents::text(json.to_string(), uri))
    },
    parts: |_| vec!["123".to_owned()],
    ..STATIC_TEXT
};

fn now(contents: ResourceContents) -> BoxFuture<'static, Result<ResourceContents, Failure>> {
    Box::pin(std::future::ready(Ok(contents)))
}
