//! Python, run control: where a program stops, how it goes on, how it ends.

use holdpoint_testkit::{
    debug::{Debug, ask_python, fixture, line, program, python},
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

#[test]
fn the_debugger_is_provided_without_touching_the_interpreter() {
    let python = python(BIN, FOLDER);
    let provided: Vec<_> = std::fs::read_dir(&python.debuggers).unwrap().collect();
    assert!(!provided.is_empty());
    let question = "import importlib.util as u; print(u.find_spec('debugpy'))";
    assert_eq!(ask_python(question), "None");
}

#[test]
fn a_launch_stops_at_the_first_line() {
    let mut debug = start();
    let said = debug.launch(&fixture("shop.py"), json!({}));
    said.stands("entry", 1)
        .has(&["Stopped (entry) at shop.py:1 in <module> · s1", ">>>    1 | import sys"]);
    assert_eq!(said.data["session_id"], "s1");
    debug.go().ended(json!({ "code": 0 })).has(&["orders 3", "total 50"]);
}

#[test]
fn a_breakpoint_set_before_the_launch_is_hit() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    debug.ok("debug_breakpoint", json!({ "file": file, "line": at })).has(&[
        "Breakpoint 1 at shop.py",
        "pending",
        "seen.append(value)",
    ]);
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("breakpoint", at).has(&["Stopped (breakpoint 1)", "in process", "value = 6"]);
    assert_eq!(said.data["stop"]["breakpoint_ids"], json!([1]));
    assert_eq!(said.data["stop"]["function"], "process");
}

#[test]
fn a_breakpoint_set_during_a_session_says_where_it_was_bound() {
    let mut debug = start();
    let file = fixture("shop.py");
    debug.launch(&file, json!({}));
    let at = line(&file, "sum");
    // A relative path is the program's folder's.
    let said = debug.ok("breakpoint_set", json!({ "file": "shop.py", "line": at }));
    said.has(&[&format!("Breakpoint 1 at shop.py:{at} (verified)"), "return sum(seen)"]);
    assert_eq!(said.data["bound_line"], at);
    assert_eq!(said.data["moved"], false);
    debug.go().stands("breakpoint", at);
}

#[test]
fn a_breakpoint_on_a_line_without_code_says_where_it_moved() {
    let mut debug = start();
    let file = fixture("shop.py");
    debug.launch(&file, json!({}));
    let returns = line(&file, "return");
    // The blank line and the comment after it.
    for asked in [returns + 1, returns + 2] {
        let said = debug.ok("breakpoint_set", json!({ "file": file, "line": asked }));
        let moved = format!("moved: line {asked} has no code");
        said.has(&[&moved]);
        let bound = said.data["bound_line"].as_u64().unwrap();
        let source = std::fs::read_to_string(&file).unwrap();
        let text = source.lines().nth(usize::try_from(bound).unwrap() - 1).unwrap();
        said.has(&[text.trim_end(), &format!("shop.py:{bound}")]);
        assert_eq!(said.data["moved"], true);
        debug.ok("breakpoint_remove", json!({ "id": said.data["breakpoint_id"] }));
    }
}

#[test]
fn a_condition_decides_whether_it_stops() {
    let mut debug = start();
    let file = fixture("shop.py");
    let (call, sum) = (line(&file, "call"), line(&file, "sum"));
    let points = json!([
        { "file": "shop.py", "line": call, "condition": "index == 2" },
        { "file": "shop.py", "line": sum, "condition": "len(seen) > 99" },
    ]);
    let more = json!({ "stop_on_entry": false, "breakpoints": points });
    debug.launch(&file, more).stands("breakpoint", call).has(&["index = 2"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_hit_condition_counts_the_hits() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "call");
    let points = json!([{ "file": "shop.py", "line": at, "hit_condition": ">= 2" }]);
    let more = json!({ "stop_on_entry": false, "breakpoints": points });
    debug.launch(&file, more).stands("breakpoint", at).has(&["index = 1"]);
    debug.go().stands("breakpoint", at).has(&["index = 1 → 2"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_breakpoint_can_be_disabled_enabled_and_removed() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "total");
    debug.run_to("shop.py", &["total"]).stands("breakpoint", at);
    debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false })).has(&["disabled"]);
    debug.ok("breakpoint_list", json!({})).has(&["(disabled)"]);
    let append = line(&file, "append");
    debug.ok("debug_continue", json!({ "to_line": line(&file, "return") }));
    debug.ok("breakpoint_enable", json!({ "id": 1 })).has(&["(verified)"]);
    debug.go().stands("breakpoint", at);
    debug.ok("breakpoint_remove", json!({ "file": "shop.py", "line": at })).has(&["removed"]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    debug.ok("breakpoint_set", json!({ "file": "shop.py", "line": append }));
    debug.go().stands("breakpoint", append);
    debug.fails("breakpoint_remove", json!({ "id": 1 })).has(&["no breakpoint 1", "hint:"]);
}

#[test]
fn a_path_with_spaces_and_a_link_is_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("my real folder");
    std::fs::create_dir(&real).unwrap();
    std::fs::copy(fixture("shop.py"), real.join("the shop.py")).unwrap();
    let linked = folder.path().join("a link");
    std::os::unix::fs::symlink(&real, &linked).unwrap();
    let file = linked.join("the shop.py");
    let at = line(&file, "append");
    let mut debug = start();
    debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("breakpoint", at).has(&["Stopped (breakpoint 1) at the shop.py"]);
}

#[test]
fn steps_go_over_into_and_out_of_calls() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = |name: &str| line(&file, name);
    debug.run_to("shop.py", &["call"]).stands("breakpoint", at("call"));
    debug.ok("debug_step", json!({ "action": "step_in" })).stands("step", at("total"));
    debug.ok("debug_step", json!({})).stands("step", at("return")).has(&["total = 6"]);
    debug.ok("debug_step", json!({ "action": "step_out" })).stands("step", at("call"));
    debug.ok("debug_step", json!({ "action": "next" })).stands("step", at("append"));
    // Ends early: there is a breakpoint on the way.
    debug.ok("debug_step", json!({ "count": 50 })).stands("breakpoint", at("call"));
    debug.ok("debug_step", json!({ "count": 2 })).stands("step", at("call") - 1);
}

#[test]
fn it_runs_to_a_line_once() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    debug.run_to("shop.py", &["seen"]);
    debug.ok("debug_continue", json!({ "to_line": at })).stands("breakpoint", at);
    // The line itself keeps no breakpoint.
    debug.go().ended(json!({ "code": 0 }));
    debug.ok("breakpoint_list", json!({})).has(&["1 breakpoint"]);
}

#[test]
fn running_to_a_line_keeps_the_breakpoint_that_is_there() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    debug.run_to("shop.py", &["seen"]);
    let point = json!({ "file": file, "line": at, "condition": "index == 2" });
    debug.ok("breakpoint_set", point);
    debug.ok("debug_continue", json!({ "to_line": at })).has(&["index = 0"]);
    debug.ok("breakpoint_list", json!({})).has(&["2 breakpoint", "if index == 2"]);
    debug.go().stands("breakpoint", at).has(&["index = 0 → 2"]);
}

#[test]
fn a_cancelled_run_to_a_line_leaves_no_breakpoint() {
    let mut debug = start();
    let file = fixture("endless.py");
    debug.launch(&file, json!({}));
    let id =
        debug.ask("debug_continue", json!({ "to_line": line(&file, "late"), "timeout_s": 60 }));
    debug.wrote("spinning");
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    until("no breakpoint", || {
        let list = debug.ok("breakpoint_list", json!({}));
        (list.text == "no breakpoints").then_some(())
    });
}

#[test]
fn a_stop_after_the_deadline_is_not_lost() {
    let mut debug = start();
    let file = fixture("endless.py");
    let at = line(&file, "late");
    let points = json!([{ "file": "endless.py", "line": at }]);
    debug.launch(&file, json!({ "args": ["0.6"], "breakpoints": points }));
    let running = debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    running.has(&["Running · s1 · no stop within 0.05 s", "debug_wait"]);
    assert_eq!(running.data["state"], "running");
    debug.fails("debug_evaluate", json!({ "expression": "1" })).has(&["[E_NOT_STOPPED]", "hint:"]);
    debug.fails("debug_continue", json!({})).has(&["[E_NOT_STOPPED]", "debug_wait"]);
    let late = debug.ok("debug_wait", json!({}));
    late.stands("breakpoint", at);
    // It stands still, so asking again tells it again; asking for a later one says that.
    debug.ok("debug_wait", json!({})).stands("breakpoint", at);
    let after = json!({ "after_epoch": late.data["stop"]["epoch"], "timeout_s": 0.05 });
    assert_eq!(debug.ok("debug_wait", after).data["moved"], false);
}

#[test]
fn an_endless_program_is_paused_where_it_is() {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1 });
    assert_eq!(debug.launch(&fixture("endless.py"), more).data["state"], "running");
    debug.wrote("spinning");
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["stop"]["reason"], "pause", "{}", said.text);
    said.has(&["in spin", "turns"]);
    debug.fails("debug_pause", json!({})).has(&["[E_ALREADY_STOPPED]", "hint:"]);
    let running = debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    assert_eq!(running.data["state"], "running");
    debug.ok("debug_stop", json!({})).has(&["Debug session s1 ended."]);
    debug.nothing_is_left();
}

#[test]
fn after_the_end_there_is_output_and_no_step() {
    let mut debug = start();
    debug.launch(&fixture("shop.py"), json!({}));
    debug.go().ended(json!({ "code": 0 }));
    for tool in ["debug_step", "debug_continue", "debug_stack", "debug_variables"] {
        debug.fails(tool, json!({})).has(&["[E_SESSION_ENDED]", "exit code 0", "hint:"]);
    }
    debug.fails("debug_pause", json!({})).has(&["[E_SESSION_ENDED]"]);
    debug.ok("debug_output", json!({})).has(&["orders 3", "total 50"]);
    debug.ok("debug_status", json!({})).has(&["s1 shop.py (python): ended with exit code 0"]);
    debug.ok("debug_stop", json!({})).has(&["had ended with exit code 0"]);
}

#[test]
fn an_exit_code_is_an_end_and_no_stop() {
    let (_folder, file) = program("import sys\nprint('bye')\nsys.exit(3)\n");
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "code": 3 })).has(&["exit code 3", "bye"]);
}

#[test]
fn a_program_that_exits_at_once_has_ended() {
    let (_folder, file) = program("");
    let mut debug = start();
    debug.launch(&file, json!({ "stop_on_entry": false })).ended(json!({ "code": 0 }));
    let (_folder, file) = program("import os\nos._exit(7)\n");
    debug.launch(&file, json!({})).stands("entry", 1);
    debug.go().ended(json!({ "code": 7 }));
}

#[test]
fn a_signal_is_reported_as_one() {
    let (_folder, file) = program("import os\nos.kill(os.getpid(), 9)\n");
    let mut debug = start();
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .ended(json!({ "signal": 9 }))
        .has(&["signal 9 (SIGKILL)"]);
}

#[test]
fn an_uncaught_exception_stops_where_it_is_raised() {
    let mut debug = start();
    let file = fixture("raises.py");
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", line(&file, "raise")).has(&["RuntimeError", "bad order 'twelve'"]);
    debug.ok("debug_stack", json!({})).has(&["#0   parse", "#1   <module>"]);
    assert_eq!(debug.eval("text"), "(str) 'twelve'");
    debug.go().ended(json!({ "code": 1 })).has(&["ValueError", "direct cause", "RuntimeError"]);
}

#[test]
fn caught_exceptions_stop_when_asked_for_and_none_when_not() {
    let mut debug = start();
    let file = fixture("raises.py");
    debug.ok("breakpoint_set_exception", json!({ "caught": true, "uncaught": true }));
    debug.launch(&file, json!({ "stop_on_entry": false })).has(&["(exception)", "KeyError"]);
    debug.ok("breakpoint_set_exception", json!({ "caught": false, "uncaught": false }));
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn a_syntax_error_in_the_program_is_shown() {
    let (_folder, file) = program("print('fine')\ndef broken(:\n    pass\n");
    let mut debug = start();
    let said = debug.launch(&file, json!({}));
    said.has(&["SyntaxError"]);
    let said = if said.data["state"] == "stopped" { debug.go() } else { said };
    said.ended(json!({ "code": 1 })).has(&["program.py\", line 2"]);
}
