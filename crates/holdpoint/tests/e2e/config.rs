//! Defaults, two files, the environment, arguments: what holds, where it comes from, and what is not taken.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use holdpoint_testkit::{
    process::{Process, command},
    rpc::Rpc,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A home and a cloned repository.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(place.workspace().join(".git")).unwrap();
        std::fs::create_dir_all(place.workspace().join(".holdpoint")).unwrap();
        std::fs::create_dir_all(place.workspace().join("src")).unwrap();
        std::fs::create_dir_all(place.home()).unwrap();
        place
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    fn workspace(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("shop")
    }

    fn mine(self, text: &str) -> Place {
        std::fs::write(self.home().join("config.toml"), text).unwrap();
        self
    }

    fn cloned(self, text: &str) -> Place {
        std::fs::write(self.workspace().join(".holdpoint/config.toml"), text).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(BIN, args, &self.home());
        command.current_dir(self.workspace().join("src")).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
        let mut command = self.command(args);
        command.envs(environment.iter().copied());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    /// The options as `holdpoint config --json` has them.
    fn config(&self, args: &[&str], environment: &[(&str, &str)]) -> Value {
        let (code, json, stderr) = self.run(&[&["config", "--json"], args].concat(), environment);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str::<Value>(&json).unwrap()["options"].clone()
    }
}

fn entry(value: Value, source: &str) -> Value {
    json!({ "value": value, "source": source })
}

#[test]
fn each_layer_gives_way_to_the_next() {
    let place = Place::new()
        .mine("port = 1001\nend_idle = 11\ntool_timeout = 21\nlog_level = \"warn\"\n")
        .cloned("# ours\nend_idle = 12\ntool_timeout = 22\nlog_level = \"info\"\n");
    let environment = [("HOLDPOINT_TOOL_TIMEOUT", "23"), ("HOLDPOINT_LOG", "debug")];
    let options = place.config(&["--log-level", "trace"], &environment);
    let (mine, cloned) = (place.home(), place.workspace());
    assert_eq!(options["host"], entry(json!("127.0.0.1"), "default"));
    let source = format!("{}/config.toml:1", mine.display());
    assert_eq!(options["port"], entry(json!(1001), &source));
    let source = format!("{}/.holdpoint/config.toml:2", cloned.display());
    assert_eq!(options["end_idle"], entry(json!(12), &source));
    assert_eq!(options["tool_timeout"], entry(json!(23), "HOLDPOINT_TOOL_TIMEOUT"));
    assert_eq!(options["log_level"], entry(json!("trace"), "--log-level"));
    assert_eq!(options["token"], json!({ "value": false, "source": null }));
}

#[test]
fn every_option_can_be_set_in_every_layer() {
    // key, value in the file, value as text
    let all = [
        ("port", "1234", "1234"),
        ("host", "\"::1\"", "::1"),
        ("mcp_sse", "true", "true"),
        ("keep_alive", "true", "true"),
        ("db", "\":memory:\"", ":memory:"),
        ("dap_log", "\"/tmp/dap\"", "/tmp/dap"),
        ("end_idle", "2.5", "2.5"),
        ("toolset", "[\"agent\", \"app\"]", "agent,app"),
        ("structured", "\"never\"", "never"),
        ("tool_timeout", "7", "7"),
        ("timeout", "7000", "7000"),
        ("workspace", "\"/tmp\"", "/tmp"),
        ("allow_origin", "[\"https://a.example\"]", "https://a.example"),
        ("allow_user", "[\"www-data\"]", "www-data"),
        ("share_with_users", "true", "true"),
        ("token", "\"hunter2\"", "hunter2"),
        ("token_file", "\"/tmp/token\"", "/tmp/token"),
        ("show_secrets", "true", "true"),
        ("secret_name", "[\"kennwort\"]", "kennwort"),
        ("plain_name", "[\"api_key\"]", "api_key"),
        ("log_level", "\"debug\"", "debug"),
        ("url", "\"http://127.0.0.1:9\"", "http://127.0.0.1:9"),
    ];
    let known = Place::new().config(&[], &[]);
    assert_eq!(known.as_object().unwrap().len(), all.len(), "{known}");
    let file: String = all.iter().map(|(key, toml, _)| format!("{key} = {toml}\n")).collect();
    let place = Place::new().mine(&file);
    let by_file = place.config(&[], &[]);
    let names: Vec<String> = all
        .iter()
        .map(|(key, ..)| match *key {
            "log_level" => "HOLDPOINT_LOG".to_owned(),
            key => format!("HOLDPOINT_{}", key.to_uppercase()),
        })
        .collect();
    let environment: Vec<(&str, &str)> =
        names.iter().zip(&all).map(|(name, (_, _, text))| (name.as_str(), *text)).collect();
    let by_environment = Place::new().config(&[], &environment);
    let arguments: Vec<String> = all
        .iter()
        .flat_map(|(key, _, text)| {
            let name = format!("--{}", key.replace('_', "-"));
            if *text == "true" { vec![name] } else { vec![name, (*text).to_owned()] }
        })
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let by_argument = Place::new().config(&arguments, &[]);
    for (at, (key, ..)) in all.iter().enumerate() {
        let value = &by_file[key]["value"];
        assert_ne!(value, &known[key]["value"], "{key}");
        assert_eq!(value, &by_environment[key]["value"], "{key}");
        assert_eq!(value, &by_argument[key]["value"], "{key}");
        let line = format!("{}/config.toml:{}", place.home().display(), at + 1);
        assert_eq!(by_file[key]["source"], line, "{key}");
        assert_eq!(by_environment[key]["source"], names[at], "{key}");
        assert_eq!(by_argument[key]["source"], format!("--{}", key.replace('_', "-")), "{key}");
    }
    assert!(!by_file.to_string().contains("hunter2"), "a token is never shown");
}

#[test]
fn what_is_printed_can_be_read_again() {
    let place = Place::new().cloned("toolset = \"agent\"\nmcp_sse = true\n");
    let (code, text, _) = place.run(&["config"], &[("HOLDPOINT_TOKEN", "hunter2")]);
    assert_eq!(code, 0);
    let [mine, cloned, ..] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(mine.starts_with("# ") && mine.ends_with("home/config.toml: not there"), "{text}");
    assert!(cloned.ends_with("shop/.holdpoint/config.toml: read"), "{text}");
    assert!(text.contains("# token is set") && !text.contains("hunter2"), "{text}");
    let again = Place::new().mine(&text);
    let options = again.config(&[], &[]);
    assert_eq!(options["toolset"]["value"], json!(["agent"]));
    assert_eq!(options["mcp_sse"]["value"], true);
}

#[track_caller]
fn refused(place: &Place, args: &[&str], told: &[&str]) {
    let (code, stdout, stderr) = place.run(args, &[]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    for part in told {
        assert!(stderr.contains(part), "{part} is not in {stderr}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_line() {
    let place = Place::new().mine("port = 0\ntool_set = \"slim\"\n");
    let line = format!("error: {}/config.toml:2: no option `tool_set`", place.home().display());
    for command in [&["mcp"][..], &["serve"], &["config"], &["tools"], &["tool", "server_status"]] {
        refused(&place, command, &[&line, "hint: did you mean `toolset`?"]);
    }
    // What needs no option is not held up by one.
    let (code, _, stderr) = place.run(&["stop"], &[]);
    assert_eq!(code, 0, "{stderr}");
    let place = Place::new().cloned("port = \"x\"");
    refused(&place, &["mcp"], &["shop/.holdpoint/config.toml:1: `port`: it takes a number"]);
}

/// A repository that one has cloned must not decide who reaches this machine, nor where things are written.
#[test]
fn a_repository_opens_no_door() {
    for option in [
        "token = \"known\"",
        "allow_origin = \"https://evil.example\"",
        "host = \"0.0.0.0\"",
        "db = \"kept.db\"",
        "dap_log = \"../.bashrc\"",
        "url = \"http://evil.example\"",
        "allow_user = \"www-data\"",
        "share_with_users = true",
        "token_file = \"token\"",
    ] {
        let place = Place::new().cloned(option);
        let (key, _) = option.split_once(' ').unwrap();
        let told = format!("config.toml:1: `{key}` is not taken from a workspace");
        let mine = format!("hint: set it in {}/config.toml", place.home().display());
        refused(&place, &["mcp"], &[&told, &mine]);
    }
}

/// The same folder, once as a home: what is in it is the user's own.
#[test]
fn the_home_folder_is_no_workspace() {
    let place = Place::new();
    let own = place.workspace().join(".holdpoint");
    std::fs::write(own.join("config.toml"), "token = \"mine\"\nport = 0\n").unwrap();
    let mut command = place.command(&["config", "--json"]);
    let output = command.env("HOLDPOINT_HOME", &own).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["options"]["token"]["value"], true);
    assert_eq!(json["files"].as_array().unwrap().len(), 1);
}

fn tools(place: &Place, args: &[&str], change: impl FnOnce(&mut Command)) -> usize {
    let mut rpc = Rpc::start_with(BIN, args, |command| {
        command.env("HOLDPOINT_HOME", place.home()).current_dir(place.workspace());
        change(command);
    });
    rpc.initialize("2025-11-25");
    let list = rpc.request("tools/list", json!({}));
    let list = list.get("result").cloned().unwrap_or(list);
    rpc.finish();
    list["tools"].as_array().unwrap().len()
}

#[test]
fn a_server_does_as_its_files_say() {
    let place = Place::new().mine("port = 0\ntoolset = \"agent\"").cloned("toolset = \"slim\"");
    assert_eq!(tools(&place, &["mcp"], |_| {}), 9);
    assert_eq!(tools(&place, &["mcp", "--toolset", "agent"], |_| {}), 20);
    // The project that the agent names, wherever it starts us.
    let elsewhere = |command: &mut Command| {
        command.current_dir(Path::new("/")).env("CLAUDE_PROJECT_DIR", place.workspace());
    };
    assert_eq!(tools(&place, &["mcp"], elsewhere), 9);
    let outside = |command: &mut Command| {
        command.current_dir(Path::new("/"));
    };
    assert_eq!(tools(&place, &["mcp"], outside), 20);
    // A token of the user's own file is asked for.
    let place = Place::new().mine("port = 0\ntoken = \"mine\"");
    let mut server = Process::start_at(BIN, &["serve"], &place.home(), |command| {
        command.current_dir(place.workspace());
    });
    let url = format!("http://127.0.0.1:{}", server.port());
    let args = ["tool", "server_status", "--url", &url];
    let (code, text, stderr) = place.run(&args, &[]);
    assert_eq!(code, 0, "{text}{stderr}");
    let (code, _, _) = place.run(&[&args[..], &["--token", "another"]].concat(), &[]);
    assert_eq!(code, 1);
}
