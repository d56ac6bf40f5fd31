//! Values: a live object over time, what differs between two moments, any value by its CID; and hostile ones as text.

use holdpoint_testkit::calls::{Wire, item, merge};
use serde_json::{Value, json};

use super::{HOSTILE, calls::CallsStage, shoot};

#[test]
fn an_object_is_seen_over_time_and_two_moments_are_compared() {
    let mut stage = CallsStage::new();
    for (what, count) in [("pen", 3), ("ink", 1), ("pen", 2)] {
        stage.shop.run(&format!("shop.reserve(stock, '{what}', {count})"));
    }
    stage.open("/values");
    stage.browser.shows("#objects", "Stock");
    stage.browser.click("#objects a");
    stage.browser.until("the object", "location.pathname.startsWith('/values/object/')");
    stage.browser.shows("#m-n", "moments");
    stage.browser.shows("#diff .chg", "'ink'");
    // The first moment to the last.
    stage.browser.click("#moments li:last-child .ab-pick");
    stage.browser.until("A is chosen", "location.search.includes('a=0')");
    stage.browser.shows("#diff .chg .ins", "7");
    stage.browser.shows("#diff .chg", "−3");
    stage.browser.shows("#diff .note", "between them");
    stage.browser.shows("#value", "levels");
    stage.browser.click("#value details details summary");
    stage.browser.shows("#value ul ul", "'ink'");
    shoot(&mut stage.browser, "values");
    // A call more is a moment more.
    stage.shop.run("shop.reserve(stock, 'pen', 1)");
    stage.browser.shows("#moments", "pen 7 → 5");
    // By its CID: the same value, the calls that had it, and beside another.
    let cids = stage.browser.eval("[...document.querySelectorAll('#moments a.cid')].map((it) => it.pathname.split('/').pop())");
    let cids: Vec<String> = serde_json::from_value(cids).unwrap();
    let (newest, oldest) = (cids.first().unwrap(), cids.last().unwrap());
    stage.open(&format!("/object/{}", newest.get(..12).unwrap()));
    stage.browser.shows(".tree", "levels");
    stage.browser.shows("#used", "shop:reserve");
    stage.browser.type_into("[name=with]", oldest.get(..16).unwrap());
    stage.browser.key("Enter");
    stage.browser.until("the other", "location.search.includes('with=')");
    stage.browser.shows(".diff .chg", "−5");
    shoot(&mut stage.browser, "value");
    let seen = stage.debug.ok("breakpoint_inspect_object", json!({ "cid": newest }));
    assert!(seen.text.contains("levels"), "{}", seen.text);
    // As the call protocol names them.
    let record = stage.records("shop:reserve")[0].clone();
    let (process, number) =
        (record["process_key"].as_str().unwrap(), &record["args"][0]["client_ref"]);
    stage.open(&format!("/object/ref:{process}:{number}"));
    stage.browser.shows("#m-n", "moments");
    stage.open("/objects");
    stage.browser.key("/");
    stage.browser.ask("Input.insertText", json!({ "text": "no such thing" }));
    stage.browser.key("Enter");
    stage.browser.shows("#objects", "is like that");
    stage.browser.is_well();
}

/// A call of an app with hostile values everywhere.
fn hostile_call(wire: &Wire, name: &str, value: &Value) {
    let mut body = wire.start_body(name, std::slice::from_ref(value), json!({}));
    let frame =
        json!({ "filename": HOSTILE, "lineno": 3, "function": HOSTILE, "code_context": HOSTILE });
    merge(
        &mut body,
        json!({
            "kwargs": { HOSTILE: item(value) }, "signature": HOSTILE, "thread_name": HOSTILE, "thread_id": 1,
            "call_site": { "timestamp": 1.0, "stack_trace": [frame] },
        }),
    );
    body["args"][0]["client_ref"] = json!(HOSTILE);
    let started = wire.ok("/api/call/start", body);
    let mut done = wire.complete_body(started["call_id"].as_str().unwrap(), value);
    merge(
        &mut done,
        json!({ "exception_type": HOSTILE, "exception_message": HOSTILE, "status": "exception",
        "exception_traceback": format!("File \"{HOSTILE}\", line 3\n{HOSTILE}") }),
    );
    wire.ok("/api/call/complete", done);
}

#[test]
fn hostile_values_of_calls_are_shown_as_text() {
    let mut stage = CallsStage::new();
    let wire = Wire::new(stage.debug.rpc.process.port());
    let mut deep = json!(HOSTILE);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let long = "x</script>".repeat(500_000);
    let values = [json!(HOSTILE), json!({ HOSTILE: [HOSTILE] }), deep, json!(long)];
    for value in &values {
        hostile_call(&wire, HOSTILE, value);
    }
    // Ten thousand deep, and bytes that are no text: as Python has them.
    stage.shop.run("shop.echo(eval('[' * 90 + ']' * 90))");
    stage.shop.run("shop.echo(__import__('functools').reduce(lambda a, _: [a], range(900), 0))");
    stage.shop.run("shop.echo(b'\\xff\\xfe</script>')");
    stage.shop.run("shop.echo('\\ud800')");
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let odd = json!({ "cid": holdpoint_testkit::calls::cid(deep.as_bytes()), "data": deep, "serialization_format": "json" });
    let body = wire.start_body("deep", &[], json!({ "args": [odd.clone()] }));
    wire.ok("/api/call/start", body);
    let deepest = odd["cid"].as_str().unwrap().to_owned();
    stage.debug.ok("breakpoint_add", json!({ "function_name": HOSTILE, "behavior": "stop" }));
    wire.start(HOSTILE, &[json!(HOSTILE)]);
    let calls = wire.get("/api/calls?limit=100")["calls"].clone();
    let mut paths: Vec<String> =
        ["/now", "/calls", "/calls/records", "/calls/tree", "/calls/points", "/values"]
            .map(str::to_owned)
            .to_vec();
    for call in calls.as_array().unwrap() {
        paths.push(format!("/calls/call/{}", call["call_id"].as_str().unwrap()));
        let cid = call["args"][0]["cid"].as_str().unwrap_or_default();
        if !cid.is_empty() {
            paths.push(format!("/values/cid/{cid}"));
        }
    }
    for path in &paths {
        stage.open(path);
        let odd = "[document.images.length, document.scripts.length, window.hit ?? 0]";
        assert_eq!(stage.browser.eval(odd), json!([0, 1, 0]), "{path}");
        let text = stage.browser.eval("document.body.textContent");
        let text = text.as_str().unwrap();
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{path}");
        assert!(!text.contains("49") || text.contains("{{7*7}}") || !text.contains("{{"), "{path}");
        assert!(text.len() < 2_000_000, "{path} has {} bytes", text.len());
        let wide = stage.browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_i64().unwrap_or_default() <= 0, "{path} is {wide} too wide");
    }
    // As deep as anybody opens it, with what lies below in words; and so an agent sees it.
    stage.open(&format!("/values/cid/{deepest}"));
    stage.browser.shows("main", "nested 10,000 levels deep; 60 of them");
    stage.browser.click(".tree details details summary");
    stage.browser.shows(".tree details details ul", "[[[");
    let inspected = stage.debug.ok("breakpoint_inspect_object", json!({ "cid": deepest }));
    inspected.has(&["[[["]);
    stage.open("/calls/records");
    stage.browser.shows("#records", "</script><img src=x");
    shoot(&mut stage.browser, "calls-hostile");
    stage.open("/calls");
    stage.browser.shows("#decide", "</script><img src=x");
    stage.browser.is_well();
}
