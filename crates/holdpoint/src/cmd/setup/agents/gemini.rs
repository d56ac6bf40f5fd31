//! Gemini CLI: <https://geminicli.com/docs/tools/mcp-server>

use super::{ARGUMENTS, Agent, COMMAND, Own, PATIENCE_MS, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".gemini/settings.json"),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".gemini/settings.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_MS) }],
    own_command: Some(Own::Words("gemini mcp add --scope user holdpoint")),
    link: None,
    next_step: "restart Gemini CLI, then `/mcp` shows the server",
    program: Some("gemini"),
    folder: |whereabouts| whereabouts.in_home(".gemini"),
    skills: Some(|whereabouts| whereabouts.in_home(".gemini/skills")),
};
