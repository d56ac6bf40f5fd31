//! Tracepoints in programs of all kinds: threads, children, workers, contexts, ends in the middle of a burst.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

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

fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("program.js");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// Traces the line `BP: mark` and runs the program.
#[track_caller]
fn traced(debug: &mut Debug, file: &Path, message: &str, more: Value) -> Said {
    let point = json!({ "file": file, "line": line(file, "mark"), "log_message": message });
    debug.ok("tracepoint_set", point);
    let mut arguments = json!({ "program": file, "stop_on_entry": false, "timeout_s": 120 });
    if file.extension().is_some_and(|it| it == "py") {
        arguments = debug.with_program(file, arguments);
    }
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("debug_launch", arguments)
}

/// The hits as the timeline has them.
#[track_caller]
fn hits(debug: &mut Debug) -> Vec<Value> {
    let asked = json!({ "kinds": ["tracepoint_hit"], "since": 0, "limit": 40 });
    let said = debug.ok("timeline_query", asked);
    let events = said.data["events"].as_array().unwrap().clone();
    events.into_iter().map(|it| it["data"].clone()).collect()
}

#[track_caller]
fn count(debug: &mut Debug) -> u64 {
    let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
    said.data["tracepoints"][0]["hits"].as_u64().unwrap()
}

#[test]
fn threads_are_told_apart_and_none_of_their_hits_is_lost() {
    let mut debug = start();
    let (_folder, file) = program(
        "import threading\n\
         def work(name):\n    for i in range(2000):\n        name  # BP: mark\n\
         all = [threading.Thread(target=work, args=(n,)) for n in 'abc']\n\
         for it in all: it.start()\n\
         for it in all: it.join()\n",
    );
    traced(&mut debug, &file, "{name}", json!({})).ended(json!({ "code": 0 }));
    assert_eq!(count(&mut debug), 6000);
    let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
    said.has(&["name: 6000 values, 3 distinct"]);
    let newest = debug.ok("timeline_query", json!({ "kinds": ["tracepoint_hit"], "limit": 1 }));
    assert_eq!(newest.data["events"][0]["data"]["hit_count"], 6000);
}

/// A child of `multiprocessing` ends by `os._exit`, after which nothing runs any more.
#[test]
fn children_of_python_report_until_their_end() {
    let mut debug = start();
    let (_folder, file) = program(
        "import multiprocessing, os\n\
         def work(n):\n    for i in range(50):\n        total = n + i  # BP: mark\n\
         if __name__ == '__main__':\n    \
             fork = multiprocessing.get_context('fork')\n    \
             all = [fork.Process(target=work, args=(n,)) for n in (100, 200)]\n    \
             for it in all: it.start()\n    \
             for it in all: it.join()\n    \
             work(0)\n    \
             os._exit(3)\n",
    );
    traced(&mut debug, &file, "{n}", json!({})).ended(json!({ "code": 3 }));
    let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
    said.has(&["150 hits", "n: 150 values, 3 distinct, min 0, max 200"]);
}

#[test]
fn workers_and_children_of_node_report() {
    let mut debug = start();
    let (_folder, file) = script(
        "const { Worker, isMainThread, workerData } = require('worker_threads');\n\
         const { fork } = require('child_process');\n\
         function work(n) {\n  for (let i = 0; i < 50; i++) {\n    const m = n + i; // BP: mark\n  }\n}\n\
         if (!isMainThread) work(workerData);\n\
         else if (process.argv[2]) { work(Number(process.argv[2])); process.exit(0); }\n\
         else {\n  work(0);\n  new Worker(__filename, { workerData: 100 })\n    \
             .on('exit', () => fork(__filename, ['200']));\n}\n",
    );
    traced(&mut debug, &file, "{n}", json!({})).ended(json!({ "code": 0 }));
    let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
    said.has(&["150 hits", "n: 150 values, 3 distinct, min 0, max 200"]);
}

/// As test runners have one for each file.
#[test]
fn a_context_of_its_own_reports_too() {
    let mut debug = start();
    let (folder, file) = script(
        "const vm = require('vm'), fs = require('fs'), path = require('path');\n\
         const inner = path.join(__dirname, 'inner.js');\n\
         const context = vm.createContext({ done: 0 });\n\
         setTimeout(() => {\n  \
             new vm.Script(fs.readFileSync(inner, 'utf8'), { filename: inner }).runInContext(context);\n\
         }, 100);\n",
    );
    let inner = folder.path().canonicalize().unwrap().join("inner.js");
    let text = "function work(n) {\n  return [n, { n }]; // BP: mark\n}\nfor (let i = 0; i < 5; i++) work(i);\n";
    std::fs::write(&inner, text).unwrap();
    let message = "{n} {[n, { n }]}";
    let point = json!({ "file": inner, "line": line(&inner, "mark"), "log_message": message });
    debug.ok("tracepoint_set", point);
    let launch = json!({ "program": file, "stop_on_entry": false });
    debug.ok("debug_launch", launch).ended(json!({ "code": 0 }));
    let messages: Vec<String> =
        hits(&mut debug).iter().map(|it| it["message"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = (0..5).map(|n| format!("{n} [{n}, {{n: {n}}}]")).collect();
    assert_eq!(messages, expected);
}

/// Set, changed, disabled and removed while the program never stops.
#[test]
fn a_running_program_takes_tracepoints() {
    let (_one, python) = program(
        "import time\ndef step(n):\n    return n + 1  # BP: mark\nn = 0\nwhile True:\n    n = step(n)\n    time.sleep(0.001)\n",
    );
    let (_two, node) = script(
        "function step(n) {\n  return n + 1; // BP: mark\n}\nlet n = 0;\nsetInterval(() => { n = step(n); }, 1);\n",
    );
    for file in [python, node] {
        let mut debug = start();
        let mut arguments = json!({ "program": file, "stop_on_entry": false, "timeout_s": 0.5 });
        if file.extension().is_some_and(|it| it == "py") {
            arguments = debug.with_program(&file, arguments);
        }
        debug.ok("debug_launch", arguments).has(&["Running"]);
        let at = line(&file, "mark");
        let point = json!({ "file": file, "line": at, "log_message": "{n}" });
        debug.ok("tracepoint_set", point).has(&["verified", "in-process"]);
        until("hits", || (count(&mut debug) > 20).then_some(()));
        let said = debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false }));
        said.has(&["disabled"]);
        // Nothing that was passed after the answer is reported; the rest of a batch may be.
        let silent = until("silence", || {
            let before = count(&mut debug);
            debug.ok("debug_wait", json!({ "timeout_s": 0.3 })).has(&["Running"]);
            (count(&mut debug) == before).then_some(before)
        });
        debug.ok("debug_wait", json!({ "timeout_s": 0.3 }));
        assert_eq!(count(&mut debug), silent);
        // A limit, reached in the running program; it is taken out of it, and begins anew.
        let point =
            json!({ "file": file, "line": at, "log_message": "{n}", "max_notifications": 7 });
        debug.ok("tracepoint_set", point);
        for _ in 0..2 {
            until("the limit", || {
                let said = debug.ok("breakpoint_list", json!({}));
                said.text.contains("disabled: limit reached").then_some(())
            });
            assert_eq!(count(&mut debug), 7);
            let unbound = json!({ "kinds": ["breakpoint_unbound"] });
            debug.ok("timeline_query", unbound).has(&["limit reached: disabled after 7"]);
            debug.ok("breakpoint_enable", json!({ "id": 1 })).has(&["verified"]);
        }
        debug.ok("debug_stop", json!({}));
    }
}

/// pydevd has nothing on the line any more.
#[test]
fn a_limit_takes_the_point_out_of_the_program() {
    let mut debug = start();
    let (_folder, file) = program(
        "def work(n):\n    return n  # BP: mark\nfor n in range(100):\n    work(n)\nprint('end')  # BP: end\n",
    );
    let end = line(&file, "end");
    let point = json!({
        "file": file, "line": line(&file, "mark"), "log_message": "{n}", "max_notifications": 3,
    });
    debug.ok("tracepoint_set", point);
    debug.ok("breakpoint_set", json!({ "file": file, "line": end }));
    debug.launch(&file, json!({ "stop_on_entry": false })).stands("breakpoint", end);
    let lines =
        "[sorted(it) for it in __import__('pydevd').get_global_debugger().breakpoints.values()]";
    until("the line to be gone", || {
        debug.eval(lines).contains(&format!("[[{end}]]")).then_some(())
    });
    assert_eq!(count(&mut debug), 3);
}

#[test]
fn a_program_that_is_ended_in_a_burst_leaves_what_it_reported() {
    let (_one, python) = program(
        "def work(n):\n    return n  # BP: mark\nn = 0\nwhile True:\n    n += 1\n    work(n)\n",
    );
    let (_two, node) =
        script("function work(n) {\n  return n; // BP: mark\n}\nfor (let n = 1; ; n++) work(n);\n");
    for file in [python, node] {
        let mut debug = start();
        traced(&mut debug, &file, "{n}", json!({ "timeout_s": 0.5 })).has(&["Running"]);
        until("hits", || (count(&mut debug) > 500).then_some(()));
        debug.ok("debug_stop", json!({}));
        let total = count(&mut debug);
        let newest = debug.ok("timeline_query", json!({ "kinds": ["tracepoint_hit"], "limit": 1 }));
        assert_eq!(newest.data["events"][0]["data"]["hit_count"], json!(total));
        // Nothing comes after the end of its session.
        let end = debug.ok("timeline_query", json!({ "kinds": ["session_ended"] }));
        let end = end.data["events"].as_array().unwrap().last().unwrap()["seq"].as_u64().unwrap();
        assert!(newest.data["events"][0]["seq"].as_u64().unwrap() < end, "{} {end}", newest.text);
        debug.nothing_is_left();
    }
}

#[test]
fn values_are_short_and_written_as_their_language_does() {
    let mut debug = start();
    let (_folder, file) = program(
        "class Bad:\n    def __str__(self):\n        raise KeyError('x')\n\
         def work(text, big, price, bad, v):\n    return text  # BP: mark\n\
         work('it\\'s', list(range(100000)), 2.5, Bad(), 3)\n",
    );
    let message = "{text} {text!r} {price:.3f} {v=} {[v * i for i in range(3)]} {big} {bad}";
    traced(&mut debug, &file, message, json!({})).ended(json!({ "code": 0 }));
    let hit = hits(&mut debug).remove(0);
    let told = hit["message"].as_str().unwrap();
    assert!(told.starts_with("it's \"it's\" 2.500 v=3 [0, 3, 6] [0, 1, 2,"), "{told}");
    assert!(told.ends_with("99998, 99999] <error: KeyError>"), "{told}");
    assert!(told.len() < 400, "{told}");
    let values: BTreeSet<&str> =
        hit["values"].as_array().unwrap().iter().filter_map(|it| it["error"].as_str()).collect();
    assert_eq!(values, BTreeSet::from(["KeyError"]));
    let (_folder, file) = script(
        "class Cart { constructor() { this.items = [1, 'a']; } get sum() { return 1; } }\n\
         function work(text, cart, map, date) {\n  return text; // BP: mark\n}\n\
         work('a\\'b', new Cart(), new Map([['k', { v: 1 }]]), new Date(0));\n",
    );
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let message = "{text} {cart} {map} {date} {undefined} {10n} {(() => 1).name} {'x'.repeat(1e6)}";
    let point = json!({ "file": file, "line": line(&file, "mark"), "log_message": message });
    debug.ok("tracepoint_set", point);
    let launch = json!({ "program": file, "stop_on_entry": false });
    debug.ok("debug_launch", launch).ended(json!({ "code": 0 }));
    let hit = hits(&mut debug).remove(1);
    let told = hit["message"].as_str().unwrap();
    let wanted = "a'b Cart {items: [1, \"a\"]} Map(1) {\"k\" => {v: 1}} 1970-01-01T00:00:00.000Z undefined 10n  xxx";
    assert!(told.starts_with(wanted), "{told}");
    assert!(told.len() < 500, "{told}");
}

/// What a program had not sent goes with it: a count that may be short says so.
#[test]
fn a_count_of_a_program_that_was_killed_says_that_it_may_be_short() {
    let mut debug = start();
    let (_folder, file) = program(
        "import os\n\
         for n in range(50):\n    m = n  # BP: mark\n\
         os.kill(os.getpid(), 15)\n",
    );
    let said = traced(&mut debug, &file, "at {n}", json!({}));
    said.ended(json!({ "signal": 15 })).has(&["hits of its last moment may be missing"]);
    let said = debug.ok("tracepoint_read", json!({}));
    said.has(&["the program was killed, so that hits of its last moment may be missing"]);
}
