//! Breakpoints by a function's name, end to end: bound when the function is there, pending with a reason
//! when it is not, and hit at the first line of its body.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, line, program, python};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

const SHOP: &str = "\
import functools

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

@logged
@logged
def total(price, count):
    \"\"\"A docstring is no code.\"\"\"
    net = price * count  # BP: total
    return net

class Cart:
    def sum(self, items):
        return sum(total(*it) for it in items)  # BP: method

class Basket:
    def sum(self, items):
        return 0  # BP: other

def short(x): return x  # BP: short

print('begun')
Basket().sum([])
print(Cart().sum([(2, 3), (4, 5), (6, 7)]))
short(1)
print('done')  # BP: done
";

#[test]
fn python_stops_in_the_body_of_a_decorated_function_and_before_any_session_it_waits() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let said = debug.ok("breakpoint_set", json!({ "function": "total" }));
    said.has(&["Breakpoint 1 at function total", "pending", "no program runs"]);
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("breakpoint", line(&file, "total"))
        .has(&["Stopped (breakpoint 1)", "in total", "price = 2"]);
    let said = debug.ok("breakpoint_set", json!({ "function": "Cart.sum" }));
    let at = format!("verified: program.py:{}", line(&file, "method"));
    said.has(&["Breakpoint 2 at function Cart.sum", &at]);
    assert_eq!(said.data["state"], "bound");
    debug.ok("breakpoint_list", json!({})).has(&["1 breakpoint function total", "2 breakpoint"]);
    debug.go().stands("breakpoint", line(&file, "total")).has(&["breakpoint 1", "price = 2 → 4"]);
    debug.ok("breakpoint_remove", json!({ "function": "total" })).has(&["function total removed"]);
    debug.go().ended(json!({ "code": 0 })).has(&["68", "done"]);
}

#[test]
fn python_tells_functions_of_one_name_apart_by_their_class() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    debug.ok("breakpoint_set", json!({ "function": "Cart.sum" }));
    debug.ok("breakpoint_set", json!({ "function": "Basket.sum", "condition": "items == [1]" }));
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("breakpoint", line(&file, "method"))
        .has(&["Stopped (breakpoint 1)", "in sum"]);
    debug.ok("breakpoint_set", json!({ "function": "short" }));
    // Its only line is passed by its definition too, which is no call.
    debug.go().stands("breakpoint", line(&file, "short")).has(&["breakpoint 3", "in short"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn python_functions_take_conditions_and_hit_conditions() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let wanted = json!({ "function": "total", "condition": "price > 2", "hit_condition": "2" });
    debug.ok("breakpoint_set", wanted);
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("breakpoint", line(&file, "total"))
        .has(&["price = 6"]);
    debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false })).has(&["disabled"]);
    debug.go().ended(json!({ "code": 0 }));
    let bad = json!({ "function": "total", "hit_condition": "often" });
    debug.fails("breakpoint_set", bad).has(&["[E_INVALID_PARAMS]", "often"]);
    let both = json!({ "function": "total", "line": 3 });
    debug.fails("breakpoint_set", both).has(&["[E_INVALID_PARAMS]", "hint:"]);
}

#[test]
fn python_says_what_is_not_there_and_what_is_near() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    debug.launch(&file, json!({}));
    let said = debug.ok("breakpoint_set", json!({ "function": "totl" }));
    said.has(&["pending: no function `totl`", "near: total"]);
    assert_eq!(said.data["state"], "pending");
    // Its file has not run yet, and will.
    let said = debug.ok("breakpoint_set", json!({ "function": "total" }));
    said.has(&["pending", "defines it and has not run yet"]);
    let said = debug.ok("breakpoint_set", json!({ "function": "json.loads" }));
    said.has(&["pending", "just_my_code"]);
    debug.go().stands("breakpoint", line(&file, "total")).has(&["breakpoint 2"]);
}

#[test]
fn a_function_breakpoint_outlives_the_server() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    debug.ok("breakpoint_set", json!({ "function": "total", "hit_condition": "3" }));
    debug.restart_server(BIN);
    debug.ok("breakpoint_list", json!({})).has(&["1 breakpoint function total at hit 3"]);
    debug
        .launch(&file, json!({ "stop_on_entry": false }))
        .stands("breakpoint", line(&file, "total"))
        .has(&["price = 6"]);
}

/// A kept condition that is none prevents launches; the way out is in the text.
#[test]
fn a_bad_condition_is_told_with_its_breakpoint() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let at = line(&file, "total");
    debug.ok("breakpoint_set", json!({ "file": file, "line": 1 }));
    debug.ok("breakpoint_set", json!({ "file": file, "line": at, "condition": "price >" }));
    let said = debug.fails("debug_launch", debug.with_program(&file, json!({})));
    said.has(&[
        "breakpoint 2: the condition `price >` does not parse",
        "breakpoint_remove {\"id\": 2}",
    ]);
    debug.ok("breakpoint_remove", json!({ "id": 2 }));
    debug.launch(&file, json!({})).has(&["Stopped"]);
}

const CART: &str = "\
const { net } = require('./price.js');

class Cart {
  #secret() {
    return 0;
  }
  total(items) {
    function inner() {
      return 1; // BP: inner
    }
    let sum = inner() - 1; // BP: total
    for (const it of items) sum += net(it);
    return sum;
  }
}

const twice = x => x * 2; // BP: twice
console.log(new Cart().total([1, 2, 3]));
console.log(twice(4));
";

const PRICE: &str = "\
exports.net = function (price) {
  const rate = 2; // BP: net
  return price * rate;
};
exports.net(100);
";

fn node_project() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (main, price) = (base.join("cart.js"), base.join("price.js"));
    std::fs::write(&main, CART).unwrap();
    std::fs::write(&price, PRICE).unwrap();
    (folder, main, price)
}

fn run(debug: &mut Debug, file: &Path) -> holdpoint_testkit::debug::Said {
    debug.ok("debug_launch", json!({ "program": file, "stop_on_entry": false }))
}

#[test]
fn node_stops_in_functions_of_files_that_are_not_loaded_yet() {
    let mut debug = start();
    let (_folder, main, price) = node_project();
    debug.ok("breakpoint_set", json!({ "function": "net" })).has(&["pending", "no program runs"]);
    debug.ok("breakpoint_set", json!({ "function": "Cart.total" }));
    debug.ok("breakpoint_set", json!({ "function": "twice" }));
    // Called by its own file as it is loaded.
    run(&mut debug, &main)
        .stands("breakpoint", line(&price, "net"))
        .has(&["Stopped (breakpoint 1)", "price = 100"]);
    debug.go().stands("breakpoint", line(&main, "total")).has(&["breakpoint 2", "in total"]);
    let said = debug.ok("breakpoint_set", json!({ "function": "inner" }));
    said.has(&[&format!("verified: cart.js:{}", line(&main, "inner"))]);
    debug.go().stands("breakpoint", line(&main, "inner")).has(&["breakpoint 4"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 })).has(&["function net removed"]);
    debug.go().stands("breakpoint", line(&main, "twice")).has(&["breakpoint 3", "x = 4"]);
    debug.go().ended(json!({ "code": 0 })).has(&["8"]);
}

#[test]
fn node_functions_take_conditions_and_hit_conditions() {
    let mut debug = start();
    let (_folder, main, price) = node_project();
    let wanted = json!({ "function": "net", "condition": "price < 10", "hit_condition": ">= 2" });
    debug.ok("breakpoint_set", wanted);
    run(&mut debug, &main).stands("breakpoint", line(&price, "net")).has(&["price = 2"]);
    debug.go().stands("breakpoint", line(&price, "net")).has(&["price = 2 → 3"]);
    debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false })).has(&["disabled"]);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn node_says_what_is_not_there_and_what_is_near() {
    let mut debug = start();
    let (_folder, main, price) = node_project();
    debug.ok("debug_launch", json!({ "program": main }));
    let said = debug.ok("breakpoint_set", json!({ "function": "totals" }));
    said.has(&["pending: no function `totals`", "near: Cart.total"]);
    assert_eq!(said.data["state"], "pending");
    let said = debug.ok("breakpoint_set", json!({ "function": "net" }));
    said.has(&["pending", "price.js:2 has it and is not loaded yet"]);
    let said = debug.ok("breakpoint_set", json!({ "function": "Cart.secret", "file": main }));
    said.has(&["verified: cart.js:5"]);
    debug.go().stands("breakpoint", line(&price, "net"));
}

/// What waits for nothing looks like what works: the launch says which, in one line.
#[test]
fn what_is_not_bound_yet_is_named_at_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let files = [
        ("main.py", "x = 1\nprint(x)\n"),
        ("main.js", "let x = 1;\nconsole.log(x);\n"),
        ("late.js", "let y = 1;\n"),
    ];
    for (name, text) in files {
        std::fs::write(base.join(name), text).unwrap();
    }
    for name in ["main.py", "main.js"] {
        let mut debug = start();
        let file = base.join(name);
        let names: Vec<Value> =
            (0..7).map(|n| json!({ "function": format!("absent{n}") })).collect();
        let bound = json!({ "file": file, "line": 2 });
        let points: Vec<Value> = std::iter::once(bound).chain(names).collect();
        let mut arguments = json!({ "program": file, "breakpoints": points });
        if name == "main.py" {
            arguments = debug.with_program(&file, arguments);
        }
        let said = debug.ok("debug_launch", arguments);
        said.stands("entry", 1);
        said.has(&["not bound yet: breakpoint 2 (function absent0", "2 more: breakpoint_list"]);
        assert_eq!(said.data["pending"], json!([2, 3, 4, 5, 6]), "{}", said.text);
        let list = debug.ok("breakpoint_list", json!({}));
        list.has(&[
            "1 breakpoint",
            "· verified",
            "8 breakpoint function absent6",
            "· pending: no function",
        ]);
        let rows = list.data["breakpoints"].as_array().unwrap();
        let states: Vec<&Value> = rows.iter().map(|it| &it["state"]).collect();
        assert_eq!(states.first(), Some(&&json!("bound")), "{}", list.text);
        assert!(states.iter().skip(1).all(|it| **it == json!("pending")), "{}", list.text);
        // One that is bound is not named.
        for id in 2..=8 {
            debug.ok("breakpoint_remove", json!({ "id": id }));
        }
        let said = debug.ok("debug_restart", json!({}));
        assert!(!said.text.contains("not bound"), "{}", said.text);
        assert_eq!(said.data["pending"], Value::Null);
    }
    let mut debug = start();
    let (main, late) = (base.join("main.js"), base.join("late.js"));
    debug.ok("tracepoint_set", json!({ "file": late, "line": 1 }));
    let said = debug.ok("debug_launch", json!({ "program": main }));
    said.has(&["not bound yet: tracepoint 1 (late.js:1: its file is not loaded yet)"]);
    debug.go().ended(json!({ "code": 0 }));
}

/// debugpy calls a breakpoint of any file bound: in a program of another language it is not told of.
#[test]
fn a_file_of_another_language_is_no_business_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (python, node) = (base.join("main.py"), base.join("main.js"));
    std::fs::write(&python, "x = 1\nprint(x)\n").unwrap();
    std::fs::write(&node, "let x = 1;\nconsole.log(x);\n").unwrap();
    let mut debug = start();
    debug.ok("breakpoint_set", json!({ "file": node, "line": 2 }));
    debug.ok("breakpoint_set", json!({ "file": python, "line": 2 }));
    let arguments = debug.with_program(&python, json!({}));
    let said = debug.ok("debug_launch", arguments);
    assert!(!said.text.contains("not bound"), "{}", said.text);
    let list = debug.ok("breakpoint_list", json!({}));
    let states: Vec<Value> =
        list.data["breakpoints"].as_array().unwrap().iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, [Value::Null, json!("bound")], "{}", list.text);
    debug.go().stands("breakpoint", 2);
    let said = debug.go();
    said.ended(json!({ "code": 0 }));
    assert!(!said.text.contains("never hit"), "{}", said.text);
    debug.ok("debug_launch", json!({ "program": node })).stands("entry", 1);
    debug.go().stands("breakpoint", 2);
}
