//! Goose: <https://block.github.io/goose/docs/guides/config-files>

use super::{ARGUMENTS, Client, PATIENCE_S, Scope};
use crate::cmd::setup::merge::{Field, Format, Is};
use crate::cmd::setup::places::Places;

pub(super) const CLIENT: Client = Client {
    name: "goose",
    title: "Goose",
    scope: Scope::User,
    file: |places| Ok(places.goose_folder()?.join("config.yaml")),
    other_file: |_| None,
    format: Format::Yaml,
    key: "extensions",
    fields: &[
        Field { name: "name", is: Is::Word("holdpoint") },
        Field {
            name: "description",
            is: Is::Offered("The debugger for AI agents and the people beside them"),
        },
        Field { name: "type", is: Is::Word("stdio") },
        Field { name: "enabled", is: Is::On },
        Field { name: "cmd", is: Is::Command },
        ARGUMENTS,
        Field { name: "timeout", is: Is::Patience(PATIENCE_S) },
    ],
    own_command: None,
    link: None,
    next_step: "start a new Goose session; the extension is on",
    program: Some("goose"),
    folder: Places::goose_folder,
    skills: Some(|places| Ok(places.xdg_folder()?.join("goose/skills"))),
};
