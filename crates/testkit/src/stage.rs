//! One server heard over every transport at once, and one small program in either language.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    debug::{self, Debug, Said, line},
    listen::{Hears, Listener},
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Language {
    Python,
    Node,
}

pub const BOTH: [Language; 2] = [Language::Python, Language::Node];

/// The same program twice; lines end with `BP: name` where something is to happen.
#[derive(Clone, Copy)]
pub struct Program {
    pub python: &'static str,
    pub node: &'static str,
}

/// A server with a client on each transport, and a program.
pub struct Stage {
    pub debug: Debug,
    pub sse: Listener,
    pub http: Listener,
    pub program: PathBuf,
    pub language: Language,
    _folder: tempfile::TempDir,
}

impl Stage {
    /// `bin` is Holdpoint, `folder` where tests share what is slow to get.
    pub fn new(bin: &str, folder: &str, language: Language, program: Program) -> Stage {
        Stage::with(bin, folder, language, program, &["--mcp-sse"])
    }

    /// The same with other options of the server, `--mcp-sse` among them.
    pub fn with(
        bin: &str,
        folder: &str,
        language: Language,
        program: Program,
        options: &[&str],
    ) -> Stage {
        let mut debug = debug::python(bin, folder).start_with(options);
        let port = debug.rpc.process.port();
        let (sse, http) = (Listener::sse(port), Listener::http(port));
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = match language {
            Language::Python => ("program.py", program.python),
            Language::Node => ("program.js", program.node),
        };
        let program = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&program, text).unwrap();
        Stage { debug, sse, http, program, language, _folder: folder }
    }

    pub fn line(&self, mark: &str) -> usize {
        line(&self.program, mark)
    }

    /// The arguments that launch the program without a stop at its entry.
    pub fn launching(&self, more: Value) -> Value {
        let mut arguments = match self.language {
            Language::Python => self.debug.with_program(&self.program, json!({})),
            Language::Node => json!({ "program": self.program }),
        };
        let all = arguments.as_object_mut().expect("an object");
        all.insert("stop_on_entry".to_owned(), json!(false));
        all.extend(more.as_object().expect("an object").clone());
        arguments
    }

    #[track_caller]
    pub fn launch(&mut self, more: Value) -> Said {
        let arguments = self.launching(more);
        self.debug.ok("debug_launch", arguments)
    }

    /// Launches it and runs to the first of these marks.
    #[track_caller]
    pub fn run_to(&mut self, marks: &[&str]) -> Said {
        let point = |mark: &&str| json!({ "file": self.program, "line": self.line(mark) });
        let points: Vec<Value> = marks.iter().map(point).collect();
        self.launch(json!({ "breakpoints": points }))
    }

    /// Sets a tracepoint at a mark.
    #[track_caller]
    pub fn trace(&mut self, mark: &str, more: Value) -> Said {
        let mut arguments = json!({ "file": self.program, "line": self.line(mark) });
        let more = more.as_object().expect("an object").clone();
        arguments.as_object_mut().expect("an object").extend(more);
        self.debug.ok("tracepoint_set", arguments)
    }

    pub fn everyone(&mut self) -> [&mut dyn Hears; 3] {
        [&mut self.debug.rpc, &mut self.sse, &mut self.http]
    }

    /// What every client is told next of a method, which must be the same.
    #[track_caller]
    pub fn all_hear(&mut self, method: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
        let told = self.everyone().map(|client| (client.way(), client.notified(method, wanted)));
        let [(_, first), others @ ..] = &told;
        for (way, other) in others {
            assert_eq!(first, other, "over {way}");
        }
        first.clone()
    }

    /// Everything that each client was told of a method up to now, which must be the same.
    #[track_caller]
    pub fn all_heard(&mut self, method: &str) -> Vec<Value> {
        // Notifications come in order: whoever hears of the note has heard everything before it.
        let note = json!({ "name": "timeline_note", "arguments": { "text": "up to here" } });
        let noted = self.debug.rpc.request("tools/call", note);
        let seq = &noted["result"]["structuredContent"]["data"]["seq"];
        let mut all = self.everyone().map(|client| {
            client.notified("notifications/timeline/note", &|note| note["seq"] == *seq);
            let mut told = client.take(method);
            // Of the note itself one may have heard more than another.
            told.retain(|params| params["seq"] != *seq && params["data"]["seq"] != *seq);
            (client.way(), told)
        });
        let [(_, first), others @ ..] = &mut all;
        for (way, other) in others {
            let differs = first.iter().zip(&*other).position(|(one, other)| one != other);
            if let Some(at) = differs {
                panic!("over {way} number {at} is {} and not {}", other[at], first[at]);
            }
            assert_eq!(first.len(), other.len(), "over {way}");
        }
        std::mem::take(first)
    }
}
