//! `holdpoint tools`: what there is, what it costs, and who reads it.

use std::process::ExitCode;

use rmcp::model::Tool as McpTool;
use serde_json::{Value, json};

use super::Command;
use crate::{
    catalogue::Catalogue, config::Config, mcp::agents::AGENTS, out, tool::first_sentence,
    tools::TOOLSETS,
};

/// Bytes of a tool list that cost one token, as measured over ours.
const BYTES_PER_TOKEN: f64 = 3.6;

/// List the tools
#[derive(clap::Parser)]
pub(crate) struct Tools {
    /// As JSON, with input schemas, as MCP clients see them
    #[arg(long)]
    json: bool,
    /// Instead: the clients that are known, what each shows its model, and where that was seen
    #[arg(long)]
    clients: bool,
    /// What each toolset and each tool costs a client at its start, in bytes and tokens
    #[arg(long, conflicts_with = "json")]
    sizes: bool,
}

impl Command for Tools {
    const NAME: &'static str = "tools";
    const TAKES: &'static [&'static str] = &["toolset"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        let toolset = &config.settings.toolset;
        match self {
            Tools { clients: true, json, .. } => print_clients(json),
            Tools { sizes: true, .. } => print_sizes(toolset),
            Tools { json, .. } => print_tools(toolset, json),
        }
    }
}

/// `holdpoint tools`.
fn print_tools(toolset: &[String], json: bool) -> anyhow::Result<ExitCode> {
    let catalogue = Catalogue::ours(toolset)?;
    if json {
        out::line(serde_json::to_string_pretty(catalogue.list())?);
        return Ok(ExitCode::SUCCESS);
    }
    out::line(
        "Call one by `holdpoint tool NAME '{json}'`. It needs no set-up: where no server runs, one is \
         started for this folder; it keeps your programs between calls and ends after ten idle minutes \
         or by `holdpoint stop`.\n",
    );
    let width = catalogue.tools().map(|tool| tool.entry.name().len()).max().unwrap_or_default();
    for tool in catalogue.tools() {
        let entry = &tool.entry;
        let names: Vec<&str> = parameters(tool.schema()).map(|(name, _)| name).collect();
        out::line(format_args!("{:width$}  {}", entry.name(), first_sentence(&entry.about())));
        if !names.is_empty() {
            out::line(format_args!("{:width$}  {}", "", names.join(", ")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `holdpoint tools --clients`.
fn print_clients(json: bool) -> anyhow::Result<ExitCode> {
    if json {
        let rows = AGENTS.iter().map(|it| {
            json!({
                "title": it.title, "names": it.names, "versions": it.versions,
                "shows": it.shows.as_str(), "limit": it.limit, "evidence": it.evidence,
            })
        });
        out::line(serde_json::to_string_pretty(&rows.collect::<Vec<Value>>())?);
        return Ok(ExitCode::SUCCESS);
    }
    out::line(
        "These clients get one text block; every other one gets text and JSON (see --structured).",
    );
    for it in AGENTS {
        let limit = it.limit.map(|it| format!(", cuts at {it} characters")).unwrap_or_default();
        let shows = it.shows.as_str().replace('_', " ");
        out::line(format_args!("{} ({}): of both it shows {shows}{limit}", it.title, it.versions));
        out::line(format_args!("    {}; seen in {}", it.names.join(", "), it.evidence));
    }
    Ok(ExitCode::SUCCESS)
}

/// `holdpoint tools --sizes`: what each toolset and each tool costs a client at its start.
fn print_sizes(toolset: &[String]) -> anyhow::Result<ExitCode> {
    out::line(format_args!("{:32} {:>5} {:>7} {:>7}", "toolset", "tools", "bytes", "tokens"));
    let sets = ["all"].into_iter().chain(TOOLSETS.iter().map(|set| set.name));
    for name in sets {
        let tools: Vec<McpTool> = listed(&[name.to_owned()])?;
        let bytes = list_bytes(&tools)?;
        let tokens = tokens(bytes);
        out::line(format_args!("{name:32} {:>5} {bytes:>7} {tokens:>7}", tools.len()));
    }
    out::line("");
    out::line(format_args!("{:32} {:>5} {:>7} {:>7}  in", "tool", "", "bytes", "tokens"));
    for tool in listed(toolset)? {
        let bytes = serde_json::to_string(&tool)?.len();
        let sets = TOOLSETS.iter().filter(|set| set.tools.contains(&tool.name.as_ref()));
        let sets: Vec<&str> = sets.map(|set| set.name).collect();
        let (name, tokens, sets) = (&tool.name, tokens(bytes), sets.join(", "));
        out::line(format!("{name:32} {:>5} {bytes:>7} {tokens:>7}  {sets}", "").trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(toolset: &[String]) -> anyhow::Result<Vec<McpTool>> {
    Ok(Catalogue::ours(toolset)?.list().to_vec())
}

/// As it goes over the wire: the result of `tools/list`.
fn list_bytes(tools: &[McpTool]) -> anyhow::Result<usize> {
    Ok(serde_json::to_string(&serde_json::json!({ "tools": tools }))?.len())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn tokens(bytes: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let bytes = bytes as f64;
    (bytes / BYTES_PER_TOKEN).ceil() as usize
}

/// The names of the parameters and what each is.
pub(super) fn parameters(
    schema: &serde_json::Map<String, Value>,
) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
}
