//! Amp: <https://ampcode.com/manual#mcp>

use super::{ARGUMENTS, Agent, COMMAND, Own, ReadBy};
use crate::cmd::setup::merge::FileFormat;

pub(super) const AGENT: Agent = Agent {
    name: "amp",
    title: "Amp",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.xdg_folder()?.join("amp/settings.json")),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".amp/settings.json")),
    format: FileFormat::Json,
    key: "amp.mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: Some(Own::Words("amp mcp add holdpoint --")),
    link: None,
    next_step: "restart Amp; `amp mcp list` shows the server",
    program: Some("amp"),
    folder: |whereabouts| Ok(whereabouts.xdg_folder()?.join("amp")),
    skills: Some(|whereabouts| Ok(whereabouts.xdg_folder()?.join("agents/skills"))),
};
