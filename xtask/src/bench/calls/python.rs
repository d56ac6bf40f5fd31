//! An app under our Python client: `clients/python/bench.py` measures itself and prints its figures.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::super::client::Process;
use super::super::http::{Connection, Listening};
use super::super::{Samples, median};
use crate::process::{Show, run};

/// Each figure is taken so often, in turns; the median counts.
const TURNS: usize = 3;
const SECONDS: &str = "3";
const PAUSES: usize = 200;
/// How long a call is paused before it is let go on: a person or an agent takes longer.
const PAUSED: Duration = Duration::from_millis(10);
const LOOK_EVERY: Duration = Duration::from_millis(1);
const LOOKS: u32 = 10_000;

const APP_LIMIT: Duration = Duration::from_secs(120);

/// The app, and the servers that it talks to.
pub(super) struct App<'a> {
    pub(super) script: PathBuf,
    pub(super) server: &'a Listening,
    pub(super) bare: &'a Listening,
}

/// Calls per second.
pub(super) struct Figures {
    pub(super) plain: f64,
    pub(super) request: f64,
    pub(super) asked: f64,
    /// Records that the server took; what the app had to drop does not count.
    pub(super) fast: f64,
}

impl App<'_> {
    pub(super) fn figures(&self) -> Result<Figures> {
        let [mut plain, mut request, mut asked, mut fast] = [const { Vec::new() }; 4];
        for _ in 0..TURNS {
            plain.push(self.figure("plain", "calls_per_s")?);
            request.push(self.figure("request", "calls_per_s")?);
            asked.push(self.figure("asked", "calls_per_s")?);
            fast.push(self.figure("fast", "recorded_per_s")?);
        }
        Ok(Figures {
            plain: median(plain),
            request: median(request),
            asked: median(asked),
            fast: median(fast),
        })
    }

    fn figure(&self, what: &str, field: &str) -> Result<f64> {
        let finished = run(&mut self.command(what, SECONDS), APP_LIMIT, Show::Nothing)?;
        if !finished.success() {
            bail!(
                "`bench.py {what}` ended: {}\n{}",
                finished.how_it_ended(),
                finished.last_words()
            );
        }
        let said: Value = serde_json::from_str(finished.stdout.trim())
            .with_context(|| format!("`bench.py {what}` said: {}", finished.stdout))?;
        eprintln!("  {said}");
        let figure = said.get(what).and_then(|it| it.get(field)).and_then(Value::as_f64);
        figure.with_context(|| format!("no `{field}` in {said}"))
    }

    /// The app finds its server as any app does: by the port file in its home.
    fn command(&self, what: &str, how_long: &str) -> Command {
        let mut command = Command::new("python3");
        command
            .arg(&self.script)
            .args([what, how_long])
            .env("HOME", &self.server.home.0)
            .env("HOLDPOINT_HOME", &self.server.home.0)
            .env("BENCH_PORT", self.bare.port.to_string());
        for other in ["HOLDPOINT_URL", "CIDELDILL_SERVER_URL", "CIDELDILL_HOME", "PYTHONPATH"] {
            command.env_remove(other);
        }
        command
    }

    /// From the request that lets a paused call go on to the first line of its function.
    pub(super) fn resumes(&self) -> Result<Samples> {
        let mut connection = Connection::to(self.server.port)?;
        let point = json!({ "function_name": "bench_held", "behavior": "stop" });
        connection.post("/api/breakpoints", &point.to_string())?.json()?;
        let after = json!({ "behavior": "go" });
        connection
            .post("/api/breakpoints/bench_held/after_behavior", &after.to_string())?
            .json()?;
        let mut command = self.command("held", &PAUSES.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut app = Process(child.context("starting python3")?);
        let mut lines = lines(&mut app.0)?;
        let mut samples = Samples::default();
        for _ in 0..PAUSES {
            let pause = paused(&mut connection)?;
            thread::sleep(PAUSED);
            let resumed = SystemTime::now().duration_since(UNIX_EPOCH)?;
            let path = format!("/api/paused/{pause}/continue");
            connection.post(&path, r#"{"action":"continue"}"#)?.json()?;
            let began: u64 = lines()?.trim().parse().context("when a call began")?;
            samples.0.push(Duration::from_nanos(began).saturating_sub(resumed));
        }
        Ok(samples)
    }
}

fn lines(app: &mut Child) -> Result<impl FnMut() -> Result<String>> {
    let mut reader = BufReader::new(app.stdout.take().context("stdout was not piped")?);
    Ok(move || {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            bail!("the app ended before its calls did");
        }
        Ok(line)
    })
}

/// The paused call, once there is one.
fn paused(connection: &mut Connection) -> Result<String> {
    for _ in 0..LOOKS {
        let all = connection.get("/api/paused")?.json()?;
        if let Some(id) = all.pointer("/paused/0/id").and_then(Value::as_str) {
            return Ok(id.to_owned());
        }
        thread::sleep(LOOK_EVERY);
    }
    bail!("no call paused")
}
