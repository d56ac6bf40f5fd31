//! Java tests by Maven: one by its name, in the virtual machine that its runner starts.

use holdpoint_testkit::{
    debug::{fixture, line},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

#[test]
fn one_test_is_run_by_its_name_and_stops_where_it_is_asked_to() {
    let folder = Folder::default();
    let suite = |name: &str| {
        let file = fixture("suite/Shop.java").with_file_name(name);
        folder.write(name, std::fs::read(file).unwrap())
    };
    suite("pom.xml");
    let file = suite("tests/ShopTest.java");
    let at = line(&file, "test");
    let mut debug = node::start(BIN);
    let launch = json!({
        "test": "ShopTest#testTotal", "cwd": folder.path(), "stop_on_entry": false, "timeout_s": 170,
        "breakpoints": [{ "file": file, "line": at }],
    });
    let said = debug.ok("debug_launch", launch);
    said.stands("breakpoint", at).has(&["ShopTest.testTotal", "total"]);
    assert!(debug.eval("total + 1").contains('7'));
    let said = debug.ok("debug_continue", json!({ "timeout_s": 100 }));
    said.ended(json!({ "code": 0 }));
    let output = debug.ok("debug_output", json!({})).text;
    assert!(!output.contains("other ran"), "{output}");
}
