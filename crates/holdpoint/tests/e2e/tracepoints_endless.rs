//! Tracepoints whose expressions do not end, on Node, where V8 cannot end what a condition does: the program
//! stands for the first evaluation, and what does not end costs its value and not the program.

use std::path::PathBuf;

use holdpoint_testkit::debug::{Debug, line, python};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const PROGRAM: &str = "\
function inner(n) {
  const double = n * 2; // BP: inner
  return double;
}

function work(n) {
  const got = inner(n); // BP: call
  return got; // BP: after
}

for (let n = 0; n < 5; n++) work(n); // BP: loop
console.log('end'); // BP: end
";
const ENDLESS: &str = "(() => { for (;;); })()";

fn start() -> (Debug, tempfile::TempDir, PathBuf) {
    let debug = python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("program.js");
    std::fs::write(&file, PROGRAM).unwrap();
    (debug, folder, file)
}

fn trace(debug: &mut Debug, file: &PathBuf, mark: &str, more: Value) {
    let mut arguments = json!({ "file": file, "line": line(file, mark) });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("tracepoint_set", arguments);
}

fn messages(debug: &mut Debug) -> Vec<String> {
    let said = debug.ok("tracepoint_read", json!({ "id": 1, "since": 0, "budget_tokens": 4000 }));
    let hits = said.data["hits"].as_array().unwrap().clone();
    hits.iter().map(|it| it["log_message"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn what_does_not_end_is_tried_a_few_times_and_the_rest_is_told_then() {
    let (mut debug, _folder, file) = start();
    let message = format!("{{n}} {{{ENDLESS}}} {{n + 1}}");
    trace(&mut debug, &file, "inner", json!({ "log_message": message }));
    let launch = json!({ "program": file, "stop_on_entry": false, "timeout_s": 120 });
    debug.ok("debug_launch", launch).ended(json!({ "code": 0 })).has(&["end"]);
    let (late, spent) = ("<error: Timeout> <error: Timeout>", "<error: Timeout>");
    let expected = [
        format!("0 {late}"),
        format!("1 {late}"),
        format!("2 {late}"),
        format!("3 {spent} 4"),
        format!("4 {spent} 5"),
    ];
    assert_eq!(messages(&mut debug), expected);
}

#[test]
fn a_condition_that_does_not_end_is_told_at_each_hit() {
    let (mut debug, _folder, file) = start();
    let more = json!({ "log_message": "{n}", "condition": ENDLESS });
    trace(&mut debug, &file, "inner", more);
    let launch = json!({ "program": file, "stop_on_entry": false, "timeout_s": 120 });
    debug.ok("debug_launch", launch).ended(json!({ "code": 0 }));
    assert_eq!(messages(&mut debug), vec!["<error: Timeout>"; 5]);
}

/// The trial is no stop: a step over it goes on, a step to it ends there, a breakpoint beside it stops.
#[test]
fn a_trial_takes_no_step_and_no_stop_away() {
    let (mut debug, _folder, file) = start();
    let at = |mark| line(&file, mark);
    trace(&mut debug, &file, "inner", json!({ "log_message": "{String(n)}" }));
    let point = json!({ "file": file, "line": at("call"), "condition": "n === 0" });
    let launch = json!({ "program": file, "stop_on_entry": false, "breakpoints": [point] });
    debug.ok("debug_launch", launch).stands("breakpoint", at("call"));
    debug.ok("debug_step", json!({})).stands("step", at("after"));
    assert_eq!(messages(&mut debug), ["0"]);
    // A new count is tried anew: by a step into the function, and beside a breakpoint.
    let again = json!({
        "file": file, "line": at("inner"), "log_message": "{String(n)} again",
    });
    debug.ok("tracepoint_set", again).has(&["in-process", "stands for a moment at the first hit"]);
    debug.ok("breakpoint_set", json!({ "file": file, "line": at("call"), "condition": "n === 1" }));
    debug.go().stands("breakpoint", at("call"));
    debug.ok("debug_step", json!({ "action": "step_in" })).stands("step", at("inner"));
    trace(&mut debug, &file, "inner", json!({ "log_message": "{String(n)} at last" }));
    debug
        .ok("breakpoint_set", json!({ "file": file, "line": at("inner"), "condition": "n === 2" }));
    debug.go().stands("breakpoint", at("inner"));
    // Every later hit is evaluated in passing.
    debug.go().ended(json!({ "code": 0 }));
    let expected = ["0", "1 again", "2 at last", "3 at last", "4 at last"];
    assert_eq!(messages(&mut debug), expected);
}

/// What ended at first and does not end later holds the program: that is said, with what frees it.
#[test]
fn what_does_not_end_later_is_said_and_what_frees_the_program() {
    let (mut debug, _folder, file) = start();
    let later = "(() => { while (n > 2); return n; })()";
    trace(&mut debug, &file, "inner", json!({ "log_message": format!("{{{later}}}") }));
    let launch = json!({ "program": file, "stop_on_entry": false, "timeout_s": 2 });
    debug.ok("debug_launch", launch).has(&["Running"]);
    let short = debug.ok("debug_pause", json!({ "timeout_s": 1 }));
    short.has(&["Running", "no stop within 1 s", "it was told to stop", "`debug_stop` ends it"]);
    let said = debug.ok("breakpoint_remove", json!({ "id": 1, "timeout_s": 60 }));
    said.has(&["Tracepoint 1", "removed", "still in a running program", "evaluates `(() => {"]);
    said.has(&["`debug_stop` ends the program"]);
    debug.ok("debug_stop", json!({})).has(&["ended"]);
    debug.nothing_is_left();
}
