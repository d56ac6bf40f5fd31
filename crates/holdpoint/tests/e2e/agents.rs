//! What the model of each known client is shown: the client's own way from a result to its model is walked
//! with the answers of every tool. `holdpoint tools --clients --json` says whose way is which.

use std::process::Command;

use holdpoint_testkit::{
    calls::Wire,
    debug::{Debug, python},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Characters of one answer at the most where the call asks for no more, as its reader counts them.
const MOST: usize = 7_500;
/// What a client's own wrapping of the text may cost on top.
const WRAPPING: usize = 120;

const PROGRAM: &str = "\
import sys


def work(count):
    total = 0
    for n in range(count):
        total += n
    return total


class Order:
    def __init__(self, number):
        self.number = number
        self.lines = list(range(number))


orders = [Order(n) for n in range(40)]
while True:
    work(3)
    print('round', file=sys.stderr)
";

/// Every tool with arguments that make it do something, in an order that makes sense.
fn calls(file: &str, pause: &str, cid: &str) -> Vec<(&'static str, Value)> {
    let at = |line: u32| json!({ "file": file, "line": line });
    vec![
        ("server_status", json!({})),
        ("debug_status", json!({})),
        (
            "debug_launch",
            json!({ "program": file, "breakpoints": [at(7)], "stop_on_entry": false }),
        ),
        ("debug_breakpoint", at(8)),
        ("debug_continue", json!({})),
        ("debug_step", json!({ "action": "next" })),
        ("debug_until", json!({ "expression": "total" })),
        ("debug_evaluate", json!({ "expression": "orders" })),
        ("debug_stack", json!({})),
        ("debug_variables", json!({ "frame": 1 })),
        ("debug_set_variable", json!({ "name": "total", "value": "7" })),
        ("debug_threads", json!({})),
        ("debug_source", json!({})),
        ("debug_exception", json!({})),
        ("debug_snapshot", json!({ "label": "a" })),
        ("debug_diff", json!({})),
        ("debug_output", json!({})),
        ("debug_input", json!({ "text": "x\n" })),
        ("breakpoint_set", at(6)),
        ("breakpoint_list", json!({})),
        ("breakpoint_enable", json!({ "id": 1, "enabled": false })),
        ("breakpoint_set_exception", json!({ "filters": ["raised"] })),
        ("tracepoint_set", json!({ "file": file, "line": 5, "log_message": "count is {count}" })),
        ("tracepoint_read", json!({})),
        ("breakpoint_wait", json!({ "timeout_s": 0 })),
        ("debug_wait", json!({ "timeout_s": 0 })),
        ("debug_pause", json!({})),
        ("breakpoint_remove", json!({ "id": 1 })),
        ("breakpoint_list_breakpoints", json!({})),
        ("breakpoint_add", json!({ "function_name": "shop.total" })),
        ("breakpoint_set_behavior", json!({ "function_name": "shop.total", "behavior": "stop" })),
        (
            "breakpoint_set_after_behavior",
            json!({ "function_name": "shop.total", "behavior": "go" }),
        ),
        (
            "breakpoint_set_replacement",
            json!({ "function_name": "shop.total", "replacement_function": "shop.other" }),
        ),
        ("breakpoint_get_default_behavior", json!({})),
        ("breakpoint_set_default_behavior", json!({ "behavior": "go" })),
        ("breakpoint_list_paused", json!({})),
        ("breakpoint_list_functions", json!({})),
        ("breakpoint_get_call_records", json!({})),
        ("breakpoint_repl_eval", json!({ "pause_id": pause, "expression": "1", "timeout_s": 0.1 })),
        ("breakpoint_inspect_object", json!({ "cid": cid })),
        ("breakpoint_continue", json!({ "pause_id": pause })),
        ("debug_restart", json!({})),
        ("debug_attach", json!({ "pid": 1 })),
        ("debug_probe", json!({ "program": file, "file": file, "line": 7 })),
        (
            "debug_experiment",
            json!({ "timeout_s": 2, "experiments": [{ "at": format!("{file}:7"), "expect": "n == 0" }] }),
        ),
        ("debug_stop", json!({})),
        ("timeline_note", json!({ "text": "a\nnote" })),
        ("timeline_query", json!({ "since": 0 })),
        ("record_run", json!({ "focus": ["work"] })),
        ("record_calls", json!({})),
        ("record_frame", json!({ "call": "#1" })),
        ("record_history", json!({ "name": "total" })),
        ("record_diff", json!({ "a": "r1", "b": "r1" })),
        ("debug_start", json!({ "launch": "app" })),
    ]
}

/// What cannot be done on that way. Everything else is: a refusal is short, and would show nothing of an answer.
const REFUSED: &[&str] = &[
    "debug_exception",
    "debug_pause",
    "breakpoint_set_replacement",
    "breakpoint_repl_eval",
    "debug_attach",
    "debug_start",
];

/// A server with a client of that name, whose tools are all called once: name, arguments, result.
fn walk(client: &str) -> Vec<(&'static str, Value)> {
    let mut debug = python(BIN, FOLDER).start_as(client, &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("orders.py");
    std::fs::write(&file, PROGRAM).unwrap();
    let ends = file.with_file_name("ends.py");
    std::fs::write(&ends, PROGRAM.split_once("class").unwrap().0.to_owned() + "work(3)\n").unwrap();
    let (pause, cid) = paused(&mut debug);
    let listed = debug.rpc.request("tools/list", json!({}))["result"]["tools"].clone();
    let calls = calls(file.to_str().unwrap(), &pause, &cid);
    for tool in listed.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(calls.iter().any(|(tool, _)| *tool == name), "`{name}` is not walked");
    }
    let mut results = Vec::new();
    for (tool, mut arguments) in calls {
        match tool {
            "debug_launch" | "debug_probe" | "debug_experiment" => {
                arguments = debug.with_program(&file, arguments)
            }
            "record_run" => arguments = debug.with_program(&ends, arguments),
            _ => {}
        }
        let result = debug.rpc.call(tool, arguments);
        assert_eq!(result["isError"] == true, REFUSED.contains(&tool), "{tool}: {result}");
        results.push((tool, result));
    }
    results
}

/// A call of an app that waits: its pause, and the CID of its argument.
fn paused(debug: &mut Debug) -> (String, String) {
    let wire = Wire::new(debug.rpc.process.port());
    wire.add("shop.charge", "stop");
    let body = wire.start_body("shop.charge", &[json!([1, 2, 3])], json!({}));
    let cid = body["args"][0]["cid"].as_str().unwrap_or_default().to_owned();
    wire.ok("/api/call/start", body);
    let pause = wire.paused()["id"].as_str().unwrap().to_owned();
    (pause, cid)
}

/// What the model reads of a result, by the way of its client.
fn shown(way: &str, result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().unwrap();
    let data = result.get("structuredContent").map(Value::to_string);
    let failed = result["isError"] == true;
    match (way, data) {
        ("data_only", Some(data)) if !failed => data,
        ("data_always" | "data_or_blocks", Some(data)) => data,
        ("data_or_blocks", None) => result["content"].to_string(),
        ("both", Some(data)) => format!("{text}\n{data}"),
        ("everything", _) => result.to_string(),
        _ => text.to_owned(),
    }
}

/// A line as it stands in what is read: as it is, or inside JSON.
fn arrives(line: &str, read: &str) -> bool {
    let quoted = serde_json::to_string(line).unwrap();
    read.contains(line) || read.contains(quoted.trim_matches('"'))
}

fn known() -> Vec<Value> {
    let output = Command::new(BIN).args(["tools", "--clients", "--json"]).output().unwrap();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    rows.as_array().unwrap().clone()
}

#[test]
fn the_first_and_the_last_line_of_every_answer_reach_every_known_model() {
    let rows = known();
    assert!(rows.len() > 20, "{} clients", rows.len());
    for row in rows {
        let name = row["names"][0].as_str().unwrap();
        let way = row["shows"].as_str().unwrap();
        let limit = row["limit"].as_u64().map_or(usize::MAX, |it| usize::try_from(it).unwrap());
        for (tool, result) in walk(name) {
            assert!(result.get("structuredContent").is_none(), "{name}, {tool}: {result}");
            assert!(result.get("_meta").is_none(), "{name}, {tool}: {result}");
            assert_eq!(result["content"].as_array().unwrap().len(), 1, "{name}, {tool}: {result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            let read = shown(way, &result);
            let (first, last) = (text.lines().next().unwrap(), text.lines().next_back().unwrap());
            assert!(arrives(first, &read) && arrives(last, &read), "{name}, {tool}: {read}");
            assert!(read.len() <= (MOST + WRAPPING).min(limit), "{name}, {tool}: {}", read.len());
        }
    }
}

/// Whoever is not known: whichever of the two its model is shown, nothing is lost.
#[test]
fn a_stranger_finds_the_whole_text_in_the_data() {
    let mut omissions = Vec::new();
    for (tool, result) in walk("my own program") {
        let text = &result["content"][0]["text"];
        let envelope = &result["structuredContent"];
        assert_eq!(&envelope["text"], text, "{tool}");
        assert_eq!(envelope["ok"], result["isError"] != true, "{tool}");
        let said = if envelope["ok"] == true { "data" } else { "error" };
        assert!(envelope.get(said).is_some() && envelope.get("meta").is_some(), "{tool}");
        if let Some(omitted) = envelope["data"].get("omitted") {
            omissions.push(format!("{tool}: {omitted}"));
        }
        let read = envelope.to_string().len();
        assert!(read <= MOST + 400, "{tool}: {read} characters");
    }
    assert!(omissions.is_empty(), "{omissions:?}");
}

#[test]
fn the_server_and_each_request_may_choose_otherwise() {
    let call = |debug: &mut Debug, meta: Value| {
        let params = json!({ "name": "server_status", "arguments": {}, "_meta": meta });
        let answer = debug.rpc.request("tools/call", params);
        answer["result"].get("structuredContent").is_some()
    };
    let python = python(BIN, FOLDER);
    let asks = |it: Value| json!({ "holdpoint/structured": it });
    for (client, option, by_itself) in [
        ("claude-code", "auto", false),
        ("claude-code", "always", true),
        ("claude-code", "never", false),
        ("stranger", "auto", true),
        ("stranger", "never", false),
    ] {
        let mut debug = python.start_as(client, &["--structured", option]);
        assert_eq!(call(&mut debug, json!({})), by_itself, "{client} {option}");
        assert!(call(&mut debug, asks(json!(true))), "{client} {option}");
        assert!(call(&mut debug, asks(json!("always"))), "{client} {option}");
        assert!(!call(&mut debug, asks(json!(false))), "{client} {option}");
        assert!(!call(&mut debug, asks(json!("never"))), "{client} {option}");
        assert_eq!(call(&mut debug, asks(json!(7))), by_itself, "{client} {option}");
    }
}

/// Two programs and a second client: what the first client cannot know stands at the end of its next answer,
/// once, and not where the answer itself tells it.
#[test]
fn an_answer_ends_with_what_happened_elsewhere() {
    let mut debug = python(BIN, FOLDER).start_as("claude-code", &[]);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let file = folder.join("waits.py");
    std::fs::write(&file, "import sys\nsys.stdin.readline()\nsys.exit(3)\n").unwrap();
    let running = json!({ "stop_on_entry": false, "timeout_s": 0.5 });
    let said = debug.launch(&file, running).text;
    assert!(said.contains("s1") && !said.contains("since your last call"), "{said}");
    debug.launch(&file, json!({})).has(&["entry", "s2"]);
    // The first program ends while the client looks at the second.
    debug.ok("debug_input", json!({ "session_id": "s1", "text": "go\n" }));
    let url = format!("http://127.0.0.1:{}", debug.rpc.process.port());
    let shell = |tool: &str, arguments: Value| {
        let args = ["tool", tool, &arguments.to_string(), "--url", &url];
        let output = Command::new(BIN).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    shell("debug_wait", json!({ "session_id": "s1" }));
    let said =
        debug.ok("debug_evaluate", json!({ "session_id": "s2", "expression": "1 + 1" })).text;
    let last = said.lines().next_back().unwrap();
    assert_eq!(last, "since your last call: s1 ended with exit code 3", "{said}");
    let said =
        debug.ok("debug_evaluate", json!({ "session_id": "s2", "expression": "1 + 1" })).text;
    assert!(!said.contains("since your last call"), "told twice: {said}");
    // A note of somebody else is told; one's own is not.
    shell("timeline_note", json!({ "text": "look at line 2" }));
    let said = debug.ok("timeline_note", json!({ "text": "mine" })).text;
    assert!(
        said.ends_with("since your last call: note of holdpoint tool: look at line 2"),
        "{said}"
    );
    let said = debug.ok("debug_stop", json!({ "session_id": "s2" })).text;
    assert!(!said.contains("since your last call"), "{said}");
    let said = debug.ok("debug_status", json!({})).text;
    assert!(!said.contains("since your last call"), "{said}");
}
