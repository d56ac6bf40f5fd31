//! Python, the world around it: its output and input, its children, and that nothing of it is left.

use std::time::{Duration, Instant};

use holdpoint_testkit::{
    debug::{Debug, fixture, line, program, python},
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

/// A program with a child, and a grandchild in a session of its own whose parent is gone: all alive.
fn with_family() -> Debug {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1 });
    debug.launch(&fixture("family.py"), more);
    debug.wrote("family is there");
    // The guard, the program, its child and its grandchild.
    until("the family", || (debug.children().len() == 4).then_some(()));
    debug
}

#[test]
fn arguments_environment_and_folder_reach_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    let mut debug = start();
    let more = json!({
        "args": ["one", "two words", "--three=3"], "env": { "TOLD": "yes" }, "cwd": cwd,
        "stop_on_entry": false,
    });
    debug.launch(&fixture("told.py"), more).ended(json!({ "code": 0 })).has(&[
        "args ['one', 'two words', '--three=3']",
        "env yes keeps True",
        &format!("cwd {}", cwd.display()),
        "name __main__",
    ]);
    // Without a folder it is the program's own.
    let own = fixture("told.py").parent().unwrap().display().to_string();
    let more = json!({ "stop_on_entry": false });
    debug.launch(&fixture("told.py"), more).has(&[&format!("cwd {own}"), "env None"]);
}

#[test]
fn a_module_is_run_as_one() {
    let mut debug = start();
    let file = fixture("told.py");
    let path = &python(BIN, FOLDER).path;
    let points = json!([{ "file": file, "line": line(&file, "name") }]);
    let arguments = json!({
        "module": "told", "args": ["x"], "cwd": file.parent(), "interpreter": path,
        "breakpoints": points, "stop_on_entry": false,
    });
    debug.ok("debug_launch", arguments).stands("breakpoint", line(&file, "name"));
    debug.go().ended(json!({ "code": 0 })).has(&["name __main__"]);
    debug.ok("debug_output", json!({})).has(&["args ['x']"]);
}

#[test]
fn pytest_is_launched_by_its_command_line() {
    let python = python(BIN, FOLDER);
    let mut debug = start();
    let file = fixture("cart.py");
    let points = json!([{ "file": file, "line": line(&file, "total") }]);
    let arguments = json!({
        "command": "pytest -p no:cacheprovider -q cart.py -k 'test_add'", "cwd": file.parent(),
        "interpreter": python.path, "breakpoints": points, "stop_on_entry": false,
        "env": { "PYTHONPATH": python.pytest(), "PYTHONDONTWRITEBYTECODE": "1" },
    });
    let said = debug.ok("debug_launch", arguments);
    said.stands("breakpoint", line(&file, "total")).has(&["in add", "total = 3"]);
    debug.ok("debug_stack", json!({})).has(&["#0   add", "#1   test_add"]);
    // What pytest makes of an `assert` is nobody's variable.
    for scope in ["local", "global"] {
        let seen = debug.ok("debug_variables", json!({ "frame": 1, "scope": scope }));
        assert!(!seen.text.contains("@py"), "{}", seen.text);
    }
    debug.go().ended(json!({ "code": 0 })).has(&["1 passed"]);
}

#[test]
fn ten_megabytes_of_output_hold_nothing_up() {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false });
    let said = debug.launch(&fixture("chatty.py"), more);
    said.ended(json!({ "code": 0 })).has(&["last line"]);
    let read = debug.ok("debug_output", json!({}));
    read.has(&["last line", "no longer kept"]);
    let (lost, bytes) = (read.data["lost"].as_u64().unwrap(), read.data["bytes"].as_u64().unwrap());
    assert_eq!(lost + bytes, 10_000_010);
    assert_eq!(read.data["cursor"], 10_000_010);
    let rest = debug.ok("debug_output", json!({ "since": 10_000_000 }));
    assert_eq!(rest.data["output"], "last line\n");
    let none = debug.ok("debug_output", json!({ "since": read.data["cursor"] }));
    none.has(&["(no output)"]);
}

#[test]
fn a_place_in_long_output_is_found() {
    let (_folder, file) = program(
        "for n in range(5000):\n    print('not ok' if n % 1000 == 7 else 'ok', n, 'x' * 90)\n",
    );
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "code": 0 })).has(&["`debug_output`", "`find`"]);
    let one = debug.ok("debug_output", json!({ "find": "not ok 3007" }));
    one.has(&["3007: ok 3006", "3008: not ok 3007", "3009: ok 3008"]);
    assert_eq!(one.data["found"], 1);
    // Five places do not fit: some are shown, the rest is counted.
    let all = debug.ok("debug_output", json!({ "find": "not ok" }));
    let shown = all.data["shown"].as_u64().unwrap();
    assert!((1..5).contains(&shown) && all.data["found"] == 5, "{}", all.text);
    all.has(&["8: not ok 7", &format!("… {} more", 5 - shown)]);
    debug.ok("debug_output", json!({ "find": "NOT" })).has(&["`NOT` is not in the"]);
    debug.fails("debug_output", json!({ "find": "" })).has(&["[E_INVALID_PARAMS]", "`find`"]);
}

#[test]
fn what_was_printed_is_there_while_the_program_stands() {
    let mut debug = start();
    let said = debug.run_to("shop.py", &["seen"]);
    said.has(&["--- Program output ---", "orders 3"]);
    let only = debug.ok("debug_output", json!({ "stream": "stderr" }));
    only.has(&["(no output)"]);
}

#[test]
fn input_reaches_the_program_when_it_is_written() {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1 });
    debug.launch(&fixture("reads.py"), more);
    debug.ok("debug_input", json!({ "text": "Ada\n" })).has(&["wrote 4 bytes"]);
    debug.wrote("name Ada");
    debug.ok("debug_input", json!({ "text": "more", "close": true })).has(&["stdin closed"]);
    debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
    debug.wrote("rest 'more'");
    debug.fails("debug_input", json!({ "text": "x" })).has(&["stdin is closed"]);
}

#[test]
fn input_can_be_given_with_the_launch() {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false, "stdin": "Grace\nrest" });
    let said = debug.launch(&fixture("reads.py"), more);
    said.ended(json!({ "code": 0 })).has(&["name Grace", "rest 'rest'"]);
}

#[test]
fn a_large_input_does_not_hold_the_launch_up() {
    let (_folder, file) = program("import sys\nprint(len(sys.stdin.read()))\n");
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stdin": "x".repeat(300_000) }));
    said.stands("entry", 1);
    debug.go().ended(json!({ "code": 0 })).has(&["300000"]);
}

#[test]
fn a_subprocess_is_debugged_with_its_parent() {
    let mut debug = start();
    let at = line(&fixture("children.py"), "square");
    let child = debug.run_with("children.py", &["square"], &["subprocess"]);
    child.stands("breakpoint", at).has(&["in square", "result = 36"]);
    let thread = child.data["stop"]["thread_id"].as_str().unwrap().to_owned();
    assert!(thread.starts_with("2/"), "{thread}");
    debug.ok("debug_stack", json!({})).has(&["#0   square"]);
    assert_eq!(debug.eval("number"), "(int) 6");
    debug.ok("debug_threads", json!({})).has(&[
        "1 MainThread of children.py (pid ",
        ") running",
        "2/1 ",
    ]);
    debug.go().ended(json!({ "code": 0 })).has(&["child said square 36 and ended with 0", "done"]);
}

#[test]
fn both_workers_of_a_pool_stop_one_after_the_other() {
    let mut debug = start();
    let at = line(&fixture("children.py"), "square");
    let first = debug.run_with("children.py", &["square"], &["pool"]);
    first.stands("breakpoint", at).has(&["in square"]);
    let number = debug.eval("number");
    let second = debug.go();
    second.stands("breakpoint", at);
    assert_ne!(debug.eval("number"), number);
    debug.go().ended(json!({ "code": 0 })).has(&["squares [9, 16]", "done"]);
}

#[test]
fn a_fork_is_debugged_too() {
    let mut debug = start();
    let child = debug.run_with("children.py", &["square"], &["fork"]);
    child.stands("breakpoint", line(&fixture("children.py"), "square")).has(&["result = 25"]);
    debug.go().ended(json!({ "code": 0 })).has(&["fork ended with 25", "done"]);
}

#[test]
fn children_without_a_breakpoint_run_through() {
    for how in ["subprocess", "pool", "fork"] {
        let mut debug = start();
        debug.run_with("children.py", &[], &[how]).ended(json!({ "code": 0 })).has(&["done"]);
    }
}

#[test]
fn a_breakpoint_set_while_a_child_stands_reaches_all_processes() {
    let mut debug = start();
    let file = fixture("children.py");
    debug.run_with("children.py", &["square"], &["subprocess"]);
    let done = line(&file, "done");
    debug.ok("breakpoint_set", json!({ "file": file, "line": done })).has(&["(verified)"]);
    debug.go().stands("breakpoint", done);
}

#[test]
fn two_sessions_stand_side_by_side() {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    let second = debug.launch(&fixture("told.py"), json!({}));
    assert_eq!(second.data["session_id"], "s2");
    let both = debug.fails("debug_stack", json!({}));
    both.has(&["[E_NO_SESSION]", "several", "`s1` (shop.py)", "`s2` (told.py)", "session_id"]);
    debug.ok("debug_stack", json!({ "session_id": "s1" })).has(&["process"]);
    debug.ok("debug_stack", json!({ "session_id": "s2" })).has(&["told.py:1"]);
    debug.ok("debug_status", json!({})).has(&["s1 shop.py", "s2 told.py", "stopped"]);
    debug.ok("debug_continue", json!({ "session_id": "s2" })).ended(json!({ "code": 0 }));
    // The only live one needs no name.
    debug.ok("debug_stack", json!({})).has(&["process"]);
    debug.ok("debug_stop", json!({ "session_id": "s1" }));
}

#[test]
fn stopping_ends_the_whole_family() {
    let mut debug = with_family();
    debug.ok("debug_stop", json!({})).has(&["Debug session s1 ended."]);
    assert_eq!(debug.children(), Vec::<String>::new());
}

#[test]
fn the_end_of_the_program_ends_its_family() {
    let mut debug = with_family();
    debug.ok("debug_pause", json!({}));
    debug.eval("import os");
    // The answer may be lost with the program; its end is not.
    debug.ask("debug_evaluate", json!({ "expression": "os._exit(0)", "timeout_s": 2 }));
    debug.ok("debug_wait", json!({ "after_epoch": 99 })).ended(json!({ "code": 0 }));
    debug.nothing_is_left();
}

#[test]
fn a_killed_server_leaves_nothing() {
    let mut debug = with_family();
    debug.rpc.process.signal("KILL");
    debug.rpc.process.end();
    let killed = Instant::now();
    debug.nothing_is_left();
    assert!(killed.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_server_killed_at_a_stop_leaves_nothing() {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    debug.rpc.process.signal("KILL");
    debug.rpc.process.end();
    debug.nothing_is_left();
}

#[test]
fn the_end_of_stdin_ends_the_programs() {
    let mut debug = with_family();
    debug.launch(&fixture("shop.py"), json!({}));
    debug.rpc.close_stdin();
    let (status, stderr) = debug.rpc.process.end();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
    debug.nothing_is_left();
}

#[test]
fn a_cancelled_continue_leaves_the_session_usable() {
    let mut debug = start();
    debug.launch(&fixture("endless.py"), json!({}));
    let id = debug.ask("debug_continue", json!({ "timeout_s": 600 }));
    debug.wrote("spinning");
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    debug.ok("debug_status", json!({})).has(&["running"]);
    debug.ok("debug_pause", json!({})).has(&["in spin"]);
    assert_eq!(debug.eval("turns > 0"), "(bool) True");
}

#[test]
fn a_cancelled_launch_leaves_nothing() {
    let mut debug = start();
    let path = &python(BIN, FOLDER).path;
    let arguments =
        json!({ "program": fixture("endless.py"), "interpreter": path, "stop_on_entry": false });
    let id = debug.ask("debug_launch", arguments);
    until("the guard", || (!debug.children().is_empty()).then_some(()));
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    // Either it was too early and nothing lives, or there is a session to stop.
    let status = debug.ok("debug_status", json!({}));
    if !status.data["sessions"].as_array().unwrap().is_empty() {
        debug.ok("debug_stop", json!({}));
    }
    debug.nothing_is_left();
}
