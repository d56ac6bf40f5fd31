//! Claude Desktop: <https://modelcontextprotocol.io/docs/develop/connect-local-servers>

use super::{ARGUMENTS, COMMAND, Client, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const CLIENT: Client = Client {
    name: "claude-desktop",
    title: "Claude Desktop",
    scope: Scope::User,
    file: |places| Ok(places.settings_folder()?.join("Claude/claude_desktop_config.json")),
    other_file: |_| None,
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "quit Claude Desktop and start it again",
    program: None,
    folder: |places| Ok(places.settings_folder()?.join("Claude")),
    skills: None,
};
