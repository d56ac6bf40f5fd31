//! `docs/seed-tests.md` names a test for each of the seed's 135; each of them exists.

use std::{collections::BTreeMap, path::Path};

const TABLE: &str = include_str!("../../../docs/seed-tests.md");

/// The rows of the table: number, the seed's test, ours.
fn rows() -> Vec<(usize, &'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        Some((cells.next()?.parse().ok()?, cells.next()?, cells.next()?.trim_matches('`')))
    };
    TABLE.lines().filter_map(cells).collect()
}

#[test]
fn every_test_of_the_seed_has_one_that_exists() {
    let numbers: Vec<usize> = rows().iter().map(|row| row.0).collect();
    assert_eq!(numbers, (1..=135).collect::<Vec<_>>());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    for (number, _, test) in rows() {
        let (file, function) = test.split_once("::").unwrap_or_default();
        let (path, line) = match file.strip_prefix("sdk ") {
            Some(file) => (format!("tests/sdk/python/{file}.py"), format!("async def {function}(")),
            None => {
                let line = format!("#[test]\nfn {function}() {{");
                (format!("crates/holdpoint/tests/{file}.rs"), line)
            }
        };
        let source = sources
            .entry(file)
            .or_insert_with(|| std::fs::read_to_string(root.join(&path)).unwrap_or_default());
        assert!(source.contains(&line), "{number}: no test `{function}` in {path}");
    }
}
