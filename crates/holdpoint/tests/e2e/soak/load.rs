//! Everybody who makes work. A new one is a function and its line in [`WORK`].

use std::{path::PathBuf, sync::atomic::Ordering, time::Duration};

use holdpoint_testkit::{
    calls::{Wire, cid, now},
    debug::line,
    http::post,
    listen::{Hears as _, Listener},
    process::command,
};
use serde_json::{Value, json};

use super::{
    Soak,
    programs::{APP, STEPS_JS, STEPS_PY, TICKS_JS, TICKS_PY},
    visitors,
};

type Work = fn(&Soak);

pub(super) const WORK: &[(&str, Work)] = &[
    ("Python ticks", |soak| ticks(soak, "ticks.py", TICKS_PY, 10_000)),
    ("Node ticks", |soak| ticks(soak, "ticks.js", TICKS_JS, 8_000)),
    ("steps", steps),
    ("recorded calls", calls),
    ("an app", app),
    ("pauses", pauses),
    ("visitors", visitors::over_http),
    ("visitors of one home", visitors::over_stdio),
];

/// How long a program with tracepoints lives.
const LIFE_S: u64 = 15;
/// Passes of one that does not hurry.
const PACED: u64 = 3_500;

/// A program with a tracepoint, life after life; every fourth is a flood.
fn ticks(soak: &Soak, name: &str, text: &str, flood: u64) {
    let file = write(soak, name, text);
    let mut client = Listener::http(soak.port);
    let message = json!({ "file": file, "line": line(&file, "tick"),
        "log_message": "{n} makes {twice}" });
    client.tool("tracepoint_set", message);
    let mut lives = 0;
    while soak.goes_on_after(Duration::from_secs(1)) {
        lives += 1;
        let args = match lives % 4 {
            0 => [flood, 0, LIFE_S],
            _ => [PACED, LIFE_S * 10_000 / PACED, 0],
        };
        let args = args.map(|it| it.to_string());
        let mut said = data(&client.tool(
            "debug_launch",
            launching(
                soak,
                &file,
                json!({
            "args": args, "stop_on_entry": false, "timeout_s": LIFE_S + 5 }),
            ),
        ));
        while said["state"] != "ended" {
            assert_eq!(said["state"], "running", "{said}");
            let wait = json!({ "session_id": said["session_id"], "timeout_s": 10 });
            said = data(&client.tool("debug_wait", wait));
        }
        assert_eq!(said["exit"], json!({ "code": 0 }), "{said}");
        client.forget();
    }
}

/// Somebody who debugs: launch, a stop, steps, values, the end; each time another client.
fn steps(soak: &Soak) {
    let files = [write(soak, "steps.py", STEPS_PY), write(soak, "steps.js", STEPS_JS)];
    let mut turns = 0;
    while soak.goes_on_after(Duration::from_secs(5)) {
        turns += 1;
        let file = &files[turns % 2];
        let mut client =
            if turns % 3 == 0 { Listener::sse(soak.port) } else { Listener::http(soak.port) };
        let points = json!([{ "file": file, "line": line(file, "here") }]);
        let launch = json!({ "breakpoints": points, "stop_on_entry": false });
        let said = data(&client.tool("debug_launch", launching(soak, file, launch)));
        assert_eq!(said["state"], "stopped", "{said}");
        let session = &said["session_id"];
        for _ in 0..3 {
            let step = json!({ "session_id": session, "action": "next" });
            assert_eq!(data(&client.tool("debug_step", step))["state"], "stopped");
        }
        client.tool("debug_stack", json!({ "session_id": session }));
        let shown =
            client.tool("debug_evaluate", json!({ "session_id": session, "expression": "1 + 1" }));
        assert_ne!(shown["isError"], true, "{shown}");
        client.tool("debug_output", json!({ "session_id": session }));
        client.tool("debug_stop", json!({ "session_id": session }));
        client.leave();
    }
}

/// Calls that have ended, in batches, as many as are still missing at this moment.
fn calls(soak: &Soak) {
    let wire = Wire::new(soak.port);
    let mut number = 0_u64;
    while soak.goes_on_after(Duration::from_millis(200)) {
        let share = soak.started.elapsed().as_secs_f64() / soak.lasts.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a count of millions"
        )]
        let wanted = (soak.events as f64 * share) as u64;
        let missing = wanted.saturating_sub(soak.happened()).min(500);
        if missing > 0 {
            let answer = wire.ok("/api/call/batch", batch(&wire, number..number + missing));
            assert_eq!(answer["accepted"], missing, "{answer}");
            number += missing;
            soak.calls.fetch_add(missing, Ordering::Relaxed);
        }
    }
}

/// Each with a value that was never there before, of the size of a small object.
fn batch(wire: &Wire, numbers: std::ops::Range<u64>) -> Value {
    let (mut values, mut calls) = (Vec::new(), Vec::new());
    let at = now();
    for number in numbers {
        let text = json!(format!("order {number} {}", "of things ".repeat(60))).to_string();
        let name = cid(text.as_bytes());
        values.push(json!({ "cid": name, "data": text, "serialization_format": "json" }));
        calls.push(json!({ "method_name": "soak_price", "args": [name], "kwargs": {},
            "status": "success", "result_cid": name, "started_at": at, "completed_at": at,
            "call_site": { "timestamp": at, "stack_trace": [] } }));
    }
    json!({ "process_pid": wire.pid, "process_start_time": wire.start, "values": values,
        "calls": calls })
}

/// An app under the Python client, life after life.
fn app(soak: &Soak) {
    let file = write(soak, "app.py", APP);
    let calls = if soak.lasts < super::JUDGED { "100" } else { "3000" };
    // The newest server of the home is a visitor's.
    let url = format!("http://127.0.0.1:{}", soak.port);
    while soak.goes_on_after(Duration::from_secs(1)) {
        let file = file.display().to_string();
        let words = ["run", "--url", &url, "--", "python3", &file, calls];
        let output = command(&soak.bin, &words, &soak.home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
        let taken: u64 = said.trim().parse().unwrap();
        soak.calls.fetch_add(taken, Ordering::Relaxed);
    }
}

/// Calls that pause, and are let go on.
fn pauses(soak: &Soak) {
    let wire = Wire::new(soak.port);
    wire.add("soak_held", "stop");
    wire.ok("/api/breakpoints/soak_held/after_behavior", json!({ "behavior": "go" }));
    while soak.goes_on_after(Duration::from_secs(2)) {
        let started = wire.start("soak_held", &[json!(1)]);
        let poll = started["poll_url"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
        let resume = poll.replace("/api/poll/", "/api/paused/") + "/continue";
        wire.ok(&resume, json!({ "action": "continue" }));
        let decided = wire.get(&poll);
        assert_eq!(decided["status"], "ready", "{decided}");
        wire.complete(&started["call_id"], &json!(2));
        soak.calls.fetch_add(1, Ordering::Relaxed);
    }
}

fn write(soak: &Soak, name: &str, text: &str) -> PathBuf {
    let file = soak.folder.path().canonicalize().unwrap().join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn launching(soak: &Soak, file: &std::path::Path, more: Value) -> Value {
    let mut all = json!({ "program": file });
    if file.extension().is_some_and(|it| it == "py") {
        all["interpreter"] = json!(soak.interpreter);
    }
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

pub(super) fn data(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"]["data"].clone()
}

/// Ends a session as the protocol wants it.
pub(super) fn goodbye(port: u16, session: &str) {
    let mut request = post(port, "/mcp", "").header("mcp-session-id", session);
    request.method = "DELETE";
    let status = request.send().status;
    assert!((200..300).contains(&status), "{status}");
}
