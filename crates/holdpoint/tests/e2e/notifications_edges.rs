//! The edges of the contract of hits as real clients meet them, over stdio, HTTP+SSE and streamable HTTP, for Python and Node:
//! bad input, hundreds of tracepoints at once, a tracepoint that becomes a breakpoint, a client that is gone.

use std::fmt::Write as _;

use holdpoint_testkit::{
    listen::Hears as _,
    rpc::text,
    stage::{BOTH, Program, Stage},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");
const HIT: &str = "notifications/breakpoint/hit";

const PROGRAM: Program = Program {
    python: "\
import sys

# nothing
def work(count):
    for i in range(count):
        total = i + 1  # BP: loop
    return count


work(int(sys.argv[1]))
print('done')  # BP: done
",
    node: "\
'use strict';

// nothing
function work(count) {
  for (let i = 0; i < count; i++) {
    const total = i + 1; // BP: loop
  }
  return count;
}

work(Number(process.argv[2]));
console.log('done'); // BP: done
",
};

/// Bar 5, and the edge case of a line that does not exist: whoever asks, and however, is told what and where.
#[test]
fn bad_input_is_refused_over_every_transport() {
    for language in BOTH {
        let mut stage = Stage::new(BIN, FOLDER, language, PROGRAM);
        let (file, at) = (json!(stage.program), stage.line("loop"));
        let on = |line: usize| json!({ "file": file, "line": line });
        let with = |name: &str, value: Value| {
            let mut arguments = on(at);
            arguments[name] = value;
            arguments
        };
        let cases = [
            (
                "tracepoint_set",
                with("log_message", json!("a {i")),
                "position 3: `{` is never closed",
            ),
            (
                "tracepoint_set",
                with("log_message", json!("a i}")),
                "position 4: `}` closes nothing",
            ),
            ("tracepoint_set", with("hit_count_multiple", json!(-1)), "`hit_count_multiple` is -1"),
            ("tracepoint_set", with("max_notifications", json!(-5)), "`max_notifications` is -5"),
            ("tracepoint_set", with("hit_condition", json!("often")), "hit condition `often`"),
            ("tracepoint_set", on(3), "line 3"),
            ("tracepoint_set", on(999), "not 999"),
            ("tracepoint_set", on(0), "lines begin at 1"),
            ("tracepoint_set", json!({ "id": 9 }), "no breakpoint 9"),
            ("tracepoint_read", json!({ "id": 9 }), "no tracepoint 9"),
            ("breakpoint_enable", json!({ "id": 9 }), "no breakpoint 9"),
            ("breakpoint_remove", json!({ "id": 9 }), "no breakpoint 9"),
            ("breakpoint_set", on(999), "not 999"),
        ];
        for client in stage.everyone() {
            for (tool, arguments, wanted) in &cases {
                let said = client.tool(tool, arguments.clone());
                let about = format!("{tool} {arguments} over {}: {}", client.way(), text(&said));
                assert_eq!(said["isError"], true, "{about}");
                let error = &said["structuredContent"]["error"];
                assert!(error["message"].as_str().unwrap().contains(wanted), "{about}");
                assert!(error["hint"].is_string(), "{about}");
                let code = error["code"].as_str().unwrap();
                assert!(["E_INVALID_PARAMS", "E_NOT_FOUND"].contains(&code), "{about}");
            }
            let listed = client.tool("breakpoint_list", json!({}));
            assert_eq!(listed["structuredContent"]["data"]["total"], 0, "nothing is left behind");
        }
    }
}

/// Story 2, scenario 4: each client hears of it as what it is at that time.
#[test]
fn a_tracepoint_becomes_a_breakpoint_and_back_over_every_transport() {
    for language in BOTH {
        let mut stage = Stage::new(BIN, FOLDER, language, PROGRAM);
        let points = json!([{ "file": stage.program, "line": stage.line("done") }]);
        stage.trace("loop", json!({ "log_message": "{i}" }));
        stage.launch(json!({ "args": ["2"], "breakpoints": points, "stop_on_entry": true }));
        let said = stage.sse.tool("breakpoint_set", json!({ "id": 1 }));
        assert!(text(&said).contains("Breakpoint 1 at"), "{said}");
        stage.debug.go().stands("breakpoint", stage.line("loop"));
        let said = stage.http.tool("tracepoint_set", json!({ "id": 1, "log_message": "{i}" }));
        assert!(text(&said).contains("Tracepoint 1 at"), "{said}");
        stage.debug.go().stands("breakpoint", stage.line("done"));
        let hits = stage.all_heard(HIT);
        let told: Vec<(&Value, &Value)> =
            hits.iter().map(|hit| (&hit["breakpoint_id"], &hit["type"])).collect();
        let (stop, trace) = (json!("breakpoint"), json!("tracepoint"));
        assert_eq!(told, [(&json!(1), &stop), (&json!(1), &trace), (&json!(2), &stop)]);
    }
}

/// A program of so many lines, each to be traced.
fn many(lines: usize) -> Program {
    let mut texts = [String::from("x = 0\n"), String::from("let x = 0;\n")];
    for _ in 0..lines {
        writeln!(texts[0], "x = x + 1").unwrap();
        writeln!(texts[1], "x = x + 1;").unwrap();
    }
    let [python, node] = texts.map(String::leak);
    Program { python, node }
}

/// The edge case of hundreds of tracepoints that fire at once.
#[test]
fn hundreds_of_tracepoints_at_once_reach_everyone_in_order() {
    const MANY: usize = 300;
    let program = many(MANY);
    for language in BOTH {
        let mut stage = Stage::new(BIN, FOLDER, language, program);
        for line in 2..MANY + 2 {
            let point = json!({ "file": stage.program, "line": line, "log_message": "{x}" });
            stage.debug.ok("tracepoint_set", point);
        }
        stage.launch(json!({ "timeout_s": 120 })).ended(json!({ "code": 0 }));
        let hits = stage.all_heard(HIT);
        let told: Vec<(u64, &str)> = hits
            .iter()
            .map(|hit| {
                (hit["breakpoint_id"].as_u64().unwrap(), hit["log_message"].as_str().unwrap())
            })
            .collect();
        let values: Vec<String> = (0..MANY).map(|x| x.to_string()).collect();
        let expected: Vec<(u64, &str)> = (1..).zip(values.iter().map(String::as_str)).collect();
        assert_eq!(told, expected);
    }
}

/// The edge case of a connection that is lost, for the one transport whose loss ends a server: one that is told
/// to stay does, and the others hear everything.
#[test]
fn the_client_by_stdio_leaves_in_the_middle() {
    for language in BOTH {
        let options = ["--mcp-sse", "--keep-alive"];
        let mut stage = Stage::with(BIN, FOLDER, language, PROGRAM, &options);
        stage.trace("loop", json!({ "log_message": "{i}" }));
        stage.launch(json!({ "args": ["5000"], "timeout_s": 0 }));
        stage.sse.notified(HIT, &|hit| hit["hit_count"] == 100);
        stage.debug.rpc.close_stdin();
        for client in [&mut stage.sse, &mut stage.http] {
            let last = client.notified(HIT, &|hit| hit["hit_count"] == 5_000);
            let mut counts: Vec<u64> =
                client.take(HIT).iter().map(|hit| hit["hit_count"].as_u64().unwrap()).collect();
            counts.push(last["hit_count"].as_u64().unwrap());
            let first = if client.way() == "sse" { 1..=99 } else { 1..=100 };
            let expected: Vec<u64> = first.chain(101..=5_000).collect();
            assert_eq!(counts, expected, "over {}", client.way());
        }
        let said = stage.http.tool("debug_status", json!({}));
        assert!(text(&said).contains("ended with exit code 0"), "{said}");
        // It stays until it is told to end.
        stage.debug.rpc.process.signal("TERM");
    }
}
