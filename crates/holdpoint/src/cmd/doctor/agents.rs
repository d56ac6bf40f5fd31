//! Which agents on this machine know Holdpoint.

use std::path::{Path, PathBuf};

use super::{Finding, FindingKind, Machine};
use crate::cmd::setup::agents::{AGENTS, Agent};
use crate::cmd::setup::file;
use crate::cmd::setup::merge::Registration;
use crate::cmd::setup::whereabouts::Whereabouts;

pub(super) fn configurations(machine: &Machine) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut absent = Vec::new();
    for agent in AGENTS {
        match examine(agent, &machine.whereabouts) {
            Some(finding) => findings.push(finding),
            None => absent.push(agent.title),
        }
    }
    if !absent.is_empty() {
        findings.push(Finding::new(FindingKind::Info, "not installed here:", absent.join(", ")));
    }
    findings
}

/// What is to be said of an agent; nothing of one that is not here.
fn examine(agent: &Agent, whereabouts: &Whereabouts) -> Option<Finding> {
    let files: Vec<PathBuf> =
        (agent.file)(whereabouts).ok().into_iter().chain((agent.other_file)(whereabouts)).collect();
    for file in &files {
        match look(agent, file) {
            Ok(Registration::Absent) => {}
            Ok(Registration::Command(command)) => {
                return Some(describe_entry(agent, whereabouts, file, &command));
            }
            Ok(Registration::OtherWay) => return Some(knows(agent, file)),
            Err(why) => {
                let detail = format!("has a configuration we cannot read: {why}");
                return Some(Finding::new(FindingKind::Warning, agent.title, detail));
            }
        }
    }
    if !agent.is_installed(whereabouts) {
        return None;
    }
    let places_looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let detail = format!("does not know Holdpoint (looked in {})", places_looked.join(" and "));
    Some(Finding::new(FindingKind::Missing, agent.title, detail).with_fix(setup_command(agent)))
}

fn look(agent: &Agent, file: &Path) -> Result<Registration, String> {
    let Some(text) = file::read(file).map_err(|error| first_line(&error.to_string()))? else {
        return Ok(Registration::Absent);
    };
    agent
        .format
        .look(&text, agent.key, agent.fields)
        .map_err(|refusal| format!("{}: {}", file.display(), refusal.what))
}

/// An entry is worth as much as the command in it.
fn describe_entry(agent: &Agent, whereabouts: &Whereabouts, file: &Path, command: &str) -> Finding {
    let path = Path::new(command);
    let leads_somewhere = if path.is_absolute() {
        path.is_file()
    } else {
        whereabouts.find_program(command).is_some()
    };
    if leads_somewhere {
        return knows(agent, file);
    }
    let detail = format!("starts `{command}`, which is not there (says {})", file.display());
    Finding::new(FindingKind::Warning, agent.title, detail).with_fix(setup_command(agent))
}

fn knows(agent: &Agent, file: &Path) -> Finding {
    Finding::new(FindingKind::Ok, agent.title, format!("knows Holdpoint, by {}", file.display()))
}

fn setup_command(agent: &Agent) -> String {
    format!("holdpoint setup {} --write", agent.name)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{machine_in, report};
    use super::*;
    use crate::cmd::setup::whereabouts::tests::add_program;

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
            expect![
                "info    not installed here: Claude Code, Claude Desktop, Cursor, VS Code, Codex, Gemini CLI, Copilot CLI, Windsurf, Cline, Roo Code, Zed, opencode, Goose, Qwen Code, Kimi Code, Junie, Amp, Antigravity"
            ],
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
                ok      Cursor knows Holdpoint, by /project/.cursor/mcp.json
                ok      VS Code knows Holdpoint, by /home/.config/Code/User/mcp.json
                ok      Codex knows Holdpoint, by /home/.codex/config.toml
                info    not installed here: Claude Desktop, Gemini CLI, Copilot CLI, Windsurf, Cline, Roo Code, Zed, opencode, Goose, Qwen Code, Kimi Code, Junie, Amp, Antigravity"#]],
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
                missing Cursor does not know Holdpoint (looked in /home/.cursor/mcp.json and /project/.cursor/mcp.json)
                        fix: holdpoint setup cursor --write
                missing Gemini CLI does not know Holdpoint (looked in /home/.gemini/settings.json and /project/.gemini/settings.json)
                        fix: holdpoint setup gemini --write
                info    not installed here: Claude Code, Claude Desktop, VS Code, Codex, Copilot CLI, Windsurf, Cline, Roo Code, Zed, opencode, Goose, Qwen Code, Kimi Code, Junie, Amp, Antigravity"#]],
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
                warning Codex has a configuration we cannot read: /home/.codex/config.toml: not valid TOML, line 1, column 9: string values must be quoted, expected literal string
                warning Gemini CLI starts `hp`, which is not there (says /home/.gemini/settings.json)
                        fix: holdpoint setup gemini --write
                info    not installed here: Claude Desktop, Cursor, VS Code, Copilot CLI, Windsurf, Cline, Roo Code, Zed, opencode, Goose, Qwen Code, Kimi Code, Junie, Amp, Antigravity"#]],
        );
    }

    #[test]
    fn every_agents_file_is_found_in_its_own_language() {
        check(
            &[
                (
                    "home/.config/opencode/opencode.json",
                    r#"{"mcp": {"holdpoint": {"command": ["/bin/sh", "mcp"]}}}"#,
                ),
                (
                    "home/.config/goose/config.yaml",
                    "extensions:\n  holdpoint:\n    cmd: /gone/holdpoint\n",
                ),
                ("home/.config/zed/settings.json", "// Mine.\n{\"context_servers\": {}}"),
                (
                    "project/.amp/settings.json",
                    r#"{"amp.mcpServers": {"holdpoint": {"command": "/bin/sh"}}}"#,
                ),
                (
                    "home/.gemini/antigravity/mcp_config.json",
                    r#"{"mcpServers": {"holdpoint": {"serverUrl": "http://127.0.0.1:5174/mcp"}}}"#,
                ),
                ("home/.copilot/mcp-config.json", "{"),
            ],
            expect![[r#"
                missing Gemini CLI does not know Holdpoint (looked in /home/.gemini/settings.json and /project/.gemini/settings.json)
                        fix: holdpoint setup gemini --write
                warning Copilot CLI has a configuration we cannot read: /home/.copilot/mcp-config.json: not valid JSON, line 1, column 1: unterminated object
                missing Zed does not know Holdpoint (looked in /home/.config/zed/settings.json and /project/.zed/settings.json)
                        fix: holdpoint setup zed --write
                ok      opencode knows Holdpoint, by /home/.config/opencode/opencode.json
                warning Goose starts `/gone/holdpoint`, which is not there (says /home/.config/goose/config.yaml)
                        fix: holdpoint setup goose --write
                ok      Amp knows Holdpoint, by /project/.amp/settings.json
                ok      Antigravity knows Holdpoint, by /home/.gemini/antigravity/mcp_config.json
                info    not installed here: Claude Code, Claude Desktop, Cursor, VS Code, Codex, Windsurf, Cline, Roo Code, Qwen Code, Kimi Code, Junie"#]],
        );
    }

    #[test]
    fn a_program_on_the_path_is_an_installed_agent() {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        add_program(&root.path().join("bin"), "claude");
        let missing: Vec<String> = configurations(&machine)
            .into_iter()
            .filter(|finding| finding.status == FindingKind::Missing)
            .map(|finding| finding.what)
            .collect();
        assert_eq!(missing, ["Claude Code"]);
    }
}
