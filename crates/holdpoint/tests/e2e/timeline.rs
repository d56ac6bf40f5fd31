//! The timeline as an agent reads it: filtered, after the program's end, after the server's.

use std::path::PathBuf;

use holdpoint_testkit::debug::{self, Debug, Said, line};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const PYTHON: &str = "\
def add(a, b):
    return a + b  # BP: add


print('Sum is', add(1, 2))
raise ValueError('boom')  # BP: raise
";

const NODE: &str = "\
function add(a, b) {
  return a + b; // BP: add
}

console.log('Sum is', add(1, 2));
throw new TypeError('boom'); // BP: raise
";

struct Stage {
    debug: Debug,
    program: PathBuf,
    node: bool,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn new(node: bool) -> Stage {
        let debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = if node { ("program.js", NODE) } else { ("program.py", PYTHON) };
        let program = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&program, text).unwrap();
        Stage { debug, program, node, _folder: folder }
    }

    /// Runs the program to its end, by way of both its stops.
    fn run(&mut self) {
        let point = json!({ "file": self.program, "line": line(&self.program, "add") });
        let more = json!({ "stop_on_entry": false, "breakpoints": [point] });
        let mut arguments = match self.node {
            true => json!({ "program": self.program }),
            false => self.debug.with_program(&self.program, json!({})),
        };
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = self.debug.ok("debug_launch", arguments);
        said.stands("breakpoint", line(&self.program, "add"));
        self.debug.go().stands("exception", line(&self.program, "raise"));
        assert_eq!(self.debug.go().data["state"], "ended");
    }

    #[track_caller]
    fn query(&mut self, arguments: Value) -> Said {
        self.debug.ok("timeline_query", arguments)
    }

    /// The numbers and kinds of what a query finds.
    #[track_caller]
    fn found(&mut self, arguments: Value) -> Vec<(u64, String)> {
        let said = self.query(arguments);
        let events = said.data["events"].as_array().unwrap();
        let one =
            |it: &Value| (it["seq"].as_u64().unwrap(), it["kind"].as_str().unwrap().to_owned());
        events.iter().map(one).collect()
    }
}

fn kinds(found: &[(u64, String)]) -> Vec<&str> {
    found.iter().map(|(_, kind)| kind.as_str()).collect()
}

#[test]
fn it_is_read_by_kind_session_text_and_range_after_the_program_ended() {
    for node in [false, true] {
        let mut stage = Stage::new(node);
        stage.run();
        stage.debug.ok("timeline_note", json!({ "text": "nobody's SUM IS here" }));
        let all = stage.found(json!({ "since": 0, "budget_tokens": 2_000 }));
        assert!(all.iter().map(|(seq, _)| *seq).eq(1..=all.len() as u64), "{all:?}");
        let stops = stage.found(json!({ "since": 0, "kinds": ["stopped"] }));
        assert_eq!(kinds(&stops), ["stopped", "stopped"]);
        let exceptions = stage.query(json!({ "since": 0, "kinds": ["exception"] }));
        exceptions.has(&["boom"]);
        assert_eq!(exceptions.data["events"].as_array().unwrap().len(), 1);
        let text = stage.found(json!({ "since": 0, "match": "sum is" }));
        assert_eq!(kinds(&text), ["output", "note"]);
        let its = stage.found(json!({ "since": 0, "match": "sum is", "session_id": "s1" }));
        assert_eq!(kinds(&its), ["output"]);
        let range = json!({ "since": stops.first().unwrap().0, "until": stops.last().unwrap().0 });
        let range = stage.found(range);
        assert_eq!(range.last().unwrap(), stops.last().unwrap());
        assert!(kinds(&range).contains(&"resumed"), "{range:?}");
        let newest = stage.found(json!({ "until": stops.last().unwrap().0, "limit": 1 }));
        assert_eq!(&newest, stops.get(1..).unwrap());
        let vain = stage.query(json!({ "since": 0, "match": "no such text" }));
        vain.has(&["no event after seq 0"]);
    }
}

/// Bar: what was promised is there after a server that was told to stop, and after the next began.
#[test]
fn it_is_read_after_the_server_was_told_to_stop() {
    for node in [false, true] {
        let mut stage = Stage::new(node);
        stage.run();
        let before = stage.found(json!({ "since": 0, "budget_tokens": 2_000 }));
        stage.debug.replace_server(BIN, "TERM");
        let said = stage.query(json!({ "since": 0 }));
        let run = said.data["earlier_runs"][0].as_i64().unwrap();
        said.has(&["an earlier server until", &format!("{{\"run\": {run}}}")]);
        // Seqs of this server begin anew; the run says whose they are.
        assert_ne!(said.data["run"], run);
        let after = stage.found(json!({ "run": run, "since": 0, "budget_tokens": 2_000 }));
        assert_eq!(after.get(..before.len()).unwrap(), before);
        assert_eq!(kinds(&after).get(before.len()), Some(&"server_stopping"));
        let stop = stage.query(json!({ "run": run, "kinds": ["exception"] }));
        stop.has(&["stopped s1 exception", "boom"]);
        assert_eq!(stop.data["events"][0]["data"]["line"], line(&stage.program, "raise"));
        let newest = stage.query(json!({ "run": run, "limit": 2 }));
        assert_eq!(newest.data["events"].as_array().unwrap().len(), 2);
        stage
            .debug
            .fails("timeline_query", json!({ "run": 999 }))
            .has(&["[E_NOT_FOUND] nothing is kept of run 999", "hint:"]);
    }
}

#[test]
fn pages_lead_to_the_next_across_a_run() {
    let mut stage = Stage::new(true);
    stage.run();
    let whole = stage.found(json!({ "since": 0, "budget_tokens": 2_000 }));
    stage.debug.replace_server(BIN, "TERM");
    let run = stage.query(json!({ "since": 0 })).data["earlier_runs"][0].clone();
    let (mut since, mut pages) = (json!(0), Vec::new());
    for _ in 0..100 {
        let said = stage.query(json!({ "run": run, "since": since, "limit": 3 }));
        let events = said.data["events"].as_array().unwrap();
        pages.extend(events.iter().map(|it| it["seq"].as_u64().unwrap()));
        if said.data["more"] == 0 {
            assert!(pages.len() > whole.len() && pages.iter().copied().eq(1..=pages.len() as u64));
            return;
        }
        said.has(&["more: timeline_query {", "\"run\":"]);
        since = said.data["next_since"].clone();
    }
    panic!("the pages never end");
}

/// A server that debugs nothing touches no file, and one whose store cannot be opened debugs on.
#[test]
fn a_store_that_cannot_be_opened_fails_no_session() {
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let mut debug = python.start_with(&["--log-level", "off"]);
    // The usual one: a database that somebody names must be one.
    let file = debug.home().join("holdpoint.db");
    std::fs::write(&file, "my notes\n".repeat(1_000)).unwrap();
    let (_folder, program) = debug::program("print('hi')\nprint('there')\n");
    debug.launch(&program, json!({})).stands("entry", 1);
    debug.ok("timeline_query", json!({ "since": 0 })).has(&["session_started s1"]);
    debug.go();
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1_000);
}
