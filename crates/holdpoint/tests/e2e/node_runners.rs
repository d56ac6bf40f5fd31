//! Node's test runners and TypeScript, really installed: launched by name, stopped at the lines people wrote.

use std::path::Path;

use holdpoint_testkit::{
    debug::{Debug, Said, line},
    node::{self, Folder, runners},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A launch of a command in a project.
fn launch(debug: &mut Debug, project: &Folder, command: &str, more: Value) -> Said {
    let mut arguments = json!({ "command": command, "cwd": project.path(), "timeout_s": 60 });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("debug_launch", arguments)
}

fn points(project: &Folder, marks: &[(&str, &str)]) -> Value {
    let path = project.path();
    let point =
        |(file, mark): &(&str, &str)| json!({ "file": file, "line": line(&path.join(file), mark) });
    marks.iter().map(point).collect()
}

/// Stands on the marked line of the file, for a breakpoint.
#[track_caller]
fn stands(said: &Said, project: &Folder, file: &str, mark: &str) {
    let path = project.path().join(file);
    said.stands("breakpoint", line(&path, mark));
    assert_eq!(said.data["stop"]["file"], path.to_str().unwrap(), "{}", said.text);
}

/// What a runner does, from its entry to its end. `code` has a breakpoint that is hit once per number.
#[track_caller]
fn debugs(command: &str, test: &str, code: &str, entry: usize, locals: &[&str]) {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    let marks = [(test, "top"), (code, "add"), (test, "test")];
    let points = points(&project, &marks);
    let said = launch(&mut debug, &project, command, json!({ "breakpoints": points }));
    // The runner's own first line is nobody's business.
    said.stands("entry", entry).has(&[&format!("Stopped (entry) at {test}:{entry} in")]);
    stands(&debug.go(), &project, test, "top");
    stands(debug.go().has(&[locals[0]]), &project, code, "add");
    debug.ok("debug_stack", json!({ "limit": 2 })).has(&[code, test]);
    let mut said = debug.go();
    if said.data["stop"]["breakpoint_ids"] == json!([2]) {
        stands(&said, &project, code, "add");
        said = debug.go();
    }
    stands(said.has(&[locals[1]]), &project, test, "test");
    debug.go().ended(json!({ "code": 0 }));
    let output = debug.ok("debug_output", json!({}));
    assert!(!output.text.contains("Debugger"), "{}", output.text);
    // A failing test is the runner's to tell, by its exit code.
    let failing = json!({ "stop_on_entry": false, "env": { "FAIL": "1" } });
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.ok("breakpoint_remove", json!({ "id": 2 }));
    debug.ok("breakpoint_remove", json!({ "id": 3 }));
    launch(&mut debug, &project, command, failing).ended(json!({ "code": 1 }));
}

const SUM: &str = "src/sum.js";
const CART: &str = "src/cart.ts";

#[test]
fn mocha() {
    debugs("mocha mocha", "mocha/sum.test.js", SUM, 1, &["number = 1", "three = 3"]);
}

/// Babel moves `jest.mock` before everything else: that line is the first to run.
#[test]
fn jest() {
    debugs("jest jest", "jest/sum.test.js", SUM, 4, &["number = 1", "three = 3"]);
}

#[test]
fn vitest_in_processes() {
    let locals = ["item = {name: \"pen\", price: 2}", "two = 2"];
    debugs("vitest vitest", "vitest/cart.test.ts", CART, 1, &locals);
}

#[test]
fn vitest_in_workers() {
    let locals = ["item = {name: \"pen\", price: 2}", "two = 2"];
    debugs("npx vitest run vitest --pool=threads", "vitest/cart.test.ts", CART, 1, &locals);
}

#[test]
fn nodes_own_runner() {
    let command = "node --test runner/sum.test.js";
    debugs(command, "runner/sum.test.js", SUM, 1, &["number = 1", "three = 3"]);
}

#[test]
fn nodes_own_runner_runs_one_process_after_the_other() {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    let marks = [("runner/other.test.js", "other"), ("runner/sum.test.js", "test")];
    let points = points(&project, &marks);
    for node in [Path::new("node"), &runners().new_node] {
        let more = json!({ "breakpoints": points, "stop_on_entry": false, "interpreter": node });
        let command = "node --test runner/other.test.js runner/sum.test.js";
        let first = launch(&mut debug, &project, command, more);
        stands(first.has(&["alone = true"]), &project, "runner/other.test.js", "other");
        // The runner waits; only the process of the test is there to be looked at.
        debug.ok("debug_threads", json!({})).has(&["1 other.test.js stopped"]);
        let second = debug.go();
        stands(second.has(&["three = 3", "thread 2/1"]), &project, "runner/sum.test.js", "test");
        let threads = debug.ok("debug_threads", json!({}));
        assert_eq!(threads.text.lines().count(), 1, "{}", threads.text);
        // The end is the runner's, not that of a process of its.
        debug.go().ended(json!({ "code": 0 }));
        let output = debug.wrote("pass 3");
        assert!(!output.contains("Warning") && !output.contains("Debugger"), "{output}");
        debug.ok("debug_stop", json!({}));
    }
}

#[test]
fn a_line_that_no_test_reaches_is_told() {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    let at = line(&project.path().join(CART), "add");
    let probe = json!({
        "command": "node --test runner/sum.test.js", "cwd": project.path(), "file": CART, "line": at,
    });
    let said = debug.ok("debug_probe", probe);
    said.has(&[&format!("Line {at} of src/cart.ts was never reached"), "0 of 1 · 2 passed"]);
}

#[test]
fn breakpoints_that_no_test_hits_are_named_at_the_end() {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    let test = line(&project.path().join("runner/sum.test.js"), "test");
    let points = json!([
        { "file": "runner/sum.test.js", "line": test, "condition": "three > 100" },
        { "file": CART, "line": line(&project.path().join(CART), "add") },
        { "file": "runner/sum.test.js", "line": 5 },
    ]);
    let more = json!({ "breakpoints": points, "stop_on_entry": false });
    let command = "node --test runner/sum.test.js";
    launch(&mut debug, &project, command, more).stands("breakpoint", 5);
    let said = debug.go();
    said.ended(json!({ "code": 0 }));
    let bound = format!("1 (runner/sum.test.js:{test} if three > 100, bound)");
    said.has(&["never hit: breakpoint ", &bound, "2 (src/cart.ts:10)"]);
    assert_eq!(said.data["never_hit"], json!([1, 2]), "{}", said.text);
}

/// Runs `main.ts`: by a loader of the project, or by a node that takes the types away itself.
#[track_caller]
fn runs_typescript(debug: &mut Debug, project: &Folder, program: &str, more: Value) {
    let points = points(project, &[(CART, "add"), (program, "print")]);
    let mut arguments = json!({
        "cwd": project.path(), "breakpoints": points, "stop_on_entry": false, "timeout_s": 60,
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let first = debug.ok("debug_launch", arguments);
    stands(first.has(&["item = {name: \"pen\", price: 2}", "all = 0"]), project, CART, "add");
    stands(debug.go().has(&["all = 0 → 2"]), project, CART, "add");
    stands(&debug.go(), project, program, "print");
    assert_eq!(debug.eval("owed"), "(number) 7");
    debug.go().ended(json!({ "code": 0 })).has(&["owed 7"]);
}

#[test]
fn typescript_by_tsx() {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    runs_typescript(&mut debug, &project, "main.ts", json!({ "program": "main.ts" }));
    runs_typescript(&mut debug, &project, "main.ts", json!({ "command": "tsx main.ts" }));
    runs_typescript(&mut debug, &project, "main.mts", json!({ "command": "npx tsx main.mts" }));
}

#[test]
fn typescript_by_a_node_that_strips_types() {
    let project = runners().project("project");
    std::fs::remove_file(project.path().join("node_modules")).unwrap();
    let mut debug = node::start(BIN);
    let node = &runners().new_node;
    for program in ["main.ts", "main.mts"] {
        let more = json!({ "program": program, "interpreter": node });
        runs_typescript(&mut debug, &project, program, more);
    }
    let more = json!({ "command": "node main.mts", "interpreter": node });
    runs_typescript(&mut debug, &project, "main.mts", more);
}

#[test]
fn a_command_that_runs_nothing_of_the_users_says_so() {
    let project = runners().project("project");
    let mut debug = node::start(BIN);
    let said = launch(&mut debug, &project, "mocha --version", json!({}));
    said.ended(json!({ "code": 0 }));
    until("the debugger's word", || {
        let said = debug.ok("debug_output", json!({ "stream": "debugger" }));
        said.text.contains("nothing outside of node_modules has run").then_some(())
    });
    let more = json!({ "just_my_code": false });
    let said = launch(&mut debug, &project, "mocha --version", more);
    said.stands("entry", 1).has(&["/node_modules/mocha/"]);
}

#[test]
fn a_runner_that_is_not_installed_is_named() {
    let folder = Folder::default();
    let mut debug = node::start(BIN);
    let arguments = json!({ "command": "mocha", "cwd": folder.path() });
    let said = debug.fails("debug_launch", arguments);
    said.has(&["[E_NOT_FOUND]", "no JavaScript program `mocha`", "npm install"]);
}
