//! A browser driven over two pipes by its own protocol, with tabs that know nothing of each other.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::Group;
use crate::scratch::{Home, Process};

const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The browser speaks on its third and fourth pipe, which are these two.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

const OPTIONS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
    // Every page is one that somebody looks at.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
];

pub(crate) struct Chromium {
    requests: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
    /// Of events that were asked for: what came while an answer was waited for.
    told: VecDeque<Value>,
    process: Process,
    _group: Group,
    _profile: Home,
}

/// One page, signed in or not by itself.
#[derive(Clone)]
pub(crate) struct Tab {
    session: String,
    context: String,
}

impl Chromium {
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let profile = Home::new()?;
        let folder = format!("--user-data-dir={}", profile.0.display());
        let mut command = Command::new("sh");
        command.args(["-c", START]).arg(program).args(OPTIONS).arg(folder).arg("about:blank");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut process = Process(command.spawn().context("starting the browser")?);
        let group = Group::led_by(&process.0)?;
        let requests = process.0.stdin.take().context("no stdin")?;
        let answers = process.0.stdout.take().context("no stdout")?;
        let (message, messages) = channel();
        thread::Builder::new().name("browser".into()).spawn(move || {
            for bytes in BufReader::new(answers).split(0).map_while(std::io::Result::ok) {
                let read = serde_json::from_slice(&bytes).unwrap_or_default();
                if message.send(read).is_err() {
                    break;
                }
            }
        })?;
        let (next, told) = (0, VecDeque::new());
        Ok(Self { requests, messages, next, told, process, _group: group, _profile: profile })
    }

    /// A new window with cookies and connections of its own.
    pub(crate) fn tab(&mut self) -> Result<Tab> {
        let made = self.ask(None, "Target.createBrowserContext", json!({}))?;
        let context = text(&made, "browserContextId")?;
        let target =
            json!({ "url": "about:blank", "browserContextId": context, "newWindow": true });
        let target = self.ask(None, "Target.createTarget", target)?;
        let attach = json!({ "targetId": text(&target, "targetId")?, "flatten": true });
        let attached = self.ask(None, "Target.attachToTarget", attach)?;
        let tab = Tab { session: text(&attached, "sessionId")?, context };
        for domain in ["Page", "Runtime", "Performance"] {
            self.ask(Some(&tab), &format!("{domain}.enable"), json!({}))?;
        }
        let size = json!({ "width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask(Some(&tab), "Emulation.setDeviceMetricsOverride", size)?;
        self.ask(Some(&tab), "Emulation.setFocusEmulationEnabled", json!({ "enabled": true }))?;
        Ok(tab)
    }

    pub(crate) fn close(&mut self, tab: &Tab) -> Result<()> {
        let context = json!({ "browserContextId": tab.context });
        self.ask(None, "Target.disposeBrowserContext", context).map(drop)
    }

    /// Opens an address and waits until everything of it is there.
    pub(crate) fn open(&mut self, tab: &Tab, url: &str) -> Result<()> {
        self.ask(Some(tab), "Page.navigate", json!({ "url": "about:blank" }))?;
        self.until(tab, "location.href === 'about:blank'")?;
        let went = self.ask(Some(tab), "Page.navigate", json!({ "url": url }))?;
        if went.get("errorText").is_some() {
            bail!("{url}: {went}");
        }
        let loaded = "location.href !== 'about:blank' && document.readyState === 'complete' \
                      && performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0";
        self.until(tab, loaded).with_context(|| url.to_owned())
    }

    pub(crate) fn until(&mut self, tab: &Tab, expression: &str) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < ANSWER_LIMIT {
            // A page that is being left has no value.
            if self.eval(tab, expression).ok() == Some(Value::Bool(true)) {
                return Ok(());
            }
            thread::sleep(LOOK_EVERY);
        }
        let page =
            self.eval(tab, "location.href + ': ' + document.body.innerText.slice(0, 300)")?;
        bail!("`{expression}` did not become true at {page}")
    }

    pub(crate) fn eval(&mut self, tab: &Tab, expression: &str) -> Result<Value> {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask(Some(tab), "Runtime.evaluate", asked)?;
        if answer.get("exceptionDetails").is_some() {
            bail!("{expression}: {answer}");
        }
        Ok(answer.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
    }

    pub(crate) fn number(&mut self, tab: &Tab, expression: &str) -> Result<f64> {
        let value = self.eval(tab, expression)?;
        value.as_f64().with_context(|| format!("`{expression}` is {value}"))
    }

    pub(crate) fn ask(&mut self, tab: Option<&Tab>, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if let (Some(tab), Some(request)) = (tab, request.as_object_mut()) {
            request.insert("sessionId".to_owned(), json!(tab.session));
        }
        let mut bytes = serde_json::to_vec(&request)?;
        bytes.push(0);
        self.requests.write_all(&bytes)?;
        loop {
            let mut message = self.hear(method)?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return match message.get("error") {
                    Some(error) => bail!("{method}: {error}"),
                    None => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
                };
            }
            if message.get("method").and_then(Value::as_str) == Some("Tracing.dataCollected") {
                self.told.push_back(message);
            }
        }
    }

    /// What the browser did between the two times that this is called, of the kinds that are asked for.
    pub(crate) fn begin_trace(&mut self, categories: &str) -> Result<()> {
        self.told.clear();
        let config = json!({ "recordMode": "recordUntilFull", "includedCategories": [categories] });
        let asked = json!({ "traceConfig": config, "transferMode": "ReportEvents" });
        self.ask(None, "Tracing.start", asked).map(drop)
    }

    pub(crate) fn end_trace(&mut self) -> Result<Vec<Value>> {
        self.ask(None, "Tracing.end", json!({}))?;
        let mut events = Vec::new();
        loop {
            let mut message = match self.told.pop_front() {
                Some(message) => message,
                None => self.hear("the trace")?,
            };
            match message.get("method").and_then(Value::as_str) {
                Some("Tracing.dataCollected") => {
                    if let Some(Value::Array(more)) = message.pointer_mut("/params/value") {
                        events.append(more);
                    }
                }
                Some("Tracing.tracingComplete") => return Ok(events),
                _ => {}
            }
        }
    }

    fn hear(&mut self, waiting_for: &str) -> Result<Value> {
        let heard = self.messages.recv_timeout(ANSWER_LIMIT);
        heard.with_context(|| format!("the browser did not answer {waiting_for}"))
    }

    /// Resident memory of all processes that show pages, in megabytes.
    pub(crate) fn renderers_mb(&mut self) -> Result<f64> {
        let mut megabytes = 0.0;
        for entry in std::fs::read_dir("/proc")? {
            let folder = entry?.path();
            let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            let is_its = words.contains("--type=renderer") && self.is_its(&folder);
            let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
            let rss = status
                .lines()
                .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
            if let (true, Some(rss)) = (is_its, rss) {
                megabytes += rss.parse::<f64>()? * 1024.0 / 1e6;
            }
        }
        Ok(megabytes)
    }

    /// Whether a process is of our group.
    fn is_its(&self, folder: &Path) -> bool {
        let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(") ").map_or("", |it| it.1);
        after_name.split(' ').nth(2) == Some(&self.process.0.id().to_string())
    }
}

fn text(answer: &Value, name: &str) -> Result<String> {
    let value = answer.get(name).and_then(Value::as_str);
    value.map(str::to_owned).with_context(|| format!("no {name} in {answer}"))
}
