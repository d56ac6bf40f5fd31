//! opencode: <https://opencode.ai/docs/mcp-servers>

use super::{Agent, PATIENCE_MS, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    title: "opencode",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.xdg_folder()?.join("opencode/opencode.json")),
    other_file: |whereabouts| Some(whereabouts.cwd.join("opencode.json")),
    format: FileFormat::Json,
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
    folder: |whereabouts| Ok(whereabouts.xdg_folder()?.join("opencode")),
    skills: Some(|whereabouts| Ok(whereabouts.xdg_folder()?.join("opencode/skills"))),
};
