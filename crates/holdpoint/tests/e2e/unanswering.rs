//! Programs that do not answer their debugger: a call that keeps the interpreter's lock, and one that
//! does not return to JavaScript.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    debug::{Debug, line, program, python},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
/// A deadline is kept to within a second; under load a test itself may take as long.
const MARGIN: Duration = Duration::from_millis(2_500);

/// Stands at the mark `hold`, then is silent for eight seconds, then comes to `after`.
fn held(debug: &mut Debug, file: &Path) {
    let here = json!([{ "file": file, "line": line(file, "hold") }]);
    debug.launch(file, json!({ "breakpoints": here, "stop_on_entry": false }));

    let begun = Instant::now();
    let said = debug.ok("debug_continue", json!({ "timeout_s": 1 }));
    assert_eq!(said.data["state"], "running", "{}", said.text);
    assert!(begun.elapsed() < Duration::from_secs(1) + MARGIN, "{:?}", begun.elapsed());

    let begun = Instant::now();
    let there = line(file, "after");
    let set = debug.ok("breakpoint_set", json!({ "file": file, "line": there }));
    set.has(&["pending: the program does not answer now", "takes effect as soon as it answers"]);
    assert_eq!(set.data["state"], "pending");
    assert!(begun.elapsed() < Duration::from_secs(3) + MARGIN, "{:?}", begun.elapsed());
    debug.ok("breakpoint_list", json!({})).has(&["pending: the program does not answer now"]);
    debug.fails("debug_stack", json!({})).has(&["[E_NOT_STOPPED]", "is running"]);

    // It comes back, has the breakpoint, and says so.
    debug.ok("debug_wait", json!({})).stands("breakpoint", there);
    let listed = debug.ok("breakpoint_list", json!({}));
    listed.has(&["verified"]);
    assert!(!listed.text.contains("pending"), "{}", listed.text);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_python_program_that_keeps_the_interpreters_lock() {
    let text = "\
import ctypes, time
keeps = ctypes.PyDLL(None).sleep
x = 1  # BP: hold
keeps(8)
time.sleep(1)
y = 2
print(y)  # BP: after
";
    let (_folder, file) = program(text);
    held(&mut python(BIN, TARGET).start(), &file);
}

#[test]
fn a_node_program_in_a_call_that_does_not_return_to_javascript() {
    let folder = Folder::default();
    let text = "\
const wait = new Int32Array(new SharedArrayBuffer(4));
const x = 1; // BP: hold
require('child_process').execSync('sleep 8');
for (const back = Date.now(); Date.now() < back + 1000; );
const y = 2;
console.log(y, x, wait); // BP: after
";
    let file = folder.write("program.js", text);
    held(&mut node::start(BIN), &file);
}

#[test]
fn a_pause_is_told_in_time_and_taken_later() {
    let (_folder, file) = program(
        "import ctypes, time\nx = 1  # BP: hold\nctypes.PyDLL(None).sleep(4)\nwhile True:\n    time.sleep(0.01)\n",
    );
    let mut debug = python(BIN, TARGET).start();
    let here = json!([{ "file": file, "line": line(&file, "hold") }]);
    debug.launch(&file, json!({ "breakpoints": here, "stop_on_entry": false }));
    debug.ok("debug_continue", json!({ "timeout_s": 0.5 }));
    let begun = Instant::now();
    let said = debug.ok("debug_pause", json!({ "timeout_s": 1 }));
    assert_eq!(said.data["state"], "running", "{}", said.text);
    said.has(&["as soon as it answers", "debug_stop"]);
    assert!(begun.elapsed() < Duration::from_secs(1) + MARGIN, "{:?}", begun.elapsed());
    let at = debug.ok("debug_wait", json!({}));
    assert_eq!(at.data["stop"]["reason"], "pause", "{}", at.text);
    debug.ok("debug_stop", json!({}));
}

/// A value that takes its time does not cost the caller the stop.
#[test]
fn a_stop_is_told_in_time_though_its_values_hang() {
    let text = "\
import time
class Slow:
    def __repr__(self):
        time.sleep(60)
def f(slow):
    return 1  # BP: here
f(Slow())
";
    let (_folder, file) = program(text);
    let mut debug = python(BIN, TARGET).start();
    debug.launch(&file, json!({}));
    let at = line(&file, "here");
    debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
    let begun = Instant::now();
    let said = debug.ok("debug_continue", json!({ "timeout_s": 1 }));
    said.stands("breakpoint", at).has(&["debug_variables"]);
    assert!(begun.elapsed() < Duration::from_secs(1) + MARGIN, "{:?}", begun.elapsed());
    debug.ok("debug_stop", json!({}));
}

/// Reads that are on their way when the program runs on say that it did, and no stop is denied that is one.
#[test]
fn reads_beside_a_resume_tell_the_truth() {
    let (_folder, file) = program("for i in range(1000):\n    x = i  # BP: here\n");
    let mut debug = python(BIN, TARGET).start();
    let here = json!([{ "file": file, "line": line(&file, "here") }]);
    debug.launch(&file, json!({ "breakpoints": here, "stop_on_entry": false }));
    for _ in 0..20 {
        let go = debug.ask("debug_continue", json!({}));
        let reads: Vec<u64> =
            ["debug_stack", "debug_variables"].map(|it| debug.ask(it, json!({}))).into();
        debug.answer(go).stands("breakpoint", 2);
        for read in reads {
            let said = debug.answer(read);
            let is_true = !said.text.starts_with("[E_")
                || said.text.contains("is running")
                || said.text.contains("ran on while it was being read");
            assert!(is_true, "{}", said.text);
        }
        // Whoever was told of the stop can read it.
        debug.ok("debug_stack", json!({}));
    }
    debug.ok("debug_stop", json!({}));
}
