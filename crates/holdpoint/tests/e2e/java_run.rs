//! Java, run control: where a program stops, how it goes on, how it ends.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

/// With breakpoints at these marks, to the first.
#[track_caller]
fn run_to(debug: &mut Debug, marks: &[&str], args: &[&str]) -> holdpoint_testkit::debug::Said {
    let file = fixture("suite/Shop.java");
    let points: Vec<_> =
        marks.iter().map(|mark| json!({ "file": file, "line": line(&file, mark) })).collect();
    debug.launch(&file, json!({ "breakpoints": points, "stop_on_entry": false, "args": args }))
}

#[test]
fn a_source_file_is_compiled_and_stops_at_its_entry_and_ends() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    debug.launch(&file, json!({})).stands("entry", line(&file, "entry")).has(&["in Shop.main"]);
    debug.go().ended(json!({ "code": 0 })).has(&["orders 3", "total 25", "warned"]);
}

#[test]
fn breakpoints_are_pending_then_hit_and_steps_stay_in_the_users_code() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    let at = |mark: &str| line(&file, mark);
    let said = debug.ok("breakpoint_set", json!({ "file": file, "line": at("call") }));
    said.has(&["pending"]);
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("breakpoint", at("call")).has(&["index", "order", "in Shop.process"]);
    let step = |debug: &mut Debug, how: &str| debug.ok("debug_step", json!({ "action": how }));
    step(&mut debug, "step_in").stands("step", at("total")).has(&["in Shop.lineTotal"]);
    step(&mut debug, "next").stands("step", at("return")).has(&["total = 6"]);
    let out = step(&mut debug, "step_out");
    assert_eq!(out.data["stop"]["function"], "Shop.process", "{}", out.text);
    let bound = debug.ok("breakpoint_set", json!({ "file": file, "line": at("done") }));
    bound.has(&["verified"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().stands("breakpoint", at("done")).has(&["amount", "25"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_line_without_code_is_moved_and_told() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    debug.launch(&file, json!({}));
    let asked = line(&file, "return") + 1;
    let said = debug.ok("breakpoint_set", json!({ "file": file, "line": asked }));
    let bound = said.data["bound_line"].as_u64().unwrap();
    assert_eq!((bound > asked as u64, &said.data["moved"]), (true, &json!(true)), "{}", said.text);
}

#[test]
fn conditions_hit_counts_and_tracepoints_hold() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    let call = line(&file, "call");
    let points =
        json!([{ "file": file, "line": call, "condition": "index == 2 && order.count() > 1" }]);
    let more = json!({ "stop_on_entry": false, "breakpoints": points });
    debug.launch(&file, more).stands("breakpoint", call).has(&["index", "2"]);
    debug.go().ended(json!({ "code": 0 }));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let counted = json!([{ "file": file, "line": call, "hit_condition": "== 2" }]);
    let more = json!({ "stop_on_entry": false, "breakpoints": counted });
    debug.launch(&file, more).stands("breakpoint", call).has(&["index = 1"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn an_uncaught_exception_stops_with_its_class_and_message() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    let said = run_to(&mut debug, &[], &["fail"]);
    said.stands("exception", line(&file, "fail"))
        .has(&["IllegalStateException: out of stock", "in Shop.reserve"]);
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn exit_codes_input_and_threads_are_the_programs_own() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    run_to(&mut debug, &[], &["exit"]).ended(json!({ "code": 7 }));
    let more = json!({ "args": ["ask"], "stdin": "Ada\n", "stop_on_entry": false });
    debug.launch(&file, more).ended(json!({ "code": 0 })).has(&["name?", "hello Ada"]);
    let said = run_to(&mut debug, &["worker"], &["threads"]);
    said.stands("breakpoint", line(&file, "worker")).has(&["square"]);
    debug.ok("debug_threads", json!({})).has(&["worker-"]);
    debug.go().stands("breakpoint", line(&file, "worker"));
    debug.go().ended(json!({ "code": 0 })).has(&["squares 25"]);
}

#[test]
fn what_does_not_compile_says_where() {
    let folder = Folder::default();
    let file = folder.write("Bad.java", "public class Bad {\n  int x = \"no\";\n}\n");
    let mut debug = start();
    let said = debug.fails("debug_launch", json!({ "program": file }));
    said.has(&["Bad.java:2", "incompatible types"]);
}

#[test]
fn an_edit_is_run_by_the_next_launch() {
    let folder = Folder::default();
    let text = "public class Hi {\n  public static void main(String[] a) {\n    System.out.println(\"one\");\n  }\n}\n";
    let file = folder.write("Hi.java", text);
    let mut debug = start();
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .ended(json!({ "code": 0 }))
        .has(&["one"]);
    folder.write("Hi.java", text.replace("one", "two"));
    debug.ok("debug_restart", json!({})).has(&["two"]);
}

#[test]
fn a_program_that_is_paused_or_stopped_leaves_nothing() {
    let folder = Folder::default();
    let source = std::fs::read_to_string(fixture("suite/Loop.java")).unwrap();
    let file = folder.write("Loop.java", source);
    let mut debug = start();
    let more =
        json!({ "args": ["never"], "stop_on_entry": false, "timeout_s": 2, "cwd": folder.path() });
    debug.launch(&file, more);
    debug.wrote("line 0 3");
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["state"], "stopped", "{}", said.text);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn a_tracepoint_tells_every_pass() {
    let mut debug = start();
    let file = fixture("suite/Shop.java");
    let point = json!({ "file": file, "line": line(&file, "trace"), "log_message": "at {i}" });
    debug.ok("tracepoint_set", point);
    let more = json!({ "args": ["trace", "300"], "stop_on_entry": false });
    debug.launch(&file, more).ended(json!({ "code": 0 })).has(&["traced 300"]);
    debug.ok("tracepoint_read", json!({})).has(&["hit 300: at 299"]);
}
