//! Node, errors that nobody handles: where they stop, and that handled ones do not.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node,
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
