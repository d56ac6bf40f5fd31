//! Answers that leave nothing out and do not mislead: hits, threads, places and ends, told as they were.

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

/// A file in a folder of its own.
fn written(name: &str, text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join(name);
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// Runs a program without stopping at its entry.
#[track_caller]
fn run(debug: &mut Debug, file: &Path, more: Value) -> Said {
    let mut arguments = json!({ "program": file, "stop_on_entry": false, "timeout_s": 60 });
    if file.extension().is_some_and(|it| it == "py") {
        arguments = debug.with_program(file, arguments);
    }
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("debug_launch", arguments)
}

#[track_caller]
fn trace(debug: &mut Debug, file: &Path, mark: &str, message: &str) {
    let at = line(file, mark);
    debug.ok("tracepoint_set", json!({ "file": file, "line": at, "log_message": message }));
}

/// The lines of an answer.
fn lines(said: &Said) -> Vec<&str> {
    said.text.lines().collect()
}

const LOOP: &str = "\
import sys
def work(n):
    total = 0
    for i in range(n):
        total += i  # BP: loop
    return total  # BP: end
def never():
    return 1  # BP: never
print(work(int(sys.argv[1])))
";

const NODE_LOOP: &str = "\
function work(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    total += i; // BP: loop
  }
  return total; // BP: end
}
function never() {
  return 1; // BP: never
}
if (process.argv.length > 9) never();
console.log(work(Number(process.argv[2])));
";

fn loops() -> [(tempfile::TempDir, PathBuf); 2] {
    [written("loop.py", LOOP), written("loop.js", NODE_LOOP)]
}

#[test]
fn hits_are_read_one_line_each_and_the_last_line_says_that_these_are_all() {
    for (_folder, file) in loops() {
        let mut debug = start();
        trace(&mut debug, &file, "loop", "i is {i}");
        run(&mut debug, &file, json!({ "args": ["3"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({}));
        let name = file.file_name().unwrap().to_str().unwrap();
        let at = line(&file, "loop");
        let head = format!("Tracepoint 1 · {name}:{at} in work · \"i is {{i}}\" · 3 hits");
        let expected = [
            head.as_str(),
            "hit 1: i is 0",
            "hit 2: i is 1",
            "hit 3: i is 2",
            "3 hits, all shown; the program ended",
        ];
        assert_eq!(lines(&said), expected);
        assert_eq!((&said.data["total"], &said.data["ended"]), (&json!(3), &json!(true)));
    }
}

#[test]
fn two_programs_are_not_added_up_and_removed_points_are_gone() {
    for (_folder, file) in loops() {
        let mut debug = start();
        trace(&mut debug, &file, "loop", "i is {i}");
        trace(&mut debug, &file, "end", "total {total}");
        run(&mut debug, &file, json!({ "args": ["3"] })).ended(json!({ "code": 0 }));
        debug.ok("breakpoint_remove", json!({ "id": 2 }));
        run(&mut debug, &file, json!({ "args": ["2"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({}));
        said.has(&[
            "· 2 hits\nhit 1: i is 0\nhit 2: i is 1\n2 hits, all shown; s2 ended",
            "; before: s1 3 hits (`since` 0 shows them)",
            "; 1 hit of removed tracepoints: `timeline_query` has them",
        ]);
        assert_eq!(said.data["total"], 2);
        let said = debug.ok("tracepoint_read", json!({ "since": 0 }));
        said.has(&[
            "· s1 3 hits, s2 2 hits\ns1 hit 1: i is 0",
            "s2 hit 2: i is 1",
            "s1 ended, s2 ended",
        ]);
        let said = debug.ok("tracepoint_read", json!({ "aggregate": true }));
        said.has(&["5 hits of s1, s2 together"]);
    }
}

#[test]
fn of_many_hits_the_newest_are_shown_with_the_calls_that_show_the_rest() {
    for (_folder, file) in loops() {
        let mut debug = start();
        trace(&mut debug, &file, "loop", "i is {i}");
        trace(&mut debug, &file, "end", "total {total}");
        trace(&mut debug, &file, "never", "never");
        run(&mut debug, &file, json!({ "args": ["500"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "limit": 2 }));
        said.has(&[
            "· 500 hits\nhit 499: i is 498\nhit 500: i is 499\n",
            "the newest 2 of 500 hits shown; the program ended; ",
            "from the first: `tracepoint_read {\"id\": 1, \"since\": 0}`, ",
            "in sum: `tracepoint_read {\"id\": 1, \"aggregate\": true}`",
        ]);
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "since": 0, "limit": 2 }));
        let next = said.data["next"].as_u64().unwrap();
        said.has(&[
            "hit 1: i is 0\nhit 2: i is 1\nthe first 2 of 500 hits shown, 498 more; ",
            &format!("the next: `tracepoint_read {{\"id\": 1, \"since\": {next}}}`"),
        ]);
        // Several tracepoints: each line says whose it is, those without a hit are named.
        let said = debug.ok("tracepoint_read", json!({ "limit": 2 }));
        said.has(&["#1 hit 500: i is 499", "#2 hit 1: total 124750", "no hit: tracepoint 3 ("]);
        // What does not fit is the oldest.
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "budget_tokens": 40 }));
        said.has(&["hit 500: i is 499", "of 500 hits shown"]);
        assert!(!said.text.contains("hit 451:"), "{}", said.text);
        let counts = said.data["hits"].as_array().unwrap();
        assert_eq!(counts.last().unwrap()["hit_count"], 500);
    }
}

#[test]
fn the_end_says_how_often_each_tracepoint_was_passed() {
    for (_folder, file) in loops() {
        let mut debug = start();
        trace(&mut debug, &file, "loop", "i is {i}");
        trace(&mut debug, &file, "never", "never");
        let at = line(&file, "end");
        let every = json!({ "file": file, "line": at, "hit_count_multiple": 2 });
        debug.ok("tracepoint_set", every);
        let said = run(&mut debug, &file, json!({ "args": ["21"] }));
        let name = file.file_name().unwrap().to_str().unwrap();
        said.ended(json!({ "code": 0 })).has(&[
            &format!("tracepoint 1 ({name}:{}): 21 hits", line(&file, "loop")),
            &format!("tracepoint 2 ({name}:{}): never passed", line(&file, "never")),
            &format!("tracepoint 3 ({name}:{at}): no hit reported"),
            "hint: `tracepoint_read` shows the hits",
        ]);
        assert_eq!(said.data["tracepoints"][0], json!({ "breakpoint_id": 1, "hits": 21 }));
        debug.ok("breakpoint_remove", json!({ "id": 2 }));
        debug.ok("breakpoint_remove", json!({ "id": 3 }));
        // A stop on the way, and the end by `debug_continue`.
        debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
        run(&mut debug, &file, json!({ "args": ["4"] })).stands("breakpoint", at);
        let said = debug.ok("tracepoint_read", json!({ "budget_tokens": 2_000 }));
        said.has(&[
            "4 hits, all shown; s2 stands",
            "before: s1 21 hits",
            "; later ones: `tracepoint_read {\"since\": ",
        ]);
        debug.go().ended(json!({ "code": 0 })).has(&[": 4 hits"]);
    }
}

#[test]
fn a_template_is_whole_or_cut_at_its_end_with_a_word() {
    let (_folder, file) = written("loop.py", LOOP);
    let mut debug = start();
    let long = format!("{} {{i}} {{total}} tail", "x".repeat(200));
    trace(&mut debug, &file, "loop", &long);
    trace(&mut debug, &file, "end", "{total}");
    run(&mut debug, &file, json!({ "args": ["1"] })).ended(json!({ "code": 0 }));
    let said = debug.ok("tracepoint_read", json!({}));
    let start = format!("\"{}…, 97 bytes more: pass `id`\"", "x".repeat(120));
    said.has(&[&start]);
    debug
        .ok("breakpoint_list", json!({}))
        .has(&["and 137 bytes more: `tracepoint_read {\"id\": 1}`"]);
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&[&format!("its template: \"{long}\"")]);
}

#[test]
fn a_hit_without_a_message_says_when_and_times_are_told_on_request() {
    let (_folder, file) = written("loop.py", LOOP);
    let mut debug = start();
    let at = line(&file, "loop");
    debug.ok("tracepoint_set", json!({ "file": file, "line": at }));
    trace(&mut debug, &file, "end", "{total}");
    run(&mut debug, &file, json!({ "args": ["2"] })).ended(json!({ "code": 0 }));
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["hit 1 +0.000 s\nhit 2 +0."]);
    let said = debug.ok("tracepoint_read", json!({ "id": 2, "times": true }));
    said.has(&["hit 1 +0.000 s: 1"]);
}

const FAMILY: &str = "\
import multiprocessing, threading
def work(n):
    return n + 1  # BP: work
def child(n):
    it = threading.Thread(target=work, args=(n,), name='counter')
    it.start()
    it.join()
if __name__ == '__main__':
    context = multiprocessing.get_context('METHOD')
    it = context.Process(target=child, args=(7,), name='till-1')
    it.start()
    it.join()
    print('done', it.exitcode)
";

#[test]
fn a_thread_of_a_child_is_told_with_the_name_of_its_process() {
    for method in ["fork", "spawn"] {
        let (_folder, file) = program(&FAMILY.replace("METHOD", method));
        let mut debug = start();
        let at = line(&file, "work");
        let points = json!([{ "file": file, "line": at }]);
        let said = run(&mut debug, &file, json!({ "breakpoints": points }));
        said.stands("breakpoint", at).has(&["\"counter\" of till-1 (pid ", ", thread "]);
        let said = debug.ok("debug_threads", json!({}));
        said.has(&[" counter of till-1 (pid ", "1 MainThread of program.py (pid ", "← here"]);
        debug.ok("breakpoint_remove", json!({ "file": file, "line": at }));
        debug.go().ended(json!({ "code": 0 })).has(&["done 0"]);
        // Hits of several processes say whose they are, also when these are gone.
        debug.ok("tracepoint_set", json!({ "file": file, "line": at, "log_message": "n={n}" }));
        trace(&mut debug, &file, "work", "n={n}");
        let more = "\nif __name__ == '__main__':\n    work(1)\n";
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + more).unwrap();
        run(&mut debug, &file, json!({})).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({}));
        said.has(&[" of till-1 (pid ", "): n=7", " of program.py (pid ", "): n=1"]);
    }
}

/// Nobody looks into modules without a source file, and they stop all the same.
#[test]
fn what_stopped_the_program_is_not_called_unbound() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("bare")).unwrap();
    let main = root.join("main.py");
    let text = "\
import os, py_compile, sys, zipfile
here = os.path.dirname(os.path.abspath(__file__))
source = 'def KIND_total(n):\\n    n += 1\\n    return n\\n'
bare = os.path.join(here, 'bare')
with open(os.path.join(bare, 'compiled.py'), 'w') as it:
    it.write(source.replace('KIND', 'compiled'))
py_compile.compile(it.name, os.path.join(bare, 'compiled.pyc'))
os.remove(it.name)
with zipfile.ZipFile(os.path.join(here, 'lib.zip'), 'w') as it:
    it.writestr('zipped.py', source.replace('KIND', 'zipped'))
sys.path[:0] = [bare, os.path.join(here, 'lib.zip')]
import compiled, zipped
print(compiled.compiled_total(1) + zipped.zipped_total(2))
";
    std::fs::write(&main, text).unwrap();
    for name in ["compiled_total", "zipped_total"] {
        let mut debug = start();
        let points = json!([{ "function": name }]);
        let said = run(&mut debug, &main, json!({ "breakpoints": points }));
        said.has(&["Stopped (breakpoint 1)", name]);
        assert!(!said.text.contains("not bound"), "{}", said.text);
        assert!(said.data.get("pending").is_none(), "{}", said.data);
        debug.ok("breakpoint_list", json!({})).has(&["· verified"]);
        debug.go().ended(json!({ "code": 0 })).has(&["5"]);
    }
}

#[test]
fn what_the_debugger_says_does_not_stand_under_the_programs_output() {
    let (_folder, file) =
        program("import json\ntext = json.dumps([1])\nprint(text)\nprint('end')\n");
    let mut debug = start();
    debug.launch(&file, json!({}));
    debug.ok("debug_step", json!({}));
    let said = debug.ok("debug_step", json!({ "action": "step_in" }));
    let (before, after) = said.text.split_once("(the debugger: ").expect(&said.text);
    assert!(after.contains("skipped"), "{}", said.text);
    assert!(!before.contains("skipped"), "{}", said.text);
    debug.go().ended(json!({ "code": 0 }));
    let all = debug.ok("debug_output", json!({}));
    assert_eq!(all.data["output"], "[1]\nend\n");
    all.has(&["`debug_output {\"stream\": \"debugger\"}`"]);
    debug.ok("debug_output", json!({ "stream": "debugger" })).has(&["skipped"]);
}

#[test]
fn an_end_by_a_real_time_signal_is_told_as_one() {
    let mut debug = start();
    for (signal, name) in
        [(40, "SIGRTMIN+6"), (64, "SIGRTMIN+30"), (16, "SIGSTKFLT"), (10, "SIGUSR1")]
    {
        let text =
            format!("import os\nprint('before', flush=True)\nos.kill(os.getpid(), {signal})\n");
        let (_folder, file) = program(&text);
        let said = run(&mut debug, &file, json!({}));
        said.ended(json!({ "signal": signal })).has(&[&format!("signal {signal} ({name})")]);
        assert_eq!(debug.ok("debug_output", json!({})).data["output"], "before\n");
    }
}

#[test]
fn files_are_read_as_their_languages_read_them() {
    let latin = b"# -*- coding: latin-1 -*-\n# caf\xe9\nx = 'caf\xe9'\n# \xe9nd\nprint(len(x))\n";
    let (_folder, file) = written("latin.py", latin);
    let mut debug = start();
    let said = debug.fails("tracepoint_set", json!({ "file": file, "line": 4 }));
    said.has(&["[E_INVALID_PARAMS]", "no code", "the next line with code is 5"]);
    debug.launch(&file, json!({})).stands("entry", 3).has(&["x = 'caf\u{e9}'"]);
    // Before the first line with code there is none to move to.
    let said = debug.ok("breakpoint_set", json!({ "file": file, "line": 2 }));
    said.has(&["pending: line 2 has no code; the nearest line with code is 3"]);
    debug.go().ended(json!({ "code": 0 })).has(&["4"]);

    let (_folder, file) = written("old.py", "x = 1\r# no code\ry = 2\rprint(x + y)\r");
    let mut debug = start();
    let said = debug.fails("tracepoint_set", json!({ "file": file, "line": 2 }));
    said.has(&["the next line with code is 3"]);
    let points = json!([{ "file": file, "line": 4 }]);
    let said = run(&mut debug, &file, json!({ "breakpoints": points }));
    said.stands("breakpoint", 4).has(&["   3 | y = 2\n", ">>>    4 | print(x + y)"]);

    let text = "let x = 1;\r// no code\u{2028}let y = 2;\u{2029}console.log(x + y);\r";
    let (_folder, file) = written("old.js", text);
    let mut debug = start();
    let said = debug.fails("tracepoint_set", json!({ "file": file, "line": 2 }));
    said.has(&["the next line with code is 3"]);
    let points = json!([{ "file": file, "line": 4 }]);
    let said = run(&mut debug, &file, json!({ "breakpoints": points }));
    said.stands("breakpoint", 4).has(&["   3 | let y = 2;\n", ">>>    4 | console.log(x + y);"]);
}

/// A tracepoint that the debugger would move reports nothing, rather than another line's values.
#[test]
fn a_tracepoint_reports_no_other_lines_values() {
    let python = "y = [\n    1,\n]  # BP: there\nprint(y)\n";
    // V8 leaves out a function that nothing uses.
    let node = "function unused() {\n  return 1; // BP: there\n}\nconsole.log('used');\n";
    for (_folder, file) in [written("a.py", python), written("a.js", node)] {
        let mut debug = start();
        trace(&mut debug, &file, "there", "here");
        let said = run(&mut debug, &file, json!({}));
        said.ended(json!({ "code": 0 })).has(&["): never passed"]);
        debug.ok("tracepoint_read", json!({})).has(&["no hit; the program ended"]);
        run(&mut debug, &file, json!({ "stop_on_entry": true })).has(&["not bound", "no code"]);
    }
}

/// V8 still has the value of the round before in such a variable.
#[test]
fn what_is_declared_further_on_has_no_value_yet() {
    let text = "\
const mark = (n) => {
  return n; // BP: mark
};
function run() {
  for (let i = 0; i < 3; i++) {
    mark(i); // BP: before
    const x = mark(i * 10), seen = () => x;
    let { y } = { y: 1000 + x + seen() };
    class K {}
    mark(y); // BP: after
  }
}
run();
const later = 1;
console.log(later);
";
    let (_folder, file) = written("rounds.js", text);
    let mut debug = start();
    let point = |mark: &str, condition: &str| json!({ "file": file, "line": line(&file, mark), "condition": condition });
    let points =
        json!([point("before", "i == 2"), point("mark", "n == 20"), point("after", "i == 2")]);
    let said = run(&mut debug, &file, json!({ "breakpoints": points }));
    said.stands("breakpoint", line(&file, "before")).has(&[
        "i = 2",
        "x = <not assigned yet>",
        "y = <not assigned yet>",
        "K = <not assigned yet>",
        "seen = <not assigned yet>",
    ]);
    debug.fails("debug_evaluate", json!({ "expression": "x" })).has(&["ReferenceError", "'x'"]);
    assert_eq!(debug.eval("i"), "(number) 2");
    let said = debug.ok("debug_variables", json!({ "frame": 1 }));
    said.has(&["later", "<not assigned yet>"]);
    // In a caller too: its declaration waits for the call.
    debug.go().stands("breakpoint", line(&file, "mark"));
    let said = debug.ok("debug_variables", json!({ "frame": 1 }));
    said.has(&["x = <not assigned yet>", "i: number = 2"]);
    let said = debug.go();
    said.stands("breakpoint", line(&file, "after"));
    assert_eq!(debug.eval("x"), "(number) 20");
    assert_eq!(debug.eval("y"), "(number) 1040");
    let said = debug.ok("debug_variables", json!({}));
    assert!(!said.text.contains("not assigned"), "{}", said.text);
}

/// A debugger that goes with its program answers nothing any more; the breakpoint is there for the next launch.
#[test]
fn a_breakpoint_that_is_set_while_the_program_ends_is_set() {
    let mut debug = start();
    let (_folder, file) = program("x = 1\ny = 2\n");
    debug.launch(&file, json!({ "stop_on_entry": false, "timeout_s": 0.01 }));
    until("the end", || {
        let said = debug.ok("breakpoint_set", json!({ "file": file, "line": 2 }));
        assert!(said.data["breakpoint_id"].is_u64(), "{}", said.text);
        let said = debug.ok("debug_status", json!({}));
        (said.data["sessions"][0]["state"] != "running").then_some(())
    });
    debug.ok("breakpoint_list", json!({})).has(&["program.py:2"]);
}
