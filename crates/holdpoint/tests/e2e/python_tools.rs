//! Python, in few calls: probe, exception, restart, source, set_variable, and what outlives the server.

use holdpoint_testkit::debug::{Debug, fixture, line, python};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

#[test]
fn a_probe_reports_values_and_ends_the_program() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    let more = json!({ "file": file, "line": at, "expressions": ["value * 2", "nope"], "hits": 2 });
    let said = debug.ok("debug_probe", debug.with_program(&file, more));
    said.has(&[
        &format!("shop.py:{at} in process · value * 2 · nope\n1 · 12 · → NameError"),
        "\n2 · 10 · → NameError",
        "\n2 of 2 · ended here",
    ]);
    assert!(!said.text.contains("seen: "), "{}", said.text);
    assert_eq!(said.data["hits"].as_array().unwrap().len(), 2);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn a_file_may_be_named_by_the_end_of_its_path_where_one_alone_ends_so() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("app/deep")).unwrap();
    let (main, inner) = (root.join("main.py"), root.join("app/deep/inner.py"));
    std::fs::write(&main, "import app.deep.inner\n").unwrap();
    std::fs::write(&inner, "value = 1\nprint(value)\n").unwrap();
    let mut debug = start();
    debug.launch(&main, json!({ "cwd": root, "stop_on_entry": true }));
    debug.ok("breakpoint_set", json!({ "file": "inner.py", "line": 2 })).has(&["inner.py:2"]);
    debug.ok("debug_continue", json!({})).stands("breakpoint", 2);
    std::fs::write(root.join("app/inner.py"), "value = 2\n").unwrap();
    let said = debug.fails("breakpoint_set", json!({ "file": "inner.py", "line": 1 }));
    said.has(&["2 files are `inner.py`", "which: app/deep/inner.py, app/inner.py"]);
}

#[test]
fn a_probe_that_is_never_reached_says_so_with_exit_and_output() {
    let mut debug = start();
    let file = fixture("shop.py");
    let more = json!({ "file": file, "line": line(&file, "return"), "condition": "total > 100" });
    let said = debug.ok("debug_probe", debug.with_program(&file, more));
    said.has(&["was never reached with `total > 100` true", "exit code 0", "total 50"]);
    assert_eq!(said.data["reached"], false);
}

#[test]
fn a_probe_that_runs_too_long_is_ended() {
    let mut debug = start();
    let file = fixture("endless.py");
    // A machine under load may need longer to start Python at all: then there is more time, and each time the
    // program is ended.
    for timeout_s in [2, 8, 30] {
        let more = json!({ "file": file, "line": line(&file, "late"), "timeout_s": timeout_s });
        let said = debug.fails("debug_probe", debug.with_program(&file, more));
        said.has(&["[E_TIMEOUT]", "hint:"]);
        debug.nothing_is_left();
        if said.text.contains("spinning") {
            said.has(&["was not reached in time"]);
            return;
        }
    }
    panic!("the program never began");
}

/// A probe has breakpoints of its own: the user's neither stop it nor are changed by it.
#[test]
fn a_probe_leaves_other_breakpoints_alone() {
    let mut debug = start();
    let file = fixture("shop.py");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "call") }));
    let more = json!({ "file": file, "line": line(&file, "sum") });
    debug.ok("debug_probe", debug.with_program(&file, more)).has(&["seen: list = [6, 5, 14]"]);
    let list = debug.ok("breakpoint_list", json!({}));
    assert_eq!(list.data["total"], 1, "{}", list.text);
}

#[test]
fn an_exception_is_told_with_its_cause_and_every_frame() {
    let mut debug = start();
    let file = fixture("raises.py");
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", line(&file, "raise"));
    let told = debug.ok("debug_exception", json!({}));
    told.has(&["RuntimeError: bad order 'twelve'", "caused by ValueError", "text: str = 'twelve'"]);
    told.has(&["← your code"]);
    assert_eq!(told.data["type"], "RuntimeError");
    debug.ok("debug_restart", json!({})).stands("exception", line(&file, "raise"));
}

#[test]
fn without_an_exception_it_says_so() {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    let said = debug.fails("debug_exception", json!({}));
    said.has(&["[E_NOT_FOUND]", "not at an exception", "breakpoint_set_exception"]);
}

#[test]
fn a_variable_gets_another_value_and_the_program_sees_it() {
    let mut debug = start();
    debug.run_to("shop.py", &["append"]);
    let set = json!({ "name": "value", "value": "40 + 2" });
    debug.ok("debug_set_variable", set).has(&["value: int = 42"]);
    assert_eq!(debug.eval("value"), "(int) 42");
    for (value, why) in
        [("1 / 0", "ZeroDivisionError"), ("nobody", "NameError"), ("1 +", "SyntaxError")]
    {
        let wrong = debug.fails("debug_set_variable", json!({ "name": "value", "value": value }));
        wrong.has(&["E_EVALUATE_FAILED", why]);
    }
    assert_eq!(debug.eval("value"), "(int) 42");
    let unknown = debug.fails("debug_set_variable", json!({ "name": "amount", "value": "1" }));
    unknown.has(&["[E_NOT_FOUND]", "no local variable `amount`", "value"]);
}

#[test]
fn source_is_shown_around_the_stop_and_by_range() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "call");
    debug.run_to("shop.py", &["call"]);
    debug.ok("debug_source", json!({})).has(&[&format!(">>> {at:>4} |")]);
    let range = debug.ok("debug_source", json!({ "file": "shop.py", "lines": "1-3" }));
    range.has(&["   1 | import sys", "   3 | RATE = 2"]);
    assert!(!range.text.contains("line_total"));
    debug.fails("debug_source", json!({ "lines": "9-3" })).has(&["[E_INVALID_PARAMS]"]);
    debug.fails("debug_source", json!({ "file": "none.py" })).has(&["[E_NOT_FOUND]"]);
}

/// `kill -9` of the server: the next one has the breakpoints, says so, and runs the program again.
#[test]
fn breakpoints_and_the_last_launch_outlive_the_server() {
    let mut debug = start();
    let file = fixture("shop.py");
    debug.run_to("shop.py", &["sum"]).stands("breakpoint", line(&file, "sum"));
    debug.restart_server(BIN);
    let first = debug.ok("debug_status", json!({}));
    first.has(&["restored: 1 breakpoints", "the last launch was shop.py", "`debug_restart`"]);
    let again = debug.ok("debug_restart", json!({}));
    again.stands("breakpoint", line(&file, "sum"));
    assert!(!again.text.contains("restored"), "it is said once");
}

#[test]
fn the_traffic_with_the_debugger_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("dap.jsonl");
    let mut debug = python(BIN, FOLDER).start_with(&["--dap-log", tape.to_str().unwrap()]);
    debug.run_to("shop.py", &["call"]);
    let text = std::fs::read_to_string(&tape).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said = |dir: &str, key: &str, word: &str| {
        lines.iter().any(|line| line["dir"] == dir && line["msg"][key] == word)
    };
    assert!(said("→", "command", "setBreakpoints") && said("←", "event", "stopped"), "{text}");
}
