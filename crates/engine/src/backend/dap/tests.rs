//! One connection against a debugger that the test plays: what is asked of it, and what its answers and events
//! come to. Each debugger here can little, in one of the ways that real ones do.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use expect_test::{Expect, expect};
use holdpoint_dap::codec::{Decoder, encode};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, WriteHalf},
    sync::mpsc,
};

use super::{
    Dap, Setup,
    dialect::{Dialect, JAVA, LLDB, RDBG},
};
use crate::{
    backend::{
        Backend, Exceptions, FrameId, Handle, Signal, Slice, StopReason, Tracing, Wanted,
        WantedFunction,
    },
    ids::BreakpointId,
    template::Template,
};

const FILE: &str = "/srv/prog/Main.java";

/// Everything that was asked, in order, and how to say something by oneself.
#[derive(Clone)]
struct Played {
    asked: Arc<Mutex<Vec<Value>>>,
    events: mpsc::Sender<Value>,
}

impl Played {
    async fn event(&self, event: &str, body: Value) {
        let event = json!({ "seq": 0, "type": "event", "event": event, "body": body });
        self.events.send(event).await.unwrap();
    }

    async fn stop(&self) {
        let body = json!({ "reason": "breakpoint", "threadId": 1, "allThreadsStopped": true });
        self.event("stopped", body).await;
    }

    /// The commands since the last time, with what matters of their arguments.
    fn asked(&self) -> String {
        let all = std::mem::take(&mut *self.asked.lock().unwrap());
        let line = |it: &Value| {
            let arguments = match it["command"].as_str().unwrap() {
                "setBreakpoints" => it["arguments"]["breakpoints"].to_string(),
                "initialize" | "launch" => String::new(),
                _ => it["arguments"].to_string(),
            };
            format!("{} {arguments}", it["command"].as_str().unwrap()).trim_end().to_owned() + "\n"
        };
        all.iter().map(line).collect()
    }

    #[track_caller]
    fn check(&self, expected: &Expect) {
        expected.assert_eq(&self.asked());
    }
}

/// Answers everything; `evaluate` gives these values, one after the other.
async fn play(
    stream: DuplexStream,
    capabilities: Value,
    mut values: Vec<Value>,
    asked: Arc<Mutex<Vec<Value>>>,
    mut events: mpsc::Receiver<Value>,
) {
    let (mut read, mut write) = tokio::io::split(stream);
    let mut decoder = Decoder::default();
    let mut buffer = [0; 4096];
    loop {
        tokio::select! {
            Some(event) = events.recv() => write.write_all(&encode(&event)).await.unwrap(),
            count = read.read(&mut buffer) => {
                let Ok(1..) = count else { return };
                decoder.feed(&buffer[..count.unwrap()]);
                while let Some(Ok(request)) = decoder.next() {
                    answer(&request, &capabilities, &mut values, &mut write).await;
                    asked.lock().unwrap().push(request);
                }
            }
        }
    }
}

async fn answer(
    request: &Value,
    capabilities: &Value,
    values: &mut Vec<Value>,
    write: &mut WriteHalf<DuplexStream>,
) {
    let source = json!({ "path": FILE });
    let body = match request["command"].as_str().unwrap() {
        "initialize" => capabilities.clone(),
        "setBreakpoints" => {
            let all = request["arguments"]["breakpoints"].as_array().unwrap().iter();
            let one = |it: &Value| json!({ "verified": true, "line": it["line"] });
            json!({ "breakpoints": all.map(one).collect::<Value>() })
        }
        "stackTrace" => {
            let frame =
                |id, line| json!({ "id": id, "name": "work", "line": line, "source": source });
            json!({ "stackFrames": [frame(1, 5), frame(2, 9), frame(3, 12)] })
        }
        "evaluate" => json!({ "result": values.remove(0), "variablesReference": 0 }),
        _ => json!({}),
    };
    let answer = json!({
        "seq": 0, "type": "response", "request_seq": request["seq"], "success": true,
        "command": request["command"], "body": body,
    });
    let mut bytes = encode(&answer);
    let first = capabilities.get("ready_at").cloned().unwrap_or(json!("launch"));
    if request["command"] == first {
        bytes.extend(encode(&json!({ "seq": 0, "type": "event", "event": "initialized" })));
    }
    write.write_all(&bytes).await.unwrap();
}

struct Scene {
    dialect: Box<dyn Dialect>,
    capabilities: Value,
    breakpoints: Vec<Wanted>,
    functions: Vec<WantedFunction>,
    exceptions: Exceptions,
    values: Vec<Value>,
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            dialect: Box::new(JAVA),
            capabilities: json!({}),
            breakpoints: Vec::new(),
            functions: Vec::new(),
            exceptions: Exceptions::default(),
            values: Vec::new(),
        }
    }
}

impl Scene {
    async fn begin(self) -> (Dap, mpsc::Receiver<Signal>, Played) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(ours);
        let (events, taken) = mpsc::channel(64);
        let played = Played { asked: Arc::default(), events };
        let asked = Arc::clone(&played.asked);
        tokio::spawn(play(theirs, self.capabilities, self.values, asked, taken));
        let setup = Setup {
            greeting: &[],
            adapter_id: "played",
            begin: "launch",
            arguments: json!({}),
            breakpoints: &[(PathBuf::from(FILE), self.breakpoints)],
            functions: &self.functions,
            exceptions: &self.exceptions,
            tape: None,
            tells_output: true,
        };
        let (dap, signals) = Dap::connect(read, write, self.dialect, setup).await.unwrap();
        (dap, signals, played)
    }
}

fn point(id: i64) -> Wanted {
    Wanted {
        id: BreakpointId(id),
        line: 5,
        column: None,
        condition: None,
        hit_condition: None,
        trace: None,
    }
}

/// The next signal that is not about breakpoints.
async fn next(signals: &mut mpsc::Receiver<Signal>) -> Signal {
    loop {
        let signal = tokio::time::timeout(Duration::from_secs(20), signals.recv()).await;
        match signal.expect("nothing is told").expect("the connection ended") {
            Signal::Breakpoint(_) => {}
            signal => return signal,
        }
    }
}

async fn next_hits(signals: &mut mpsc::Receiver<Signal>) -> Vec<i64> {
    match next(signals).await {
        Signal::Stopped(stopped) => stopped.hits.iter().map(|it| it.0).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_is_sent_that_was_not_announced() {
    let condition = Some("n > 3".to_owned());
    let hit_condition = Some(">= 2".to_owned());
    let function = WantedFunction {
        id: BreakpointId(2),
        name: "work".to_owned(),
        file: None,
        condition: None,
        hit_condition: None,
        trace: None,
    };
    let breakpoints = vec![Wanted { condition, hit_condition, ..point(1) }];
    let scene = Scene { breakpoints, functions: vec![function], ..Scene::default() };
    let (dap, mut signals, played) = scene.begin().await;
    let mut told = Vec::new();
    while let Ok(Signal::Breakpoint(bound)) = signals.try_recv() {
        told.push(format!("{:?}", bound.state));
    }
    expect![""].assert_eq(&told.join("\n"));
    let stack = dap.stack(1, Slice { start: 1, count: 1 }).await.unwrap();
    assert_eq!((stack.frames.len(), stack.frames[0].line, stack.total), (1, 9, Some(3)));
    let refused = dap.assign(&FrameId::number(1), &Handle::number(1), "n", "4").await.unwrap_err();
    expect!["the Java debugger cannot set a variable: it does not announce `supportsSetVariable`"]
        .assert_eq(&refused.message);
    dap.exception(1).await.unwrap_err();
    dap.detach().await.unwrap();
    played.check(&expect![[r#"
        initialize
        launch
        setBreakpoints [{"line":5}]
        stackTrace {"threadId":1}
        disconnect null
    "#]]);
}

#[tokio::test]
async fn what_is_announced_is_sent_and_written_as_the_debugger_takes_it() {
    let hit_condition = Some(">= 2".to_owned());
    let capabilities = json!({
        "supportsConditionalBreakpoints": true, "supportsHitConditionalBreakpoints": true,
        "supportsConfigurationDoneRequest": true, "supportTerminateDebuggee": true,
        "exceptionBreakpointFilters": [{ "filter": "cpp_throw", "label": "C++ Throw" }],
    });
    let exceptions = Exceptions { caught: true, ..Exceptions::default() };
    let breakpoints = vec![Wanted { hit_condition, ..point(1) }];
    let scene = Scene {
        dialect: Box::new(LLDB),
        capabilities,
        breakpoints,
        exceptions,
        ..Scene::default()
    };
    let (dap, _signals, played) = scene.begin().await;
    dap.detach().await.unwrap();
    played.check(&expect![[r#"
        initialize
        launch
        setBreakpoints [{"line":5,"hitCondition":"2"}]
        setExceptionBreakpoints {"filters":["cpp_throw"]}
        configurationDone null
        disconnect {"terminateDebuggee":false}
    "#]]);
}

#[tokio::test]
async fn a_stop_that_names_no_breakpoint_is_known_by_its_place() {
    let scene = Scene { breakpoints: vec![point(1)], ..Scene::default() };
    let (_dap, mut signals, played) = scene.begin().await;
    played.stop().await;
    assert_eq!(next_hits(&mut signals).await, [1]);
}

#[tokio::test]
async fn a_condition_that_the_debugger_cannot_look_at_is_looked_at_here() {
    let condition = Some("n > 3".to_owned());
    let breakpoints = vec![Wanted { condition, ..point(1) }];
    let values = vec![json!("false"), json!("true")];
    let scene = Scene { breakpoints, values, ..Scene::default() };
    let (_dap, mut signals, played) = scene.begin().await;
    played.asked();
    played.stop().await;
    played.stop().await;
    assert_eq!(next_hits(&mut signals).await, [1]);
    let asked = played.asked();
    let continued = asked.lines().filter(|it| it.starts_with("continue")).count();
    assert_eq!(continued, 1, "{asked}");
}

#[tokio::test]
async fn hits_that_the_debugger_cannot_count_are_counted_here() {
    let hit_condition = Some("== 3".to_owned());
    let breakpoints = vec![Wanted { hit_condition, ..point(1) }];
    let dialect = Box::new(RDBG);
    let (_dap, mut signals, played) =
        Scene { dialect, breakpoints, ..Scene::default() }.begin().await;
    for _ in 0..2 {
        played.stop().await;
        // It goes on by itself.
        while !played.asked().contains("continue") {
            tokio::task::yield_now().await;
        }
    }
    played.stop().await;
    assert_eq!(next_hits(&mut signals).await, [1]);
    assert!(!played.asked().contains("continue"));
}

#[tokio::test]
async fn a_tracepoint_counts_its_hits_once() {
    let template = Some(Template::parse("n={n}").unwrap());
    let trace = Arc::new(Tracing {
        generation: 1,
        template,
        multiple: 0,
        max: 0,
        is_literal: false,
        is_mark: false,
    });
    let hit_condition = Some("== 2".to_owned());
    let traced = Wanted { hit_condition, trace: Some(trace), ..point(1) };
    let capabilities = json!({ "supportsHitConditionalBreakpoints": true });
    let scene = Scene {
        breakpoints: vec![traced],
        capabilities,
        values: vec![json!("4")],
        ..Scene::default()
    };
    let (_dap, mut signals, played) = scene.begin().await;
    assert!(!played.asked().contains("hitCondition"));
    played.stop().await;
    played.stop().await;
    match next(&mut signals).await {
        Signal::Passed(passed) => {
            assert_eq!((passed[0].hit_count, &passed[0].values[0]), (2, &Ok("4".to_owned())));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_step_that_ends_at_a_tracepoint_ends_there() {
    let condition = Some("n > 3".to_owned());
    let breakpoints = vec![Wanted { condition, ..point(1) }];
    let scene = Scene { breakpoints, values: vec![json!("false")], ..Scene::default() };
    let (dap, mut signals, played) = scene.begin().await;
    dap.step(1, crate::backend::Step::Over).await.unwrap();
    played.stop().await;
    match next(&mut signals).await {
        Signal::Stopped(stopped) => assert_eq!(stopped.reason, StopReason::Step),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn exceptions_that_the_debugger_does_not_know_are_refused_with_what_it_has() {
    let capabilities = json!({
        "exceptionBreakpointFilters": [
            { "filter": "any", "label": "rescue any exception" },
            { "filter": "RuntimeError", "label": "rescue RuntimeError" },
        ],
    });
    let scene = Scene { dialect: Box::new(RDBG), capabilities, ..Scene::default() };
    let (dap, _signals, played) = scene.begin().await;
    played.asked();
    let refused = dap.set_exceptions(&Exceptions::default()).await.unwrap_err();
    expect![[r#"
        rdbg has no stop at exceptions that are uncaught
        its own filters: `any` (rescue any exception), `RuntimeError` (rescue RuntimeError)"#]]
    .assert_eq(&format!("{}\n{}", refused.message, refused.hint.unwrap()));
    let caught = Exceptions { uncaught: false, caught: true, ..Exceptions::default() };
    dap.set_exceptions(&caught).await.unwrap();
    played.check(&expect![[r#"
        setExceptionBreakpoints {"filters":[]}
        setExceptionBreakpoints {"filters":["any"]}
    "#]]);
}

#[tokio::test]
async fn exceptions_that_were_chosen_for_another_language_do_not_prevent_a_launch() {
    let exceptions = Exceptions { caught: true, ..Exceptions::default() };
    let scene = Scene { exceptions, ..Scene::default() };
    let (_dap, mut signals, _played) = scene.begin().await;
    match next(&mut signals).await {
        Signal::Output { text, .. } => {
            assert!(text.contains("has no stop at exceptions"), "{text}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_exit_code_is_told() {
    let (_dap, mut signals, played) = Scene::default().begin().await;
    played.event("exited", json!({ "exitCode": 3 })).await;
    played.event("terminated", json!({})).await;
    assert!(matches!(next(&mut signals).await, Signal::Exited { code: 3 }));
    assert!(matches!(next(&mut signals).await, Signal::Ended));
}

#[tokio::test]
async fn what_was_got_at_an_earlier_stop_is_refused() {
    let values = vec![json!("1"), json!("2"), json!("3")];
    let (dap, mut signals, played) = Scene { values, ..Scene::default() }.begin().await;
    let backend = Backend::Dap(dap);
    let first = async |backend: &Backend| {
        let stack = backend.stack(1, Slice { start: 0, count: 1 }).await.unwrap();
        stack.frames.into_iter().next().unwrap().id
    };
    let evaluate = async |frame| {
        let value = backend.evaluate(Some(frame), "n", Duration::from_secs(1)).await;
        value.map(|it| it.text).map_err(|failure| failure.message.into_owned())
    };
    played.stop().await;
    next_hits(&mut signals).await;
    let before = first(&backend).await;
    assert_eq!(evaluate(&before).await, Ok("1".to_owned()));
    backend.resume(1).await.unwrap();
    played.stop().await;
    next_hits(&mut signals).await;
    let earlier = Err("that is of an earlier stop".to_owned());
    assert_eq!(evaluate(&before).await, earlier);
    assert_eq!(backend.scopes(&before).await.unwrap_err().message, "that is of an earlier stop");
    let now = first(&backend).await;
    assert_eq!(evaluate(&now).await, Ok("2".to_owned()));
    // It goes on by itself.
    played.event("continued", json!({ "threadId": 1, "allThreadsContinued": true })).await;
    assert!(matches!(next(&mut signals).await, Signal::Continued { .. }));
    assert_eq!(evaluate(&now).await, earlier);
}

#[test]
fn the_end_of_a_runtime_is_known_by_what_is_said_of_it() {
    use holdpoint_jdwp::JdwpError;

    use super::is_gone;
    assert!(is_gone(&JdwpError::Closed("reset".into()).to_string()));
    assert!(is_gone(&JdwpError::Refused(JdwpError::VM_DEAD).to_string()));
    assert!(is_gone(&holdpoint_sdb::MonoError::Closed("reset".to_owned()).to_string()));
    assert!(!is_gone(&JdwpError::Refused(JdwpError::INVALID_THREAD).to_string()));
}

/// Whoever is ready at once runs the program when it is configured: it has to know by then what to run.
#[tokio::test]
async fn the_program_is_launched_before_it_is_configured() {
    for _ in 0..64 {
        let capabilities =
            json!({ "ready_at": "initialize", "supportsConfigurationDoneRequest": true });
        let (_dap, _signals, played) = Scene { capabilities, ..Scene::default() }.begin().await;
        let asked = played.asked();
        assert_eq!(asked.lines().nth(1), Some("launch"), "{asked}");
    }
}
