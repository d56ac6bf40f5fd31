//! Cursor: <https://cursor.com/docs/mcp>

use super::{ARGUMENTS, Agent, COMMAND, Link, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    scope: Scope::User,
    file: |whereabouts| whereabouts.in_home(".cursor/mcp.json"),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".cursor/mcp.json")),
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: Some(Link::Cursor),
    next_step: "restart Cursor and switch the server on in its MCP settings",
    program: Some("cursor"),
    folder: |whereabouts| whereabouts.in_home(".cursor"),
    skills: Some(|whereabouts| whereabouts.in_home(".cursor/skills")),
};
