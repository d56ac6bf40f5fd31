//! Node, errors that nobody handles: where they stop, and that handled ones do not.

use holdpoint_testkit::{
    debug::{Debug, Said, fixture, line},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

#[test]
fn an_uncaught_exception_stops_with_its_class_and_cause() {
    let mut debug = start();
    let file = fixture("broken.js");
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", line(&file, "throw")).has(&["OrderError: bad order 5", "in check"]);
    debug.ok("debug_stack", json!({})).has(&["#0   check", "#1   <module>"]);
    assert_eq!(debug.eval("order"), "(number) 5");
    let told = debug.ok("debug_exception", json!({}));
    told.has(&["OrderError: bad order 5", "caused by TypeError: inner", "order: number = 5"]);
    told.has(&["← your code"]);
    assert_eq!(told.data["type"], "OrderError");
    debug.go().ended(json!({ "code": 1 })).has(&["OrderError: bad order 5"]);
}

/// A program that throws, with its throw on line 3.
const THROWS: &str = "const order = 5;
function check(amount) {
  throw new TypeError(`bad ${amount}`);
}
check(order);
";

/// Stands at the throw, with what was there, and goes on to the end.
#[track_caller]
fn told(debug: &mut Debug, said: &Said, line: usize, text: &str, local: (&str, &str)) {
    said.stands("exception", line).has(&[text]);
    let (name, value) = local;
    debug.ok("debug_variables", json!({})).has(&[&format!("{name}: number = {value}")]);
    assert_eq!(debug.eval(&format!("{name} * 2 - {name}")), format!("(number) {value}"));
    debug.fails("debug_evaluate", json!({ "expression": "nowhere" })).has(&["ReferenceError"]);
    let error = debug.ok("debug_exception", json!({}));
    error.has(&[&format!("{name}: number = {value}"), "← your code"]);
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn an_error_at_the_top_level_of_a_module_stops_where_it_is_thrown() {
    let folder = Folder::default();
    let plain = folder.write("plain.mjs", THROWS);
    folder.write("awaits.mjs", format!("await null; {THROWS}"));
    let imports = "import './plain.mjs';\nconsole.log('never');\n";
    folder.write("imports.mjs", imports);
    for name in ["plain.mjs", "awaits.mjs", "imports.mjs"] {
        let mut debug = start();
        let said = debug.launch(&folder.path().join(name), json!({ "stop_on_entry": false }));
        let is_awaiting = if name == "awaits.mjs" { "unhandled rejection: " } else { "" };
        let text = format!("in check: {is_awaiting}TypeError: bad 5");
        said.has(&[&text, "(after the throw, its frames as they were)"]);
        debug.ok("debug_stack", json!({})).has(&["#0   check", "#1   <module>"]);
        let module = json!({ "frame": 1 });
        debug.ok("debug_variables", module).has(&["order: number = 5"]);
        let set = debug.fails("debug_set_variable", json!({ "name": "amount", "value": "1" }));
        set.has(&["has ended"]);
        told(&mut debug, &said, 3, "TypeError: bad 5", ("amount", "5"));
        assert!(debug.ok("debug_output", json!({})).text.contains("TypeError: bad 5"));
    }
    let mut debug = start();
    debug.ok("breakpoint_set_exception", json!({ "uncaught": false, "caught": false }));
    debug.launch(&plain, json!({ "stop_on_entry": false })).ended(json!({ "code": 1 }));
}

#[test]
fn a_rejection_that_nobody_handles_is_told_as_one() {
    let folder = Folder::default();
    let programs = [
        "async function f(order) {\n  throw new RangeError('no ' + order);\n}\nf(7);\n",
        "function f(order) {\n  Promise.reject(new RangeError('no ' + order));\n}\nf(7);\n",
        "async function f(order) { await null;\n  throw new RangeError('no ' + order);\n}\nasync function g() { await f(7); }\ng();\n",
    ];
    for (number, text) in programs.iter().enumerate() {
        for kind in ["cjs", "mjs"] {
            let file = folder.write(&format!("{number}.{kind}"), text);
            let mut debug = start();
            let said = debug.launch(&file, json!({ "stop_on_entry": false }));
            let wanted = "unhandled rejection: RangeError: no 7";
            told(&mut debug, &said, 2, wanted, ("order", "7"));
        }
    }
}

/// What is around the function that rejects is there too.
#[test]
fn a_rejection_knows_the_closures_of_its_frames() {
    let folder = Folder::default();
    let text = "function f(order) {\n  new Promise((_, no) => no(new RangeError('no ' + order)));\n}\nf(7);\n";
    let file = folder.write("closure.js", text);
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", 2).has(&["unhandled rejection: RangeError: no 7"]);
    assert_eq!(debug.eval("order"), "(number) 7");
    debug.ok("debug_stack", json!({})).has(&["#1   f"]);
    debug.ok("debug_variables", json!({ "frame": 1 })).has(&["order: number = 7"]);
    debug.go().ended(json!({ "code": 1 }));
}

/// Nothing of the user's was running when it was rejected.
#[test]
fn a_rejection_from_within_node_names_who_waited() {
    let folder = Folder::default();
    let text = "const { readFile } = require('node:fs/promises');
async function load(name) {
  return await readFile(name);
}
load('/no/such');
";
    let file = folder.write("reads.js", text);
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.stands("exception", 3).has(&["unhandled rejection: Error: ENOENT", "async load"]);
    said.has(&["(after the throw, its frames have ended)"]);
    debug.ok("debug_exception", json!({})).has(&["Error", "ENOENT", "/no/such"]);
    assert_eq!(debug.eval("1 + 1"), "(number) 2");
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn what_is_thrown_need_not_be_an_error() {
    let folder = Folder::default();
    let mut debug = start();
    for (name, text, wanted) in [
        ("number.mjs", "throw 42;\n", "42"),
        ("text.js", "Promise.reject('why');\n", "unhandled rejection: \"why\""),
        ("nothing.js", "Promise.reject();\n", "unhandled rejection: undefined"),
        ("some.js", "Promise.reject({ code: 7 });\n", "unhandled rejection: "),
        ("object.mjs", "throw { code: 7 };\n", "{code: 7}"),
    ] {
        let file = folder.write(name, text);
        let said = debug.launch(&file, json!({ "stop_on_entry": false }));
        said.has(&["Stopped (exception)", wanted]);
        debug.ok("debug_exception", json!({}));
        debug.go().ended(json!({ "code": 1 }));
    }
}

/// However late, and wherever: what is handled is no stop.
#[test]
fn what_is_handled_does_not_stop() {
    let folder = Folder::default();
    let body = "
const fails = async () => { throw new Error('handled'); };
const rejects = () => Promise.reject(new Error('handled'));
async function main() {
  try { await fails(); } catch {}
  try { await rejects(); } catch {}
  await fails().catch(() => {});
  rejects().catch(() => {});
  new Promise((_, no) => no(new Error('handled'))).catch(() => {});
  await Promise.allSettled([fails(), rejects()]);
  const late = [fails(), rejects()];
  for (const it of late) await it.catch(() => {});
  try { JSON.parse('{'); } catch {}
  try { await import('./broken.mjs'); } catch {}
  try { (() => { throw new Error('handled'); })(); } catch {}
  console.log('all handled');
}
";
    folder.write("broken.mjs", "throw new Error('handled');\n");
    for (name, call) in
        [("main.cjs", "main();"), ("main.mjs", "await main();"), ("async.mjs", "main();")]
    {
        let file = folder.write(name, format!("{body}{call}\n"));
        let mut debug = start();
        let said = debug.launch(&file, json!({ "stop_on_entry": false }));
        said.ended(json!({ "code": 0 })).has(&["all handled"]);
    }
    let listens =
        "process.on('unhandledRejection', (error) => console.log('heard', error.message));
Promise.reject(new Error('it'));
";
    let file = folder.write("listens.mjs", listens);
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false }));
    said.ended(json!({ "code": 0 })).has(&["heard it"]);
}

/// Each look costs a moment, so after many there are no more; the error is told all the same.
#[test]
fn thousands_of_handled_errors_do_not_hold_a_program_up() {
    let folder = Folder::default();
    let text = "let count = 0;
for (let at = 0; at < 20000; at++) {
  try { throw new Error('handled ' + at); } catch { count++; }
}
console.log('handled', count);
throw new TypeError('not handled');
";
    let file = folder.write("many.mjs", text);
    let mut debug = start();
    let said = debug.launch(&file, json!({ "stop_on_entry": false, "timeout_s": 60 }));
    said.stands("exception", 6).has(&["TypeError: not handled", "handled 20000"]);
    debug.fails("debug_variables", json!({})).has(&["has ended", "hint:"]);
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn a_step_over_a_call_that_handles_its_errors_ends_behind_it() {
    let folder = Folder::default();
    let text = "function inner() {
  try {
    JSON.parse('{');
  } catch (problem) {
    return problem.name;
  }
}
const first = inner();
const second = inner();
console.log(first, second);
";
    let file = folder.write("steps.mjs", text);
    let mut debug = start();
    let points = json!([{ "file": file, "line": 8 }]);
    debug.launch(&file, json!({ "stop_on_entry": false, "breakpoints": points }));
    debug.ok("debug_step", json!({})).stands("step", 9);
    debug.ok("debug_step", json!({})).stands("step", 10);
    debug.go().ended(json!({ "code": 0 })).has(&["SyntaxError SyntaxError"]);
}

#[test]
fn an_error_in_a_worker_and_in_a_child_stops() {
    let folder = Folder::default();
    let text = "const { fork } = require('node:child_process');
const { Worker, isMainThread } = require('node:worker_threads');
function fail(order) {
  throw new RangeError('no ' + order);
}
if (!isMainThread || process.argv[2] === 'child') {
  process.argv[2] === 'child' ? fail(7) : Promise.resolve(7).then(fail);
} else if (process.argv[2] === 'fork') {
  fork(__filename, ['child']).on('exit', (code) => console.log('ended', code));
} else {
  new Worker(__filename).on('error', (error) => console.log('ended', error.message));
}
";
    let file = folder.write("family.js", text);
    for (how, wanted, end) in [
        ("worker", "unhandled rejection: RangeError: no 7", "ended no 7"),
        ("fork", "RangeError: no 7", "ended 1"),
    ] {
        let mut debug = start();
        let said = debug.launch(&file, json!({ "stop_on_entry": false, "args": [how] }));
        said.stands("exception", 4).has(&[wanted, "in fail", "thread 2/1"]);
        assert_eq!(debug.eval("order"), "(number) 7");
        debug.go().ended(json!({ "code": 0 })).has(&[end]);
    }
}

#[test]
fn only_errors_of_the_wanted_kind_stop() {
    let folder = Folder::default();
    let file = folder.write("plain.mjs", THROWS);
    let mut debug = start();
    debug.ok("breakpoint_set_exception", json!({ "types": ["RangeError"] }));
    debug.launch(&file, json!({ "stop_on_entry": false })).ended(json!({ "code": 1 }));
    debug.ok("breakpoint_set_exception", json!({ "types": ["TypeError"] }));
    debug.launch(&file, json!({ "stop_on_entry": false })).stands("exception", 3);
}
