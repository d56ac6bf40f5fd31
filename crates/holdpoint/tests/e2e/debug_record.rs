//! A recorder beside the debugger: a stop shows the life of its frame so far.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, Said, python};
use serde_json::{Value, json};

use crate::run_record::newest;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

const CART: &str = "\
RATES = {'std': 1, 'gold': 2}


def rate(tier):
    key = tier.strip()
    return RATES.get(key)


def total(tiers):
    result = 0
    for tier in tiers:
        found = rate(tier)
        if found is None:
            found = 0
        result += found
    return result


print(total(['std', 'gold', 'std', 'VIP', 'std']))
print(total([]))
";

fn project() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("cart.py");
    std::fs::write(&file, CART).unwrap();
    (folder, file)
}

fn launch(debug: &mut Debug, file: &Path, more: Value) -> Said {
    let mut arguments = json!({
        "program": file, "interpreter": newest(), "record": true, "stop_on_entry": false, "timeout_s": 100,
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("debug_launch", arguments)
}

fn condition(file: &Path) -> Value {
    json!({ "breakpoints": [{ "file": file, "line": 13, "condition": "found is None" }] })
}

#[test]
fn a_stop_shows_the_earlier_passes_and_steps_keep_it_fresh() {
    let mut debug = python(BIN, FOLDER).start();
    let (_folder, file) = project();
    let said = launch(&mut debug, &file, condition(&file));
    said.stands("breakpoint", 13).has(&[
        "recorded as r1",
        "so far in this frame (#",
        "×4",
        "found=1,2,1,None",
        "result=1,3,4",
        "record_frame {\"recording\": \"r1\", \"call\": \"#",
    ]);
    assert_eq!(said.data["recording"]["id"], "r1");
    let call = said.data["recording"]["call"].as_str().unwrap().to_owned();
    // What the debugger shows and what the recorder has seen are one.
    assert!(debug.eval("(found, result, tier)").contains("(None, 4, 'VIP')"));
    debug.ok("record_frame", json!({ "recording": "r1", "call": call })).has(&["found=1,2,1,None"]);
    let said = debug.ok("record_calls", json!({ "recording": "r1", "function": "rate" }));
    said.has(&["4 calls of rate", "rate(tier='VIP') → None"]);
    let said = debug.ok("debug_step", json!({}));
    said.stands("step", 14);
    let said = debug.ok("debug_step", json!({}));
    said.stands("step", 15).has(&["found None→0", "result=1,3,4"]);
    assert_eq!(said.data["recording"]["call"], call.as_str());
    // Into a call: the life is of the new frame.
    let said = debug.ok("debug_step", json!({}));
    said.stands("step", 11);
    debug.ok("debug_step", json!({})).stands("step", 12);
    let said = debug.ok("debug_step", json!({ "action": "step_in" }));
    said.stands("step", 5);
    assert!(!said.text.contains("so far in this frame"), "{}", said.text);
    assert_ne!(said.data["recording"]["call"], call.as_str());
    debug.go().ended(json!({ "code": 0 })).has(&["its recording is r1", "5"]);
    let said = debug.ok("record_calls", json!({ "recording": "r1", "function": "total" }));
    said.has(&["2 calls of total", "→ 5"]);
}

#[test]
fn a_restart_is_another_recording_and_a_recording_that_is_stopped_ends_the_program() {
    let mut debug = python(BIN, FOLDER).start();
    let (_folder, file) = project();
    launch(&mut debug, &file, condition(&file)).stands("breakpoint", 13);
    let said = debug.ok("debug_restart", json!({ "timeout_s": 100 }));
    said.stands("breakpoint", 13).has(&["recorded as r2", "found=1,2,1,None"]);
    let said = debug.ok("record_calls", json!({ "recording": "r1", "function": "rate" }));
    said.has(&["4 calls of rate"]);
    debug.ok("record_run", json!({ "stop": "r2" })).has(&["r2  cart.py"]);
    let said = debug.ok("debug_status", json!({}));
    assert!(said.text.contains("nded"), "{}", said.text);
    debug.nothing_is_left();
}

#[test]
fn where_there_is_one_place_for_a_tracer_it_is_refused() {
    let mut debug = python(BIN, FOLDER).start();
    let (folder, file) = project();
    if holdpoint_testkit::debug::ask_python("import sys; print(sys.version_info < (3, 12))")
        == "True"
    {
        let more = json!({ "program": file, "record": true });
        debug.fails("debug_launch", more).has(&[
            "cannot be debugged and recorded at once",
            "settrace",
            "record_run",
        ]);
    }
    let node = folder.path().join("app.js");
    std::fs::write(&node, "console.log(1)\n").unwrap();
    let said = debug.fails("debug_launch", json!({ "program": node, "record": true }));
    said.has(&["cannot be debugged and recorded at once", "record_run"]);
    assert!(std::fs::read_dir(debug.home().join("recordings")).map_or(0, Iterator::count) == 0);
    debug.nothing_is_left();
}
