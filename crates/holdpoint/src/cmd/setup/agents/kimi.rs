//! Kimi Code: <https://moonshotai.github.io/kimi-code/en/customization/mcp>

use super::{ARGUMENTS, Agent, COMMAND, PATIENCE_MS, ReadBy, START_MS};
use crate::cmd::setup::merge::{Field, FileFormat, Is};
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) const AGENT: Agent = Agent {
    name: "kimi",
    title: "Kimi Code",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.kimi_folder()?.join("mcp.json")),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".kimi-code/mcp.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[
        COMMAND,
        ARGUMENTS,
        Field { name: "startupTimeoutMs", is: Is::Patience(START_MS) },
        Field { name: "toolTimeoutMs", is: Is::Patience(PATIENCE_MS) },
    ],
    own_command: None,
    link: None,
    next_step: "start a new session of Kimi Code, then `/mcp` shows the server",
    program: Some("kimi"),
    folder: Whereabouts::kimi_folder,
    skills: Some(|whereabouts| whereabouts.in_home(".agents/skills")),
};
