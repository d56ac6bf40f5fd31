//! The command line, as a person or a script meets it.

use holdpoint_testkit::process::{Process, run};
use serde_json::Value;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn at_home(args: &[&str]) -> (i32, String, String) {
    let home = tempfile::tempdir().unwrap();
    run(BIN, args, home.path())
}

#[test]
fn every_level_has_help() {
    let (code, top, _) = at_home(&["--help"]);
    assert_eq!(code, 0);
    for command in [
        "serve", "mcp", "tools", "tool", "stop", "run", "wrap", "gateway", "doctor", "setup",
        "demo",
    ] {
        assert!(top.contains(command), "{command} is not in the help");
        let (code, help, _) = at_home(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(help.contains("Usage:"), "{command}");
    }
    assert!(!top.contains("conformance") && !top.contains("docs"), "hidden commands stay hidden");
    let (code, version, _) = at_home(&["--version"]);
    assert_eq!((code, version.trim()), (0, concat!("holdpoint ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn tools_lists_what_the_server_offers() {
    let (_, text, _) = at_home(&["tools"]);
    assert!(text.contains("timeline_query") && text.contains("since, until, kinds, match, limit"));
    let (_, json, _) = at_home(&["tools", "--json"]);
    let tools: Value = serde_json::from_str(&json).unwrap();
    let named =
        |name: &str| tools.as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
    let status = named("server_status").unwrap();
    assert_eq!(status["annotations"]["readOnlyHint"], true);
    assert!(status.get("outputSchema").is_none());
    let (_, slim, _) = at_home(&["tools", "--toolset", "slim"]);
    assert!(slim.contains("debug_launch") && !slim.contains("timeline_note"));
    let (_, family, _) = at_home(&["tools", "--toolset", "server"]);
    assert!(family.contains("server_status") && !family.contains("timeline"));
    let (code, _, stderr) = at_home(&["tools", "--toolset", "nothing"]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("no toolset `nothing`")
            && stderr.contains(
                "hint: toolsets: breakpoint, debug, record, server, timeline, tracepoint, all, slim"
            )
    );
}

#[test]
fn tool_calls_a_running_server() {
    let mut server = Process::start(BIN, &["serve", "--port", "0"]);
    server.port();
    let tool = |args: &[&str]| run(BIN, &[&["tool"], args].concat(), &server.home);
    let (code, text, _) = tool(&["timeline_note", r#"{"text": "from a shell"}"#]);
    assert_eq!(code, 0);
    assert!(text.starts_with("noted as seq "), "{text}");
    let (_, json, _) = tool(&["timeline_query", r#"{"kinds": ["note"]}"#, "--json"]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["data"]["events"][0]["data"]["by"], "holdpoint tool");
    let (code, text, _) = tool(&["timeline_querry"]);
    assert_eq!(code, 1);
    assert_eq!(
        text,
        "[E_UNKNOWN_TOOL] no tool `timeline_querry`\nhint: did you mean `timeline_query`?\n"
    );
    let (code, _, stderr) = tool(&["server_status", "not json"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("the parameters are not a JSON object"), "{stderr}");
}

#[test]
fn a_server_that_was_named_and_does_not_answer_is_not_replaced() {
    let (code, _, stderr) = at_home(&["tool", "server_status", "--url", "http://127.0.0.1:9"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("no Holdpoint answers at http://127.0.0.1:9/mcp"), "{stderr}");
}

#[test]
fn the_demo_plays_to_its_end_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (code, text, stderr) = run(BIN, &["demo", "--exit", "--port", "0"], home.path());
    assert_eq!(code, 0, "{text}\n{stderr}");
    for part in [
        "An agent connects",
        "→ server_status {}",
        "⚡ notifications/timeline/note",
        "hint: did you mean `kinds`?",
        "One recording, three questions",
        "AssertionError 1650 expected, not 1050",
        "price(name='Pad') → None",
        "swallowed KeyError",
        "480 → 930",
        "A bug in a Python program",
        "(tuple) (1998.9999999999998, 1998, 1999)",
        "Debug session s1 ended.",
        "A tracepoint in a hot loop",
        "2 distinct, min -4000, max 4, first 4, last 4, changed at hit 4183 to -4000",
        "A call of a shop's till",
        "Call paused: till:charge('ann', 450)",
        r#""output":"('ann', 4.5)""#,
        "  ann pays 4.50 EUR\n  bob pays 12.00 EUR\n  cleo pays 3.20 EUR\n",
        r#""decision":{"action":"modify","modified_args":["ann",4.5]}"#,
        r#""total_count":1"#,
        "A call of another MCP server",
        r#""name":"other/timeline_note""#,
        "Call paused: other/timeline_note(",
        "launched",
        "The page: http://127.0.0.1:",
        r#""args": ["mcp", "--toolset", "agent"]"#,
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("[E_SESSION"), "{text}");
    assert!(!home.path().join("port").exists(), "its server has ended");
}

#[test]
fn setup_prints_and_writes() {
    let home = tempfile::tempdir().unwrap();
    let (_, help, _) = run(BIN, &["setup", "--help"], home.path());
    let (_, agents) = help.split_once("possible values: ").unwrap();
    let (agents, _) = agents.split_once(']').unwrap();
    let agents: Vec<&str> = agents.split(',').map(str::trim).collect();
    assert_eq!(agents.len(), 18, "{agents:?}");
    for agent in agents {
        let (code, text, stderr) = run(BIN, &["setup", agent], home.path());
        assert_eq!(code, 0, "{stderr}");
        assert!(text.contains("holdpoint") && text.contains("mcp"), "{agent}: {text}");
    }
    let (code, _, stderr) = run(BIN, &["setup", "cursor", "--write", "--skill"], home.path());
    assert_eq!(code, 0, "{stderr}");
    let skill = std::fs::read_to_string(home.path().join(".cursor/skills/holdpoint/SKILL.md"));
    assert!(skill.unwrap().starts_with("---\nname: holdpoint\n"));
    let written = std::fs::read_to_string(home.path().join(".cursor/mcp.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["mcpServers"]["holdpoint"]["args"][0], "mcp");
}

#[test]
fn doctor_says_what_it_found() {
    let (code, text, stderr) = at_home(&["doctor"]);
    assert_eq!(code, 0, "{text}{stderr}");
    assert!(text.contains("python3") && text.contains("node"), "{text}");
}
