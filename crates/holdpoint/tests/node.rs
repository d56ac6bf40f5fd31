//! Node programs, debugged end to end: a real node, a real server, MCP on stdio.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use holdpoint_testkit::rpc::{Rpc, text};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const MCP: &[&str] = &["mcp", "--port", "0"];

/// A server, and the folder of a test's own programs.
struct Agent {
    rpc: Rpc,
    folder: tempfile::TempDir,
}

impl Agent {
    fn new() -> Agent {
        Agent { rpc: Rpc::connect(BIN, MCP, "2025-11-25"), folder: tempfile::tempdir().unwrap() }
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.rpc.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {}", text(&result));
        text(&result)
    }

    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.rpc.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {}", text(&result));
        text(&result)
    }

    /// Calls a tool and looks for each text in its answer.
    #[track_caller]
    fn says(&mut self, tool: &str, arguments: Value, expected: &[&str]) -> String {
        let answer = self.ok(tool, arguments);
        has(&answer, expected);
        answer
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Launches a program that runs to its first stop.
    #[track_caller]
    fn run(&mut self, program: &Path, breakpoints: &[(&Path, u32)], expected: &[&str]) -> String {
        let points: Vec<Value> =
            breakpoints.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect();
        let arguments =
            json!({ "program": program, "stop_on_entry": false, "breakpoints": points });
        self.says("debug_launch", arguments, expected)
    }
}

#[track_caller]
fn has(answer: &str, expected: &[&str]) {
    for part in expected {
        assert!(answer.contains(part), "no `{part}` in:\n{answer}");
    }
}

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/node");
    folder.join(name).canonicalize().unwrap()
}

/// The line that carries `BP: name`.
#[track_caller]
fn line(file: &Path, name: &str) -> u32 {
    let content = std::fs::read_to_string(file).unwrap();
    let mark = format!("BP: {name}");
    let at = content.lines().position(|line| line.ends_with(&mark));
    u32::try_from(at.unwrap_or_else(|| panic!("no `{mark}`"))).unwrap() + 1
}

#[test]
fn a_program_stops_at_its_entry_and_at_breakpoints_and_steps() {
    let mut agent = Agent::new();
    let shop = fixture("shop.js");
    let launched = json!({ "program": shop });
    agent.says("debug_launch", launched, &["Stopped (entry) at shop.js:1", "const rate"]);
    let at = line(&shop, "loop");
    agent.says(
        "breakpoint_set",
        json!({ "file": shop, "line": at }),
        &["(verified)", "const value"],
    );
    agent.says(
        "debug_continue",
        json!({}),
        &["Stopped (breakpoint 1)", "in sum", ">>>", "all = 0"],
    );
    agent.says("debug_step", json!({ "action": "step_in" }), &["Stopped (step)", "in total"]);
    agent.says("debug_step", json!({}), &["net = undefined → 2"]);
    agent.says("debug_step", json!({ "action": "step_out" }), &["in sum"]);
    agent.says("debug_stack", json!({}), &["#0", "sum", "#1", "<module>"]);
}

#[test]
fn variables_of_blocks_closures_and_this_are_seen_and_assigned() {
    let mut agent = Agent::new();
    let shop = fixture("shop.js");
    agent.run(&shop, &[(&shop, line(&shop, "add")), (&shop, line(&shop, "method"))], &["in total"]);
    agent.says(
        "debug_variables",
        json!({}),
        &["count: number = 1", r#"this = Item {name: "pen", price: 2}"#],
    );
    agent.says("debug_variables", json!({ "scope": "closure" }), &["rate: number = 0.5"]);
    agent.ok("debug_continue", json!({}));
    let locals = [
        "value: number = 3",
        "order: Object = {item: Item, count: 1}",
        "all: number = 0",
        "orders = Array(20)",
    ];
    agent.says("debug_variables", json!({}), &locals);
    agent.says("debug_variables", json!({ "path": "order.item" }), &[r#"name: string = "pen""#]);
    agent.says("debug_evaluate", json!({ "expression": "all = 100" }), &["100"]);
    agent.says("debug_evaluate", json!({ "expression": "all" }), &["100"]);
}

#[test]
fn an_evaluation_that_throws_is_a_failure_and_an_endless_one_is_interrupted() {
    let mut agent = Agent::new();
    agent.ok("debug_launch", json!({ "program": fixture("shop.js") }));
    agent.says(
        "debug_evaluate",
        json!({ "expression": "({a: null, b: [1, 'x']})" }),
        &["{a: null, b: Array(2)}"],
    );
    let thrown = agent.refused("debug_evaluate", json!({ "expression": "null.x" }));
    has(&thrown, &["E_EVALUATE_FAILED", "TypeError: Cannot read properties of null"]);
    let syntax = agent.refused("debug_evaluate", json!({ "expression": "1 +" }));
    has(&syntax, &["SyntaxError"]);
    let endless = json!({ "expression": "for (;;) {}", "timeout_s": 0.2 });
    let endless = agent.refused("debug_evaluate", endless);
    has(&endless, &["E_TIMEOUT", "interrupted"]);
    agent.says("debug_evaluate", json!({ "expression": "1 + 1" }), &["2"]);
    agent.says("debug_step", json!({}), &["Stopped (step)"]);
}

#[test]
fn conditions_and_hit_conditions_choose_the_stop() {
    let mut agent = Agent::new();
    let shop = fixture("shop.js");
    let at = line(&shop, "add");
    agent.ok("debug_launch", json!({ "program": shop }));
    let set = |extra: (&str, &str)| json!({ "file": shop, "line": at, extra.0: extra.1 });
    agent.ok("breakpoint_set", set(("condition", "order.count === 5")));
    agent.ok("debug_continue", json!({}));
    agent.says("debug_evaluate", json!({ "expression": "order.count" }), &["5"]);
    agent.ok("breakpoint_set", set(("hit_condition", "% 3")));
    agent.ok("debug_continue", json!({}));
    agent.says("debug_evaluate", json!({ "expression": "order.count" }), &["8"]);
    agent.says("breakpoint_set", set(("condition", "order ===")), &["does not parse"]);
    agent.ok("breakpoint_set", set(("condition", "nobody > 1")));
    agent.says("debug_continue", json!({}), &["condition failed: ReferenceError"]);
}

#[test]
fn an_uncaught_exception_stops_with_its_class_and_cause() {
    let mut agent = Agent::new();
    let broken = fixture("broken.js");
    let at = format!("broken.js:{}", line(&broken, "throw"));
    agent.run(&broken, &[], &["Stopped (exception)", &at, "OrderError: bad order 5"]);
    agent.says(
        "debug_exception",
        json!({}),
        &["OrderError: bad order 5", "caused by TypeError: inner", "order: number = 5"],
    );
    agent.says("debug_continue", json!({}), &["exit code 1", "OrderError: bad order 5"]);
}

/// Lines 2 and 3 of `sum.ts`, bundled into one line.
const BUNDLE: &str = "function add(a, b) {   const sum = a + b; return sum; }\nadd(1, 2);\n//# sourceMappingURL=bundle.js.map\n";
const MAP: &str = r#"{"version":3,"file":"bundle.js","sourceRoot":"../src/","sources":["sum.ts"],"names":[],"mappings":"AAAA,uBACE,mBACA;AAEF"}"#;

#[test]
fn a_breakpoint_in_a_source_stops_in_what_was_made_of_it() {
    let mut agent = Agent::new();
    let source = agent.write("src/sum.ts", "function add(a: number, b: number) {\n  const sum = a + b;\n  return sum;\n}\nadd(1, 2);\n");
    let bundle = agent.write("dist/bundle.js", BUNDLE);
    agent.write("dist/bundle.js.map", MAP);
    let main = agent.write("main.js", "require('./dist/bundle.js');\n");
    for program in [&main, &bundle] {
        agent.run(
            program,
            &[(&source, 3)],
            &["Stopped (breakpoint 1)", "sum.ts:3 in add", "sum = 3"],
        );
        agent.says("debug_continue", json!({}), &["exit code 0"]);
    }
}

#[test]
fn paths_with_spaces_and_links_are_found() {
    let mut agent = Agent::new();
    let real = agent.write("a b/über.js", "function f() {\n  return 1;\n}\nf();\n");
    let link = agent.folder.path().join("link");
    std::os::unix::fs::symlink(real.parent().unwrap(), &link).unwrap();
    let named = link.join("über.js");
    agent.run(&named, &[(&named, 2)], &["Stopped (breakpoint 1)", "über.js:2 in f"]);
}

#[test]
fn workers_and_forked_children_are_part_of_the_session() {
    let mut agent = Agent::new();
    let family = fixture("family.js");
    let (worker, child) = (line(&family, "worker"), line(&family, "child"));
    agent.run(&family, &[(&family, worker)], &["Stopped (breakpoint 1)", "thread 2/1"]);
    agent.says("debug_evaluate", json!({ "expression": "doubled" }), &["42"]);
    agent.says("debug_continue", json!({}), &["exit code 0", "worker 42", "worker ended 0"]);
    let arguments = json!({ "program": family, "args": ["fork"], "stop_on_entry": false,
        "breakpoints": [{ "file": family, "line": child }] });
    agent.says("debug_launch", arguments, &["Stopped (breakpoint 2)", "thread 2/1"]);
    agent.says("debug_evaluate", json!({ "expression": "answer" }), &["42"]);
    let end =
        agent.says("debug_continue", json!({}), &["exit code 0", "child 42 0", "child ended 0"]);
    assert!(!end.contains("Debugger"), "{end}");
}

#[test]
fn a_test_of_nodes_own_runner_is_stopped_in() {
    let mut agent = Agent::new();
    let test = fixture("adds.test.js");
    let arguments = json!({ "command": "node --test adds.test.js", "cwd": test.parent().unwrap(),
        "breakpoints": [{ "file": test, "line": line(&test, "test") }] });
    agent.says("debug_launch", arguments, &["Stopped (entry) at adds.test.js:1"]);
    agent.says("debug_continue", json!({}), &["Stopped (breakpoint 1)", "two = 2"]);
    let end = agent.says("debug_continue", json!({}), &["exit code 0", "ok 1 - adds"]);
    assert!(!end.contains("Debugger"), "{end}");
}

#[test]
fn a_huge_array_is_shown_at_once_and_within_the_budget() {
    let mut agent = Agent::new();
    let shop = fixture("shop.js");
    agent.run(&shop, &[(&shop, line(&shop, "call"))], &["Stopped (breakpoint 1)"]);
    let started = Instant::now();
    let listed = agent.says("debug_variables", json!({}), &["big = Array(100000)"]);
    let inside = json!({ "path": "big", "start": 99_990, "count": 5 });
    let inside = agent.says("debug_variables", inside, &["99990: Object = {at: 99990}"]);
    agent.says("debug_variables", json!({ "path": "big[99999]" }), &["at: number = 99999"]);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(listed.len() + inside.len() < 6_000, "{listed}\n{inside}");
}

#[test]
fn ten_megabytes_of_output_do_not_stop_the_program() {
    let mut agent = Agent::new();
    let program = agent.write("loud.js", "for (let at = 0; at < 10000; at++) console.log('x'.repeat(1024));\nconsole.error('last words');\nprocess.exit(3);\n");
    let end = agent.run(&program, &[], &["exit code 3", "last words"]);
    assert!(end.len() < 6_000, "{}", end.len());
}

#[test]
fn stdin_reaches_the_program() {
    let mut agent = Agent::new();
    let program = agent.write("reads.mjs", "import { readFileSync } from 'node:fs';\nconst given = readFileSync(0, 'utf8');\nconsole.log('got', given.length);\n");
    agent.says(
        "debug_launch",
        json!({ "program": program, "stdin": "hello" }),
        &["Stopped (entry) at reads.mjs:1"],
    );
    agent.says("debug_continue", json!({}), &["exit code 0", "got 5"]);
}

#[test]
fn what_cannot_start_says_why_and_soon() {
    let mut agent = Agent::new();
    let started = Instant::now();
    let syntax = agent.write("syntax.js", "const a = 1;\nconst b = ;\n");
    let failure = agent.refused("debug_launch", json!({ "program": syntax }));
    has(&failure, &["E_LAUNCH_FAILED", "SyntaxError: Unexpected token ';'", "hint:"]);
    let failure = agent.refused("debug_launch", json!({ "program": "/nowhere/at/all.js" }));
    has(&failure, &["E_NOT_FOUND", "hint:"]);
    let failure = agent.refused("debug_launch", json!({ "command": "node nowhere.js" }));
    has(&failure, &["Cannot find module", "hint:"]);
    let failure = agent.refused("debug_launch", json!({ "command": "node --no-such-flag a.js" }));
    has(&failure, &["bad option"]);
    let failure =
        agent.refused("debug_launch", json!({ "program": "/bin/sleep", "language": "node" }));
    has(&failure, &["E_LAUNCH_FAILED", "SyntaxError"]);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn an_endless_loop_and_an_idle_program_can_be_paused() {
    let mut agent = Agent::new();
    let endless = agent.write("endless.js", "let n = 0;\nwhile (true) {\n  n++;\n}\n");
    let idle = agent.write("idle.js", "setInterval(() => {}, 100000);\n");
    for (program, expected) in [(endless, "endless.js:"), (idle, "the program is idle")] {
        let arguments = json!({ "program": program, "stop_on_entry": false, "timeout_s": 0.5 });
        agent.says("debug_launch", arguments, &["Running"]);
        agent.says("debug_pause", json!({}), &["Stopped (pause)", expected]);
        agent.says("debug_evaluate", json!({ "expression": "1 + 1" }), &["2"]);
        agent.ok("debug_stop", json!({}));
    }
}

#[test]
fn a_line_without_code_after_it_is_never_bound_and_says_what_is_near() {
    let mut agent = Agent::new();
    let shop = fixture("shop.js");
    agent.ok("debug_launch", json!({ "program": shop }));
    let after = json!({ "file": shop, "line": line(&shop, "nothing") });
    agent.says("breakpoint_set", after, &["Breakpoint 1 at shop.js"]);
    let moved = json!({ "file": shop, "line": line(&shop, "method") - 2 });
    agent.says("breakpoint_set", moved, &["verified"]);
    agent.says("debug_continue", json!({}), &["Stopped (breakpoint"]);
}

#[test]
fn a_debugger_statement_stops() {
    let mut agent = Agent::new();
    let program = agent.write("stop.js", "const a = 1;\ndebugger;\nconsole.log(a);\n");
    agent.run(&program, &[], &["Stopped (debugger statement) at stop.js:2"]);
    agent.says("debug_continue", json!({}), &["exit code 0", "1"]);
}

#[test]
fn an_async_stack_names_who_waits() {
    let mut agent = Agent::new();
    let program = agent.write("tasks.mjs", "async function inner() {\n  await null;\n  return 1;\n}\nasync function outer() {\n  return await inner();\n}\nawait outer();\n");
    agent.run(&program, &[(&program, 3)], &["Stopped (breakpoint 1)", "in inner"]);
    agent.says("debug_stack", json!({}), &["inner", "async outer"]);
}
