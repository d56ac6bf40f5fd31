//! A file of other servers: which it is, and what it says, whole or not at all.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use holdpoint_engine::limits;
use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, Value as Node},
    common::Ranged as _,
    parse_to_ast,
};

use super::{EntryForm, Fields, Problem, ServerConfig};
use crate::home;

const NAME: &str = "mcp_clients.json";

/// Where it is looked for when no path is given: what the environment names, our home, that of cideldill.
pub(crate) fn usual() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    if let Some(path) = set("CIDELDILL_MCP_CLIENTS_CONFIG") {
        return Some(path);
    }
    let theirs =
        || set("CIDELDILL_HOME").or_else(|| Some(std::env::home_dir()?.join(".cideldill")));
    let folders = [home::folder(), theirs()].into_iter().flatten();
    let mut paths = folders.map(|folder| folder.join(NAME));
    paths.find(|path| path.is_file())
}

/// What the file says.
pub(crate) fn read(path: &Path) -> anyhow::Result<BTreeMap<String, ServerConfig>> {
    let shown = path.display();
    let mut text = String::new();
    let found = fs::metadata(path).with_context(|| format!("cannot read `{shown}`"))?;
    if !found.is_file() {
        bail!("cannot read `{shown}`: it is no file");
    }
    let most = limits::EXTERNAL_CONFIG;
    let file = fs::File::open(path).with_context(|| format!("cannot read `{shown}`"))?;
    let read = file.take(most + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read `{shown}`"))?;
    if text.len() as u64 > most {
        bail!("cannot read `{shown}`: it has more than {most} bytes");
    }
    parse(&text).map_err(|Problem { at, text: problem }| {
        let line = text.get(..at).unwrap_or(&text).matches('\n').count() + 1;
        anyhow::anyhow!("{shown}:{line}: {problem}")
    })
}

pub(super) fn parse(text: &str) -> Result<BTreeMap<String, ServerConfig>, Problem> {
    check_json(text)?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| Problem {
        at: error.range().start,
        text: format!("this is not JSON: {}", error.kind()),
    })?;
    let root = parsed.value.as_ref().and_then(Node::as_object);
    let Some(root) = root else {
        return Err(Problem { at: 0, text: "the file is no object".to_owned() });
    };
    let (servers, form) = match (root.get("servers"), root.get("mcpServers")) {
        (Some(servers), _) => (servers, EntryForm::Ours),
        (None, Some(servers)) => (servers, EntryForm::Agents),
        (None, None) => {
            let text = "there is neither `servers` nor `mcpServers`".to_owned();
            return Err(Problem { at: 0, text });
        }
    };
    let Some(entries) = servers.value.as_object() else {
        let text = format!("`{}` is no object", servers.name.as_str());
        return Err(Problem { at: servers.range.start, text });
    };
    let mut configs = BTreeMap::new();
    for entry in &entries.properties {
        let (name, at) = (entry.name.as_str().to_owned(), entry.range.start);
        let Some(object) = entry.value.as_object() else {
            return Err(Problem { at, text: format!("`{name}` is no object") });
        };
        let fields = Fields { name, at, fields: fields(object, text) };
        if is_off(&fields, form) {
            continue;
        }
        let config = ServerConfig::of(&fields, form)?;
        if configs.insert(fields.name.clone(), config).is_some() {
            let text = format!("`{}` stands twice", fields.name);
            return Err(Problem { at, text });
        }
    }
    Ok(configs)
}

/// An agent's entry that the user turned off.
fn is_off(fields: &Fields, form: EntryForm) -> bool {
    let off = fields.get("disabled").and_then(|(_, it)| it.as_bool()) == Some(true);
    form == EntryForm::Agents && off
}

/// Plain JSON, without what some readers allow beside it.
fn check_json(text: &str) -> Result<(), Problem> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else { return Ok(()) };
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(error.line().saturating_sub(1)).map(str::len).sum();
    let line = lines.next().unwrap_or_default().trim_start();
    let why = match line.starts_with("//") || line.starts_with("/*") || line.contains(" //") {
        true => "JSON has no comments".to_owned(),
        false => error.to_string(),
    };
    Err(Problem { at: before, text: format!("this is not JSON: {why}") })
}

fn fields(object: &Object<'_>, text: &str) -> Vec<(String, usize, serde_json::Value)> {
    let value = |node: &Node<'_>| {
        let range = node.range();
        let text = text.get(range.start..range.end).unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    };
    let each = object.properties.iter();
    each.map(|it| (it.name.as_str().to_owned(), it.range.start, value(&it.value))).collect()
}
