//! Node, the world around it: its output and input, its workers and children, and that nothing of it is left.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node::{self, Folder},
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

#[test]
fn arguments_environment_and_folder_reach_the_program() {
    let folder = Folder::default();
    let mut debug = start();
    let more = json!({
        "args": ["one", "two words", "--three=3"], "env": { "TOLD": "yes" }, "cwd": folder.path(),
        "stop_on_entry": false,
    });
    debug.launch(&fixture("told.js"), more).ended(json!({ "code": 0 })).has(&[
        "args [\"one\",\"two words\",\"--three=3\"]",
        "env yes keeps true",
        &format!("cwd {}", folder.path().display()),
        // Nothing of the debugger.
        "flags []",
    ]);
    let own = fixture("told.js").parent().unwrap().display().to_string();
    let more = json!({ "stop_on_entry": false });
    let said = debug.launch(&fixture("told.js"), more);
    said.has(&[&format!("cwd {own}"), "env undefined"]);
}

#[test]
fn ten_megabytes_of_output_do_not_stop_the_program() {
    let folder = Folder::default();
    let text = "for (let at = 0; at < 10000; at++) console.log('x'.repeat(1024));\nconsole.error('last words');\nprocess.exit(3);\n";
    let file = folder.write("loud.js", text);
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "code": 3 })).has(&["last words"]);
    debug.ok("debug_output", json!({}));
}

#[test]
fn stdin_reaches_the_program() {
    let folder = Folder::default();
    let text = "import { readFileSync } from 'node:fs';\nconst given = readFileSync(0, 'utf8');\nconsole.log('got', given.length);\n";
    let file = folder.write("reads.mjs", text);
    let mut debug = start();
    debug.launch(&file, json!({ "stdin": "hello" })).stands("entry", 1);
    debug.go().ended(json!({ "code": 0 })).has(&["got 5"]);
    let text = "process.stdin.on('data', (data) => { console.log('heard', String(data).trim()); process.exit(0); });\nconsole.log('listening');\n";
    let file = folder.write("listens.js", text);
    debug.launch(&file, json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("listening");
    debug.ok("debug_input", json!({ "text": "a word\n" }));
    debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
    debug.ok("debug_output", json!({})).has(&["heard a word"]);
}

#[test]
fn a_worker_is_part_of_the_session() {
    let mut debug = start();
    let file = fixture("family.js");
    let said = debug.run_to("family.js", &["worker"]);
    said.stands("breakpoint", line(&file, "worker")).has(&["thread 2/1"]);
    assert_eq!(debug.eval("doubled"), "(number) 42");
    debug.ok("debug_stack", json!({})).has(&["#0   <module>", "family.js"]);
    debug
        .ok("debug_threads", json!({}))
        .has(&["1 main of family.js running", "2/1 [worker 1] stopped ← here"]);
    debug.go().ended(json!({ "code": 0 })).has(&["worker 42", "worker ended 0"]);
}

#[test]
fn children_by_fork_and_by_spawn_are_part_of_the_session() {
    let mut debug = start();
    let file = fixture("family.js");
    for how in ["fork", "spawn"] {
        let said = debug.run_with("family.js", &["child"], &[how]);
        said.stands("breakpoint", line(&file, "child")).has(&["thread 2/1", "in child"]);
        assert_eq!(debug.eval("answer"), "(number) 42");
        debug
            .ok("debug_threads", json!({}))
            .has(&["1 main of family.js running", "2/1 family.js (pid "]);
        // Its exit code is its own, and it has no flags of ours.
        let end = debug.go();
        end.ended(json!({ "code": 0 })).has(&["child 42 0", "child ended 5"]);
        assert!(!debug.ok("debug_output", json!({})).text.contains("Debugger"));
    }
}

#[test]
fn two_processes_that_stop_are_told_one_after_the_other() {
    let folder = Folder::default();
    let text = "const { fork } = require('node:child_process');
if (process.argv[2]) {
  console.log('child', process.argv[2]);
} else {
  fork(__filename, ['one']);
  fork(__filename, ['two']);
}
";
    let file = folder.write("two.js", text);
    let mut debug = start();
    let points = json!([{ "file": file, "line": 3 }]);
    let first = debug.launch(&file, json!({ "stop_on_entry": false, "breakpoints": points }));
    first.stands("breakpoint", 3);
    let one = debug.eval("process.argv[2]");
    let second = debug.go();
    second.stands("breakpoint", 3);
    assert_ne!(first.data["stop"]["thread_id"], second.data["stop"]["thread_id"]);
    assert_ne!(debug.eval("process.argv[2]"), one);
    debug.go().ended(json!({ "code": 0 }));
    debug.ok("debug_output", json!({})).has(&["child one", "child two"]);
}

#[test]
fn a_program_with_a_family_leaves_nothing_behind() {
    let mut debug = start();
    let more = json!({ "args": ["family"], "stop_on_entry": false, "timeout_s": 0.1 });
    debug.launch(&fixture("family.js"), more);
    debug.wrote("family is there");
    // The guard, the program, its child, and one in a session of its own.
    until("the family", || (debug.children().len() == 4).then_some(()));
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn a_killed_server_leaves_nothing_behind() {
    let mut debug = start();
    let more = json!({ "args": ["family"], "stop_on_entry": false, "timeout_s": 0.1 });
    debug.launch(&fixture("family.js"), more);
    until("the family", || (debug.children().len() == 4).then_some(()));
    debug.rpc.process.signal("KILL");
    debug.nothing_is_left();
    debug.restart_server(BIN);
}
