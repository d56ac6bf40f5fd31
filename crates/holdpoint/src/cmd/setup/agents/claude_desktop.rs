//! Claude Desktop: <https://modelcontextprotocol.io/docs/develop/connect-local-servers>

use super::{ARGUMENTS, Agent, COMMAND, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "claude-desktop",
    title: "Claude Desktop",
    scope: ReadBy::User,
    file: |whereabouts| {
        Ok(whereabouts.settings_folder()?.join("Claude/claude_desktop_config.json"))
    },
    other_file: |_| None,
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "quit Claude Desktop and start it again",
    program: None,
    folder: |whereabouts| Ok(whereabouts.settings_folder()?.join("Claude")),
    skills: None,
};
