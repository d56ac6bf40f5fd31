//! The only list of resources: what a client can read, and be told of when it changes.
//!
//! A resource whose `uri` has a `{part}` is a template; the part is given to `read`.

mod callpoints;
mod recordings;
mod status;
mod timeline;

use futures::future::BoxFuture;
use holdpoint_engine::{
    budget,
    event::{Event, Topic},
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{Resource as McpResource, ResourceContents, ResourceTemplate};
use serde_json::json;

pub(in crate::mcp) use self::callpoints::recent;
use crate::{app::App, catalogue::Catalogue};

/// Reads a resource: its app, its whole address and the part that a template leaves open.
pub(crate) type ReadResource =
    for<'a> fn(&'a App, &'a str, &'a str) -> BoxFuture<'a, Result<ResourceContents, Failure>>;

pub(crate) struct Resource {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) mime: &'static str,
    /// A change of this topic changes the resource.
    pub(crate) topic: Topic,
    /// Whether an event of the topic really changes the resource that `part` names.
    pub(crate) concerns: fn(event: &Event, part: &str) -> bool,
    pub(crate) read: ReadResource,
    /// What the part may be, for completion.
    pub(crate) parts: fn(app: &App) -> Vec<String>,
}

pub(crate) const RESOURCES: &[Resource] = &[
    status::STATUS,
    recordings::RECORDINGS,
    timeline::TIMELINE,
    timeline::OF_KIND,
    callpoints::STATUS,
    callpoints::BREAKPOINTS,
    callpoints::PAUSED,
    callpoints::CALL_HISTORY,
    callpoints::FUNCTIONS,
];

impl Resource {
    /// The part of `uri` that a template leaves open; empty for a plain resource.
    fn part_of<'u>(&self, uri: &'u str) -> Option<&'u str> {
        let Some((before, rest)) = self.uri.split_once('{') else {
            return (uri == self.uri).then_some("");
        };
        let (_, after) = rest.split_once('}')?;
        let part = uri.strip_prefix(before)?.strip_suffix(after)?;
        (!part.is_empty() && !part.contains('/')).then_some(part)
    }

    fn is_template(&self) -> bool {
        self.uri.contains('{')
    }
}

pub(super) fn list(catalogue: &Catalogue) -> Vec<McpResource> {
    let resources = catalogue.resources;
    let plain = resources.iter().filter(|resource| !resource.is_template());
    plain
        .map(|resource| {
            McpResource::new(resource.uri, resource.name)
                .with_description(catalogue.mentions.description(resource.about))
                .with_mime_type(resource.mime)
        })
        .collect()
}

pub(super) fn templates(catalogue: &Catalogue) -> Vec<ResourceTemplate> {
    let resources = catalogue.resources;
    let templates = resources.iter().filter(|resource| resource.is_template());
    templates
        .map(|resource| {
            ResourceTemplate::new(resource.uri, resource.name)
                .with_description(catalogue.mentions.description(resource.about))
                .with_mime_type(resource.mime)
        })
        .collect()
}

/// Existing clients of `breakpoint://` add queries and slashes, which mean nothing there.
fn plain(uri: &str) -> &str {
    match uri.strip_prefix("breakpoint://") {
        Some(_) => uri.split(['?', '#']).next().unwrap_or(uri).trim_end_matches('/'),
        None => uri,
    }
}

/// The resource that a URI names, with the part it names.
pub(super) fn find<'u>(app: &App, uri: &'u str) -> Result<(&'static Resource, &'u str), Failure> {
    let resources = app.catalogue.resources;
    let uri = plain(uri);
    let found = resources.iter().find_map(|it| it.part_of(uri).map(|part| (it, part)));
    found.ok_or_else(|| {
        let known: Vec<&str> = resources.iter().map(|resource| resource.uri).collect();
        Failure::new(Code::NotFound, format!("no resource `{}`", budget::cut(uri, limits::ECHO)))
            .hint(format!("resources: {}", known.join(", ")))
            // Programs look for it in the error's data (SEP-2164).
            .details(json!({ "uri": uri }))
    })
}

pub(super) async fn read(app: &App, uri: &str) -> Result<Vec<ResourceContents>, Failure> {
    let (resource, part) = find(app, uri)?;
    let contents = without_secrets(app, (resource.read)(app, uri, part).await?);
    Ok(vec![contents.with_mime_type(resource.mime)])
}

/// As the answers of tools are: a model reads it.
fn without_secrets(app: &App, mut contents: ResourceContents) -> ResourceContents {
    if let ResourceContents::TextResourceContents { text, .. } = &mut contents {
        let secrets = app.engine.secrets();
        match serde_json::from_str(text) {
            Ok(mut json) => {
                secrets.json(&mut json);
                *text = json.to_string();
            }
            Err(_) => *text = secrets.text(text).into_owned(),
        }
    }
    contents
}

/// Whether `uri` reads differently after `event`.
pub(super) fn changed(app: &App, uri: &str, event: &Event) -> bool {
    find(app, uri).is_ok_and(|(resource, part)| {
        event.touches().contains(&resource.topic) && (resource.concerns)(event, part)
    })
}

/// For resources without a part.
fn no_parts(_: &App) -> Vec<String> {
    Vec::new()
}

fn always(_: &Event, _: &str) -> bool {
    true
}
