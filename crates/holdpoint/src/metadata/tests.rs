use std::collections::BTreeSet;

use holdpoint_engine::failure::{Code, Failure};
use holdpoint_metadata::{Carrier, Literal};
use serde_json::{Value, json};

use super::{arguments::Given, *};
use crate::{
    catalogue::Catalogue,
    tool::check_described,
    tools::{MORE, TOOLS},
};

/// What a tool may cost a client that lists it: 450 tokens of 3.6 bytes.
const TOOL_BYTES: usize = 1_620;

fn catalogue(toolset: &[&str]) -> Catalogue {
    let toolset: Vec<String> = toolset.iter().map(|it| (*it).to_owned()).collect();
    Catalogue::with(editor(Path::new("/ws")), &toolset).unwrap()
}

fn arguments_of(example: &Literal) -> JsonObject {
    match arguments::json(example) {
        Value::Object(arguments) => arguments,
        other => panic!("{other} is no call"),
    }
}

/// The boundary, which every call passes, and what is checked behind it.
#[track_caller]
fn admit(spec: &ToolSpec, arguments: JsonObject) -> Result<Given, Failure> {
    check_described(&spec.name, &describe::checked(spec), &arguments)?;
    Given::of(spec, arguments, Path::new("/ws"))
}

#[test]
fn every_example_of_every_file_passes_its_own_tool() {
    let mut calls = 0;
    for (file, spec) in built_in() {
        for example in &spec.examples {
            let told = admit(&spec, arguments_of(example));
            assert!(told.is_ok(), "{file}: {example}: {}", told.err().unwrap());
            calls += 1;
        }
        // Each value in a call that is otherwise right.
        for param in &spec.params {
            for example in &param.examples {
                let schema = describe::checked(&spec);
                let property = json!({
                    "type": "object", "properties": { "it": schema["properties"][&param.name] },
                });
                let property = property.as_object().unwrap().clone();
                let given = json!({ "it": arguments::json(example) });
                let given = given.as_object().unwrap().clone();
                let told = check_described(&spec.name, &property, &given);
                assert!(told.is_ok(), "{file}: {}: {}", param.name, told.unwrap_err());
                calls += 1;
            }
        }
    }
    assert!(calls > 120, "{calls} examples");
}

#[test]
fn the_editor_s_tools_are_few_words_each() {
    for tool in catalogue(&["vscode"]).list() {
        let bytes = serde_json::to_string(tool).unwrap().len();
        if BUILT_IN.iter().any(|(file, _)| stem(file) == tool.name) {
            assert!(bytes <= TOOL_BYTES, "{} has {bytes} bytes", tool.name);
        }
    }
}

#[test]
fn an_agent_s_list_stays_short_and_the_editor_s_is_whole() {
    let agent = catalogue(&["agent"]);
    assert!(agent.list().len() <= 20, "{}", agent.list().len());
    let further: BTreeSet<&str> = agent.further().map(|tool| tool.entry.name()).collect();
    assert!(further.contains("symbol_calls"), "it is reached by `{}`", MORE.name());
    let vscode = catalogue(&["vscode"]);
    assert!(vscode.list().len() >= 35, "{}", vscode.list().len());
    assert_eq!(catalogue(&[]).list().len(), TOOLS.len() + BUILT_IN.len());
}

#[test]
fn names_are_of_one_pattern_and_lead_from_their_aliases() {
    let vscode = catalogue(&["vscode"]);
    for tool in vscode.list() {
        let mut words = tool.name.split('_');
        let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase());
        assert!(words.clone().count() >= 2 && words.all(is_word), "{}", tool.name);
    }
    let found = vscode.tool("search.symbol-search").unwrap();
    assert_eq!(found.entry.name(), "search_symbol_search");
}

#[test]
fn every_code_and_every_tool_that_a_file_speaks_of_is_there() {
    for (file, text) in BUILT_IN {
        let told = workspace::checked(text);
        assert!(told.is_ok(), "{file}: {told:?}");
    }
}

#[test]
fn annotations_are_what_safety_says() {
    let vscode = catalogue(&["vscode"]);
    for (file, spec) in built_in() {
        let tool = vscode.find(&spec.name).unwrap();
        let said = tool.annotations.as_ref().unwrap();
        assert_eq!(said.read_only_hint, Some(spec.safety.read_only), "{file}");
        assert_eq!(said.destructive_hint, Some(spec.safety.destructive), "{file}");
        assert_eq!(said.idempotent_hint, Some(spec.safety.idempotent), "{file}");
        assert_eq!(said.open_world_hint, Some(false), "{file}");
    }
}

fn spec(name: &str) -> ToolSpec {
    built_in().find(|(_, spec)| spec.name == name).unwrap().1
}

#[track_caller]
fn refused(tool: &str, arguments: Value, parts: &[&str]) {
    let arguments = arguments.as_object().unwrap().clone();
    let failure = admit(&spec(tool), arguments).err().expect("it is refused");
    assert_eq!(failure.code, Code::InvalidParams);
    for part in parts {
        assert!(failure.to_string().contains(part), "{failure}");
    }
}

#[test]
fn what_the_original_takes_is_refused_here() {
    let given = json!({"path": "a", "line": "7"});
    refused("editor_goto_line", given, &["`line`", "not an integer", "hint: `line` is an integer"]);
    refused("editor_goto_line", json!({"path": "a", "line": 0}), &["less than 1"]);
    refused("editor_goto_line", json!({"path": "a", "line": 1.5}), &["not an integer"]);
    refused(
        "editor_goto_line",
        json!({"line": 1}),
        &["missing parameter `path`", "hint: pass `path`"],
    );
    refused(
        "editor_goto_line",
        json!({"path": "a", "lnie": 1, "line": 1}),
        &["unknown parameter `lnie`", "did you mean `line`?"],
    );
    refused("symbol_calls", json!({"symbol": "a"}), &["`nodeId`, or `path` with `symbol`"]);
    refused("symbol_calls", json!({"nodeId": "a", "path": "b", "symbol": "c"}), &["only one"]);
    let given = json!({"path": "a", "symbol": "b", "direction": "up"});
    refused("symbol_calls", given, &["none of", "incoming"]);
    refused("search_symbol_search", json!({"mode": "document"}), &["which needs `path`"]);
    let given = json!({"path": "a", "symbol": "b", "newName": "two words"});
    refused("symbol_rename", given, &["`newName`", "does not match"]);
    refused("dap_filter", json!({"filters": {"categories": ["out"]}}), &["filters.categories[0]"]);
}

#[test]
fn what_is_sent_has_defaults_and_whole_paths() {
    let given = json!({"path": "src/./a.ts", "line": 3.0}).as_object().unwrap().clone();
    let sent = admit(&spec("editor_goto_line"), given).unwrap().to_json();
    assert_eq!(sent, json!({"path": "/ws/src/a.ts", "line": 3, "column": 1}));
    let given = json!({"path": "/x/a.ts"}).as_object().unwrap().clone();
    let sent = admit(&spec("diagnostic_collect"), given).unwrap().to_json();
    assert_eq!(sent, json!({"path": "/x/a.ts"}));
}

#[test]
fn a_failure_has_the_hint_of_its_file() {
    let spec = spec("debug_list_variables");
    let plain = Failure::new(Code::NoSession, "nothing is debugged");
    let told = failures::advised(&spec, plain.clone());
    assert!(told.to_string().contains("hint: Start debug session first: `debug_start"), "{told}");
    assert_eq!(*told.details.unwrap(), json!({"retryable": true}));
    // What is not foreseen names what comes first.
    let mut bare = spec;
    bare.errors.clear();
    let told = failures::advised(&bare, plain);
    assert!(told.to_string().contains("hint: first `debug_start`"), "{told}");
    let own = Failure::new(Code::InvalidParams, "wrong").hint("so it is right");
    assert_eq!(failures::advised(&bare, own.clone()), own);
}

#[test]
fn what_others_call_a_failure_is_one_of_ours() {
    for (theirs, ours) in [
        ("E_NO_SESSION", Code::NoSession),
        ("E_FILE_NOT_FOUND", Code::NotFound),
        ("E_NOT_PAUSED", Code::NotStopped),
        ("E_BRIDGE_UNAVAILABLE", Code::BridgeUnavailable),
        ("E_INTERNAL", Code::ToolFailed),
        ("E_WHATEVER", Code::ToolFailed),
    ] {
        assert_eq!(failures::code(theirs), ours, "{theirs}");
    }
}

#[test]
fn only_what_runs_outside_of_the_editor_is_open() {
    assert!(built_in().all(|(_, spec)| matches!(spec.run, Carrier::Bridge(_))));
    assert_eq!(timeout(&spec("debug_wait_for_hit")), Duration::from_secs(310));
    assert_eq!(timeout(&spec("editor_goto_line")), Duration::from_secs(10));
}
