//! `setup` as its user meets it, on a machine of the test's own.

use std::fs;

use expect_test::{Expect, expect, expect_file};

use super::agents::AGENTS;
use super::link::tests::{from_base64, from_percent};
use super::merge::{FileFormat, Registration};
use super::whereabouts::tests::{add_program, whereabouts_in};
use super::*;

/// A machine of its own, in a temporary folder.
struct Machine {
    root: tempfile::TempDir,
    whereabouts: Whereabouts,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let whereabouts = whereabouts_in(root.path());
        Self { root, whereabouts }
    }

    fn file(&self, agent: &str) -> PathBuf {
        (Agent::named(agent).unwrap().file)(&self.whereabouts).unwrap()
    }

    fn put(&self, agent: &str, text: &str) {
        let file = self.file(agent);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// What the user reads, with the folder of this test cut out.
    fn run(&self, agent: &str, write: bool) -> String {
        self.run_with(agent, Wish { write, skill: false })
    }

    fn run_with(&self, agent: &str, wish: Wish) -> String {
        let mut out = Vec::new();
        let text = match run_in(&self.whereabouts, Agent::named(agent).unwrap(), wish, &mut out) {
            Ok(()) => String::from_utf8(out).unwrap(),
            Err(error) => format!("error: {error:#}\n"),
        };
        text.replace(self.root.path().to_str().unwrap(), "")
    }

    /// The file and what lies beside it.
    fn files(&self, agent: &str) -> String {
        let folder = self.file(agent).parent().unwrap().to_owned();
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
fn transcript(agent: &str, before: Option<&str>) -> String {
    let machine = Machine::new();
    if let Some(before) = before {
        machine.put(agent, before);
    }
    let report = machine.run(agent, true);
    let files = machine.files(agent);

    let again = machine.run(agent, true);
    assert!(again == report || again.starts_with("already up to date"), "{again}");
    assert_eq!(machine.files(agent), files);
    format!("{report}{files}").replace(machine.root.path().to_str().unwrap(), "")
}

#[track_caller]
fn check(agent: &str, before: &str, expected: Expect) {
    expected.assert_eq(&transcript(agent, Some(before)));
}

#[test]
fn a_agent_of_this_folder_gets_a_file_in_it() {
    let agents = ["claude-code", "vscode"];
    expect![[r#"
        created /project/.mcp.json with the server `holdpoint`
        next: start Claude Code in this folder and approve the server, then `/mcp` shows it
        note: the command is a path of this machine; to share the file, write `holdpoint` instead and put it on `PATH`
        --- .mcp.json
        {
          "mcpServers": {
            "holdpoint": {
              "type": "stdio",
              "command": "/bin/holdpoint",
              "args": ["mcp", "--toolset", "agent"]
            }
          }
        }
        created /project/.vscode/mcp.json with the server `holdpoint`
        next: open this folder in VS Code and start the server by `MCP: List Servers`
        note: the command is a path of this machine; to share the file, write `holdpoint` instead and put it on `PATH`
        --- mcp.json
        {
          "servers": {
            "holdpoint": {
              "type": "stdio",
              "command": "/bin/holdpoint",
              "args": ["mcp", "--toolset", "agent"],
              "cwd": "${workspaceFolder}"
            }
          }
        }
    "#]]
    .assert_eq(&agents.map(|agent| transcript(agent, None)).concat());
}

#[test]
fn a_agent_of_this_user_gets_a_file_in_the_home_folder() {
    let agents = ["claude-desktop", "cursor", "codex", "gemini"];
    expect![[r#"
        created /home/.config/Claude/claude_desktop_config.json with the server `holdpoint`
        next: quit Claude Desktop and start it again
        --- claude_desktop_config.json
        {
          "mcpServers": {
            "holdpoint": {
              "command": "/bin/holdpoint",
              "args": ["mcp", "--toolset", "agent"]
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
              "args": ["mcp", "--toolset", "agent"]
            }
          }
        }
        created /home/.codex/config.toml with the server `holdpoint`
        next: start Codex, then `/mcp` shows the server
        --- config.toml
        [mcp_servers.holdpoint]
        command = "/bin/holdpoint"
        args = ["mcp", "--toolset", "agent"]
        startup_timeout_sec = 30
        tool_timeout_sec = 600
        created /home/.gemini/settings.json with the server `holdpoint`
        next: restart Gemini CLI, then `/mcp` shows the server
        --- settings.json
        {
          "mcpServers": {
            "holdpoint": {
              "command": "/bin/holdpoint",
              "args": ["mcp", "--toolset", "agent"],
              "timeout": 600000
            }
          }
        }
    "#]]
    .assert_eq(&agents.map(|agent| transcript(agent, None)).concat());
}

#[test]
fn comments_and_other_servers_stay_and_a_backup_is_made() {
    check(
        "cursor",
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
                  "args": ["mcp", "--toolset", "agent"],
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
        "codex",
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
            args = ["mcp", "--toolset", "agent"]
            startup_timeout_sec = 30
            tool_timeout_sec = 600
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
        "gemini",
        r#"{"mcpServers": {"holdpoint": {"command": "/old/holdpoint", "args": ["mcp", "--toolset", "slim"], "trust": true}}}"#,
        expect![[r#"
            updated the server `holdpoint` in /home/.gemini/settings.json
            backup: /home/.gemini/settings.json.holdpoint-backup
            next: restart Gemini CLI, then `/mcp` shows the server
            --- settings.json
            {"mcpServers": {"holdpoint": {
                  "command": "/bin/holdpoint",
                  "args": ["mcp", "--toolset", "slim"],
                  "trust": true,
                  "timeout": 600000
                }}}--- settings.json.holdpoint-backup
            {"mcpServers": {"holdpoint": {"command": "/old/holdpoint", "args": ["mcp", "--toolset", "slim"], "trust": true}}}"#]],
    );
}

#[test]
fn a_key_of_the_wrong_type_is_refused_and_the_file_untouched() {
    check(
        "claude-code",
        "{\"mcpServers\": []}\n",
        expect![[r#"
            error: `/project/.mcp.json` was left as it is: `mcpServers` is an array, where an object is expected
            hint: correct or remove `mcpServers` by hand, then run this again
            --- .mcp.json
            {"mcpServers": []}
        "#]],
    );
    check(
        "codex",
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
        "claude-desktop",
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
        "codex",
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
    for agent in AGENTS {
        let agent = agent.name;
        machine.run(agent, false);
        assert!(!machine.file(agent).exists(), "{agent}");
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
              "command": "/bin/holdpoint",
              "args": ["mcp", "--toolset", "agent"]
            }
          }
        }

        The same by its own command:

          claude mcp add-json --scope project holdpoint '{"type":"stdio","command":"/bin/holdpoint","args":["mcp","--toolset","agent"]}'

        To merge it into the file: holdpoint setup claude-code --write
        note: the command is a path of this machine; to share the file, write `holdpoint` instead and put it on `PATH`
    "#]]
    .assert_eq(&machine.run("claude-code", false));
    expect![[r#"
        Codex reads this from /home/.codex/config.toml, for every folder:

        [mcp_servers.holdpoint]
        command = "/bin/holdpoint"
        args = ["mcp", "--toolset", "agent"]
        startup_timeout_sec = 30
        tool_timeout_sec = 600

        The same by its own command:

          codex mcp add holdpoint -- /bin/holdpoint mcp --toolset agent

        To merge it into the file: holdpoint setup codex --write
    "#]]
    .assert_eq(&machine.run("codex", false));
}

#[test]
fn a_binary_that_is_not_on_the_search_path_is_named_by_its_path() {
    let mut machine = Machine::new();
    machine.whereabouts.exe = add_program(&machine.root.path().join("my build"), "holdpoint");
    expect![[r#"
        Claude Code reads this from /project/.mcp.json, for this folder:

        {
          "mcpServers": {
            "holdpoint": {
              "type": "stdio",
              "command": "/my build/holdpoint",
              "args": ["mcp", "--toolset", "agent"]
            }
          }
        }

        The same by its own command:

          claude mcp add-json --scope project holdpoint '{"type":"stdio","command":"/my build/holdpoint","args":["mcp","--toolset","agent"]}'

        To merge it into the file: holdpoint setup claude-code --write
        note: the command is a path of this machine; to share the file, write `holdpoint` instead and put it on `PATH`
    "#]]
    .assert_eq(&machine.run("claude-code", false));
}

#[test]
fn the_snippet_is_what_a_new_file_holds() {
    for agent in AGENTS {
        let agent = agent.name;
        let machine = Machine::new();
        machine.run(agent, true);
        let snippet = Plan::new(&machine.whereabouts, Agent::named(agent).unwrap())
            .unwrap()
            .snippet()
            .unwrap();
        assert_eq!(fs::read_to_string(machine.file(agent)).unwrap(), snippet);
    }
}

#[cfg(unix)]
#[test]
fn a_linked_file_stays_linked() {
    let machine = Machine::new();
    let link = machine.file("cursor");
    let target = machine.root.path().join("dotfiles.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::write(&target, "{}").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let report = machine.run("cursor", true);
    assert!(report.contains("backup: /dotfiles.json.holdpoint-backup"), "{report}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("holdpoint"));
}

#[test]
fn every_agent_is_told_in_its_own_words() {
    let machine = Machine::new();
    let told: String = AGENTS.iter().map(|it| machine.run(it.name, false) + "\n").collect();
    // Links hold the path of this machine in a form that cannot be read, and have their own tests.
    let told: String = told.lines().map(|line| cut_link(line) + "\n").collect();
    expect_file!["told.txt"].assert_eq(&told);
}

fn cut_link(line: &str) -> String {
    let starts = ["config=", "vscode:mcp/install?"];
    let start = starts.iter().find_map(|start| Some((line.split_once(start)?.0, *start)));
    start.map_or_else(|| line.to_owned(), |(before, start)| format!("{before}{start}…"))
}

/// A file of the agent's with another server in it, comments where the language has them.
fn before(agent: &Agent) -> String {
    let key = agent.key;
    match agent.format {
        FileFormat::Json => format!(
            "{{\n  // Mine.\n  \"theme\": \"dark\", // why\n  \"{key}\": {{\n    \"files\": {{ \"command\": \"files\" }}\n  }}\n}}\n"
        ),
        FileFormat::Toml => {
            format!("# Mine.\ntheme = \"dark\" # why\n\n[{key}.files]\ncommand = \"files\"\n")
        }
        FileFormat::Yaml => {
            format!("# Mine.\ntheme: dark # why\n{key}:\n  files:\n    cmd: files\n# the end\n")
        }
    }
}

#[test]
fn every_agents_file_keeps_what_is_there() {
    for agent in AGENTS {
        let machine = Machine::new();
        let before = before(agent);
        machine.put(agent.name, &before);
        let report = machine.run(agent.name, true);
        assert!(report.starts_with("merged the server `holdpoint` into "), "{report}");
        let file = machine.file(agent.name);
        let after = fs::read_to_string(&file).unwrap();
        for line in before.lines() {
            let kept = after.lines().any(|it| it.trim_end_matches(',') == line);
            assert!(kept, "{}: `{line}` is gone from\n{after}", agent.name);
        }
        let name = format!("{}.holdpoint-backup", file.file_name().unwrap().to_str().unwrap());
        assert_eq!(fs::read_to_string(file.with_file_name(name)).unwrap(), before);
        let known = agent.format.look(&after, agent.key, agent.fields);
        assert_eq!(
            known,
            Ok(Registration::Command(machine.whereabouts.own_path().unwrap())),
            "{after}"
        );
        let again = machine.run(agent.name, true);
        assert!(again.starts_with("already up to date"), "{}: {again}", agent.name);
    }
}

#[test]
fn the_bare_name_may_stay_where_it_leads_to_this_binary() {
    let machine = Machine::new();
    let text = r#"{"mcpServers": {"holdpoint": {"type": "stdio", "command": "holdpoint", "args": ["mcp", "--toolset", "agent"]}}}"#;
    machine.put("claude-code", text);
    assert!(machine.run("claude-code", true).starts_with("already up to date"));
}

#[test]
fn the_skill_is_written_where_each_agent_reads_skills() {
    let mut told = String::new();
    for agent in AGENTS {
        let machine = Machine::new();
        let wish = Wish { write: false, skill: true };
        told += &machine.run_with(agent.name, wish);
        assert!(!machine.file(agent.name).exists(), "{}", agent.name);
        let Some(skills) = agent.skills else { continue };
        let path = skill::path(&skills(&machine.whereabouts).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), skill::TEXT);
        assert!(machine.run_with(agent.name, wish).starts_with("skill: already up to date"));
        fs::write(&path, "mine").unwrap();
        let report = machine.run_with(agent.name, wish);
        assert!(report.starts_with("skill: updated "), "{report}");
        assert_eq!(
            fs::read_to_string(path.with_file_name("SKILL.md.holdpoint-backup")).unwrap(),
            "mine"
        );
    }
    expect![[r#"
        skill: created /project/.claude/skills/holdpoint/SKILL.md
        error: Claude Desktop reads no skills from a folder
        hint: leave --skill out; the server's own instructions say the same in short
        skill: created /home/.cursor/skills/holdpoint/SKILL.md
        skill: created /project/.github/skills/holdpoint/SKILL.md
        skill: created /home/.codex/skills/holdpoint/SKILL.md
        skill: created /home/.gemini/skills/holdpoint/SKILL.md
        skill: created /home/.copilot/skills/holdpoint/SKILL.md
        skill: created /home/.codeium/windsurf/skills/holdpoint/SKILL.md
        skill: created /home/.cline/skills/holdpoint/SKILL.md
        skill: created /project/.roo/skills/holdpoint/SKILL.md
        skill: created /home/.agents/skills/holdpoint/SKILL.md
        skill: created /home/.config/opencode/skills/holdpoint/SKILL.md
        skill: created /home/.config/goose/skills/holdpoint/SKILL.md
        skill: created /home/.qwen/skills/holdpoint/SKILL.md
        skill: created /home/.agents/skills/holdpoint/SKILL.md
        skill: created /home/.junie/skills/holdpoint/SKILL.md
        skill: created /home/.config/agents/skills/holdpoint/SKILL.md
        skill: created /home/.gemini/config/skills/holdpoint/SKILL.md
    "#]]
    .assert_eq(&told);
}

#[test]
fn file_and_skill_are_written_together_or_not_at_all() {
    let machine = Machine::new();
    let both = Wish { write: true, skill: true };
    let report = machine.run_with("cursor", both);
    assert!(report.starts_with("created /home/.cursor/mcp.json"), "{report}");
    assert!(
        report.contains("\nskill: created /home/.cursor/skills/holdpoint/SKILL.md\n"),
        "{report}"
    );
    let report = machine.run_with("claude-desktop", both);
    assert!(report.starts_with("error: Claude Desktop reads no skills from a folder"), "{report}");
    assert!(!machine.file("claude-desktop").exists());
}

/// What the README tells people to paste is what `setup` would write, with the bare name.
#[test]
fn the_readme_says_what_setup_says() {
    let readme = include_str!("../../../../../README.md");
    let wanted = |name| entry(Agent::named(name).unwrap(), PROGRAM);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let between = |start: &str, end: char| {
        let (_, rest) = readme.split_once(start).unwrap_or_else(|| panic!("no {start}"));
        rest.split_once(end).unwrap().0.to_owned()
    };
    let claude = between("claude mcp add-json --scope project holdpoint '", '\'');
    assert_eq!(parse(&claude), wanted("claude-code"));
    let code = between("code --add-mcp '", '\'');
    assert_eq!(parse(&code), link::named(&wanted("vscode")));
    let link = between("vscode:mcp/install?", '\n');
    assert_eq!(parse(&from_percent(&link)), link::named(&wanted("vscode")));
    let link =
        between("cursor://anysphere.cursor-deeplink/mcp/install?name=holdpoint&config=", '\n');
    assert_eq!(parse(&from_base64(&from_percent(&link))), wanted("cursor"));
    for agent in AGENTS {
        assert!(
            readme.contains(&format!("`{}`", agent.name)),
            "{} is not in the README",
            agent.name
        );
    }
}
