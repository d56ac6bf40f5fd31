//! Python, looking: values, stacks, threads, and evaluation in a stopped program.

use std::time::{Duration, Instant};

use holdpoint_testkit::debug::{Debug, fixture, line, program, python};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

/// Stopped in `process`, at the first order.
fn in_shop() -> Debug {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    debug
}

/// Stopped where every hard value is a local. The budgets are checked by every call.
fn in_values() -> Debug {
    let mut debug = start();
    debug
        .run_to("values.py", &["values"])
        .stands("breakpoint", line(&fixture("values.py"), "values"));
    debug
}

#[test]
fn an_evaluation_gives_a_value_with_its_type() {
    let mut debug = in_shop();
    assert_eq!(debug.eval("order['price'] * 100"), "(int) 200");
    assert_eq!(debug.eval("[o['count'] for o in orders]"), "(list) [3, 1, 2]");
    let caller = json!({ "expression": "RATE, len(orders)", "frame": 1 });
    assert_eq!(debug.ok("debug_evaluate", caller).text, "(tuple) (2, 3)");
    debug.fails("debug_evaluate", json!({ "expression": "1", "frame": 99 })).has(&[
        "[E_NOT_FOUND]",
        "no frame 99",
        "debug_stack",
    ]);
}

#[test]
fn what_an_evaluation_raises_is_a_failure() {
    let mut debug = in_shop();
    for (expression, error) in [
        ("nope", "NameError: name 'nope' is not defined"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("1 +", "SyntaxError"),
        ("order['size']", "KeyError: 'size'"),
        ("raise ValueError('no')", "ValueError: no"),
    ] {
        let said = debug.fails("debug_evaluate", json!({ "expression": expression }));
        said.has(&["[E_EVALUATE_FAILED]", error]);
    }
    debug.fails("debug_evaluate", json!({ "expression": "  " })).has(&["[E_INVALID_PARAMS]"]);
    assert_eq!(debug.eval("1"), "(int) 1");
}

#[test]
fn none_is_a_value_and_a_statement_is_done() {
    let mut debug = in_shop();
    assert_eq!(debug.eval("None"), "(NoneType) None");
    assert_eq!(debug.eval("orders.append({'price': 0, 'count': 0})"), "(NoneType) None");
    assert_eq!(debug.eval("len(orders)"), "(int) 4");
    assert_eq!(debug.eval("import math; tau = math.tau"), "done");
    assert_eq!(debug.eval("round(tau)"), "(int) 6");
    assert_eq!(debug.eval("for n in range(2):\n    print('n is', n)"), "done");
    debug.wrote("n is 1");
}

#[test]
fn an_assignment_is_seen_by_the_program() {
    let mut debug = in_shop();
    assert_eq!(debug.eval("order['price'] = 1000"), "done");
    assert_eq!(debug.eval("seen = [1]"), "done");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["total 6040"]);
}

#[test]
fn an_endless_evaluation_is_interrupted_and_the_session_lives() {
    let mut debug = in_shop();
    for expression in
        ["while True: pass", "sum(1 for _ in iter(int, 1))", "__import__('time').sleep(60)"]
    {
        let started = Instant::now();
        let said =
            debug.fails("debug_evaluate", json!({ "expression": expression, "timeout_s": 0.5 }));
        said.has(&["[E_TIMEOUT]", "interrupted", "hint:"]);
        assert!(started.elapsed() < Duration::from_secs(5), "{expression}");
        assert_eq!(debug.eval("index"), "(int) 0");
    }
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["total 50"]);
}

/// A loop in C hears nothing, and keeps the whole interpreter.
#[test]
fn an_evaluation_that_cannot_be_interrupted_says_so_and_can_be_stopped() {
    let mut debug = in_shop();
    let endless = json!({ "expression": "sum(iter(int, 1))", "timeout_s": 0.2 });
    debug.fails("debug_evaluate", endless).has(&["[E_TIMEOUT]", "goes on", "`debug_stop`"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn an_endless_evaluation_in_another_thread_is_interrupted_too() {
    let mut debug = start();
    debug.run_to("threads.py", &["worker"]).has(&["in work", "thread"]);
    let endless = json!({ "expression": "while True: pass", "timeout_s": 0.5 });
    debug.fails("debug_evaluate", endless).has(&["[E_TIMEOUT]", "interrupted"]);
    assert_eq!(debug.eval("square in (9, 16)"), "(bool) True");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go();
    debug.wrote("results [9, 16]");
}

#[test]
fn a_cancelled_evaluation_does_not_keep_the_thread() {
    let mut debug = in_shop();
    let endless = json!({ "expression": "while True: pass", "timeout_s": 60 });
    let id = debug.ask("debug_evaluate", endless);
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    let started = Instant::now();
    assert_eq!(debug.eval("index"), "(int) 0");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn variables_are_one_line_each_and_within_the_budget() {
    let mut debug = in_values();
    let said = debug.ok("debug_variables", json!({}));
    said.has(&["nothing: NoneType = None", "numbers: list =", "text: str = ", "keyed: dict ="]);
    said.has(&["first⏎second⏎third", "rude: Rude ="]);
    let names: Vec<&str> = said.data["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    for name in ["nothing", "numbers", "text", "keyed", "order", "rude", "wide", "cycle"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(said.text.lines().count(), names.len(), "{}", said.text);
}

#[test]
fn names_that_the_debugger_made_up_are_no_variables() {
    let mut debug = start();
    debug.run_to("shop.py", &["call"]);
    for place in [json!({ "frame": 1 }), json!({ "scope": "global" })] {
        let said = debug.ok("debug_variables", place);
        said.has(&["RATE: int = 2"]);
        for group in ["special variables", "function variables", "class variables"] {
            assert!(!said.text.contains(group), "{}", said.text);
        }
    }
}

#[test]
fn huge_values_are_cut_wherever_they_are_shown() {
    let mut debug = in_values();
    for expression in
        ["text", "numbers", "keyed", "cycle", "rude", "wide", "text, text", "[text] * 9"]
    {
        debug.eval(expression);
    }
    debug.ok("debug_variables", json!({ "path": "text" }));
    debug.ok("debug_variables", json!({ "path": "numbers", "count": 500 }));
    debug.ok("debug_variables", json!({ "path": "keyed", "count": 500 }));
    debug.ok("debug_variables", json!({ "scope": "global" }));
    debug.fails("debug_evaluate", json!({ "expression": "raise ValueError(text)" }));
    debug.ok("debug_step", json!({}));
}

#[test]
fn a_long_list_is_paged() {
    let mut debug = in_values();
    let first = debug.ok("debug_variables", json!({ "path": "numbers", "count": 3 }));
    first.has(&["= 0", "= 1", "more", "\"start\": 3"]);
    let next = debug.ok("debug_variables", json!({ "path": "numbers", "start": 3, "count": 2 }));
    assert_eq!(next.data["variables"].as_array().unwrap().len(), 2, "{}", next.text);
    assert_eq!(next.data["variables"][0]["value"], "3", "{}", next.text);
    let late = debug.ok("debug_variables", json!({ "path": "numbers[99999]" }));
    late.has(&["99999"]);
    let key = debug.ok("debug_variables", json!({ "path": "keyed[\"key 4999\"]" }));
    key.has(&["4999"]);
}

#[test]
fn a_path_looks_inside() {
    let mut debug = in_values();
    debug.ok("debug_variables", json!({ "path": "order.items[1]" })).has(&["'price': int = 5"]);
    debug.ok("debug_variables", json!({ "path": "order.items[1][\"tags\"][0]" })).has(&["'a'"]);
    debug
        .fails("debug_variables", json!({ "path": "order.nope" }))
        .has(&["no part `nope`", "hint:"]);
    debug
        .fails("debug_variables", json!({ "path": "nope" }))
        .has(&["no variable `nope`", "numbers"]);
    debug.fails("debug_variables", json!({ "path": "order[" })).has(&["[E_INVALID_PARAMS]"]);
    debug.fails("debug_variables", json!({ "count": 0 })).has(&["[E_INVALID_PARAMS]"]);
}

#[test]
fn a_repr_that_blocks_costs_seconds_and_only_itself() {
    let mut debug = start();
    let started = Instant::now();
    debug.run_to("blocking.py", &["slow"]).has(&["in look", "quick = 1"]);
    assert!(started.elapsed() < Duration::from_secs(15));
    let asked = Instant::now();
    debug.ok("debug_variables", json!({})).has(&["quick: int = 1", "slow: Slow ="]);
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert_eq!(debug.eval("quick + 1"), "(int) 2");
    debug.go().ended(json!({ "code": 0 })).has(&["in a thread 0", "done"]);
}

#[test]
fn a_deep_stack_is_cut_and_counted() {
    let mut debug = start();
    debug.run_to("deep.py", &["bottom"]);
    let said = debug.ok("debug_stack", json!({}));
    said.has(&["#0   down", "more: debug_stack"]);
    assert_eq!(said.data["frames"].as_array().unwrap().len(), 20);
    assert!(said.data["total"].as_u64().unwrap() > 1_000, "{}", said.text);
    debug.ok("debug_stack", json!({ "limit": 1_000 }));
    let far = json!({ "expression": "level", "frame": 900 });
    assert_eq!(debug.ok("debug_evaluate", far).text, "(int) 900");
    debug.ok("debug_variables", json!({ "frame": 500 })).has(&["level: int = 500"]);
}

#[test]
fn a_breakpoint_in_a_thread_reports_that_thread() {
    let mut debug = start();
    let at = line(&fixture("threads.py"), "worker");
    let first = debug.run_to("threads.py", &["worker", "joined"]);
    first.stands("breakpoint", at).has(&["in work", ", thread "]);
    let stack = debug.ok("debug_stack", json!({}));
    stack.has(&["#0   work"]);
    assert_eq!(stack.data["thread_id"], first.data["stop"]["thread_id"]);
    let number = debug.eval("number");
    assert!(number == "(int) 3" || number == "(int) 4");
    debug.ok("debug_variables", json!({})).has(&["square: int ="]);
    debug.ok("debug_threads", json!({})).has(&["MainThread", "worker-", "← here"]);
    let second = debug.go();
    second.stands("breakpoint", at);
    assert_ne!(second.data["stop"]["thread_id"], first.data["stop"]["thread_id"]);
    assert_ne!(debug.eval("number"), number);
    debug.go().stands("breakpoint", line(&fixture("threads.py"), "joined"));
    debug.go().ended(json!({ "code": 0 })).has(&["results [9, 16]"]);
}

#[test]
fn a_step_stays_in_its_thread() {
    let text = "\
import threading

def work(number):
    seen = number  # BP: first
    seen += 1
    seen += 1
    seen += 1

workers = [threading.Thread(target=work, args=(n,)) for n in (3, 4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print('joined')
";
    let (_folder, file) = program(text);
    let at = line(&file, "first");
    let mut debug = start();
    let points = json!([{ "file": file, "line": at }]);
    let first = debug.launch(&file, json!({ "breakpoints": points, "stop_on_entry": false }));
    first.stands("breakpoint", at);
    let (thread, number) = (&first.data["stop"]["thread_id"], debug.eval("number"));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    // The other one passes the same lines meanwhile.
    for further in 1..=3 {
        let step = debug.ok("debug_step", json!({}));
        step.stands("step", at + further);
        assert_eq!(&step.data["stop"]["thread_id"], thread, "{}", step.text);
        assert_eq!(debug.eval("number"), number);
    }
    debug.go().ended(json!({ "code": 0 })).has(&["joined"]);
}

#[test]
fn a_task_stops_with_its_locals_and_steps_over_await() {
    let mut debug = start();
    let file = fixture("tasks.py");
    debug.run_to("tasks.py", &["task", "gathered"]).has(&["in fetch", "doubled = 2"]);
    debug.go().stands("breakpoint", line(&file, "task")).has(&["doubled = 2 → 4"]);
    debug.go().stands("breakpoint", line(&file, "gathered")).has(&["in main", "[2, 4]"]);
    debug.go().ended(json!({ "code": 0 })).has(&["found [2, 4]"]);
}

#[test]
fn a_generator_stops_at_each_turn() {
    let mut debug = start();
    let file = fixture("generator.py");
    debug.run_to("generator.py", &["yield", "used"]).stands("breakpoint", line(&file, "yield"));
    debug.ok("debug_stack", json!({})).has(&["#0   count", "#1   use"]);
    debug.go().stands("breakpoint", line(&file, "used"));
    debug.go().stands("breakpoint", line(&file, "yield")).has(&["number = 1"]);
    debug.ok("debug_step", json!({ "action": "step_out" }));
    assert_eq!(debug.eval("1"), "(int) 1");
}
