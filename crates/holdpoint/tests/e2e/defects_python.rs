//! Defects seen in debuggers for agents (`docs/peer-defects.md`), that ours does not have them: Python.

use std::{path::Path, process::Command};

use holdpoint_testkit::{
    debug::{Debug, ask_python, fixture, line, program, python},
    process::Process,
    rpc::Rpc,
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

#[test]
fn at_the_entry_one_can_look_evaluate_and_step() {
    let mut debug = start();
    let (_folder, file) = program("a = 1\nb = a + 1\nprint(b)\n");
    debug.launch(&file, json!({})).stands("entry", 1);
    debug.ok("debug_stack", json!({})).has(&["#0   <module>", "program.py:1"]);
    debug.ok("debug_variables", json!({}));
    assert_eq!(debug.eval("40 + 2"), "(int) 42");
    debug.ok("debug_step", json!({})).stands("step", 2);
    debug.ok("debug_variables", json!({})).has(&["a: int = 1"]);
}

/// What the program failed with, as Python itself would print it.
#[test]
fn a_traceback_begins_with_the_program() {
    let mut debug = start();
    debug.ok("breakpoint_set_exception", json!({ "uncaught": false }));
    let (_folder, raises) = program("def f():\n    return 1 / 0\n\n\nf()\n");
    let (_folder, syntax) = program("fine = 1\ndef f(:\n");
    for (file, wanted) in [(raises, "ZeroDivisionError: division by zero"), (syntax, "SyntaxError")]
    {
        let said = debug.launch(&file, json!({ "stop_on_entry": false }));
        said.ended(json!({ "code": 1 })).has(&[wanted, "program.py\", line 2"]);
        let written = debug.ok("debug_output", json!({ "session_id": said.data["session_id"] }));
        for inner in ["debugpy", "pydevd", "runpy", "holdpoint"] {
            assert!(!written.text.contains(inner), "{}", written.text);
        }
    }
}

#[test]
fn a_breakpoint_in_a_library_is_hit_or_says_why_not() {
    let mut debug = start();
    let library = ask_python("import textwrap; print(textwrap.__file__)");
    let text = std::fs::read_to_string(&library).unwrap();
    let at = 1 + text.lines().position(|it| it.contains("text = _whitespace_only_re.sub")).unwrap();
    let (_folder, file) = program("import textwrap\ntextwrap.dedent('  a')\n");
    debug.launch(&file, json!({})).stands("entry", 1);
    let said = debug.ok("breakpoint_set", json!({ "file": library, "line": at }));
    said.has(&["pending", "in a library", "`debug_restart`", "`just_my_code: false`"]);
    // A launch that knows it stops there, and only there: the step goes back to the program.
    debug.ok("debug_restart", json!({})).stands("entry", 1);
    debug.go().stands("breakpoint", at).has(&["in dedent", "text = '  a'"]);
    debug.ok("debug_stack", json!({})).has(&["#1   <module>"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn files_of_one_name_are_told_apart() {
    let (folder, file) = program("from a import mod as a\nfrom b import mod as b\na.f(b.f)\n");
    let root = folder.path().canonicalize().unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(root.join(name)).unwrap();
        let text = format!("def f(other=None):\n    return other() if other else '{name}'\n");
        std::fs::write(root.join(name).join("mod.py"), text).unwrap();
    }
    let mut debug = start();
    let point = json!([{ "file": "b/mod.py", "line": 2 }]);
    let said = debug.launch(&file, json!({ "breakpoints": point, "stop_on_entry": false }));
    said.stands("breakpoint", 2).has(&["at b/mod.py:2 in f"]);
    debug.ok("debug_stack", json!({})).has(&["(b/mod.py:2)", "(a/mod.py:2)", "(program.py:3)"]);
}

#[test]
fn breakpoints_of_a_launch_are_taken_as_models_write_them() {
    let (_folder, file) = program("def f(n):\n    return n\n\n\nf(1)\n");
    for point in ["program.py:2", "program.py::f", "program.py:return n"] {
        let more = json!({ "breakpoints": [point], "stop_on_entry": false });
        start().launch(&file, more).stands("breakpoint", 2);
    }
    let mut debug = start();
    let wrong = json!({ "program": file, "breakpoints": [7] });
    debug.fails("debug_launch", wrong).has(&["breakpoints[0]", "`file:line` or an object"]);
}

#[test]
fn a_condition_that_raises_stops_and_says_so() {
    let mut debug = start();
    let file = fixture("shop.py");
    let at = line(&file, "call");
    let point = json!([{ "file": file, "line": at, "condition": "nobody > 1" }]);
    let said = debug.launch(&file, json!({ "breakpoints": point, "stop_on_entry": false }));
    said.stands("breakpoint", at).has(&["condition failed", "NameError: name 'nobody'"]);
    assert!(!said.text.contains("pydevd"), "{}", said.text);
}

#[test]
fn a_probe_shows_the_line_where_it_stopped() {
    let mut debug = start();
    // Line 4 has no code, and `Error` stands all around.
    let (_folder, file) = program(
        "def check(n):\n    if n > 9:\n        raise ValueError('Error')\n\n    return n\n\n\nprint('done (really)', check(1))\n",
    );
    let probe = |line: usize| json!({ "file": file, "line": line });
    let said = debug.ok("debug_probe", debug.with_program(&file, probe(5)));
    said.has(&["hit 1 · program.py:5 in check: return n", "(program.py:8)", "n: int = 1"]);
    let said = debug.ok("debug_probe", debug.with_program(&file, probe(4)));
    // The debugger moves it up, into the branch that is never taken.
    said.has(&["never reached", "exit code 0", "done (really) 1"]);
    assert!(!said.text.contains("hit 1"), "{}", said.text);
}

#[test]
fn a_program_killed_from_outside_is_told_at_once() {
    let mut debug = start();
    debug.launch(&fixture("shop.py"), json!({}));
    let pid = debug.eval("__import__('os').getpid()").replace("(int) ", "");
    kill(&pid);
    debug.ok("debug_wait", json!({ "after_epoch": 99 })).ended(json!({ "signal": 9 }));
    let said = debug.fails("debug_stack", json!({}));
    said.has(&["[E_SESSION_ENDED]", "signal 9 (SIGKILL)", "hint:"]);
    // While it runs, and somebody waits.
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1 });
    debug.launch(&fixture("endless.py"), more);
    let waits = debug.ask("debug_wait", json!({ "timeout_s": 60 }));
    let child = until("the program", || {
        let is_it = |pid: &String| command_line(pid).contains("endless.py");
        debug.children().into_iter().find(|pid| is_it(pid) && !command_line(pid).contains("guard"))
    });
    kill(&child);
    debug.answer(waits).ended(json!({ "signal": 9 }));
    debug.nothing_is_left();
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

fn command_line(pid: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

#[test]
fn a_traceback_of_a_child_begins_with_it_too() {
    let text = "\
import multiprocessing
import subprocess
import sys


def work():
    return 1 / 0


if __name__ == '__main__':
    if len(sys.argv) > 1:
        work()
    subprocess.run([sys.executable, __file__, 'child'])
    multiprocessing.get_context('spawn').Process(target=work).start()
";
    let mut debug = start();
    debug.ok("breakpoint_set_exception", json!({ "uncaught": false }));
    let (_folder, file) = program(text);
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "code": 0 }));
    let written = debug.ok("debug_output", json!({ "budget_tokens": 1_500 }));
    assert_eq!(written.text.matches("ZeroDivisionError").count(), 2, "{}", written.text);
    for inner in ["debugpy", "pydevd", "runpy", "holdpoint"] {
        assert!(!written.text.contains(inner), "{}", written.text);
    }
}

/// Nothing in a shared file: two servers of one home do not see each other's sessions.
#[test]
fn two_servers_of_one_home_keep_their_sessions_apart() {
    let mut first = start();
    first.run_to("shop.py", &["call"]);
    let home = first.home().to_owned();
    let mut second = server_at(&home);
    let launch = first.with_program(&fixture("told.py"), json!({}));
    let answer = second.call("debug_launch", launch);
    assert_eq!(answer["structuredContent"]["data"]["session_id"], "s1", "{answer}");
    let status = second.text("debug_status", json!({}));
    assert!(status.contains("told.py") && !status.contains("shop.py"), "{status}");
    second.finish();
    first.ok("debug_stack", json!({})).has(&["process"]);
    assert_eq!(first.eval("index"), "(int) 0");
}

fn server_at(home: &Path) -> Rpc {
    let mut process = Process::start_at(BIN, &["mcp", "--port", "0"], home, |_| {});
    let stdin = process.child().stdin.take().unwrap();
    let stdout = process.child().stdout.take().unwrap();
    let mut rpc = Rpc::over(process, Box::new(stdin), Box::new(stdout));
    rpc.initialize("2025-11-25");
    rpc
}

#[test]
fn a_session_leaves_no_logs_behind() {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    debug.ok("debug_variables", json!({}));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 }));
    let bytes = size(debug.home());
    assert!(bytes < 1_000_000, "{bytes} bytes in the home");
}

/// Links are not followed: the debugger is not of this session.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let one = |entry: std::fs::DirEntry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => size(&entry.path()),
        kind if kind.is_file() => entry.metadata().unwrap().len(),
        _ => 0,
    };
    entries.map(one).sum()
}

#[test]
fn one_call_tells_where_it_stands() {
    let mut debug = start();
    let said = debug.run_to("shop.py", &["append"]);
    said.has(&["Stopped (breakpoint 1) at shop.py:", " in process · s1", ">>>", "value = 6"]);
    said.has(&["--- Program output ---\norders 3"]);
    assert!(said.text.len() < 700, "{} bytes: {}", said.text.len(), said.text);
    // What is complete does not say that something was cut.
    let all = debug.ok("debug_variables", json!({}));
    assert!(!all.text.contains("more") && all.data["more"] == 0, "{}", all.text);
}

#[test]
fn output_is_the_text_that_was_written() {
    let (_folder, file) = program(
        "import sys\nfor n in range(2):\n    print('n', n)\nsys.stdout.write('no')\nsys.stdout.write(' end')\n",
    );
    let mut debug = start();
    debug.launch(&file, json!({ "stop_on_entry": false })).ended(json!({ "code": 0 }));
    let read = debug.ok("debug_output", json!({}));
    assert_eq!(read.data["output"], "n 0\nn 1\nno end", "and nothing of the debugger's");
}

#[test]
fn listing_threads_changes_nothing_of_where_one_looks() {
    let mut debug = start();
    let stop = debug.run_to("threads.py", &["worker"]);
    let threads = debug.ok("debug_threads", json!({}));
    let main = threads.data["threads"].as_array().unwrap().iter();
    let main = main.clone().find(|it| it["name"] == "MainThread").unwrap()["thread_id"].clone();
    assert_ne!(main, stop.data["stop"]["thread_id"]);
    let other = debug.ok("debug_stack", json!({ "thread": main }));
    assert!(!other.text.contains("#0   work"), "{}", other.text);
    for _ in 0..2 {
        let stack = debug.ok("debug_stack", json!({}));
        stack.has(&["#0   work"]);
        assert_eq!(stack.data["thread_id"], stop.data["stop"]["thread_id"]);
        debug.ok("debug_variables", json!({})).has(&["number: int ="]);
        assert_eq!(debug.eval("number in (3, 4)"), "(bool) True");
    }
}
