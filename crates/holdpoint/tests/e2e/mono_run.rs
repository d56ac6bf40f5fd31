//! C# by Mono's own debugger agent: what the suite does not ask, each through the binary as it ships.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, line},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    Debug::with_editor(BIN, &[])
}

fn zoo() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mono");
    folder.canonicalize().unwrap().join("zoo.cs")
}

/// Launches the program so that it stops at that mark.
#[track_caller]
fn at(debug: &mut Debug, mark: &str, args: Value) {
    let (file, at) = (zoo(), line(&zoo(), mark));
    let points = json!([{ "file": file, "line": at }]);
    let more = json!({ "args": args, "stop_on_entry": false, "breakpoints": points });
    debug.launch(&file, more).stands("breakpoint", at);
}

#[test]
fn values_are_readable_and_nothing_of_the_program_runs_for_it() {
    let mut debug = start();
    at(&mut debug, "values", json!(["values"]));
    debug.ok("debug_variables", json!({ "count": 50 })).has(&[
        r#"rex: Dog = Dog {Tricks = List<string>(2), Name = "Rex", age = 3}"#,
        r#"prices: Dictionary<string, int> = Dictionary<string, int>(2) {["three"] = 3, ["two"] = 2}"#,
        "place: Point = Point {X = 3, Y = 4}",
        "color: Color = Color.Blue",
        "boxed: int = 42",
        "maybe: int? = 5",
        "none: int? = null",
        "money: decimal = 12.50",
        "when: DateTime = 2020-01-02 03:04:05",
        "letter: char = 'x'",
        "missing: string = null",
        "captured: int = 7",
    ]);
    debug.ok("debug_variables", json!({ "path": "rex.Tricks" })).has(&[r#"[1]: string = "roll""#]);
    debug.ok("debug_variables", json!({ "path": "prices" })).has(&[r#"["three"]: int = 3"#]);
    debug.ok("debug_variables", json!({ "path": "many" })).has(&["4970 more"]);
    // The program returns how often `ToString` was called.
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn expressions_are_read_calculated_and_called() {
    let mut debug = start();
    at(&mut debug, "values", json!(["values"]));
    for (expression, value) in [
        ("rex.Tricks[1] + \"!\"", "(string) \"roll!\""),
        ("rex.Tricks.Count * 2", "(int) 4"),
        ("prices[\"two\"] + place.Y", "(int) 6"),
        ("color == Color.Blue && maybe > 4", "(bool) true"),
        ("(int)boxed + grid[1, 0]", "(int) 45"),
        ("missing ?? rex.Name", "(string) \"Rex\""),
        ("rex.Twice + rex.Legs()", "(int) 10"),
        ("rex is Animal ? 1 : 2", "(int) 1"),
        ("Math.Max(3, place.X * 5)", "(int) 15"),
        ("new Point(8, 9).Y", "(int) 9"),
        ("Dog.told", "(int) 0"),
        ("captured = 30", "(int) 30"),
        ("rex.Name = \"Max\"", "(string) \"Max\""),
    ] {
        assert_eq!(debug.eval(expression), value, "{expression}");
    }
    for (expression, why) in [
        ("missing.Length", "NullReferenceException"),
        ("rex.Bad()", "ArgumentException: no"),
        ("rex.nothing", "UnknownName: `Dog` has no `nothing`"),
        ("place +", "SyntaxError"),
        ("prices[\"one\"]", "KeyNotFoundException"),
    ] {
        debug.fails("debug_evaluate", json!({ "expression": expression })).has(&[why]);
    }
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_call_without_end_is_broken_off_and_the_program_goes_on() {
    let mut debug = start();
    at(&mut debug, "values", json!(["values"]));
    let spin = json!({ "expression": "rex.Spin()", "timeout_s": 1 });
    debug.fails("debug_evaluate", spin).has(&["was interrupted"]);
    assert_eq!(debug.eval("captured + 1"), "(int) 8");
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_lambda_shows_what_it_has_taken() {
    let mut debug = start();
    at(&mut debug, "lambda", json!(["values"]));
    debug.ok("debug_variables", json!({})).has(&["added: int = 1", "captured: int = 7"]);
    debug.ok("debug_stack", json!({})).has(&["Zoo.Values"]);
}

#[test]
fn exceptions_stop_where_they_are_thrown_and_those_of_the_library_alone_do_not() {
    let mut debug = start();
    debug.ok("breakpoint_set_exception", json!({ "caught": true, "uncaught": true }));
    let file = zoo();
    let more = json!({ "args": ["catch"], "stop_on_entry": false });
    debug
        .launch(&file, more)
        .stands("exception", line(&file, "caught"))
        .has(&["InvalidOperationException", "caught by us"]);
    // Thrown inside of the library, caught by nobody.
    debug.go().stands("exception", line(&file, "parse")).has(&["FormatException"]);
    debug.go().ended(json!({ "code": 1 }));
}

#[test]
fn a_function_is_stopped_at_by_its_name() {
    let mut debug = start();
    debug.ok("breakpoint_set", json!({ "function": "Zoo.Throw" }));
    let file = zoo();
    let more = json!({ "args": ["catch"], "stop_on_entry": false });
    debug.launch(&file, more).stands("breakpoint", line(&file, "caught"));
}

#[test]
fn a_running_program_is_paused_and_ended() {
    let mut debug = start();
    let file = zoo();
    let more = json!({ "args": ["spin"], "stop_on_entry": false, "timeout_s": 8 });
    debug.launch(&file, more);
    debug.wrote("spinning");
    let said = debug.ok("debug_pause", json!({}));
    assert_eq!(said.data["stop"]["reason"], "pause");
    said.has(&["in Zoo.Main"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn what_does_not_compile_says_where() {
    let mut debug = start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.cs");
    std::fs::write(&file, "class Broken {\n    static void Main() { int x = ; }\n}\n").unwrap();
    debug
        .fails("debug_launch", json!({ "program": file }))
        .has(&["does not compile", "broken.cs:2: CS1525"]);
}

#[test]
fn a_library_of_dotnet_waits_for_netcoredbg() {
    let mut debug = start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.dll");
    std::fs::write(&file, "").unwrap();
    if std::process::Command::new("netcoredbg").arg("--version").output().is_ok() {
        return;
    }
    debug
        .fails("debug_launch", json!({ "program": file }))
        .has(&["`netcoredbg` is not here", "no package has it"]);
}

#[test]
fn a_server_that_is_killed_leaves_no_program() {
    let mut debug = start();
    let file = zoo();
    let more = json!({ "args": ["spin"], "stop_on_entry": false, "timeout_s": 8 });
    debug.launch(&file, more);
    debug.replace_server(BIN, "KILL");
    until("the program is gone", || debug.children().is_empty().then_some(()));
}
