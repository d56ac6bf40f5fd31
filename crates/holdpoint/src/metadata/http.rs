//! A request to this machine. Where it goes stands in the file; no call, proxy or redirection leads elsewhere.

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    limits,
};
use holdpoint_metadata::{HttpCarrier, Method};
use reqwest::{Url, redirect::Policy};
use serde_json::{Map, Value, json};

use super::{
    arguments::{self, Given},
    render,
};
use crate::{
    tool::{Answer, Reply},
    web,
};

pub(super) async fn run(http: &HttpCarrier, given: &Given) -> Result<Reply, Failure> {
    let url = address(http, given)?;
    let client = web::build(web::builder(url.as_str()).no_proxy().redirect(Policy::none()))
        .map_err(|problem| Failure::internal(format!("no HTTP client: {problem}")))?;
    let method = match http.method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    };
    let mut request = client.request(method, url.clone());
    if !http.json.is_empty() {
        let body = body(http, given).to_string();
        request = request.header(reqwest::header::CONTENT_TYPE, "application/json").body(body);
    }
    let authority = &http.url.authority;
    let unanswered = |error: reqwest::Error| {
        let text = format!("{authority} does not answer: {}", web::reason(&error));
        Failure::new(Code::ToolFailed, text)
            .hint(format!("see that the service at {authority} runs"))
    };
    let response = request.send().await.map_err(unanswered)?;
    let status = response.status();
    let text = bounded(response).await.map_err(unanswered)?;
    told(status.as_u16(), status.is_success(), text)
}

fn told(status: u16, is_good: bool, text: String) -> Result<Reply, Failure> {
    if !is_good {
        let said = budget::cut(text.trim(), limits::TOOL_FAILED_OUTPUT);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        return Err(Failure::new(Code::ToolFailed, format!("the service answered {status}{said}"))
            .details(json!({ "status": status })));
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(data) => Ok(Answer::json(render::text(&data), data).into()),
        Err(_) if text.trim().is_empty() => {
            Ok(Answer::json(format!("done ({status})"), json!({ "status": status })).into())
        }
        Err(_) => {
            let data = json!({ "status": status, "body": text });
            Ok(Answer::json(text, data).into())
        }
    }
}

/// As much as a tool's answer may be.
async fn bounded(mut response: reqwest::Response) -> Result<String, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limits::TOOL_HTTP_BODY - body.len();
        body.extend(chunk.iter().take(room));
        if chunk.len() > room {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Parameters become parts of the path or of the query, and nothing else.
fn address(http: &HttpCarrier, given: &Given) -> Result<Url, Failure> {
    let begin = format!("http://{}", http.url.authority);
    let mut url = Url::parse(&begin)
        .map_err(|error| Failure::internal(format!("`{begin}` is no address: {error}")))?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.clear();
        for template in &http.url.segments {
            let text = given.text(template).unwrap_or_default();
            let is_param = template.params().next().is_some();
            // These would be read as steps, or as nothing.
            if is_param && ["", ".", ".."].contains(&text.as_str()) {
                let name = template.params().next().unwrap_or_default();
                let text = format!("parameter `{name}`: `{text}` is no part of an address");
                return Err(Failure::new(Code::InvalidParams, text).hint("pass a name or a number"));
            }
            segments.push(&text);
        }
    }
    let query: Vec<(&str, String)> = http
        .query
        .iter()
        .filter_map(|(name, template)| Some((name.as_str(), given.text(template)?)))
        .collect();
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url)
}

/// A member that is one parameter is its value; any other is text.
fn body(http: &HttpCarrier, given: &Given) -> Value {
    let mut body = Map::new();
    for (name, template) in &http.json {
        let value = match template.only_param() {
            Some(param) => given.get(param).map(arguments::json),
            None => given.text(template).map(Value::String),
        };
        if let Some(value) = value {
            body.insert(name.clone(), value);
        }
    }
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use holdpoint_metadata::{Carrier, ToolSpec};

    use super::*;

    const FILE: &str = "\
name: item_get
title: Get
description: Get it.
when_to_use: Always.
response: query
timeout_ms: 1000
parameters:
  id: {type: string, required: true, description: Which.}
  more: {type: string, description: More.}
parameter_hints:
  id: {examples: [a]}
  more: {examples: [b]}
examples: [{id: a}]
safety: {idempotent: true, read_only: true, destructive: false}
run:
  http: {method: GET, url: 'http://localhost:81/items/{id}/', query: {q: '{more}'}}
";

    fn at(arguments: Value) -> Result<String, Failure> {
        let spec = ToolSpec::read(FILE).unwrap();
        let Carrier::Http(http) = &spec.run else { panic!("it is a request") };
        let given = Given::of(&spec, arguments.as_object().unwrap().clone(), Path::new("/ws"))?;
        address(http, &given).map(|url| url.to_string())
    }

    #[test]
    fn a_value_is_a_part_of_the_path_and_no_more() {
        assert_eq!(at(json!({"id": "7"})).unwrap(), "http://127.0.0.1:81/items/7/");
        let odd = at(json!({"id": "../x?y#z@h", "more": "a&b=c"})).unwrap();
        assert_eq!(odd, "http://127.0.0.1:81/items/..%2Fx%3Fy%23z@h/?q=a%26b%3Dc");
        for id in ["..", ".", ""] {
            assert!(at(json!({"id": id})).unwrap_err().message.contains("no part of an address"));
        }
    }
}
