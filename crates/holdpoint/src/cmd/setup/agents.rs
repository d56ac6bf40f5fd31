//! The agents Holdpoint can be set up for: one file and one line in [`AGENTS`] each.
//!
//! An entry says where the agent reads its MCP servers from, under which key, and in which words.
//! How a file is changed is `merge.rs`, and what the user gets to read is `setup.rs`; neither knows an agent by name.

mod amp;
mod antigravity;
mod claude_code;
mod claude_desktop;
mod cline;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini;
mod goose;
mod junie;
mod kimi;
mod opencode;
mod qwen;
mod roo;
mod vscode;
mod windsurf;
mod zed;

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::link::Link;
use super::merge::{Field, FileFormat, Is};
use super::whereabouts::Whereabouts;

/// Who reads a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadBy {
    /// Everyone who works in this folder; such a file is often committed.
    Project,
    /// This user, in every folder.
    User,
}

/// An agent's own command that adds a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own {
    /// It is followed by the server's command line.
    Words(&'static str),
    /// It is followed by the server's entry as JSON.
    Json(&'static str),
    /// The same, with the server's name in it.
    NamedJson(&'static str),
}

/// What there is to know about one agent.
pub(crate) struct Agent {
    /// The word that names it on the command line.
    pub(crate) name: &'static str,
    /// Its name as people write it.
    pub(crate) title: &'static str,
    pub(crate) scope: ReadBy,
    /// The file that `setup` prints and writes.
    pub(crate) file: fn(&Whereabouts) -> Result<PathBuf>,
    /// Another file of the same form that the agent reads too. It is looked at, never written.
    pub(crate) other_file: fn(&Whereabouts) -> Option<PathBuf>,
    pub(crate) format: FileFormat,
    /// The key that holds the servers.
    pub(crate) key: &'static str,
    pub(crate) fields: &'static [Field],
    pub(crate) own_command: Option<Own>,
    /// The form of the link that adds a server by a click.
    pub(crate) link: Option<Link>,
    /// What makes the agent notice a changed file.
    pub(crate) next_step: &'static str,
    /// The program that is on the search path when the agent is installed.
    pub(crate) program: Option<&'static str>,
    /// The folder that exists once the agent has run.
    pub(crate) folder: fn(&Whereabouts) -> Result<PathBuf>,
    /// The folder where it looks for skills, of the same scope as its file.
    pub(crate) skills: Option<fn(&Whereabouts) -> Result<PathBuf>>,
}

/// Every agent we know.
pub(crate) const AGENTS: &[Agent] = &[
    claude_code::AGENT,
    claude_desktop::AGENT,
    cursor::AGENT,
    vscode::AGENT,
    codex::AGENT,
    gemini::AGENT,
    copilot_cli::AGENT,
    windsurf::AGENT,
    cline::AGENT,
    roo::AGENT,
    zed::AGENT,
    opencode::AGENT,
    goose::AGENT,
    qwen::AGENT,
    kimi::AGENT,
    junie::AGENT,
    amp::AGENT,
    antigravity::AGENT,
];

const COMMAND: Field = Field { name: "command", is: Is::Command };
const ARGUMENTS: Field = Field { name: "args", is: Is::Arguments };

/// How long an agent is to wait for a call, in its unit. A call ends by itself within a minute unless it
/// asks for longer, and nobody should have to ask for more than this.
const PATIENCE_S: u32 = 600;
const PATIENCE_MS: u32 = PATIENCE_S * 1000;

/// How long an agent is to wait for our start, which takes a tenth of a second: for a loaded machine.
const START_S: u32 = 30;
const START_MS: u32 = START_S * 1000;

/// Reads an agent's word on the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static Agent> {
    PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.name))
        .try_map(|name| Agent::named(&name))
}

impl Agent {
    pub(crate) fn named(name: &str) -> Result<&'static Self> {
        let found = AGENTS.iter().find(|agent| agent.name == name);
        found.ok_or_else(|| anyhow!("no agent `{name}` in the list of agents"))
    }

    /// Whether there are traces of the agent on this machine.
    pub(crate) fn is_installed(&self, whereabouts: &Whereabouts) -> bool {
        self.program.is_some_and(|program| whereabouts.find_program(program).is_some())
            || (self.folder)(whereabouts).is_ok_and(|folder| folder.is_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::setup::whereabouts::tests::{add_program, whereabouts_in};

    #[test]
    fn every_name_has_exactly_one_entry() {
        let mut names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), AGENTS.len());
    }

    #[test]
    fn every_entry_says_how_to_start_us() {
        for agent in AGENTS {
            let starts =
                agent.fields.iter().filter(|it| matches!(it.is, Is::Command | Is::CommandLine));
            assert_eq!(starts.count(), 1, "{}", agent.name);
        }
    }

    #[test]
    fn an_agent_is_installed_when_its_program_or_its_folder_is_there() {
        let root = tempfile::tempdir().unwrap();
        let whereabouts = whereabouts_in(root.path());
        assert_eq!(installed(&whereabouts), [""; 0]);

        add_program(&root.path().join("bin"), "codex");
        std::fs::create_dir_all(root.path().join("home/.cursor")).unwrap();
        std::fs::create_dir_all(root.path().join("home/.config/Claude")).unwrap();
        assert_eq!(installed(&whereabouts), ["Claude Desktop", "Cursor", "Codex"]);
    }

    fn installed(whereabouts: &Whereabouts) -> Vec<&'static str> {
        AGENTS
            .iter()
            .filter(|agent| agent.is_installed(whereabouts))
            .map(|agent| agent.title)
            .collect()
    }
}
