//! Junie: <https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html>

use super::{ARGUMENTS, Agent, COMMAND, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "junie",
    title: "Junie",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".junie/mcp/mcp.json"),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".junie/mcp/mcp.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "restart Junie; the server is in its MCP settings",
    program: Some("junie"),
    folder: |whereabouts| whereabouts.in_home(".junie"),
    skills: Some(|whereabouts| whereabouts.in_home(".junie/skills")),
};
