//! Cline: <https://docs.cline.bot/cli/configuration>
//!
//! The extension, the command line and the SDK share this file; older extensions have their own.

use super::{ARGUMENTS, Agent, COMMAND, PATIENCE_S, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "cline",
    title: "Cline",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".cline/data/settings/cline_mcp_settings.json"),
    other_file: |whereabouts| {
        let storage = whereabouts.settings_folder().ok()?.join("Code/User/globalStorage");
        Some(storage.join("saoudrizwan.claude-dev/settings/cline_mcp_settings.json"))
    },
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_S) }],
    own_command: None,
    link: None,
    next_step: "open the MCP servers of Cline; the server is listed there",
    program: Some("cline"),
    folder: |whereabouts| whereabouts.in_home(".cline"),
    skills: Some(|whereabouts| whereabouts.in_home(".cline/skills")),
};
