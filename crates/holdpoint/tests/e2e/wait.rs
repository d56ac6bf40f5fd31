//! `breakpoint_wait`: the next stop, the one just before the call, and the truth at the deadline.

use std::path::PathBuf;

use holdpoint_testkit::{
    debug::{self, Debug, Said, line},
    listen::{Hears as _, Listener},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const HIT: &str = "notifications/breakpoint/hit";

const PYTHON: &str = "\
import sys
for line in sys.stdin:
    word = line.strip()
    if word == 'one':
        print('one')  # BP: one
    elif word == 'two':
        print('two')  # BP: two
    print('did', word, flush=True)
";

const NODE: &str = "\
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (word) => {
  if (word === 'one') {
    console.log('one'); // BP: one
  } else if (word === 'two') {
    console.log('two'); // BP: two
  }
  console.log('did', word);
});
";

/// A program that stops when it is told to: each line of its input is a command.
struct Stage {
    debug: Debug,
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn start(node: bool) -> Stage {
        let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
        let mut debug = python.start_with(&["--mcp-sse"]);
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = if node { ("program.js", NODE) } else { ("program.py", PYTHON) };
        let program = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&program, text).unwrap();
        let at = |mark| json!({ "file": program, "line": line(&program, mark) });
        let more = json!({ "stop_on_entry": false, "timeout_s": 0,
            "breakpoints": [at("one"), at("two")] });
        let mut arguments = if node {
            json!({ "program": program })
        } else {
            debug.with_program(&program, json!({}))
        };
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        debug.ok("debug_launch", arguments);
        let mut stage = Stage { debug, program, _folder: folder };
        // It reads from here on.
        stage.tell("ready");
        stage.debug.wrote("did ready");
        stage
    }

    fn tell(&mut self, word: &str) {
        self.debug.ok("debug_input", json!({ "text": format!("{word}\n") }));
    }

    fn seq(&mut self) -> Value {
        let answer = self.debug.rpc.call("debug_status", json!({}));
        answer.pointer("/structuredContent/meta/seq").unwrap().clone()
    }

    #[track_caller]
    fn wait(&mut self, arguments: Value) -> Said {
        self.debug.ok("breakpoint_wait", arguments)
    }

    /// Lets it run on without waiting for the next stop.
    fn go_on(&mut self) {
        self.debug.ok("debug_continue", json!({ "timeout_s": 0 }));
    }
}

/// Story 1, scenario 3.
#[test]
fn the_wait_returns_and_the_notification_comes() {
    for node in [false, true] {
        let mut stage = Stage::start(node);
        let port = stage.debug.rpc.process.port();
        let (mut sse, mut http) = (Listener::sse(port), Listener::http(port));
        let waiting = stage.debug.ask("breakpoint_wait", json!({}));
        stage.tell("one");
        let said = stage.debug.answer(waiting);
        said.stands("breakpoint", line(&stage.program, "one")).has(&["Stopped (breakpoint 1)"]);
        assert_eq!((&said.data["hit"], &said.data["timed_out"]), (&json!(true), &json!(false)));
        assert_eq!((&said.data["breakpoint_id"], &said.data["hit_count"]), (&json!(1), &json!(1)));
        for hit in [
            stage.debug.rpc.notified(HIT, &|_| true),
            sse.notified(HIT, &|_| true),
            http.notified(HIT, &|_| true),
        ] {
            assert_eq!((&hit["seq"], &hit["breakpoint_id"]), (&said.data["seq"], &json!(1)));
        }
    }
}

#[test]
fn a_stop_that_stands_is_returned_at_once_and_to_everyone() {
    for node in [false, true] {
        let mut stage = Stage::start(node);
        let first = stage.debug.ask("breakpoint_wait", json!({}));
        let second = stage.debug.ask("breakpoint_wait", json!({ "ids": [1] }));
        stage.tell("one");
        let (first, second) = (stage.debug.answer(first), stage.debug.answer(second));
        let third = stage.wait(json!({}));
        for said in [&first, &second, &third] {
            said.stands("breakpoint", line(&stage.program, "one"));
            assert_eq!(said.data["seq"], first.data["seq"]);
        }
    }
}

#[test]
fn a_stop_just_before_the_call_is_not_missed_even_when_it_has_run_on() {
    for node in [false, true] {
        let mut stage = Stage::start(node);
        let since = stage.seq();
        stage.tell("one");
        stage.wait(json!({ "since": since })).stands("breakpoint", line(&stage.program, "one"));
        stage.go_on();
        stage.debug.wrote("did one");
        let said = stage.wait(json!({ "since": since }));
        said.has(&["ran on since", "now running"]);
        assert_eq!((&said.data["hit"], &said.data["state"]), (&json!(true), &json!("running")));
        assert_eq!(said.data["stop"]["line"], line(&stage.program, "one"));
        // After it there is nothing yet.
        let none = stage.wait(json!({ "since": said.data["seq"], "timeout_s": 0.1 }));
        assert_eq!(none.data["timed_out"], true);
    }
}

#[test]
fn only_the_wanted_breakpoint_ends_the_wait() {
    for node in [false, true] {
        let mut stage = Stage::start(node);
        let waiting = stage.debug.ask("breakpoint_wait", json!({ "ids": [2] }));
        stage.tell("one");
        stage.wait(json!({ "ids": [1] }));
        // It stands at the other one, and that is what a wait in vain says.
        let vain = stage.wait(json!({ "ids": [2], "timeout_s": 0.2 }));
        vain.has(&["No stop within 0.2 s", "stopped (breakpoint)"]);
        assert_eq!(vain.data["sessions"][0]["stop"]["breakpoint_ids"], json!([1]));
        stage.go_on();
        stage.tell("two");
        stage.debug.answer(waiting).stands("breakpoint", line(&stage.program, "two"));
    }
}

#[test]
fn at_the_deadline_it_says_what_is_true() {
    let mut stage = Stage::start(true);
    let said = stage.wait(json!({ "timeout_s": 0.1 }));
    said.has(&["No stop within 0.1 s", "s1 program.js (node): running", "hint:"]);
    assert_eq!((&said.data["timed_out"], &said.data["hit"]), (&json!(true), &json!(false)));
    assert_eq!(said.data["sessions"][0]["state"], "running");
    assert!(said.data["seq"].as_u64().unwrap() > 0);
}

#[test]
fn a_program_that_ends_ends_the_wait() {
    for node in [false, true] {
        let mut stage = Stage::start(node);
        let waiting = stage.debug.ask("breakpoint_wait", json!({ "ids": [2], "timeout_s": 600 }));
        stage.debug.ok("debug_input", json!({ "text": "", "close": true }));
        let said = stage.debug.answer(waiting);
        said.has(&["No stop: the program has ended", "ended with exit code 0"]);
        assert_eq!((&said.data["timed_out"], &said.data["hit"]), (&json!(false), &json!(false)));
        assert_eq!(said.data["sessions"][0]["exit"], json!({ "code": 0 }));
    }
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let mut debug = python.start();
    debug.fails("breakpoint_wait", json!({})).has(&["E_NO_SESSION", "debug_launch"]);
    let mut stage = Stage::start(true);
    let unknown = stage.debug.fails("breakpoint_wait", json!({ "ids": [9] }));
    unknown.has(&["[E_NOT_FOUND] no breakpoint 9", "breakpoint_list"]);
    let at = json!({ "file": stage.program, "line": line(&stage.program, "two") + 2 });
    let trace = stage.debug.ok("tracepoint_set", at).data["breakpoint_id"].clone();
    let trace = stage.debug.fails("breakpoint_wait", json!({ "ids": [trace] }));
    trace.has(&["[E_INVALID_PARAMS]", "is a tracepoint", "tracepoint_read"]);
    let session = stage.debug.fails("breakpoint_wait", json!({ "session_id": "s7" }));
    session.has(&["[E_NO_SESSION] no session `s7`"]);
    stage.debug.fails("breakpoint_wait", json!({ "timeout_s": -1 })).has(&["E_INVALID_PARAMS"]);
}
