//! opencode: <https://opencode.ai/docs/mcp-servers>

use super::{Client, PATIENCE_MS, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};

pub(super) const CLIENT: Client = Client {
    name: "opencode",
    title: "opencode",
    scope: Scope::User,
    file: |places| Ok(places.xdg_folder()?.join("opencode/opencode.json")),
    other_file: |places| Some(places.cwd.join("opencode.json")),
    format: Format::Json,
    key: "mcp",
    fields: &[
        Field { name: "type", is: Is::Word("local") },
        Field { name: "command", is: Is::CommandLine },
        Field { name: "enabled", is: Is::On },
        Field { name: "timeout", is: Is::Patience(PATIENCE_MS) },
    ],
    own_command: None,
    link: None,
    next_step: "restart opencode; `opencode mcp list` shows the server",
    program: Some("opencode"),
    folder: |places| Ok(places.xdg_folder()?.join("opencode")),
    skills: Some(|places| Ok(places.xdg_folder()?.join("opencode/skills"))),
};
