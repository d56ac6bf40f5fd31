//! Node, what cannot work: each a failure with its code and a hint, and the server lives on.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

#[test]
fn a_breakpoint_nowhere_is_refused() {
    let mut debug = start();
    let file = fixture("shop.js");
    let lines = std::fs::read_to_string(&file).unwrap().lines().count();
    let folder = file.parent().unwrap();
    for (arguments, wanted) in [
        (json!({ "file": file, "line": 0 }), vec!["[E_INVALID_PARAMS]", "line"]),
        (json!({ "file": file, "line": -1 }), vec!["[E_INVALID_PARAMS]", "line", "hint:"]),
        (
            json!({ "file": file, "line": 1_000_000_000 }),
            vec!["[E_INVALID_PARAMS]", &*format!("has {lines} lines"), "hint:"],
        ),
        (json!({ "file": "no/such.js", "line": 1 }), vec!["[E_NOT_FOUND]", "no/such.js", "hint:"]),
        (json!({ "file": folder, "line": 1 }), vec!["[E_NOT_FOUND]", "hint:"]),
    ] {
        debug.fails("debug_breakpoint", arguments).has(&wanted);
    }
    debug.launch(&file, json!({}));
    let far = json!({ "file": file, "line": 1_000_000_000 });
    debug.fails("debug_breakpoint", far).has(&["[E_INVALID_PARAMS]"]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
}

#[test]
fn a_condition_that_does_not_parse_is_told_at_once() {
    let mut debug = start();
    let file = fixture("shop.js");
    debug.launch(&file, json!({}));
    let at = line(&file, "call");
    let point = json!({ "file": file, "line": at, "condition": "order ===" });
    let said = debug.fails("breakpoint_set", point);
    said.has(&["[E_INVALID_PARAMS]", "order ===", "SyntaxError"]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    let point = json!({ "file": file, "line": at, "hit_condition": "often" });
    debug.fails("breakpoint_set", point).has(&["[E_INVALID_PARAMS]", "`often` is not one of"]);
    debug.go().ended(json!({ "code": 3 }));
}

#[test]
fn a_launch_of_nothing_is_refused() {
    let mut debug = start();
    let shop = fixture("shop.js");
    let folder = shop.parent().unwrap();
    for (arguments, wanted) in [
        (json!({ "language": "node" }), vec!["[E_INVALID_PARAMS]"]),
        (json!({ "program": "no/such.js" }), vec!["[E_NOT_FOUND]", "no/such.js", "hint:"]),
        (json!({ "program": folder, "language": "node" }), vec!["[E_NOT_FOUND]", "not a file"]),
        (json!({ "program": shop, "cwd": "/no/such" }), vec!["[E_NOT_FOUND]", "not a folder"]),
        (json!({ "command": "node", "program": shop }), vec!["[E_INVALID_PARAMS]", "exactly one"]),
        (json!({ "module": "shop", "language": "node" }), vec!["[E_INVALID_PARAMS]", "`module`"]),
        (
            json!({ "command": "node nowhere.js" }),
            vec!["[E_LAUNCH_FAILED]", "Cannot find module", "hint:"],
        ),
        (json!({ "command": "node --no-such-flag a.js" }), vec!["[E_LAUNCH_FAILED]", "bad option"]),
        (json!({ "command": "node 'open" }), vec!["[E_INVALID_PARAMS]", "open quote"]),
    ] {
        debug.fails("debug_launch", arguments).has(&wanted);
    }
    debug.ok("debug_status", json!({})).has(&["no sessions", "debug_launch"]);
    debug.nothing_is_left();
}

#[test]
fn an_interpreter_that_is_not_one_is_named() {
    let mut debug = start();
    let shop = fixture("shop.js");
    for path in ["/no/such/node", "no-such-node", "/bin/true", "/bin/cat", "/etc/passwd", "/"] {
        let said = debug.fails("debug_launch", json!({ "program": shop, "interpreter": path }));
        said.has(&[path, "hint:"]);
        let code = said.text.split(' ').next().unwrap();
        assert!(["[E_NOT_FOUND]", "[E_LAUNCH_FAILED]"].contains(&code), "{}", said.text);
    }
    debug.nothing_is_left();
}

/// It ends without a word and without listening; nobody may wait for it.
#[test]
fn an_interpreter_that_never_answers_is_given_up() {
    let folder = Folder::default();
    let sleeper = folder.write("sleeper", "#!/bin/sh\nexec sleep 600\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&sleeper, mode).unwrap();
    let mut debug = start();
    let arguments = json!({ "program": fixture("shop.js"), "interpreter": sleeper });
    let said = debug.fails("debug_launch", arguments);
    said.has(&["[E_LAUNCH_FAILED]", "did not open its inspector", "hint:"]);
    debug.nothing_is_left();
}

#[test]
fn a_program_that_does_not_parse_is_told_with_its_line() {
    let folder = Folder::default();
    let mut debug = start();
    for name in ["broken.js", "broken.mjs"] {
        let file = folder.write(name, "const a = 1;\nconst b = ;\n");
        let said = debug.fails("debug_launch", json!({ "program": file }));
        said.has(&["[E_LAUNCH_FAILED]", &format!("{name}:2"), "SyntaxError: Unexpected token ';'"]);
        said.has(&["hint:"]);
    }
    let file = folder.write("imports.mjs", "import './missing.mjs';\n");
    let said = debug.fails("debug_launch", json!({ "program": file }));
    said.has(&["[E_LAUNCH_FAILED]", "missing.mjs", "hint: install what is missing"]);
    debug.nothing_is_left();
}

#[test]
fn a_file_that_is_required_later_and_does_not_parse_is_an_exception() {
    let folder = Folder::default();
    folder.write("later.js", "const b = ;\n");
    let main = folder.write("main.js", "const name = './later.js';\nrequire(name);\n");
    let mut debug = start();
    let said = debug.launch(&main, json!({ "stop_on_entry": false }));
    said.has(&["Stopped (exception)", "SyntaxError"]);
    debug.go().ended(json!({ "code": 1 })).has(&["later.js:1"]);
}

#[test]
fn a_binary_file_is_no_program() {
    let folder = Folder::default();
    let file = folder.write("data.js", [0, 159, 146, 150, 0, 10]);
    let mut debug = start();
    let said = debug.fails("debug_launch", json!({ "program": file }));
    said.has(&["[E_LAUNCH_FAILED]", "SyntaxError", "hint:"]);
    let said = debug.fails("debug_launch", json!({ "program": "/bin/sleep", "language": "node" }));
    said.has(&["[E_LAUNCH_FAILED]", "SyntaxError", "hint:"]);
    debug.nothing_is_left();
}

#[test]
fn typescript_that_nothing_here_can_run_says_what_would() {
    let version = std::process::Command::new("node").arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let major: u32 = version.trim_start_matches('v').split('.').next().unwrap().parse().unwrap();
    let folder = Folder::default();
    let file = folder.write("main.ts", "const a: number = 1;\nconsole.log(a);\n");
    let mut debug = start();
    if major >= 23 {
        debug.launch(&file, json!({})).stands("entry", 1);
    } else {
        let said = debug.fails("debug_launch", json!({ "program": file }));
        said.has(&["[E_LAUNCH_FAILED]", "cannot run TypeScript", "tsx", "hint:"]);
    }
}

#[test]
fn wrong_parameters_of_a_stopped_session_are_named() {
    let mut debug = start();
    debug.launch(&fixture("shop.js"), json!({}));
    for (tool, arguments, wanted) in [
        ("debug_step", json!({ "action": "sideways" }), "step_in"),
        ("debug_step", json!({ "count": 0 }), "count"),
        ("debug_stack", json!({ "thread": "x" }), "debug_threads"),
        ("debug_stack", json!({ "session_id": "s9" }), "`s9`"),
        ("debug_continue", json!({ "timeout_s": -1 }), "timeout_s"),
        ("debug_continue", json!({ "to_line": 999 }), "lines"),
        ("debug_variables", json!({ "scope": "everything" }), "scope"),
        ("debug_evaluate", json!({ "expression": " " }), "expression"),
        ("breakpoint_remove", json!({ "line": 7 }), "`file`"),
        ("breakpoint_enable", json!({ "id": 77 }), "no breakpoint 77"),
    ] {
        debug.fails(tool, arguments).has(&[wanted]);
    }
    debug.ok("debug_status", json!({})).has(&["stopped (entry)"]);
}
