//! The tools as an agent sees them: how many, how large, in which words, and what it may believe of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    debug::{self, Debug, fixture, line},
    process::run,
    rpc::Rpc,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");
const PROTOCOL: &str = "2025-06-18";

/// Every set that one would name, and the bare command.
const SETS: &[&str] = &["", "agent", "slim", "app", "debug", "timeline", "breakpoint,tracepoint"];

fn options(set: &str) -> Vec<&str> {
    match set {
        "" => vec!["mcp", "--port", "0"],
        set => vec!["mcp", "--port", "0", "--toolset", set],
    }
}

/// What a client gets at its start: the instructions and the tools.
fn start(set: &str) -> (Rpc, String, Vec<Value>) {
    let mut rpc = Rpc::start(BIN, &options(set));
    let hello = rpc.initialize(PROTOCOL);
    let said = hello.pointer("/result/instructions").or_else(|| hello.get("instructions"));
    let instructions = said.and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = rpc.request("tools/list", json!({}));
    let list = list.get("result").cloned().unwrap_or(list);
    assert!(list.get("nextCursor").is_none(), "several clients read the first page only");
    let tools = list.get("tools").unwrap().as_array().unwrap().clone();
    (rpc, instructions, tools)
}

fn names(tools: &[Value]) -> BTreeSet<String> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// As the budgets count it.
#[expect(clippy::cast_precision_loss, reason = "some kilobytes")]
fn tokens(tools: &[Value]) -> f64 {
    json!({ "tools": tools }).to_string().len() as f64 / 3.6
}

#[test]
fn each_set_keeps_to_its_size() {
    for (set, count, most) in [("agent", 20, 4_000.0), ("slim", 9, 1_200.0), ("", 54, 8_800.0)] {
        let (_, _, tools) = start(set);
        let size = tokens(&tools);
        assert!(
            tools.len() <= count && size <= most,
            "`{set}`: {} tools, {size:.0} tokens",
            tools.len()
        );
    }
}

#[test]
fn the_bare_command_offers_every_tool() {
    let (_, _, all) = start("");
    let all = names(&all);
    assert_eq!(all.len(), 54);
    for set in SETS {
        let (_, _, some) = start(set);
        let other: Vec<String> = names(&some).difference(&all).cloned().collect();
        assert!(other.is_empty() || other == ["more_tools"], "{other:?}");
    }
}

#[test]
fn twins_are_offered_once_to_an_agent() {
    let (_, _, tools) = start("agent");
    let tools = names(&tools);
    for (one, other) in [("breakpoint_set", "debug_breakpoint"), ("debug_wait", "breakpoint_wait")]
    {
        assert!(tools.contains(one) && !tools.contains(other), "{one}, {other}");
    }
    for needed in ["debug_probe", "tracepoint_set", "tracepoint_read", "debug_output", "debug_stop"]
    {
        assert!(tools.contains(needed), "{needed}");
    }
    let (_, _, app) = start("app");
    let both: BTreeSet<String> = names(&app).intersection(&tools).cloned().collect();
    assert!(both.is_empty(), "what is about instrumented apps is `app`'s: {both:?}");
}

/// Whatever a schema holds beyond this makes some client's backend refuse every tool.
fn lint(at: &str, schema: &Value, is_top: bool) {
    assert!(schema["type"].is_string(), "{at} has no type, or several");
    let schema = schema.as_object().unwrap();
    let known = ["type", "properties", "required", "items", "description", "enum"];
    let tolerated = ["default", "minimum", "maximum"];
    for key in schema.keys() {
        assert!(known.contains(&key.as_str()) || tolerated.contains(&key.as_str()), "{at}: {key}");
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap();
    assert!(!is_top || kind == "object", "{at}");
    assert_eq!(kind == "array", schema.contains_key("items"), "{at}: an array has items");
    assert!(kind == "object" || !schema.contains_key("properties"), "{at}");
    if let Some(choices) = schema.get("enum") {
        let choices = choices.as_array().unwrap();
        let text = |it: &Value| it.as_str().is_some_and(|text| !text.is_empty());
        assert!(kind == "string" && !choices.is_empty() && choices.iter().all(text), "{at}: enum");
    }
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        lint(&format!("{at}.{name}"), property, false);
    }
    if let Some(items) = schema.get("items") {
        lint(&format!("{at}[]"), items, false);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required {
        assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{at}: {name}");
    }
}

#[test]
fn schemas_keep_to_what_every_client_takes() {
    for set in SETS {
        let (_, _, tools) = start(set);
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            lint(name, &tool["inputSchema"], true);
            let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
            assert!(
                name.len() <= 31 && name.chars().all(is_plain) && !name.contains("__"),
                "{name}"
            );
            assert!(name.starts_with(|it: char| it.is_ascii_lowercase()), "{name}");
            assert!(tool.get("outputSchema").is_none(), "{name}");
        }
    }
}

#[test]
fn waits_and_long_answers_declare_their_bounds() {
    let (_, _, tools) = start("");
    let declare = |parameter: &str| -> BTreeSet<&str> {
        let has = |it: &&Value| it["inputSchema"]["properties"].get(parameter).is_some();
        tools.iter().filter(has).map(|it| it["name"].as_str().unwrap()).collect()
    };
    let waits = declare("timeout_s");
    for tool in
        ["debug_wait", "debug_continue", "breakpoint_wait", "timeline_query", "debug_launch"]
    {
        assert!(waits.contains(tool), "{tool}");
    }
    let long = declare("budget_tokens");
    for tool in ["debug_variables", "debug_output", "timeline_query", "tracepoint_read"] {
        assert!(long.contains(tool), "{tool}");
    }
    let stream = tools.iter().find(|it| it["name"] == "debug_output").unwrap();
    let stream = &stream["inputSchema"]["properties"]["stream"];
    assert_eq!(stream["enum"], json!(["stdout", "stderr", "debugger"]));
}

#[test]
fn every_tool_is_described_as_one_would_search_for_it() {
    for set in SETS {
        let (_, instructions, tools) = start(set);
        assert!(instructions.len() <= 1_000, "`{set}`: {} bytes", instructions.len());
        assert!(instructions.contains("hint:"), "{instructions}");
        let mut titles = BTreeSet::new();
        for tool in &tools {
            let about = tool["description"].as_str().unwrap();
            assert!((20..=300).contains(&about.chars().count()), "{about}");
            let title = tool["title"].as_str().unwrap();
            assert!(!title.is_empty() && title.len() <= 40, "{tool}");
            titles.insert(title);
        }
        let twins = usize::from(set.is_empty());
        assert_eq!(titles.len() + twins, tools.len(), "only twins share a title");
    }
    let (_, instructions, tools) = start("");
    assert!(
        instructions.starts_with("Holdpoint runs programs under a debugger. Reach for it when")
    );
    let core: Vec<&Value> =
        tools.iter().filter(|it| it["_meta"]["anthropic/alwaysLoad"] == true).collect();
    assert!((5..=6).contains(&core.len()), "{core:?}");
}

/// Nothing that a client reads at its start names a tool that it does not have.
#[test]
fn only_tools_that_are_there_are_spoken_of() {
    let (_, _, all) = start("");
    let all = names(&all);
    for set in SETS {
        let (mut rpc, instructions, tools) = start(set);
        let mounted = names(&tools);
        let resources = rpc.request("resources/list", json!({}));
        let prompts = rpc.request("prompts/list", json!({}));
        for text in
            [instructions, json!(tools).to_string(), resources.to_string(), prompts.to_string()]
        {
            for name in words(&text) {
                let is_there = !all.contains(name) || mounted.contains(name);
                assert!(is_there, "`{set}` speaks of {name}, which it has not: {text}");
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_')
}

/// `(read-only, destructive, idempotent, open world)`
const READS: [bool; 4] = [true, false, true, false];
const WRITES: [bool; 4] = [false, false, false, false];
const SETS_IT: [bool; 4] = [false, false, true, false];
const DESTROYS: [bool; 4] = [false, true, false, false];
const ARMS: [bool; 4] = [false, true, true, true];
const RUNS: [bool; 4] = [false, true, false, true];

const HINTS: &[([bool; 4], &[&str])] = &[
    (
        READS,
        &[
            "debug_stack",
            "debug_variables",
            "debug_wait",
            "debug_threads",
            "debug_output",
            "debug_source",
            "debug_exception",
            "debug_diff",
            "record_calls",
            "record_frame",
            "record_history",
            "debug_status",
            "breakpoint_list",
            "tracepoint_read",
            "breakpoint_wait",
            "breakpoint_list_breakpoints",
            "breakpoint_get_default_behavior",
            "breakpoint_list_paused",
            "breakpoint_list_functions",
            "breakpoint_get_call_records",
            "breakpoint_inspect_object",
            "server_status",
            "timeline_query",
        ],
    ),
    (WRITES, &["debug_continue", "debug_step", "debug_snapshot", "timeline_note"]),
    (
        SETS_IT,
        &[
            "debug_pause",
            "breakpoint_enable",
            "breakpoint_set_exception",
            "breakpoint_add",
            "breakpoint_set_behavior",
            "breakpoint_set_after_behavior",
            "breakpoint_set_replacement",
            "breakpoint_set_default_behavior",
        ],
    ),
    (DESTROYS, &["debug_stop", "breakpoint_remove"]),
    (ARMS, &["breakpoint_set", "debug_breakpoint", "tracepoint_set"]),
    (
        RUNS,
        &[
            "record_run",
            "record_diff",
            "debug_launch",
            "debug_probe",
            "debug_experiment",
            "debug_until",
            "debug_restart",
            "debug_attach",
            "debug_start",
            "debug_evaluate",
            "debug_set_variable",
            "debug_input",
            "breakpoint_repl_eval",
            "breakpoint_continue",
            "more_tools",
        ],
    ),
];

#[test]
fn annotations_tell_the_truth() {
    let wanted: BTreeMap<&str, [bool; 4]> =
        HINTS.iter().flat_map(|(hints, tools)| tools.iter().map(|tool| (*tool, *hints))).collect();
    for set in ["", "agent"] {
        let (_, _, tools) = start(set);
        for tool in &tools {
            let hint = |name| tool["annotations"][name].as_bool().unwrap();
            let hints =
                ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(hint);
            let name = tool["name"].as_str().unwrap();
            assert_eq!(wanted.get(name), Some(&hints), "{name}");
        }
    }
    assert_eq!(wanted.len(), 55, "every tool is in the table, and once");
}

/// Codex calls what is read-only in parallel, Qwen replays it: nothing may be used up by asking.
#[test]
fn what_is_read_only_answers_the_same_again() {
    let mut debug = debug::python(BIN, FOLDER).start();
    debug.run_to("shop.py", &["append"]);
    // There is a stop before this one, to be compared with.
    debug.go();
    let asks = [
        ("debug_wait", json!({})),
        ("breakpoint_wait", json!({})),
        ("debug_output", json!({})),
        ("debug_variables", json!({})),
        ("debug_stack", json!({})),
        ("debug_source", json!({})),
        ("debug_status", json!({})),
        ("debug_threads", json!({})),
        ("breakpoint_list", json!({})),
        ("debug_diff", json!({})),
        ("timeline_query", json!({ "kinds": ["stopped"] })),
    ];
    let ids: Vec<u64> =
        asks.iter().chain(&asks).map(|(tool, it)| debug.ask(tool, it.clone())).collect();
    let told: Vec<String> = ids.into_iter().map(|id| debug.answer(id).text).collect();
    for (at, (tool, _)) in asks.iter().enumerate() {
        assert_eq!(told[at], told[at + asks.len()], "{tool}");
        assert!(!told[at].starts_with("[E_"), "{tool}: {}", told[at]);
    }
    assert!(told[0].contains("changed:\n"), "{}", told[0]);
}

fn slim() -> Debug {
    debug::python(BIN, FOLDER).start_with(&["--toolset", "slim"])
}

/// From launch to stop, with the nine.
#[test]
fn slim_is_enough_from_launch_to_stop() {
    let mut debug = slim();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    debug.launch(&file, json!({}));
    debug.ok("breakpoint_set", json!({ "file": file, "line": at }));
    debug.ok("debug_continue", json!({})).stands("breakpoint", at);
    debug.ok("debug_wait", json!({})).stands("breakpoint", at);
    debug.ok("debug_evaluate", json!({ "expression": "value" })).has(&["6"]);
    debug.ok("debug_step", json!({})).has(&["Stopped (step)"]);
    debug.ok("debug_output", json!({})).has(&["orders 3"]);
    debug.ok("debug_stop", json!({})).has(&["ended"]);
    debug.nothing_is_left();
}

/// What a program does, as an agent with nine tools, with twenty and with all of them meets it.
#[test]
fn answers_name_only_tools_that_are_there() {
    let (_, _, all) = start("");
    let all = names(&all);
    for set in ["slim", "agent"] {
        let mut debug = debug::python(BIN, FOLDER).start_with(&["--toolset", set]);
        let list = debug.rpc.request("tools/list", json!({}));
        let list = list.get("result").cloned().unwrap_or(list);
        let mounted = names(list["tools"].as_array().unwrap());
        let (endless, shop) = (fixture("endless.py"), fixture("shop.py"));
        let mut told = vec![debug.fails("debug_stop", json!({})).text];
        debug.launch(&endless, json!({ "stop_on_entry": false, "timeout_s": 0.1 }));
        for (tool, arguments) in [
            ("debug_continue", json!({})),
            ("debug_wait", json!({ "timeout_s": 0.05 })),
            ("debug_evaluate", json!({ "expression": "1" })),
            ("debug_stop", json!({})),
            ("debug_evaluate", json!({ "expression": "1" })),
            ("breakpoint_set", json!({ "file": shop, "line": 9_999 })),
            ("debug_launch", debug.with_program(&shop, json!({}))),
            ("debug_evaluate", json!({ "expression": "1", "frame": 99 })),
            ("debug_stop", json!({})),
            ("debug_wait", json!({})),
            ("no_such_tool_at_all", json!({})),
        ] {
            let answer = debug.rpc.call(tool, arguments);
            told.push(holdpoint_testkit::rpc::text(&answer));
        }
        for text in told {
            let left = text.replace("more_tools {\"name\": \"", "more_tools ");
            for name in words(&left).collect::<Vec<_>>().windows(2) {
                let is_there =
                    !all.contains(name[1]) || mounted.contains(name[1]) || name[0] == "more_tools";
                assert!(is_there, "`{set}` names {}: {text}", name[1]);
            }
        }
    }
}

#[test]
fn nothing_is_out_of_an_agents_reach() {
    let (_, _, all) = start("");
    let (mut rpc, _, tools) = start("agent");
    let (all, mounted) = (names(&all), names(&tools));
    let told = rpc.call("more_tools", json!({ "budget_tokens": 4_000 }));
    let text = holdpoint_testkit::rpc::text(&told);
    for name in all.difference(&mounted) {
        assert!(text.contains(&format!("{name} {{")), "{name} is not in\n{text}");
    }
    let note = json!({ "name": "timeline_note", "arguments": { "text": "through the back door" } });
    let text = rpc.text("more_tools", note);
    assert!(text.starts_with("noted as seq "), "{text}");
    // One that is not listed is reached so, and not mistaken for another.
    let text = rpc.text("debug_threads", json!({}));
    assert!(text.contains("`more_tools {\"name\": \"debug_threads\""), "{text}");
    let text = rpc.text("more_tools", json!({ "name": "debug_threds" }));
    assert!(text.contains("did you mean `debug_threads`?"), "{text}");
    let text = rpc.text("more_tools", json!({ "name": "debug_threads" }));
    assert!(text.contains("[E_NO_SESSION]"), "{text}");
    let text = rpc.text("more_tools", json!({ "name": "timeline_note", "text": "x" }));
    assert!(text.contains("go into `arguments`"), "{text}");
}

#[test]
fn sizes_are_printed() {
    let home = tempfile::tempdir().unwrap();
    let (code, text, _) = run(BIN, &["tools", "--sizes"], home.path());
    assert_eq!(code, 0);
    let row = |name: &str| -> Vec<usize> {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        line.split_whitespace().filter_map(|it| it.parse().ok()).collect()
    };
    let [all, agent, slim] = ["all", "agent", "slim"].map(row);
    assert_eq!((all[0], agent[0], slim[0]), (54, 20, 9), "{text}");
    assert!(all[1] > agent[1] && agent[1] > slim[1] && slim[2] * 3 < slim[1], "{text}");
    assert_eq!(row("debug_probe").len(), 2);
    assert!(
        text.lines().any(|line| line.starts_with("debug_probe") && line.ends_with("slim, agent"))
    );
}

/// It took 26 s, for everybody.
#[test]
fn a_name_of_four_megabytes_holds_nobody_up() {
    let (mut rpc, _, _) = start("");
    let long = "debug_launch_".repeat(320_000);
    let started = Instant::now();
    let text = rpc.text(&long, json!({}));
    assert!(
        text.starts_with("[E_UNKNOWN_TOOL] no tool `debug_launch_") && text.len() < 300,
        "{text}"
    );
    let text = rpc.text("debug_status", json!({ long.as_str(): 1 }));
    assert!(
        text.starts_with("[E_INVALID_PARAMS] unknown parameter `debug") && text.len() < 300,
        "{text}"
    );
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

/// `since` is the `seq` of an answer, wherever it is taken; a position is a `cursor`.
#[test]
fn since_is_a_seq() {
    let mut debug = debug::python(BIN, FOLDER).start();
    let file = fixture("shop.py");
    let at = line(&file, "append");
    let stop = debug.run_to("shop.py", &["append"]);
    let seq = |debug: &mut Debug| {
        let answer = debug.rpc.call("debug_status", json!({}));
        answer.pointer("/structuredContent/meta/seq").unwrap().clone()
    };
    let now = seq(&mut debug);
    // The one it knows stands still: to wait would end in calling it running.
    let started = Instant::now();
    for known in [json!({ "since": now }), json!({ "after_epoch": stop.data["stop"]["epoch"] })] {
        let said = debug.ok("debug_wait", known);
        said.stands("breakpoint", at).has(&["Not resumed since seq", "`debug_continue`"]);
        assert_eq!(said.data["moved"], false);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let before = stop.data["seq"].as_u64().unwrap() - 1;
    let said = debug.ok("debug_wait", json!({ "since": before }));
    assert!(said.data.get("moved").is_none(), "{}", said.text);
    // The next one, whether it comes before the wait or during it.
    debug.ok("debug_continue", json!({ "timeout_s": 0 }));
    let next = debug.ok("debug_wait", json!({ "since": now }));
    next.stands("breakpoint", at);
    assert!(next.data["stop"]["epoch"].as_u64() > stop.data["stop"]["epoch"].as_u64());
    let read = debug.ok("debug_output", json!({}));
    for position in ["cursor", "since"] {
        let rest = debug.ok("debug_output", json!({ position: read.data["cursor"] }));
        assert_eq!(rest.text, "(no output)", "{position}");
    }
    debug.ok("breakpoint_wait", json!({ "since": before })).has(&["shop.py"]);
}
