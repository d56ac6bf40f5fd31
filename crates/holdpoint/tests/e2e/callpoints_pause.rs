//! Paused calls: who waits, for how long, what a decision does, and apps that are gone.

use std::{net::Ipv4Addr, process::Command, thread::JoinHandle};

use holdpoint_testkit::{
    calls::{Wire, cid, item, merge, now},
    http::Request,
    process::Process,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

/// Starts a call that pauses; its pause and its call.
fn pause(wire: &Wire, name: &str, args: &[Value]) -> (String, Value) {
    wire.add(name, "stop");
    let started = wire.start(name, args);
    assert_eq!(started["action"], "poll", "{started}");
    let url = started["poll_url"].as_str().unwrap();
    (url.strip_prefix("/api/poll/").unwrap().to_owned(), started)
}

fn poll(wire: &Wire, id: &str, hold_s: u32) -> JoinHandle<Value> {
    let (wire, path) = (wire.clone(), format!("/api/poll/{id}?hold_s={hold_s}"));
    std::thread::spawn(move || wire.get(&path))
}

/// Continues and says what the app is told.
fn decide(wire: &Wire, id: &str, body: Value) -> Value {
    let answer = wire.ok(&format!("/api/paused/{id}/continue"), body);
    assert_eq!((&answer["status"], &answer["pause_id"]), (&json!("ok"), &json!(id)));
    let polled = wire.get(&format!("/api/poll/{id}"));
    assert_eq!(polled["status"], "ready");
    polled["action"].clone()
}

#[test]
fn a_pause_has_the_shape_of_the_wire() {
    let (_process, wire) = serve();
    let (id, started) = pause(&wire, "f", &[json!({ "price": 1.5 })]);
    assert_eq!(started["timeout_ms"], 60_000);
    assert_eq!(started["poll_interval_ms"], 100);
    assert!(started["call_id"].is_string());
    let paused = wire.paused();
    assert_eq!(paused["id"], json!(id));
    assert!(paused["paused_at"].as_f64().unwrap() > 1e9);
    assert_eq!(paused["repl_sessions"], json!([]));
    let data = &paused["call_data"];
    assert_eq!(data["method_name"], "f");
    assert_eq!(data["pretty_args"], json!([{ "price": 1.5 }]));
    assert_eq!((&data["pause_reason"], &paused["phase"]), (&json!("breakpoint"), &json!("before")));
    assert_eq!(data["call_id"], started["call_id"]);
    for field in [
        "target",
        "pretty_target",
        "args",
        "kwargs",
        "pretty_kwargs",
        "signature",
        "call_site",
        "page_url",
        "preferred_format",
        "process_pid",
        "process_start_time",
        "process_key",
    ] {
        assert!(data.get(field).is_some(), "{field}");
    }
    assert!(data.get("pretty_result").is_none());
    assert_eq!(wire.get(&format!("/api/poll/{id}?hold_s=0")), json!({ "status": "waiting" }));
}

/// A client that lost its connection sends again while the first is still being taken in.
#[test]
fn identical_starts_at_once_are_one_pause() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    let body = wire.start_body("f", &[json!("x".repeat(1_000))], json!({}));
    let all = std::thread::scope(|scope| {
        let start = || wire.ok("/api/call/start", body.clone());
        let sent: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        sent.into_iter().map(|it| it.join().unwrap()).collect::<Vec<Value>>()
    });
    assert!(all.iter().all(|it| *it == all[0]), "{all:?}");
    assert_eq!(wire.get("/api/paused")["paused"].as_array().unwrap().len(), 1);
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 1);
}

#[test]
fn a_held_poll_hears_the_decision() {
    let (_process, wire) = serve();
    let (id, _) = pause(&wire, "f", &[]);
    let held = poll(&wire, &id, 20);
    until("a poll that is held", || {
        wire.paused()["last_seen_s"].as_f64().filter(|seen| *seen == 0.0)
    });
    wire.ok(&format!("/api/paused/{id}/continue"), json!({}));
    assert_eq!(
        held.join().unwrap(),
        json!({ "status": "ready", "action": { "action": "continue" } })
    );
    // A peek: as often as it is asked, until the call ends.
    assert_eq!(wire.get(&format!("/api/poll/{id}"))["status"], "ready");
    assert_eq!(wire.get("/api/paused")["paused"], json!([]));
}

#[test]
fn every_action_of_the_table() {
    let (_process, wire) = serve();
    let five = item(&json!(5));
    let paused = || pause(&wire, "f", &[json!(1)]).0;
    assert_eq!(decide(&wire, &paused(), json!({})), json!({ "action": "continue" }));
    let skip = decide(&wire, &paused(), json!({ "action": "skip", "fake_result": 5 }));
    assert_eq!(
        skip,
        json!({
            "action": "skip", "fake_result": 5, "fake_result_cid": five["cid"],
            "fake_result_data": "5", "fake_result_serialization_format": "json",
        })
    );
    let raise =
        json!({ "action": "raise", "exception_type": "KeyError", "exception_message": "no" });
    assert_eq!(decide(&wire, &paused(), raise.clone()), raise);
    let replace =
        decide(&wire, &paused(), json!({ "action": "skip", "replacement_function": "g" }));
    assert_eq!(replace, json!({ "action": "replace", "function_name": "g" }));
    let modify = decide(&wire, &paused(), json!({ "action": "modify", "modified_args": [5] }));
    assert_eq!(modify["modified_args"], json!([five]));
    assert_eq!(modify["modified_kwargs"], json!({}));
    // "continue" with other arguments is no plain continue.
    let quiet = decide(&wire, &paused(), json!({ "modified_args": [{ "cid": "mine" }] }));
    assert_eq!(quiet["action"], "modify");
    assert_eq!(quiet["modified_args"], json!([{ "cid": "mine" }]));
    let id = paused();
    let (status, refused) =
        wire.post(&format!("/api/paused/{id}/continue"), json!({ "action": "explode" }));
    assert_eq!((status, &refused["error"]), (400, &json!("invalid_action")));
    assert_eq!(wire.paused()["id"], json!(id));
}

/// A page gets the other half with its data, because it keeps none.
#[test]
fn half_a_change_keeps_the_other_half() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    let body = wire.start_body("f", &[json!(1)], json!({ "kwargs": { "k": item(&json!("x")) } }));
    let started = wire.ok("/api/call/start", body);
    let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let action = decide(&wire, &id, json!({ "action": "modify", "modified_args": [2] }));
    assert_eq!(action["modified_args"], json!([item(&json!(2))]));
    assert_eq!(action["modified_kwargs"], json!({ "k": item(&json!("x")) }));
}

/// What a Python app is sent is a pickle.
#[test]
fn a_python_app_is_sent_pickles() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    let body = wire.start_body("f", &[], json!({ "preferred_format": "dill" }));
    let started = wire.ok("/api/call/start", body);
    let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let action = decide(&wire, &id, json!({ "action": "skip", "fake_result": 5 }));
    assert_eq!(action["fake_result_data"], "gARLBS4=");
    assert_eq!(action["fake_result_cid"], cid(b"\x80\x04K\x05."));
    assert_eq!(action["fake_result_serialization_format"], "dill");
}

/// After a call, whatever is decided, the app goes on.
#[test]
fn after_a_call_every_decision_is_to_go_on() {
    let (_process, wire) = serve();
    wire.add("f", "go");
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "stop" }));
    for decision in [
        json!({ "action": "skip", "fake_result": 1 }),
        json!({ "action": "raise", "exception_type": "KeyError" }),
        json!({ "replacement_function": "g" }),
        json!({ "modified_args": [1] }),
    ] {
        let started = wire.start("f", &[json!(1)]);
        let completed = wire.complete(&started["call_id"], &json!({ "total": 7 }));
        assert_eq!(completed["action"], "poll");
        assert!(completed.get("call_id").is_none());
        let paused = wire.paused();
        assert_eq!(paused["phase"], "after");
        assert_eq!(paused["call_data"]["pretty_result"], json!({ "total": 7 }));
        // Sent again after a timeout, the completion has the same answer.
        assert_eq!(wire.complete(&started["call_id"], &json!(0)), completed);
        let id = paused["id"].as_str().unwrap();
        assert_eq!(decide(&wire, id, decision), json!({ "action": "continue" }));
    }
    assert_eq!(wire.get("/api/calls")["total_count"], 4);
    // Whoever wanted a change is told that there was none; whoever did not is not bothered.
    for (decision, warned) in [(json!({ "action": "skip" }), true), (json!({}), false)] {
        let started = wire.start("f", &[json!(1)]);
        wire.complete(&started["call_id"], &json!(7));
        let path = format!("/api/paused/{}/continue", wire.paused()["id"].as_str().unwrap());
        let answer = wire.ok(&path, decision);
        assert_eq!(answer.get("warning").is_some(), warned, "{answer}");
    }
}

/// Existing clients do not wait after an exception; the pause says that nobody does.
#[test]
fn a_pause_after_an_exception_says_that_nobody_waits() {
    let (_process, wire) = serve();
    wire.add("f", "go");
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "exception" }));
    wire.call("f", &[], &json!(1));
    let started = wire.start("f", &[]);
    let ended = json!({
        "call_id": started["call_id"], "status": "exception", "exception_type": "ValueError",
        "exception_message": "bad", "timestamp": now(),
    });
    let completed = wire.ok("/api/call/complete", ended);
    assert_eq!(completed["action"], "poll");
    let paused = wire.paused();
    assert_eq!(paused["call_data"]["pause_reason"], "exception");
    assert_eq!(paused["call_data"]["exception"]["summary"], "ValueError: bad");
    let paused = until("a pause that nobody waits at", || {
        Some(wire.paused()).filter(|it| it["post_mortem"] == true)
    });
    assert_eq!(paused["waiting"], false);
    // An expression there is answered at once, and says why.
    let session = wire.ok("/api/repl/start", json!({ "pause_id": paused["id"] }));
    let path = format!("/api/repl/{}/eval", session["session_id"].as_str().unwrap());
    let (status, answer) = wire.post(&path, json!({ "expr": "1" }));
    assert_eq!((status, &answer["error"]), (504, &json!("eval_timeout")));
    assert!(answer["message"].as_str().unwrap().contains("nothing waits"));
    decide(&wire, paused["id"].as_str().unwrap(), json!({}));
}

/// A pause that nobody knows is over.
#[test]
fn an_unknown_pause_is_over() {
    let (_process, wire) = serve();
    assert_eq!(
        wire.get("/api/poll/no-such-pause"),
        json!({ "status": "ready", "action": { "action": "continue" } })
    );
    let answer = wire.ok("/api/paused/no-such-pause/continue", json!({}));
    assert_eq!(answer, json!({ "status": "ok", "pause_id": "no-such-pause", "resumed": false }));
    let (id, _) = pause(&wire, "f", &[]);
    let first = decide(&wire, &id, json!({ "action": "skip", "fake_result": 1 }));
    // The first decision counts.
    assert_eq!(wire.ok(&format!("/api/paused/{id}/continue"), json!({}))["resumed"], false);
    assert_eq!(wire.get(&format!("/api/poll/{id}"))["action"], first);
}

/// An app that died while it was paused is noticed.
#[test]
fn a_dead_app_is_noticed_and_dropped() {
    let (_process, wire) = serve();
    let mut child = Command::new("sleep").arg("100").spawn().unwrap();
    let app = Wire { pid: child.id(), ..wire.clone() };
    pause(&app, "f", &[]);
    let in_flight = || wire.get("/api/calls/in-flight")["total_count"].clone();
    assert_eq!((wire.paused()["waiting"].clone(), in_flight()), (json!(true), json!(1)));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the pause is dropped", || {
        wire.get("/api/paused")["paused"].as_array().filter(|it| it.is_empty()).map(|_| ())
    });
    // And its call is recorded as one that never ended.
    let record = until("the record of the call", || {
        Some(wire.get("/api/calls")["calls"][0].clone()).filter(|it| !it.is_null())
    });
    assert_eq!(record["status"], "abandoned");
    assert_eq!(in_flight(), 0);
}

#[test]
fn the_app_of_a_call_that_outlives_the_server_goes_on() {
    let (mut process, wire) = serve();
    let (id, started) = pause(&wire, "f", &[]);
    let held = poll(&wire, &id, 20);
    until("a poll that is held", || {
        wire.paused()["last_seen_s"].as_f64().filter(|seen| *seen == 0.0)
    });
    process.signal("TERM");
    assert_eq!(held.join().unwrap()["action"], json!({ "action": "continue" }));
    // Whoever was paused is heard out; the port is closed only then.
    assert_eq!(wire.start("other", &[])["action"], "continue");
    assert_eq!(wire.complete(&started["call_id"], &json!(7)), json!({ "status": "ok" }));
    let (status, _) = process.end();
    assert!(status.success(), "{status}");
    assert!(wire.try_send("GET", "/healthz", None).is_err());
}

/// After its call an app has nothing more to tell than that it heard.
#[test]
fn the_app_of_a_call_that_is_over_hears_that_it_goes_on() {
    let (mut process, wire) = serve();
    wire.add("f", "go");
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "stop" }));
    let started = wire.start("f", &[]);
    let paused = wire.complete(&started["call_id"], &json!(1));
    let url = paused["poll_url"].as_str().unwrap().to_owned();
    assert_eq!(wire.get(&format!("{url}?hold_s=0"))["status"], "waiting");
    process.signal("TERM");
    until("the word to go on", || {
        let polled = wire.get(&format!("{url}?hold_s=0"));
        (polled["status"] == "ready").then_some(())
    });
    let (status, _) = process.end();
    assert!(status.success(), "{status}");
}

/// An app in a container, or on another host: its process number means nothing here.
#[test]
fn whoever_polls_lives_whatever_its_process_number() {
    let (_process, wire) = serve();
    // More than there may be.
    let app = Wire { pid: 0x7fff_fff0, ..wire.clone() };
    let (id, started) = pause(&app, "f", &[]);
    let running = app.start("g", &[]);
    // Longer than an app may be silent whose process is gone.
    assert_eq!(poll(&app, &id, 8).join().unwrap(), json!({ "status": "waiting" }));
    assert_eq!(wire.paused()["id"], json!(id));
    assert_eq!(decide(&wire, &id, json!({ "action": "skip" }))["action"], "skip");
    app.complete(&started["call_id"], &json!(1));
    // Nor is a call given up that takes its time and says nothing meanwhile.
    app.complete(&running["call_id"], &json!(2));
    let of = |call: &Value| wire.get(&format!("/api/calls/{}", call["call_id"].as_str().unwrap()));
    assert_eq!(of(&started)["call"]["status"], "success");
    assert_eq!(of(&running)["call"]["status"], "success");
}

/// 2**70 + 1 is no float.
#[test]
fn integers_of_any_size_arrive_as_they_are() {
    let (_process, wire) = serve();
    let large = "1180591620717411303425";
    let pickle = "gASVDAAAAAAAAACKCQEAAAAAAAAAQC4=";
    wire.add("f", "stop");
    for (format, data) in [("json", large), ("dill", pickle)] {
        for wish in ["\"action\": \"skip\", \"fake_result\": N", "\"modified_args\": [N]"] {
            let body = wire.start_body("f", &[], json!({ "preferred_format": format }));
            let started = wire.ok("/api/call/start", body);
            let url = started["poll_url"].as_str().unwrap();
            let id = url.rsplit('/').next().unwrap();
            let answer = Request {
                address: Ipv4Addr::LOCALHOST.into(),
                port: wire.port,
                method: "POST",
                path: &format!("/api/paused/{id}/continue"),
                headers: vec![("Content-Type", "application/json".to_owned())],
                body: format!("{{{}}}", wish.replace('N', large)),
            };
            assert_eq!(answer.send().status, 200);
            let told = wire.send("GET", url, None);
            let action = told.json()["action"].clone();
            let item = match action["modified_args"].get(0) {
                Some(item) => item["data"].clone(),
                None => action["fake_result_data"].clone(),
            };
            assert_eq!(item, data, "{format}, {wish}");
            let plain = format!("\"fake_result\":{large},");
            assert_eq!(told.body.contains(&plain), wish.contains("skip"), "{}", told.body);
            wire.complete(&started["call_id"], &json!(0));
        }
    }
}

/// Polls of an app whose event loop they would hold up are answered at once.
#[test]
fn async_callers_are_not_held() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    let frame = |file: &str| json!({ "filename": file, "lineno": 1, "function": "g" });
    let started = |more: Value| {
        let mut body = wire.start_body("f", &[], json!({ "preferred_format": "dill" }));
        merge(&mut body, more);
        wire.ok("/api/call/start", body)
    };
    let helper = "(*call_args: 'Any', **call_kwargs: 'Any') -> 'Any'";
    for more in [
        json!({ "async": true }),
        json!({ "signature": helper }),
        json!({
            "call_site": {
                "timestamp": now(),
                "stack_trace": [frame("app.py"), frame("/usr/lib/python3/asyncio/runners.py")],
            },
        }),
    ] {
        let answer = started(more);
        assert_eq!(answer["poll_interval_ms"], 25);
        // Without a word about holding: the answer is there at once, or this test takes ten seconds each.
        let began = std::time::Instant::now();
        assert_eq!(wire.get(answer["poll_url"].as_str().unwrap())["status"], "waiting");
        assert!(began.elapsed() < std::time::Duration::from_secs(9));
    }
    assert_eq!(started(json!({}))["poll_interval_ms"], 100);
}

/// The caller's arguments beside the result of others would be a lie.
#[test]
fn a_record_says_what_was_decided() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "go" }));
    let run = |wish: Value, error: Option<&str>| {
        let started = wire.start("f", &[json!(1)]);
        let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        decide(&wire, &id, wish);
        let call_id = started["call_id"].as_str().unwrap();
        let mut end = wire.complete_body(call_id, &json!(2));
        merge(&mut end, json!({ "action_error": error }));
        wire.ok("/api/call/complete", end);
        let call = wire.get(&format!("/api/calls/{call_id}"))["call"].clone();
        assert_eq!(call["pretty_args"], json!([1]));
        (call["line"].as_str().unwrap().to_owned(), call["decision"].clone())
    };
    let (line, decision) = run(json!({}), None);
    assert_eq!((line.as_str(), decision), ("f(1) → 2", json!({ "action": "continue" })));
    let (line, decision) = run(json!({ "action": "modify", "modified_args": [5] }), None);
    assert_eq!(line, "f(1) [modify] → 2");
    assert_eq!(decision, json!({ "action": "modify", "modified_args": [5] }));
    let (line, decision) = run(json!({ "action": "skip", "fake_result": 2 }), None);
    assert_eq!((line.as_str(), decision), ("f(1) [skip] → 2", json!({ "action": "skip" })));
    let (line, decision) = run(json!({ "replacement_function": "g" }), Some("there is no g"));
    assert_eq!(line, "f(1) → 2");
    let undone = json!({ "action": "replace", "function_name": "g", "not_done": "there is no g" });
    assert_eq!(decision, undone);
    let plain = wire.start("other", &[]);
    wire.complete(&plain["call_id"], &json!(0));
    let call = wire.get(&format!("/api/calls/{}", plain["call_id"].as_str().unwrap()));
    assert!(call["call"].get("decision").is_none(), "{call}");
}
