//! Windsurf: <https://docs.windsurf.com/windsurf/cascade/mcp>

use super::{ARGUMENTS, Agent, COMMAND, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "windsurf",
    title: "Windsurf",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".codeium/windsurf/mcp_config.json"),
    other_file: |_| None,
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "press refresh in the MCP settings of Cascade",
    program: Some("windsurf"),
    folder: |whereabouts| whereabouts.in_home(".codeium/windsurf"),
    skills: Some(|whereabouts| whereabouts.in_home(".codeium/windsurf/skills")),
};
