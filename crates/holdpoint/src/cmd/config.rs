//! `holdpoint config`: what holds here, and where each value comes from.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::{
    cmd::Command,
    config::{Config, OptionKind, Setting},
    out,
};

/// Print every option as it holds here, and where its value comes from
///
/// Defaults give way to `config.toml` in the home folder (`$HOLDPOINT_HOME`, else `~/.holdpoint`), that to
/// `.holdpoint/config.toml` of the project in this folder, that to the environment, that to arguments.
/// What would open a door is not taken from a project: host, token, token_file, allow_origin, allow_user,
/// share_with_users, url, db, dap_log.
#[derive(clap::Parser)]
pub(crate) struct Print {
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Command for Print {
    const NAME: &'static str = "config";
    const TAKES: &'static [&'static str] = &[
        "port",
        "host",
        "mcp-sse",
        "keep-alive",
        "db",
        "dap-log",
        "end-idle",
        "toolset",
        "structured",
        "tool-timeout",
        "timeout",
        "workspace",
        "allow-origin",
        "allow-user",
        "share-with-users",
        "show-secrets",
        "secret-name",
        "plain-name",
        "token",
        "token-file",
        "log-level",
        "url",
    ];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        match self.json {
            true => out::line(serde_json::to_string_pretty(&as_json(&config))?),
            false => out::line(as_toml(&config)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// As a file of options would have it, so that it can become one.
fn as_toml(config: &Config) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (path, is_there) in &config.files {
        let read = if *is_there { "read" } else { "not there" };
        lines.push(format!("# {}: {read}", path.display()));
    }
    let shown = |held: &Setting| match value(held) {
        None => format!("# {} is not set", held.option.key()),
        Some(_) if held.option.is_secret => format!("# {} is set", held.option.key()),
        Some(value) => format!("{} = {value}", held.option.key()),
    };
    let width = config.held.iter().map(|held| shown(held).chars().count()).max().unwrap_or(0);
    for held in &config.held {
        lines.push(match held.values {
            None => shown(held),
            Some(_) => format!("{:width$}  # {}", shown(held), held.source),
        });
    }
    lines.join("\n")
}

fn as_json(config: &Config) -> Value {
    let files = config.files.iter().map(|(path, read)| json!({ "path": path, "read": read }));
    let mut options = Map::new();
    for held in &config.held {
        let value = match held.option.is_secret {
            true => held.values.is_some().into(),
            false => value(held).unwrap_or_default(),
        };
        let source = held.values.as_ref().map(|_| held.source.to_string());
        options.insert(held.option.key(), json!({ "value": value, "source": source }));
    }
    json!({ "files": files.collect::<Vec<Value>>(), "options": options })
}

/// JSON and TOML write each of these alike.
fn value(held: &Setting) -> Option<Value> {
    let values = held.values.as_ref()?;
    let first = values.first().cloned().unwrap_or_default();
    Some(match held.option.kind {
        OptionKind::Flag => (first == "true").into(),
        OptionKind::Number(_) => serde_json::from_str(&first).unwrap_or(Value::String(first)),
        OptionKind::List(_) | OptionKind::Many(_) => values.clone().into(),
        OptionKind::Text(_) | OptionKind::Path(_) | OptionKind::Choice(_) => first.into(),
    })
}
