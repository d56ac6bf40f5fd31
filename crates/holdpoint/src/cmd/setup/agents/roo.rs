//! Roo Code: <https://docs.roocode.com/features/mcp/using-mcp-in-roo>
//!
//! A server of a project starts in the first folder of the workspace.

use super::{ARGUMENTS, Agent, COMMAND, PATIENCE_S, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "roo",
    title: "Roo Code",
    scope: ReadBy::Project,
    file: |whereabouts| Ok(whereabouts.cwd.join(".roo/mcp.json")),
    other_file: |whereabouts| {
        let storage = whereabouts.settings_folder().ok()?.join("Code/User/globalStorage");
        Some(storage.join("rooveterinaryinc.roo-cline/settings/mcp_settings.json"))
    },
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_S) }],
    own_command: None,
    link: None,
    next_step: "open this folder in VS Code; the server is in the MCP settings of Roo Code",
    program: None,
    folder: |whereabouts| whereabouts.in_home(".roo"),
    skills: Some(|whereabouts| Ok(whereabouts.cwd.join(".roo/skills"))),
};
