//! Claude Code: <https://code.claude.com/docs/en/mcp>
//!
//! It waits for a call longer than any of ours takes, so no timeout is written.

use super::{ARGUMENTS, Agent, COMMAND, Own, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};

pub(super) const AGENT: Agent = Agent {
    name: "claude-code",
    title: "Claude Code",
    scope: ReadBy::Project,
    file: |whereabouts| Ok(whereabouts.cwd.join(".mcp.json")),
    other_file: |whereabouts| whereabouts.in_home(".claude.json").ok(),
    format: FileFormat::Json,
    key: "mcpServers",
    fields: &[Field { name: "type", is: Is::Word("stdio") }, COMMAND, ARGUMENTS],
    own_command: Some(Own::Json("claude mcp add-json --scope project holdpoint")),
    link: None,
    next_step: "start Claude Code in this folder and approve the server, then `/mcp` shows it",
    program: Some("claude"),
    folder: |whereabouts| whereabouts.in_home(".claude"),
    skills: Some(|whereabouts| Ok(whereabouts.cwd.join(".claude/skills"))),
};
