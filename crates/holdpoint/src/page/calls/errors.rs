//! What apps say went wrong between them and the server: the last of them, each with all that was said.

use holdpoint_engine::{callpoints::Callpoints, failure::Failure, limits};
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::{
    app::App,
    page::{
        address::PageAddress,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
) -> Result<Sheet, Failure> {
    let mut parts = LiveParts::default();
    let tabs = super::tabs(app, calls, "/calls/errors", &mut parts).await?;
    let search = at.chosen("search").to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let mut all = calls.com_errors();
    all.reverse();
    let total = all.len();
    let clean: Vec<(Map<String, Value>, String)> =
        all.into_iter().map(|it| written(app, it)).collect();
    let found: Vec<&(Map<String, Value>, String)> = clean
        .iter()
        .filter(|(_, text)| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
        .collect();
    let main = html! {
        header.bar { h1 { "Calls" } p.cut { "What apps say went wrong between them and here, the newest first." }
            form.end.find.narrow method="get" action=(at.path()) role="search" {
                (icon("search")) label.hush for="eq" { "Search" }
                input.in #eq name="search" data-find type="search" placeholder="Words in all of it" value=(at.chosen("search"));
            }
        }
        (tabs)
        div.body {
            section.panel aria-labelledby="e-h" {
                header { h2 #e-h { "Trouble" } small #e-n { (parts.put("e-n", html! { (found.len()) " of " (total) })) } }
                ul.errors #errors { (parts.put("errors", list(&found, total))) }
            }
        }
    };
    Ok(Sheet { title: "Trouble of apps".to_owned(), is_fill: false, shape: "errors", main, parts })
}

/// One without its secrets, and as text.
fn written(app: &App, error: Map<String, Value>) -> (Map<String, Value>, String) {
    let mut json = Value::Object(error);
    app.engine.secrets().json(&mut json);
    let text = serde_json::to_string_pretty(&json).unwrap_or_default();
    let Value::Object(error) = json else { return (Map::new(), text) };
    (error, text)
}

fn list(found: &[&(Map<String, Value>, String)], total: usize) -> Markup {
    html! {
        @if found.is_empty() {
            li.none { @if total == 0 { p.pad.quiet { "None. What an app’s client reports shows up here." } } @else { p.pad.quiet { "None of " (total) " is like that." } } }
        }
        @for (error, text) in found.iter().take(limits::CALLS_LISTED) {
            @let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
            @let at = error.get("received_at").and_then(Value::as_f64).unwrap_or_default();
            li data-k={ "e" (at) } {
                details {
                    summary { (pieces::moment(at)) b { (pieces::line(word("summary"))) } code { (pieces::line(word("method"))) " " (pieces::line(word("path"))) }
                        @if let Some(pid) = error.get("process_pid") { span.quiet { "pid " (pieces::line(&pid.to_string())) } } }
                    pre tabindex="0" { (pieces::block(text)) }
                }
            }
        }
    }
}
