//! What real debuggers said, and what it means to us. Every message of the recordings in
//! `crates/dap/tests/recordings` goes through translation; what it comes to is kept beside this file, one
//! line for each message that means anything. `UPDATE_EXPECT=1 cargo test -p holdpoint-engine recordings`
//! writes them anew: read what changed.

use std::path::Path;

use expect_test::expect_file;
use holdpoint_dap::{Event, types as t};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    DebuggerState,
    dialect::{
        About, CDT_GDB, CODELLDB, DELVE, Dialect, GDB, JAVA, JS_DEBUG, LLDB, PERL, Pydevd, RDBG,
    },
    exceptions::{Chosen, chosen},
    share::{Feature, allowed},
    translate,
};
use crate::{
    backend::{Binding, Exceptions, Frame, Signal, Site, Stopped},
    ids::BreakpointId,
};

/// The one breakpoint that was set in each recording.
const POINT: BreakpointId = BreakpointId(7);

struct Recording {
    name: &'static str,
    dialect: Box<dyn Dialect>,
    /// Where the breakpoint was.
    at: (&'static str, u32),
}

fn recordings() -> Vec<Recording> {
    let one =
        |name, dialect: Box<dyn Dialect>, file, line| Recording { name, dialect, at: (file, line) };
    vec![
        one("cdtgdb", Box::new(CDT_GDB), "/srv/prog/a.c", 5),
        one("codelldb", Box::new(CODELLDB), "/srv/prog/a.rs", 5),
        one("debugpy", Box::new(Pydevd::new(About::default())), "/srv/prog/a.py", 4),
        one("delve", Box::new(DELVE), "/srv/prog/a.go", 8),
        one("gdb16", Box::new(GDB), "/srv/prog/a.c", 5),
        one("java", Box::new(JAVA), "/srv/prog/Main.java", 5),
        one("jsdebug", Box::new(JS_DEBUG), "/srv/prog/a.js", 4),
        one("lldb19", Box::new(LLDB), "/srv/prog/a.rs", 5),
        one("lldb22", Box::new(LLDB), "/srv/prog/a.c", 5),
        one("perl", Box::new(PERL), "/srv/prog/a.pl", 6),
        one("rdbg", Box::new(RDBG), "/srv/prog/a.rb", 4),
    ]
}

#[test]
fn every_recorded_message_means_what_it_meant() {
    let mut count = 0;
    for recording in recordings() {
        let path = format!("../dap/tests/recordings/{}.jsonl", recording.name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(path).unwrap();
        let messages: Vec<Value> =
            text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        count += messages.len();
        let name = recording.name;
        let told = Reading::new(recording).read(&messages);
        expect_file![format!("recordings/{name}.txt")].assert_eq(&told);
    }
    assert_eq!(count, 825);
}

/// One recording on its way through translation.
struct Reading {
    known: DebuggerState,
    site: Site,
    lines: Vec<(String, usize)>,
    silent: usize,
    /// The last stop did not say where it was.
    is_nameless: bool,
}

impl Reading {
    fn new(recording: Recording) -> Reading {
        let Recording { dialect, at: (file, line), .. } = recording;
        Reading {
            known: DebuggerState::new(dialect, t::Capabilities::default(), true),
            site: Site { file: file.into(), line },
            lines: Vec::new(),
            silent: 0,
            is_nameless: false,
        }
    }

    fn read(mut self, messages: &[Value]) -> String {
        for message in messages {
            let told = self.message(message);
            if told.is_empty() {
                self.silent += 1;
            }
            for line in told {
                match self.lines.last_mut() {
                    Some((last, times)) if *last == line => *times += 1,
                    _ => self.lines.push((line, 1)),
                }
            }
        }
        let mut text = String::new();
        for (line, times) in &self.lines {
            let times = if *times > 1 { format!(" ×{times}") } else { String::new() };
            text += &format!("{line}{times}\n");
        }
        text + &format!("({} messages, {} of them mean nothing)\n", messages.len(), self.silent)
    }

    fn message(&mut self, message: &Value) -> Vec<String> {
        let body = message.get("body").unwrap_or(&Value::Null);
        match message["type"].as_str().unwrap() {
            "event" => {
                let event = Event::read(message["event"].as_str().unwrap(), body).unwrap();
                let is_change = matches!(event, Event::Capabilities(_));
                let signals = self.known.signals(event);
                let told = signals.iter().map(|it| self.signal(it)).collect();
                if is_change { vec![self.filters()] } else { told }
            }
            "response" if message["success"] == false => {
                let why = translate::last_line(message["message"].as_str().unwrap());
                vec![format!("{} refused: {why}", message["command"].as_str().unwrap())]
            }
            "response" => self.answer(message["command"].as_str().unwrap(), body),
            "request" => {
                vec![format!("it asks {}: refused", message["command"].as_str().unwrap())]
            }
            other => panic!("{other}"),
        }
    }

    fn answer(&mut self, command: &str, body: &Value) -> Vec<String> {
        let dialect = &*self.known.dialect;
        match command {
            "initialize" => {
                let dialect = std::mem::replace(&mut self.known.dialect, Box::new(PERL));
                self.known = DebuggerState::new(dialect, read(body), true);
                self.capabilities()
            }
            "setBreakpoints" => {
                let answers: t::SetBreakpointsBody = read(body);
                answers.breakpoints.iter().map(|it| self.bound(it)).collect()
            }
            "stackTrace" => {
                let body: t::StackTraceBody = read(body);
                let frames = body.stack_frames.into_iter().map(|it| translate::frame(dialect, it));
                let frames: Vec<Frame> = frames.collect();
                let told = frames.iter().map(frame).collect::<Vec<_>>().join(" ← ");
                let hits = frames.first().filter(|_| self.is_nameless);
                let hits = hits.map(|top| format!("  at the place of {:?}", self.known.at(top)));
                self.is_nameless = false;
                std::iter::once(format!("stack {told}")).chain(hits).collect()
            }
            "scopes" => {
                let body: t::ScopesBody = read(body);
                let scopes = body.scopes.into_iter().map(|it| translate::scope(dialect, it));
                let scopes = scopes.map(|it| format!("{} is {:?}", it.name, it.kind));
                vec![format!("scopes {}", scopes.collect::<Vec<_>>().join(", "))]
            }
            "variables" => {
                let body: t::VariablesBody = read(body);
                let dialect = &*self.known.dialect;
                let all =
                    body.variables.into_iter().map(|it| translate::variable(dialect, it)).take(4);
                let all = all.map(|it| crate::inspect::one_line(&it.name, &it.value, 40));
                vec![format!("variables {}", all.collect::<Vec<_>>().join(" · "))]
            }
            "evaluate" => {
                let value = translate::evaluated(&*self.known.dialect, read(body));
                vec![crate::inspect::one_line("evaluated", &value, 40)]
            }
            "launch"
            | "attach"
            | "configurationDone"
            | "disconnect"
            | "continue"
            | "next"
            | "setExceptionBreakpoints" => Vec::new(),
            other => panic!("`{other}` is not translated"),
        }
    }

    fn capabilities(&self) -> Vec<String> {
        let announced = self.known.capabilities();
        let features = [
            ("conditions", Feature::Condition),
            ("hit conditions", Feature::HitCondition),
            ("parts of stacks", Feature::SomeFrames),
            ("functions by name", Feature::Request("setFunctionBreakpoints")),
            ("setting variables", Feature::Request("setVariable")),
            ("exception info", Feature::Request("exceptionInfo")),
        ];
        let missing = features.iter().filter(|(_, it)| allowed(&announced, *it).is_err());
        let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
        let mut told = vec![format!("cannot: {}", missing.join(", "))];
        told.push(self.filters());
        told
    }

    fn filters(&self) -> String {
        let all = Exceptions { caught: true, user_unhandled: true, ..Exceptions::default() };
        let Chosen { filters, missing } = chosen(&self.known, &all);
        format!("exceptions by {filters:?}, refused {missing:?}")
    }

    fn bound(&self, answer: &t::Breakpoint) -> String {
        if let Some(number) = answer.id {
            self.known.numbers().insert(number, vec![POINT]);
        }
        self.known.sites().insert(POINT, self.site.clone());
        let state = translate::binding(&*self.known.dialect, Some(answer), Some(self.site.line));
        format!("breakpoint {}", binding(&state))
    }

    fn signal(&mut self, signal: &Signal) -> String {
        match signal {
            Signal::Stopped(stopped) => self.stopped(stopped),
            Signal::Continued { thread: None } => "all threads go on".to_owned(),
            Signal::Continued { thread } => format!("thread {thread:?} goes on"),
            Signal::ThreadStarted { thread, .. } => format!("thread {thread} begins"),
            Signal::ThreadEnded { thread } => format!("thread {thread} ends"),
            Signal::Output { stream, text } => format!("{stream:?} {text:.60?}"),
            Signal::Breakpoint(bound) => format!("breakpoint now {}", binding(&bound.state)),
            Signal::Exited { code } => format!("exit code {code}"),
            Signal::Killed { signal } => format!("killed by {signal}"),
            Signal::Ended => "ended".to_owned(),
            Signal::Titled(_)
            | Signal::Held { .. }
            | Signal::Passed(_)
            | Signal::Reached(_)
            | Signal::Gone { .. } => {
                panic!("{signal:?}")
            }
        }
    }

    fn stopped(&mut self, stopped: &Stopped) -> String {
        let Stopped { thread, reason, hits, text, all } = stopped;
        self.is_nameless = hits.is_empty() && reason.as_str() == "breakpoint";
        let hits = if hits.is_empty() { String::new() } else { format!(" at {hits:?}") };
        let text = text.as_ref().map(|it| format!(" {it:?}")).unwrap_or_default();
        let whose = if *all { "all" } else { "it alone" };
        format!("thread {thread} stopped, {whose}: {}{hits}{text}", reason.as_str())
    }
}

fn binding(state: &Binding) -> String {
    match state {
        Binding::At { line, column: None } => format!("at {line}"),
        Binding::At { line, column: Some(column) } => format!("at {line}:{column}"),
        Binding::Functions { places, total } => format!("{total} functions {places:?}"),
        Binding::Not { why } => format!("nowhere: {why}"),
    }
}

/// Code that is not the user's in brackets.
fn frame(frame: &Frame) -> String {
    let file = frame.file.as_deref().and_then(Path::file_name).map(|it| it.to_string_lossy());
    let place = file.or(frame.place.as_deref().map(Into::into)).unwrap_or_default();
    let told = format!("{} {place}:{}", frame.function, frame.line);
    if frame.is_user { told } else { format!("({told})") }
}

fn read<T: DeserializeOwned>(body: &Value) -> T {
    let body = if body.is_null() { Value::Object(Map::new()) } else { body.clone() };
    serde_json::from_value(body).unwrap()
}
