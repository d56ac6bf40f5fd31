//! `holdpoint adapters`, and languages by configuration: what is listed, what a launch without its debugger says, and
//! who may name a command.

use std::path::{Path, PathBuf};

use holdpoint_testkit::process::{command, home, run};
use holdpoint_testkit::rpc::{Rpc, text};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// The debug server of the engine's toy language.
fn toy() -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/toy/server.py");
    file.canonicalize().unwrap()
}

fn block(command: &str) -> String {
    format!(
        "[adapters.toy]\ncalled = 'Toy'\nendings = ['toy']\ncomment = ';'\n\
         command = ['{command}', '{}', '{{program}}']\n\
         launch = {{ program = '{{program}}', stopOnEntry = '{{stop_on_entry}}' }}\n",
        toy().display()
    )
}

/// A server whose user has this configuration, and a program of the toy language.
fn with_config(text: &str) -> (tempfile::TempDir, Rpc, PathBuf) {
    let home = home();
    std::fs::write(home.path().join("config.toml"), text).unwrap();
    let program = home.path().canonicalize().unwrap().join("sum.toy");
    std::fs::write(&program, "; adds up\nn = 1\nn = n + 2\nprint n\nexit 3\n").unwrap();
    let own = home.path().to_owned();
    let mut rpc = Rpc::start_with(BIN, &["mcp", "--port", "0"], |command| {
        command.env("HOLDPOINT_HOME", own);
    });
    rpc.initialize("2025-11-25");
    (home, rpc, program)
}

fn data(result: &Value) -> &Value {
    &result["structuredContent"]["data"]
}

#[test]
fn a_language_of_the_user_s_file_is_debugged_without_code() {
    let (_home, mut rpc, program) = with_config(&block("python3"));
    let points = json!([{ "file": program, "line": 3 }]);
    let launched = rpc.call(
        "debug_launch",
        json!({ "program": program, "stop_on_entry": false, "breakpoints": points }),
    );
    assert_eq!(data(&launched)["stop"]["line"], 3, "{}", text(&launched));
    let shown = rpc.text("debug_variables", json!({}));
    assert!(shown.contains("n = 1"), "{shown}");
    let ended = rpc.call("debug_continue", json!({}));
    assert_eq!(data(&ended)["exit"], json!({ "code": 3 }), "{}", text(&ended));
}

#[test]
fn a_launch_whose_debugger_is_missing_says_so_with_the_step_that_mends_it() {
    let own = format!("{}install = 'ask the toy shop'\n", block("no-such-toy-debugger"));
    let own = own.replace("launch =", "version = ['--version']\nlaunch =");
    let (_home, mut rpc, program) = with_config(&own);
    let refused = rpc.call("debug_launch", json!({ "program": program }));
    let said = text(&refused);
    assert_eq!(refused["isError"], true, "{said}");
    assert!(said.contains("no `no-such-toy-debugger` is on PATH"), "{said}");
    assert!(said.contains("ask the toy shop"), "{said}");
}

#[test]
fn a_cloned_repository_names_no_command() {
    let root = tempfile::tempdir().unwrap();
    let (own, cloned) = (home(), root.path().join("shop"));
    std::fs::create_dir_all(cloned.join(".git")).unwrap();
    std::fs::create_dir_all(cloned.join(".holdpoint")).unwrap();
    std::fs::write(cloned.join(".holdpoint/config.toml"), block("python3")).unwrap();
    for args in [&["mcp", "--port", "0"][..], &["adapters", "list"], &["doctor"]] {
        let output = command(BIN, args, own.path())
            .current_dir(&cloned)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{args:?} takes it: {said}");
        assert!(said.contains("`adapters` is not taken from a workspace"), "{args:?}: {said}");
    }
}

#[test]
fn every_language_is_listed_with_what_it_can_and_why_not() {
    let home = home();
    let (code, listed, stderr) = run(BIN, &["adapters", "list"], home.path());
    assert_eq!(code, 0, "{stderr}");
    for wanted in
        ["python (Python)", "node (Node", "perl (Perl)", "php (PHP)", "launch: yes", "core: no,"]
    {
        assert!(listed.contains(wanted), "no `{wanted}` in: {listed}");
    }
    assert!(
        listed.trim_end().lines().next_back().is_some_and(|it| it.starts_with("next: ")),
        "{listed}"
    );
    let (_, json, _) = run(BIN, &["adapters", "list", "--json"], home.path());
    let all: Value = serde_json::from_str(&json).unwrap();
    let named = |name: &str| {
        let all = all["adapters"].as_array().unwrap();
        all.iter().find(|it| it["language"] == name).cloned().unwrap()
    };
    assert_eq!(named("python")["modes"]["attach"]["can"], true);
    assert_eq!(named("php")["modes"]["attach"]["can"], false);
}

#[test]
fn installing_what_no_registry_has_says_what_a_person_has_to_do() {
    let home = home();
    let (code, _, stderr) = run(BIN, &["adapters", "install", "php"], home.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("no registry has `PHP`") && stderr.contains("hint: "), "{stderr}");
    let (code, _, stderr) = run(BIN, &["adapters", "install", "pearl"], home.path());
    assert!(code == 1 && stderr.contains("did you mean `perl`?"), "{stderr}");
    let (code, stdout, _) = run(BIN, &["adapters", "install", "python"], home.path());
    assert!(code == 0 && stdout.contains("brought along at the first launch"), "{stdout}");
}
