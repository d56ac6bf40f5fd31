//! `docs/seed-tests.md` names a test for each of the seed's 135, and for each bug of the original that is not to
//! come back; each of them exists.

use std::path::Path;

const TABLE: &str = include_str!("../../../docs/seed-tests.md");

/// The rows of both tables: number, what it is about, ours.
fn rows() -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        Some((cells.next()?, cells.nth(1)?.strip_prefix('`')?.strip_suffix('`')?))
    };
    TABLE.lines().filter_map(cells).collect()
}

/// Where a test is, and how its source begins.
fn source(file: &str, name: &str) -> (String, String) {
    match file.split_once(' ') {
        Some(("sdk", file)) => {
            (format!("tests/sdk/python/{file}.py"), format!("async def {name}("))
        }
        Some(("py", file)) => (format!("clients/python/tests/{file}.py"), format!("def {name}(")),
        Some(("js", file)) => (format!("clients/js/test/{file}"), format!("test(\"{name}\"")),
        _ => (format!("crates/holdpoint/tests/{file}.rs"), format!("#[test]\nfn {name}() {{")),
    }
}

#[test]
fn every_test_of_the_seed_has_one() {
    let numbers: Vec<usize> = rows().iter().filter_map(|row| row.0.parse().ok()).collect();
    assert_eq!(numbers, (1..=135).collect::<Vec<_>>());
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
