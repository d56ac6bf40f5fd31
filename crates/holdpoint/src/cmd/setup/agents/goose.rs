//! Goose: <https://block.github.io/goose/docs/guides/config-files>

use super::{ARGUMENTS, Agent, PATIENCE_S, ReadBy};
use crate::cmd::setup::merge::{Field, FileFormat, Is};
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) const AGENT: Agent = Agent {
    name: "goose",
    title: "Goose",
    scope: ReadBy::User,
    file: |whereabouts| Ok(whereabouts.goose_folder()?.join("config.yaml")),
    other_file: |_| None,
    format: FileFormat::Yaml,
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
    folder: Whereabouts::goose_folder,
    skills: Some(|whereabouts| Ok(whereabouts.xdg_folder()?.join("goose/skills"))),
};
