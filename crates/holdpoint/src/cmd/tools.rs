//! `holdpoint tools`: what there is, what it costs, and who reads it.

mod files;

use std::process::ExitCode;

use rmcp::model::Tool as McpTool;
use serde_json::{Value, json};

use super::Command;
use crate::{
    catalogue::{Catalogue, Mounted},
    config::Config,
    mcp::agents::AGENTS,
    out,
    tool::first_sentence,
    tools::TOOLSETS,
};

/// Bytes of a tool list that cost one token, as measured over ours.
const BYTES_PER_TOKEN: f64 = 3.6;

/// List the tools, and decide about those that the workspace brings along
#[derive(clap::Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tools {
    #[command(subcommand)]
    action: Option<files::Action>,
    /// Only this tool: what it does, and what each of its parameters is
    name: Option<String>,
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
            Tools { action: Some(action), .. } => action.run(),
            Tools { clients: true, json, .. } => print_clients(json),
            Tools { sizes: true, .. } => print_sizes(toolset),
            Tools { name: Some(name), json: false, .. } => super::tool::about(&name),
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

/// A tool with all that it takes, for a person or a model that has only a shell.
pub(super) fn about(tool: &Mounted) -> String {
    let schema = tool.schema();
    let needed = schema.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| needed.is_some_and(|it| it.iter().any(|it| it == name));
    let width = parameters(schema).map(|(name, _)| name.len()).max().unwrap_or_default();
    let rows = parameters(schema).map(|(name, property)| {
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let must = if is_needed(name) { ", required" } else { "" };
        let row = format!("  {name:width$}  {}{must}  {about}", kind(property));
        row.trim_end().to_owned()
    });
    let head = format!("{}: {}", tool.entry.name(), tool.entry.about());
    [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// What values a parameter takes: `string`, `list of integer`, `first|last|slowest`.
fn kind(property: &Value) -> String {
    let among = property.get("enum").and_then(Value::as_array);
    let among: Vec<&str> = among.into_iter().flatten().filter_map(Value::as_str).collect();
    if !among.is_empty() {
        return among.join("|");
    }
    let named = match property.get("type") {
        Some(Value::String(one)) => one.as_str(),
        Some(Value::Array(several)) => several.first().and_then(Value::as_str).unwrap_or("any"),
        _ => "any",
    };
    match (named, property.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        (named, _) => named.to_owned(),
    }
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
