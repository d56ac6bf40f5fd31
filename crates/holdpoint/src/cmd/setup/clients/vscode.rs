//! VS Code: <https://code.visualstudio.com/docs/agents/reference/mcp-configuration>

use super::{ARGUMENTS, COMMAND, Client, Link, Own, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};

pub(super) const CLIENT: Client = Client {
    name: "vscode",
    title: "VS Code",
    scope: Scope::Project,
    file: |places| Ok(places.cwd.join(".vscode/mcp.json")),
    other_file: |places| Some(places.settings_folder().ok()?.join("Code/User/mcp.json")),
    format: Format::Json,
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
    folder: |places| places.in_home(".vscode"),
    skills: Some(|places| Ok(places.cwd.join(".github/skills"))),
};
