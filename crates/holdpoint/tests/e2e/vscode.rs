//! Programs that an editor debugs, through MCP: the other end of the bridge is played, with a debugger behind it and a
//! person beside it.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    bridge::{Faults, editor::Editor},
    debug::Debug,
    http::post,
    until,
    user::Second,
};
use serde_json::{Value, json};

use crate::page::cookie;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// The lines that the program runs, in their order.
const LINES: &[u32] = &[1, 2, 3, 4, 2, 3, 4, 5];

struct Stage {
    debug: Debug,
    editor: Editor,
    file: PathBuf,
    /// Gone when it is dropped.
    workspace: tempfile::TempDir,
}

impl Stage {
    fn ours() -> Stage {
        Stage::with(Faults::ours(), LINES)
    }

    fn public() -> Stage {
        Stage::with(Faults::default(), LINES)
    }

    fn with(faults: Faults, lines: &[u32]) -> Stage {
        let workspace = workspace();
        let folder = workspace.path().canonicalize().unwrap();
        let editor = Editor::open(&folder, faults, lines);
        let debug = Debug::with_editor(BIN, &["--workspace", folder.to_str().unwrap()]);
        let file = folder.join("app.py");
        Stage { debug, editor, file, workspace }
    }

    fn at(&self, line: u32) -> Value {
        json!({ "file": self.file, "line": line })
    }

    /// Launched, and standing on line 3.
    fn at_three(mut self) -> Stage {
        let breakpoints = json!([self.at(3)]);
        let launch = json!({ "configuration": "app", "breakpoints": breakpoints });
        self.debug.ok("debug_launch", launch).stands("breakpoint", 3);
        self
    }
}

/// A project with a program and a `launch.json` as people write them.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.py"), "one\ntwo\nthree\nfour\nfive\nsix\n").unwrap();
    std::fs::create_dir(folder.path().join(".vscode")).unwrap();
    let launches = r#"{
        // Use IntelliSense to learn about possible attributes.
        "configurations": [
            {"name": "app", "type": "debugpy", "request": "launch",},
            {"name": "tests", "type": "debugpy"},
        ],
    }"#;
    std::fs::write(folder.path().join(".vscode/launch.json"), launches).unwrap();
    folder
}

#[test]
fn a_program_of_the_editor_is_launched_looked_at_and_stepped() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    let stack = debug.ok("debug_stack", json!({}));
    stack.has(&["main", "app.py:3", "<module>"]);
    debug.ok("debug_variables", json!({})).has(&["i", "x", "40", "items", "[1, 2, 3]"]);
    assert_eq!(debug.eval("x + 2"), "(int) 42");
    debug
        .fails("debug_evaluate", json!({ "expression": "nope" }))
        .has(&["[E_EVALUATE_FAILED]", "name 'nope' is not defined"]);
    debug.ok("debug_set_variable", json!({ "name": "x", "value": "50" }));
    assert_eq!(debug.eval("x + 2"), "(int) 52");
    debug.ok("debug_threads", json!({})).has(&["MainThread"]);
    debug.ok("debug_step", json!({})).stands("step", 4);
    debug.go().stands("breakpoint", 3);
    debug.go().ended(json!({ "code": 0 }));
    assert_eq!(editor.jobs(), Vec::<String>::new());
}

#[test]
fn the_specification_s_own_name_starts_it_too() {
    let mut stage = Stage::ours();
    let at = stage.at(4);
    stage.debug.ok("breakpoint_set", at);
    stage.debug.ok("debug_start", json!({ "launch": "app" })).stands("breakpoint", 4);
    stage.debug.ok("debug_stop", json!({}));
    assert_eq!(stage.editor.program.runs("debug.stop"), 1, "what was started from here is ended");
    assert_eq!(stage.editor.program.shown(), Vec::<u32>::new(), "our breakpoints are taken out");
}

/// Where it stands, once that is there.
fn seen_at(debug: &mut Debug, line: u32) -> String {
    until("the step of the person", || {
        let said = debug.ok("debug_status", json!({})).text;
        said.contains(&format!("app.py:{line}")).then_some(said)
    })
}

#[test]
fn a_person_s_own_step_is_an_event_like_any_other() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    for line in [4, 2] {
        let started = Instant::now();
        editor.program.person_steps();
        let seen = seen_at(&mut debug, line);
        assert!(seen.contains("stopped (step)"), "{seen}");
        // It is told within 300 ms; the rest is a loaded machine's.
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
    debug.go().stands("breakpoint", 3);
}

#[test]
fn the_switch_of_the_editor_is_ours_too() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    editor.program.person_holds(true);
    until("the person's control", || {
        let told = debug.ok("timeline_query", json!({ "kinds": ["control_changed"] }));
        told.text.contains("person").then_some(())
    });
    debug.fails("debug_step", json!({})).has(&["E_HUMAN_IN_CONTROL", "debug_wait"]);
    debug.ok("debug_variables", json!({}));
    let waiting = debug.ask("debug_wait", json!({ "timeout_s": 30 }));
    editor.program.person_holds(false);
    debug.answer(waiting).has(&["handed back"]);
    debug.ok("debug_step", json!({})).has(&["Stopped"]);
}

#[test]
fn the_switch_of_the_page_is_the_editor_s_too() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    let (port, cookie) = cookie(&mut debug);
    let press = |what: &str| {
        let pressed = post(port, "/sessions/s1", what)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "text/html")
            .header("Host", &format!("127.0.0.1:{port}"))
            .header("Origin", &format!("http://127.0.0.1:{port}"))
            .header("Cookie", &cookie)
            .send();
        assert_eq!(pressed.status, 303, "{what}: {}", pressed.body);
    };
    press("do=take_over");
    until("the editor's switch", || editor.program.is_held().then_some(()));
    debug.fails("debug_step", json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    // The person's own step, by the page, is one that the editor obeys.
    press("do=over");
    seen_at(&mut debug, 4);
    assert!(editor.program.is_held());
    press("do=hand_back");
    until("the editor's switch", || (!editor.program.is_held()).then_some(()));
    debug.go().stands("breakpoint", 3);
    let told = debug.ok("timeline_query", json!({ "kinds": ["control_changed"] })).text;
    assert_eq!(told.matches("control_changed").count(), 2, "no echo of either: {told}");
    // What the person holds is ended by them, and our breakpoints are taken out.
    press("do=stop");
    until("its end", || (editor.program.runs("debug.stop") == 1).then_some(()));
    until("no breakpoint of ours", || editor.program.shown().is_empty().then_some(()));
}

#[test]
fn who_joins_a_program_that_the_person_steers_knows_it() {
    let mut stage = Stage::with(Faults::ours(), &[1, 2, 3, 4, 0]);
    stage.editor.program.person_sets(2);
    stage.editor.program.person_starts();
    stage.editor.program.person_holds(true);
    stage.debug.ok("debug_attach", json!({ "backend": "vscode" })).has(&["app.py:2"]);
    stage.debug.fails("debug_continue", json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    stage.editor.program.person_holds(false);
    let waits = stage.debug.ok("debug_wait", json!({ "timeout_s": 30 }));
    waits.has(&["handed back"]);
    stage.debug.ok("debug_step", json!({})).stands("step", 3);
}

/// What the log has of the editor's own sessions, once it has so much.
fn in_editor(debug: &mut Debug, count: usize) -> String {
    until("the editor's sessions on the log", || {
        let told = debug.ok("timeline_query", json!({ "kinds": ["editor_session"] })).text;
        (told.matches("editor_session").count() >= count).then_some(told)
    })
}

#[test]
fn what_the_person_debugs_by_themselves_is_on_the_log() {
    let mut stage = Stage::with(Faults::ours(), &[1, 2, 3]);
    stage.editor.program.person_sets(2);
    stage.editor.program.person_starts();
    let told = in_editor(&mut stage.debug, 1);
    assert!(told.contains("app (`root-1`) started in the editor, by a person"), "{told}");
    stage.debug.ok("debug_attach", json!({ "backend": "vscode" }));
    let told = in_editor(&mut stage.debug, 2);
    assert!(told.contains("s1 joined app (`root-1`) in the editor, by testkit"), "{told}");
    stage.debug.go();
    let told = in_editor(&mut stage.debug, 3);
    assert!(told.contains("app (`root-1`) ended in the editor: exit code 0"), "{told}");
    // One that an agent starts has its session on the log, and no more than that.
    stage.debug.ok("debug_start", json!({ "launch": "app" }));
    stage.debug.go();
    let told = in_editor(&mut stage.debug, 3);
    assert_eq!(told.matches("editor_session").count(), 3, "{told}");
}

#[test]
fn a_window_that_closes_ends_what_the_person_debugged_in_it() {
    let workspace = workspace();
    let folder = workspace.path().canonicalize().unwrap();
    let editor = Editor::open(&folder, Faults::ours(), &[1, 0]);
    editor.program.person_starts();
    let mut debug = Debug::with_editor(BIN, &["--workspace", folder.to_str().unwrap()]);
    let told = in_editor(&mut debug, 1);
    assert!(told.contains("debugged in the editor already"), "{told}");
    editor.close();
    let told = in_editor(&mut debug, 2);
    assert!(told.contains("ended in the editor: the editor's window is gone"), "{told}");
}

#[test]
fn a_stop_whose_place_comes_late_is_told_with_what_it_hit() {
    for is_told in [true, false] {
        let mut stage = Stage::ours();
        stage.editor.program.is_slow_to_say_where();
        let at = stage.at(3);
        stage.debug.ok("breakpoint_set", at);
        let launching = stage.debug.ask("debug_start", json!({ "launch": "app" }));
        if is_told {
            until("a stop", || stage.editor.program.says_where().then_some(()));
        }
        let said = stage.debug.answer(launching);
        said.stands("breakpoint", 3);
        let hits = if is_told { json!([1]) } else { json!([]) };
        assert_eq!(said.data["stop"]["breakpoint_ids"], hits, "{}", said.text);
    }
}

#[test]
fn a_session_of_the_person_s_is_seen_joined_and_left() {
    let mut stage = Stage::with(Faults::ours(), &[1, 2, 3, 4, 0]);
    stage.editor.program.person_sets(2);
    stage.editor.program.person_starts();
    stage
        .debug
        .ok("debug_status", json!({}))
        .has(&["in VS Code: `root-1` (app, stopped, started by person)", "hint: `debug_attach`"]);
    let joined = stage.debug.ok("debug_attach", json!({ "backend": "vscode" }));
    joined.has(&["app.py:2", "stopped in the editor"]);
    let at = stage.at(4);
    stage.debug.ok("breakpoint_set", at);
    assert_eq!(stage.editor.program.shown(), [2, 4]);
    stage.debug.go().stands("breakpoint", 4);
    stage.debug.ok("debug_stop", json!({})).has(&["detached"]);
    assert_eq!(stage.editor.program.runs("debug.stop"), 0, "it is the person's");
    assert_eq!(stage.editor.program.shown(), [2], "theirs stays, ours goes");
    stage
        .debug
        .fails("debug_attach", json!({ "editor_session": "other" }))
        .has(&["[E_NO_SESSION]", "root-1"]);
}

#[test]
fn breakpoints_have_the_truth_that_the_editor_tells() {
    let Stage { mut debug, editor, file, workspace: _kept } = Stage::ours().at_three();
    let said = debug.ok("breakpoint_set", json!({ "file": file, "line": 6 }));
    said.has(&["no code there"]);
    let conditional = json!({ "file": file, "line": 4, "condition": "i == 6" });
    debug.ok("breakpoint_set", conditional);
    assert_eq!(editor.program.shown(), [3, 4, 6]);
    debug.go().stands("breakpoint", 3);
    debug.go().stands("breakpoint", 4);
}

#[test]
fn a_tracepoint_is_a_logpoint_whose_passes_are_told() {
    let mut stage = Stage::ours();
    let trace = json!({ "file": stage.file, "line": 3, "log_message": "i is {i}" });
    stage.debug.ok("tracepoint_set", trace);
    let at = stage.at(5);
    stage.debug.ok("breakpoint_set", at);
    stage.debug.ok("debug_start", json!({ "launch": "app" })).stands("breakpoint", 5);
    stage.debug.ok("tracepoint_read", json!({})).has(&["i is 2", "i is 5"]);
    let output = stage.debug.ok("debug_output", json!({})).text;
    assert!(!output.contains("hp:"), "the mark is not the program's: {output}");
}

#[test]
fn what_does_not_return_is_paused() {
    let mut stage = Stage::with(Faults::ours(), &[1, 0]);
    let launch = json!({ "launch": "app", "wait": false });
    assert_eq!(stage.debug.ok("debug_start", launch).data["state"], "running");
    stage.debug.ok("debug_pause", json!({})).has(&["pause"]);
}

#[test]
fn an_evaluation_that_is_late_or_cancelled_is_stopped_in_the_editor() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    let late = json!({ "expression": "slow", "timeout_s": 1 });
    debug.fails("debug_evaluate", late).has(&["[E_TIMEOUT]"]);
    until("it is stopped", || (editor.program.dropped("debug.evaluate") == 1).then_some(()));
    let id = debug.ask("debug_evaluate", json!({ "expression": "slow" }));
    until("it is begun", || (editor.program.begun("debug.evaluate") == 2).then_some(()));
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    until("it is stopped too", || (editor.program.dropped("debug.evaluate") == 2).then_some(()));
    until("the folders are gone", || editor.jobs().is_empty().then_some(()));
    assert_eq!(debug.eval("x"), "(int) 40");
}

#[test]
fn a_window_that_is_opened_anew_ends_its_sessions_and_takes_new_ones() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::ours().at_three();
    editor.reopen();
    until("the end", || debug.ok("debug_status", json!({})).text.contains("ended").then_some(()));
    debug.ok("debug_start", json!({ "launch": "app" })).stands("breakpoint", 3);
    editor.close();
    until("the end", || {
        let text = debug.ok("debug_status", json!({})).text;
        (text.matches("ended").count() == 2).then_some(())
    });
    debug.fails("debug_start", json!({ "launch": "app" })).has(&[
        "[E_BRIDGE_NOT_FOUND]",
        "its window was closed",
        "hint: open the folder in VS Code",
    ]);
}

#[test]
fn the_public_extension_is_driven_as_far_as_it_goes() {
    let Stage { mut debug, editor, workspace: _kept, .. } = Stage::public().at_three();
    debug.ok("debug_stack", json!({})).has(&["main", "app.py:3"]);
    debug.ok("debug_variables", json!({})).has(&["x", "40"]);
    assert_eq!(debug.eval("x + 2"), "(int) 42");
    debug.ok("debug_step", json!({})).stands("step", 4);
    // What its person does is seen when it is next looked at.
    editor.program.person_steps();
    seen_at(&mut debug, 2);
    debug.fails("debug_evaluate", json!({ "expression": "nope" })).has(&["[E_EVALUATE_FAILED]"]);
    debug.fails("debug_pause", json!({}));
    debug.go().stands("breakpoint", 3);
    debug.go().ended(json!({ "code": 0 }));
}

#[test]
fn the_public_extension_s_breakpoints_are_not_called_bound() {
    let mut stage = Stage::public();
    let (three, six) = (stage.at(3), stage.at(6));
    stage.debug.ok("breakpoint_set", three);
    stage.debug.ok("breakpoint_set", six);
    let said = stage.debug.ok("debug_start", json!({ "launch": "app" }));
    said.stands("breakpoint", 3).has(&["does not tell whether it is bound"]);
}

#[test]
fn what_is_wrong_says_what_mends_it() {
    let mut stage = Stage::ours();
    let unknown = stage.debug.fails("debug_start", json!({ "launch": "nope" }));
    unknown.has(&["[E_NOT_FOUND]", "no configuration `nope`", "`app`, `tests`"]);
    let unsaid = stage.debug.fails("debug_launch", json!({ "backend": "vscode" }));
    unsaid.has(&["[E_INVALID_PARAMS]", "`app`, `tests`"]);
    let both = json!({ "configuration": "app", "program": "app.py" });
    stage.debug.fails("debug_launch", both).has(&["[E_INVALID_PARAMS]"]);
    stage.debug.fails("debug_attach", json!({ "backend": "vscode" })).has(&["[E_NO_SESSION]"]);
}

fn fails_in(folder: &Path) -> String {
    let mut debug = Debug::with_editor(BIN, &["--workspace", folder.to_str().unwrap()]);
    debug.fails("debug_start", json!({ "launch": "app" })).text
}

#[test]
fn a_workspace_without_an_editor_or_of_somebody_else_is_refused() {
    let folder = workspace();
    let none = fails_in(folder.path());
    assert!(none.starts_with("[E_BRIDGE_NOT_FOUND]") && none.contains("hint:"), "{none}");
    let missing = fails_in(&folder.path().join("nowhere"));
    assert!(missing.starts_with("[E_NOT_FOUND]") && missing.contains("--workspace"), "{missing}");
    let Some(second) = Second::find() else { return };
    let others = second.run(|| {
        let others = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(others.path(), open).unwrap();
        others
    });
    let refused = fails_in(others.path());
    assert!(refused.contains("belongs to another user"), "{refused}");
    second.run(|| drop(others));
}

#[test]
fn the_default_time_of_a_call_is_an_option_in_milliseconds() {
    let workspace = workspace();
    let folder = workspace.path().canonicalize().unwrap();
    let _editor = Editor::open(&folder, Faults::ours(), &[1, 0]);
    let options = ["--workspace", folder.to_str().unwrap(), "--timeout", "700"];
    let mut debug = Debug::with_editor(BIN, &options);
    let started = Instant::now();
    let said = debug.ok("debug_start", json!({ "launch": "app" }));
    assert_eq!(said.data["state"], "running", "{}", said.text);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}
