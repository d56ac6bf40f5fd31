//! Copilot CLI: <https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers>

use super::{ARGUMENTS, COMMAND, Client, PATIENCE_MS, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};
use crate::cmd::setup::places::Places;

pub(super) const CLIENT: Client = Client {
    name: "copilot-cli",
    title: "Copilot CLI",
    scope: Scope::User,
    file: |places| Ok(places.copilot_folder()?.join("mcp-config.json")),
    other_file: |places| Some(places.cwd.join(".github/mcp.json")),
    format: Format::Json,
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
    folder: Places::copilot_folder,
    skills: Some(|places| Ok(places.copilot_folder()?.join("skills"))),
};
