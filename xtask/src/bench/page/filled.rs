//! A server that has seen much: 25,000 calls, their 50,000 events, and a program of 20,000 lines that stands in the
//! middle; and an app that goes on calling.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value as Json, json};

use super::Stage;
use crate::bench::client::Server;
use crate::bench::http::{Connection, HttpClient, Listening};
use crate::bench::wire::{Process, Value};
use crate::chromium::{Chromium, Tab};

const CALLS: u32 = 25_000;
const QUICK_CALLS: u32 = 5_000;
const LINES: u32 = 20_000;
pub(super) const STOPS_AT: u32 = 10_000;
/// Two events each: 500 a second.
const PAIRS_PER_SECOND: u32 = 250;

pub(super) struct Filled<'a> {
    stage: &'a Stage,
    pub(super) server: Listening,
    program: PathBuf,
    /// The session stays as long as the client that began it.
    _client: HttpClient,
}

impl<'a> Filled<'a> {
    pub(super) fn start(stage: &'a Stage) -> Result<Self> {
        let calls = if stage.is_quick { QUICK_CALLS } else { CALLS };
        eprintln!("{calls} calls, and a program of {LINES} lines …");
        let external = format!("fixture:python3 {}", stage.fixture.display());
        let server = Listening::ours(&Server::new(
            &stage.ours,
            &["serve", "--port", "0", "--mcp-client", &external],
        ))?;
        let mut app = CallingApp::to(server.port, 1)?;
        for _ in 0..calls {
            app.pair()?;
        }
        let mut client = HttpClient::to(server.port)?;
        let file = server.home.0.join("long.py");
        std::fs::write(&file, long_program())?;
        let point = json!({ "file": file, "line": STOPS_AT });
        client.request("tools/call", json!({ "name": "breakpoint_set", "arguments": point }))?;
        let launch =
            json!({ "program": file, "interpreter": stage.python, "stop_on_entry": false });
        client.request("tools/call", json!({ "name": "debug_launch", "arguments": launch }))?;
        Ok(Self { stage, server, program: file, _client: client })
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    pub(super) fn python(&self) -> &Path {
        &self.stage.python
    }

    /// Another file beside the program.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.server.home.0.join(name);
        std::fs::write(&file, text)?;
        Ok(file)
    }

    pub(super) fn is_quick(&self) -> bool {
        self.stage.is_quick
    }

    /// The views that are measured, by name.
    pub(super) fn views(&self) -> [(&'static str, &'static str); 4] {
        [
            ("Now", "/"),
            ("a session in 20,000 lines", "/sessions/s1"),
            ("the calls' records", "/calls/records"),
            ("the timeline", "/timeline"),
        ]
    }

    pub(super) fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port)
    }

    /// A tab of somebody who may look.
    pub(super) fn tab(&self, browser: &mut Chromium) -> Result<Tab> {
        let tab = browser.tab()?;
        browser.open(&tab, &self.stage.entrance(&self.server.home)?)?;
        Ok(tab)
    }

    /// An app that makes 500 events a second until this is dropped.
    pub(super) fn calling(&self) -> Result<StillCalling> {
        let mut app = CallingApp::to(self.server.port, 2)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        let work = move || {
            let (start, mut made) = (Instant::now(), 0);
            while !stops.load(Ordering::Relaxed) {
                app.pair()?;
                made += 1;
                let due = start + Duration::from_secs(1) * made / PAIRS_PER_SECOND;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            Ok(f64::from(made) * 2.0 / start.elapsed().as_secs_f64())
        };
        let thread = thread::Builder::new().name("app".into()).spawn(work)?;
        Ok(StillCalling { stop, thread })
    }
}

/// A program whose lines are all different.
fn long_program() -> String {
    let mut text = String::from("total = 0\n");
    for line in 2..=LINES {
        // Writing to a string cannot fail.
        writeln!(text, "total += len(\"line {line}\") * {line} % 7").ok();
    }
    text
}

pub(super) struct StillCalling {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<f64>>,
}

impl StillCalling {
    /// Ends it; the events per second that it came to.
    pub(super) fn end(self) -> Result<f64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the app panicked"))?
    }
}

struct CallingApp {
    connection: Connection,
    process: Process,
    made: u32,
}

impl CallingApp {
    fn to(port: u16, number: u32) -> Result<Self> {
        let (connection, process) = (Connection::to(port)?, Process::number(number));
        Ok(Self { connection, process, made: 0 })
    }

    fn pair(&mut self) -> Result<()> {
        self.made += 1;
        let argument = Value::of(&format!("order {} of {}", self.made, self.process.start));
        let body = self.process.start_body(&argument);
        let begun = self.connection.post("/api/call/start", &body)?.json()?;
        let call = begun.get("call_id").and_then(Json::as_str).context("no call_id")?;
        let result = Value::of(&format!("price {}", self.made));
        let body = self.process.complete_body(call, &result);
        self.connection.post("/api/call/complete", &body)?.json().map(drop)
    }
}
