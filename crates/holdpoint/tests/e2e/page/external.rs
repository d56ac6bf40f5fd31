//! Other MCP servers on the page: the real reference server of npm, called, held, changed and let go by clicking.

use holdpoint_testkit::{calls::Wire, servers::inline};
use serde_json::json;

use super::{python, shoot, signed_in, with_everything};

#[test]
fn a_tool_is_called_by_a_form_made_from_its_schema() {
    let mut debug = with_everything();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/external"));
    browser.shows("#servers", "connected");
    browser.shows("#tools", "get-sum");
    browser.click("#tools a[href='/external/everything/get-sum']");
    browser.until("its form", "document.readyState === 'complete' && location.pathname === '/external/everything/get-sum'");
    browser.shows("#t-h", "everything/get-sum");
    browser.shows(".schema pre", "\"properties\"");
    browser.type_into("[name=a-a]", "20");
    browser.type_into("[name=a-b]", "22");
    browser.click(".call-form .main-act");
    browser.shows("#result pre", "42");
    browser.shows("#recent", "everything/get-sum");
    debug.ok("breakpoint_get_call_records", json!({})).has(&["everything/get-sum"]);
    // What its schema does not allow is refused, and said.
    browser.type_into("[name=a-a]", "x");
    browser.click(".call-form .main-act");
    browser.shows("#said", "a");
    // As JSON.
    browser.click("details.schema summary");
    browser.eval("document.querySelector('[name=json]').value = ''");
    browser.type_into("[name=json]", "{\"a\": 1, \"b\": 2}");
    browser.click("[value=call_json]");
    browser.shows("#result pre", "3");
    // What an agent calls shows too.
    debug.ok(
        "external_call_tool",
        json!({ "tool": "everything/echo", "arguments": { "message": "from the agent" } }),
    );
    browser.shows("#recent", "from the agent");
    // Whatever a server answers is text.
    let hostile = "</script><img src=x onerror='window.hit=1'>\u{1b}[31m\u{202e}";
    debug.ok(
        "external_call_tool",
        json!({ "tool": "everything/echo", "arguments": { "message": hostile } }),
    );
    browser.shows("#recent", "<img src=x onerror");
    browser.open(&format!("{base}/external/everything/echo"));
    browser.shows("#result pre", "<img src=x onerror");
    assert_eq!(browser.eval("[document.images.length, window.hit ?? 0]"), json!([0, 0]));
    let text = browser.eval("document.body.textContent");
    assert!(!text.as_str().unwrap().contains(['\u{1b}', '\u{202e}']));
    browser.open(&format!("{base}/external/everything/get-sum"));
    shoot(&mut browser, "external");
    browser.is_well();
}

#[test]
fn a_call_is_held_changed_and_let_go() {
    let mut debug = with_everything();
    let port = debug.rpc.process.port();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/external/everything/echo"));
    browser.click("#hold-form button");
    browser.shows("#hold-form", "let them go");
    debug.ok("breakpoint_list_breakpoints", json!({})).has(&["everything/echo"]);
    browser.type_into("[name=a-message]", "as it was");
    browser.click(".call-form .main-act");
    browser.shows("#result", "A call of it is paused");
    browser.shows("#holds", "everything/echo");
    shoot(&mut browser, "external-held");
    let paused = Wire::new(port).paused();
    debug.ok(
        "breakpoint_continue",
        json!({ "pause_id": paused["id"], "action": "modify", "modified_kwargs": { "message": "changed on its way" } }),
    );
    browser.shows("#result pre", "changed on its way");
    browser.hides("#holds", "everything/echo");
    browser.click("#hold-form button");
    browser.shows("#hold-form", "Hold its calls");
    browser.eval("document.querySelector('[name=a-message]').value = ''");
    browser.type_into("[name=a-message]", "free");
    browser.click(".call-form .main-act");
    browser.shows("#result pre", "free");
    browser.is_well();
}

#[test]
fn a_server_is_let_go_connected_again_and_another_is_added() {
    let mut debug = with_everything();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/external/everything"));
    browser.shows("#servers", "connected");
    browser.click("[value=disconnect]");
    browser.shows("#servers", "disconnected");
    debug.ok("external_list_servers", json!({})).has(&["disconnected"]);
    browser.click("[value=reconnect]");
    browser.shows("#server-panel", "connected");
    browser.shows("#tools", "get-sum");
    // One that writes to stderr and has a tail of it.
    let way = inline("x", &[]);
    browser.type_into("[name=name]", "second");
    browser.type_into("[name=way]", way.strip_prefix("x:").unwrap());
    browser.click(".launch .btn");
    browser.until(
        "it is shown",
        "document.readyState === 'complete' && location.pathname === '/external/second'",
    );
    browser.shows("#servers", "second");
    debug.ok("external_list_servers", json!({})).has(&["second"]);
    browser.is_well();
}

#[test]
fn a_server_without_others_says_how_to_name_them() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/external"));
    browser.shows("main", "--mcp-client");
    shoot(&mut browser, "external-empty");
    browser.is_well();
}
