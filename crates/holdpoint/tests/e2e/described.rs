//! The tools of the editor, over MCP on stdio, against a played bridge: what a specification of such a server asks for,
//! each of its criteria that is about tools.

use std::{
    collections::BTreeSet,
    fs,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    bridge::{FakeBridge, Faults, ScriptFailure, ScriptResult, Scripts, folder_of},
    rpc::{Rpc, text},
    until,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// An editor's window on a workspace, and what it was asked.
pub(crate) struct Window {
    pub(crate) workspace: PathBuf,
    pub(crate) bridge: PathBuf,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

/// Answers each script in its own way.
struct Played(Arc<Mutex<Vec<(String, Value)>>>);

impl Scripts for Played {
    fn run(
        self: Arc<Self>,
        script: String,
        params: Value,
    ) -> Pin<Box<dyn Future<Output = ScriptResult> + Send>> {
        self.0.lock().unwrap().push((script.clone(), params.clone()));
        Box::pin(async move { answer(&script, &params).await })
    }
}

async fn answer(script: &str, params: &Value) -> ScriptResult {
    match script {
        "util.restart-vscode" => std::future::pending().await,
        "editor.goto-line" if params["line"] == 999 => std::future::pending().await,
        "editor.goto-line" => {
            Ok(json!({ "message": "shown", "file": params["path"], "line": params["line"] }))
        }
        "debug.list-variables" => {
            Err(ScriptFailure::new("E_NO_SESSION", "No active debug session"))
        }
        "debug.wait-for-hit" => {
            let wait = params["timeoutMs"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(wait)).await;
            Ok(json!({ "event": "timeout", "timestamp": 1 }))
        }
        "symbol.calls" => Ok(json!({
            "symbol": "add", "direction": params["direction"], "totalCalls": 1,
            "calls": [{ "caller": "main", "file": "vscode-remote://127.0.0.1:1/ws/a%20b.ts", "line": 0,
                        "character": 3, "callSites": [{ "line": 9, "character": 0 }] }],
        })),
        "test.debug-single" => Ok(json!({
            "event": "error", "code": "E_NOT_STOPPED", "message": "it still runs", "sessionId": "s",
        })),
        "own.script" => Ok(json!({ "got": params })),
        _ => Err(ScriptFailure::new("E_SCRIPT_NOT_FOUND", format!("no script {script}"))),
    }
}

impl Window {
    pub(crate) fn open(faults: Faults) -> Window {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap();
        let mut window = Window {
            bridge: folder_of(&workspace, faults.is_ours),
            workspace,
            asked: Arc::default(),
            close: None,
            thread: None,
            _folder: folder,
        };
        window.show(faults);
        window
    }

    /// Opens it, anew where it was open: its bridge has another id then.
    fn show(&mut self, faults: Faults) -> String {
        self.shut();
        let scripts = Arc::new(Played(Arc::clone(&self.asked)));
        let (close, closed) = oneshot::channel();
        let (opened, is_open) = std::sync::mpsc::channel();
        let root = self.workspace.clone();
        self.close = Some(close);
        self.thread = Some(std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                let mut bridge = FakeBridge::open(&root, faults, scripts);
                opened.send(bridge.id.clone()).unwrap();
                tokio::select! {
                    () = bridge.run() => {}
                    _ = closed => {}
                }
            });
        }));
        is_open.recv().unwrap()
    }

    fn shut(&mut self) {
        if let Some(close) = self.close.take() {
            close.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // While a test fails, another panic would end all the others with it.
            assert!(ended.is_ok() || std::thread::panicking(), "the window broke");
        }
    }

    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap().clone()
    }

    /// Folders of jobs; one that is kept ready has no command.
    fn jobs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.bridge.join("execute")).unwrap().flatten();
        entries.map(|it| it.path()).filter(|it| it.join("command.json").exists()).collect()
    }

    fn server(&self, more: &[&str]) -> Rpc {
        server(&self.workspace, more)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.shut();
    }
}

/// A server for a workspace, as an agent starts one.
pub(crate) fn server(workspace: &Path, more: &[&str]) -> Rpc {
    let mut args = vec!["mcp", "--port", "0"];
    args.extend(more);
    let mut rpc = Rpc::start_with(BIN, &args, |command| {
        command.current_dir(workspace);
    });
    rpc.initialize("2025-06-18");
    rpc
}

fn listed(rpc: &mut Rpc) -> Vec<Value> {
    let answer = rpc.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> BTreeSet<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[track_caller]
fn refused(result: &Value, code: &str, parts: &[&str]) {
    let told = text(result);
    assert_eq!(result["isError"], true, "{result}");
    assert!(told.starts_with(&format!("[{code}]")), "{told}");
    assert_eq!(result["structuredContent"]["error"]["code"], code, "{result}");
    for part in parts {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
}

/// Criteria 1 and 7: what there is, described, in one pattern of names.
#[test]
fn an_agent_discovers_the_editor_s_tools() {
    let window = Window::open(Faults::ours());
    let mut rpc = window.server(&["--toolset", "vscode"]);
    let tools = listed(&mut rpc);
    assert!(tools.len() >= 35, "{} tools", tools.len());
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let is_word = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase());
        assert!(name.contains('_') && name.split('_').all(is_word), "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
    }
    let calls = tools.iter().find(|it| it["name"] == "symbol_calls").unwrap();
    assert_eq!(calls["_meta"]["holdpoint/category"], "symbol");
    assert_eq!(calls["annotations"]["readOnlyHint"], true);
    assert_eq!(
        calls["inputSchema"]["properties"]["direction"]["enum"],
        json!(["incoming", "outgoing"])
    );
    let about = calls["description"].as_str().unwrap();
    assert!(about.contains("Best after `search_symbol_search`"), "{about}");
    assert!(about.contains(r#"As in {"path":"src/calc.py""#), "{about}");
}

/// Never where nobody asks and no editor is; an agent's own list stays short.
#[test]
fn the_editor_s_tools_are_mounted_where_an_editor_is() {
    let empty = tempfile::tempdir().unwrap();
    let mut rpc = server(empty.path(), &[]);
    assert!(!names(&listed(&mut rpc)).contains("symbol_calls"));
    let window = Window::open(Faults::default());
    let mut rpc = window.server(&[]);
    assert!(names(&listed(&mut rpc)).contains("symbol_calls"));
    let mut rpc = window.server(&["--toolset", "agent"]);
    let tools = listed(&mut rpc);
    assert!(tools.len() <= 20 && !names(&tools).contains("editor_goto_line"), "{}", tools.len());
    let call = json!({ "name": "editor_goto_line", "arguments": { "path": "a.ts", "line": 2 } });
    assert!(rpc.text("more_tools", call).contains("line: 2"));
}

/// Criterion 2: by the files of the bridge, within 5 s, with whole paths; and nothing is left behind.
#[test]
fn a_tool_is_carried_out_by_the_editor() {
    for faults in [Faults::default(), Faults::ours()] {
        let window = Window::open(faults);
        let mut rpc = window.server(&["--toolset", "vscode"]);
        let started = Instant::now();
        let result = rpc.call("editor_goto_line", json!({ "path": "src/a.ts", "line": 7 }));
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        let path = window.workspace.join("src/a.ts");
        let asked = json!({ "path": path, "line": 7, "column": 1 });
        assert_eq!(window.asked(), [("editor.goto-line".to_owned(), asked)]);
        assert_eq!(result["structuredContent"]["ok"], true, "{result}");
        assert_eq!(result["structuredContent"]["data"]["file"], json!(path), "{result}");
        assert!(window.jobs().is_empty(), "{:?}", window.jobs());
        // By the name that others have for it.
        assert!(
            rpc.text("editor.goto-line", json!({ "path": "b", "line": 1 })).contains("line: 1")
        );
    }
}

/// Criterion 3: refused before anything is sent, in words that mend the call.
#[test]
fn wrong_parameters_never_reach_the_editor() {
    let window = Window::open(Faults::ours());
    let mut rpc = window.server(&["--toolset", "vscode"]);
    for (arguments, parts) in [
        (json!({ "line": 1 }), ["missing parameter `path`", "hint: pass `path` (string)"]),
        (json!({ "path": "a", "line": "7" }), ["not an integer", "hint: `line` is an integer"]),
        (json!({ "path": "a", "line": 0 }), ["less than 1", "hint: `line` is"]),
        (json!({ "path": "a", "line": 1, "colunm": 2 }), ["`colunm`", "did you mean `column`?"]),
    ] {
        let result = rpc.call("editor_goto_line", arguments);
        refused(&result, "E_INVALID_PARAMS", &parts);
    }
    let result = rpc.call("symbol_calls", json!({ "symbol": "add" }));
    refused(&result, "E_INVALID_PARAMS", &["hint: pass `nodeId`, or `path` with `symbol`"]);
    assert_eq!(window.asked(), []);
}

/// Criteria 5 and 8: the code survives the public bridge, which erases it; the hint names what comes first.
#[test]
fn a_failure_says_what_comes_first() {
    for faults in [Faults::default(), Faults::ours()] {
        let window = Window::open(faults);
        let mut rpc = window.server(&["--toolset", "vscode"]);
        let tools = listed(&mut rpc);
        let tool = tools.iter().find(|it| it["name"] == "debug_list_variables").unwrap();
        let about = tool["description"].as_str().unwrap();
        assert!(about.contains("First: `debug_start`"), "{about}");
        let result = rpc.call("debug_list_variables", json!({}));
        let hint = "hint: Start debug session first: `debug_start";
        refused(&result, "E_NO_SESSION", &["No active debug session", hint]);
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["details"]["retryable"], true, "{result}");
        assert!(!result.to_string().contains("at run ("), "a stack trace: {result}");
    }
}

/// Criterion 9, and a wait that is disguised as a success.
#[test]
fn what_does_not_come_in_time_is_a_timeout() {
    let window = Window::open(Faults::ours());
    let mut rpc = window.server(&["--toolset", "vscode"]);
    let result = rpc.call("debug_wait_for_hit", json!({ "timeoutMs": 300 }));
    refused(&result, "E_TIMEOUT", &["within 0.3 s", "hint: `breakpoint_list`"]);
    let result = rpc.call("editor_goto_line", json!({ "path": "a", "line": 999, "timeout_s": 1 }));
    refused(&result, "E_TIMEOUT", &[]);
    until("the job's folder to go", || window.jobs().is_empty().then_some(()));
    let result = rpc.call("test_debug_single", json!({ "path": "a", "line": 1 }));
    refused(&result, "E_NOT_STOPPED", &["it still runs", "hint: It goes on: `debug_wait`"]);
}

/// Criterion 10.
#[test]
fn a_cancelled_call_leaves_nothing_behind() {
    for faults in [Faults::default(), Faults::ours()] {
        let window = Window::open(faults);
        let mut rpc = window.server(&["--toolset", "vscode"]);
        let call = json!({ "name": "editor_goto_line", "arguments": { "path": "a", "line": 999 } });
        let id = rpc.ask("tools/call", call);
        until("the job to be taken", || (!window.asked().is_empty()).then_some(()));
        assert_eq!(window.jobs().len(), 1);
        rpc.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        until("the job's folder to go", || window.jobs().is_empty().then_some(()));
        assert!(
            rpc.text("editor_goto_line", json!({ "path": "a", "line": 1 })).contains("line: 1")
        );
    }
}

#[test]
fn lines_count_from_one_and_files_are_paths() {
    let window = Window::open(Faults::default());
    let mut rpc = window.server(&["--toolset", "vscode"]);
    let result = rpc.call("symbol_calls", json!({ "path": "a.ts", "symbol": "add" }));
    let data = &result["structuredContent"]["data"];
    assert_eq!(data["direction"], "incoming");
    let call = &data["calls"][0];
    assert_eq!((&call["line"], &call["character"]), (&json!(1), &json!(4)));
    assert_eq!(call["callSites"][0], json!({ "line": 10, "character": 1 }));
    assert_eq!(call["file"], "/ws/a b.ts");
}

/// The answer that never comes is what was asked for; the next window is waited for.
#[test]
fn a_reload_of_the_window_succeeds_without_an_answer() {
    for faults in [Faults::default(), Faults::ours()] {
        let mut window = Window::open(faults.clone());
        let mut rpc = window.server(&["--toolset", "vscode"]);
        let id = rpc.ask("tools/call", json!({ "name": "util_restart_vscode", "arguments": {} }));
        until("the script to be run", || (!window.asked().is_empty()).then_some(()));
        let bridge = window.show(faults);
        let answer = rpc.answer(id);
        let data = &answer["result"]["structuredContent"]["data"];
        assert_eq!(*data, json!({ "reloaded": true, "bridgeId": bridge }), "{answer}");
    }
}

#[test]
fn without_an_editor_the_tools_say_how_to_get_one() {
    let empty = tempfile::tempdir().unwrap();
    let mut rpc = server(empty.path(), &["--toolset", "vscode"]);
    let result = rpc.call("editor_goto_line", json!({ "path": "a", "line": 1 }));
    refused(&result, "E_BRIDGE_NOT_FOUND", &["hint: open the folder in VS Code"]);
    let result = rpc.call("bridge_status", json!({}));
    refused(&result, "E_BRIDGE_NOT_FOUND", &["hint: Open the folder in VS Code"]);
    let window = Window::open(Faults::ours());
    let mut rpc = window.server(&["--toolset", "vscode"]);
    let status = rpc.call("bridge_status", json!({}));
    assert_eq!(status["structuredContent"]["data"]["healthy"], true, "{status}");
}
