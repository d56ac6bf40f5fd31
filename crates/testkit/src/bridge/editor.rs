//! A debugger in an editor, played: one program whose lines are known beforehand, breakpoints, a person beside it.
//!
//! The program is a list of lines in the order in which they run; 0 is a call that does not return until somebody
//! pauses it. Our own extension's sessions are played as js-debug has them: a root without threads, and a child with
//! thread 0.

use std::{
    collections::BTreeMap,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{EventFile, FakeBridge, Faults, ScriptFailure, ScriptResult, Scripts, folder_of};

const ROOT: &str = "root-1";
const CHILD: &str = "child-1";

/// An editor's window on a workspace, in a thread of its own.
pub struct Editor {
    pub program: Arc<Debuggee>,
    workspace: PathBuf,
    commands: mpsc::UnboundedSender<Command>,
    thread: Option<std::thread::JoinHandle<()>>,
}

enum Command {
    /// The window is opened anew, with other faults.
    Reopen(oneshot::Sender<String>),
    Close(oneshot::Sender<()>),
}

impl Editor {
    /// Opens a window; `lines` is what the program of configuration `app` runs.
    pub fn open(workspace: &Path, faults: Faults, lines: &[u32]) -> Editor {
        let is_ours = faults.is_ours;
        let file = workspace.join("app.py");
        let program = Arc::new(Debuggee::new(is_ours, file, lines));
        let (commands, inbox) = mpsc::unbounded_channel();
        let (ready, opened) = std::sync::mpsc::channel();
        let (folder, scripts) = (workspace.to_owned(), Arc::clone(&program));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(serve(folder, faults, scripts, inbox, ready));
        });
        opened.recv().expect("a window");
        Editor { program, workspace: workspace.to_owned(), commands, thread: Some(thread) }
    }

    /// The window is opened anew: its programs are gone, and its bridge is another.
    pub fn reopen(&self) -> String {
        let (done, wait) = oneshot::channel();
        self.program.state().at = None;
        self.commands.send(Command::Reopen(done)).ok();
        wait.blocking_recv().expect("a window")
    }

    pub fn close(&self) {
        let (done, wait) = oneshot::channel();
        self.commands.send(Command::Close(done)).ok();
        wait.blocking_recv().expect("a window");
    }

    /// The jobs whose folders are there still and are not empty.
    pub fn jobs(&self) -> Vec<String> {
        let execute = folder_of(&self.workspace, self.program.is_ours).join("execute");
        let jobs = std::fs::read_dir(execute).into_iter().flatten().flatten().map(|it| it.path());
        let used = jobs.filter(|it| std::fs::read_dir(it).is_ok_and(|mut it| it.next().is_some()));
        used.map(|it| it.display().to_string()).collect()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let (closed, _) = mpsc::unbounded_channel();
        // The thread ends with the last who can tell it anything.
        drop(std::mem::replace(&mut self.commands, closed));
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

async fn serve(
    workspace: PathBuf,
    faults: Faults,
    program: Arc<Debuggee>,
    mut inbox: mpsc::UnboundedReceiver<Command>,
    ready: std::sync::mpsc::Sender<()>,
) {
    let open = |program: &Arc<Debuggee>| {
        let fake = FakeBridge::open(&workspace, faults.clone(), program.clone());
        let events = program.is_ours.then(|| EventFile::new(&fake.folder, &fake.id));
        program.state().events = events;
        fake
    };
    let mut fake = Some(open(&program));
    ready.send(()).ok();
    while let Some(command) = inbox.recv().await {
        match command {
            Command::Reopen(done) => {
                drop(fake.take());
                let next = open(&program);
                done.send(next.id.clone()).ok();
                fake = Some(next);
            }
            Command::Close(done) => {
                if let Some(fake) = fake.take() {
                    fake.close();
                }
                done.send(()).ok();
            }
        }
    }
}

/// The program, and what the editor knows of it.
pub struct Debuggee {
    pub is_ours: bool,
    pub file: PathBuf,
    lines: Vec<u32>,
    state: Mutex<State>,
    moved: tokio::sync::Notify,
}

#[derive(Default)]
struct State {
    /// Which of the lines it is at; `None` where nothing is debugged.
    at: Option<usize>,
    is_stopped: bool,
    started_by: &'static str,
    x: i64,
    breakpoints: BTreeMap<(String, u32), Value>,
    events: Option<EventFile>,
    /// How often each script was begun, how often it was run to its end, and how often it was ended before.
    begun: BTreeMap<String, u32>,
    run: BTreeMap<String, u32>,
    dropped: BTreeMap<String, u32>,
    stops: i64,
    /// Whether its debugger is slow to say where it stands, and a stop whose place is to follow.
    is_slow: bool,
    unlocated: Option<Value>,
    /// Whether the person holds the switch.
    is_held: bool,
}

impl State {
    fn tell(&self, event: &str, body: Value) {
        if let Some(events) = &self.events {
            events.push(event, body);
        }
    }
}

impl Debuggee {
    fn new(is_ours: bool, file: PathBuf, lines: &[u32]) -> Debuggee {
        let state = Mutex::new(State { x: 40, ..State::default() });
        Debuggee { is_ours, file, lines: lines.to_vec(), state, moved: Default::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// How often a script was run to its end.
    pub fn runs(&self, script: &str) -> u32 {
        self.state().run.get(script).copied().unwrap_or_default()
    }

    /// How often a script was begun.
    pub fn begun(&self, script: &str) -> u32 {
        self.state().begun.get(script).copied().unwrap_or_default()
    }

    /// How often a script was ended before its end.
    pub fn dropped(&self, script: &str) -> u32 {
        self.state().dropped.get(script).copied().unwrap_or_default()
    }

    /// The lines on which the editor shows breakpoints.
    pub fn shown(&self) -> Vec<u32> {
        self.state().breakpoints.keys().map(|(_, line)| *line).collect()
    }

    /// The person sets a breakpoint by hand.
    pub fn person_sets(&self, line: u32) {
        let path = self.file.display().to_string();
        let point =
            json!({ "path": path, "line": line, "enabled": true, "id": format!("p{line}") });
        self.state().breakpoints.insert((path, line), point);
    }

    /// The person presses F5.
    pub fn person_starts(&self) {
        self.begins("person", false);
    }

    /// The person presses F10.
    pub fn person_steps(&self) {
        self.goes(true);
    }

    /// The person takes control by the editor's switch, or gives it back.
    pub fn person_holds(&self, holds: bool) {
        let mut state = self.state();
        if state.is_held != holds {
            state.is_held = holds;
            state.tell("control", json!({ "holder": holder(holds) }));
        }
    }

    /// What the status bar says.
    pub fn is_held(&self) -> bool {
        self.state().is_held
    }

    /// From now on its debugger takes its time to say where it stands.
    pub fn is_slow_to_say_where(&self) {
        self.state().is_slow = true;
    }

    /// The debugger says where it stands; whether it had not said so yet.
    pub fn says_where(&self) -> bool {
        let mut state = self.state();
        let Some(body) = state.unlocated.take() else { return false };
        state.tell("located", body);
        true
    }

    fn begins(&self, by: &'static str, stops: bool) {
        {
            let mut state = self.state();
            (state.at, state.started_by) = (Some(0), by);
            for (id, parent) in [(ROOT, None), (CHILD, Some(ROOT))] {
                let configuration = json!({ "name": "app", "type": "debugpy" });
                state.tell(
                    "session-started",
                    json!({ "sessionId": id, "parentId": parent, "name": "app", "type": "debugpy",
                        "configuration": configuration, "startedBy": by }),
                );
            }
        }
        if stops {
            self.stops("entry", Vec::new());
        } else {
            self.arrives(false);
        }
    }

    /// One line further, or to the next breakpoint.
    fn goes(&self, is_step: bool) {
        {
            let mut state = self.state();
            let Some(at) = state.at else { return };
            (state.at, state.is_stopped) = (Some(at + 1), false);
            state.tell(
                "continued",
                json!({ "sessionId": CHILD, "threadId": 0, "allThreadsContinued": true }),
            );
        }
        self.arrives(is_step);
    }

    /// Goes on from the line that it has come to.
    fn arrives(&self, is_step: bool) {
        loop {
            let at = self.state().at.unwrap_or_default();
            let Some(line) = self.lines.get(at).copied() else { return self.ends() };
            if line == 0 {
                return;
            }
            let path = self.file.display().to_string();
            let point = self.state().breakpoints.get(&(path, line)).cloned();
            match point.as_ref().map(|it| (it, it["logMessage"].as_str())) {
                Some((_, Some(message))) => self.logs(message),
                Some((point, None)) if self.holds(point) => {
                    return self.stops("breakpoint", vec![point["id"].clone()]);
                }
                _ if is_step => return self.stops("step", Vec::new()),
                _ => {}
            }
            self.state().at = Some(at + 1);
        }
    }

    /// `i == 4` is all that is understood of conditions.
    fn holds(&self, point: &Value) -> bool {
        let Some(condition) = point["condition"].as_str() else { return true };
        let at = self.state().at.unwrap_or_default();
        condition == format!("i == {at}")
    }

    fn logs(&self, message: &str) {
        let state = self.state();
        let (i, x) = (state.at.unwrap_or_default(), state.x);
        let text = message.replace("{i}", &i.to_string()).replace("{x}", &x.to_string());
        let body =
            json!({ "sessionId": CHILD, "category": "console", "text": format!("{text}\n") });
        state.tell("output", body);
    }

    fn stops(&self, reason: &str, hits: Vec<Value>) {
        let mut state = self.state();
        (state.is_stopped, state.stops) = (true, state.stops + 1);
        let line = state.at.and_then(|at| self.lines.get(at)).copied().unwrap_or_default();
        let mut body = json!({ "sessionId": CHILD, "reason": reason, "threadId": 0,
            "allThreadsStopped": true, "hitBreakpointIds": hits, "file": self.file, "line": line,
            "column": 1, "functionName": "main", "frameId": state.stops * 10 });
        if state.is_slow {
            // A debugger that does not say what was hit, either.
            body["hitBreakpointIds"] = Value::Null;
            state.unlocated = Some(body.clone());
            for name in ["file", "line", "column", "functionName", "frameId"] {
                body[name] = Value::Null;
            }
        }
        state.tell("stopped", body);
        drop(state);
        self.moved.notify_waiters();
    }

    fn ends(&self) {
        let mut state = self.state();
        (state.at, state.is_stopped) = (None, false);
        for id in [CHILD, ROOT] {
            state.tell("session-ended", json!({ "sessionId": id, "exitCode": 0 }));
        }
        drop(state);
        // The next program begins with agents.
        self.person_holds(false);
        self.moved.notify_waiters();
    }

    /// Somebody pauses what does not return.
    fn pauses(&self) {
        let is_held = {
            let state = self.state();
            state.at.is_some_and(|at| self.lines.get(at) == Some(&0))
        };
        if is_held {
            self.stops("pause", Vec::new());
        }
    }

    fn line(&self) -> u32 {
        self.state().at.and_then(|at| self.lines.get(at)).copied().unwrap_or_default()
    }

    fn outcome(&self, is_waited_for: bool) -> Value {
        let state = self.state();
        match (state.at, state.is_stopped) {
            _ if !is_waited_for => json!({ "event": "running", "sessionId": CHILD, "threadId": 0 }),
            (None, _) => json!({ "event": "terminated", "sessionId": CHILD, "exitCode": 0 }),
            (Some(_), false) => {
                json!({ "event": "error", "code": "E_NOT_STOPPED", "message": "it runs" })
            }
            (Some(_), true) => {
                drop(state);
                let file = format!("vscode-remote://127.0.0.1:1{}", self.file.display());
                json!({ "event": "stopped", "file": file, "line": self.line(), "column": 1,
                    "functionName": "main", "threadId": null, "sessionId": CHILD })
            }
        }
    }

    fn frames(&self) -> Value {
        let (line, stops) = (self.line(), self.state().stops);
        let frame = |id: i64, name: &str, line: u32| json!({ "id": id, "name": name, "line": line, "column": 1, "source": { "path": self.file } });
        json!([frame(stops * 10, "main", line), frame(stops * 10 + 1, "<module>", 99)])
    }

    fn status(&self) -> Value {
        let (is_active, is_stopped) = {
            let state = self.state();
            (state.at.is_some(), state.is_stopped)
        };
        if !is_active {
            return json!({ "isActive": false, "isPaused": false });
        }
        // The public one says that js-debug's programs stand while they run.
        let frames = if is_stopped { self.frames() } else { json!([]) };
        json!({ "isActive": true, "isPaused": true, "sessionId": CHILD, "sessionName": "app",
            "sessionType": "debugpy", "threads": [{ "id": null, "name": "MainThread" }],
            "currentThread": { "id": null, "name": "MainThread" }, "stackFrames": frames })
    }

    fn sessions(&self) -> Value {
        let state = self.state();
        if state.at.is_none() {
            return json!({ "sessions": [], "activeSessionId": null });
        }
        let how = if state.is_stopped { "stopped" } else { "running" };
        let by = state.started_by;
        json!({ "activeSessionId": CHILD, "sessions": [
            { "id": ROOT, "name": "app", "type": "debugpy", "startedBy": by, "state": "running" },
            { "id": CHILD, "parentId": ROOT, "name": "app", "type": "debugpy", "startedBy": by,
              "state": how, "threadId": 0 },
        ] })
    }

    fn set(&self, params: &Value) -> Value {
        let line = u32::try_from(params["line"].as_u64().unwrap()).unwrap();
        let mut point = params.clone();
        point["enabled"] = json!(true);
        point["id"] = json!(format!("e{line}"));
        if self.is_ours {
            // A line that never runs is no place for a breakpoint.
            point["verified"] = json!(self.lines.contains(&line));
            point["message"] = json!("no code there");
        } else {
            point["verified"] = json!(true);
        }
        let path = params["path"].as_str().unwrap().to_owned();
        self.state().breakpoints.insert((path, line), point.clone());
        json!({ "breakpoint": point })
    }

    fn remove(&self, params: &Value) -> ScriptResult {
        let path = params["path"].as_str().unwrap().to_owned();
        let line = u32::try_from(params["line"].as_u64().unwrap()).unwrap();
        match self.state().breakpoints.remove(&(path, line)) {
            Some(_) => Ok(json!({ "removed": 1 })),
            None => Err(ScriptFailure::new("E_NOT_FOUND", "no breakpoint there")),
        }
    }

    fn start(&self, params: &Value) -> ScriptResult {
        if params["launch"] != "app" {
            return Err(ScriptFailure::new("E_NOT_FOUND", "configuration not found"));
        }
        self.begins("agent", params["stopOnEntry"] == true);
        let root = if self.is_ours { ROOT } else { CHILD };
        Ok(json!({ "sessionId": root, "sessionName": "app", "adapterType": "debugpy" }))
    }

    fn value(&self, name: &str) -> Option<Value> {
        let state = self.state();
        let text = match name {
            "i" => state.at.unwrap_or_default().to_string(),
            "x" => state.x.to_string(),
            "x + 2" => (state.x + 2).to_string(),
            "items" => {
                return Some(
                    json!({ "value": "[1, 2, 3]", "type": "list", "variablesReference": 7 }),
                );
            }
            _ => return None,
        };
        Some(json!({ "value": text, "type": "int", "variablesReference": 0 }))
    }

    fn children(&self, reference: i64) -> Value {
        let named = |name: &str| {
            let mut value = self.value(name).unwrap();
            value["name"] = json!(name);
            value
        };
        match reference {
            7 => {
                let one = |at: i64| json!({ "name": at.to_string(), "value": (at + 1).to_string(), "variablesReference": 0 });
                json!({ "children": [one(0), one(1), one(2)] })
            }
            _ => json!({ "children": [named("i"), named("x"), named("items")] }),
        }
    }

    fn evaluated(&self, expression: &str) -> ScriptResult {
        match self.value(expression) {
            Some(mut value) => {
                value["result"] = value["value"].take();
                Ok(value)
            }
            None => {
                let text = format!("name '{expression}' is not defined");
                Err(ScriptFailure::new("E_EVALUATE_FAILED", text))
            }
        }
    }

    /// Why a script is not run: nothing is debugged, or it is an agent's and the person holds the switch.
    fn refuses(&self, script: &str, params: &Value) -> Option<ScriptFailure> {
        let is_step = script.starts_with("debug.step-");
        let asks = ["stack", "scopes", "evaluate", "get-variable", "continue", "pause"];
        let is_one =
            |all: &[&str]| script.strip_prefix("debug.").is_some_and(|it| all.contains(&it));
        let state = self.state();
        if (is_step || is_one(&asks)) && state.at.is_none() {
            return Some(ScriptFailure::new("E_NO_SESSION", "No active debug session"));
        }
        let is_move = is_step || is_one(&["start", "continue", "pause", "stop"]);
        let is_refused = is_move && state.is_held && params["by"] != "person";
        is_refused.then(|| ScriptFailure::new("E_HUMAN_IN_CONTROL", "the person is in control"))
    }

    async fn script(self: Arc<Self>, script: String, params: Value) -> ScriptResult {
        let is_waited_for = params["wait"] != json!(false);
        if let Some(refused) = self.refuses(&script, &params) {
            return Err(refused);
        }
        match script.as_str() {
            "control.set" => {
                self.person_holds(params["holder"] == "person");
                Ok(json!({ "holder": params["holder"] }))
            }
            "control.get" => Ok(json!({ "holder": holder(self.is_held()) })),
            "debug.start" => self.start(&params),
            "debug.continue" => {
                self.goes(false);
                self.comes_to(is_waited_for, &params).await
            }
            "debug.step-over" | "debug.step-into" | "debug.step-out" => {
                self.goes(true);
                self.comes_to(is_waited_for, &params).await
            }
            "debug.pause" => {
                self.pauses();
                Ok(json!({ "paused": true }))
            }
            "debug.stop" => {
                self.ends();
                Ok(json!({ "status": "terminated" }))
            }
            "debug.status" => Ok(self.status()),
            "debug.sessions" => Ok(self.sessions()),
            "debug.threads" if params["sessionId"] == ROOT => Ok(json!({ "threads": [] })),
            "debug.threads" => {
                Ok(json!({ "threads": [{ "id": 0, "name": "MainThread", "stopped": true }] }))
            }
            "debug.stack" => Ok(json!({ "frames": self.frames(), "totalFrames": 2 })),
            "debug.scopes" => {
                Ok(json!({ "scopes": [{ "name": "Local: main", "variablesReference": 5 }] }))
            }
            "debug.get-variable" => {
                Ok(self.children(params["variablesReference"].as_i64().unwrap()))
            }
            "debug.evaluate" if params["expression"] == "slow" => {
                tokio::time::sleep(Duration::from_secs(30)).await;
                Ok(json!({ "result": "at last", "variablesReference": 0 }))
            }
            "debug.evaluate" => self.evaluated(params["expression"].as_str().unwrap()),
            "debug.set-variable" => {
                self.state().x = params["value"].as_str().unwrap().parse().unwrap();
                Ok(self.value("x").unwrap())
            }
            "breakpoint.set" => Ok(self.set(&params)),
            "breakpoint.remove" => self.remove(&params),
            "breakpoint.list" => {
                let all: Vec<Value> = self.state().breakpoints.values().cloned().collect();
                Ok(json!({ "breakpoints": all }))
            }
            other => Err(ScriptFailure::new("E_SCRIPT_NOT_FOUND", format!("no script {other}"))),
        }
    }

    /// The public one's moves wait for what they come to.
    async fn comes_to(&self, is_waited_for: bool, params: &Value) -> ScriptResult {
        let moved = self.moved.notified();
        let runs = {
            let state = self.state();
            state.at.is_some() && !state.is_stopped
        };
        if is_waited_for && runs {
            let wait = Duration::from_millis(params["timeoutMs"].as_u64().unwrap_or(30_000));
            tokio::time::timeout(wait, moved).await.ok();
        }
        Ok(self.outcome(is_waited_for))
    }
}

fn holder(is_held: bool) -> &'static str {
    if is_held { "person" } else { "agent" }
}

/// Notes a script that is ended before its end.
struct Running {
    program: Arc<Debuggee>,
    script: String,
    is_done: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.program.state();
        let State { run, dropped, .. } = &mut *state;
        let counted = if self.is_done { run } else { dropped };
        *counted.entry(self.script.clone()).or_default() += 1;
    }
}

impl Scripts for Debuggee {
    fn run(
        self: Arc<Self>,
        script: String,
        params: Value,
    ) -> Pin<Box<dyn Future<Output = ScriptResult> + Send>> {
        Box::pin(async move {
            let mut running =
                Running { program: Arc::clone(&self), script: script.clone(), is_done: false };
            *self.state().begun.entry(script.clone()).or_default() += 1;
            let outcome = self.script(script, params).await;
            running.is_done = true;
            outcome
        })
    }
}
