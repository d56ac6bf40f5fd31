//! Copilot CLI: <https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers>

use super::{ARGUMENTS, Agent, COMMAND, PATIENCE_MS, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) const AGENT: Agent = Agent {
    name: "copilot-cli",
    title: "Copilot CLI",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.copilot_folder()?.join("mcp-config.json")),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".github/mcp.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[
        Field { name: "type", is: Is::Word("local") },
        COMMAND,
        ARGUMENTS,
        Field { name: "tools", is: Is::AllTools },
        Field { name: "timeout", is: Is::Patience(PATIENCE_MS) },
    ],
    own_command: None,
    link: None,
    next_step: "restart Copilot CLI, then `/mcp show` lists the server",
    program: Some("copilot"),
    folder: Whereabouts::copilot_folder,
    skills: Some(|whereabouts| Ok(whereabouts.copilot_folder()?.join("skills"))),
};
