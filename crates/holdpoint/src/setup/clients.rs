//! The agents Holdpoint can be set up for: one entry each in [`CLIENTS`].
//!
//! An entry says where the agent reads its MCP servers from and under which key.
//! How a file is changed is `merge.rs`, and what the user gets to read is `setup.rs`; neither knows an agent by name.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::ValueEnum;

use super::merge::Format;
use super::places::Places;

/// The agents, by the word that names them on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Gemini,
}

/// Who reads a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everyone who works in this folder; such a file is often committed.
    Project,
    /// This user, in every folder.
    User,
}

/// What there is to know about one agent.
pub(crate) struct Client {
    pub(crate) name: ClientName,
    /// Its name as people write it.
    pub(crate) title: &'static str,
    pub(crate) scope: Scope,
    /// The file that `setup` prints and writes.
    pub(crate) file: fn(&Places) -> Result<PathBuf>,
    /// Another file of the same form that the agent reads too. It is looked at, never written.
    pub(crate) other_file: fn(&Places) -> Option<PathBuf>,
    pub(crate) format: Format,
    /// The key that holds the servers.
    pub(crate) key: &'static str,
    /// Whether an entry says `"type": "stdio"`.
    pub(crate) says_type: bool,
    /// The agent's own command that adds a server, up to where the server's command line begins.
    pub(crate) own_command: Option<&'static str>,
    /// What makes the agent notice a changed file.
    pub(crate) next_step: &'static str,
    /// The program that is on the search path when the agent is installed.
    pub(crate) program: Option<&'static str>,
    /// The folder that exists once the agent has run.
    pub(crate) folder: fn(&Places) -> Result<PathBuf>,
}

/// Every agent we know. To add one, name it in [`ClientName`] and describe it here.
pub(crate) const CLIENTS: &[Client] = &[
    // https://code.claude.com/docs/en/mcp
    Client {
        name: ClientName::ClaudeCode,
        title: "Claude Code",
        scope: Scope::Project,
        file: |places| Ok(places.cwd.join(".mcp.json")),
        other_file: |places| places.in_home(".claude.json").ok(),
        format: Format::Json,
        key: "mcpServers",
        says_type: true,
        own_command: Some("claude mcp add --scope project holdpoint --"),
        next_step: "start Claude Code in this folder and approve the server, then `/mcp` shows it",
        program: Some("claude"),
        folder: |places| places.in_home(".claude"),
    },
    // https://modelcontextprotocol.io/docs/develop/connect-local-servers
    Client {
        name: ClientName::ClaudeDesktop,
        title: "Claude Desktop",
        scope: Scope::User,
        file: |places| Ok(places.settings_folder()?.join("Claude/claude_desktop_config.json")),
        other_file: |_| None,
        format: Format::Json,
        key: "mcpServers",
        says_type: false,
        own_command: None,
        next_step: "quit Claude Desktop and start it again",
        program: None,
        folder: |places| Ok(places.settings_folder()?.join("Claude")),
    },
    // https://cursor.com/docs/mcp
    Client {
        name: ClientName::Cursor,
        title: "Cursor",
        scope: Scope::User,
        file: |places| places.in_home(".cursor/mcp.json"),
        other_file: |places| Some(places.cwd.join(".cursor/mcp.json")),
        format: Format::Json,
        key: "mcpServers",
        says_type: false,
        own_command: None,
        next_step: "restart Cursor and switch the server on in its MCP settings",
        program: Some("cursor"),
        folder: |places| places.in_home(".cursor"),
    },
    // https://code.visualstudio.com/docs/agents/reference/mcp-configuration
    Client {
        name: ClientName::VsCode,
        title: "VS Code",
        scope: Scope::Project,
        file: |places| Ok(places.cwd.join(".vscode/mcp.json")),
        other_file: |places| Some(places.settings_folder().ok()?.join("Code/User/mcp.json")),
        format: Format::Json,
        key: "servers",
        says_type: true,
        own_command: None,
        next_step: "open this folder in VS Code and start the server by `MCP: List Servers`",
        program: Some("code"),
        folder: |places| places.in_home(".vscode"),
    },
    // https://developers.openai.com/codex/mcp
    Client {
        name: ClientName::Codex,
        title: "Codex",
        scope: Scope::User,
        file: |places| Ok(places.codex_folder()?.join("config.toml")),
        other_file: |places| Some(places.cwd.join(".codex/config.toml")),
        format: Format::Toml,
        key: "mcp_servers",
        says_type: false,
        own_command: Some("codex mcp add holdpoint --"),
        next_step: "start Codex, then `/mcp` shows the server",
        program: Some("codex"),
        folder: Places::codex_folder,
    },
    // https://geminicli.com/docs/tools/mcp-server
    Client {
        name: ClientName::Gemini,
        title: "Gemini CLI",
        scope: Scope::User,
        file: |places| places.in_home(".gemini/settings.json"),
        other_file: |places| Some(places.cwd.join(".gemini/settings.json")),
        format: Format::Json,
        key: "mcpServers",
        says_type: false,
        own_command: Some("gemini mcp add --scope user holdpoint"),
        next_step: "restart Gemini CLI, then `/mcp` shows the server",
        program: Some("gemini"),
        folder: |places| places.in_home(".gemini"),
    },
];

impl Client {
    pub(crate) fn named(name: ClientName) -> Result<&'static Self> {
        CLIENTS
            .iter()
            .find(|client| client.name == name)
            .ok_or_else(|| anyhow!("no entry for `{name}` in the list of clients\nhint: this is a bug, please report it"))
    }

    /// Whether there are traces of the agent on this machine.
    pub(crate) fn is_installed(&self, places: &Places) -> bool {
        self.program.is_some_and(|program| places.find_program(program).is_some())
            || (self.folder)(places).is_ok_and(|folder| folder.is_dir())
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            // Only a variant that clap is told to skip has no value, and there is none.
            None => fmt::Debug::fmt(self, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::places::tests::{add_program, places_in};

    #[test]
    fn every_name_has_exactly_one_entry() {
        let listed: Vec<ClientName> = CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(listed, ClientName::value_variants());
    }

    #[test]
    fn the_words_of_the_command_line() {
        let words: Vec<String> = CLIENTS.iter().map(|client| client.name.to_string()).collect();
        assert_eq!(words, ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"]);
    }

    #[test]
    fn an_agent_is_installed_when_its_program_or_its_folder_is_there() {
        let root = tempfile::tempdir().unwrap();
        let places = places_in(root.path());
        assert_eq!(installed(&places), [""; 0]);

        add_program(&root.path().join("bin"), "codex");
        std::fs::create_dir_all(root.path().join("home/.cursor")).unwrap();
        std::fs::create_dir_all(root.path().join("home/.config/Claude")).unwrap();
        assert_eq!(installed(&places), ["Claude Desktop", "Cursor", "Codex"]);
    }

    fn installed(places: &Places) -> Vec<&'static str> {
        CLIENTS
            .iter()
            .filter(|client| client.is_installed(places))
            .map(|client| client.title)
            .collect()
    }
}
