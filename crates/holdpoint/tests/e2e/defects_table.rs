//! `docs/peer-defects.md` names tests; each of them exists.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const TABLE: &str = include_str!("../../../../docs/peer-defects.md");

/// The rows of all tables: number, defect, what stands against it.
fn rows() -> Vec<(u32, &'static str, &'static str)> {
    let cells = |line: &'static str| {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (number, rest) = inner.split_once(" | ")?;
        let (defect, tests) = rest.split_once(" | ")?;
        Some((number.parse().ok()?, defect, tests))
    };
    TABLE.lines().filter_map(cells).collect()
}

#[test]
fn every_test_that_is_named_exists() {
    let mut sources = BTreeMap::new();
    let (_, table) = TABLE.split_once("\n## ").unwrap_or_default();
    let (with_tests, _) = table.split_once("## With their languages").unwrap_or_default();
    let (mut seen, mut missing) = (0, Vec::new());
    for (number, _, tests) in rows() {
        if !with_tests.contains(&format!("\n| {number} |")) {
            continue;
        }
        seen += 1;
        for test in tests.split(", ") {
            let named = test.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
            let Some((file, function)) = named.and_then(|it| it.split_once("::")) else {
                missing.push(format!("{number}: no test in `{test}`"));
                continue;
            };
            let path = path(file);
            let source = sources
                .entry(path.clone())
                .or_insert_with(|| std::fs::read_to_string(&path).unwrap_or_default());
            if !is_test(source, function) {
                missing.push(format!("{number}: {test}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such tests:\n{}", missing.join("\n"));
    assert!(seen > 90, "only {seen} rows were looked at");
}

#[test]
fn the_rows_are_numbered_in_order() {
    let numbers: Vec<u32> = rows().iter().map(|(number, ..)| *number).collect();
    let expected: Vec<u32> = (1..=115).collect();
    assert_eq!(numbers, expected);
}

fn path(file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match file.contains('/') {
        true => root.join(file),
        false => root.join(format!("crates/holdpoint/tests/e2e/{file}.rs")),
    }
}

/// Whether a function of that name stands below an attribute that makes it a test.
fn is_test(source: &str, function: &str) -> bool {
    let wanted = [format!("fn {function}("), format!("async fn {function}(")];
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| {
        matches!(pair, [above, line]
            if above.starts_with("#[") && above.contains("test")
                && wanted.iter().any(|it| line.starts_with(it.as_str())))
    })
}
