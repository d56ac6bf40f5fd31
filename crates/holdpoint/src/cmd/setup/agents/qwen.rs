//! Qwen Code: <https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp>

use super::{ARGUMENTS, Agent, COMMAND, Own, PATIENCE_MS, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    scope: ReadBy::User,
    file: |whereabouts| whereabouts.in_home(".qwen/settings.json"),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".qwen/settings.json")),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_MS) }],
    own_command: Some(Own::Words("qwen mcp add --scope user holdpoint")),
    link: None,
    next_step: "restart Qwen Code, then `/mcp` shows the server",
    program: Some("qwen"),
    folder: |whereabouts| whereabouts.in_home(".qwen"),
    skills: Some(|whereabouts| whereabouts.in_home(".qwen/skills")),
};
