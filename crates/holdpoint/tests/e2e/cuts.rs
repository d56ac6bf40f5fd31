//! Nothing is cut without a word: every tool that can say much is asked with small budgets, and what it leaves
//! out it names. Pictures of the whole are taken with the largest budget.

use holdpoint_testkit::{
    calls::Wire,
    debug::{Debug, python},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Much of everything: frames, locals, members, output, threads, hits.
const PROGRAM: &str = "\
import threading


def spin():
    waiting.wait()


waiting = threading.Event()
for number in range(30):
    threading.Thread(target=spin, name=f'spinner-{number}', daemon=True).start()
for number in range(400):
    print('a line of output, the number', number)


def deep(left, **more):
    if left:
        return deep(left - 1, **more)
    big = {f'key {n}': 'value ' * 20 for n in range(200)}
    try:
        raise KeyError('inner')
    except KeyError as error:
        raise ValueError('outer ' * 40) from error


deep(60, **{f'local_{n}': f'value {n}' for n in range(80)})
";

/// The tools whose answers grow with the program, and how each is asked.
fn questions(file: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("debug_stack", json!({ "limit": 200 })),
        ("debug_variables", json!({})),
        ("debug_variables", json!({ "path": "big" })),
        ("debug_evaluate", json!({ "expression": "big" })),
        ("debug_evaluate", json!({ "expression": "'word\\n' * 4000" })),
        ("debug_threads", json!({})),
        ("debug_output", json!({})),
        ("debug_output", json!({ "find": "line of output" })),
        ("debug_source", json!({ "file": file, "lines": "1-30" })),
        ("debug_exception", json!({ "limit": 100 })),
        ("debug_diff", json!({ "a": "before" })),
        ("debug_status", json!({})),
        ("breakpoint_list", json!({})),
        ("tracepoint_read", json!({})),
        ("tracepoint_read", json!({ "aggregate": true })),
        ("timeline_query", json!({ "since": 0, "limit": 1000 })),
        ("server_status", json!({})),
        ("breakpoint_list_breakpoints", json!({})),
        ("breakpoint_list_functions", json!({})),
        ("breakpoint_list_paused", json!({})),
        ("breakpoint_get_call_records", json!({})),
    ]
}

/// Whose answers are short here, or of which the contract of calls says that they are whole.
const WHOLE: &[&str] = &[
    "debug_diff",
    "debug_status",
    "server_status",
    "breakpoint_list_breakpoints",
    "breakpoint_list_functions",
];

/// Words by which an answer says that it is not all.
fn says_so(text: &str) -> bool {
    let marks = [" more", "hits shown", "left out", "…", "(cut", "more with", "\"left_out\""];
    marks.iter().any(|mark| text.contains(mark))
}

fn stage(debug: &mut Debug, file: &std::path::Path) {
    let port = debug.rpc.process.port();
    let wire = Wire::new(port);
    for number in 0..60 {
        wire.call(&format!("shop.function_{number}"), &[json!("x".repeat(60))], &json!(number));
    }
    for number in 0..40 {
        let name = format!("shop.held_{number}");
        wire.add(&name, "stop");
        wire.start(&name, &[json!(number)]);
    }
    let path = file.display().to_string();
    let trace = json!({ "file": path, "line": 12, "log_message": "number {number}" });
    debug.ok("tracepoint_set", trace);
    for line in 1..40 {
        let condition = "False and 'a condition that is rather long'";
        let point = json!({ "file": path, "line": line, "condition": condition });
        debug.rpc.call("breakpoint_set", point);
    }
    debug.launch(file, json!({ "stop_on_entry": true }));
    debug.ok("debug_snapshot", json!({ "label": "before" }));
    debug.go().has(&["exception"]);
}

#[test]
fn what_a_small_budget_leaves_out_is_named() {
    let mut debug = python(BIN, FOLDER).start_as("claude-code", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("much.py");
    std::fs::write(&file, PROGRAM).unwrap();
    stage(&mut debug, &file);
    let mut whole_answers = Vec::new();
    for (tool, arguments) in questions(file.to_str().unwrap()) {
        let mut ask = |tokens: usize| {
            let mut arguments = arguments.clone();
            arguments["budget_tokens"] = json!(tokens);
            let result = debug.rpc.call(tool, arguments);
            assert!(result["isError"] != true, "{tool}: {result}");
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        let whole = ask(50_000);
        let mut was_cut = false;
        for tokens in [1, 30, 150, 600] {
            let text = ask(tokens);
            let cost = serde_json::to_string(&text).unwrap().len();
            let is_less = text.len() + 40 < whole.len();
            was_cut |= is_less;
            assert!(!is_less || says_so(&text), "{tool} {arguments} in {tokens} tokens: {text}");
            // What was asked for is kept to, but for the first line and the closing words.
            // The contract of the tools about calls says what all is in their JSON.
            let is_json = text.starts_with('{');
            assert!(
                is_json || cost < tokens * 18 / 5 + 2_600,
                "{tool} in {tokens} tokens: {cost}\n{text}"
            );
        }
        if !was_cut {
            whole_answers.push(tool);
        }
        let mut usual = arguments.clone();
        usual.as_object_mut().unwrap().remove("budget_tokens");
        let result = debug.rpc.call(tool, usual);
        let text = result["content"][0]["text"].as_str().unwrap();
        let cost = serde_json::to_string(text).unwrap().len();
        if !text.starts_with('{') {
            assert!(cost <= 7_500, "{tool} {arguments}: {cost} characters");
        }
        let is_less = text.len() + 40 < whole.len();
        assert!(!is_less || says_so(text), "{tool} {arguments}: {text}");
    }
    // Every other question was one about cutting.
    assert_eq!(whole_answers, WHOLE);
}
