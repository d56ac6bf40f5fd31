//! Amp: <https://ampcode.com/manual#mcp>

use super::{ARGUMENTS, COMMAND, Client, Own, Scope};
use crate::cmd::setup::merge::Format;

pub(super) const CLIENT: Client = Client {
    name: "amp",
    title: "Amp",
    scope: Scope::User,
    file: |places| Ok(places.xdg_folder()?.join("amp/settings.json")),
    other_file: |places| Some(places.cwd.join(".amp/settings.json")),
    format: Format::Json,
    key: "amp.mcpServers",
    fields: &[COMMAND, ARGUMENTS],
    own_command: Some(Own::Words("amp mcp add holdpoint --")),
    link: None,
    next_step: "restart Amp; `amp mcp list` shows the server",
    program: Some("amp"),
    folder: |places| Ok(places.xdg_folder()?.join("amp")),
    skills: Some(|places| Ok(places.xdg_folder()?.join("agents/skills"))),
};
