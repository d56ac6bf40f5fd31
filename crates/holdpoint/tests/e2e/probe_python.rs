//! `debug_probe` on Python: one call from a question about a run to its answer.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, Said, fixture, line, program, python};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

fn probe(debug: &mut Debug, file: &Path, more: Value) -> Said {
    debug.ok("debug_probe", debug.with_program(file, more))
}

#[track_caller]
fn last_line(said: &Said) -> &str {
    said.text.lines().next_back().unwrap_or_default()
}

/// A loop over numbers, in a function that another calls.
const LOOP: &str = "\
def work(n):
    half = n / 2
    return half  # BP: half


def run(count):
    total = 0
    for n in range(count):
        kind = 'odd' if n % 2 else 'even'
        total += work(n)
    return total


print('total', run(6))
";

#[test]
fn the_hits_that_were_asked_for_are_all_told_a_line_each() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    for asked in [4_u64, 5, 6] {
        let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": asked });
        let said = probe(&mut debug, &file, more);
        said.has(&["program.py:3 in work · n · half\n1 · 0 · 0.0\n2 · 1 · 0.5\n"]);
        for number in 2..=asked {
            said.has(&[&format!("\n{number} · {} · ", number - 1)]);
        }
        let word = format!("{asked} of {asked} · ended here");
        assert_eq!(last_line(&said), word);
        assert_eq!(said.data["hits"].as_array().unwrap().len() as u64, asked);
        // The names once, and nothing that nobody asked for.
        assert_eq!(said.text.matches("half").count(), 1, "{}", said.text);
        assert_eq!(said.text.lines().count() as u64, asked + 2, "{}", said.text);
    }
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn fewer_hits_than_asked_for_are_told_with_the_end() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n"], "hits": 9 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(last_line(&said), "6 of 9 · exit code 0");
    assert!(!said.text.contains("total 7.5"), "{}", said.text);
}

#[test]
fn a_hit_is_the_nth_pass_alone() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "run: total"], "hit": 5 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(
        said.text,
        "hit 5 · program.py:3 in work · n = 4 · run: total = 3.0\n1 of 1 · ended here"
    );
    // Counted where the condition holds.
    let more =
        json!({ "file": file, "line": 3, "expressions": ["n"], "hit": 2, "condition": "n % 2" });
    probe(&mut debug, &file, more).has(&["hit 2 ·", "n = 3\n"]);
    let more = json!({ "file": file, "line": 3, "hit": 50 });
    let said = probe(&mut debug, &file, more);
    said.has(&["program.py:3 was passed 6 times, not 50 times"]);
    assert_eq!(last_line(&said), "0 of 1 · exit code 0");
    said.has(&["output: total 7.5"]);
    let more = json!({ "file": file, "line": 3, "hit": 4, "condition": "n > 3" });
    probe(&mut debug, &file, more).has(&["was passed 2 times with `n > 3` true, not 4 times"]);
}

#[test]
fn without_expressions_the_locals_are_told_and_then_what_changed() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 10, "hits": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["  count: int = 6\n", "  total: int = 0\n"]);
    said.has(&["hit 2 · kind = 'odd' · n = 1 · total = 0.0\n", "hit 3 · kind = 'even' · n = 2"]);
    assert!(!said.text.contains("hit 2 · count"), "{}", said.text);
}

#[test]
fn identical_hits_are_one_line() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n > 3"], "hits": 6 });
    let said = probe(&mut debug, &file, more);
    said.has(&["program.py:3 in work · n > 3\n1–4 · False (×4)\n5–6 · True (×2)\n"]);
}

#[test]
fn places_are_found_by_text_and_function_and_all_in_one_run() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let at = json!([
        { "file": "program.py", "match": "total += work(n)", "expressions": ["n"], "hits": "2" },
        { "function": "work", "condition": "n > 2", "expressions": ["n * 10"] },
    ]);
    let said = probe(&mut debug, &file, json!({ "at": at }));
    said.has(&[
        "hit 1 · program.py:10 in run · n = 0\nhit 2 · program.py:10 · n = 1\n",
        "hit 1 · program.py:2 in work · n * 10 = 30\n← run\n3 of 3 · ended here",
    ]);
    let said = debug.fails(
        "debug_probe",
        debug.with_program(&file, json!({ "at": { "file": "program.py", "match": "total" } })),
    );
    said.has(&["4 lines of", "7: total = 0; 10: total += work(n)", "hint: pass `line`"]);
    let more = json!({ "file": "program.py", "match": "totl = 0" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["no line of", "has `totl = 0`", "near: 7: total = 0"]);
}

#[test]
fn a_def_line_means_the_body_and_says_so() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 6, "expressions": ["count"] });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        "program.py:7 in run (line 6 is the head of run: first line of its body) · count = 6",
    ]);
    let (_folder, file) = program("def one(x): return x + 1\n\nprint(one(4))\n");
    let more = json!({ "file": file, "line": 1, "expressions": ["x"] });
    probe(&mut debug, &file, more).has(&["in one (line 1 is the whole of one", "x = 4"]);
}

#[test]
fn all_passes_are_told_without_stopping() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "at": "program.py:3", "expressions": ["n", "str(half)", "run: kind"], "hits": "all" });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        "program.py:3 in work · n · str(half) · run: kind\n1 · 0 · '0.0' · 'even'\n",
        "\n6 · 5 · '2.5' · 'odd'\n6 passes · exit code 0",
    ]);
    assert_eq!(said.data["passes"][0]["total"], 6);
}

#[test]
fn many_passes_are_counted_exactly_and_what_stands_out_is_shown() {
    let mut debug = start();
    // More than the log keeps.
    let count = 70_000;
    let text = "\
def step(n):
    value = -1 if n == 41 else n % 10
    return value


for n in range(70000):
    step(n)
";
    let (_folder, file) = program(text);
    let more = json!({ "file": file, "line": 3, "expressions": ["value", "n"], "hits": "all", "timeout_s": 120 });
    let said = probe(&mut debug, &file, more);
    let sum: i64 = (0..count).map(|n| n % 10).sum::<i64>() - 2;
    said.has(&[
        &format!("value: 70000 values, 11 distinct, sum {sum}, min -1 (hit 42), max 9 (hit 10)"),
        "program.py:3 in step · value · n\n",
        "\n42 · -1 · 41\n",
        "\n70000 · 9 · 69999\n",
        "of 70000 passes shown, all counted above · exit code 0",
    ]);
}

#[test]
fn passes_are_grouped_by_a_value_or_by_a_place() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 10, "expressions": ["n"], "by": "kind" });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        "program.py:10 in run by kind · n\n",
        "'even' ×3 · sum 6, min 0, max 4\n'odd' ×3 · sum 9, min 1, max 5\n",
        "6 passes in 2 groups · exit code 0",
    ]);
    let said = probe(&mut debug, &file, json!({ "at": "program.py:10", "by": "kind" }));
    said.has(&["program.py:10 in run\n'even' ×3 · 'odd' ×3\n6 passes · exit code 0"]);
    let text = "def add(n):\n    return n\n\nfor a in range(3):\n    start = a\n    for b in range(a + 1):\n        add(b)\n";
    let (_folder, file) = program(text);
    let more = json!({ "function": "add", "expressions": ["n"], "by": "program.py:5" });
    probe(&mut debug, &file, more).has(&[
        "add by pass of program.py:5 · n\npass 1 ×1 · sum 0, min 0, max 0\n",
        "\npass 3 ×3 · sum 3, min 0, max 2\n",
        "6 passes in 3 groups",
    ]);
}

#[test]
fn several_places_are_one_list_in_the_order_of_time() {
    let mut debug = start();
    let text = "\
def sign(n):
    if n < 0:
        return 'minus'
    if n == 0:
        return 'zero'
    if n > 100:
        return 'big'
    return 'plus'


for n in (3, -1, 0, 5):
    sign(n)
";
    let (_folder, file) = program(text);
    let at = ["program.py:3", "program.py:5", "program.py:7", "program.py:8"];
    let more = json!({ "at": at, "hits": "all", "expressions": ["n"] });
    let said = probe(&mut debug, &file, more);
    assert_eq!(
        said.text,
        "program.py in sign · n\n1 · 8 · 3\n2 · 3 · -1\n3 · 5 · 0\n4 · 8 · 5\n\
         3: 1, 5: 1, 7: 0, 8: 2 · exit code 0"
    );
}

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
fn the_end_of_a_path_names_a_file() {
    let mut debug = start();
    let (folder, file) = program("from deep.inner import one\nprint(one(4))\n");
    let deep = folder.path().join("deep");
    std::fs::create_dir(&deep).unwrap();
    std::fs::write(deep.join("inner.py"), "def one(x):\n    return x + 1\n").unwrap();
    let more = json!({ "at": "inner.py:2", "expressions": ["x"] });
    probe(&mut debug, &file, more.clone()).has(&["inner.py:2 in one · x = 4"]);
    std::fs::create_dir(deep.join("more")).unwrap();
    std::fs::write(deep.join("more/inner.py"), "x = 1\n").unwrap();
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["2 files are `inner.py`", "hint: which: deep/inner.py, deep/more/inner.py"]);
}

#[test]
fn threads_are_named() {
    let mut debug = start();
    let file = fixture("threads.py");
    let at = line(&file, "worker");
    let more = json!({ "file": file, "line": at, "expressions": ["number"], "hits": 2 });
    let said = probe(&mut debug, &file, more);
    said.has(&["worker-3 · 3", "worker-4 · 4", "2 of 2"]);
    let more = json!({ "file": file, "line": at, "expressions": ["number"], "hits": "all" });
    probe(&mut debug, &file, more).has(&["worker-3 · 3", "worker-4 · 4", "2 passes"]);
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

#[test]
fn a_condition_that_fails_is_told() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at program.py:3: NameError", "hint:"]);
    let more = json!({ "file": file, "line": 3, "condition": "n >" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `n >` does not parse", "hint: at program.py:3"]);
    assert!(!said.text.contains("breakpoint"), "{}", said.text);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1", "expressions": ["n"], "hits": "all" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at program.py:3: NameError"]);
    let more = json!({ "file": file, "line": 3, "condition": "1 / n", "expressions": ["n"], "hits": "all" });
    probe(&mut debug, &file, more).has(&["\n1 · ZeroDivisionError in the condition\n2 · 1\n"]);
    debug.nothing_is_left();
}

#[test]
fn a_line_that_is_never_reached_says_what_ran() {
    let mut debug = start();
    let text = "\
def never(x):
    return x


def sign(n):
    if n > 100:
        big = True
        return big
    small = False
    return small


def main():
    for n in range(3):
        sign(n)


main()
";
    let (_folder, file) = program(text);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 7 }));
    said.has(&["Line 7 of program.py was never reached: of `sign` ran lines 6, 9–10"]);
    assert_eq!(last_line(&said), "0 of 1 · exit code 0");
    assert_eq!(said.data["reached"], false);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 2, "hits": "all" }));
    said.has(&["`never` was not called; of program.py were called: sign, main"]);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 10, "condition": "n > 5" }));
    said.has(&[
        "was never reached with `n > 5` true: the line was passed, the condition never held",
    ]);
    let said = probe(&mut debug, &file, json!({ "function": "sing" }));
    said.has(&["`sing` was never called: no function `sing`", "near: sign"]);
}

/// A hot loop pays once for being asked which of its lines ran: each mark is asked a single time.
#[test]
fn what_ran_costs_a_hot_function_next_to_nothing() {
    let mut debug = start();
    let text = "\
import sys

helper = sys.modules['_holdpoint']
asks, asked = helper.mark, []


def mark(key):
    asked.append(key)
    return asks(key)


helper.mark = mark


def hot(n):
    a = n + 1
    b = a + 1
    if b < 0:
        never = True
    return b


for n in range(1000):
    hot(n)
print('asked', len(asked), 'lines', len(set(asked)))
";
    let (_folder, file) = program(text);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 19 }));
    said.has(&["of `hot` ran lines 16–18, 20", "output: asked 4 lines 4"]);
}

#[test]
fn a_small_budget_leaves_out_hits_and_says_so() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": 6, "budget_tokens": 45 });
    let said = probe(&mut debug, &file, more);
    let last = last_line(&said);
    assert!(last.starts_with("6 of 6 · ended here · "), "{last}");
    assert!(last.contains("hits left out here: `budget_tokens: "), "{last}");
    let needed: u64 =
        last.split("budget_tokens: ").nth(1).unwrap().split('`').next().unwrap().parse().unwrap();
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": 6, "budget_tokens": needed });
    probe(&mut debug, &file, more).has(&["\n6 · 5 · 2.5"]);
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

#[test]
fn output_of_probes_is_kept_for_a_while_and_no_longer() {
    let mut debug = start();
    let (_folder, file) = program("for n in range(30):\n    print('line', n)\nprint('end')\n");
    let mut calls = Vec::new();
    for _ in 0..6 {
        let said = probe(&mut debug, &file, json!({ "file": file, "line": 3, "hit": 2 }));
        said.has(&["output: 31 lines, the last: end · all: debug_output"]);
        calls.push(json!({ "session_id": said.data["session_id"], "find": "line 29" }));
    }
    debug.ok("debug_output", calls[5].clone()).has(&["line 29"]);
    debug.ok("debug_output", calls[2].clone()).has(&["line 29"]);
    debug.fails("debug_output", calls[1].clone()).has(&["no session"]);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
}

#[test]
fn a_probe_that_takes_too_long_tells_what_it_saw() {
    let mut debug = start();
    let (_folder, file) =
        program("import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.01)\n");
    let more =
        json!({ "file": file, "line": 5, "expressions": ["n"], "hits": "all", "timeout_s": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["\n1 · 1\n", "· still ran after 3 s and was ended; `timeout_s` gives it longer"]);
    debug.nothing_is_left();
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_anything_runs() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let refused = [
        (json!({ "hits": 2 }), "no place is given"),
        (
            json!({ "file": file, "line": 3, "hit": 2, "hits": 3 }),
            "`hit` and `hits` are both given",
        ),
        (json!({ "file": file, "line": 3, "hits": "some" }), "a number from 1, or \"all\""),
        (json!({ "file": file, "line": 3, "hits": 5000 }), "1000 at the most"),
        (json!({ "file": file, "line": 300 }), "has 14 lines"),
        (json!({ "file": "nowhere.py", "line": 3 }), "is not a file"),
        (json!({ "at": [{ "file": file, "lin": 3 }] }), "unknown field `lin`"),
        (json!({ "file": file, "line": 3, "test": file }), "exactly one of"),
    ];
    for (more, wanted) in refused {
        let said = debug.fails("debug_probe", debug.with_program(&file, more));
        said.has(&["[E_", wanted]);
    }
}
