//! Code nobody here wrote: a bug planted in a copy of a real package, found with the tools alone
//! through the package's own test suite; and the same suite without the bug passes under the debugger.

use holdpoint_testkit::{
    debug::{Debug, Said, python},
    packages::Package,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");
/// Seconds for a whole suite on a loaded machine.
const SUITE: u64 = 280;
/// More calls than this would be no help to an agent.
const CALLS: usize = 9;

/// An agent at work; it counts its calls, and there is no polling.
struct Agent {
    debug: Debug,
    calls: usize,
}

impl Agent {
    fn start() -> Agent {
        Agent { debug: python(BIN, FOLDER).start(), calls: 0 }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Said {
        self.calls += 1;
        self.debug.ok(tool, arguments)
    }

    #[track_caller]
    fn found_in_few_calls(&self) {
        assert!(self.calls <= CALLS, "{} calls", self.calls);
    }
}

/// jinja2: `loop.revindex0` counts one too many, because it reads `index0` instead of `index`.
#[test]
fn a_bug_in_jinja2_is_found_through_its_pytest_suite() {
    let package = Package::python("jinja2-3.1.6");
    let runtime = "src/jinja2/runtime.py";
    let right = "        return self.length - self.index\n";
    package.replace(runtime, right, "        return self.length - self.index0\n");
    let mut agent = Agent::start();

    // The suite runs to the assertion that fails, past all that are caught. What it got: of the last
    // fields but three, the second should be 1.
    let uncaught = json!({ "filters": ["user_unhandled"], "types": ["AssertionError"] });
    agent.call("breakpoint_set_exception", uncaught);
    let said = agent.call("debug_launch", pytest(&package, &["-q"], json!({})));
    said.stands("exception", 64).has(&["tests/test_core_tags.py:64 in test_context_vars"]);
    said.has(&["one_revindex = '2'", "one_revindex0 = '2'", "one = '1|0|2|2|True|False|2'"]);
    assert!(!said.text.contains("@py"), "pytest's own variables: {}", said.text);

    // Where that field comes from: below the decorator, in the body.
    let line = package.line(runtime, "def revindex0", "return");
    let by_name = json!({ "function": "LoopContext.revindex0" });
    agent.call("breakpoint_set", by_name).has(&["runtime.py", "(verified"]);
    let said = agent.call("debug_restart", json!({ "timeout_s": SUITE }));
    said.stands("breakpoint", line).has(&["in revindex0", "self = <LoopContext 1/2>"]);
    said.has(&["return self.length - self.index0"]);

    // The giveaway: of two values that differ by one everywhere, both are the same.
    let said = agent.call("debug_variables", json!({ "path": "self" }));
    said.has(&["index: int = 1", "index0: int = 0", "length: int = 2"]);
    said.has(&["revindex: int = 2", "revindex0: int = 2"]);
    let mended = json!({ "expression": "self.length - self.index" });
    assert_eq!(agent.call("debug_evaluate", mended).text, "(int) 1");
    let said = agent.call("debug_step", json!({ "action": "step_out" }));
    said.has(&["in getattr", "attribute = 'revindex0'", "(return) revindex0 = 2"]);
    agent.call("debug_stop", json!({}));
    agent.found_in_few_calls();
}

#[test]
fn the_suite_of_jinja2_passes_under_the_debugger() {
    let package = Package::python("jinja2-3.1.6");
    let said = Agent::start().call("debug_launch", pytest(&package, &["-q"], json!({})));
    said.ended(json!({ "code": 0 })).has(&["909 passed"]);
}

fn pytest(package: &Package, args: &[&str], more: Value) -> Value {
    let launch = json!({
        "module": "pytest", "args": args, "cwd": package.root, "env": { "PYTHONPATH": "src" },
        "stop_on_entry": false, "timeout_s": SUITE,
    });
    with(launch, more)
}

/// qs: after a dotted part of a key the reader goes one character too far and swallows the next dot.
#[test]
fn a_bug_in_qs_is_found_through_its_tape_suite() {
    let package = Package::node("qs");
    let parse = "lib/parse.js";
    package.replace(parse, "            i = j - 1;\n", "            i = j;\n");
    let mut agent = Agent::start();

    // The suite says which tests fail, among 1,699 lines.
    let said = agent.call("debug_launch", tape(&package, json!({})));
    said.ended(json!({ "code": 1 })).has(&["# fail  9"]);
    let said = agent.call("debug_output", json!({ "find": "not ok 180" }));
    said.has(&["not ok 180 should be deeply equivalent", "fool: { bad: { boo: 'baz' } }"]);
    said.has(&["fool: { bad: 'baz' }", "test/parse.js:503:12"]);

    // The key of that test, where its dots become brackets.
    let line = package.line(parse, "topLevelDotsToBrackets", "result += '[' + key.slice");
    let point = json!({ "file": parse, "line": line, "condition": "key === 'fool.bad.boo'" });
    let said = agent.call("debug_launch", tape(&package, json!({ "breakpoints": [point] })));
    said.stands("breakpoint", line);
    said.has(&["in topLevelDotsToBrackets", "i = 4", "j = 8", r#"result = "fool""#]);
    let said = agent.call("debug_stack", json!({}));
    said.has(&["splitKeyIntoSegments", "test/parse.js:503"]);

    // The giveaway: the loop goes on behind the second dot, which it never looked at.
    let said = agent.call("debug_step", json!({}));
    said.stands("step", line + 1).has(&[r#"result = "fool" → "fool[bad]""#]);
    agent.call("debug_step", json!({})).has(&["i = 4 → 8"]);
    let seen = json!({ "expression": "key.charAt(i) + ' then ' + key.charAt(i + 1)" });
    agent.call("debug_evaluate", seen).has(&[r#"". then b""#]);
    let end = package.line(parse, "topLevelDotsToBrackets", "return result;");
    let said = agent.call("debug_continue", json!({ "to_line": end }));
    said.has(&["return result;", r#"→ "fool[bad]boo""#]);
    agent.call("debug_stop", json!({}));
    agent.found_in_few_calls();
}

#[test]
fn the_suite_of_qs_passes_under_the_debugger() {
    let package = Package::node("qs");
    let said = Agent::start().call("debug_launch", tape(&package, json!({})));
    said.ended(json!({ "code": 0 })).has(&["# pass  1699"]);
}

fn tape(package: &Package, more: Value) -> Value {
    let launch = json!({
        "command": "tape test/**/*.js", "cwd": package.root, "stop_on_entry": false,
        "timeout_s": SUITE,
    });
    with(launch, more)
}

/// One object of both.
fn with(mut launch: Value, more: Value) -> Value {
    if let (Value::Object(launch), Value::Object(more)) = (&mut launch, more) {
        launch.extend(more);
    }
    launch
}
