//! Defects seen in debuggers for agents (`docs/peer-defects.md`), that ours does not have them: Node.

use std::{path::PathBuf, process::Command};

use holdpoint_testkit::{
    debug::{Debug, Said, python},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A server, and a folder with programs.
struct Desk {
    debug: Debug,
    folder: tempfile::TempDir,
}

impl Desk {
    fn with(files: &[(&str, &str)]) -> Desk {
        let desk =
            Desk { debug: python(BIN, FOLDER).start(), folder: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            let path = desk.root().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        desk
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Launches `main.js`.
    #[track_caller]
    fn launch(&mut self, more: Value) -> Said {
        let mut arguments = json!({ "program": "main.js", "cwd": self.root() });
        if let (Value::Object(arguments), Value::Object(more)) = (&mut arguments, more) {
            arguments.extend(more);
        }
        self.debug.ok("debug_launch", arguments)
    }

    /// Launches `main.js` and runs to a line of a file.
    #[track_caller]
    fn run_to(&mut self, file: &str, line: usize) -> Said {
        let point = json!([{ "file": file, "line": line }]);
        let said = self.launch(json!({ "breakpoints": point, "stop_on_entry": false }));
        said.stands("breakpoint", line);
        said
    }

    #[track_caller]
    fn step(&mut self, action: &str) -> Said {
        self.debug.ok("debug_step", json!({ "action": action }))
    }
}

#[test]
fn at_the_entry_one_can_look_evaluate_and_step() {
    let mut desk = Desk::with(&[("main.js", "const a = 1;\nconst b = a + 1;\nconsole.log(b);\n")]);
    desk.launch(json!({})).stands("entry", 1);
    desk.debug.ok("debug_stack", json!({})).has(&["#0   <module>", "main.js:1"]);
    // What Node puts into every module is nobody's variable.
    let variables = desk.debug.ok("debug_variables", json!({}));
    assert!(!variables.text.contains("__filename"), "{}", variables.text);
    assert_eq!(desk.debug.eval("40 + 2"), "(number) 42");
    desk.step("next").stands("step", 2).has(&["a = <not assigned yet> → 1"]);
}

const CATCHES: &str = "\
function f(n) {
  try {
    if (n) { const inner = n * 2; throw new Error('two\\nlines'); }
  } catch (error) {
    const caught = error.message;
    const fn = function named(a) {
      return a;
    };
    const text = 'a\\nb';
    console.log(caught);
  }
}
f(3);
";

#[test]
fn variables_of_every_scope_are_one_line_each() {
    let mut desk = Desk::with(&[("main.js", CATCHES)]);
    desk.run_to("main.js", 10);
    let said = desk.debug.ok("debug_variables", json!({}));
    said.has(&[r#"caught: string = "two\nlines""#, "fn = function named(a)"]);
    said.has(&[r#"text: string = "a\nb""#, "error = Error: two⏎lines", "n: number = 3"]);
    assert_eq!(said.text.lines().count(), 5, "{}", said.text);
    assert_eq!(said.data["more"], 0);
}

#[test]
fn closures_and_this_are_shown() {
    let main = "\
function counter(step) {
  let total = 0;
  return {
    name: 'visits',
    add(times) {
      total += step * times;
      return total;
    },
  };
}
counter(3).add(2);
";
    let mut desk = Desk::with(&[("main.js", main)]);
    desk.run_to("main.js", 7);
    let locals = desk.debug.ok("debug_variables", json!({}));
    locals.has(&["times: number = 2", r#"name: "visits""#]);
    let closure = desk.debug.ok("debug_variables", json!({ "scope": "closure" }));
    closure.has(&["total: number = 6", "step: number = 3"]);
}

#[test]
fn values_are_spelt_as_javascript_does() {
    let mut desk = Desk::with(&[("main.js", "const a = 1;\n")]);
    desk.launch(json!({}));
    for (expression, text) in [
        ("null", "null"),
        ("undefined", "undefined"),
        ("true", "(boolean) true"),
        ("[1, 'x', null]", r#"Array(3) [1, "x", null]"#),
        ("({a: {b: 1}, c: undefined})", "(Object) {a: Object, c: undefined}"),
        ("new Map([[1, true]])", "Map(1) {1 => true}"),
        ("Promise.resolve(3)", "Promise {<fulfilled>: 3}"),
    ] {
        let said = desk.debug.eval(expression);
        assert!(said == text || said.replace("{…}", "Object") == text, "{expression}: {said}");
    }
    let awaits = json!({ "expression": "await Promise.resolve(3)" });
    let said = desk.debug.fails("debug_evaluate", awaits);
    said.has(&["[E_EVALUATE_FAILED]", "await", "hint:"]);
    let throws = json!({ "expression": "nope.x" });
    let said = desk.debug.fails("debug_evaluate", throws);
    said.has(&["ReferenceError: nope is not defined"]);
}

#[test]
fn files_of_one_name_are_told_apart() {
    let module = "exports.f = function f(other) {\n  return other ? other() : 1;\n};\n";
    let main = "const a = require('./a'), b = require('./b');\na.f(() => b.f());\n";
    let mut desk = Desk::with(&[("main.js", main), ("a/index.js", module), ("b/index.js", module)]);
    desk.run_to("b/index.js", 2).has(&["at b/index.js:2 in "]);
    desk.debug.ok("debug_stack", json!({})).has(&["(b/index.js:2)", "(a/index.js:2)", "main.js:2"]);
}

#[test]
fn a_running_and_an_ended_program_have_no_stack() {
    let mut desk = Desk::with(&[(
        "main.js",
        "process.stdin.once('data', () => {\n  process.stdin.destroy();\n});\nconsole.log('waits');\n",
    )]);
    desk.launch(json!({})).stands("entry", 1);
    let running = desk.debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    assert_eq!(running.data["state"], "running");
    let tools = ["debug_stack", "debug_variables", "debug_step", "debug_continue"];
    for tool in tools {
        desk.debug.fails(tool, json!({})).has(&["[E_NOT_STOPPED]", "hint:"]);
    }
    desk.debug.ok("debug_input", json!({ "text": "go\n" }));
    desk.debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
    for tool in tools {
        desk.debug.fails(tool, json!({})).has(&["[E_SESSION_ENDED]", "exit code 0", "hint:"]);
    }
}

#[test]
fn a_stop_after_the_deadline_is_not_lost() {
    let mut desk = Desk::with(&[(
        "main.js",
        "process.stdin.once('data', () => {\n  const late = 1;\n  process.stdin.destroy();\n});\n",
    )]);
    desk.launch(json!({ "breakpoints": [{ "file": "main.js", "line": 3 }] })).stands("entry", 1);
    let running = desk.debug.ok("debug_continue", json!({ "timeout_s": 0.05 }));
    running.has(&["Running · s1", "debug_wait"]);
    // It stops while nobody waits.
    desk.debug.ok("debug_input", json!({ "text": "go\n" }));
    until("the stop", || {
        desk.debug.ok("debug_status", json!({})).text.contains("stopped").then_some(())
    });
    desk.debug.ok("debug_wait", json!({})).stands("breakpoint", 3).has(&["late = 1"]);
    desk.debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn output_is_the_text_that_was_written() {
    let mut desk = Desk::with(&[(
        "main.js",
        "process.stdout.write('no newline');\nprocess.stdout.write(' here\\n');\nconsole.log('%s is %d', 'x', 4, { a: [1] });\n",
    )]);
    desk.run_to("main.js", 3).has(&["--- Program output ---\nno newline here"]);
    desk.debug.go().ended(json!({ "code": 0 }));
    let read = desk.debug.ok("debug_output", json!({}));
    assert_eq!(read.data["output"], "no newline here\nx is 4 { a: [ 1 ] }\n");
}

#[test]
fn a_step_in_a_minified_file_says_where_it_went() {
    let code = "function f(x){var y=x+1;var z=y*2;return z}var r=f(1);console.log(r);";
    let pad: String = (0..1_500).map(|n| format!("var v{n}={n};")).collect();
    let mut desk = Desk::with(&[("main.js", &format!("{pad}{code}{pad}\n"))]);
    let column = pad.len() + code.find("var z").unwrap() + 1;
    let point = json!([{ "file": "main.js", "line": 1, "column": column }]);
    // It stands at its entry, which is not where the breakpoint is.
    let entry = desk.launch(json!({ "breakpoints": point }));
    entry.stands("entry", 1).has(&["Stopped (entry) at main.js:1 in <module>"]);
    assert_eq!(entry.data["stop"]["breakpoint_ids"], json!([]));
    let first = desk.debug.go();
    first.stands("breakpoint", 1).has(&["main.js:1:", " in f", "var z=y▸*2", "y = 2"]);
    let second = desk.step("next");
    second.has(&["main.js:1:", " in f", "return z▸}", "z = undefined → 4"]);
    assert_ne!(first.data["stop"]["column"], second.data["stop"]["column"]);
    for said in [&entry, &first, &second] {
        assert!(said.text.len() < 600, "{} bytes: {}", said.text.len(), said.text);
    }
    let caller = format!("(main.js:1:{})", pad.len() + code.find("f(1)").unwrap() + 1);
    desk.debug.ok("debug_stack", json!({})).has(&["#0   f", &caller]);
}

#[test]
fn steps_stay_in_the_users_code() {
    let library =
        "module.exports = function each(f) {\n  const inside = 1;\n  return f(inside);\n};\n";
    let main = "\
const each = require('each');
function mine(v) {
  return v + 1;
}
const got = each(mine);
console.log(got);
";
    let mut desk = Desk::with(&[("main.js", main), ("node_modules/each/index.js", library)]);
    desk.run_to("main.js", 5);
    // Into the library and through it: what is the user's is stepped into.
    desk.step("step_in").stands("step", 3).has(&["in mine", "v = 1"]);
    desk.step("step_out").stands("step", 6);
    // Into what Node itself does, and off the end of the program.
    desk.step("step_in").has(&["main.js:6"]);
    for _ in 0..5 {
        let said = desk.step("next");
        assert!(!said.text.contains("node:"), "{}", said.text);
        if said.data["state"] == "ended" {
            said.ended(json!({ "code": 0 })).has(&["exit code 0"]);
            return;
        }
    }
    panic!("five steps do not end it");
}

#[test]
fn a_breakpoint_in_a_library_is_hit() {
    let library =
        "module.exports = function each(f) {\n  const inside = 1;\n  return f(inside);\n};\n";
    let main = "require('each')((v) => v);\n";
    let mut desk = Desk::with(&[("main.js", main), ("node_modules/each/index.js", library)]);
    desk.run_to("node_modules/each/index.js", 3).has(&["inside = 1"]);
}

#[test]
fn a_collected_context_is_not_the_end() {
    let main = "\
const vm = require('node:vm');
for (let i = 0; i < 50; i++) vm.runInContext('1 + 1', vm.createContext({}));
setImmediate(() => {
  gc();
  setTimeout(() => {
    const late = 'still here';
    console.log(late);
  }, 1);
});
";
    let mut desk = Desk::with(&[("main.js", main)]);
    let launch = json!({
        "command": "node --expose-gc main.js", "cwd": desk.root(), "stop_on_entry": false,
        "breakpoints": [{ "file": "main.js", "line": 7 }],
    });
    desk.debug.ok("debug_launch", launch).stands("breakpoint", 7).has(&[r#"late = "still here""#]);
    desk.debug.go().ended(json!({ "code": 0 })).has(&["still here"]);
}

#[test]
fn a_probe_shows_where_it_stopped_or_that_it_never_did() {
    let main = "\
function check(n) {
  if (n > 9) {
    throw new Error('Error');
  }

  return n;
}
console.log('done (really)', check(1));
";
    let mut desk = Desk::with(&[("main.js", main)]);
    let probe = |line: usize| json!({ "program": "main.js", "cwd": desk.root(), "file": "main.js", "line": line });
    let (blank, never) = (probe(5), probe(3));
    // The line without code becomes the next that has some.
    let said = desk.debug.ok("debug_probe", blank);
    said.has(&["hit 1 · main.js:6 in check (line 5 has no code): return n;", "n: number = 1"]);
    let said = desk.debug.ok("debug_probe", never);
    said.has(&["never reached", "exit code 0", "done (really) 1"]);
    assert!(!said.text.contains("hit 1"), "{}", said.text);
    desk.debug.nothing_is_left();
}

#[test]
fn a_program_killed_from_outside_is_told_at_once() {
    let mut desk = Desk::with(&[("main.js", "const a = 1;\nsetInterval(() => {}, 1000);\n")]);
    desk.launch(json!({})).stands("entry", 1);
    let pid = desk.debug.eval("process.pid").replace("(number) ", "");
    kill(&pid);
    desk.debug.ok("debug_wait", json!({ "after_epoch": 99 })).ended(json!({ "signal": 9 }));
    desk.debug.fails("debug_stack", json!({})).has(&["[E_SESSION_ENDED]", "signal 9 (SIGKILL)"]);
    // While it runs, and somebody waits.
    desk.launch(json!({})).stands("entry", 1);
    let pid = desk.debug.eval("process.pid").replace("(number) ", "");
    let waits = desk.debug.ask("debug_continue", json!({ "timeout_s": 60 }));
    kill(&pid);
    desk.debug.answer(waits).ended(json!({ "signal": 9 }));
    desk.debug.nothing_is_left();
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

/// A program with a child of its own: all of it ends, whoever ends it.
const FAMILY: &str = "\
require('node:child_process').spawn('sleep', ['1000'], { detached: true }).unref();
console.log('family is there');
setInterval(() => {}, 1000);
";

fn with_family() -> Desk {
    let mut desk = Desk::with(&[("main.js", FAMILY)]);
    desk.launch(json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
    desk.debug.wrote("family is there");
    // The guard, the program and its child.
    until("the family", || (desk.debug.children().len() == 3).then_some(()));
    desk
}

#[test]
fn stopping_ends_the_whole_family() {
    let mut desk = with_family();
    desk.debug.ok("debug_stop", json!({})).has(&["Debug session s1 ended."]);
    assert_eq!(desk.debug.children(), Vec::<String>::new());
}

#[test]
fn a_killed_server_leaves_nothing() {
    let mut desk = with_family();
    desk.debug.rpc.process.signal("KILL");
    desk.debug.rpc.process.end();
    desk.debug.nothing_is_left();
}
