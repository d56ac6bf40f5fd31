//! VS Code: <https://code.visualstudio.com/docs/agents/reference/mcp-configuration>

use super::{ARGUMENTS, Agent, COMMAND, Link, Own, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "vscode",
    title: "VS Code",
    scope: ReadBy::Project,
    file: |whereabouts| Ok(whereabouts.cwd.join(".vscode/mcp.json")),
    other_file: |whereabouts| Some(whereabouts.settings_folder().ok()?.join("Code/User/mcp.json")),
    format: FileFormat::Json,
    key: "servers",
    fields: &[
        Field { name: "type", is: Is::Word("stdio") },
        COMMAND,
        ARGUMENTS,
        Field { name: "cwd", is: Is::Offered("${workspaceFolder}") },
    ],
    own_command: Some(Own::NamedJson("code --add-mcp")),
    link: Some(Link::VsCode),
    next_step: "open this folder in VS Code and start the server by `MCP: List Servers`",
    program: Some("code"),
    folder: |whereabouts| whereabouts.in_home(".vscode"),
    skills: Some(|whereabouts| Ok(whereabouts.cwd.join(".github/skills"))),
};
