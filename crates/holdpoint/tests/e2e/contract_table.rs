//! `docs/contract/calls.md` names a test for each thing that is asked about calls, and for each fault that is not
//! to come back; `docs/contract/hits.md` some for each scenario of hits, `docs/contract/gateway.md` one for each thing
//! that is asked about other servers. Each of them exists.

use std::path::Path;

const TABLE: &str = include_str!("../../../../docs/contract/calls.md");
const SERVERS: &str = include_str!("../../../../docs/contract/gateway.md");
const SCENARIOS: &str = include_str!("../../../../docs/contract/hits.md");

/// The rows of both tables: number, test.
fn rows() -> Vec<(&'static str, &'static str)> {
    let mut rows = rows_of(TABLE);
    rows.extend(rows_of(SERVERS));
    rows
}

fn rows_of(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let number = cells.next().filter(|it| it.parse::<u32>().is_ok())?;
        Some((number, cells.nth(1)?.strip_prefix('`')?.strip_suffix('`')?))
    };
    text.lines().filter_map(cells).collect()
}

/// Where a test is, and how its source begins.
fn source(file: &str, name: &str) -> (String, String) {
    match file.split_once(' ') {
        Some(("sdk", file)) => {
            (format!("tests/sdk/python/{file}.py"), format!("async def {name}("))
        }
        Some(("py", file)) => (format!("clients/python/tests/{file}.py"), format!("def {name}(")),
        Some(("unit", file)) => {
            (format!("crates/holdpoint/src/{file}.rs"), format!("#[test]\nfn {name}() {{"))
        }
        Some(("js", file)) => (format!("clients/js/test/{file}"), format!("test(\"{name}\"")),
        _ => (format!("crates/holdpoint/tests/e2e/{file}.rs"), format!("#[test]\nfn {name}() {{")),
    }
}

#[test]
fn everything_that_is_asked_has_a_test() {
    let (asked, faults) = TABLE.split_once("## Faults").unwrap_or_default();
    let numbers = |part: &'static str| -> Vec<usize> {
        rows_of(part).iter().filter_map(|row| row.0.parse().ok()).collect()
    };
    assert_eq!(numbers(asked), (1..=135).collect::<Vec<_>>());
    assert_eq!(numbers(faults).len(), 29);
    assert_eq!(numbers(SERVERS), (1..=172).collect::<Vec<_>>());
}

#[test]
fn every_test_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (number, test) in rows() {
        let (file, name) = test.split_once("::").unwrap_or_default();
        let (path, begin) = source(file, name);
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
        assert!(text.contains(&begin), "{number}: no test `{name}` in {path}");
    }
}

/// The stories' scenarios, edge cases, requirements and measures.
fn scenarios() -> Vec<String> {
    let stories = [(1, 3), (2, 4), (3, 4), (4, 4), (5, 2)];
    let scenario = |(story, count)| (1..=count).map(move |it: i32| format!("{story}.{it}"));
    let numbered =
        |name: &'static str, count: i32| (1..=count).map(move |it| format!("{name}{it}"));
    let padded =
        |name: &'static str, count: i32| (1..=count).map(move |it| format!("{name}{it:03}"));
    stories
        .into_iter()
        .flat_map(scenario)
        .chain(numbered("edge ", 5))
        .chain(padded("FR-", 11))
        .chain(padded("SC-", 6))
        .collect()
}

#[test]
fn every_scenario_of_hits_is_heard_over_every_transport() {
    let cells = |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ");
    let rows: Vec<(&str, &str)> =
        SCENARIOS.lines().filter_map(cells).filter(|(number, _)| *number != "#").collect();
    let named: Vec<&str> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(named, scenarios());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
    for (number, rest) in rows {
        let (_, tests) = rest.rsplit_once(" | ").unwrap_or_default();
        let mut is_heard = false;
        for test in tests.split(", ") {
            let (file, function) = test.trim_matches('`').split_once("::").unwrap_or_default();
            let path = folder.join(format!("{file}.rs"));
            let source = std::fs::read_to_string(path).unwrap_or_default();
            let start = format!("#[test]\nfn {function}() {{");
            assert!(source.contains(&start), "{number}: no test {test}");
            // A stage is one server heard over all three; `wait.rs` has its own listeners.
            is_heard |= source.contains("stage::{BOTH,")
                || (source.contains("Listener::sse") && source.contains("Listener::http"));
        }
        assert!(is_heard, "{number}: nobody listens in {tests}");
    }
}
