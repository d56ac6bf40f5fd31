//! `debug_probe` on Python, failures: of a program, and of a test with its verdict.

use std::path::PathBuf;

use holdpoint_testkit::debug::{program, python};
use serde_json::{Value, json};

use crate::probe_python::{BIN, FOLDER, last_line, probe, start};

#[test]
fn without_a_place_the_first_failure_is_told() {
    let mut debug = start();
    let text = "\
def check(n, limit):
    if n > limit:
        raise ValueError(f'{n} is too much')
    return n


def run(count):
    for n in range(count):
        check(n, 1)


try:
    check(9, 1)
except ValueError:
    pass
run(5)
";
    let (_folder, file) = program(text);
    let said = probe(&mut debug, &file, json!({}));
    assert_eq!(
        said.text,
        "ValueError: 2 is too much\nat program.py:3 in check: raise ValueError(f'{n} is too much')\n\
         ← run ← <module> (program.py:16)\nlocals: n = 2 · limit = 1\nexit code 1"
    );
    let said = probe(&mut debug, &file, json!({ "expressions": ["n * 10", "run: count", "nope"] }));
    said.has(&["\nn * 10 = 20 · run: count = 5 · nope → NameError", "\nexit code 1"]);
    let (_folder, file) = program("print('fine')\n");
    let said = probe(&mut debug, &file, json!({}));
    assert_eq!(said.text, "no uncaught exception · exit code 0");
    let (_folder, file) = program("import sys\nprint('bad input')\nsys.exit(3)\n");
    let said = probe(&mut debug, &file, json!({}));
    said.has(&["output: bad input\nno exception was seen · exit code 3"]);
    debug.nothing_is_left();
}

#[test]
fn an_uncaught_exception_is_told_with_its_place() {
    let mut debug = start();
    let text = "def check(n):\n    if n > 1:\n        raise ValueError('too much')\n    return n\n\nfor n in range(5):\n    check(n)\n";
    let (_folder, file) = program(text);
    let more = json!({ "file": file, "line": 4, "expressions": ["n"], "hits": 3 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(
        last_line(&said),
        "2 of 3 · exit code 1 · \
         uncaught ValueError: too much at program.py:3 in check"
    );
}

/// A project with a module and its tests.
fn tests(text: &str) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    std::fs::create_dir(root.join("tests"))?;
    std::fs::write(root.join("pyproject.toml"), "")?;
    std::fs::write(
        root.join("cart.py"),
        "def total(items):\n    sum = 0\n    for it in items:\n        sum += it\n    return sum\n",
    )?;
    std::fs::write(root.join("tests/test_cart.py"), text)?;
    Ok((folder, root))
}

#[test]
fn a_test_runs_by_its_id_and_its_verdict_is_a_line() {
    let python = python(BIN, FOLDER);
    let mut debug = python.start();
    let (_folder, root) = tests(
        "import cart\n\ndef test_other():\n    assert False\n\ndef test_total():\n    assert cart.total([1, 2]) == 4\n",
    ).unwrap();
    let path = format!("{}:{}", python.pytest().display(), root.display());
    let run = |more: Value| {
        let mut arguments = json!({
            "test": "tests/test_cart.py::test_total", "cwd": root, "env": { "PYTHONPATH": path },
            "interpreter": python.path,
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let said =
        debug.ok("debug_probe", run(json!({ "function": "total", "expressions": ["items"] })));
    said.has(&["cart.py:2 in total · items = [1, 2]\nfirst hit · ended here"]);
    let said = debug.ok("debug_probe", run(json!({})));
    said.has(&[
        "AssertionError: assert 3 == 4",
        "\nat tests/test_cart.py:7 in test_total: assert cart.total([1, 2]) == 4\n",
        "\n1 failed",
    ]);
    let more = json!({ "file": "cart.py", "line": 4, "expressions": ["sum"], "hits": "all" });
    let said = debug.ok("debug_probe", run(more));
    said.has(&[
        "cart.py:4 in total · sum\n1 · 0\n2 · 1\n",
        "2 passes · 1 failed: tests/test_cart.py:7 AssertionError: assert 3 == 4 · all: debug_output",
    ]);
    assert!(!said.text.contains("rootdir"), "{}", said.text);
    // The whole output can still be read.
    let call = said.text.split("all: debug_output ").nth(1).unwrap().lines().next().unwrap();
    let output = debug.ok("debug_output", serde_json::from_str(call).unwrap());
    output.has(&["assert 3 == 4"]);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
}

/// Exceptions that pytest itself provokes and swallows while it collects, that a test expects, or that a
/// library catches, are not why a test fails; and one that passes has no failure at all.
#[test]
fn a_failure_is_what_made_the_test_fail() {
    let python = python(BIN, FOLDER);
    let mut debug = python.start();
    let text = "\
import pytest

class Odd:
    def __getattr__(self, name):
        raise AttributeError(f'odd {name}')

@pytest.mark.parametrize('odd', [Odd(), Odd()])
def test_passes(odd):
    assert sorted([2, 1], key=lambda it: it) == [1, 2]

@pytest.mark.xfail
def test_expected():
    raise ValueError('expected')

def test_fails():
    rows = [(n, 'row %d' % n) for n in range(40)]
    assert rows == rows[:7] + [(7, 'other')] + rows[8:]
";
    let (_folder, root) = tests(text).unwrap();
    let path = format!("{}:{}", python.pytest().display(), root.display());
    let mut run = |test: &str| {
        let arguments = json!({
            "test": test, "cwd": root, "env": { "PYTHONPATH": path }, "interpreter": python.path,
        });
        debug.ok("debug_probe", arguments)
    };
    for test in ["tests/test_cart.py::test_fails", "tests/test_cart.py"] {
        let said = run(test);
        assert!(said.text.starts_with("AssertionError: assert [(0, 'row 0')"), "{}", said.text);
        said.has(&["\nat tests/test_cart.py:17 in test_fails: assert rows == ", "1 failed"]);
        said.has(&["At index 7 diff: (7, 'row 7') != (7, 'other')"]);
        assert!(!said.text.contains("odd"), "{}", said.text);
    }
    let said = run("tests/test_cart.py::test_passes");
    assert_eq!(said.text, "no uncaught exception · 2 passed");
}

#[test]
fn a_test_runs_with_unittest_where_there_is_no_pytest() {
    let python = python(BIN, FOLDER);
    let mut debug = python.start();
    let text = "import unittest, cart\n\nclass TestCart(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(cart.total([1, 2]), 4)\n\ndef test_plain():\n    pass\n";
    let (_folder, root) = tests(text).unwrap();
    // One that has nothing but itself.
    let made = std::process::Command::new(&python.path)
        .args(["-m", "venv", "--without-pip", ".venv"])
        .current_dir(&root)
        .status();
    assert!(made.unwrap().success());
    let mut arguments = json!({
        "test": "tests/test_cart.py::TestCart::test_total", "cwd": root,
        "function": "total", "hits": "all", "expressions": ["items"],
    });
    let said = debug.ok("debug_probe", arguments.clone());
    said.has(&[
        "cart.py:2 in total · items\n1 · [1, 2]\n",
        "has no pytest: run as `python -m unittest tests.test_cart.TestCart.test_total`",
    ]);
    said.has(&[
        "1 pass · FAILED (failures=1), ran 1 test: tests/test_cart.py:5 AssertionError: 3 != 4 · all: debug_output",
    ]);
    arguments["test"] = json!("tests/test_cart.py::test_plain");
    debug
        .fails("debug_probe", arguments)
        .has(&["has no pytest, and unittest has no test", "install pytest"]);
}
