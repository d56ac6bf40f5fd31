//! Codex: <https://developers.openai.com/codex/mcp>

use super::{ARGUMENTS, Agent, COMMAND, Own, PATIENCE_S, ReadBy, START_S};
use crate::cmd::setup::merge::{Field, FileFormat, Is};
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    title: "Codex",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.codex_folder()?.join("config.toml")),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".codex/config.toml")),
    format: FileFormat::Toml,
    key: "mcp_servers",
    fields: &[
        COMMAND,
        ARGUMENTS,
        Field { name: "startup_timeout_sec", is: Is::Patience(START_S) },
        Field { name: "tool_timeout_sec", is: Is::Patience(PATIENCE_S) },
    ],
    own_command: Some(Own::Words("codex mcp add holdpoint --")),
    link: None,
    next_step: "start Codex, then `/mcp` shows the server",
    program: Some("codex"),
    folder: Whereabouts::codex_folder,
    skills: Some(|whereabouts| Ok(whereabouts.codex_folder()?.join("skills"))),
};
