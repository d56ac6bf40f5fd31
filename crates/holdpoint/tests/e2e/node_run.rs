//! Node, run control: where a program stops, how it goes on, how it ends.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node::{self, Folder},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

/// Runs to the first of these lines.
fn running_to(points: &[(&std::path::Path, usize)]) -> Value {
    let point = |(file, line): &(&std::path::Path, usize)| json!({ "file": file, "line": line });
    let points: Vec<Value> = points.iter().map(point).collect();
    json!({ "stop_on_entry": false, "breakpoints": points })
}

#[test]
fn a_launch_stops_at_the_first_line() {
    let mut debug = start();
    let said = debug.launch(&fixture("shop.js"), json!({}));
    said.stands("entry", 1)
        .has(&["Stopped (entry) at shop.js:1 in <module> · s1", ">>>    1 | const rate"]);
    assert_eq!(said.data["session_id"], "s1");
    debug.go().ended(json!({ "code": 3 })).has(&["sum 630"]);
}

#[test]
fn a_module_that_imports_others_stops_where_the_first_of_them_begins() {
    let folder = Folder::default();
    let first = folder.write("first.mjs", "// One.\nexport const one = 1;\n");
    let main = folder.write("main.mjs", "import { one } from './first.mjs';\nconsole.log(one);\n");
    let mut debug = start();
    let said = debug.launch(&main, json!({}));
    said.has(&["Stopped (entry) at first.mjs"]);
    assert_eq!(said.data["stop"]["file"], first.to_str().unwrap());
    debug.go().ended(json!({ "code": 0 })).has(&["1"]);
}

#[test]
fn a_breakpoint_set_before_the_launch_is_hit() {
    let mut debug = start();
    let file = fixture("shop.js");
    let at = line(&file, "add");
    debug.ok("debug_breakpoint", json!({ "file": file, "line": at })).has(&[
        "Breakpoint 1 at shop.js",
        "pending",
        "all += value",
    ]);
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("breakpoint", at).has(&["Stopped (breakpoint 1)", "in sum", "value = 3"]);
    assert_eq!(said.data["stop"]["breakpoint_ids"], json!([1]));
    assert_eq!(said.data["stop"]["function"], "sum");
}

#[test]
fn a_breakpoint_set_during_a_session_says_where_it_was_bound() {
    let mut debug = start();
    let file = fixture("shop.js");
    debug.launch(&file, json!({}));
    let at = line(&file, "loop");
    // A relative path is the program's folder's.
    let said = debug.ok("breakpoint_set", json!({ "file": "shop.js", "line": at }));
    said.has(&[&format!("Breakpoint 1 at shop.js:{at} (verified)"), "const value"]);
    assert_eq!((&said.data["bound_line"], &said.data["moved"]), (&json!(at), &json!(false)));
    debug.go().stands("breakpoint", at);
}

#[test]
fn a_breakpoint_on_a_line_without_code_moves_to_the_next_and_says_so() {
    let mut debug = start();
    let folder = Folder::default();
    let text = "let a = 1;\n\n// A comment.\na += 1;\nconsole.log(a);\n// The end.\n\n";
    let file = folder.write("gaps.js", text);
    debug.launch(&file, json!({}));
    for asked in [2, 3] {
        let said = debug.ok("breakpoint_set", json!({ "file": file, "line": asked }));
        said.has(&["gaps.js:4 (verified", &format!("moved: line {asked} has no code"), "a += 1"]);
        assert_eq!((&said.data["bound_line"], &said.data["moved"]), (&json!(4), &json!(true)));
        debug.ok("breakpoint_remove", json!({ "id": said.data["breakpoint_id"] }));
    }
    debug.ok("breakpoint_set", json!({ "file": file, "line": 2 }));
    debug.go().stands("breakpoint", 4);
    debug.go().ended(json!({ "code": 0 }));
}

/// The end of a file is a place too: V8 stops there when all of it has run.
#[test]
fn a_line_after_all_code_is_the_end_of_the_file() {
    let mut debug = start();
    let folder = Folder::default();
    let text = "function f() {\n  return 1;\n}\nconsole.log(f());\n\n// The end.\n// Really.\n";
    for (name, bound) in [("tail.js", 7), ("tail.mjs", 8)] {
        let file = folder.write(name, text);
        debug.launch(&file, json!({}));
        let said = debug.ok("breakpoint_set", json!({ "file": file, "line": 7 }));
        assert_eq!(said.data["bound_line"], bound, "{}", said.text);
        assert_eq!(said.data["moved"], bound != 7, "{}", said.text);
        let said = debug.go();
        said.stands("breakpoint", bound).has(&["--- Program output ---\n1"]);
        debug.go().ended(json!({ "code": 0 }));
        debug.ok("debug_stop", json!({}));
    }
}

/// A file that is not part of the program: its breakpoint is not bound, says why, and is never hit.
#[test]
fn a_line_of_a_file_that_is_not_loaded_is_never_bound() {
    let mut debug = start();
    let other = fixture("endless.js");
    debug.launch(&fixture("shop.js"), json!({}));
    let said = debug.ok("breakpoint_set", json!({ "file": other, "line": line(&other, "late") }));
    said.has(&["Breakpoint 1 at endless.js", "(pending: its file is not loaded yet)"]);
    assert_eq!(said.data["state"], "pending", "{}", said.text);
    assert_eq!((&said.data["bound_line"], &said.data["moved"]), (&Value::Null, &json!(false)));
    debug.go().ended(json!({ "code": 3 }));
}

#[test]
fn conditions_and_hit_conditions_choose_the_stop() {
    let mut debug = start();
    let shop = fixture("shop.js");
    let at = line(&shop, "add");
    debug.launch(&shop, json!({}));
    let set = |extra: (&str, &str)| json!({ "file": shop, "line": at, extra.0: extra.1 });
    debug.ok("breakpoint_set", set(("condition", "order.count === 5")));
    debug.go().stands("breakpoint", at);
    assert_eq!(debug.eval("order.count"), "(number) 5");
    debug.ok("breakpoint_set", set(("hit_condition", "% 3")));
    debug.go().stands("breakpoint", at);
    assert_eq!(debug.eval("order.count"), "(number) 8");
    debug.ok("breakpoint_set", set(("condition", "nobody > 1")));
    debug.go().has(&["condition failed: ReferenceError: nobody is not defined"]);
    debug.ok("breakpoint_set", set(("condition", "false")));
    debug.go().ended(json!({ "code": 3 }));
}

#[test]
fn a_breakpoint_can_be_disabled_enabled_and_removed() {
    let mut debug = start();
    let file = fixture("shop.js");
    let (net, add) = (line(&file, "method"), line(&file, "add"));
    debug.run_to("shop.js", &["method"]).stands("breakpoint", net);
    debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false })).has(&["disabled"]);
    debug.ok("debug_continue", json!({ "to_line": add })).stands("breakpoint", add);
    debug.ok("breakpoint_enable", json!({ "id": 1 })).has(&["(verified)"]);
    debug.go().stands("breakpoint", net);
    debug.ok("breakpoint_remove", json!({ "file": "shop.js", "line": net })).has(&["removed"]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    debug.go().ended(json!({ "code": 3 }));
}

#[test]
fn a_path_with_spaces_and_a_link_is_the_same_file() {
    let folder = Folder::default();
    let real = folder.write("a b/über.js", "function f() {\n  return 1;\n}\nf();\n");
    let link = folder.path().join("a link");
    std::os::unix::fs::symlink(real.parent().unwrap(), &link).unwrap();
    let named = link.join("über.js");
    let mut debug = start();
    let said = debug.launch(&named, running_to(&[(&named, 2)]));
    said.stands("breakpoint", 2).has(&["Stopped (breakpoint 1) at", "über.js:2 in f"]);
}

#[test]
fn steps_go_over_into_and_out_of_calls() {
    let mut debug = start();
    let file = fixture("shop.js");
    let at = |name: &str| line(&file, name);
    debug.run_to("shop.js", &["loop"]).stands("breakpoint", at("loop")).has(&["all = 0"]);
    debug.ok("debug_step", json!({ "action": "step_in" })).stands("step", at("method"));
    debug.ok("debug_step", json!({})).has(&["net = <not assigned yet> → 2"]);
    debug
        .ok("debug_step", json!({ "action": "step_out" }))
        .stands("step", at("add"))
        .has(&["in sum"]);
    // Ends early: there is a breakpoint on the way.
    debug.ok("debug_step", json!({ "count": 50 })).stands("breakpoint", at("loop"));
    debug.ok("debug_stack", json!({})).has(&["#0   sum", "#1   <module>"]);
}

#[test]
fn stepping_stays_in_the_users_code() {
    let folder = Folder::default();
    let text = "const { EventEmitter } = require('node:events');
const emitter = new EventEmitter();
emitter.on('go', (n) => {
  console.log('heard', n);
});
emitter.emit('go', 1);
console.log('after', [1].map((n) => n + 1));
";
    let file = folder.write("emits.js", text);
    for action in ["step_in", "next"] {
        let mut debug = start();
        let mut said = debug.launch(&file, json!({}));
        let mut lines = Vec::new();
        while said.data["state"] == "stopped" {
            let stop = &said.data["stop"];
            assert_eq!(stop["file"], file.to_str().unwrap(), "{}", said.text);
            lines.push(stop["line"].as_u64().unwrap());
            assert!(lines.len() < 30, "{lines:?}");
            said = debug.ok("debug_step", json!({ "action": action }));
        }
        said.ended(json!({ "code": 0 }));
        debug.ok("debug_output", json!({})).has(&["heard 1", "after [ 2 ]"]);
        lines.dedup();
        // What Node calls back while it works is passed, and the end of the file is a place.
        let wanted = [1, 2, 3, 6, 7];
        assert_eq!(lines, wanted, "{action}");
    }
}

#[test]
fn it_runs_to_a_line_once_and_keeps_what_is_there() {
    let mut debug = start();
    let file = fixture("shop.js");
    let at = line(&file, "add");
    debug.launch(&file, json!({}));
    debug.ok("debug_continue", json!({ "to_line": at })).stands("breakpoint", at);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    let point = json!({ "file": file, "line": at, "condition": "order.count === 9" });
    debug.ok("breakpoint_set", point);
    debug.ok("debug_continue", json!({ "to_line": at })).stands("breakpoint", at);
    assert_eq!(debug.eval("order.count"), "(number) 2");
    debug.go().stands("breakpoint", at);
    assert_eq!(debug.eval("order.count"), "(number) 9");
}

#[test]
fn a_cancelled_run_to_a_line_leaves_no_breakpoint() {
    let mut debug = start();
    let file = fixture("endless.js");
    debug.launch(&file, json!({}));
    let arguments = json!({ "to_line": line(&file, "late"), "timeout_s": 60 });
    let id = debug.ask("debug_continue", arguments);
    debug.wrote("spinning");
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    until("no breakpoint", || {
        let list = debug.ok("breakpoint_list", json!({}));
        (list.text == "no breakpoints").then_some(())
    });
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["stop"]["reason"], "pause", "{}", said.text);
}

#[test]
fn a_stop_after_the_deadline_is_not_lost() {
    let mut debug = start();
    let file = fixture("endless.js");
    let at = line(&file, "late");
    let points = json!([{ "file": file, "line": at }]);
    debug.launch(&file, json!({ "args": ["600"], "breakpoints": points }));
    let running = debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    running.has(&["Running · s1 · no stop within 0.05 s", "debug_wait"]);
    assert_eq!(running.data["state"], "running");
    debug.fails("debug_evaluate", json!({ "expression": "1" })).has(&["[E_NOT_STOPPED]", "hint:"]);
    debug.fails("debug_continue", json!({})).has(&["[E_NOT_STOPPED]", "debug_wait"]);
    let late = debug.ok("debug_wait", json!({}));
    late.stands("breakpoint", at);
    debug.ok("debug_wait", json!({})).stands("breakpoint", at);
    let after = json!({ "after_epoch": late.data["stop"]["epoch"], "timeout_s": 0.05 });
    assert_eq!(debug.ok("debug_wait", after).data["moved"], false);
}

#[test]
fn an_endless_program_is_paused_where_it_is() {
    let mut debug = start();
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1 });
    assert_eq!(debug.launch(&fixture("endless.js"), more).data["state"], "running");
    debug.wrote("spinning");
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["stop"]["reason"], "pause", "{}", said.text);
    said.has(&["in spin", "turns"]);
    debug.fails("debug_pause", json!({})).has(&["[E_ALREADY_STOPPED]", "hint:"]);
    assert_eq!(debug.eval("turns > 0"), "(boolean) true");
    let running = debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    assert_eq!(running.data["state"], "running");
    debug.ok("debug_stop", json!({})).has(&["Debug session s1 ended."]);
    debug.nothing_is_left();
}

/// V8 would keep the second one, and stop the program again when it is told to go on.
#[test]
fn two_pauses_at_once_are_one() {
    let mut debug = start();
    debug.launch(&fixture("endless.js"), json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("spinning");
    for _ in 0..10 {
        let both = [debug.ask("debug_pause", json!({})), debug.ask("debug_pause", json!({}))];
        for id in both {
            debug.answer(id).has(&["Stopped (pause)"]);
        }
        let running = debug.ok("debug_continue", json!({ "timeout_s": 0.1 }));
        assert_eq!(running.data["state"], "running", "{}", running.text);
    }
}

/// A breakpoint that was hit first answers it; V8 acts on it nevertheless.
#[test]
fn a_pause_that_a_breakpoint_came_before_stops_nothing_more() {
    let folder = Folder::default();
    let text =
        "let n = 0;\nfunction turn() {\n  n += 1;\n}\nsetInterval(turn, 1);\nconsole.log('on');\n";
    let file = folder.write("turns.js", text);
    let mut debug = start();
    debug.launch(&file, json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("on");
    for _ in 0..10 {
        let set = debug.ask("breakpoint_set", json!({ "file": file, "line": 3 }));
        let pause = debug.ask("debug_pause", json!({}));
        debug.answer(set);
        debug.answer(pause);
        debug.ok("debug_wait", json!({})).has(&["Stopped"]);
        debug.ok("breakpoint_remove", json!({ "file": file, "line": 3 }));
        let running = debug.ok("debug_continue", json!({ "timeout_s": 0.1 }));
        assert_eq!(running.data["state"], "running", "{}", running.text);
        debug.ok("debug_pause", json!({})).has(&["Stopped (pause)"]);
        debug.ok("debug_continue", json!({ "timeout_s": 0.01 }));
    }
}

#[test]
fn an_endless_loop_in_a_library_is_paused_too() {
    let folder = Folder::default();
    let library = "exports.spin = () => { console.log('spinning'); for (let n = 0; ; n++); };\n";
    folder.write("node_modules/lib/index.js", library);
    let main = folder.write("main.js", "require('lib').spin();\n");
    let mut debug = start();
    debug.launch(&main, json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("spinning");
    debug.ok("debug_pause", json!({})).has(&["Stopped (pause)", "node_modules/lib/index.js:1"]);
}

#[test]
fn an_idle_program_is_paused_and_says_that_it_waits() {
    let folder = Folder::default();
    let file = folder.write("idle.js", "setInterval(() => {}, 100000);\nconsole.log('idle');\n");
    let mut debug = start();
    debug.launch(&file, json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("idle");
    debug.ok("debug_pause", json!({})).has(&["Stopped (pause)", "the program is idle"]);
    assert_eq!(debug.eval("1 + 1"), "(number) 2");
    let running = debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    assert_eq!(running.data["state"], "running");
}

#[test]
fn after_the_end_there_is_output_and_no_step() {
    let mut debug = start();
    debug.launch(&fixture("shop.js"), json!({}));
    debug.go().ended(json!({ "code": 3 }));
    for tool in ["debug_step", "debug_continue", "debug_stack", "debug_variables"] {
        debug.fails(tool, json!({})).has(&["[E_SESSION_ENDED]", "exit code 3", "hint:"]);
    }
    debug.fails("debug_pause", json!({})).has(&["[E_SESSION_ENDED]"]);
    debug.ok("debug_output", json!({})).has(&["sum 630"]);
    debug.ok("debug_status", json!({})).has(&["s1 shop.js (node): ended with exit code 3"]);
    debug.ok("debug_stop", json!({})).has(&["had ended with exit code 3"]);
}

#[test]
fn a_program_that_exits_at_once_has_ended() {
    let folder = Folder::default();
    let mut debug = start();
    let run = json!({ "stop_on_entry": false });
    for (name, text, code) in [
        ("empty.js", "", 0),
        ("empty.mjs", "", 0),
        ("comment.js", "// Nothing.\n", 0),
        ("exit.js", "process.exit(7);\n", 7),
        ("exit.mjs", "process.exit(7);\n", 7),
    ] {
        let file = folder.write(name, text);
        debug.launch(&file, run.clone()).ended(json!({ "code": code }));
        let said = debug.launch(&file, json!({}));
        let said = if said.data["state"] == "stopped" { debug.go() } else { said };
        said.ended(json!({ "code": code }));
    }
}

#[test]
fn a_signal_is_reported_as_one() {
    let folder = Folder::default();
    let file = folder.write("killed.js", "process.kill(process.pid, 'SIGKILL');\n");
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "signal": 9 })).has(&["signal 9 (SIGKILL)"]);
}

#[test]
fn a_debugger_statement_stops() {
    let folder = Folder::default();
    let file = folder.write("stop.js", "const a = 1;\ndebugger;\nconsole.log(a);\n");
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.has(&["Stopped (debugger statement) at stop.js:2"]);
    debug.go().ended(json!({ "code": 0 })).has(&["1"]);
}

#[test]
fn a_program_is_restarted_with_its_breakpoints() {
    let mut debug = start();
    let at = line(&fixture("shop.js"), "call");
    debug.run_to("shop.js", &["call"]).stands("breakpoint", at);
    debug.ok("debug_restart", json!({})).stands("breakpoint", at);
    debug.go().ended(json!({ "code": 3 }));
    debug.ok("debug_restart", json!({})).stands("breakpoint", at);
}

/// The first to run is not always the first to be written.
#[test]
fn a_module_behind_libraries_stops_at_its_first_statement() {
    let folder = Folder::default();
    folder.write("node_modules/lib/index.mjs", "export const one = 1;\n");
    let text = "import { one } from './node_modules/lib/index.mjs';\n\nfunction helper() {\n  return one;\n}\nconsole.log(helper());\n";
    let file = folder.write("main.mjs", text);
    let mut debug = start();
    let said = debug.launch(&file, json!({}));
    assert_eq!(said.data["stop"]["function"], "<module>", "{}", said.text);
    said.has(&["Stopped (entry) at main.mjs"]);
    debug.go().ended(json!({ "code": 0 })).has(&["1"]);
}
