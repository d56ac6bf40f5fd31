//! What was recorded, over MCP: records in pages, and values by their CIDs and paths.

use std::collections::BTreeSet;

use holdpoint_testkit::calls::{Shop, cid, item, merge, now, prefixed};
use serde_json::{Value, json};

use crate::callpoints_mcp::Stage;

/// The newest, with how many there are.
#[test]
fn records_are_the_newest_with_their_number() {
    let mut stage = Stage::new();
    let get =
        |stage: &mut Stage, arguments: Value| stage.ok("breakpoint_get_call_records", arguments);
    let empty = get(&mut stage, json!({}));
    assert_eq!(empty, json!({ "calls": [], "total_count": 0, "truncated": false }));
    for number in 0..120 {
        stage.wire.call("f", &[json!(number)], &json!(number));
    }
    let started = stage.wire.start("g", &[]);
    let middle = now();
    let mut ended = json!({
        "call_id": started["call_id"], "status": "exception", "exception_type": "ValueError",
        "exception_message": "bad", "timestamp": now(),
    });
    merge(&mut ended, prefixed("exception", &item(&json!({ "name": "ValueError" }))));
    stage.wire.ok("/api/call/complete", ended);
    let all = get(&mut stage, json!({}));
    assert_eq!(all["calls"].as_array().unwrap().len(), 100);
    assert_eq!((&all["total_count"], &all["truncated"]), (&json!(121), &json!(true)));
    let newest = &all["calls"][0];
    assert_eq!((&newest["method_name"], &newest["status"]), (&json!("g"), &json!("exception")));
    assert_eq!(newest["exception"]["summary"], "ValueError: bad");
    let two = get(&mut stage, json!({ "function_name": "f", "limit": 2 }));
    assert_eq!((&two["total_count"], &two["truncated"]), (&json!(120), &json!(true)));
    assert_eq!(two["calls"][0]["pretty_result"], 119);
    let next = get(&mut stage, json!({ "function_name": "f", "limit": 2, "before": two["next"] }));
    assert_eq!(next["calls"][0]["pretty_result"], 117);
    let one = get(&mut stage, json!({ "since": middle }));
    assert_eq!(
        get(&mut stage, json!({ "completed_after": middle })),
        one,
        "`since` is its old name"
    );
    assert_eq!((&one["total_count"], &one["truncated"]), (&json!(1), &json!(false)));
    assert_eq!(get(&mut stage, json!({ "until": middle }))["total_count"], 120);
    // The contract's number of them is about 60 tokens each; less is shown only to whoever asks for less.
    assert!(all.to_string().len() < 100 * 60 * 36 / 10, "{}", all.to_string().len());
    let hint = format!("100 of 121, the newest; older ones: `before: {}`", all["next"]);
    assert_eq!(all["hint"], json!(hint));
    let mut seen = Vec::new();
    let mut page = get(&mut stage, json!({ "budget_tokens": 1_000 }));
    assert_eq!((&page["truncated"], &page["total_count"]), (&json!(true), &json!(121)));
    assert!(page["left_out"].as_u64().unwrap() > 0, "the budget holds a hundred: {page}");
    loop {
        let calls = page["calls"].as_array().unwrap().clone();
        let left_out = page["left_out"].as_u64().unwrap_or_default();
        assert!(left_out == 0 || calls.len() as u64 + left_out == 100.min(121 - seen.len() as u64));
        seen.extend(calls.iter().map(|it| it["call_id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_i64() else { break };
        page = get(&mut stage, json!({ "budget_tokens": 1_000, "before": next }));
    }
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (121, 121));
    let full = get(&mut stage, json!({ "limit": 1, "function_name": "f", "full": true }));
    let full = &full["calls"][0];
    assert_eq!(full["args"][0]["cid"].as_str().unwrap().len(), 128);
    assert!(full["call_site"]["stack_trace"].is_array() && full["process_key"].is_string());
    let zero = stage.error("breakpoint_get_call_records", json!({ "limit": 0 }));
    assert_eq!(zero["error"], "invalid_limit");
}

/// 128 digits are more than anybody copies: 8 are enough, as long as they name one value.
#[test]
fn a_value_is_named_by_the_beginning_of_its_cid() {
    let mut stage = Stage::new();
    // The CIDs of these two begin with the same eight digits.
    let (one, two) = (json!(14_183), json!(93_656));
    let (whole, other) = (cid(b"14183"), cid(b"93656"));
    let both = whole.get(..8).unwrap();
    assert!(other.starts_with(both));
    stage.wire.call("f", &[one], &json!(0));
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": both }));
    assert_eq!((&found["repr"], &found["cid"]), (&json!("14183"), &json!(whole.get(..16))));
    let full = stage.ok("breakpoint_inspect_object", json!({ "cid": both, "full": true }));
    assert_eq!(full["cid"], json!(whole));
    let upper = both.to_uppercase();
    assert_eq!(stage.wire.get(&format!("/api/objects/{upper}"))["cid"], json!(whole));
    // The app is sent the whole of it.
    let id = stage.pause("f", &[json!(1)]);
    let wish = json!({ "pause_id": id, "modified_args": [{ "cid": both }] });
    stage.ok("breakpoint_continue", wish);
    assert_eq!(stage.polled(&id)["modified_args"], json!([{ "cid": whole }]));
    stage.wire.call("g", &[two], &json!(0));
    let several = stage.error("breakpoint_inspect_object", json!({ "cid": both }));
    assert_eq!((&several["error"], &several["matches"]), (&json!("cid_ambiguous"), &json!(2)));
    let (status, body) = {
        let response = stage.wire.send("GET", &format!("/api/objects/{both}"), None);
        (response.status, response.json())
    };
    assert_eq!((status, &body["matches"]), (400, &json!(2)));
    let nine = whole.get(..9).unwrap();
    assert_eq!(stage.ok("breakpoint_inspect_object", json!({ "cid": nine }))["repr"], "14183");
    for (cid, error) in [(both, "cid_ambiguous"), ("0123456789", "cid_not_found")] {
        let id = stage.pause("f", &[]);
        let wish = json!({ "pause_id": id, "modified_args": [{ "cid": cid }] });
        assert_eq!(stage.error("breakpoint_continue", wish)["error"], error);
        stage.ok("breakpoint_continue", json!({ "pause_id": id }));
    }
    let seven = stage.error("breakpoint_inspect_object", json!({ "cid": whole.get(..7) }));
    assert_eq!(seven["error"], "cid_not_found");
    assert!(seven["hint"].as_str().unwrap().contains("8 digits"), "{seven}");
}

/// Whatever format it came in.
#[test]
fn a_list_is_a_list_without_attributes() {
    let mut stage = Stage::new();
    let list = json!([1, 2, 3]);
    // pickle.dumps([1, 2, 3], 4), pickle.dumps((1, 2), 4)
    let pickled = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02K\x03e.";
    let dill = json!({ "cid": cid(pickled), "data": "gASVCwAAAAAAAABdlChLAUsCSwNlLg==" });
    let args = json!({ "args": [item(&list), dill] });
    let started = stage.wire.ok("/api/call/start", stage.wire.start_body("f", &[], args));
    stage.wire.complete(&started["call_id"], &json!(0));
    for id in [item(&list)["cid"].clone(), json!(cid(pickled))] {
        let found = stage.ok("breakpoint_inspect_object", json!({ "cid": id }));
        assert_eq!((&found["type"], &found["attributes"]), (&json!("list"), &json!({})));
        assert_eq!((&found["repr"], &found["length"]), (&json!("[1, 2, 3]"), &json!(3)), "{found}");
        assert_eq!(found["cid"], id);
        let inside = stage.ok("breakpoint_inspect_object", json!({ "cid": id, "path": "[1]" }));
        assert_eq!((&inside["type"], &inside["repr"]), (&json!("int"), &json!("2")));
    }
}

#[test]
fn captured_values_are_looked_into() {
    let mut stage = Stage::new();
    let value = json!({ "items": [{ "name": "pen" }, 2], "total": 7 });
    stage.wire.call("f", std::slice::from_ref(&value), &json!(1));
    let id = item(&value)["cid"].clone();
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": id }));
    assert_eq!((&found["cid"], &found["type"]), (&id, &json!("dict")));
    assert!(found["repr"].as_str().unwrap().contains("pen"));
    assert_eq!(found["attributes"]["['total']"], 7);
    let inside =
        stage.ok("breakpoint_inspect_object", json!({ "cid": id, "path": "['items'][0].name" }));
    assert_eq!((&inside["type"], &inside["repr"]), (&json!("str"), &json!("'pen'")));
    let lost = stage.error("breakpoint_inspect_object", json!({ "cid": id, "path": ".price" }));
    assert_eq!(lost["error"], "path_not_found");
    let none = stage.error("breakpoint_inspect_object", json!({ "cid": "abc" }));
    assert_eq!((&none["error"], &none["cid"]), (&json!("cid_not_found"), &json!("abc")));
    let broken = json!({ "cid": cid(b"nonsense"), "data": "bm9uc2Vuc2U=" });
    let body = stage.wire.start_body("f", &[], json!({ "args": [broken] }));
    stage.wire.ok("/api/call/start", body);
    let failed = stage.error("breakpoint_inspect_object", json!({ "cid": cid(b"nonsense") }));
    assert_eq!(
        (&failed["error"], &failed["type"]),
        (&json!("deserialization_failed"), &json!("unknown"))
    );
    assert_eq!(failed["attributes"], json!({}));
}

/// What the cideldill client sends in place of an object that does not pickle.
#[test]
fn an_object_that_does_not_pickle_can_be_looked_into() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(stage.wire.port);
    shop.run("identity(client.Unpicklable('socket'))");
    let records = stage.ok("breakpoint_get_call_records", json!({ "function_name": "identity" }));
    let cid = records["calls"][0]["args"][0]["cid"].clone();
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": cid }));
    assert_eq!(found["cid"], cid);
    assert!(found["repr"].as_str().unwrap().contains("Socket"), "{found}");
    assert!(found["attributes"].to_string().contains("80"), "{found}");
}
