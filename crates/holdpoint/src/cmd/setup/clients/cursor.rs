//! Cursor: <https://cursor.com/docs/mcp>

use super::{ARGUMENTS, COMMAND, Client, Link, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const CLIENT: Client = Client {
    name: "cursor",
    title: "Cursor",
    scope: Scope::User,
    file: |places| places.in_home(".cursor/mcp.json"),
    other_file: |places| Some(places.cwd.join(".cursor/mcp.json")),
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: Some(Link::Cursor),
    next_step: "restart Cursor and switch the server on in its MCP settings",
    program: Some("cursor"),
    folder: |places| places.in_home(".cursor"),
    skills: Some(|places| places.in_home(".cursor/skills")),
};
