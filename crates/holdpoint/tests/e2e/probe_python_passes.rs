//! `debug_probe` on Python, all passes of a place: counted, grouped, in their order; and what ran where there was none.

use holdpoint_testkit::debug::{fixture, line, program};
use serde_json::json;

use crate::probe_python::{LOOP, last_line, probe, start};

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

/// A hot loop pays once for being asked which of its lines ran: each mark is asked a single time, by the debugger or
/// by `sys.monitoring`.
#[test]
fn what_ran_costs_a_hot_function_next_to_nothing() {
    let mut debug = start();
    let text = "\
import sys

helper = sys.modules['_holdpoint']
asks, passed, asked = helper.mark, helper._passed, []


def mark(key):
    asked.append(key)
    return asks(key)


def seen(points, where, frame):
    asked.append(points[0].id)
    return passed(points, where, frame)


helper.mark, helper._passed = mark, seen


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
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 24 }));
    said.has(&["of `hot` ran lines 21–23, 25", "output: asked 4 lines 4"]);
}
