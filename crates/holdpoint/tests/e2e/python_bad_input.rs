//! Python, what cannot work: each a failure with its code and a hint, and the server lives on.

use holdpoint_testkit::debug::{Debug, fixture, line, program, python};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

#[test]
fn a_breakpoint_nowhere_is_refused() {
    let mut debug = start();
    let file = fixture("shop.py");
    let lines = std::fs::read_to_string(&file).unwrap().lines().count();
    let folder = file.parent().unwrap();
    for (arguments, wanted) in [
        (json!({ "file": file, "line": 0 }), vec!["[E_INVALID_PARAMS]", "line"]),
        (json!({ "file": file, "line": -1 }), vec!["[E_INVALID_PARAMS]", "line", "hint:"]),
        (
            json!({ "file": file, "line": 1_000_000_000 }),
            vec!["[E_INVALID_PARAMS]", &*format!("has {lines} lines"), "hint:"],
        ),
        (json!({ "file": "no/such.py", "line": 1 }), vec!["[E_NOT_FOUND]", "no/such.py", "hint:"]),
        (json!({ "file": folder, "line": 1 }), vec!["[E_NOT_FOUND]", "hint:"]),
        (json!({ "file": file }), vec!["[E_INVALID_PARAMS]", "missing parameter `line`"]),
        (json!({ "file": file, "line": "ten" }), vec!["[E_INVALID_PARAMS]", "integer"]),
    ] {
        debug.fails("debug_breakpoint", arguments).has(&wanted);
    }
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
}

#[test]
fn a_breakpoint_in_a_binary_file_is_refused() {
    let mut debug = start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.bin");
    std::fs::write(&file, [0, 159, 146, 150, 0, 10, 0, 1, 2, 3]).unwrap();
    debug
        .fails("breakpoint_set", json!({ "file": file, "line": 1 }))
        .has(&["[E_INVALID_PARAMS]", "is not a source file"]);
}

#[test]
fn a_condition_that_does_not_parse_is_refused_at_once() {
    let mut debug = start();
    let file = fixture("shop.py");
    debug.launch(&file, json!({}));
    let at = line(&file, "call");
    let said = debug
        .fails("breakpoint_set", json!({ "file": file, "line": at, "condition": "index ===" }));
    said.has(&["[E_INVALID_PARAMS]", "index ==="]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    // Before there is a Python to ask, the launch finds it.
    debug.ok("debug_stop", json!({}));
    debug.ok("breakpoint_set", json!({ "file": file, "line": at, "condition": "while" }));
    let arguments = json!({ "program": file, "interpreter": python(BIN, FOLDER).path });
    debug.fails("debug_launch", arguments).has(&["`while` does not parse", "SyntaxError"]);
    debug.nothing_is_left();
}

#[test]
fn a_launch_of_nothing_is_refused() {
    let mut debug = start();
    let shop = fixture("shop.py");
    let folder = shop.parent().unwrap();
    for (arguments, wanted) in [
        (json!({}), vec!["[E_INVALID_PARAMS]"]),
        (json!({ "program": "no/such.py" }), vec!["[E_NOT_FOUND]", "no/such.py", "hint:"]),
        (json!({ "program": folder }), vec!["[E_NOT_FOUND]", "not a file", "hint:"]),
        (json!({ "program": shop, "cwd": "/no/such" }), vec!["[E_NOT_FOUND]", "not a folder"]),
        (json!({ "program": shop, "module": "told" }), vec!["[E_INVALID_PARAMS]", "exactly one"]),
        (json!({ "program": shop, "language": "cobol" }), vec!["[E_INVALID_PARAMS]", "python"]),
        (json!({ "command": "pytest 'open" }), vec!["[E_INVALID_PARAMS]", "open quote"]),
        (json!({ "program": shop, "arguments": [] }), vec!["unknown parameter", "`args`"]),
    ] {
        debug.fails("debug_launch", arguments).has(&wanted);
    }
    debug.ok("debug_status", json!({})).has(&["no sessions", "debug_launch"]);
}

#[test]
fn a_launch_with_a_breakpoint_nowhere_is_refused() {
    let mut debug = start();
    let shop = fixture("shop.py");
    for (point, wanted) in [
        (json!({ "file": "no/such.py", "line": 1 }), vec!["[E_NOT_FOUND]", "no/such.py", "hint:"]),
        (json!({ "file": "shop.py", "line": 999 }), vec!["[E_INVALID_PARAMS]", "lines, not 999"]),
        (json!({ "file": "shop.py", "line": 0 }), vec!["[E_INVALID_PARAMS]", "begin at 1"]),
        (json!({ "file": "shop.py" }), vec!["[E_INVALID_PARAMS]", "`line`"]),
        (
            json!({ "file": "shop.py", "line": 3, "hit_condition": "often" }),
            vec!["[E_INVALID_PARAMS]", "often"],
        ),
        (
            json!({ "file": "shop.py", "line": 3, "when": "x" }),
            vec!["[E_INVALID_PARAMS]", "`when`", "condition"],
        ),
    ] {
        let right = json!({ "file": "shop.py", "line": 3 });
        let arguments = json!({ "program": shop, "breakpoints": [right, point] });
        debug.fails("debug_launch", arguments).has(&wanted);
    }
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
}

#[test]
fn an_interpreter_that_is_not_one_is_named() {
    let mut debug = start();
    let shop = fixture("shop.py");
    for path in ["/no/such/python", "no-such-python", "/bin/true", "/bin/cat", "/etc/passwd", "/"] {
        let said = debug.fails("debug_launch", json!({ "program": shop, "interpreter": path }));
        said.has(&["[E_LAUNCH_FAILED]", path, "hint:"]);
    }
    debug.nothing_is_left();
}

#[test]
fn a_binary_file_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.py");
    std::fs::write(&file, [0, 159, 146, 150, 0, 10]).unwrap();
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    let said = if said.data.get("stop").is_some() { debug.go() } else { said };
    said.ended(json!({ "code": 1 })).has(&["SyntaxError"]);
}

#[test]
fn a_module_that_is_not_there_is_told() {
    let mut debug = start();
    let path = &python(BIN, FOLDER).path;
    let arguments = json!({ "module": "no_such_module", "interpreter": path });
    let said = debug.ok("debug_launch", arguments);
    assert_ne!(said.text, "");
    let said = if said.data.get("stop").is_some() { debug.go() } else { said };
    said.ended(json!({ "code": 1 })).has(&["no_such_module"]);
}

#[test]
fn without_a_session_every_tool_says_how_to_begin() {
    let mut debug = start();
    for tool in [
        "debug_continue",
        "debug_step",
        "debug_pause",
        "debug_wait",
        "debug_stack",
        "debug_threads",
        "debug_variables",
        "debug_output",
        "debug_stop",
    ] {
        debug.fails(tool, json!({})).has(&["[E_NO_SESSION]", "debug_launch"]);
        debug.fails(tool, json!({ "session_id": "s9" })).has(&["[E_NO_SESSION]", "`s9`"]);
    }
    let evaluate = json!({ "expression": "1" });
    debug.fails("debug_evaluate", evaluate).has(&["[E_NO_SESSION]", "debug_launch"]);
}

#[test]
fn wrong_parameters_of_a_stopped_session_are_named() {
    let mut debug = start();
    debug.launch(&fixture("shop.py"), json!({}));
    for (tool, arguments, wanted) in [
        ("debug_step", json!({ "action": "sideways" }), "step_in"),
        ("debug_step", json!({ "count": 0 }), "count"),
        ("debug_stack", json!({ "thread": "x" }), "debug_threads"),
        ("debug_continue", json!({ "timeout_s": -1 }), "timeout_s"),
        ("debug_continue", json!({ "to_line": 999 }), "lines"),
        ("debug_variables", json!({ "scope": "everything" }), "scope"),
        ("breakpoint_remove", json!({ "line": 7 }), "`file`"),
        ("breakpoint_enable", json!({ "id": 77 }), "no breakpoint 77"),
    ] {
        let said = debug.fails(tool, arguments);
        said.has(&[wanted]);
    }
    debug.ok("debug_status", json!({})).has(&["stopped (entry)"]);
}

#[test]
fn a_program_that_fails_before_the_debugger_is_told() {
    // A module beside the program that hides one the debugger needs.
    let (folder, file) = program("print('fine')\n");
    std::fs::write(folder.path().join("sitecustomize.py"), "raise SystemExit(9)\n").unwrap();
    let mut debug = start();
    let path = &python(BIN, FOLDER).path;
    let arguments = json!({
        "program": file, "interpreter": path, "env": { "PYTHONPATH": folder.path() },
    });
    debug.fails("debug_launch", arguments).has(&["[E_LAUNCH_FAILED]", "ended with", "hint:"]);
    debug.nothing_is_left();
}
