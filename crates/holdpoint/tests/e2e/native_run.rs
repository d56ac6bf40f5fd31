//! C, C++ and Rust by a real lldb-dap: where programs stop, what they show, how they end.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use holdpoint_testkit::{
    debug::{Debug, line},
    process::{kill, working_in},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// What an expression comes to, without its type.
#[track_caller]
fn value(debug: &mut Debug, expression: &str) -> String {
    let said = debug.ok("debug_evaluate", json!({ "expression": expression }));
    said.data["value"].as_str().unwrap().to_owned()
}

/// A server whose programs bring their own runtimes.
fn start() -> Debug {
    Debug::with_editor(BIN, &[])
}

/// The fixtures of a language, in a folder that nobody else compiles from.
struct Suite {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Suite {
    fn of(language: &str) -> Suite {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        let from = from.join(language).join("suite").join(".");
        let copied = Command::new("cp").arg("-r").arg(from).arg(&path).status().unwrap();
        assert!(copied.success());
        Suite { _folder: folder, path }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A program of nobody's, which ends with its test.
struct Stray(Child);

impl Stray {
    fn start(command: &mut Command) -> Stray {
        Stray(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Each language with its file, how its failure is told, and how it ends with it.
fn languages() -> [(&'static str, &'static str, &'static str, Value); 3] {
    [
        ("c", "shop.c", "SIGSEGV", json!({ "signal": 11 })),
        ("cpp", "shop.cpp", "std::runtime_error: out of stock", json!({ "signal": 6 })),
        ("rust", "shop.rs", "panic: out of stock: pen", json!({ "code": 101 })),
    ]
}

#[test]
fn a_lone_source_file_is_compiled_stopped_at_its_entry_and_ends_with_its_output() {
    for (language, name, ..) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        let file = suite.file(name);
        let said = debug.launch(&file, json!({ "args": ["sum"] }));
        said.stands("entry", line(&file, "entry")).has(&["in ", "main", "compiled by"]);
        assert_eq!(said.data["session_id"], "s1", "{language}");
        debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "add") }));
        debug.go().stands("breakpoint", line(&file, "add")).has(&["amount = 0", "value = 6"]);
        assert_eq!(value(&mut debug, "amount + value * 2"), "12");
        debug.ok("debug_set_variable", json!({ "name": "amount", "value": "90 + 10" }));
        assert_eq!(value(&mut debug, "amount"), "100");
        debug.ok("debug_step", json!({})).has(&["→ 106"]);
        debug.ok("breakpoint_remove", json!({ "id": 1 }));
        let ended = debug.go();
        ended.ended(json!({ "code": 0 })).has(&["total 125", "warned"]);
        debug.nothing_is_left();
    }
}

#[test]
fn steps_go_into_the_user_s_own_functions_and_stay_in_them() {
    for (language, name, ..) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        let file = suite.file(name);
        let call = line(&file, "call");
        debug.ok("breakpoint_set", json!({ "file": file, "line": call }));
        debug.launch(&file, json!({ "args": ["sum"], "stop_on_entry": false }));
        let inside = debug.ok("debug_step", json!({ "action": "step_in" }));
        inside.stands("step", line(&file, "total")).has(&["line_total"]);
        let order = debug.ok("debug_variables", json!({ "path": "order.item.price" }));
        order.has(&["2"]);
        debug.ok("debug_variables", json!({ "path": "order.item.name" })).has(&["pen"]);
        debug.ok("debug_stack", json!({})).has(&["line_total", "process", "main"]);
        let out = debug.ok("debug_step", json!({ "action": "step_out" }));
        assert!(
            [call, call + 1].map(|it| json!(it)).contains(&out.data["stop"]["line"]),
            "{out:?}"
        );
        debug.ok("breakpoint_remove", json!({ "id": 1 }));
        // From the last line of `main` there is only the end.
        let mut said = debug.ok("debug_step", json!({ "action": "step_out" }));
        for _ in 0..40 {
            if said.data["state"] == "ended" {
                break;
            }
            assert!(said.data["stop"]["file"].as_str().unwrap().ends_with(name), "{said:?}");
            said = debug.ok("debug_step", json!({}));
        }
        said.ended(json!({ "code": 0 }));
    }
}

#[test]
fn what_ends_a_program_is_told_where_the_user_s_code_did_it() {
    for (language, name, failure, exit) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        let file = suite.file(name);
        let said = debug.launch(&file, json!({ "args": ["fail"], "stop_on_entry": false }));
        said.stands("exception", line(&file, "fail")).has(&[failure, "reserve"]);
        debug.ok("debug_exception", json!({})).has(&["reserve"]);
        debug.go().ended(exit);
        debug.nothing_is_left();
    }
}

#[test]
fn an_exit_code_is_the_program_s_own() {
    for (language, name, ..) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        let said =
            debug.launch(&suite.file(name), json!({ "args": ["exit"], "stop_on_entry": false }));
        said.ended(json!({ "code": 7 }));
    }
}

#[test]
fn stdin_is_the_program_s_own_pipe() {
    for (language, name, ..) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        debug.launch(&suite.file(name), json!({ "args": ["ask"] }));
        debug.ok("debug_input", json!({ "text": "Ada\n" }));
        debug.go().ended(json!({ "code": 0 })).has(&["name?", "hello Ada"]);
    }
}

#[test]
fn conditions_hit_counts_and_tracepoints_hold() {
    for (language, name, ..) in languages() {
        let (suite, mut debug) = (Suite::of(language), start());
        let file = suite.file(name);
        let at = line(&file, "add");
        debug.ok("breakpoint_set", json!({ "file": file, "line": at, "condition": "index == 2" }));
        let said = debug.launch(&file, json!({ "args": ["sum"], "stop_on_entry": false }));
        said.stands("breakpoint", at).has(&["value = 14"]);
        debug.ok("debug_stop", json!({}));
        debug.ok("breakpoint_set", json!({ "file": file, "line": at, "hit_condition": "2" }));
        let said = debug.launch(&file, json!({ "args": ["sum"], "stop_on_entry": false }));
        said.stands("breakpoint", at).has(&["value = 5"]);
        debug.ok("debug_stop", json!({}));
        debug.ok("breakpoint_remove", json!({ "file": file, "line": at }));
        let traced = json!({ "file": file, "line": line(&file, "trace"), "log_message": "at {i}" });
        debug.ok("tracepoint_set", traced);
        let said = debug.launch(&file, json!({ "args": ["trace", "50"], "stop_on_entry": false }));
        said.ended(json!({ "code": 0 })).has(&["traced 50", "50"]);
        debug.nothing_is_left();
    }
}

#[test]
fn what_is_evaluated_never_becomes_a_command_and_never_hangs() {
    let (suite, mut debug) = (Suite::of("c"), start());
    let text = "int forever(int n) {\n  for (;;) n++;\n  return n;\n}\nint main(void) {\n  int a = 1;\n  return a;\n}\n";
    let file = suite.file("endless.c");
    std::fs::write(&file, text).unwrap();
    debug.launch(&file, json!({}));
    let told = debug.fails("debug_evaluate", json!({ "expression": "`platform shell touch made" }));
    told.has(&["commands of lldb are not run"]);
    debug.fails("debug_evaluate", json!({ "expression": "platform shell touch made" }));
    debug.fails("debug_evaluate", json!({ "expression": "no_such_name" })).has(&["no_such_name"]);
    assert!(!suite.file("made").exists());
    debug.fails("debug_evaluate", json!({ "expression": "forever(1)" })).has(&["broken off"]);
    debug.go().ended(json!({ "code": 1 }));
    debug.nothing_is_left();
}

#[test]
fn what_does_not_compile_is_told_in_the_compiler_s_words() {
    let (suite, mut debug) = (Suite::of("c"), start());
    let file = suite.file("wrong.c");
    std::fs::write(&file, "int main(void) { return nothing; }\n").unwrap();
    let told = debug.fails("debug_launch", json!({ "program": file }));
    told.has(&["`cc` failed", "nothing", "wrong.c:1"]);
    let test = json!({ "test": "test_shop.c::test_total", "cwd": suite.path });
    debug.fails("debug_launch", test).has(&["no runner of tests"]);
}

#[test]
fn a_test_of_a_package_runs_alone_and_begins_with_its_own_first_line() {
    let (suite, mut debug) = (Suite::of("rust"), start());
    let file = suite.file("tested/src/lib.rs");
    let test = json!({ "test": "tested/src/lib.rs::tests::test_total", "cwd": suite.path, "timeout_s": 120 });
    let said = debug.ok("debug_launch", test);
    said.stands("entry", line(&file, "test") - 1).has(&["test_total"]);
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "test") }));
    debug.go().stands("breakpoint", line(&file, "test")).has(&["total = 6"]);
    let ended = debug.go();
    ended.ended(json!({ "code": 0 })).has(&["1 passed"]);
    assert!(!ended.text.contains("other ran"));
    let none = json!({ "test": "tested/src/lib.rs::nothing", "cwd": suite.path, "timeout_s": 120 });
    debug.fails("debug_launch", none).has(&["no test `nothing`", "tests::test_total"]);
}

#[test]
fn a_program_of_make_is_built_and_debugged() {
    let (suite, mut debug) = (Suite::of("c"), start());
    std::fs::write(suite.file("Makefile"), "shop: shop.c\n\tcc -g -O0 -o shop shop.c -pthread\n")
        .unwrap();
    let make = json!({ "command": "make shop", "args": ["exit"], "cwd": suite.path });
    let said = debug.ok("debug_launch", make);
    said.stands("entry", line(&suite.file("shop.c"), "entry")).has(&["built by `make`"]);
    debug.go().ended(json!({ "code": 7 }));
}

#[test]
fn a_program_that_runs_is_taken_looked_at_and_let_go() {
    let (suite, mut debug) = (Suite::of("c"), start());
    let (source, program) = (suite.file("loop.c"), suite.file("loop"));
    let built = Command::new("cc").args(["-g", "-O0", "-o"]).arg(&program).arg(&source).status();
    assert!(built.unwrap().success());
    let mut running = Stray::start(Command::new(&program).arg("never").current_dir(&suite.path));
    debug.ok("debug_attach", json!({ "pid": running.0.id() })).has(&["Attached", "loop, c"]);
    debug.ok("breakpoint_set", json!({ "file": source, "line": line(&source, "tick") }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", line(&source, "tick"));
    let n: i64 = value(&mut debug, "n").parse().unwrap();
    assert!(n > 0);
    debug.ok("debug_stop", json!({})).has(&["runs on"]);
    let length = || std::fs::metadata(suite.file("log-0")).unwrap().len();
    let before = length();
    until("it writes on", || (length() > before + 10).then_some(()));
    assert!(running.0.try_wait().unwrap().is_none());
    // A server that is killed leaves no breakpoint in it.
    debug.ok("debug_attach", json!({ "pid": running.0.id() }));
    debug.restart_server(BIN);
    let before = length();
    until("it writes on", || (length() > before + 10).then_some(()));
    assert!(running.0.try_wait().unwrap().is_none());
}

/// lldb says of it that it stands, whatever became of it.
#[test]
fn one_that_is_killed_while_it_stands_is_gone() {
    let (suite, mut debug) = (Suite::of("c"), start());
    let (source, program) = (suite.file("loop.c"), suite.file("loop"));
    let built = Command::new("cc").args(["-g", "-O0", "-o"]).arg(&program).arg(&source).status();
    assert!(built.unwrap().success());
    let mut running = Stray::start(Command::new(&program).arg("never").current_dir(&suite.path));
    debug.ok("debug_attach", json!({ "pid": running.0.id() }));
    debug.ok("breakpoint_set", json!({ "file": source, "line": line(&source, "tick") }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", line(&source, "tick"));
    running.0.kill().unwrap();
    until("its end", || {
        let said = debug.ok("debug_status", json!({}));
        said.text.contains("ended").then_some(())
    });
}

/// The same of one that we started, which its debugger takes away.
#[test]
fn one_of_ours_that_is_killed_while_it_stands_is_gone() {
    let (suite, mut debug) = (Suite::of("cpp"), start());
    debug.launch(&suite.file("loop.cpp"), json!({ "args": ["never"], "cwd": suite.path }));
    kill(working_in(&suite.path, "loop").unwrap());
    let said = until("its end", || {
        let said = debug.ok("debug_wait", json!({ "timeout_s": 1 }));
        (said.data["state"] == "ended").then_some(said)
    });
    let exit = &said.data["exit"];
    assert!(*exit == json!({}) || *exit == json!({ "signal": 9 }), "{said:?}");
    debug.nothing_is_left();
}

#[test]
fn a_pause_is_one_and_no_kill_leaves_anything() {
    for (language, name) in [("c", "loop.c"), ("rust", "loop.rs")] {
        let (suite, mut debug) = (Suite::of(language), start());
        debug.launch(&suite.file(name), json!({ "args": ["never"], "cwd": suite.path }));
        debug.ok("debug_continue", json!({ "timeout_s": 0.3 }));
        let said = debug.ok("debug_pause", json!({}));
        assert_eq!(said.data["stop"]["reason"], "pause", "{said:?}");
        debug.restart_server(BIN);
        debug.launch(&suite.file(name), json!({ "args": ["never"], "cwd": suite.path }));
        debug.ok("debug_stop", json!({}));
        debug.nothing_is_left();
    }
}

#[test]
fn values_of_rust_are_shown_as_they_are() {
    let (suite, mut debug) = (Suite::of("rust"), start());
    let file = suite.file("values.rs");
    let text = r#"use std::collections::{BTreeMap, HashMap};
#[allow(dead_code)]
enum Kind { Empty, One(i32), Named { id: u8, label: String } }
fn main() {
    let names = vec![String::from("pen"), String::from("book")];
    let map: HashMap<String, i32> = [("one".to_string(), 1)].into();
    let tree: BTreeMap<i32, &str> = [(1, "x"), (2, "y")].into();
    let some = Some(3);
    let none: Option<String> = None;
    let empty = Some(String::new());
    let kinds = [Kind::Empty, Kind::One(4), Kind::Named { id: 7, label: String::new() }];
    let shared = std::rc::Rc::new(String::from("held"));
    let (lent, lent_map) = (&names, &map);
    let letter = 'x';
    drop((&names, &map, &tree, &some, &none, &empty, &kinds, &shared, lent, lent_map, letter)); // BP: here
}
"#;
    std::fs::write(&file, text).unwrap();
    let here = line(&file, "here");
    debug.ok("breakpoint_set", json!({ "file": file, "line": here }));
    debug.launch(&file, json!({ "stop_on_entry": false })).stands("breakpoint", here);
    debug.ok("debug_variables", json!({})).has(&[
        r#"names: Vec<String> = ["pen", "book"]"#,
        r#"{"one": 1}"#,
        r#"{1: "x", 2: "y"}"#,
        "some: Option<i32> = Some(3)",
        "none: Option<String> = None",
        r#"empty: Option<String> = Some("")"#,
        r#"= "held""#,
        "letter: char = 'x'",
    ]);
    // Behind references the same, and not nothing.
    assert!(value(&mut debug, "lent").ends_with(r#"["pen", "book"]"#));
    assert!(value(&mut debug, "lent_map").ends_with(r#"{"one": 1}"#));
    debug.ok("debug_variables", json!({ "path": "kinds" })).has(&[
        "Empty",
        "One(4)",
        r#"Named {id: 7, label: ""}"#,
    ]);
    debug.ok("debug_variables", json!({ "path": "names[1]" })).has(&["book"]);
    assert_eq!(value(&mut debug, "names[0]"), r#""pen""#);
}

#[test]
fn values_of_cpp_are_shown_with_their_parts() {
    let (suite, mut debug) = (Suite::of("cpp"), start());
    let file = suite.file("values.cpp");
    let text = r#"#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
struct Item { std::string name; double price; };
int main() {
    std::vector<Item> items = {{"pen", 2}, {"book", 5}};
    std::map<std::string, int> stock = {{"pen", 3}};
    std::unordered_map<int, std::string> names = {{1, "one"}};
    std::optional<int> maybe = 3, nothing;
    std::vector<int> many(100, 7);
    return (int)items.size(); // BP: here
}
"#;
    std::fs::write(&file, text).unwrap();
    let here = line(&file, "here");
    debug.ok("breakpoint_set", json!({ "file": file, "line": here }));
    debug.launch(&file, json!({ "stop_on_entry": false })).stands("breakpoint", here);
    debug.ok("debug_variables", json!({})).has(&[
        r#"[{name: "pen", price: 2}, {name: "book", price: 5}]"#,
        r#"{"pen": 3}"#,
        r#"{1: "one"}"#,
        "maybe: std::optional<int> = 3",
        "nothing: std::optional<int> = nullopt",
        "… 92 more",
    ]);
    debug.ok("debug_variables", json!({ "path": "items[1].name" })).has(&["book"]);
}

#[test]
fn what_the_compiler_took_away_says_so() {
    let (suite, mut debug) = (Suite::of("c"), start());
    let file = suite.file("fast.c");
    let text = "#include <stdio.h>\nint main(int argc, char **argv) {\n  int gone = argc * 3;\n  \
                printf(\"%d\\n\", gone);\n  puts(\"here\"); // BP: here\n  return 0;\n}\n";
    std::fs::write(&file, text).unwrap();
    let program = suite.file("fast");
    let built = Command::new("cc").args(["-g", "-O2", "-o"]).arg(&program).arg(&file).status();
    assert!(built.unwrap().success());
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "here") }));
    debug.launch(&program, json!({ "stop_on_entry": false }));
    debug.ok("debug_variables", json!({})).has(&["gone", "optimized away"]);
}
