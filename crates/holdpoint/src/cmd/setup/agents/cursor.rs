//! Cursor: <https://cursor.com/docs/mcp>

use super::{ARGUMENTS, Agent, COMMAND, Link, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".cursor/mcp.json"),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".cursor/mcp.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: Some(Link::Cursor),
    next_step: "restart Cursor and switch the server on in its MCP settings",
    program: Some("cursor"),
    folder: |whereabouts| whereabouts.in_home(".cursor"),
    skills: Some(|whereabouts| whereabouts.in_home(".cursor/skills")),
};
