//! Gemini CLI: <https://geminicli.com/docs/tools/mcp-server>

use super::{ARGUMENTS, COMMAND, Client, Own, PATIENCE_MS, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    scope: Scope::User,
    file: |places| places.in_home(".gemini/settings.json"),
    other_file: |places| Some(places.cwd.join(".gemini/settings.json")),
    format: Format::Json,
    key: "mcpServers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_MS) }],
    own_command: Some(Own::Words("gemini mcp add --scope user holdpoint")),
    link: None,
    next_step: "restart Gemini CLI, then `/mcp` shows the server",
    program: Some("gemini"),
    folder: |places| places.in_home(".gemini"),
    skills: Some(|places| places.in_home(".gemini/skills")),
};
