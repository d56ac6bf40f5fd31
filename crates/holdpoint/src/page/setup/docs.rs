//! `/docs`: every HTTP endpoint, from our own OpenAPI document: what it takes and what it answers.

use std::sync::LazyLock;

use maud::{Markup, html};
use serde_json::Value;

use super::ticked;
use crate::{
    http::endpoints,
    page::{
        address::PageAddress,
        pieces::{icon, line},
        sheet::{LiveParts, Sheet},
    },
};

/// Made when the first page of it is shown.
static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(endpoints::document()).unwrap_or_default());

/// One method at one path.
struct Operation<'d> {
    method: &'d str,
    path: &'d str,
    said: &'d Value,
}

pub(super) fn sheet(at: &PageAddress) -> Sheet {
    let wanted = at.chosen("q").trim().to_lowercase();
    let all = operations(&DOCUMENT);
    let shown: Vec<_> = all.iter().filter(|it| it.holds(&wanted)).collect();
    let main = html! {
        header.bar {
            h1 { "API" } p.cut { (shown.len()) " of " (all.len()) " operations over HTTP; the same is " a href="/openapi.json" { code { "/openapi.json" } } "." }
            form.end.find role="search" method="get" action="/docs" {
                (icon("search")) label.hush for="q" { "Search" }
                input.in #q data-find type="search" name="q" value=(at.chosen("q")) placeholder="Path or word  ( / )" autocomplete="off" spellcheck="false";
            }
        }
        div.body.api {
            nav.panel.api-list aria-label="Operations" {
                ul { @for it in &shown { li { a href={ "#" (it.id()) } { (it.badge()) code { (line(it.path)) } } } } }
            }
            div.col {
                @if shown.is_empty() { section.panel { div.empty { b { "No operation holds that." } a href="/docs" { "Show all " (all.len()) } } } }
                @for it in &shown { (it.markup()) }
            }
        }
    };
    let parts = LiveParts::default();
    Sheet { title: "API".to_owned(), is_fill: false, shape: "docs", main, parts }
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document.get("paths").and_then(Value::as_object);
    let mut all = Vec::new();
    for (path, methods) in paths.into_iter().flatten() {
        for (method, said) in methods.as_object().into_iter().flatten() {
            all.push(Operation { method, path, said });
        }
    }
    all
}

impl Operation<'_> {
    fn holds(&self, wanted: &str) -> bool {
        let text = || format!("{} {} {}", self.method, self.path, self.said).to_lowercase();
        wanted.is_empty() || text().contains(wanted)
    }

    fn id(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        format!("{}{}", self.method, self.path.chars().map(plain).collect::<String>())
    }

    fn badge(&self) -> Markup {
        html! { span class={ "method " (self.method) } { (self.method.to_uppercase()) } }
    }

    fn markup(&self) -> Markup {
        let text = |name: &str| self.said.get(name).and_then(Value::as_str);
        let id = self.id();
        html! {
            section.panel id=(id) aria-labelledby={ (id) "-h" } {
                header { h2 id={ (id) "-h" } { (self.badge()) " " code { (line(self.path)) } } }
                @if let Some(about) = text("description").or_else(|| text("summary")) { p.pad { (ticked(about)) } }
                @let takes = self.takes();
                @if !takes.is_empty() {
                    table.rows.api-t {
                        thead { tr { th scope="col" { "Takes" } th scope="col" { "In" } th scope="col" { "What it is" } } }
                        tbody { @for (name, place, about) in &takes { tr { td { code { (line(name)) } } td.soft { (place) } td.soft { (ticked(about)) } } } }
                    }
                }
                table.rows.api-t {
                    thead { tr { th scope="col" { "Answers" } th scope="col" { span.hush { "With" } } } }
                    tbody { @for (status, about) in self.answers() { tr { td { code { (line(status)) } } td.soft { (ticked(about)) } } } }
                }
            }
        }
    }

    /// Name, place and meaning of all that it takes.
    fn takes(&self) -> Vec<(String, &'static str, String)> {
        let word = |it: &Value, name: &str| {
            it.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let given = self.said.get("parameters").and_then(Value::as_array);
        let mut takes: Vec<_> = given
            .into_iter()
            .flatten()
            .map(|it| {
                let place = if it.get("in").and_then(Value::as_str) == Some("path") {
                    "path"
                } else {
                    "query"
                };
                (word(it, "name"), place, word(it, "description"))
            })
            .collect();
        let schema = self.said.pointer("/requestBody/content/application~1json/schema");
        let named = schema.and_then(|it| it.get("$ref")?.as_str()?.rsplit('/').next());
        let schema = named
            .and_then(|name| DOCUMENT.pointer(&format!("/components/schemas/{name}")))
            .or(schema);
        let fields = schema.and_then(|it| it.get("properties")).and_then(Value::as_object);
        takes.extend(
            fields
                .into_iter()
                .flatten()
                .map(|(name, it)| (name.clone(), "body", word(it, "description"))),
        );
        if let Some(about) = self.said.pointer("/requestBody/description").and_then(Value::as_str) {
            takes.push(("body".to_owned(), "body", about.to_owned()));
        }
        takes
    }

    fn answers(&self) -> Vec<(&str, &str)> {
        let all = self.said.get("responses").and_then(Value::as_object);
        all.into_iter()
            .flatten()
            .map(|(status, it)| {
                (status.as_str(), it.get("description").and_then(Value::as_str).unwrap_or_default())
            })
            .collect()
    }
}
