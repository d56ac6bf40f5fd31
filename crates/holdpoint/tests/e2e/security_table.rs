//! `SECURITY.md` names the tests of each of its promises. Each of them exists.

use std::path::Path;

const TEXT: &str = include_str!("../../../../SECURITY.md");

/// Promise, and its tests.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let (promised, _) = TEXT.split_once("## What is not promised").unwrap();
    let cells =
        |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | ");
    let rows = promised.lines().filter_map(cells).filter(|(promise, _)| *promise != "promise");
    rows.map(|(promise, tests)| (promise, tests.split('`').skip(1).step_by(2).collect())).collect()
}

/// Where a test is, and how its source begins.
fn source(file: &str, name: &str) -> (String, String) {
    match file.split_once(' ') {
        Some(("py", file)) => (format!("clients/python/tests/{file}.py"), format!("def {name}(")),
        Some(("js", file)) => (format!("clients/js/test/{file}"), format!("test(\"{name}\"")),
        Some(("src", file)) => (format!("crates/{file}"), format!("fn {name}() {{")),
        _ => (format!("crates/holdpoint/tests/e2e/{file}.rs"), format!("#[test]\nfn {name}() {{")),
    }
}

#[test]
fn every_promise_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rows = rows();
    assert!(rows.len() >= 20, "{}", rows.len());
    for (promise, tests) in rows {
        assert!(!tests.is_empty(), "{promise}");
        for test in tests {
            let (file, name) = test.rsplit_once("::").unwrap_or_default();
            let (path, begin) = source(&file.replace("::", "/"), name);
            let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
            assert!(text.contains(&begin), "{promise}: no test `{name}` in {path}");
        }
    }
}
