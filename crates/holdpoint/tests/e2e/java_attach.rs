//! Java programs that run already: by port, by process, and what is refused.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use holdpoint_testkit::{
    debug::{fixture, line},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A program of nobody's, which is ended with the test.
struct Stranger(Child);

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn running(folder: &Folder, options: &[&str]) -> Stranger {
    let source = std::fs::read_to_string(fixture("suite/Loop.java")).unwrap();
    let file = folder.write("Loop.java", source);
    let compiled = Command::new("javac").arg("-g").arg(&file).status().unwrap();
    assert!(compiled.success());
    let mut command = Command::new("java");
    command.args(options).args(["-cp", ".", "Loop", "never"]).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|it| it.unwrap().starts_with("line 0 2")));
    std::thread::spawn(move || lines.for_each(drop));
    Stranger(child)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_program_that_listens_is_taken_by_its_port_or_process_and_let_go() {
    let folder = Folder::default();
    let port = free_port();
    let agent =
        format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{port}");
    let mut program = running(&folder, &[&agent]);
    let file = folder.path().join("Loop.java");
    for at in [json!({ "port": port }), json!({ "pid": program.0.id() })] {
        let mut debug = node::start(BIN);
        debug.ok("debug_attach", at);
        let said = debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "tick") }));
        said.has(&["verified"]);
        debug.ok("debug_wait", json!({})).stands("breakpoint", line(&file, "tick")).has(&["n ="]);
        debug.ok("debug_stop", json!({}));
        drop(debug);
        let log = || std::fs::metadata(folder.path().join("log-0")).unwrap().len();
        let before = log();
        holdpoint_testkit::until("it runs on", || (log() > before + 5).then_some(()));
        assert!(program.0.try_wait().unwrap().is_none());
    }
}

#[test]
fn one_that_was_started_without_a_debugger_is_refused_with_the_reason() {
    let folder = Folder::default();
    let program = running(&folder, &[]);
    let mut debug = node::start(BIN);
    let said = debug.fails("debug_attach", json!({ "pid": program.0.id() }));
    said.has(&["started without a debugger", "-agentlib:jdwp="]);
}

#[test]
fn one_that_opens_on_demand_is_opened() {
    let folder = Folder::default();
    let agent =
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,onjcmd=y,address=127.0.0.1:0";
    let program = running(&folder, &[agent]);
    let mut debug = node::start(BIN);
    debug.ok("debug_attach", json!({ "pid": program.0.id() }));
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["state"], "stopped", "{}", said.text);
    debug.ok("debug_stop", json!({}));
}
