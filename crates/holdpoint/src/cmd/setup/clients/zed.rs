//! Zed: <https://zed.dev/docs/ai/mcp>

use super::{ARGUMENTS, COMMAND, Client, PATIENCE_S, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};
use crate::cmd::setup::places::Places;

pub(super) const CLIENT: Client = Client {
    name: "zed",
    title: "Zed",
    scope: Scope::User,
    file: |places| Ok(places.zed_folder()?.join("settings.json")),
    other_file: |places| Some(places.cwd.join(".zed/settings.json")),
    format: Format::Json,
    key: "context_servers",
    fields: &[COMMAND, ARGUMENTS, Field { name: "timeout", is: Is::Patience(PATIENCE_S) }],
    own_command: None,
    link: None,
    next_step: "open the settings of the agent panel; a green dot shows that the server runs",
    program: Some("zed"),
    folder: Places::zed_folder,
    skills: Some(|places| places.in_home(".agents/skills")),
};
