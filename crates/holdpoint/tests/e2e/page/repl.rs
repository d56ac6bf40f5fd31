//! Expressions in paused calls of a real app: transcripts that are kept, and one that is live.

use holdpoint_testkit::calls::{Shop, Wire};
use serde_json::json;

use super::{python, shoot, signed_in};

#[test]
fn a_live_transcript_is_asked_on_and_a_closed_one_is_kept() {
    let mut debug = python();
    let wire = Wire::new(debug.rpc.process.port());
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(wire.port);
    wire.ok("/api/breakpoints/add/behavior", json!({ "behavior": "stop" }));
    shop.begin("add(20, 22)");
    let paused = wire.paused();
    let pause = paused["id"].clone();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/repl"));
    browser.shows("main", "Nothing was asked yet");
    // An agent asks: it shows by itself.
    let said =
        debug.ok("breakpoint_repl_eval", json!({ "pause_id": pause, "expression": "20 + 22" }));
    browser.shows("#rt-talk", "20 + 22");
    browser.shows("#rt-talk samp", "42");
    browser.shows("#rt-talk .asker", "testkit");
    browser.shows("#repls", "add");
    // The known addresses lead here too.
    let session = said.data["session_id"].as_str().unwrap().to_owned();
    browser.open(&format!("{base}/repls"));
    browser.shows("#repls", "add");
    browser.open(&format!("{base}/repl/{session}"));
    browser.key("`");
    browser.ask("Input.insertText", json!({ "text": "20 * 100" }));
    browser.key("Enter");
    browser.shows("#rt-talk samp", "2000");
    browser.shows("#rt-talk li:last-child .asker", "you");
    browser.until("the line is empty", "document.querySelector('#rp').value === ''");
    browser.type_into("#rp", "nothing_of_that_name");
    browser.key("Enter");
    browser.shows("#rt-talk samp.fail", "nothing_of_that_name");
    browser.type_into("#rp", "'</script><img src=x onerror=alert(1)>'");
    browser.key("Enter");
    browser.shows("#rt-talk samp", "<img src=x onerror");
    assert_eq!(browser.eval("document.images.length"), json!(0));
    let kept = wire.get(&format!("/api/repl/{session}"));
    assert_eq!(kept["session"]["transcript"].as_array().unwrap().len(), 4, "{kept}");
    let by: Vec<&serde_json::Value> = kept["session"]["transcript"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["by"]["kind"])
        .collect();
    assert_eq!(by, ["client", "person", "person", "person"], "{kept}");
    let wide = browser.eval("document.querySelector('#q').clientWidth");
    assert!(wide.as_u64().unwrap() > 200, "the search field is {wide} wide");
    shoot(&mut browser, "repl");
    // The call goes on: what was said stays, and nothing more can be asked.
    debug.ok("breakpoint_continue", json!({ "pause_id": pause, "action": "continue" }));
    browser.shows("#rt-head", "closed");
    // Where somebody types is left alone until they leave it.
    browser.key("Escape");
    browser.shows("#rt-prompt", "nothing more can be asked");
    assert_eq!(shop.line(), "= 42");
    browser.open(&format!("{base}/repls?status=active"));
    browser.shows("#repls", "None of them");
    browser.open(&format!("{base}/repls?search=nothing_of"));
    browser.shows("#repls", "add");
    browser.is_well();
}
