//! `debug_until`: from a stop to the line that changes a value, in real programs of Python and Node.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    debug::{Debug, Said, line, program, python},
    http::post,
    node, until,
};
use serde_json::{Value, json};

use crate::page::cookie;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A cart that is changed by another name of it, two calls deeper.
const CART: &str = "\
class Cart:
    def __init__(self):
        self.total = 0
        self.items = []

    def add(self, price):
        self.items.append(price)
        if price == 30:
            self.total = -1  # BP: broken
        else:
            self.total += price  # BP: added
        return len(self.items)  # BP: last


def put(basket, price):
    return basket.add(price)


def fill(cart):
    count = 0  # BP: begin
    for price in (10, 20, 30, 40):
        count = put(cart, price)  # BP: count
    return count  # BP: end


cart = Cart()
filled = fill(cart)  # BP: fill
print('filled', filled)  # BP: print
";

const CART_JS: &str = "\
class Cart {
  constructor() {
    this.total = 0;
    this.items = [];
  }
  add(price) {
    this.items.push(price);
    if (price === 30) {
      this.total = -1; // BP: broken
    } else {
      this.total += price; // BP: added
    }
    return this.items.length;
  }
}

function put(basket, price) {
  return basket.add(price);
}

function fill(cart) {
  let count = 0; // BP: begin
  for (const price of [10, 20, 30, 40]) {
    count = put(cart, price); // BP: count
  }
  return count; // BP: end
}

const cart = new Cart();
const filled = fill(cart); // BP: fill
console.log('filled', filled); // BP: print
";

/// A server and a program that stands at a mark.
fn at(text: &str, mark: &str) -> (Debug, tempfile::TempDir, PathBuf) {
    let mut debug = python(BIN, FOLDER).start();
    let (folder, file) = program(text);
    run_to(&mut debug, &file, mark);
    (debug, folder, file)
}

fn at_js(text: &str, mark: &str) -> (Debug, tempfile::TempDir, PathBuf) {
    let mut debug = node::start(BIN);
    let (folder, python) = program(text);
    let file = python.with_file_name("program.js");
    std::fs::rename(python, &file).unwrap();
    run_to(&mut debug, &file, mark);
    (debug, folder, file)
}

fn run_to(debug: &mut Debug, file: &Path, mark: &str) {
    let there = json!([{ "file": file, "line": line(file, mark) }]);
    let more = json!({ "breakpoints": there, "stop_on_entry": false });
    debug.launch(file, more).stands("breakpoint", line(file, mark));
}

fn watch(debug: &mut Debug, more: Value) -> Said {
    debug.ok("debug_until", more)
}

/// What the answer's data say of it.
#[track_caller]
fn came(said: &Said, word: &str) -> Value {
    let until = said.data["until"].clone();
    assert_eq!(until["came"], word, "{}", said.text);
    until
}

/// That line did it.
#[track_caller]
fn by(said: &Said, file: &Path, mark: &str) {
    let by = &said.data["until"]["by"];
    assert_eq!(by["line"], line(file, mark), "{}", said.text);
    assert_eq!(by["file"], file.display().to_string(), "{}", said.text);
}

#[test]
fn the_line_that_changes_a_value_is_named_with_old_and_new() {
    let (mut debug, _folder, file) = at(CART, "begin");
    let said = watch(&mut debug, json!({ "expression": "cart.total" }));
    came(&said, "turned");
    by(&said, &file, "added");
    said.stands("step", line(&file, "last")).has(&[
        "`cart.total`: 0 → 10, by program.py:11 in add: `self.total += price",
        "inside the program",
        "hint: `debug_until`",
    ]);
    // From there `self` is the same cart, by another name, and `add` ends before it changes again.
    let said = watch(&mut debug, json!({ "expression": "self.total" }));
    came(&said, "scope_left");
    said.has(&["Scope left", "`self.total` was 10"]);
    // The frame of `fill` lives on, two further up.
    let more = json!({ "expression": "cart.total", "frame": 1, "changes": true });
    let said = watch(&mut debug, more);
    by(&said, &file, "added");
    said.has(&["10 → 30"]);
}

#[test]
fn an_invariant_that_breaks_in_a_deeper_call_is_caught_there() {
    let (mut debug, _folder, file) = at(CART, "begin");
    let invariant = json!({ "expression": "cart.total == sum(cart.items[:-1]) or cart.total >= sum(cart.items)",
        "becomes": "False" });
    let said = watch(&mut debug, invariant);
    came(&said, "turned");
    by(&said, &file, "broken");
    said.has(&["True → False", "`self.total = -1"]);
}

#[test]
fn a_value_is_waited_for_in_the_program_s_language() {
    let (mut debug, _folder, file) = at(CART, "begin");
    let said = watch(&mut debug, json!({ "expression": "cart.items", "becomes": "[10, 20]" }));
    came(&said, "turned");
    said.has(&["[] → [10, 20]", "self.items.append(price)"]);
    // What a call returns is assigned by the line that called.
    let said = watch(&mut debug, json!({ "expression": "count", "becomes": "3", "frame": 2 }));
    by(&said, &file, "count");
    said.has(&["`count`: 1 → 3"]);
    let said = watch(&mut debug, json!({ "expression": "count", "becomes": "3" }));
    came(&said, "already");
    said.has(&["is 3 here already; nothing was run"]);
    assert_eq!(said.data["state"], "stopped");
}

#[test]
fn a_name_that_is_not_there_yet_turns_when_it_is() {
    let (mut debug, _folder, file) = at(CART, "begin");
    let said = watch(&mut debug, json!({ "expression": "price" }));
    came(&said, "turned");
    said.has(&["<NameError: ", "→ 10"]).stands("step", line(&file, "count"));
}

#[test]
fn what_raises_each_time_is_told() {
    let (mut debug, _folder, file) = at(CART, "end");
    let said = watch(&mut debug, json!({ "expression": "cart.nothing", "becomes": "1" }));
    came(&said, "scope_left");
    said.has(&["AttributeError", "raised each time"]).stands("step", line(&file, "fill"));
}

#[test]
fn the_end_of_the_program_comes_first() {
    let (mut debug, _folder, _) = at(CART, "print");
    let said = watch(&mut debug, json!({ "expression": "cart.total", "becomes": "'never'" }));
    let until = came(&said, "ended_first");
    assert_eq!(
        (&until["now"], &until["way"]),
        (&json!("39"), &json!("in_process")),
        "{}",
        said.text
    );
    said.ended(json!({ "code": 0 })).has(&["The program ended first", "filled 4"]);
    debug.nothing_is_left();
}

#[test]
fn a_breakpoint_and_an_exception_come_first() {
    let text = CART.replace("print('filled', filled)", "print(1 / (filled - 4))");
    let (mut debug, _folder, file) = at(&text, "fill");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "end") }));
    let never = json!({ "expression": "cart.total", "becomes": "1000" });
    let said = watch(&mut debug, never.clone());
    came(&said, "stopped_first");
    said.stands("breakpoint", line(&file, "end")).has(&["Stopped by something else first"]);
    let said =
        watch(&mut debug, json!({ "expression": "cart.total", "becomes": "1000", "frame": 1 }));
    came(&said, "stopped_first");
    said.stands("exception", line(&file, "print")).has(&["ZeroDivisionError"]);
}

#[test]
fn a_program_that_never_ends_is_stopped_when_the_time_is_over() {
    let text = "x = 0\nn = 0\nwhile True:  # BP: loop\n    n += 1\n";
    let (mut debug, _folder, _) = at(text, "loop");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let begun = Instant::now();
    let said = watch(&mut debug, json!({ "expression": "x", "timeout_s": 0.5 }));
    let until = came(&said, "timed_out_stopped");
    assert!(until["looked"].as_u64().unwrap() > 100, "{}", said.text);
    said.has(&["did not change within 0.5 s", "is still 0", "it was stopped", "Stopped (step)"]);
    assert!(begun.elapsed() < Duration::from_secs(20));
    // It is as it was before, and goes on.
    debug.ok("debug_step", json!({})).has(&["Stopped (step)"]);
}

#[test]
fn a_program_that_comes_to_no_line_runs_on_unwatched() {
    let text = "import time\nx = 0\ntime.sleep(3)  # BP: sleep\nx = 1\ntime.sleep(60)\n";
    let (mut debug, _folder, _) = at(text, "sleep");
    let said = watch(&mut debug, json!({ "expression": "x", "timeout_s": 0.2 }));
    came(&said, "timed_out_running");
    said.has(&["runs on, and the value is no longer watched", "Running"]);
    assert_eq!(said.data["state"], "running");
    // Nobody stops it when it comes to its next line.
    debug.ok("debug_wait", json!({ "timeout_s": 4 })).has(&["Running"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn who_cancels_leaves_a_program_that_runs_on() {
    let text = "import time\nx = 0\nwhile True:  # BP: loop\n    x += 1\n    time.sleep(0.01)\n";
    let (mut debug, _folder, _) = at(text, "loop");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let id =
        debug.ask("debug_until", json!({ "expression": "x", "becomes": "-1", "timeout_s": 60 }));
    until("a program that runs", || {
        debug.ok("debug_status", json!({})).text.contains("running").then_some(())
    });
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    debug.ok("debug_wait", json!({ "timeout_s": 1 })).has(&["Running"]);
    debug.ok("debug_pause", json!({}));
    debug.ok("debug_wait", json!({})).has(&["Stopped (pause)"]);
    let said = watch(&mut debug, json!({ "expression": "x", "timeout_s": 20 }));
    came(&said, "turned");
}

#[test]
fn what_does_not_parse_is_refused_at_once_and_nothing_runs() {
    let (mut debug, _folder, file) = at(CART, "begin");
    for (wrong, why) in [
        (json!({ "expression": "cart.total +" }), "does not parse"),
        (json!({ "expression": "x = 1" }), "does not parse"),
        (json!({ "expression": "x", "becomes": "1 +" }), "does not parse"),
        (json!({ "expression": " " }), "is empty"),
        (json!({ "expression": "x", "becomes": "1", "changes": true }), "both given"),
        (json!({ "expression": "x", "changes": false }), "`becomes` is not given"),
        (json!({ "expression": "x", "frame": 99 }), "no frame 99"),
    ] {
        let said = debug.fails("debug_until", wrong.clone());
        said.has(&[why]);
    }
    debug.ok("debug_status", json!({})).has(&[&format!("program.py:{}", line(&file, "begin"))]);
}

#[test]
fn an_expression_that_does_not_end_is_ended_and_told() {
    let text = format!("import time\n{CART}");
    let (mut debug, _folder, _) = at(&text, "begin");
    let endless = "time.sleep(30) if cart.items else 0";
    let said = watch(&mut debug, json!({ "expression": endless, "timeout_s": 20 }));
    came(&said, "turned");
    said.has(&["→ <Timeout>"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn a_generator_and_a_coroutine_are_not_left_while_they_wait() {
    let text = "\
import asyncio


def numbers():
    n = 0
    while n < 2:
        yield n  # BP: yield
        n += 1  # BP: more


async def work():
    await asyncio.sleep(0.01)
    c = 0
    await asyncio.sleep(0.01)  # BP: await
    c = 7  # BP: seven
    return c


for n in numbers():
    print(n)
print(asyncio.run(work()))
";
    let (mut debug, _folder, file) = at(text, "yield");
    let said = watch(&mut debug, json!({ "expression": "n" }));
    came(&said, "turned");
    by(&said, &file, "more");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "await") }));
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().stands("breakpoint", line(&file, "await"));
    let said = watch(&mut debug, json!({ "expression": "c" }));
    came(&said, "turned");
    by(&said, &file, "seven");
}

#[test]
fn another_thread_that_may_have_done_it_is_named() {
    let text = "\
import threading

box = []
go, done = threading.Event(), threading.Event()


def other():
    go.wait()
    box.append(1)
    done.set()
    threading.Event().wait(60)


threading.Thread(target=other, daemon=True).start()
n = 0  # BP: begin
go.set()
done.wait()
n = 1
n = 2
";
    let (mut debug, _folder, _) = at(text, "begin");
    let said = watch(&mut debug, json!({ "expression": "len(box)" }));
    let until = came(&said, "turned");
    assert_eq!(until["other_threads"], 1, "{}", said.text);
    said.has(&["0 → 1", "or by another thread"]);
}

#[test]
fn a_person_in_control_is_not_passed_by() {
    let (mut debug, _folder, _) = at(CART, "begin");
    let (port, cookie) = cookie(&mut debug);
    let pressed = post(port, "/sessions/s1", "do=take_over")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Accept", "text/html")
        .header("Host", &format!("127.0.0.1:{port}"))
        .header("Origin", &format!("http://127.0.0.1:{port}"))
        .header("Cookie", &cookie)
        .send();
    assert_eq!(pressed.status, 303, "{}", pressed.body);
    debug.fails("debug_until", json!({ "expression": "count" })).has(&["E_HUMAN_IN_CONTROL"]);
}

#[test]
fn node_is_stepped_to_the_line_that_changes_a_value() {
    let (mut debug, _folder, file) = at_js(CART_JS, "begin");
    debug.fails("debug_until", json!({ "expression": "cart.total +" })).has(&["does not parse"]);
    let said = watch(&mut debug, json!({ "expression": "cart.total" }));
    came(&said, "turned");
    by(&said, &file, "added");
    said.has(&[
        "`cart.total`: 0 → 10, by program.js:11 in add: `this.total += price",
        "steps by the debugger",
    ]);
    let invariant = json!({ "expression": "cart.total >= 0", "becomes": "false", "frame": 2 });
    let said = watch(&mut debug, invariant);
    came(&said, "turned");
    by(&said, &file, "broken");
    said.has(&["true → false"]);
    let said = watch(&mut debug, json!({ "expression": "count", "becomes": "3", "frame": 2 }));
    came(&said, "turned");
    by(&said, &file, "count");
    let said = watch(&mut debug, json!({ "expression": "count", "becomes": "17" }));
    came(&said, "scope_left");
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn node_s_end_breakpoints_and_time_come_first_too() {
    let (mut debug, _folder, file) = at_js(CART_JS, "fill");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "end") }));
    let said = watch(&mut debug, json!({ "expression": "cart.total", "becomes": "1000" }));
    came(&said, "stopped_first");
    said.stands("breakpoint", line(&file, "end"));
    let said =
        watch(&mut debug, json!({ "expression": "cart.total", "becomes": "1000", "frame": 1 }));
    // The module returns to Node itself, where nothing of the user's is left.
    assert!(["ended_first", "scope_left"].contains(&came_word(&said)), "{}", said.text);
    let text = "let x = 0, n = 0;\nwhile (n >= 0) { // BP: loop\n  n += 1;\n}\n";
    let (mut debug, _folder, _) = at_js(text, "loop");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let said = watch(&mut debug, json!({ "expression": "x", "timeout_s": 0.5 }));
    came(&said, "timed_out_stopped");
    debug.ok("debug_step", json!({})).has(&["Stopped (step)"]);
    let id = debug.ask("debug_until", json!({ "expression": "x", "timeout_s": 60 }));
    until("a program that runs", || {
        debug.ok("debug_status", json!({})).text.contains("running").then_some(())
    });
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    debug.ok("debug_wait", json!({ "timeout_s": 1 })).has(&["Running"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

#[test]
fn what_node_called_and_is_over_leads_to_the_next_line_of_the_users() {
    let text = "let n = 0;\nfunction tick() {\n  n += 1; // BP: tick\n  return n; // BP: back\n}\n\
                setInterval(tick, 1);\n";
    let (mut debug, _folder, file) = at_js(text, "back");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let said = watch(&mut debug, json!({ "expression": "n", "timeout_s": 5 }));
    came(&said, "scope_left");
    // Not at the line that set the timer, which nobody stands at.
    said.stands("step", line(&file, "tick"));
    debug.ok("debug_evaluate", json!({ "expression": "n + 40" })).has(&["41"]);
    let text = "function once() {\n  return 1; // BP: once\n}\nsetTimeout(once, 1);\nsetTimeout(once, 100000);\n";
    let (mut debug, _folder, _) = at_js(text, "once");
    let said = watch(&mut debug, json!({ "expression": "1", "timeout_s": 1 }));
    came(&said, "scope_left_running");
    said.has(&["Scope left", "it runs on"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

fn came_word(said: &Said) -> &str {
    said.data["until"]["came"].as_str().unwrap()
}
