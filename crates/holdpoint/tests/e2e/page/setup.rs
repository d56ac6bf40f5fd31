//! Setup: what `setup` and `doctor` say, and the API's reference; nothing of it from elsewhere.

use holdpoint_testkit::process::run;
use serde_json::{Value, json};

use super::{BIN, python, shoot, signed_in};

#[test]
fn every_agent_has_its_configuration_and_every_finding_its_command() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/setup"));
    browser.shows("main", "holdpoint setup claude-code --write");
    browser.click("nav.seg a[href='/setup/codex']");
    browser.until(
        "its address",
        "document.readyState === 'complete' && location.pathname === '/setup/codex'",
    );
    browser.shows("main pre", "[mcp_servers.holdpoint]");
    browser.shows("main", "holdpoint setup codex --write");
    // The doctor's own words.
    browser.shows(".doctor", "IPv6 loopback");
    let (_, told, _) = run(BIN, &["doctor"], debug.home());
    let found = browser.text(".doctor");
    for line in told.lines().filter(|it| it.starts_with("ok ") && !it.contains("server")) {
        let line = line.trim_start_matches("ok").trim();
        assert!(found.contains(line), "`{line}` in {found}");
    }
    browser.click("[value=look]");
    browser.until(
        "looked again",
        "document.readyState === 'complete' && location.pathname === '/setup'",
    );
    browser.shows(".doctor", "python3");
    shoot(&mut browser, "setup");
    browser.is_well();
}

#[test]
fn the_reference_has_every_operation_of_the_document() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/docs"));
    let document = browser.eval("fetch('/openapi.json').then((it) => it.json())");
    let paths = document["paths"].as_object().unwrap();
    let operations: usize =
        paths.values().map(|it| it.as_object().map_or(0, serde_json::Map::len)).sum();
    let shown = browser.eval("document.querySelectorAll('.api section[id]').length");
    assert_eq!(shown, json!(operations));
    for path in paths.keys() {
        browser.shows(".api h2", path);
    }
    browser.shows(".api", "modified_args");
    // Nothing came from elsewhere.
    let from = browser.eval("performance.getEntriesByType('resource').map((it) => it.name).filter((it) => !it.startsWith(location.origin))");
    assert_eq!(from, Value::Array(Vec::new()));
    browser.key("/");
    browser.ask("Input.insertText", json!({ "text": "repl" }));
    browser.key("Enter");
    browser.until("those alone", "new URLSearchParams(location.search).get('q') === 'repl'");
    browser.hides(".api h2", "/api/behavior");
    shoot(&mut browser, "docs");
    browser.is_well();
}
