//! One process of a recording: who it was, what it ran, and what is missing of it.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::{
    damage::Damage,
    head::{Head, StreamState},
    stream::FunctionAt,
};

pub(crate) struct Process {
    pub(crate) number: u32,
    pub(crate) head: Head,
    pub(crate) language: String,
    said: Json,
    /// The pieces of each function.
    pieces: HashMap<u32, Vec<u32>>,
}

/// What a process says of itself, and how much of it there is.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessFacts {
    pub pid: u64,
    pub parent_pid: u64,
    pub language: String,
    pub runtime: String,
    pub way: String,
    pub level: String,
    pub arguments: Vec<String>,
    pub folder: String,
    pub state: StreamState,
    pub exit: Option<i64>,
    pub calls: u32,
    pub lines: u64,
    pub events: u64,
    pub took_ms: f64,
    pub notes: Vec<String>,
    pub tests: Vec<TestFacts>,
}

/// What a runner said of one test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestFacts {
    pub name: String,
    pub outcome: Option<String>,
    pub message: Option<String>,
    /// The calls between its begin and its end.
    pub first_call: u32,
    pub end_call: u32,
}

impl Process {
    pub(crate) fn new(number: u32, head: Head) -> Result<Process, Damage> {
        let said: Json = serde_json::from_str(&head.process).unwrap_or_default();
        let language = said.get("language").and_then(Json::as_str).unwrap_or_default().to_owned();
        let mut pieces: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, piece) in head.pieces.iter().enumerate() {
            pieces.entry(piece.function).or_default().push(at as u32);
        }
        Ok(Process { number, head, language, said, pieces })
    }

    pub(crate) fn pieces_of(&self, function: u32) -> &[u32] {
        self.pieces.get(&function).map_or(&[], |it| it)
    }

    pub(crate) fn string(&self, number: u32) -> &str {
        self.head.strings.get(number as usize).map_or("?", |it| it)
    }

    pub(crate) fn function(&self, number: u32) -> Result<&FunctionAt, Damage> {
        self.head.functions.get(number as usize).ok_or(Damage::Unknown("function"))
    }

    pub(crate) fn qualified(&self, number: u32) -> &str {
        self.function(number).map_or("?", |it| self.string(it.qualified))
    }

    pub(crate) fn path(&self, function: u32) -> &str {
        let file = self.function(function).map_or(u32::MAX, |it| it.file);
        self.head.files.get(file as usize).map_or("?", |it| it.path.as_str())
    }

    /// The path from where the program was started, if it is below.
    pub(crate) fn shown_path(&self, function: u32) -> &str {
        let path = self.path(function);
        let folder = self.text("cwd");
        let below = path.strip_prefix(folder).map(|it| it.trim_start_matches(['/', '\\']));
        below.filter(|it| !it.is_empty() && !folder.is_empty()).unwrap_or(path)
    }

    pub(crate) fn milliseconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.head.ticks_ns / 1e6
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.said.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    fn number_of(&self, key: &str) -> u64 {
        self.said.get(key).and_then(Json::as_u64).unwrap_or(0)
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let words = self.said.get("argv").and_then(Json::as_array).into_iter().flatten();
        words.filter_map(Json::as_str).map(str::to_owned).collect()
    }

    pub(crate) fn exit(&self) -> Option<i64> {
        let end: Json = serde_json::from_str(self.head.end.as_deref()?).unwrap_or_default();
        end.get("exit").and_then(Json::as_i64)
    }

    /// The tests that ran in it, in their order.
    pub(crate) fn tests(&self) -> Vec<TestFacts> {
        let mut all: Vec<TestFacts> = Vec::new();
        for said in &self.head.tests {
            let fact: Json = serde_json::from_str(&said.said).unwrap_or_default();
            let text = |key: &str| fact.get(key).and_then(Json::as_str).map(str::to_owned);
            let name = text("name").unwrap_or_default();
            if text("phase").as_deref() == Some("begin") {
                let (first_call, end_call) = (said.calls, self.head.calls);
                all.push(TestFacts { name, first_call, end_call, ..TestFacts::default() });
                continue;
            }
            if !all.iter().any(|it| it.name == name) {
                let end_call = said.calls;
                all.push(TestFacts { name: name.clone(), end_call, ..TestFacts::default() });
            }
            if let Some(test) = all.iter_mut().rfind(|it| it.name == name) {
                (test.outcome, test.message) = (text("outcome"), text("message"));
                test.end_call = said.calls;
            }
        }
        all
    }

    /// Whether only what is in focus has lines, as it was asked for.
    pub(crate) fn keeps_calls_alone(&self) -> bool {
        self.text("level") == "calls"
    }

    pub(crate) fn facts(&self) -> ProcessFacts {
        ProcessFacts {
            pid: self.number_of("pid"),
            parent_pid: self.number_of("ppid"),
            language: self.language.clone(),
            runtime: self.text("runtime").to_owned(),
            way: self.text("way").to_owned(),
            level: self.text("level").to_owned(),
            arguments: self.arguments(),
            folder: self.text("cwd").to_owned(),
            state: self.head.state.clone(),
            exit: self.exit(),
            calls: self.head.calls,
            lines: self.head.lines,
            events: self.head.events,
            took_ms: self.milliseconds(self.head.ticks),
            notes: self.head.notes.clone(),
            tests: self.tests(),
        }
    }
}

/// Whether a runner's word means that a test did not pass.
pub(crate) fn is_failure(outcome: &str) -> bool {
    let outcome = outcome.to_ascii_lowercase();
    ["fail", "error", "broken", "timeout"].iter().any(|it| outcome.contains(it))
}
