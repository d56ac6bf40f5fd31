//! `holdpoint run --record`: an app that serves is asked about the request that just failed, while it goes on serving.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
};

use holdpoint_testkit::{
    debug::{Debug, monitoring_pythons, python},
    process::command,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A server in small: each line of its input is a request, each line of its output an answer.
const APP: &str = "\
import sys

PRICES = {'pen': 2, 'ink': 5}


def price(item):
    return PRICES[item]


def handle(line):
    item, count = line.split()
    total = 0
    for _ in range(int(count)):
        total += price(item)
    return total


def main():
    for line in sys.stdin:
        try:
            print('ok', handle(line), flush=True)
        except Exception as error:
            print('failed', type(error).__name__, flush=True)
    print('bye', flush=True)


if __name__ == '__main__':
    main()
";

struct App {
    child: Child,
    said: Box<dyn Iterator<Item = String>>,
    /// Open for as long as it runs: what else it says there is its own.
    _stderr: BufReader<ChildStderr>,
    id: String,
}

impl App {
    /// Below that Python where one is named, else the one of `PATH`.
    fn start(home: &Path, folder: &Path, options: &[&str], python: Option<&str>) -> App {
        let app = folder.join("app.py");
        std::fs::write(&app, APP).unwrap();
        let script = app.display().to_string();
        let words = [&["run"], options, &["--", python.unwrap_or("python3"), &script]].concat();
        App::of(command(BIN, &words, home).current_dir(folder))
    }

    fn of(command: &mut Command) -> App {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut told).unwrap();
        let id = told.strip_prefix("holdpoint: recording ").unwrap_or_else(|| panic!("{told}"));
        let id = id.split(',').next().unwrap().to_owned();
        let out = BufReader::new(child.stdout.take().unwrap());
        let said = Box::new(out.lines().map_while(Result::ok));
        App { child, said, _stderr: stderr, id }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.said.next().unwrap()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // An error means that it has ended already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// What the resource says of one recording.
fn listed(debug: &mut Debug, id: &str) -> Value {
    let answer = debug.rpc.request("resources/read", json!({ "uri": "holdpoint://recordings" }));
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let all: Value = serde_json::from_str(&text).unwrap();
    let all = all["recordings"].as_array().unwrap().clone();
    all.into_iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id} in {text}"))
}

/// Waits until its keeper has made one file of it.
fn kept(debug: &mut Debug, id: &str) -> Value {
    let file = debug.home().join("recordings").join(id).join("run.hpr");
    until("the recording is one file", || file.is_file().then_some(()));
    let streams = || {
        let entries = std::fs::read_dir(file.parent().unwrap()).unwrap();
        entries
            .filter(|it| {
                it.as_ref()
                    .unwrap()
                    .path()
                    .extension()
                    .is_some_and(|it| it != "hpr" && it != "json")
            })
            .count()
    };
    until("nothing else is left", || (streams() == 0).then_some(()));
    listed(debug, id)
}

fn serves(python_path: Option<&str>) {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let home = debug.home().to_owned();
    let mut app = App::start(&home, folder.path(), &["--record", "shop"], python_path);
    let id = app.id.clone();
    assert_eq!(app.ask("pen 3"), "ok 6");
    assert_eq!(app.ask("cup 1"), "failed KeyError");
    // It waits for the next request, and all of the last one is known.
    let said = debug.ok("record_calls", json!({ "recording": "shop", "where": "raised KeyError" }));
    said.has(&["handle(line='cup 1", "price(item='cup')", "KeyError"]);
    assert_eq!(listed(&mut debug, &id)["state"], "live");
    assert_eq!(app.ask("ink 2"), "ok 10");
    let said = debug.ok("record_calls", json!({ "recording": id, "function": "handle" }));
    said.has(&["3 calls of handle", "→ 10"]);
    if python_path.is_some() {
        let asked = json!({ "recording": id, "function": "handle", "where": "result == 10" });
        debug.ok("record_frame", asked).has(&["total += price(item)", "×2", "total=5,10"]);
        // The frame that waits has not ended.
        let said = debug.ok("record_frame", json!({ "recording": id, "function": "main" }));
        said.has(&["for line in sys.stdin", "'ink 2"]);
    }
    drop(app.child.stdin.take());
    assert_eq!(app.said.next().as_deref(), Some("bye"));
    assert_eq!(app.child.wait().unwrap().code(), Some(0));
    assert_eq!(kept(&mut debug, &id)["state"], "ended");
    let said = debug.ok("record_calls", json!({ "recording": id, "function": "handle" }));
    said.has(&["3 calls of handle"]);
}

#[test]
fn a_request_that_failed_is_asked_about_while_the_app_serves() {
    serves(Some(&newest()));
}

#[test]
fn an_older_python_is_asked_as_well() {
    serves(None);
}

/// A Python that has room for a recorder beside others.
pub(crate) fn newest() -> String {
    monitoring_pythons().pop().expect("a Python of 3.12 or later")
}

fn paused(debug: &mut Debug) -> Option<String> {
    let text = debug.rpc.text("breakpoint_list_paused", json!({}));
    let said: Value = serde_json::from_str(&text).unwrap();
    said["paused"][0]["id"].as_str().map(str::to_owned)
}

#[test]
fn a_paused_call_is_decided_and_its_caller_is_seen_waiting() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let home = debug.home().to_owned();
    let options = ["--record", "--watch", "app:price"];
    // Before the app: one that runs already hears of it a moment later.
    debug.rpc.call("breakpoint_add", json!({ "function_name": "app:price", "behavior": "stop" }));
    let mut app = App::start(&home, folder.path(), &options, Some(&newest()));
    let id = app.id.clone();
    app.send("pen 1");
    let asked = json!({ "recording": id, "function": "handle", "where": "result == 2" });
    until("the first request is answered", || {
        if let Some(call) = paused(&mut debug) {
            let on = json!({ "pause_id": call, "action": "continue" });
            debug.rpc.call("breakpoint_continue", on);
        }
        let said = debug.rpc.text("record_calls", asked.clone());
        said.contains("handle(line='pen 1").then_some(())
    });
    assert_eq!(app.said.next().as_deref(), Some("ok 2"));
    app.send("pen 2");
    let call = until("the call is paused", || paused(&mut debug));
    let said = debug.ok("record_frame", json!({ "recording": id, "function": "handle", "nth": 2 }));
    said.has(&["line='pen 2", "total += price(item)"]);
    assert!(!said.text.contains("→ 4"), "{}", said.text);
    let skip = json!({ "pause_id": call, "action": "skip", "fake_result": 40 });
    debug.rpc.call("breakpoint_continue", skip);
    let asked = json!({ "recording": id, "function": "handle", "where": "result == 42" });
    until("the request is answered", || {
        if let Some(call) = paused(&mut debug) {
            let on = json!({ "pause_id": call, "action": "continue" });
            debug.rpc.call("breakpoint_continue", on);
        }
        debug.ok("record_calls", asked.clone()).text.contains("handle(line='pen 2").then_some(())
    });
    assert_eq!(app.said.next().as_deref(), Some("ok 42"));
    // What was skipped did not run.
    debug
        .ok("record_calls", json!({ "recording": id, "function": "price" }))
        .has(&["2 calls of price"]);
}

#[test]
fn a_killed_app_is_known_to_its_last_event() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let home = debug.home().to_owned();
    let mut app = App::start(&home, folder.path(), &["--record"], Some(&newest()));
    let id = app.id.clone();
    assert_eq!(app.ask("cup 1"), "failed KeyError");
    app.signal("KILL");
    assert!(app.child.wait().unwrap().code().is_none());
    let ended = kept(&mut debug, &id)["ended"].as_str().unwrap().to_owned();
    assert!(ended.contains("killed"), "{ended}");
    let said = debug.ok("record_calls", json!({ "recording": id, "function": "price" }));
    said.has(&["price(item='cup')", "KeyError"]);
    let said = debug.ok("record_frame", json!({ "recording": id, "function": "main" }));
    said.has(&["error="]);
}

#[test]
fn an_interrupt_is_the_apps_own() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let home = debug.home().to_owned();
    let mut app = App::start(&home, folder.path(), &["--record"], Some(&newest()));
    let id = app.id.clone();
    assert_eq!(app.ask("pen 1"), "ok 2");
    app.signal("INT");
    assert_eq!(app.child.wait().unwrap().signal(), Some(2), "as Python ends by it");
    assert_eq!(kept(&mut debug, &id)["ended"], "its own end");
    let said =
        debug.ok("record_calls", json!({ "recording": id, "where": "raised KeyboardInterrupt" }));
    said.has(&["main()"]);
}

#[test]
fn without_a_server_it_is_recorded_and_what_does_not_start_leaves_nothing() {
    let home = holdpoint_testkit::process::home();
    let folder = tempfile::tempdir().unwrap();
    let mut app = App::start(home.path(), folder.path(), &["--record"], None);
    assert_eq!(app.ask("pen 1"), "ok 2");
    let words = ["record", "calls", "--recording", &app.id, "--function", "handle"];
    let said = holdpoint_testkit::process::run(BIN, &words, home.path());
    assert!(
        said.1.contains("1 calls of handle") || said.1.contains("1 call of handle"),
        "{said:?}"
    );
    let words = ["run", "--record", "--", "no-such-program"];
    let (code, _, stderr) = holdpoint_testkit::process::run(BIN, &words, home.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot start `no-such-program`"), "{stderr}");
    // Its keeper goes a moment after it.
    let folders = || std::fs::read_dir(home.path().join("recordings")).unwrap().count();
    until("it leaves nothing", || (folders() == 1).then_some(()));
}

#[test]
fn a_node_app_is_recorded_as_well() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let app = "const lines = require('node:readline').createInterface({ input: process.stdin });\n\
               function price(item) {\n  return { pen: 2 }[item].valueOf();\n}\n\
               lines.on('close', () => { process.exitCode = 3; });\n\
               lines.on('line', (line) => {\n  try {\n    console.log('ok', price(line));\n  } catch (error) {\n    console.log('failed', error.name);\n  }\n});\n";
    std::fs::write(folder.path().join("app.cjs"), app).unwrap();
    let home = debug.home().to_owned();
    let words = ["run", "--record", "--", "node", "app.cjs"];
    let mut app = App::of(command(BIN, &words, &home).current_dir(folder.path()));
    let id = app.id.clone();
    assert_eq!(app.ask("pen"), "ok 2");
    assert_eq!(app.ask("cup"), "failed TypeError");
    // A buffer to which nothing is added goes out by itself, a moment later.
    let asked = json!({ "recording": id, "function": "price", "where": "raised TypeError" });
    let seen = until("it is written", || {
        // Until then no function of that name is known.
        let said = debug.rpc.text("record_calls", asked.clone());
        said.contains("price(item='cup')").then_some(said)
    });
    assert!(seen.contains("TypeError"), "{seen}");
    // Only a parent learns how it ended; it knows it itself.
    drop(app.child.stdin.take());
    assert_eq!(app.child.wait().unwrap().code(), Some(3));
    assert_eq!(kept(&mut debug, &id)["ended"], "exit code 3");
}
