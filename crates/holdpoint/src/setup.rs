//! `holdpoint setup <client> [--write]`: making an agent know Holdpoint.
//!
//! Without `--write` this prints the agent's configuration, ready to paste, and says where it belongs.
//! With `--write` it merges the same into the agent's file, keeps what is there, and says truthfully what it did.
//! It never starts the agent, and it never changes a file that it does not fully understand.

pub(crate) mod clients;
pub(crate) mod file;
pub(crate) mod merge;
pub(crate) mod places;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use self::clients::{Client, Scope};
use self::merge::{Entry, Merged, Refusal, SUBCOMMAND};
use self::places::{Places, Platform};

pub(crate) use self::clients::ClientName;

/// Prints the configuration for an agent, or merges it into the agent's file.
pub(crate) fn run(client: ClientName, write: bool, out: &mut dyn Write) -> Result<()> {
    run_in(&Places::of_this_process()?, client, write, out)
}

/// The configuration for an agent, ready to paste.
pub(crate) fn snippet(client: ClientName) -> Result<String> {
    Plan::new(&Places::of_this_process()?, client)?.snippet()
}

fn run_in(places: &Places, client: ClientName, write: bool, out: &mut dyn Write) -> Result<()> {
    let plan = Plan::new(places, client)?;
    if write { plan.write(out) } else { plan.show(out) }
}

/// One agent on this machine, with everything that depends on the machine worked out.
struct Plan {
    client: &'static Client,
    platform: Platform,
    file: PathBuf,
    command: String,
}

/// What happened to the file.
enum Outcome {
    Created,
    Added { backup: PathBuf },
    Updated { backup: PathBuf },
    UpToDate,
}

impl Plan {
    fn new(places: &Places, client: ClientName) -> Result<Self> {
        let client = Client::named(client)?;
        Ok(Self {
            client,
            platform: places.platform,
            file: (client.file)(places)?,
            // Programs started from a desktop often do not see the shell's PATH.
            command: match client.scope {
                Scope::User => places.own_path()?,
                Scope::Project => places.own_command()?,
            },
        })
    }

    fn merge(&self, text: &str) -> Result<Merged> {
        let entry = Entry { command: &self.command, says_type: self.client.says_type };
        self.client
            .format
            .merge(text, self.client.key, &entry)
            .map_err(|refusal| untouched(&self.file, &refusal))
    }

    fn snippet(&self) -> Result<String> {
        match self.merge("")? {
            Merged::Added(text) | Merged::Updated(text) => Ok(text),
            // Nothing is in an empty text, so there is always something to add.
            Merged::UpToDate => Ok(String::new()),
        }
    }

    fn show(&self, out: &mut dyn Write) -> Result<()> {
        let Client { name, title, scope, .. } = self.client;
        let whose = match scope {
            Scope::Project => "for this folder",
            Scope::User => "for every folder",
        };
        writeln!(out, "{title} reads this from {}, {whose}:\n", self.file.display())?;
        writeln!(out, "{}", self.snippet()?)?;
        if let Some(own_command) = self.client.own_command {
            let command = self.platform.shell_word(&self.command);
            writeln!(
                out,
                "The same by its own command:\n\n  {own_command} {command} {SUBCOMMAND}\n"
            )?;
        }
        writeln!(out, "To merge it into the file: holdpoint setup {name} --write")?;
        self.note(out)
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let file = self.file.display();
        let report = match self.apply()? {
            Outcome::Created => format!("created {file} with the server `holdpoint`"),
            Outcome::Added { backup } => {
                format!("merged the server `holdpoint` into {file}\nbackup: {}", backup.display())
            }
            Outcome::Updated { backup } => {
                format!("updated the server `holdpoint` in {file}\nbackup: {}", backup.display())
            }
            Outcome::UpToDate => return Ok(writeln!(out, "already up to date: {file}")?),
        };
        writeln!(out, "{report}\nnext: {}", self.client.next_step)?;
        self.note(out)
    }

    fn apply(&self) -> Result<Outcome> {
        let Some(old) = file::read(&self.file)? else {
            file::create(&self.file, &self.snippet()?)?;
            return Ok(Outcome::Created);
        };
        Ok(match self.merge(&old)? {
            Merged::UpToDate => Outcome::UpToDate,
            Merged::Added(new) => Outcome::Added { backup: file::replace(&self.file, &old, &new)? },
            Merged::Updated(new) => {
                Outcome::Updated { backup: file::replace(&self.file, &old, &new)? }
            }
        })
    }

    /// A path of this machine in a file that others share deserves a word.
    fn note(&self, out: &mut dyn Write) -> Result<()> {
        if self.client.scope == Scope::Project && Path::new(&self.command).is_absolute() {
            writeln!(
                out,
                "note: the command is a path of this machine; put `holdpoint` on `PATH` to share the file"
            )?;
        }
        Ok(())
    }
}

fn untouched(file: &Path, refusal: &Refusal) -> anyhow::Error {
    anyhow!("`{}` was left as it is: {}\nhint: {}", file.display(), refusal.what, refusal.hint)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::ValueEnum;
    use expect_test::{Expect, expect};

    use super::places::tests::{add_program, places_in};
    use super::*;

    /// A machine of its own, in a temporary folder.
    struct Machine {
        root: tempfile::TempDir,
        places: Places,
    }

    impl Machine {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let places = places_in(root.path());
            Self { root, places }
        }

        fn file(&self, client: ClientName) -> PathBuf {
            (Client::named(client).unwrap().file)(&self.places).unwrap()
        }

        fn put(&self, client: ClientName, text: &str) {
            let file = self.file(client);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        /// What the user reads, with the folder of this test cut out.
        fn run(&self, client: ClientName, write: bool) -> String {
            let mut out = Vec::new();
            let text = match run_in(&self.places, client, write, &mut out) {
                Ok(()) => String::from_utf8(out).unwrap(),
                Err(error) => format!("error: {error:#}\n"),
            };
            text.replace(self.root.path().to_str().unwrap(), "")
        }

        /// The file and what lies beside it.
        fn files(&self, client: ClientName) -> String {
            let folder = self.file(client).parent().unwrap().to_owned();
            let mut paths: Vec<_> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            let show = |path: &PathBuf| {
                let name = path.file_name().unwrap().to_str().unwrap();
                format!("--- {name}\n{}", fs::read_to_string(path).unwrap())
            };
            paths.iter().map(show).collect()
        }
    }

    /// Writes over `before`, shows report and files, and sees that a second run changes nothing.
    #[track_caller]
    fn transcript(client: ClientName, before: Option<&str>) -> String {
        let machine = Machine::new();
        if let Some(before) = before {
            machine.put(client, before);
        }
        let report = machine.run(client, true);
        let files = machine.files(client);

        let again = machine.run(client, true);
        assert!(again == report || again.starts_with("already up to date"), "{again}");
        assert_eq!(machine.files(client), files);
        format!("{report}{files}").replace(machine.root.path().to_str().unwrap(), "")
    }

    #[track_caller]
    fn check(client: ClientName, before: &str, expected: Expect) {
        expected.assert_eq(&transcript(client, Some(before)));
    }

    #[test]
    fn a_client_of_this_folder_gets_a_file_in_it() {
        let clients = [ClientName::ClaudeCode, ClientName::VsCode];
        expect![[r#"
            created /project/.mcp.json with the server `holdpoint`
            next: start Claude Code in this folder and approve the server, then `/mcp` shows it
            --- .mcp.json
            {
              "mcpServers": {
                "holdpoint": {
                  "type": "stdio",
                  "command": "holdpoint",
                  "args": ["mcp"]
                }
              }
            }
            created /project/.vscode/mcp.json with the server `holdpoint`
            next: open this folder in VS Code and start the server by `MCP: List Servers`
            --- mcp.json
            {
              "servers": {
                "holdpoint": {
                  "type": "stdio",
                  "command": "holdpoint",
                  "args": ["mcp"]
                }
              }
            }
        "#]]
        .assert_eq(&clients.map(|client| transcript(client, None)).concat());
    }

    #[test]
    fn a_client_of_this_user_gets_a_file_in_the_home_folder() {
        let clients =
            [ClientName::ClaudeDesktop, ClientName::Cursor, ClientName::Codex, ClientName::Gemini];
        expect![[r#"
            created /home/.config/Claude/claude_desktop_config.json with the server `holdpoint`
            next: quit Claude Desktop and start it again
            --- claude_desktop_config.json
            {
              "mcpServers": {
                "holdpoint": {
                  "command": "/bin/holdpoint",
                  "args": ["mcp"]
                }
              }
            }
            created /home/.cursor/mcp.json with the server `holdpoint`
            next: restart Cursor and switch the server on in its MCP settings
            --- mcp.json
            {
              "mcpServers": {
                "holdpoint": {
                  "command": "/bin/holdpoint",
                  "args": ["mcp"]
                }
              }
            }
            created /home/.codex/config.toml with the server `holdpoint`
            next: start Codex, then `/mcp` shows the server
            --- config.toml
            [mcp_servers.holdpoint]
            command = "/bin/holdpoint"
            args = ["mcp"]
            created /home/.gemini/settings.json with the server `holdpoint`
            next: restart Gemini CLI, then `/mcp` shows the server
            --- settings.json
            {
              "mcpServers": {
                "holdpoint": {
                  "command": "/bin/holdpoint",
                  "args": ["mcp"]
                }
              }
            }
        "#]]
        .assert_eq(&clients.map(|client| transcript(client, None)).concat());
    }

    #[test]
    fn comments_and_other_servers_stay_and_a_backup_is_made() {
        check(
            ClientName::Cursor,
            "{\n  // Mine.\n  \"mcpServers\": {\n    \"files\": { \"command\": \"files\" }, // why\n  },\n}\n",
            expect![[r#"
                merged the server `holdpoint` into /home/.cursor/mcp.json
                backup: /home/.cursor/mcp.json.holdpoint-backup
                next: restart Cursor and switch the server on in its MCP settings
                --- mcp.json
                {
                  // Mine.
                  "mcpServers": {
                    "files": { "command": "files" }, // why
                    "holdpoint": {
                      "command": "/bin/holdpoint",
                      "args": ["mcp"],
                    },
                  },
                }
                --- mcp.json.holdpoint-backup
                {
                  // Mine.
                  "mcpServers": {
                    "files": { "command": "files" }, // why
                  },
                }
            "#]],
        );
        check(
            ClientName::Codex,
            "# Mine.\nmodel = \"x\" # the good one\n\n[mcp_servers.files]\ncommand = \"files\"\n",
            expect![[r#"
                merged the server `holdpoint` into /home/.codex/config.toml
                backup: /home/.codex/config.toml.holdpoint-backup
                next: start Codex, then `/mcp` shows the server
                --- config.toml
                # Mine.
                model = "x" # the good one

                [mcp_servers.files]
                command = "files"

                [mcp_servers.holdpoint]
                command = "/bin/holdpoint"
                args = ["mcp"]
                --- config.toml.holdpoint-backup
                # Mine.
                model = "x" # the good one

                [mcp_servers.files]
                command = "files"
            "#]],
        );
    }

    #[test]
    fn an_older_command_is_replaced_and_the_users_settings_stay() {
        check(
            ClientName::Gemini,
            r#"{"mcpServers": {"holdpoint": {"command": "/old/holdpoint", "args": ["mcp", "--toolset", "slim"], "trust": true}}}"#,
            expect![[r#"
                updated the server `holdpoint` in /home/.gemini/settings.json
                backup: /home/.gemini/settings.json.holdpoint-backup
                next: restart Gemini CLI, then `/mcp` shows the server
                --- settings.json
                {"mcpServers": {"holdpoint": {"command": "/bin/holdpoint", "args": ["mcp", "--toolset", "slim"], "trust": true}}}--- settings.json.holdpoint-backup
                {"mcpServers": {"holdpoint": {"command": "/old/holdpoint", "args": ["mcp", "--toolset", "slim"], "trust": true}}}"#]],
        );
    }

    #[test]
    fn a_key_of_the_wrong_type_is_refused_and_the_file_untouched() {
        check(
            ClientName::ClaudeCode,
            "{\"mcpServers\": []}\n",
            expect![[r#"
                error: `/project/.mcp.json` was left as it is: `mcpServers` is an array, where an object is expected
                hint: correct or remove `mcpServers` by hand, then run this again
                --- .mcp.json
                {"mcpServers": []}
            "#]],
        );
        check(
            ClientName::Codex,
            "mcp_servers = \"none\"\n",
            expect![[r#"
                error: `/home/.codex/config.toml` was left as it is: `mcp_servers` is of type string, where a table is expected
                hint: correct or remove `mcp_servers` by hand, then run this again
                --- config.toml
                mcp_servers = "none"
            "#]],
        );
    }

    #[test]
    fn a_file_that_does_not_parse_is_refused_and_untouched() {
        check(
            ClientName::ClaudeDesktop,
            "{\n  \"mcpServers\": {\n",
            expect![[r#"
                error: `/home/.config/Claude/claude_desktop_config.json` was left as it is: not valid JSON, line 2, column 17: unterminated object
                hint: correct the file by hand, then run this again
                --- claude_desktop_config.json
                {
                  "mcpServers": {
            "#]],
        );
        check(
            ClientName::Codex,
            "model = \n",
            expect![[r#"
                error: `/home/.codex/config.toml` was left as it is: not valid TOML, line 1, column 9: string values must be quoted, expected literal string
                hint: correct the file by hand, then run this again
                --- config.toml
                model = 
            "#]],
        );
    }

    #[test]
    fn without_write_nothing_is_written() {
        let machine = Machine::new();
        for client in ClientName::value_variants() {
            machine.run(*client, false);
            assert!(!machine.file(*client).exists(), "{client}");
        }
    }

    #[test]
    fn printing_says_what_goes_where() {
        let machine = Machine::new();
        expect![[r#"
            Claude Code reads this from /project/.mcp.json, for this folder:

            {
              "mcpServers": {
                "holdpoint": {
                  "type": "stdio",
                  "command": "holdpoint",
                  "args": ["mcp"]
                }
              }
            }

            The same by its own command:

              claude mcp add --scope project holdpoint -- holdpoint mcp

            To merge it into the file: holdpoint setup claude-code --write
        "#]]
        .assert_eq(&machine.run(ClientName::ClaudeCode, false));
        expect![[r#"
            Codex reads this from /home/.codex/config.toml, for every folder:

            [mcp_servers.holdpoint]
            command = "/bin/holdpoint"
            args = ["mcp"]

            The same by its own command:

              codex mcp add holdpoint -- /bin/holdpoint mcp

            To merge it into the file: holdpoint setup codex --write
        "#]]
        .assert_eq(&machine.run(ClientName::Codex, false));
    }

    #[test]
    fn a_binary_that_is_not_on_the_search_path_is_named_by_its_path() {
        let mut machine = Machine::new();
        machine.places.exe = add_program(&machine.root.path().join("my build"), "holdpoint");
        expect![[r#"
            Claude Code reads this from /project/.mcp.json, for this folder:

            {
              "mcpServers": {
                "holdpoint": {
                  "type": "stdio",
                  "command": "/my build/holdpoint",
                  "args": ["mcp"]
                }
              }
            }

            The same by its own command:

              claude mcp add --scope project holdpoint -- '/my build/holdpoint' mcp

            To merge it into the file: holdpoint setup claude-code --write
            note: the command is a path of this machine; put `holdpoint` on `PATH` to share the file
        "#]]
        .assert_eq(&machine.run(ClientName::ClaudeCode, false));
    }

    #[test]
    fn the_snippet_is_what_a_new_file_holds() {
        for client in ClientName::value_variants() {
            let machine = Machine::new();
            machine.run(*client, true);
            let snippet = Plan::new(&machine.places, *client).unwrap().snippet().unwrap();
            assert_eq!(fs::read_to_string(machine.file(*client)).unwrap(), snippet);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_file_stays_linked() {
        let machine = Machine::new();
        let link = machine.file(ClientName::Cursor);
        let target = machine.root.path().join("dotfiles.json");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::write(&target, "{}").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let report = machine.run(ClientName::Cursor, true);
        assert!(report.contains("backup: /dotfiles.json.holdpoint-backup"), "{report}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&target).unwrap().contains("holdpoint"));
    }
}
