//! Input schemas with something unusual in them.

use std::sync::Arc;

use holdpoint_engine::{failure::Failure, limits};
use rmcp::model::{CallToolResponse, JsonObject, Tool as McpTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fixture::{Client, FIXTURES, Fixture, text};
use crate::tool::{
    Entry, Reply,
    entry::{Described, RunFuture},
};

/// A parameter that clients also send as a header, for who routes by it (SEP-2243).
pub(super) struct Header;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct HeaderParams {
    /// Where to work.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
}

impl Fixture for Header {
    const NAME: &'static str = "test_header_parameter";
    const ABOUT: &'static str = "Repeats a parameter that also travels as a header.";
    type Params = HeaderParams;

    async fn answer(_: Client, params: HeaderParams) -> Result<CallToolResponse, Failure> {
        Ok(text(params.region.unwrap_or_default()))
    }
}

/// A schema with what JSON Schema 2020-12 brought, which must reach clients whole (SEP-1613, SEP-2106): as a
/// tool that is described, not a type.
pub(super) fn draft_2020() -> Entry {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let about = "Tool with JSON Schema 2020-12 features";
    let run = |_, given: JsonObject| -> RunFuture {
        let answer = text(Value::Object(given).to_string());
        Box::pin(std::future::ready(Ok(Reply::Raw(Box::new(answer)))))
    };
    Entry::from(Described {
        tool: McpTool::new("json_schema_2020_12_tool", about, schema),
        family: FIXTURES.clone(),
        toolsets: Vec::new(),
        origin: "the conformance suite".to_owned(),
        timeout: limits::TOOL_TIMEOUT,
        unlisted: None,
        run: Arc::new(run),
    })
}
