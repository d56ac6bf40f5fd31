//! `setup AGENT --wrap NAME`: an agent's entry of another server, rewritten so that `holdpoint wrap` starts it; and back.
//!
//! Only the command and its arguments are touched. What is no command (an address) and YAML are refused.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstRootNode},
};
use serde_json::Value;
use toml_edit::{Array, DocumentMut};

use super::{
    agents::Agent,
    file,
    merge::FileFormat,
    whereabouts::{PROGRAM, Whereabouts},
};
use crate::external::config::check_name;

/// What is to become of the entry of this name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wrapping<'n> {
    On(&'n str),
    Off(&'n str),
}

/// How a server is started.
#[derive(Debug, Clone, PartialEq)]
struct Started {
    command: String,
    args: Vec<String>,
}

/// Rewrites the agent's file, and says what was done.
pub(super) fn rewrite(at: &Whereabouts, agent: &Agent, wish: Wrapping<'_>) -> Result<String> {
    let path = (agent.file)(at)?;
    let shown = path.display();
    let old = file::read(&path)?.ok_or_else(|| anyhow!("there is no `{shown}`"))?;
    let name = wish.name();
    let ours = at.own_path()?;
    let change = |started: Started| wish.apply(started, &ours);
    let new = match agent.format {
        FileFormat::Json => in_json(&old, agent.key, name, change),
        FileFormat::Toml => in_toml(&old, agent.key, name, change),
        FileFormat::Yaml => Err(anyhow!("it is YAML, which is not rewritten here")),
    };
    let new = new.with_context(|| format!("`{shown}` is as it was: `{name}`"))?;
    let Some(new) = new else { return Ok(format!("`{name}` in {shown} is so already")) };
    let backup = file::replace(&path, &old, &new)?;
    let now = match wish {
        Wrapping::On(_) => "starts behind Holdpoint now",
        Wrapping::Off(_) => "starts by itself again",
    };
    Ok(format!("`{name}` in {shown} {now}; the old text is in {}", backup.display()))
}

impl Wrapping<'_> {
    fn name(&self) -> &str {
        match self {
            Wrapping::On(name) | Wrapping::Off(name) => name,
        }
    }

    /// None where it is as it is to be.
    fn apply(self, started: Started, ours: &str) -> Option<Started> {
        let is_ours = Path::new(&started.command).file_name().is_some_and(|it| it == PROGRAM);
        let is_wrapped = is_ours && started.args.first().is_some_and(|it| it == "wrap");
        match (self, is_wrapped) {
            (Wrapping::On(_), true) | (Wrapping::Off(_), false) => None,
            (Wrapping::On(name), false) => {
                let mut args = vec!["wrap".to_owned()];
                // A name that callpoints cannot have is left out.
                if check_name(name).is_ok() {
                    args.extend(["--name".to_owned(), name.to_owned()]);
                }
                args.extend(["--".to_owned(), started.command]);
                args.extend(started.args);
                Some(Started { command: ours.to_owned(), args })
            }
            (Wrapping::Off(_), true) => {
                let mut behind = started.args.into_iter().skip_while(|it| it != "--").skip(1);
                let command = behind.next()?;
                Some(Started { command, args: behind.collect() })
            }
        }
    }
}

fn in_json(
    text: &str,
    key: &str,
    name: &str,
    change: impl FnOnce(Started) -> Option<Started>,
) -> Result<Option<String>> {
    let root = CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| anyhow!("it is no JSON: {error}"))?;
    let servers = root.object_value().and_then(|it| it.object_value(key));
    let entry = servers.and_then(|it| it.object_value(name)).context("there is no such entry")?;
    let value = |field: &str| entry.get(field).and_then(|it| it.value()?.to_serde_value());
    let started = started(value("command"), value("args"))?;
    let Some(Started { command, args }) = change(started) else { return Ok(None) };
    let set = |field: &str, value: CstInputValue| match entry.get(field) {
        Some(property) => property.set_value(value),
        None => drop(entry.append(field, value)),
    };
    set("command", command.into());
    set("args", CstInputValue::Array(args.into_iter().map(Into::into).collect()));
    Ok(Some(root.to_string()))
}

fn in_toml(
    text: &str,
    key: &str,
    name: &str,
    change: impl FnOnce(Started) -> Option<Started>,
) -> Result<Option<String>> {
    let mut document: DocumentMut = text.parse().context("it is no TOML")?;
    let entry = document.get_mut(key).and_then(|it| it.get_mut(name));
    let entry = entry.and_then(|it| it.as_table_like_mut()).context("there is no such entry")?;
    let command = entry.get("command").and_then(|it| it.as_str()).map(Value::from);
    let args = entry
        .get("args")
        .and_then(|it| it.as_array())
        .map(|args| args.iter().map(|it| it.as_str().map_or(Value::Null, Value::from)).collect());
    let Some(Started { command, args }) = change(started(command, args)?) else { return Ok(None) };
    entry.insert("command", toml_edit::value(command));
    entry.insert("args", toml_edit::value(args.into_iter().collect::<Array>()));
    Ok(Some(document.to_string()))
}

fn started(command: Option<Value>, args: Option<Value>) -> Result<Started> {
    let Some(Value::String(command)) = command else {
        bail!("it is not started by a `command`, so there is nothing to wrap");
    };
    let word = |it: &Value| it.as_str().map(str::to_owned);
    let args = match args {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => {
            args.iter().map(word).collect::<Option<_>>().context("`args` are not all texts")?
        }
        Some(_) => bail!("`args` is no list"),
    };
    Ok(Started { command, args })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/usr/bin/holdpoint";

    #[test]
    fn an_entry_is_wrapped_once_and_unwrapped_to_what_it_was() {
        let text = "{\n  // mine\n  \"mcpServers\": {\"fs\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {}}}\n}\n";
        let on = |started| Wrapping::On("fs").apply(started, OURS);
        let off = |started| Wrapping::Off("fs").apply(started, OURS);
        let wrapped = in_json(text, "mcpServers", "fs", on).unwrap().unwrap();
        assert!(wrapped.contains("// mine") && wrapped.contains("\"env\": {}"), "{wrapped}");
        assert!(wrapped.contains(r#""wrap", "--name", "fs", "--", "npx", "-y", "x""#), "{wrapped}");
        assert_eq!(in_json(&wrapped, "mcpServers", "fs", on).unwrap(), None);
        assert_eq!(in_json(&wrapped, "mcpServers", "fs", off).unwrap().unwrap(), text);
        assert_eq!(in_json(text, "mcpServers", "fs", off).unwrap(), None);
        assert!(in_json(text, "mcpServers", "no", on).unwrap_err().to_string().contains("no such"));
    }

    #[test]
    fn toml_is_rewritten_too() {
        let text = "# mine\n[mcp_servers.fs]\ncommand = \"npx\"\nargs = [\"-y\"]\n";
        let on = |started| Wrapping::On("fs").apply(started, OURS);
        let wrapped = in_toml(text, "mcp_servers", "fs", on).unwrap().unwrap();
        assert!(
            wrapped.starts_with("# mine\n") && wrapped.contains("\"--\", \"npx\", \"-y\""),
            "{wrapped}"
        );
        let off = |started| Wrapping::Off("fs").apply(started, OURS);
        let back = in_toml(&wrapped, "mcp_servers", "fs", off).unwrap().unwrap();
        assert!(back.contains("command = \"npx\"\nargs = [\"-y\"]"), "{back}");
    }

    #[test]
    fn an_address_is_not_wrapped() {
        let text = r#"{"mcpServers": {"web": {"url": "http://h"}}}"#;
        let error = in_json(text, "mcpServers", "web", Some).unwrap_err();
        assert!(error.to_string().contains("nothing to wrap"));
    }
}
