//! Antigravity: <https://antigravity.google/docs/mcp>
//!
//! Its desktop application and its command line share this file.

use super::{ARGUMENTS, Agent, COMMAND, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "antigravity",
    title: "Antigravity",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".gemini/config/mcp_config.json"),
    other_file: |whereabouts| whereabouts.in_home(".gemini/antigravity/mcp_config.json").ok(),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: None,
    link: None,
    next_step: "press refresh among the MCP servers of Antigravity",
    program: Some("agy"),
    folder: |whereabouts| whereabouts.in_home(".gemini/antigravity"),
    skills: Some(|whereabouts| whereabouts.in_home(".gemini/config/skills")),
};
