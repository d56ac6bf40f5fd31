//! Exceptions to stop at, end to end: by type, caught or not, and changed while the program runs.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, Said, line, program, python};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

const ORDERS: &str = "\
import json

class OrderError(Exception):
    pass

class LateOrder(OrderError):
    pass

def order(n):
    if n == 3:
        raise LateOrder('late')  # BP: late
    if n % 2:
        raise KeyError(n)  # BP: key
    return n

def deep(n):
    return order(n)

def attempt(n):
    try:
        return deep(n)
    except (KeyError, OrderError):
        return None

for n in range(5):
    attempt(n)
print('half')
try:
    json.loads('{')  # BP: loads
except ValueError:
    print('bad json')
order(1)
";

#[test]
fn python_stops_by_type_and_at_derived_classes_once_each() {
    let mut debug = start();
    let (_folder, file) = program(ORDERS);
    let said = debug.ok("breakpoint_set_exception", json!({ "types": ["OrderError"] }));
    said.has(&["only OrderError stops", "where it is raised"]);
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("exception", line(&file, "late"))
        .has(&["LateOrder", "late"]);
    debug.ok("debug_exception", json!({})).has(&["LateOrder", "late"]);
    // Not again in each of the callers, and not at other exceptions, not even at an uncaught one.
    debug.go().ended(json!({ "code": 1 })).has(&["half", "bad json", "KeyError"]);
}

#[test]
fn python_stops_in_the_users_code_for_what_a_library_raised() {
    let mut debug = start();
    let (_folder, file) = program(ORDERS);
    debug.ok("breakpoint_set_exception", json!({ "types": ["json.decoder.JSONDecodeError"] }));
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("exception", line(&file, "loads"))
        .has(&["JSONDecodeError"]);
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn python_takes_another_choice_while_it_runs() {
    let mut debug = start();
    let (_folder, file) = program(ORDERS);
    debug.ok("breakpoint_set_exception", json!({ "filters": ["caught"], "types": ["KeyError"] }));
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", line(&file, "key"));
    debug.ok("breakpoint_set_exception", json!({ "types": ["LateOrder"] }));
    debug.go().stands("exception", line(&file, "late"));
    debug.ok("breakpoint_set_exception", json!({ "uncaught": true, "caught": false }));
    debug.go().stands("exception", line(&file, "key")).has(&["KeyError"]);
    debug.ok("debug_stack", json!({})).has(&["order", "<module>"]);
    debug.ok("breakpoint_set_exception", json!({ "filters": [] })).has(&["no exception stops"]);
    debug.go().ended(json!({ "code": 1 }));
    let bad = json!({ "filters": ["sometimes"] });
    debug.fails("breakpoint_set_exception", bad).has(&["[E_INVALID_PARAMS]", "hint:"]);
}

/// While the program runs and does not stop.
#[test]
fn a_choice_takes_effect_in_a_running_program() {
    let mut debug = start();
    let (_folder, file) = program(
        "import time\nwhile True:\n    try:\n        raise ValueError('again')  # BP: raise\n    \
         except ValueError:\n        time.sleep(0.01)\n",
    );
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.5 });
    debug.launch(&file, more).has(&["Running"]);
    debug.ok("breakpoint_set_exception", json!({ "types": ["ValueError"] }));
    let said = debug.ok("debug_wait", json!({ "timeout_s": 30 }));
    said.stands("exception", line(&file, "raise")).has(&["again"]);
    debug.ok("breakpoint_set_exception", json!({ "filters": [] }));
    debug.ok("debug_continue", json!({ "timeout_s": 0.5 })).has(&["Running"]);
}

/// One choice for all programs, in the next server too, and `breakpoint_list` shows it.
#[test]
fn the_choice_outlives_the_server() {
    let mut debug = start();
    let (_folder, file) = program(ORDERS);
    let list = debug.ok("breakpoint_list", json!({}));
    assert!(!list.text.contains("exceptions:"), "the usual choice is no news: {}", list.text);
    debug.ok("breakpoint_set_exception", json!({ "types": ["OrderError"] }));
    debug.restart_server(BIN);
    debug.ok("debug_status", json!({})).has(&["restored: which exceptions stop"]);
    debug.ok("breakpoint_list", json!({})).has(&["exceptions: only OrderError stops"]);
    let more = json!({ "stop_on_entry": false });
    debug.launch(&file, more.clone()).stands("exception", line(&file, "late"));
    debug.ok("breakpoint_set_exception", json!({ "filters": [] }));
    debug.restart_server(BIN);
    debug.ok("breakpoint_list", json!({})).has(&["exceptions: no exception stops"]);
    let (_folder, service) = node_program();
    run(&mut debug, &service).ended(json!({ "code": 1 }));
}

const TESTS: &str = "\
import pytest

def lookup(d, key):
    try:
        return d[key]
    except KeyError:
        return None

def test_good():
    assert lookup({}, 1) is None
    with pytest.raises(ValueError):
        int('x')

def test_bad():
    value = lookup({'a': 1}, 'a')
    assert value == 2  # BP: assert
";

#[test]
fn an_assertion_of_a_pytest_test_is_the_only_stop() {
    let python = python(BIN, FOLDER);
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let file = base.join("test_shop.py");
    std::fs::write(&file, TESTS).unwrap();
    let launch = json!({
        "command": "pytest -q test_shop.py", "cwd": base, "interpreter": python.path,
        "env": { "PYTHONPATH": python.pytest() }, "stop_on_entry": false,
    });
    let types = json!(["AssertionError"]);
    for choice in
        [json!({ "types": types }), json!({ "filters": ["user_unhandled"], "types": types })]
    {
        let mut debug = start();
        debug.ok("breakpoint_set_exception", choice.clone());
        let said = debug.ok("debug_launch", launch.clone());
        said.stands("exception", line(&file, "assert")).has(&["in test_bad: AssertionError: "]);
        debug.go().ended(json!({ "code": 1 })).has(&["1 failed, 1 passed"]);
    }
}

const SERVICE: &str = "\
class OrderError extends Error {}
class LateOrder extends OrderError {}

function order(n) {
  if (n === 3) throw new LateOrder('late'); // BP: late
  if (n % 2) throw new TypeError('odd ' + n); // BP: odd
  return n;
}

for (let n = 0; n < 5; n++) {
  try {
    order(n);
  } catch (error) {}
}
console.log('half');
try { throw 'a text'; } catch {} // BP: text
order(1);
";

fn node_program() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("service.js");
    std::fs::write(&file, SERVICE).unwrap();
    (folder, file)
}

fn run(debug: &mut Debug, file: &Path) -> Said {
    debug.ok("debug_launch", json!({ "program": file, "stop_on_entry": false }))
}

#[test]
fn node_stops_by_type_and_at_derived_classes() {
    let mut debug = start();
    let (_folder, file) = node_program();
    debug.ok("breakpoint_set_exception", json!({ "types": ["OrderError"] }));
    run(&mut debug, &file).stands("exception", line(&file, "late")).has(&["LateOrder"]);
    debug.go().ended(json!({ "code": 1 })).has(&["half", "TypeError: odd 1"]);
}

#[test]
fn node_takes_another_choice_while_it_runs() {
    let mut debug = start();
    let (_folder, file) = node_program();
    debug.ok("breakpoint_set_exception", json!({ "types": ["TypeError"] }));
    run(&mut debug, &file).stands("exception", line(&file, "odd")).has(&["odd 1"]);
    debug.ok("breakpoint_set_exception", json!({ "types": ["string"] }));
    debug.go().stands("exception", line(&file, "text")).has(&["a text"]);
    debug.ok("breakpoint_set_exception", json!({}));
    debug.go().stands("exception", line(&file, "odd"));
    debug.ok("breakpoint_set_exception", json!({ "filters": [] }));
    debug.go().ended(json!({ "code": 1 }));
}

/// A step is not lost at an exception that nobody asked for.
#[test]
fn node_steps_over_an_exception_of_no_interest() {
    let mut debug = start();
    let (_folder, file) = node_program();
    debug.ok("breakpoint_set_exception", json!({ "types": ["OrderError"] }));
    let at = line(&file, "odd");
    let point = json!({ "file": file, "line": at, "condition": "n === 1" });
    debug.ok("breakpoint_set", point);
    run(&mut debug, &file).stands("breakpoint", at);
    debug.ok("debug_step", json!({})).stands("step", at);
    let said = debug.ok("debug_step", json!({}));
    assert_eq!(said.data["stop"]["reason"], "step", "{}", said.text);
    said.has(&["in <module>"]);
}
