//! A bug in a Go module that nobody here wrote, found through the tools.

use holdpoint_testkit::{debug::Debug, packages::Package};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// The least item of a tree is not its first any more. The test says only what came out; where it is taken from the
/// node, the node itself shows the right one.
#[test]
fn a_least_item_that_is_none_is_found_out() {
    let btree = Package::go("github.com/google/btree@v1.1.3");
    let (right, wrong) = ("return n.items[0], true", "return n.items[len(n.items)/2], true");
    btree.replace("btree_generic.go", right, wrong);
    let mut debug = Debug::with_editor(BIN, &[]);
    let test = json!({
        "test": "btree_generic_test.go::TestBTreeG", "cwd": btree.root, "stop_on_entry": false, "timeout_s": 120
    });
    let said = debug.ok("debug_launch", test);
    said.has(&["btree_generic_test.go:", "want 0"]);
    assert_eq!(said.data["exit"], json!({ "code": 1 }), "{}", said.text);
    let file = btree.root.join("btree_generic.go");
    let at = btree.line("btree_generic.go", "func min[T any]", wrong);
    debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
    debug.ok("debug_restart", json!({ "timeout_s": 120 })).stands("breakpoint", at);
    debug.ok("debug_stack", json!({})).has(&["min", "TestBTreeG"]);
    assert!(debug.eval("n.items[0]").contains('0'));
    assert!(!debug.eval("n.items[len(n.items)/2]").ends_with(" 0"));
    debug.ok("debug_stop", json!({}));
}
