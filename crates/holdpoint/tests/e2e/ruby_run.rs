//! Ruby by its own debugger, which dials us: where programs stop, how they go on, how they end. What that debugger
//! accepts and ignores (conditions with steps, hit counts, log messages) is done at its stops.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, Said, line},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    Debug::with_editor(BIN, &[])
}

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/ruby/suite");
    folder.canonicalize().unwrap().join(name)
}

fn at(mark: &str) -> usize {
    line(&file("shop.rb"), mark)
}

/// Runs the shop in a mode, to the first of these marks.
#[track_caller]
fn run(debug: &mut Debug, args: &[&str], points: Value) -> Said {
    let more = json!({ "args": args, "stop_on_entry": false, "breakpoints": points });
    debug.launch(&file("shop.rb"), more)
}

fn point(mark: &str) -> Value {
    json!({ "file": file("shop.rb"), "line": at(mark) })
}

#[test]
fn a_program_stands_at_its_first_line_and_ends_with_its_exit_code() {
    let mut debug = start();
    let said = debug.launch(&file("shop.rb"), json!({ "args": ["sum"] }));
    said.stands("entry", 1).has(&["ruby 3", "<main>"]);
    debug.ok("breakpoint_set", point("add")).has(&["verified"]);
    debug.go().stands("breakpoint", at("add")).has(&["process", "value"]);
    assert!(debug.eval("amount + value * 2").contains("12"));
    debug.ok("debug_variables", json!({ "path": "order.item.name" })).has(&["pen"]);
    debug.ok("debug_variables", json!({ "path": "orders" })).has(&["book", "lamp"]);
    debug.ok("debug_set_variable", json!({ "name": "value", "value": "100" })).has(&["100"]);
    debug.ok("debug_stack", json!({})).has(&["process", "<main>"]);
    let said = debug.fails("debug_evaluate", json!({ "expression": "no_such_name" }));
    said.has(&["NameError"]);
    let said = debug.fails("debug_evaluate", json!({ "expression": "1 +" }));
    said.has(&["SyntaxError"]);
    let said = debug.fails("debug_evaluate", json!({ "expression": "loop {}", "timeout_s": 1 }));
    said.has(&["was interrupted"]);
    assert!(debug.eval("line_total(order)").contains('6'));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["total 119", "warned"]);
}

#[test]
fn its_exit_code_and_its_stdin_are_the_programs_own() {
    let mut debug = start();
    run(&mut debug, &["exit"], json!([])).ended(json!({ "code": 7 }));
    let more = json!({ "args": ["ask"], "stop_on_entry": false, "timeout_s": 1 });
    debug.launch(&file("shop.rb"), more);
    debug.wrote("name?");
    debug.ok("debug_input", json!({ "text": "Ada\n" }));
    debug.wrote("hello Ada");
    debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
}

#[test]
fn an_exception_that_nothing_rescues_stops_where_it_was_raised() {
    let mut debug = start();
    let said = run(&mut debug, &["fail"], json!([]));
    said.stands("exception", at("fail")).has(&["RuntimeError: out of stock", "reserve"]);
    debug.ok("debug_exception", json!({})).has(&["RuntimeError", "out of stock"]);
    assert!(debug.eval("order.count").contains('3'));
    debug.go().ended(json!({ "code": 1 })).has(&["out of stock (RuntimeError)"]);
}

#[test]
fn steps_go_in_over_and_out() {
    let mut debug = start();
    run(&mut debug, &["sum"], json!([point("call")])).stands("breakpoint", at("call"));
    let step =
        |debug: &mut Debug, action: &str| debug.ok("debug_step", json!({ "action": action }));
    step(&mut debug, "step_in").stands("step", at("total"));
    step(&mut debug, "next").stands("step", at("return"));
    step(&mut debug, "step_out").stands("step", at("add"));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn what_its_debugger_ignores_is_done_at_its_stops() {
    let mut debug = start();
    let trace = at("trace");
    let points = json!([
        { "file": file("shop.rb"), "line": trace, "condition": "i == 7" },
        { "file": file("shop.rb"), "line": trace + 1, "hit_condition": "== 20" },
    ]);
    run(&mut debug, &["trace", "300"], points).stands("breakpoint", trace);
    assert!(debug.eval("i").contains('7'));
    // A step over a line whose condition does not hold ends there.
    debug.ok("debug_step", json!({})).stands("step", trace + 1);
    debug.go().stands("breakpoint", trace + 1);
    assert!(debug.eval("i").contains("19"));
    for id in [1, 2] {
        debug.ok("breakpoint_remove", json!({ "id": id }));
    }
    let traced = json!({ "file": file("shop.rb"), "line": trace, "log_message": "at {i}" });
    debug.ok("tracepoint_set", traced).has(&["emulated"]);
    debug.go().ended(json!({ "code": 0 })).has(&["traced 300"]);
    let said = debug.ok("tracepoint_read", json!({ "since": 0, "limit": 3 }));
    assert_eq!(said.data["total"], 280, "{}", said.text);
}

#[test]
fn a_breakpoint_says_where_it_lies_and_when_it_was_bound() {
    let mut debug = start();
    debug.launch(&file("shop.rb"), json!({ "args": ["sum"] }));
    let blank = at("return") + 2;
    let said = debug.ok("breakpoint_set", json!({ "file": file("shop.rb"), "line": blank }));
    said.has(&[&format!("moved: line {blank} has no code")]);
    let function = json!({ "function": "process" });
    debug.ok("breakpoint_set", function).has(&["cannot stop at a function by its name"]);
}

#[test]
fn threads_stand_with_the_one_that_stops() {
    let mut debug = start();
    run(&mut debug, &["threads"], json!([point("worker")])).stands("breakpoint", at("worker"));
    let first = debug.eval("number");
    debug.go().stands("breakpoint", at("worker"));
    let second = debug.eval("number");
    assert_ne!(first, second, "each worker has its own");
    debug.go().ended(json!({ "code": 0 })).has(&["squares 25"]);
}

#[test]
fn one_test_is_run_by_its_name_with_minitest_and_rspec() {
    let mut debug = start();
    for (name, test, mark) in [
        ("shop_test.rb", "shop_test.rb::test_total", "test"),
        ("shop_spec.rb", "shop_spec.rb::Shop::adds up", "spec"),
    ] {
        let here = file(name);
        let at = line(&here, mark);
        let launch = json!({
            "test": test, "cwd": here.parent().unwrap(), "stop_on_entry": false,
            "breakpoints": [{ "file": here, "line": at }],
        });
        debug.ok("debug_launch", launch).stands("breakpoint", at);
        let said = debug.go();
        said.ended(json!({ "code": 0 }));
        assert!(!said.text.contains("other ran"), "{}", said.text);
    }
}

#[test]
fn a_killed_server_leaves_no_program() {
    let mut debug = start();
    debug.launch(&file("shop.rb"), json!({ "args": ["sum"] }));
    assert!(debug.children().len() >= 2, "the guard and the program");
    debug.restart_server(BIN);
}

/// Its debugger refuses steps then: nothing of the program is left to be stepped through.
#[test]
fn a_step_from_an_exception_that_ends_the_program_ends_it() {
    for action in ["next", "step_in", "step_out"] {
        let mut debug = start();
        run(&mut debug, &["fail"], json!([])).stands("exception", at("fail"));
        debug.ok("debug_step", json!({ "action": action })).ended(json!({ "code": 1 }));
    }
}

/// It stands in a function of the runtime, where its debugger evaluates nothing.
#[test]
fn one_that_sleeps_is_paused_in_its_own_code() {
    let mut debug = start();
    let more = json!({ "args": ["sleep"], "stop_on_entry": false, "timeout_s": 1 });
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("loop.rb");
    std::fs::copy(file("loop.rb"), &program).unwrap();
    let mut launch = json!({ "program": program, "cwd": folder.path() });
    launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("debug_launch", launch);
    let said = debug.ok("debug_pause", json!({}));
    said.has(&["Stopped (pause)", "in Object#rest", "n = "]);
    assert!(debug.eval("40 + 2").contains("42"));
    assert!(debug.eval("n").contains("21"));
}

/// Its debugger would end the program when whoever debugs it is gone without a word.
#[test]
fn one_that_is_not_ours_goes_on_when_the_server_is_killed_at_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let name = if Path::new("/usr/bin/rdbg3.1").exists() { "rdbg3.1" } else { "rdbg" };
    let mut running = std::process::Command::new(name)
        .args(["--open", "--nonstop"])
        .arg(file("loop.rb"))
        .arg("never")
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let size = || std::fs::metadata(folder.path().join("log-0")).map_or(0, |it| it.len());
    until("it works", || (size() > 0).then_some(()));
    let mut debug = start();
    let tick = line(&file("loop.rb"), "tick");
    debug.ok("debug_attach", json!({ "pid": running.id() }));
    debug.ok("breakpoint_set", json!({ "file": file("loop.rb"), "line": tick }));
    for step in [false, true, true] {
        debug.ok("debug_wait", json!({})).stands("breakpoint", tick);
        if step {
            debug.ok("debug_step", json!({}));
        }
        debug.restart_server(BIN);
        let before = size();
        until("it goes on", || (size() > before + 20).then_some(()));
        debug.ok("debug_attach", json!({ "pid": running.id() }));
    }
    debug.ok("debug_stop", json!({}));
    running.kill().unwrap();
    running.wait().unwrap();
}
