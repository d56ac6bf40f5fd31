//! References of C++ and Rust: shown as what they refer to, written through, usable in conditions. By a real
//! lldb-dap.

use std::path::PathBuf;

use holdpoint_testkit::debug::{Debug, line};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A program of one file, in a folder of its own.
struct Program {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Program {
    fn new(name: &str, source: &str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&file, source).unwrap();
        Program { _folder: folder, file }
    }

    /// Launched, and stopped where its source says `mark`.
    fn stopped_at(&self, mark: &str) -> Debug {
        let mut debug = Debug::with_editor(BIN, &[]);
        let place = json!({ "file": self.file, "line": line(&self.file, mark) });
        debug.ok("breakpoint_set", place);
        debug.ok("debug_launch", json!({ "program": self.file, "stop_on_entry": false }));
        debug
    }
}

const CPP: &str = r#"
#include <cstdio>
#include <map>
#include <string>
struct Point { int x; std::string name; };
static void bump(int& n, const double& rate, Point& point, const std::string& text) {
    n += 1;
    std::printf("n %d %.1f %d %s\n", n, rate, point.x, text.c_str()); // BP: bump
}
int main() {
    int a = 4;
    Point point{1, "corner"};
    bump(a, 2.5, point, "word");
    std::map<std::string, int> counts{{"k", 7}};
    for (auto& [key, count] : counts) {
        std::printf("%s\n", key.c_str()); // BP: loop
    }
    std::printf("a %d count %d\n", a, counts["k"]);
}
"#;

#[test]
fn a_reference_of_cpp_is_what_it_refers_to_and_is_written_through() {
    let program = Program::new("refs.cpp", CPP);
    let mut debug = program.stopped_at("bump");
    let locals = debug.ok("debug_variables", json!({})).text;
    for shown in
        ["n: int & = 5", "rate: const double & = 2.5", "text: const std::string & = \"word\""]
    {
        assert!(locals.contains(shown), "`{shown}` in {locals}");
    }
    assert!(locals.contains("point: Point & = {x:1, name:\"corner\"}"), "{locals}");
    let set = debug.ok("debug_set_variable", json!({ "name": "n", "value": "40 + 2" })).text;
    assert!(set.contains("= 42"), "{set}");
    let place = json!({ "file": program.file, "line": line(&program.file, "loop") });
    debug.ok("breakpoint_set", place);
    debug.ok("debug_continue", json!({}));
    assert!(debug.ok("debug_variables", json!({})).text.contains("= 7"));
    debug.ok("debug_set_variable", json!({ "name": "count", "value": "9" }));
    let end = debug.ok("debug_continue", json!({})).text;
    assert!(end.contains("exited with code 0") || end.contains("exit code 0"), "{end}");
    let output = debug.ok("debug_output", json!({})).text;
    assert!(output.contains("n 42") && output.contains("a 42 count 9"), "{output}");
}

#[test]
fn a_function_of_cpp_is_named_without_its_parameters() {
    let program = Program::new("refs.cpp", CPP);
    let mut debug = program.stopped_at("bump");
    let stack = debug.ok("debug_stack", json!({})).text;
    assert!(stack.contains("bump") && !stack.contains("int&"), "{stack}");
}

#[test]
fn a_condition_that_cannot_be_evaluated_says_so_where_it_stops() {
    let program = Program::new("refs.cpp", CPP);
    let mut debug = Debug::with_editor(BIN, &[]);
    let at = line(&program.file, "bump");
    debug.ok(
        "breakpoint_set",
        json!({ "file": program.file, "line": at, "condition": "nosuch == 3" }),
    );
    let launch = json!({ "program": program.file, "stop_on_entry": false });
    let stopped = debug.ok("debug_launch", launch).text;
    let why = "the breakpoint's condition failed: use of undeclared identifier 'nosuch'";
    assert!(stopped.contains(why), "{stopped}");
}

const RUST: &str = r#"
struct Item {
    id: u32,
}

fn bump(n: &mut i32, rate: &f64, item: &Item, maybe: &Option<u32>, letter: &char, id: u32) -> i32 {
    *n += 1;
    println!("{n} {rate} {} {maybe:?} {letter} {id}", item.id); // BP: bump
    *n
}

fn main() {
    let mut n = 4;
    let left = bump(&mut n, &2.5, &Item { id: 7 }, &Some(3), &'x', 9);
    println!("left {left}");
}
"#;

#[test]
fn a_reference_of_rust_is_what_it_refers_to_and_is_written_through() {
    let program = Program::new("refs.rs", RUST);
    let mut debug = program.stopped_at("bump");
    let locals = debug.ok("debug_variables", json!({})).text;
    for shown in ["n: &i32 = 5", "rate: &f64 = 2.5", "= {id:7}", "= Some(3)", "letter: &char = 'x'"]
    {
        assert!(locals.contains(shown), "`{shown}` in {locals}");
    }
    let sum = debug.ok("debug_evaluate", json!({ "expression": "id + 1" })).text;
    assert!(sum.contains("10"), "{sum}");
    debug.ok("debug_set_variable", json!({ "name": "n", "value": "42" }));
    // The line of a macro has several scopes, and is passed once all the same.
    debug.go().ended(json!({ "code": 0 }));
    let output = debug.ok("debug_output", json!({})).text;
    assert!(output.contains("left 42"), "{output}");
}
