//! Tracepoints in .NET, as the specification of breakpoint notifications has them: the program never stops, every pass
//! is told, expressions are evaluated where it passes, and what cannot be evaluated is said in its place.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, Said, line};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn zoo() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mono");
    folder.canonicalize().unwrap().join("zoo.cs")
}

/// Runs the loop so often, with one tracepoint in it.
fn looped(times: u32, point: Value) -> (Debug, Said) {
    let mut debug = Debug::with_editor(BIN, &[]);
    let (file, at) = (zoo(), line(&zoo(), "loop"));
    let mut wanted = json!({ "file": file, "line": at });
    wanted.as_object_mut().unwrap().extend(point.as_object().unwrap().clone());
    let set = debug.ok("tracepoint_set", wanted);
    let more = json!({ "args": ["loop", times.to_string()], "stop_on_entry": false });
    debug.launch(&file, more).ended(json!({ "code": 0 })).has(&[&format!("looped {times}")]);
    (debug, set)
}

#[test]
fn ten_passes_are_ten_notifications_with_their_values() {
    let message = "i={i}, x={x}, both={i + x}, count {list.Count}";
    let (mut debug, set) = looped(10, json!({ "log_message": message }));
    assert_eq!(set.data["breakpoint_id"], 1);
    let read = debug.ok("tracepoint_read", json!({ "since": 0, "limit": 20 }));
    assert_eq!(read.data["total"], 10);
    read.has(&["i=0, x=0, both=0, count 0", "i=9, x=45, both=54, count 9"]);
}

#[test]
fn what_fails_is_said_in_its_place_and_the_rest_is_told() {
    let message = "{nothing.Length} and {i} and {nothing.ToUpper()} and {gone}";
    let (mut debug, _) = looped(2, json!({ "log_message": message }));
    debug.ok("tracepoint_read", json!({ "since": 0 })).has(&[
        "<error: NullReferenceException> and 0 and <error: NullReferenceException> and <error: UnknownName>",
        "<error: NullReferenceException> and 1 and",
    ]);
}

#[test]
fn every_hundredth_pass_is_told_of_five_hundred() {
    let point = json!({ "log_message": "at {i}", "hit_count_multiple": 100 });
    let (mut debug, _) = looped(500, point);
    let read = debug.ok("tracepoint_read", json!({ "since": 0 }));
    assert_eq!(read.data["total"], 5);
    read.has(&["at 99", "at 199", "at 299", "at 399", "at 499"]);
}

#[test]
fn no_more_are_told_than_were_asked_for() {
    let point = json!({ "log_message": "at {i}", "max_notifications": 10 });
    let (mut debug, _) = looped(100, point);
    let read = debug.ok("tracepoint_read", json!({ "since": 0 }));
    assert_eq!(read.data["total"], 10);
    read.has(&["at 0", "at 9"]);
}

#[test]
fn a_tracepoint_that_is_disabled_tells_nothing() {
    let mut debug = Debug::with_editor(BIN, &[]);
    let (file, at) = (zoo(), line(&zoo(), "loop"));
    let point = json!({ "file": file, "line": at, "log_message": "at {i}" });
    let set = debug.ok("tracepoint_set", point);
    let id = set.data["breakpoint_id"].clone();
    debug.ok("breakpoint_list", json!({})).has(&["tracepoint"]);
    debug.ok("breakpoint_enable", json!({ "id": id, "enabled": false }));
    let more = json!({ "args": ["loop", "3"], "stop_on_entry": false });
    debug.launch(&file, more).ended(json!({ "code": 0 }));
    let read = debug.ok("tracepoint_read", json!({ "since": 0 }));
    assert_eq!(read.data["total"], 0);
}
