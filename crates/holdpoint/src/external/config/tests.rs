use serde_json::json;

use super::{file::parse, *};

#[track_caller]
fn refused(entry: &str, line: usize, words: &str) {
    let text = format!("{{\"servers\": {{\n \"fs\": {entry}\n}}}}");
    let problem = parse(&text).unwrap_err();
    assert_eq!(text.get(..problem.at).unwrap().matches('\n').count() + 1, line, "{problem:?}");
    assert!(problem.text.contains(words), "{problem:?}");
}

fn one(entry: &str) -> ServerConfig {
    let text = format!("{{\"servers\": {{\"fs\": {entry}}}}}");
    parse(&text).unwrap().remove("fs").unwrap()
}

#[test]
fn a_file_of_the_contract_is_read_whole() {
    let text = r#"{"servers": {
        "filesystem": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": "/tmp",
            "transport": "stdio", "timeout_s": 2.5, "auto_reconnect": false},
        "remote-db": {"url": "http://db:8080/mcp/sse", "transport": "sse"}}}"#;
    let configs = parse(text).unwrap();
    let Way::Stdio { command, args, env, cwd } = &configs["filesystem"].way else { panic!() };
    assert_eq!((command.as_str(), args.len(), env["A"].as_str()), ("npx", 2, "b"));
    assert_eq!(cwd.as_deref(), Some(std::path::Path::new("/tmp")));
    assert_eq!(configs["filesystem"].timeout, Duration::from_millis(2_500));
    assert!(!configs["filesystem"].auto_reconnect);
    assert_eq!(configs["remote-db"].transport(), "sse");
    assert!(parse(r#"{"servers": {}}"#).unwrap().is_empty());
}

#[test]
fn what_is_left_out_has_its_default() {
    let config = one(r#"{"command": "x", "transport": "stdio"}"#);
    let way = Way::Stdio { command: "x".into(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
    assert_eq!(
        config,
        ServerConfig { way, timeout: Duration::from_secs(30), auto_reconnect: true }
    );
}

#[test]
fn a_wrong_entry_is_named_with_its_line_and_key() {
    refused(r#"{"command": "x"}"#, 2, "`transport` is missing");
    refused(r#"{"transport": "stdio"}"#, 2, "`command` is missing");
    refused(r#"{"transport": "sse"}"#, 2, "`url` is missing");
    refused("{\n\"command\": \"x\",\n\"transport\": \"carrier pigeon\"}", 4, "not `stdio`, `sse`");
    let stdio = |rest: &str| format!("{{\"command\": \"x\", \"transport\": \"stdio\",\n{rest}}}");
    for timeout in ["0", "-1", "\"soon\""] {
        refused(&stdio(&format!("\"timeout_s\": {timeout}")), 3, "`timeout_s` is");
    }
    refused(&stdio("\"env\": [1]"), 3, "`env` is a list, not an object");
    refused(&stdio("\"args\": \"-y\""), 3, "`args` is a text, not a list");
    refused(&stdio("\"arg\": []"), 3, "did you mean `args`?");
    refused(&stdio("\"env\": {\"A\": \"${HOLDPOINT_NO_SUCH}\"}"), 3, "`env.A`: the environment");
    refused(r#"{"url": "ftp://x", "transport": "sse"}"#, 2, "no address");
    refused(r#"{"url": "http://x", "transport": "sse", "headers": {"a b": "c"}}"#, 2, "no header");
}

#[test]
fn what_is_no_json_is_named_with_its_line() {
    let problem = parse("{\n  // mine\n  \"servers\": {}}").unwrap_err();
    assert!(problem.text.contains("no comments"), "{problem:?}");
    assert_eq!(problem.at, 2);
    assert!(parse("{\"servers\": {}").unwrap_err().text.contains("not JSON"));
    assert!(parse("[]").unwrap_err().text.contains("no object"));
    assert!(parse("{}").unwrap_err().text.contains("neither `servers`"));
}

#[test]
fn an_agent_s_own_file_is_read_as_it_is() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x", "alwaysAllow": ["y"]},
        "b": {"url": "http://h/mcp"},
        "c": {"type": "http", "url": "http://h/mcp", "headers": {"X": "${NO_SUCH:-d}"}},
        "d": {"command": "x", "disabled": true}}, "other": 1}"#;
    let configs = parse(text).unwrap();
    assert_eq!(configs.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(matches!(configs["b"].way, Way::Either(_)));
    let Way::Http(remote) = &configs["c"].way else { panic!() };
    assert_eq!(remote.headers["X"], "d");
}

#[test]
fn a_name_can_stand_before_the_slash() {
    for name in ["filesystem", "my-server", "db_1"] {
        assert_eq!(check_name(name), Ok(()));
    }
    for name in ["", "a/b", "a b", "ü", "a:b"] {
        assert!(check_name(name).is_err(), "{name}");
        let entry = Fields::of_request(name, Map::new());
        assert!(ServerConfig::of(&entry, EntryForm::Ours).is_err());
    }
}

#[test]
fn a_server_of_the_command_line_is_split_at_its_first_colon() {
    let (name, config) = ServerConfig::inline("fs:npx -y a:b /tmp").unwrap();
    let Way::Stdio { command, args, .. } = config.way else { panic!() };
    assert_eq!((name.as_str(), command.as_str(), args.len()), ("fs", "npx", 3));
    for url in ["http://h:8080/sse", "https://h/sse"] {
        let (_, config) = ServerConfig::inline(&format!("db:{url}")).unwrap();
        assert_eq!(config.transport(), "sse");
        let Way::Either(remote) = config.way else { panic!() };
        assert_eq!(remote.url, url);
    }
    for wrong in ["no-colon", ":command", "name:", "name:  ", "a b:c"] {
        assert!(ServerConfig::inline(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_lets_us_in_is_never_shown() {
    let config = one(
        r#"{"url": "http://u:pass@h/x?key=k", "transport": "http", "headers": {"Authorization": "Bearer abcdef123"}}"#,
    );
    let shown = format!("{config:?}");
    assert!(!shown.contains("abcdef") && !shown.contains("pass") && !shown.contains("key=k"));
    assert_eq!(config.conceal("got abcdef123"), "got ‹secret›");
    let entry = Fields::of_request(
        "x",
        Map::from_iter([
            ("transport".to_owned(), json!("http")),
            ("url".to_owned(), json!("http://h")),
            ("headers".to_owned(), json!({ "A": ["verysecret"] })),
        ]),
    );
    let problem = ServerConfig::of(&entry, EntryForm::Ours).unwrap_err();
    assert!(!problem.text.contains("verysecret"), "{problem:?}");
}
