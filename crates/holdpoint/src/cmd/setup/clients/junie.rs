//! Junie: <https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html>

use super::{ARGUMENTS, COMMAND, Client, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const CLIENT: Client = Client {
    name: "junie",
    title: "Junie",
    scope: Scope::User,
    file: |places| places.in_home(".junie/mcp/mcp.json"),
    other_file: |places| Some(places.cwd.join(".junie/mcp/mcp.json")),
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "restart Junie; the server is in its MCP settings",
    program: Some("junie"),
    folder: |places| places.in_home(".junie"),
    skills: Some(|places| places.in_home(".junie/skills")),
};
