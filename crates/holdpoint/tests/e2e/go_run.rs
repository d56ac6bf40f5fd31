//! Go by delve: programs that are built first, where they stop, how they go on, how they end.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, line},
    process::{kill, working_in},
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A copy of the shop, in a folder of its own.
struct Shop {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Shop {
    fn new() -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/go/suite");
        std::fs::create_dir(root.join("loop")).unwrap();
        for name in ["go.mod", "shop.go", "shop_test.go", "loop/loop.go"] {
            std::fs::copy(from.join(name), root.join(name)).unwrap();
        }
        Shop { _folder: folder, root }
    }

    fn file(&self) -> PathBuf {
        self.root.join("shop.go")
    }

    fn line(&self, mark: &str) -> usize {
        line(&self.file(), mark)
    }
}

fn start() -> Debug {
    Debug::with_editor(BIN, &[])
}

#[test]
fn a_program_is_built_stands_at_its_main_and_ends_with_its_exit_code() {
    let (mut debug, shop) = (start(), Shop::new());
    let said = debug.launch(&shop.file(), json!({ "args": ["sum"] }));
    said.stands("entry", shop.line("entry")).has(&["main.main", "delve "]);
    let (add, never) = (shop.line("add"), shop.line("never"));
    debug.ok("breakpoint_set", json!({ "file": shop.file(), "line": add })).has(&["verified"]);
    debug.ok("breakpoint_set", json!({ "file": shop.file(), "line": never }));
    debug.go().stands("breakpoint", add).has(&["in main.process", "value"]);
    assert!(debug.eval("amount + value * 2").contains("12"));
    debug.ok("debug_variables", json!({ "path": "order.item.name" })).has(&["pen"]);
    debug.ok("debug_set_variable", json!({ "name": "value", "value": "100" })).has(&["100"]);
    debug.ok("debug_stack", json!({})).has(&["main.process", "main.main"]);
    let said = debug.fails("debug_evaluate", json!({ "expression": "no_such_name" }));
    said.has(&["could not find symbol"]);
    let said = debug.fails("debug_evaluate", json!({ "expression": "lineTotal(order)" }));
    said.has(&["`call f(x)` calls a function"]);
    assert!(debug.eval("call lineTotal(order)").contains('6'));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let said = debug.go();
    said.ended(json!({ "code": 0 })).has(&["total 119", "warned"]);
}

#[test]
fn its_exit_code_and_its_stdin_are_the_programs_own() {
    let (mut debug, shop) = (start(), Shop::new());
    let more = json!({ "args": ["exit"], "stop_on_entry": false });
    debug.launch(&shop.file(), more).ended(json!({ "code": 7 }));
    let more = json!({ "args": ["ask"], "stop_on_entry": false, "timeout_s": 1 });
    debug.launch(&shop.file(), more);
    debug.wrote("name?");
    debug.ok("debug_input", json!({ "text": "Ada\n" }));
    debug.wrote("hello Ada");
    debug.ok("debug_wait", json!({})).ended(json!({ "code": 0 }));
}

#[test]
fn a_panic_stops_in_the_users_own_frame_with_its_message() {
    let (mut debug, shop) = (start(), Shop::new());
    let more = json!({ "args": ["fail"], "stop_on_entry": false });
    let said = debug.launch(&shop.file(), more);
    said.stands("exception", shop.line("fail")).has(&["panic: out of stock", "in main.reserve"]);
    debug.ok("debug_exception", json!({})).has(&["out of stock", "main.reserve"]);
    assert!(debug.eval("order.count").contains('3'));
    debug.go().ended(json!({ "code": 2 })).has(&["panic: out of stock"]);
}

#[test]
fn steps_stay_in_the_users_own_code() {
    let (mut debug, shop) = (start(), Shop::new());
    let text = std::fs::read_to_string(shop.file()).unwrap();
    let number = |piece: &str| text.lines().position(|it| it.contains(piece)).unwrap() + 1;
    let (orders, total) = (number("Println(\"orders\""), number("Println(\"total\""));
    let points = json!([{ "file": shop.file(), "line": orders }]);
    let more = json!({ "args": ["sum"], "stop_on_entry": false, "breakpoints": points });
    debug.launch(&shop.file(), more).stands("breakpoint", orders);
    let step =
        |debug: &mut Debug, action: &str| debug.ok("debug_step", json!({ "action": action }));
    step(&mut debug, "step_in").stands("step", total);
    step(&mut debug, "step_in").stands("step", number("func process("));
    step(&mut debug, "step_out").stands("step", total);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn conditions_and_hits_are_delves_and_tracepoints_lose_none() {
    let (mut debug, shop) = (start(), Shop::new());
    let trace = shop.line("trace");
    let points = json!([
        { "file": shop.file(), "line": trace, "condition": "i == 7" },
        { "file": shop.file(), "line": trace + 1, "hit_condition": "== 20" },
    ]);
    let more = json!({ "args": ["trace", "300"], "stop_on_entry": false, "breakpoints": points });
    debug.launch(&shop.file(), more).stands("breakpoint", trace);
    assert!(debug.eval("i").contains('7'));
    debug.go().stands("breakpoint", trace + 1);
    assert!(debug.eval("i").contains("19"));
    for id in [1, 2] {
        debug.ok("breakpoint_remove", json!({ "id": id }));
    }
    let point = json!({ "file": shop.file(), "line": trace, "log_message": "at {i}" });
    debug.ok("tracepoint_set", point);
    debug.go().ended(json!({ "code": 0 })).has(&["traced 300"]);
    let said = debug.ok("tracepoint_read", json!({ "since": 0, "limit": 3 }));
    assert_eq!(said.data["total"], 280, "{}", said.text);
}

#[test]
fn what_does_not_compile_is_told_with_its_place() {
    let (mut debug, shop) = (start(), Shop::new());
    let text = std::fs::read_to_string(shop.file()).unwrap();
    std::fs::write(shop.file(), text.replace("amount := 0", "amount := \"0\"")).unwrap();
    let said = debug.fails("debug_launch", json!({ "program": shop.file(), "args": ["sum"] }));
    said.has(&["`go build .` failed", "shop.go:", "mismatched types"]);
}

#[test]
fn one_test_is_run_by_its_name_and_a_subtest_too() {
    let (mut debug, shop) = (start(), Shop::new());
    let file = shop.root.join("shop_test.go");
    let at = line(&file, "test");
    let points = json!([{ "file": file, "line": at }]);
    let test = json!({
        "test": "shop_test.go::TestTotal", "cwd": shop.root, "stop_on_entry": false, "breakpoints": points
    });
    debug.ok("debug_launch", test).stands("breakpoint", at).has(&["TestTotal"]);
    let said = debug.go();
    said.ended(json!({ "code": 0 })).has(&["PASS"]);
    assert!(!said.text.contains("other ran"), "{}", said.text);
    let sub = line(&file, "sub");
    debug.ok("breakpoint_set", json!({ "file": file, "line": sub }));
    let test = json!({ "test": "shop_test.go::TestTotal/twice as many", "cwd": shop.root });
    debug.ok("debug_launch", test).has(&["(entry)", "TestTotal"]);
    debug.go().stands("breakpoint", at);
    debug.go().stands("breakpoint", sub);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_test_that_is_not_there_is_not_said_to_pass() {
    let (mut debug, shop) = (start(), Shop::new());
    for tool in ["debug_launch", "debug_probe"] {
        let asked = json!({ "test": "shop_test.go::TestNope", "cwd": shop.root });
        debug.fails(tool, asked).has(&["no test `TestNope`", "tests here:", "TestTotal"]);
        let asked = json!({ "test": "TestTotal", "cwd": shop.root });
        debug.fails(tool, asked).has(&["a test is named behind its file", "a_test.go::TestX"]);
    }
}

#[test]
fn goroutines_are_threads_and_each_stands_for_itself() {
    let (mut debug, shop) = (start(), Shop::new());
    let at = shop.line("worker");
    let points = json!([{ "file": shop.file(), "line": at }]);
    let more = json!({ "args": ["threads"], "stop_on_entry": false, "breakpoints": points });
    debug.launch(&shop.file(), more).stands("breakpoint", at);
    let said = debug.ok("debug_threads", json!({}));
    said.has(&["goroutine 1 ", "main.worker", "← here"]);
    let mut last = debug.go();
    while last.data["state"] == "stopped" {
        last = debug.go();
    }
    last.ended(json!({ "code": 0 })).has(&["squares 25"]);
}

/// A program that we did not start is looked at and runs on, also when we are killed.
#[test]
fn a_program_that_runs_is_taken_and_let_go() {
    let (mut debug, shop) = (start(), Shop::new());
    let binary = shop.root.join("loop-program");
    let built = std::process::Command::new("go")
        .args(["build", "-gcflags=all=-N -l", "-o"])
        .arg(&binary)
        .arg("./loop")
        .current_dir(&shop.root)
        .status();
    assert!(built.unwrap().success());
    let mut running = std::process::Command::new(&binary)
        .arg("never")
        .current_dir(&shop.root)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let log = shop.root.join("log-0");
    let size = || std::fs::metadata(&log).map_or(0, |it| it.len());
    until("it works", || (size() > 0).then_some(()));
    let source = shop.root.join("loop/loop.go");
    let at = line(&source, "tick");
    for is_killed in [false, true] {
        debug.ok("debug_attach", json!({ "pid": running.id() }));
        debug.ok("breakpoint_set", json!({ "file": source, "line": at }));
        debug.ok("debug_wait", json!({})).stands("breakpoint", at);
        assert!(debug.eval("n").contains(|it: char| it.is_ascii_digit()));
        if is_killed {
            debug.restart_server(BIN);
        } else {
            debug.ok("debug_stop", json!({})).has(&["runs on"]);
            debug.ok("breakpoint_remove", json!({ "id": 1 }));
        }
        let before = size();
        until("it goes on", || (size() > before + 20).then_some(()));
    }
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn a_killed_server_leaves_neither_delve_nor_the_program() {
    let (mut debug, shop) = (start(), Shop::new());
    let more = json!({ "args": ["sum"] });
    debug.launch(&shop.file(), more);
    assert!(debug.children().len() >= 3, "guard, delve and the program");
    debug.restart_server(BIN);
}

/// Delve says of it that it stands, whatever became of it; the system knows better.
#[test]
fn one_that_is_killed_while_it_stands_is_gone() {
    let (mut debug, shop) = (start(), Shop::new());
    let source = shop.root.join("loop/loop.go");
    debug.launch(&source, json!({ "args": ["never"], "cwd": shop.root }));
    kill(working_in(&shop.root, "loop").unwrap());
    let said = until("its end", || {
        let said = debug.ok("debug_wait", json!({ "timeout_s": 1 }));
        (said.data["state"] == "ended").then_some(said)
    });
    said.ended(json!({ "signal": 9 }));
    debug.nothing_is_left();
}

/// Delve calls it a pause when a breakpoint is hit in the moment in which another one is set.
#[test]
fn one_that_is_hit_while_others_are_set_is_a_breakpoint() {
    let (mut debug, shop) = (start(), Shop::new());
    let source = shop.root.join("loop/loop.go");
    debug.launch(&source, json!({ "args": ["never"], "cwd": shop.root }));
    let at = line(&source, "tick");
    debug.ok("breakpoint_set", json!({ "file": source, "line": at }));
    for _ in 0..20 {
        debug.ok("debug_continue", json!({ "timeout_s": 0 }));
        let other = json!({ "file": shop.file(), "line": shop.line("never") });
        let id = debug.ok("breakpoint_set", other).data["breakpoint_id"].clone();
        debug.ok("debug_wait", json!({})).stands("breakpoint", at);
        debug.ok("breakpoint_remove", json!({ "id": id }));
    }
}
