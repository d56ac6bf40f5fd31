//! Which agents on this machine know Holdpoint.

use std::path::{Path, PathBuf};

use super::{Finding, Machine, Status};
use crate::setup::clients::{CLIENTS, Client};
use crate::setup::file;
use crate::setup::merge::Known;
use crate::setup::places::Places;

pub(super) fn configurations(machine: &Machine) -> Vec<Finding> {
    CLIENTS.iter().map(|client| examine(client, &machine.places)).collect()
}

fn examine(client: &Client, places: &Places) -> Finding {
    let files: Vec<PathBuf> =
        (client.file)(places).ok().into_iter().chain((client.other_file)(places)).collect();
    for file in &files {
        match look(client, file) {
            Ok(Known::Absent) => {}
            Ok(Known::Command(command)) => return describe_entry(client, places, file, &command),
            Ok(Known::OtherWay) => return knows(client, file),
            Err(why) => {
                return Finding::new(
                    Status::Warning,
                    client.title,
                    format!("has a configuration we cannot read: {why}"),
                );
            }
        }
    }
    if !client.is_installed(places) {
        return Finding::new(Status::Info, client.title, "is not installed here");
    }
    let places_looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let detail = format!("does not know Holdpoint (looked in {})", places_looked.join(" and "));
    Finding::new(Status::Missing, client.title, detail).with_fix(setup_command(client))
}

fn look(client: &Client, file: &Path) -> Result<Known, String> {
    let Some(text) = file::read(file).map_err(|error| first_line(&error.to_string()))? else {
        return Ok(Known::Absent);
    };
    client
        .format
        .look(&text, client.key)
        .map_err(|refusal| format!("{}: {}", file.display(), refusal.what))
}

/// An entry is worth as much as the command in it.
fn describe_entry(client: &Client, places: &Places, file: &Path, command: &str) -> Finding {
    let path = Path::new(command);
    let leads_somewhere =
        if path.is_absolute() { path.is_file() } else { places.find_program(command).is_some() };
    if leads_somewhere {
        return knows(client, file);
    }
    let detail = format!("starts `{command}`, which is not there (says {})", file.display());
    Finding::new(Status::Warning, client.title, detail).with_fix(setup_command(client))
}

fn knows(client: &Client, file: &Path) -> Finding {
    Finding::new(Status::Ok, client.title, format!("knows Holdpoint, by {}", file.display()))
}

fn setup_command(client: &Client) -> String {
    format!("holdpoint setup {} --write", client.name)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{machine_in, report};
    use super::*;
    use crate::setup::places::tests::add_program;

    /// What is said about all agents on a machine with these files.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        expected.assert_eq(&report(root.path(), &configurations(&machine)));
    }

    #[test]
    fn agents_that_are_not_installed_are_no_complaint() {
        check(
            &[],
            expect![[r#"
                info    Claude Code is not installed here
                info    Claude Desktop is not installed here
                info    Cursor is not installed here
                info    VS Code is not installed here
                info    Codex is not installed here
                info    Gemini CLI is not installed here"#]],
        );
    }

    #[test]
    fn agents_that_know_us_are_good_wherever_they_keep_it() {
        check(
            &[
                (
                    "project/.mcp.json",
                    r#"{"mcpServers": {"holdpoint": {"command": "holdpoint", "args": ["mcp"]}}}"#,
                ),
                (
                    "project/.cursor/mcp.json",
                    r#"{"mcpServers": {"holdpoint": {"url": "http://127.0.0.1:5174/mcp"}}}"#,
                ),
                (
                    "home/.config/Code/User/mcp.json",
                    r#"{"servers": {"holdpoint": {"command": "holdpoint"}}}"#,
                ),
                ("home/.codex/config.toml", "[mcp_servers.holdpoint]\ncommand = 'holdpoint'\n"),
            ],
            expect![[r#"
                ok      Claude Code knows Holdpoint, by /project/.mcp.json
                info    Claude Desktop is not installed here
                ok      Cursor knows Holdpoint, by /project/.cursor/mcp.json
                ok      VS Code knows Holdpoint, by /home/.config/Code/User/mcp.json
                ok      Codex knows Holdpoint, by /home/.codex/config.toml
                info    Gemini CLI is not installed here"#]],
        );
    }

    #[test]
    fn agents_that_do_not_know_us_get_the_command_that_tells_them() {
        check(
            &[
                ("home/.cursor/mcp.json", "{}"),
                ("home/.gemini/settings.json", r#"{"theme": "holdpoint"}"#),
            ],
            expect![[r#"
                info    Claude Code is not installed here
                info    Claude Desktop is not installed here
                missing Cursor does not know Holdpoint (looked in /home/.cursor/mcp.json and /project/.cursor/mcp.json)
                        fix: holdpoint setup cursor --write
                info    VS Code is not installed here
                info    Codex is not installed here
                missing Gemini CLI does not know Holdpoint (looked in /home/.gemini/settings.json and /project/.gemini/settings.json)
                        fix: holdpoint setup gemini --write"#]],
        );
    }

    #[test]
    fn a_command_that_is_not_there_and_a_file_that_does_not_parse_are_warnings() {
        check(
            &[
                (
                    "project/.mcp.json",
                    r#"{"mcpServers": {"holdpoint": {"command": "/old/holdpoint"}}}"#,
                ),
                ("home/.codex/config.toml", "model = \n"),
                (
                    "home/.gemini/settings.json",
                    r#"{"mcpServers": {"holdpoint": {"command": "hp"}}}"#,
                ),
            ],
            expect![[r#"
                warning Claude Code starts `/old/holdpoint`, which is not there (says /project/.mcp.json)
                        fix: holdpoint setup claude-code --write
                info    Claude Desktop is not installed here
                info    Cursor is not installed here
                info    VS Code is not installed here
                warning Codex has a configuration we cannot read: /home/.codex/config.toml: not valid TOML, line 1, column 9: string values must be quoted, expected literal string
                warning Gemini CLI starts `hp`, which is not there (says /home/.gemini/settings.json)
                        fix: holdpoint setup gemini --write"#]],
        );
    }

    #[test]
    fn a_program_on_the_path_is_an_installed_agent() {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        add_program(&root.path().join("bin"), "claude");
        let missing: Vec<String> = configurations(&machine)
            .into_iter()
            .filter(|finding| finding.status == Status::Missing)
            .map(|finding| finding.what)
            .collect();
        assert_eq!(missing, ["Claude Code"]);
    }
}
