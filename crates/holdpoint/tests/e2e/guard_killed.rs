//! Somebody kills the guard: its program goes with it, whatever that was doing, and the session says so.

use holdpoint_testkit::{
    debug::{Debug, fixture, program, python},
    node::{self, Folder},
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

fn kill_guard(debug: &Debug) {
    let is_guard = |pid: &&String| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"guard")
    };
    let children = debug.children();
    let guard = children.iter().find(is_guard).expect("a guard");
    kill(guard);
}

fn kill(pid: &str) {
    let killed = std::process::Command::new("kill").args(["-s", "KILL", pid]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn a_program_at_its_entry_ends_with_its_guard() {
    let mut debug = start();
    let (folder, file) = program("open('ran', 'w').write('yes')\n");
    debug.launch(&file, json!({ "cwd": folder.path() })).stands("entry", 1);
    kill_guard(&debug);
    until("the end", || {
        let said = debug.ok("debug_status", json!({}));
        said.text.contains("ended with its guard, which was killed by signal 9").then_some(())
    });
    let said = debug.ok("debug_wait", json!({}));
    said.has(&["The guard was killed; the program was ended with it"]);
    said.ended(json!({ "guard_killed_by": 9 }));
    debug.nothing_is_left();
    assert!(!folder.path().join("ran").exists(), "the program ran on with nobody over it");
}

#[test]
fn everything_that_a_program_started_ends_with_the_guard() {
    let mut debug = start();
    debug.launch(&fixture("family.py"), json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    debug.wrote("family is there");
    until("the family", || (debug.children().len() == 4).then_some(()));
    kill_guard(&debug);
    debug.ok("debug_wait", json!({})).has(&["The guard was killed"]);
    debug.nothing_is_left();
}

/// Neither their environment nor their session says whose they are.
#[test]
fn a_daemon_without_an_environment_is_found() {
    let mut debug = start();
    let (folder, file) = program(
        "import subprocess, time\n\
         made = subprocess.Popen(['env', '-i', 'setsid', 'sleep', '600'])\n\
         open('pid.new', 'w').write(str(made.pid))\n\
         import os; os.rename('pid.new', 'pid')\n\
         time.sleep(600)\n",
    );
    let more = json!({ "stop_on_entry": false, "timeout_s": 0.1, "cwd": folder.path() });
    debug.launch(&file, more);
    let pid = until("the daemon", || std::fs::read_to_string(folder.path().join("pid")).ok());
    kill_guard(&debug);
    debug.ok("debug_wait", json!({})).has(&["The guard was killed"]);
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} lives on");
}

#[test]
fn a_program_that_is_killed_is_not_taken_for_its_guard() {
    let mut debug = start();
    let (_folder, file) = program("import os\nos.kill(os.getpid(), 9)\n");
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "signal": 9 })).has(&["signal 9 (SIGKILL)"]);
}

/// One guard's end is no matter to the programs of others.
#[test]
fn another_program_lives_on() {
    let mut debug = start();
    let (_folder, file) = program("import time\ntime.sleep(600)\n");
    debug.launch(&file, json!({})).stands("entry", 1);
    kill_guard(&debug);
    let (_other, second) = program("x = 1\ny = 2\n");
    let said = debug.launch(&second, json!({}));
    said.stands("entry", 1);
    until("the first one's end", || {
        debug.ok("debug_status", json!({})).text.contains("s1").then_some(())?;
        debug.ok("debug_status", json!({})).text.contains("ended with its guard").then_some(())
    });
    debug.ok("debug_step", json!({ "session_id": "s2" })).stands("step", 2);
}

/// What the program left behind reports faster than anybody reads.
#[test]
fn a_child_that_floods_us_ends_with_the_guard() {
    let mut debug = node::start(BIN);
    let folder = Folder::default();
    let text = "const { fork } = require('child_process');\n\
                let n = 0;\n\
                const tick = () => {\n\
                  for (let i = 0; i < 20; i++) {\n\
                    n += 1;\n\
                  }\n\
                  setTimeout(tick, 1);\n\
                };\n\
                if (!process.argv[2]) for (let i = 0; i < 3; i++) fork(__filename, ['child']);\n\
                tick();\n";
    let file = folder.write("flood.js", text);
    debug.launch(&file, json!({}));
    debug.ok(
        "tracepoint_set",
        json!({ "file": file, "line": 5, "log_message": "{n} {'x'.repeat(300)}" }),
    );
    debug.ok("debug_continue", json!({ "timeout_s": 2 }));
    kill_guard(&debug);
    until("the child's end", || debug.children().is_empty().then_some(()));
    debug.ok("debug_wait", json!({})).has(&["The guard was killed"]);
}
