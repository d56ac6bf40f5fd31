//! Node, looking: values, scopes, stacks, and evaluation in a stopped program.

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    backend::{Backend, FrameId, Handle, Slice, Step},
    failure::{Code, Failure},
    ids::Epoch,
    inspect,
    launch::Launch,
    log::Log,
    session::{Outcome, Session, Shown},
    sessions::Sessions,
};
use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node, until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// Stopped in `sum`, at the first order.
fn in_shop() -> Debug {
    let mut debug = node::start(BIN);
    debug.run_to("shop.js", &["add"]);
    debug
}

/// Stopped where every hard value is a local. The budgets are checked by every call.
fn in_values() -> Debug {
    let mut debug = node::start(BIN);
    let at = line(&fixture("values.js"), "values");
    debug.run_to("values.js", &["values"]).stands("breakpoint", at);
    debug
}

#[test]
fn an_evaluation_gives_a_value_with_its_type() {
    let mut debug = in_shop();
    assert_eq!(debug.eval("order.count * 100"), "(number) 100");
    assert_eq!(debug.eval("orders.slice(0, 2).map((it) => it.count)"), "Array(2) [1, 2]");
    assert_eq!(debug.eval("({ a: null, b: [1, 'x'] })"), "(Object) {a: null, b: Array(2)}");
    assert_eq!(debug.eval("{ a: 1 }"), "(Object) {a: 1}");
    assert_eq!(debug.eval("typeof nowhere"), "(string) \"undefined\"");
    assert_eq!(debug.eval("undefined"), "undefined");
    let caller = json!({ "expression": "[rate, orders.length]", "frame": 1 });
    assert_eq!(debug.ok("debug_evaluate", caller).text, "Array(2) [0.5, 20]");
    debug.fails("debug_evaluate", json!({ "expression": "1", "frame": 99 })).has(&[
        "[E_NOT_FOUND]",
        "no frame 99",
        "debug_stack",
    ]);
}

#[test]
fn what_an_evaluation_throws_is_a_failure() {
    let mut debug = in_shop();
    for (expression, error) in [
        ("nope", "ReferenceError: nope is not defined"),
        ("null.x", "TypeError: Cannot read properties of null"),
        ("1 +", "SyntaxError"),
        ("(() => { throw new RangeError('no'); })()", "RangeError: no"),
        ("(() => { throw 42; })()", "42"),
    ] {
        let said = debug.fails("debug_evaluate", json!({ "expression": expression }));
        said.has(&["[E_EVALUATE_FAILED]", error]);
    }
    let asks = debug.fails("debug_evaluate", json!({ "expression": "await order" }));
    asks.has(&["[E_EVALUATE_FAILED]", "`await` works only inside of an async function"]);
    assert_eq!(debug.eval("1"), "(number) 1");
}

#[test]
fn statements_and_assignments_change_the_program() {
    let mut debug = in_shop();
    assert_eq!(debug.eval("all = 1000"), "(number) 1000");
    assert_eq!(debug.eval("for (let n = 0; n < 2; n++) console.log('n is', n)"), "undefined");
    debug.wrote("n is 1");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 3 })).has(&["sum 1630"]);
}

#[test]
fn an_endless_evaluation_is_interrupted_and_the_session_lives() {
    let mut debug = in_shop();
    for expression in
        ["for (;;) {}", "(function down() { for (;;) {} })()", "[1].map(() => { for (;;); })"]
    {
        let endless = json!({ "expression": expression, "timeout_s": 0.2 });
        let said = debug.fails("debug_evaluate", endless);
        said.has(&["[E_TIMEOUT]", "interrupted", "hint:"]);
        assert_eq!(debug.eval("order.count"), "(number) 1");
    }
    debug.ok("debug_step", json!({})).has(&["Stopped (step)"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 3 })).has(&["sum 630"]);
}

/// A wait in the system hears nothing.
#[test]
fn an_evaluation_that_cannot_be_interrupted_says_so_and_can_be_stopped() {
    let mut debug = in_shop();
    let expression = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000)";
    let endless = json!({ "expression": expression, "timeout_s": 0.2 });
    debug.fails("debug_evaluate", endless).has(&["[E_TIMEOUT]", "hint:"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

/// V8 hears nothing while it evaluates, so the thread is busy until its time is up, and says so.
#[test]
fn a_cancelled_evaluation_ends_with_its_time() {
    let mut debug = in_shop();
    let endless = json!({ "expression": "for (;;) {}", "timeout_s": 3 });
    let id = debug.ask("debug_evaluate", endless);
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    let busy = debug.fails("debug_evaluate", json!({ "expression": "1" }));
    busy.has(&["[E_BUSY]", "an evaluation that was cancelled still runs", "hint:", "`debug_stop`"]);
    until("a free thread", || {
        let id = debug.ask("debug_evaluate", json!({ "expression": "order.count" }));
        (debug.answer(id).text == "(number) 1").then_some(())
    });
    debug.ok("debug_step", json!({})).has(&["Stopped (step)"]);
}

#[test]
fn variables_of_blocks_are_seen_and_hide_outer_ones() {
    let mut debug = node::start(BIN);
    let file = fixture("scopes.js");
    debug.run_to("scopes.js", &["block", "catch", "function"]);
    let said = debug.ok("debug_variables", json!({}));
    said.has(&[
        "rate: string = \"hidden\"",
        "value: number = 2",
        "at: number = 0",
        "total: number = 0",
    ]);
    said.has(&["items = Array(2) [1, 2]"]);
    assert!(!said.text.contains("limit"), "{}", said.text);
    let closure = debug.ok("debug_variables", json!({ "scope": "closure" }));
    closure.has(&["step: number = 2", "limit: number = 10"]);
    debug.go().stands("breakpoint", line(&file, "block")).has(&["at = 0 → 1", "value = 2 → 4"]);
    debug.go().stands("breakpoint", line(&file, "catch"));
    debug
        .ok("debug_variables", json!({}))
        .has(&["problem = RangeError: seen", "total: number = 6"]);
    debug.go().stands("breakpoint", line(&file, "function"));
    let said = debug.ok("debug_variables", json!({}));
    assert!(!said.text.contains("value") && !said.text.contains("problem"), "{}", said.text);
    debug.go().ended(json!({ "code": 0 })).has(&["outer 20"]);
}

#[test]
fn this_is_shown_where_it_says_something() {
    let mut debug = node::start(BIN);
    debug.run_to("scopes.js", &["method", "arrow"]).has(&["in up", "this = Counter {count: 41}"]);
    let said = debug.ok("debug_variables", json!({}));
    said.has(&["more = Array(2) [\"a\", \"b\"]", "this = Counter {count: 41}"]);
    debug.ok("debug_variables", json!({ "path": "this" })).has(&["count: number = 41"]);
    let arrow = debug.go();
    assert!(!arrow.text.contains("this ="), "{}", arrow.text);
}

#[test]
fn a_variable_gets_another_value_and_the_program_sees_it() {
    let mut debug = in_shop();
    let set = json!({ "name": "all", "value": "40 + 2" });
    debug.ok("debug_set_variable", set).has(&["all: number = 42"]);
    assert_eq!(debug.eval("all"), "(number) 42");
    let unknown = debug.fails("debug_set_variable", json!({ "name": "amount", "value": "1" }));
    unknown.has(&["[E_NOT_FOUND]", "no local variable `amount`", "all"]);
    let wrong = debug.fails("debug_set_variable", json!({ "name": "all", "value": "1 +" }));
    wrong.has(&["SyntaxError"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().has(&["sum 672"]);
}

#[test]
fn variables_are_one_line_each_and_within_the_budget() {
    let mut debug = in_values();
    let said = debug.ok("debug_variables", json!({}));
    said.has(&[
        "nothing = null",
        "missing = undefined",
        "numbers = Array(100000) [0, 1, 2",
        "text: string = \"xxxx",
        "keyed: Object = {\"key 0\": 0",
        "mapped = Map(1000) {0 => {",
        "chosen = Set(1000) {0, 1",
        "typed = Float64Array(50000) [0, 0",
        "order = Order {#secret: 7, name: \"first\", items: Array(2)}",
        "rude = Rude {}",
        "slow = Slow {}",
        "wide: string = \"first\\nsecond\\nthird\"",
        "cycle: Object = {one: 1, self: {…}}",
        "big: bigint = 1000000000000000000000000000000n",
        "sign = Symbol(sign)",
        "call = (first, second) => …",
        "refused = Promise {<rejected>: TypeError: kept}",
        "proxied = Proxy",
    ]);
    let names = said.data["variables"].as_array().unwrap().len();
    assert_eq!(said.text.lines().count(), names, "{}", said.text);
}

#[test]
fn huge_values_are_cut_wherever_they_are_shown() {
    let mut debug = in_values();
    for expression in
        ["text", "numbers", "keyed", "cycle", "rude", "mapped", "[text, text]", "typed", "proxied"]
    {
        debug.eval(expression);
    }
    debug.fails("debug_evaluate", json!({ "expression": "(() => { throw new Error(text); })()" }));
    for path in ["numbers", "keyed", "mapped", "chosen", "typed"] {
        debug.ok("debug_variables", json!({ "path": path, "count": 500 }));
    }
    debug.ok("debug_variables", json!({ "path": "text" }));
    debug.ok("debug_variables", json!({ "path": "proxied" }));
    debug.ok("debug_variables", json!({ "scope": "global" }));
    debug.ok("debug_step", json!({}));
}

#[test]
fn long_collections_are_paged() {
    let mut debug = in_values();
    let first = debug.ok("debug_variables", json!({ "path": "numbers", "count": 3 }));
    first.has(&["0: number = 0", "1: number = 1", "more", "\"start\": 3"]);
    let next =
        debug.ok("debug_variables", json!({ "path": "numbers", "start": 99_990, "count": 2 }));
    assert_eq!(next.data["variables"].as_array().unwrap().len(), 2, "{}", next.text);
    next.has(&["99990: number = 99990", "99991: number = 99991"]);
    debug.ok("debug_variables", json!({ "path": "numbers[99999]" })).has(&["99999"]);
    debug.ok("debug_variables", json!({ "path": "keyed[\"key 4999\"]" })).has(&["4999"]);
    let late = json!({ "path": "mapped", "start": 998, "count": 5 });
    let late = debug.ok("debug_variables", late);
    late.has(&["998: Object = {at: 998}", "999: Object = {at: 999}"]);
    assert_eq!(late.data["variables"].as_array().unwrap().len(), 2, "{}", late.text);
    debug.ok("debug_variables", json!({ "path": "mapped[7].at" })).has(&["7"]);
    let chosen = json!({ "path": "chosen", "start": 500, "count": 1 });
    debug.ok("debug_variables", chosen).has(&["500: number = 500"]);
    let typed = json!({ "path": "typed", "start": 49_999, "count": 9 });
    debug.ok("debug_variables", typed).has(&["49999: number = 0"]);
}

#[test]
fn a_path_looks_inside() {
    let mut debug = in_values();
    debug.ok("debug_variables", json!({ "path": "order.items[1]" })).has(&["price: number = 5"]);
    debug.ok("debug_variables", json!({ "path": "order.items[1][\"tags\"][0]" })).has(&["\"a\""]);
    debug.ok("debug_variables", json!({ "path": "order" })).has(&["#secret: number = 7"]);
    debug.ok("debug_variables", json!({ "path": "cycle.self.self.one" })).has(&["1"]);
    debug.ok("debug_variables", json!({ "path": "refused" })).has(&["TypeError: kept"]);
    let nope = debug.fails("debug_variables", json!({ "path": "order.nope" }));
    nope.has(&["no part `nope`", "hint:"]);
    let nope = debug.fails("debug_variables", json!({ "path": "nope" }));
    nope.has(&["no variable `nope`", "numbers"]);
    debug.fails("debug_variables", json!({ "path": "order[" })).has(&["[E_INVALID_PARAMS]"]);
    debug.fails("debug_variables", json!({ "count": 0 })).has(&["[E_INVALID_PARAMS]"]);
}

/// Looking at a value runs nothing of it: no getter, no `toString`, no proxy's trap.
#[test]
fn a_getter_that_throws_or_blocks_is_not_called_by_looking() {
    let mut debug = in_values();
    debug.ok("debug_variables", json!({ "path": "slow" }));
    debug.ok("debug_variables", json!({ "path": "rude" }));
    assert_eq!(debug.eval("slow"), "Slow {}");
    assert_eq!(debug.eval("rude"), "Rude {}");
    let thrown = debug.fails("debug_evaluate", json!({ "expression": "rude.whatever" }));
    thrown.has(&["[E_EVALUATE_FAILED]", "Error: no getter for you"]);
    let text = debug.fails("debug_evaluate", json!({ "expression": "`${rude}`" }));
    text.has(&["Error: no text for you"]);
    let late = json!({ "expression": "slow.minute", "timeout_s": 0.2 });
    debug.fails("debug_evaluate", late).has(&["[E_TIMEOUT]", "interrupted"]);
    assert_eq!(debug.eval("nothing"), "null");
    debug.go().ended(json!({ "code": 0 })).has(&["done"]);
}

#[test]
fn a_deep_stack_is_cut_and_counted() {
    let mut debug = node::start(BIN);
    debug.run_to("deep.js", &["bottom"]);
    let said = debug.ok("debug_stack", json!({}));
    said.has(&["#0   down", "more: debug_stack"]);
    assert_eq!(said.data["frames"].as_array().unwrap().len(), 20);
    assert!(said.data["total"].as_u64().unwrap() > 1_000, "{}", said.text);
    debug.ok("debug_stack", json!({ "limit": 1_000 }));
    let far = json!({ "expression": "level", "frame": 900 });
    assert_eq!(debug.ok("debug_evaluate", far).text, "(number) 900");
    debug.ok("debug_variables", json!({ "frame": 500 })).has(&["level: number = 500"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["1000"]);
}

#[test]
fn a_task_stops_with_its_locals_and_names_who_waits() {
    let mut debug = node::start(BIN);
    let file = fixture("tasks.mjs");
    debug.run_to("tasks.mjs", &["task", "gathered"]).has(&["in fetch", "doubled = 2"]);
    debug.ok("debug_stack", json!({})).has(&["#0   fetch", "async gather", "async (anonymous)"]);
    let gone = json!({ "expression": "found", "frame": 1 });
    debug.fails("debug_evaluate", gone).has(&["an async caller keeps no variables", "hint:"]);
    debug.go().stands("breakpoint", line(&file, "task")).has(&["doubled = 2 → 4"]);
    // Over the end of an async function and its `await`, to who waited.
    debug.ok("debug_step", json!({ "action": "step_out" }));
    debug.ok("debug_status", json!({})).has(&["tasks.mjs"]);
    debug.ok("breakpoint_remove", json!({ "id": 2 }));
    debug.go().ended(json!({ "code": 0 })).has(&["found [2,4]"]);
}

#[test]
fn a_step_over_await_stays_in_its_function() {
    let mut debug = node::start(BIN);
    let file = fixture("tasks.mjs");
    let wait = line(&file, "task") - 2;
    let points = json!([{ "file": file, "line": wait }]);
    debug.launch(&file, json!({ "stop_on_entry": false, "breakpoints": points }));
    debug.ok("debug_step", json!({})).stands("step", wait + 1).has(&["in fetch"]);
    debug
        .ok("debug_step", json!({}))
        .stands("step", wait + 2)
        .has(&["doubled = <not assigned yet> → 2"]);
}

#[test]
fn a_generator_stops_at_each_turn() {
    let mut debug = node::start(BIN);
    let file = fixture("generator.js");
    debug.run_to("generator.js", &["yield", "used"]).stands("breakpoint", line(&file, "yield"));
    debug.ok("debug_stack", json!({})).has(&["#0   count", "#1   use"]);
    debug.go().stands("breakpoint", line(&file, "used"));
    debug.go().stands("breakpoint", line(&file, "yield")).has(&["number = 1"]);
    assert_eq!(debug.eval("limit"), "(number) 3");
}

#[test]
fn a_probe_reports_values_and_ends_the_program() {
    let mut debug = node::start(BIN);
    let file = fixture("shop.js");
    let at = line(&file, "add");
    let more = json!({ "file": file, "line": at, "expressions": ["value * 2", "nope"], "hits": 2 });
    let said = debug.ok("debug_probe", debug.with_program(&file, more));
    said.has(&[
        &format!("shop.js:{at} in sum · value * 2 · nope\n1 · 6 · → ReferenceError"),
        "\n2 · 12 · → ReferenceError",
        "\n2 of 2 · ended here",
    ]);
    assert!(!said.text.contains("all: number"), "{}", said.text);
    assert_eq!(said.data["hits"].as_array().unwrap().len(), 2);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn a_probe_that_is_never_reached_says_so_with_exit_and_output() {
    let mut debug = node::start(BIN);
    let file = fixture("shop.js");
    let more = json!({ "file": file, "line": line(&file, "add"), "condition": "all > 1e6" });
    let said = debug.ok("debug_probe", debug.with_program(&file, more));
    said.has(&["was never reached with `all > 1e6` true", "exit code 3", "sum 630"]);
    assert_eq!(said.data["reached"], false);
}

#[test]
fn a_probe_that_runs_too_long_is_ended() {
    let mut debug = node::start(BIN);
    let file = fixture("endless.js");
    let more = json!({ "file": file, "line": line(&file, "late"), "timeout_s": 2 });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["[E_TIMEOUT]", "was not reached in time", "spinning", "hint:"]);
    debug.nothing_is_left();
}

async fn stop(session: &Session, after: Epoch) -> Arc<Shown> {
    match session.wait(after, Duration::from_secs(20)).await {
        Outcome::Stopped(shown) => shown,
        other => panic!("{other:?}"),
    }
}

/// A frame of a stop, and what is in one of its variables.
async fn handles(backend: &Backend, shown: &Shown) -> (FrameId, Handle) {
    let frame = shown.stack.frames[0].id.clone();
    let locals = inspect::locals(backend, &frame).await.unwrap();
    let held = locals.iter().find(|it| it.name == "box").unwrap();
    (frame, held.value.children.clone().unwrap())
}

/// Everything that can be asked with them is refused, and says why.
async fn are_refused(backend: &Backend, (frame, handle): &(FrameId, Handle)) {
    let some = Slice { start: 0, count: 10 };
    let earlier = |failure: Option<Failure>| {
        let failure = failure.unwrap();
        assert_eq!(failure.code, Code::NotStopped, "{failure:?}");
        assert_eq!(failure.message, "that is of an earlier stop");
    };
    earlier(backend.children(handle, some).await.err());
    earlier(backend.scopes(frame).await.err());
    earlier(backend.evaluate(Some(frame), "box", Duration::from_secs(5)).await.err());
    earlier(backend.assign(frame, handle, "a", "1").await.err());
}

/// Tools name frames and values by the stop that they show; below them handles do, on Node as on Python.
#[test]
fn what_was_got_at_an_earlier_stop_is_refused() {
    let folder = node::Folder::default();
    let program = folder.write(
        "box.js",
        "const box = { a: [1] };\nlet b = 2;\nb += 1;\nsetInterval(() => {}, 1000);\n",
    );
    let home = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sessions = Sessions::new(Arc::new(Log::default()), BIN.into(), home.path().to_owned());
        let launch = Launch {
            program: Some(program),
            cwd: folder.path(),
            stop_on_entry: true,
            ..Launch::default()
        };
        let (progress, _told) = tokio::sync::mpsc::channel(8);
        let session = sessions.launch(launch, progress).await.unwrap();
        let mut shown = stop(&session, Epoch::default()).await;
        let mut earlier = None;
        for _ in 0..2 {
            session.step(None, Step::Over).await.unwrap();
            shown = stop(&session, shown.stop.epoch).await;
            let backend = session.backend(shown.stop.thread.target).unwrap();
            let now = handles(&backend, &shown).await;
            let parts = backend.children(&now.1, Slice { start: 0, count: 10 }).await.unwrap();
            assert!(parts.iter().any(|it| it.name == "a"), "{parts:?}");
            if let Some(earlier) = &earlier {
                are_refused(&backend, earlier).await;
            }
            earlier = Some(now);
        }
        let backend = session.backend(shown.stop.thread.target).unwrap();
        session.resume().await.unwrap();
        are_refused(&backend, &earlier.unwrap()).await;
        session.stop().await;
    });
}
