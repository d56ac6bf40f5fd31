//! Windsurf: <https://docs.windsurf.com/windsurf/cascade/mcp>

use super::{ARGUMENTS, COMMAND, Client, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const CLIENT: Client = Client {
    name: "windsurf",
    title: "Windsurf",
    scope: Scope::User,
    file: |places| places.in_home(".codeium/windsurf/mcp_config.json"),
    other_file: |_| None,
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "press refresh in the MCP settings of Cascade",
    program: Some("windsurf"),
    folder: |places| places.in_home(".codeium/windsurf"),
    skills: Some(|places| places.in_home(".codeium/windsurf/skills")),
};
