//! `holdpoint gateway import`: the servers of an agent's own configuration, as entries of ours.

use std::{collections::BTreeMap, path::Path, process::ExitCode};

use anyhow::{Context as _, bail};
use holdpoint_engine::secrets::Secrets;
use jsonc_parser::{ParseOptions, cst::CstRootNode};
use serde_json::{Map, Value, json};

use super::super::setup::{
    agents::{self, Agent},
    file,
    merge::FileFormat,
    whereabouts::Whereabouts,
};
use crate::{
    external::config::{EntryForm, Fields, ServerConfig, Way},
    home, out,
};

#[derive(clap::Args)]
pub(super) struct Import {
    #[arg(value_name = "AGENT", value_parser = agents::parser())]
    agent: &'static Agent,
    /// Add them to `mcp_clients.json` of the home; what is there already stays as it is
    #[arg(long)]
    write: bool,
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let found = servers(self.agent, &Whereabouts::of_this_process()?)?;
        let path = home::folder().context("there is no home")?.join("mcp_clients.json");
        let mut kept = kept(&path)?;
        let new: Map<String, Value> =
            found.into_iter().filter(|(name, _)| !kept.contains_key(name)).collect();
        if !self.write {
            let shown = json!({ "servers": hidden(&new) });
            out::line(serde_json::to_string_pretty(&shown)?);
            return Ok(ExitCode::SUCCESS);
        }
        let count = new.len();
        kept.extend(new);
        home::put(&path, &serde_json::to_string_pretty(&json!({ "servers": kept }))?)?;
        out::line(format!("{count} servers were added to {}", path.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// What the agent's files name, ourselves left out, each as an entry that says its transport.
fn servers(agent: &Agent, at: &Whereabouts) -> anyhow::Result<BTreeMap<String, Value>> {
    let files = [(agent.file)(at).ok(), (agent.other_file)(at)];
    let mut found = BTreeMap::new();
    let mut looked = Vec::new();
    for path in files.into_iter().flatten() {
        looked.push(path.display().to_string());
        let Some(text) = file::read(&path)? else { continue };
        let root = parsed(agent.format, &text)
            .with_context(|| format!("`{}` cannot be read", path.display()))?;
        let entries = root.get(agent.key).and_then(Value::as_object).cloned();
        for (name, entry) in entries.unwrap_or_default() {
            let Value::Object(fields) = entry else { continue };
            if let Some(entry) = converted(&name, &fields) {
                found.entry(name).or_insert(entry);
            }
        }
    }
    if found.is_empty() {
        bail!("{} names no other servers; looked in {}", agent.title, looked.join(", "));
    }
    Ok(found)
}

fn parsed(format: FileFormat, text: &str) -> anyhow::Result<Value> {
    match format {
        FileFormat::Json => {
            let root = CstRootNode::parse(text, &ParseOptions::default())?;
            root.to_serde_value().context("it is empty")
        }
        FileFormat::Toml => {
            let document: toml_edit::DocumentMut = text.parse()?;
            Ok(of_toml(document.as_item()))
        }
        FileFormat::Yaml => bail!("YAML is not read; name the servers in mcp_clients.json by hand"),
    }
}

fn of_toml(item: &toml_edit::Item) -> Value {
    match item {
        toml_edit::Item::Table(table) => {
            table.iter().map(|(name, it)| (name.to_owned(), of_toml(it))).collect()
        }
        toml_edit::Item::Value(value) => of_toml_value(value),
        toml_edit::Item::None | toml_edit::Item::ArrayOfTables(_) => Value::Null,
    }
}

fn of_toml_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => json!(it.value()),
        toml_edit::Value::Integer(it) => json!(it.value()),
        toml_edit::Value::Float(it) => json!(it.value()),
        toml_edit::Value::Boolean(it) => json!(it.value()),
        toml_edit::Value::Datetime(it) => json!(it.to_string()),
        toml_edit::Value::Array(items) => items.iter().map(of_toml_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(name, it)| (name.to_owned(), of_toml_value(it))).collect()
        }
    }
}

/// An entry in the contract's form, its texts as they are written; none for ourselves and for what we cannot reach.
fn converted(name: &str, fields: &Map<String, Value>) -> Option<Value> {
    let command = fields.get("command").and_then(Value::as_str).unwrap_or_default();
    let is_ours = Path::new(command).file_name().is_some_and(|it| it == "holdpoint");
    if is_ours || fields.get("disabled") == Some(&json!(true)) {
        return None;
    }
    let entry = Fields::of_request(name, fields.clone());
    let config = ServerConfig::of(&entry, EntryForm::Agents).ok()?;
    let keys: &[&str] = match config.way {
        Way::Stdio { .. } => &["command", "args", "env", "cwd"],
        Way::Sse(_) | Way::Http(_) | Way::Either(_) => &["url", "headers"],
    };
    let transport = match config.way {
        // What it speaks is not said; most speak the newer one by now.
        Way::Either(_) => "http",
        _ => config.transport(),
    };
    let kept = fields.iter().filter(|(name, _)| keys.contains(&name.as_str()));
    let mut entry: Map<String, Value> =
        kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    entry.insert("transport".to_owned(), transport.into());
    Some(Value::Object(entry))
}

/// What `mcp_clients.json` has.
fn kept(path: &Path) -> anyhow::Result<Map<String, Value>> {
    let Some(text) = file::read(path)? else { return Ok(Map::new()) };
    let root: Value =
        serde_json::from_str(&text).with_context(|| format!("`{}`", path.display()))?;
    match root.get("servers") {
        Some(Value::Object(servers)) => Ok(servers.clone()),
        None if root.get("mcpServers").is_none() => Ok(Map::new()),
        _ => bail!("`{}` is in another form; add the entries by hand", path.display()),
    }
}

/// As it is shown: headers hide what is not a name of the environment, and so does what looks like a secret.
fn hidden(servers: &Map<String, Value>) -> Value {
    let rules = Secrets::default();
    let mut shown = Value::Object(servers.clone());
    let entries = shown.as_object_mut().into_iter().flat_map(Map::values_mut);
    for entry in entries {
        for (key, all) in [("headers", true), ("env", false)] {
            let values = entry.get_mut(key).and_then(Value::as_object_mut);
            for (name, value) in values.into_iter().flatten() {
                let text = value.as_str().unwrap_or_default();
                if !text.contains("${") && (all || rules.is_secret(name, text)) {
                    *value = "‹hidden; --write keeps it›".into();
                }
            }
        }
    }
    shown
}
