//! Zed: <https://zed.dev/docs/ai/mcp>

use super::{ARGUMENTS, Agent, COMMAND, PATIENCE_S, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) const AGENT: Agent = Agent {
    name: "zed",
    title: "Zed",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.zed_folder()?.join("settings.json")),
    other_file: |whereabouts| Some(whereabouts.cwd.join(".zed/settings.json")),
    format: FileFormat::Json,
    key: "context_servers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_S) }],
    own_command: None,
    link: None,
    next_step: "open the settings of the agent panel; a green dot shows that the server runs",
    program: Some("zed"),
    folder: Whereabouts::zed_folder,
    skills: Some(|whereabouts| whereabouts.in_home(".agents/skills")),
};
