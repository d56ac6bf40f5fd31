//! Tracepoints end to end: the program passes, every hit arrives, in order and with its values.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, Said, line, program, python},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

const LOOP: &str = "\
import sys

def work(n):
    total = 0
    d = {'a': 1, '}': 2}
    for i in range(n):
        total += i  # BP: loop
    return total

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
print('sum', work(count))
print('done')  # BP: done
";

const NODE_LOOP: &str = "\
function work(n) {
  let total = 0;
  const d = { a: 1, '}': 2 };
  for (let i = 0; i < n; i++) {
    total += i; // BP: loop
  }
  return total;
}
console.log('sum', work(Number(process.argv[2] ?? 10)));
console.log('done'); // BP: done
";

/// One language's programs and spelling.
struct Language {
    program: PathBuf,
    length: &'static str,
    bad_name: &'static str,
    _folder: tempfile::TempDir,
}

fn languages() -> [Language; 2] {
    let (folder, file) = program(LOOP);
    let python =
        Language { program: file, length: "len(d)", bad_name: "NameError", _folder: folder };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("loop.js");
    std::fs::write(&file, NODE_LOOP).unwrap();
    let node = Language {
        program: file,
        length: "Object.keys(d).length",
        bad_name: "ReferenceError",
        _folder: folder,
    };
    [python, node]
}

/// Runs a program without stopping at its entry.
#[track_caller]
fn run(debug: &mut Debug, file: &Path, more: Value) -> Said {
    let mut arguments = json!({ "program": file, "stop_on_entry": false, "timeout_s": 120 });
    if file.extension().is_some_and(|it| it == "py") {
        arguments = debug.with_program(file, arguments);
    }
    let more = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(more);
    debug.ok("debug_launch", arguments)
}

#[track_caller]
fn trace(debug: &mut Debug, file: &Path, mark: &str, more: Value) -> Said {
    let mut arguments = json!({ "file": file, "line": line(file, mark) });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("tracepoint_set", arguments)
}

/// The messages of a tracepoint, oldest first.
#[track_caller]
fn messages(debug: &mut Debug, id: u64) -> Vec<String> {
    let said = debug.ok("tracepoint_read", json!({ "id": id, "since": 0, "budget_tokens": 4000 }));
    let hits = said.data["hits"].as_array().unwrap().clone();
    hits.iter().map(|it| it["log_message"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn each_pass_is_reported_with_its_values_and_nothing_stops() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let message = format!("i={{i}}, next={{i + 1}}, {{{}}} of {{{{d}}}}", language.length);
        let said = trace(&mut debug, file, "loop", json!({ "log_message": message }));
        said.has(&["Tracepoint 1 at", "pending"]);
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 })).has(&["sum 45", "done"]);
        let expected: Vec<String> =
            (0..10).map(|i| format!("i={i}, next={}, 2 of {{d}}", i + 1)).collect();
        assert_eq!(messages(&mut debug, 1), expected);
        let said = debug.ok("tracepoint_read", json!({}));
        said.has(&["Tracepoint 1 · ", " in work · ", "hit 10: i=9, next=10"]);
        let said = debug.ok("timeline_query", json!({ "kinds": ["tracepoint_hit"], "limit": 2 }));
        said.has(&["tracepoint 1 (hit 10)", "i=9"]);
    }
}

/// Half of a character, which both languages can have and no text of ours can.
#[test]
fn a_value_that_is_no_text_takes_no_hit_away() {
    let (_folder, python) = program(
        "for word in ['a', '\\ud800', 'b' * 127 + '\\U0001f600' * 200, 'c']:\n    print(len(word))  # BP: loop\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().canonicalize().unwrap().join("words.js");
    let source = "for (const word of ['a', '\\ud800', 'b'.repeat(127) + '\\u{1f600}'.repeat(200), 'c']) {\n  console.log(word.length); // BP: loop\n}\n";
    std::fs::write(&node, source).unwrap();
    for file in [python, node] {
        let mut debug = start();
        trace(&mut debug, &file, "loop", json!({ "log_message": "{word}" }));
        run(&mut debug, &file, json!({})).ended(json!({ "code": 0 }));
        let told = messages(&mut debug, 1);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0] == "a" && told[3] == "c", "{told:?}");
    }
}

#[test]
fn what_throws_says_so_in_its_place_and_the_rest_stands() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let more = json!({ "log_message": "{i} {nothing.at.all} {d[\"}\"]}" });
        trace(&mut debug, file, "loop", more);
        run(&mut debug, file, json!({ "args": ["2"] })).ended(json!({ "code": 0 }));
        let error = language.bad_name;
        let expected = [format!("0 <error: {error}> 2"), format!("1 <error: {error}> 2")];
        assert_eq!(messages(&mut debug, 1), expected);
    }
}

#[test]
fn every_nth_hit_and_no_more_than_a_limit_are_reported() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let more = json!({ "log_message": "{i}", "hit_count_multiple": 100 });
        trace(&mut debug, file, "loop", more);
        run(&mut debug, file, json!({ "args": ["500"] })).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1), ["99", "199", "299", "399", "499"]);
        let said = debug.ok("tracepoint_read", json!({}));
        said.has(&["hit 100: ", "hit 500: "]);
        let more = json!({ "log_message": "{i}", "max_notifications": 10 });
        trace(&mut debug, file, "loop", more);
        run(&mut debug, file, json!({ "args": ["100"] })).ended(json!({ "code": 0 }));
        let expected: Vec<String> = ["99", "199", "299", "399", "499"]
            .iter()
            .map(ToString::to_string)
            .chain((0..10).map(|i| i.to_string()))
            .collect();
        assert_eq!(messages(&mut debug, 1), expected);
        debug.ok("breakpoint_list", json!({})).has(&["1 tracepoint", "disabled: limit reached"]);
        // A new count.
        debug.ok("breakpoint_enable", json!({ "id": 1 }));
        run(&mut debug, file, json!({ "args": ["3"] })).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1).len(), expected.len() + 3);
        debug.ok("breakpoint_list", json!({})).has(&["1 tracepoint", "at most 10"]);
    }
}

#[test]
fn conditions_and_hit_conditions_choose_hits() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let more = json!({
            "log_message": "{i}", "condition": "i % 2 == 1", "hit_condition": ">= 3",
        });
        trace(&mut debug, file, "loop", more);
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1), ["5", "7", "9"]);
    }
}

#[test]
fn a_breakpoint_on_the_same_line_still_stops_and_what_passed_before_is_told_before() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        trace(&mut debug, file, "loop", json!({ "log_message": "{i}" }));
        let at = line(file, "loop");
        let point = json!({ "file": file, "line": at, "condition": "i == 5" });
        debug.ok("breakpoint_set", point).has(&["Breakpoint 2"]);
        let said = run(&mut debug, file, json!({}));
        said.stands("breakpoint", at).has(&["Stopped (breakpoint 2)"]);
        assert_eq!(messages(&mut debug, 1), ["0", "1", "2", "3", "4", "5"]);
        let stop = said.data["seq"].as_u64().unwrap();
        let hits = debug.ok("tracepoint_read", json!({})).data["hits"].clone();
        assert!(hits.as_array().unwrap().iter().all(|it| it["seq"].as_u64().unwrap() < stop));
        debug.ok("breakpoint_list", json!({})).has(&["1 tracepoint", "2 breakpoint"]);
        debug.ok("breakpoint_remove", json!({ "id": 2 }));
        debug.go().ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1).len(), 10);
    }
}

#[test]
fn a_tracepoint_becomes_a_breakpoint_and_back_while_the_program_stands() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let at = line(file, "loop");
        debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
        run(&mut debug, file, json!({})).stands("breakpoint", at);
        let said = debug.ok("tracepoint_set", json!({ "id": 1, "log_message": "{i}" }));
        said.has(&["Tracepoint 1 at", "verified", "in-process"]);
        let done = line(file, "done");
        debug.ok("breakpoint_set", json!({ "file": file, "line": done }));
        debug.go().stands("breakpoint", done);
        assert_eq!(messages(&mut debug, 1).len(), 9);
        debug.ok("breakpoint_set", json!({ "id": 1 })).has(&["Breakpoint 1 at", "verified"]);
        debug.ok("breakpoint_list", json!({})).has(&["1 breakpoint", "2 breakpoint"]);
        debug.fails("tracepoint_read", json!({ "id": 1 })).has(&["[E_NOT_FOUND]", "breakpoint"]);
    }
}

/// A line that is being passed is not passed again: no debugger comes to where it stands.
#[test]
fn on_the_line_where_the_program_stands_it_counts_from_the_next_time_on() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let at = line(file, "loop");
        debug.ok("breakpoint_set", json!({ "file": file, "line": at, "condition": "i == 1" }));
        run(&mut debug, file, json!({ "args": ["4"] })).stands("breakpoint", at);
        // It is the one by which the program stands here: this time was counted.
        let said = debug.ok("breakpoint_set", json!({ "id": 1, "condition": "i == 1" }));
        assert!(!said.text.contains("stands on"), "{}", said.text);
        let said = trace(&mut debug, file, "loop", json!({ "log_message": "{i}" }));
        said.has(&["verified", "stands on this line already", "from the next time on"]);
        let said = trace(&mut debug, file, "done", json!({}));
        assert!(!said.text.contains("stands on"), "{}", said.text);
        debug.go().ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 2), ["2", "3"]);
    }
}

/// Other points of its file come and go while the program runs; no pass is missed meanwhile.
#[test]
fn what_else_is_set_in_its_file_takes_no_pass_away() {
    let [language, _] = languages();
    let mut debug = start();
    let file = &language.program;
    trace(&mut debug, file, "loop", json!({ "log_message": "{i}" }));
    run(&mut debug, file, json!({ "args": ["60000"], "timeout_s": 0.1 }));
    let place = json!({ "file": file, "line": line(file, "done"), "condition": "1 == 2" });
    let mut times = 0;
    while debug.ok("debug_status", json!({})).text.contains("running") {
        let id = debug.ok("breakpoint_set", place.clone()).data["breakpoint_id"].clone();
        debug.ok("breakpoint_remove", json!({ "id": id }));
        times += 1;
    }
    assert!(times > 0, "it was over too soon");
    debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
    debug.ok("tracepoint_read", json!({})).has(&["60000 hits"]);
}

#[test]
fn disabled_it_is_silent_and_removed_it_is_gone() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        trace(&mut debug, file, "loop", json!({ "log_message": "{i}" }));
        debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false }));
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert!(messages(&mut debug, 1).is_empty());
        debug.ok("breakpoint_enable", json!({ "id": 1 }));
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1).len(), 10);
        debug.ok("breakpoint_remove", json!({ "id": 1 })).has(&["Tracepoint 1", "removed"]);
        debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        debug.fails("tracepoint_read", json!({ "id": 1 })).has(&["[E_NOT_FOUND]", "hint:"]);
    }
}

#[test]
fn functions_are_traced_by_name_and_tracepoints_outlive_the_server() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let more = json!({ "function": "work", "log_message": "n={n}", "hit_count_multiple": 1 });
        debug.ok("tracepoint_set", more);
        debug.restart_server(BIN);
        debug.ok("breakpoint_list", json!({})).has(&["1 tracepoint function work \"n={n}\""]);
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1), ["n=10"]);
        debug.ok("tracepoint_read", json!({})).has(&["function work at ", "hit 1: n=10"]);
    }
}

#[test]
fn a_limit_that_was_reached_outlives_the_server() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        trace(&mut debug, file, "loop", json!({ "log_message": "{i}", "max_notifications": 2 }));
        trace(&mut debug, file, "done", json!({ "log_message": "done" }));
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        debug.ok("breakpoint_enable", json!({ "id": 2, "enabled": false }));
        debug.replace_server(BIN, "TERM");
        let said = debug.ok("breakpoint_list", json!({}));
        let rows = said.data["breakpoints"].as_array().unwrap();
        assert_eq!(rows[0]["disabled"], "limit reached", "{}", said.text);
        // What somebody disabled is not what disabled itself.
        assert_eq!((&rows[1]["enabled"], &rows[1]["disabled"]), (&json!(false), &Value::Null));
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert!(messages(&mut debug, 1).is_empty());
        debug.ok("breakpoint_enable", json!({ "id": 1 }));
        run(&mut debug, file, json!({})).ended(json!({ "code": 0 }));
        assert_eq!(messages(&mut debug, 1), ["0", "1"]);
    }
}

/// The first call of a new server changes what an earlier one left, and not the other way round.
#[test]
fn what_is_set_first_is_not_undone_by_what_an_earlier_server_left() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    trace(&mut debug, &file, "loop", json!({ "log_message": "old {i}" }));
    debug.replace_server(BIN, "TERM");
    trace(&mut debug, &file, "loop", json!({ "log_message": "new {i}" }));
    let said = debug.ok("breakpoint_list", json!({}));
    said.has(&["new {i}"]);
    assert_eq!(said.data["total"], 1, "{}", said.text);
}

#[test]
fn ten_thousand_hits_are_told_in_a_hundred_tokens() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        trace(&mut debug, file, "loop", json!({ "log_message": "{i} {i % 7} {d} {total < 50}" }));
        run(&mut debug, file, json!({ "args": ["10000"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
        said.has(&[
            "10000 hits",
            "i: 10000 values, at least 4096 distinct, min 0, max 9999, first 0, last 9999",
            "i % 7: 10000 values, 7 distinct, min 0, max 6, first 0, last 3, changed at hit 2 to 1",
            "never changed",
            "total < 50: 10000 values, 2 distinct",
        ]);
        assert!(said.text.len() < 700, "{}", said.text);
        assert_eq!(said.data["tracepoints"][0]["hits"], 10_000);
    }
}

/// Every number once, in the order of `seq`, in a program that never waits for anybody to read.
#[test]
fn a_hundred_thousand_hits_lose_none() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        trace(&mut debug, file, "loop", json!({ "log_message": "{i}" }));
        run(&mut debug, file, json!({ "args": ["100000"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
        said.has(&["100000 hits", "min 0, max 99999, first 0, last 99999"]);
        let newest = debug.ok("tracepoint_read", json!({ "limit": 1 })).data["hits"][0].clone();
        assert_eq!(newest["hit_count"], 100_000);
        // Page by page through the last thousand.
        let mut since = newest["seq"].as_u64().unwrap() - 1_000;
        let mut counts: Vec<u64> = Vec::new();
        while counts.last() != Some(&100_000) {
            let data = debug.ok("tracepoint_read", json!({ "since": since })).data;
            let page = data["hits"].as_array().unwrap();
            counts.extend(page.iter().map(|it| it["hit_count"].as_u64().unwrap()));
            since = data["next"].as_u64().unwrap();
        }
        assert!(counts.len() >= 900, "{}", counts.len());
        assert!(counts.windows(2).all(|two| matches!(two, [a, b] if *b == a + 1)));
        debug.ok("tracepoint_read", json!({ "since": 0 })).has(&["no longer here"]);
    }
}

/// The last hits of a burst come although the program goes on computing.
#[test]
fn hits_arrive_while_the_program_runs() {
    let (_folder, busy) = program(
        "def mark(n):\n    return n  # BP: mark\nfor n in range(3):\n    mark(n)\nwhile True:\n    n += 1\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().canonicalize().unwrap().join("busy.js");
    let text = "function mark(n) {\n  return n; // BP: mark\n}\nfor (let n = 0; n < 3; n++) mark(n);\nfor (let n = 0; ; n++) if (n > 1e9) n = 0;\n";
    std::fs::write(&node, text).unwrap();
    for file in [busy, node] {
        let mut debug = start();
        trace(&mut debug, &file, "mark", json!({ "log_message": "{n}" }));
        run(&mut debug, &file, json!({ "timeout_s": 0.5 })).has(&["Running"]);
        until("three hits", || (messages(&mut debug, 1) == ["0", "1", "2"]).then_some(()));
        debug.ok("debug_stop", json!({}));
    }
}

#[test]
fn an_expression_that_does_not_end_costs_its_value_and_not_the_program() {
    let mut debug = start();
    let (_folder, file) = program(
        "import time\ndef slow():\n    while True:\n        pass\ndef work(n):\n    return n  # BP: work\nprint(work(3))\n",
    );
    let more = json!({ "log_message": "{n} {slow()} {n} {time.sleep(60)}" });
    trace(&mut debug, &file, "work", more);
    run(&mut debug, &file, json!({})).ended(json!({ "code": 0 })).has(&["3"]);
    assert_eq!(messages(&mut debug, 1), ["3 <error: Timeout> <error: Timeout> <error: Timeout>"]);
}

#[test]
fn debuggers_that_can_do_no_such_thing_are_stopped_and_resumed() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more =
        json!({ "log_message": "{i} {nothing}", "hit_count_multiple": 2, "max_notifications": 3 });
    trace(&mut debug, &file, "loop", more);
    debug.ok("tracepoint_set", json!({ "function": "work", "log_message": "n={n}" }));
    let emulated = json!({ "HOLDPOINT_TRACEPOINTS": "emulated" });
    let said = run(&mut debug, &file, json!({ "env": emulated, "stop_on_entry": true }));
    said.has(&["Stopped (entry)"]);
    let said = debug.ok("breakpoint_enable", json!({ "id": 2 }));
    assert_eq!(said.data["way"], "emulated");
    debug.go().ended(json!({ "code": 0 }));
    let error = "<error: NameError>";
    let expected = [1, 3, 5].map(|i| format!("{i} {error}"));
    assert_eq!(messages(&mut debug, 1), expected);
    assert_eq!(messages(&mut debug, 2), ["n=10"]);
    debug.ok("breakpoint_list", json!({})).has(&["disabled: limit reached"]);
}

#[test]
fn bad_input_is_refused_with_what_is_wrong_and_where() {
    for language in languages() {
        let mut debug = start();
        let file = &language.program;
        let at = line(file, "loop");
        let mut refuse = |more: Value, wanted: &[&str]| {
            let mut arguments = json!({ "file": file, "line": at });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let said = debug.fails("tracepoint_set", arguments);
            said.has(&["[E_INVALID_PARAMS]", "hint:"]).has(wanted);
        };
        refuse(json!({ "log_message": "value {i" }), &["position 7", "never closed"]);
        refuse(json!({ "log_message": "value i}" }), &["position 8", "closes nothing"]);
        refuse(json!({ "hit_count_multiple": -1 }), &["`hit_count_multiple` is -1"]);
        refuse(json!({ "max_notifications": -5 }), &["`max_notifications` is -5"]);
        debug.fails("tracepoint_set", json!({ "id": 9 })).has(&["[E_NOT_FOUND]", "hint:"]);
        debug.fails("tracepoint_read", json!({ "id": 9 })).has(&["[E_NOT_FOUND]", "hint:"]);
        debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
        run(&mut debug, file, json!({ "stop_on_entry": true }));
        let wrong = json!({ "file": file, "line": at, "log_message": "{i +}" });
        debug.fails("tracepoint_set", wrong).has(&["`i +` does not parse", "hint:"]);
        debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    }
}

#[test]
fn a_line_without_code_is_refused_with_the_nearest_that_has() {
    let mut debug = start();
    let (_folder, file) = program("x = 1\n\n# nothing\ny = [\n    1,\n]\nprint(x)\n");
    let said = debug.fails("tracepoint_set", json!({ "file": file, "line": 2 }));
    said.has(&["[E_INVALID_PARAMS]", "line 2", "no code", "the next line with code is 4"]);
    debug.launch(&file, json!({}));
    let said = debug.fails("tracepoint_set", json!({ "file": file, "line": 6 }));
    said.has(&["[E_INVALID_PARAMS]", "line 6", "no code of its own", "hint:"]);
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
}
