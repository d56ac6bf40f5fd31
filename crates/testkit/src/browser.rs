//! A real Chromium with one page, driven by its own protocol: clicks where a person would, types what a person would,
//! reads what is on the page. What the page's policy refused, and what its script threw, is kept and asserted away.
//!
//! Everything that it started is gone when it is dropped.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD as STANDARD};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::{DEADLINE, until};

const OPTIONS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
];

pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    next: u64,
    page: String,
    /// What went wrong on the page, as the browser tells it.
    pub wrong: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser of its own, which knows nothing yet.
    pub fn start() -> Browser {
        Browser::start_with(&[])
    }

    /// The same, with more words on its command line.
    pub fn start_with(more: &[&str]) -> Browser {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let program = std::env::var("HOLDPOINT_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let mut child = Command::new(program)
            .args(OPTIONS)
            .args(more)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Its helpers are in its group, and end with it.
            .process_group(0)
            .spawn()
            .expect("chromium is installed");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ws://").map(str::to_owned));
        // It writes on, and must not wait for us.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.expect("the browser says where it listens");
        let (host, _) = address.split_once('/').expect("an address");
        let stream = TcpStream::connect(host).expect("the browser listens");
        let socket = tungstenite::client(format!("ws://{address}"), stream);
        let (socket, _) = socket.unwrap_or_else(|error| panic!("no browser at {address}: {error}"));
        // From here on it is looked for messages again and again.
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (next, wrong) = (0, Vec::new());
        let mut browser =
            Browser { child, socket, next, page: String::new(), wrong, _profile: profile };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let made = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let asked = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = self.ask("Target.attachToTarget", asked);
        self.page = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.ask(&format!("{domain}.enable"), json!({}));
        }
        self.size(1440, 900);
    }

    /// A request of the protocol, and its answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if !self.page.is_empty() {
            request["sessionId"] = json!(self.page);
        }
        let sent = Message::text(request.to_string());
        self.socket.send(sent).unwrap_or_else(|error| panic!("{method}: {error}"));
        until(method, || self.heard().filter(|it| it["id"] == id))
    }

    /// The next message, if there is one; what went wrong on the page is kept.
    fn heard(&mut self) -> Option<Value> {
        let message = match self.socket.read() {
            Ok(message) => message,
            Err(tungstenite::Error::Io(error))
                if error.kind() == std::io::ErrorKind::WouldBlock =>
            {
                return None;
            }
            Err(error) => panic!("the browser is gone: {error}"),
        };
        let said: Value =
            serde_json::from_str(message.to_text().unwrap_or("null")).unwrap_or_default();
        match said["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.wrong.push(said["params"]["exceptionDetails"].to_string())
            }
            Some("Log.entryAdded") => {
                let entry = &said["params"]["entry"];
                // That a server was gone is what some tests are about.
                let is_refused = entry["source"] == "security"
                    || entry["source"] == "violation"
                    || entry["source"] == "javascript";
                if is_refused && entry["level"] == "error" {
                    self.wrong.push(entry["text"].to_string());
                }
            }
            _ => {}
        }
        Some(said)
    }

    /// Opens an address and waits until it is loaded.
    #[track_caller]
    pub fn open(&mut self, url: &str) {
        let went = self.ask("Page.navigate", json!({ "url": url }));
        assert!(went.get("errorText").is_none(), "{url}: {went}");
        self.until(
            "the page is loaded",
            "document.readyState === 'complete' && location.href !== 'about:blank'",
        );
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let is_phone = width < 640;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub fn dark(&mut self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Without the page's script.
    pub fn without_script(&mut self, off: bool) {
        self.ask("Emulation.setScriptExecutionDisabled", json!({ "value": off }));
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The value of an expression, once it is one that counts as true.
    #[track_caller]
    pub fn until(&mut self, what: &str, expression: &str) -> Value {
        let started = std::time::Instant::now();
        loop {
            // A page that is being left has no value, or refuses to say one.
            let asked =
                json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
            let answer = self.answer("Runtime.evaluate", asked)["result"].clone();
            let value = answer["result"]["value"].clone();
            let is_true = !matches!(&value, Value::Null | Value::Bool(false))
                && value != json!("")
                && value != json!(0);
            if is_true && answer.get("exceptionDetails").is_none() {
                return value;
            }
            if started.elapsed() > DEADLINE {
                let page = self.eval("document.body.innerText.slice(0, 3000)");
                panic!(
                    "{what} did not happen: {expression} is {answer}\non the page: {}",
                    page.as_str().unwrap_or_default()
                );
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until an element holds a text.
    #[track_caller]
    pub fn shows(&mut self, css: &str, text: &str) {
        let test = format!(
            "[...document.querySelectorAll({})].some((it) => it.textContent.includes({}))",
            json!(css),
            json!(text)
        );
        self.until(&format!("`{text}` in {css}"), &test);
    }

    /// Waits until none does.
    #[track_caller]
    pub fn hides(&mut self, css: &str, text: &str) {
        let test = format!(
            "![...document.querySelectorAll({})].some((it) => it.textContent.includes({}))",
            json!(css),
            json!(text)
        );
        self.until(&format!("no `{text}` in {css}"), &test);
    }

    #[track_caller]
    pub fn text(&mut self, css: &str) -> String {
        let text = self.eval(&format!("document.querySelector({})?.textContent ?? ''", json!(css)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// A real click in the middle of an element, which must be seen and not covered.
    #[track_caller]
    pub fn click(&mut self, css: &str) {
        let find = format!(
            "(() => {{ const it = document.querySelector({css}); if (!it) return null; it.scrollIntoView({{ block: 'nearest' }});
               const box = it.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
               const top = document.elementFromPoint(x, y);
               return top && (it.contains(top) || top.contains(it)) && !it.disabled ? {{ x, y }} : null; }})()",
            css = json!(css)
        );
        let at = self.until(&format!("{css} can be clicked"), &find);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": at["x"], "y": at["y"], "button": button, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    /// Clicks into a field and types, as a keyboard does.
    #[track_caller]
    pub fn type_into(&mut self, css: &str, text: &str) {
        self.click(css);
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// One key: `Enter`, `F8`, `b`, `Shift+F11`.
    #[track_caller]
    pub fn key(&mut self, name: &str) {
        let (modifiers, name) = match name.strip_prefix("Shift+") {
            Some(name) => (8, name),
            None => (0, name),
        };
        let code = match name {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            _ if name.starts_with('F') && name.len() > 1 => {
                111 + name.get(1..).and_then(|it| it.parse::<i64>().ok()).unwrap_or(0)
            }
            _ => name.to_uppercase().bytes().next().map_or(0, i64::from),
        };
        let text = match name {
            "Enter" => "\r",
            name if name.chars().count() == 1 => name,
            _ => "",
        };
        let shared = json!({ "key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers });
        let mut down = shared.clone();
        down["type"] = json!(if text.is_empty() { "rawKeyDown" } else { "keyDown" });
        down["text"] = json!(text);
        let mut up = shared;
        up["type"] = json!("keyUp");
        self.ask("Input.dispatchKeyEvent", down);
        self.ask("Input.dispatchKeyEvent", up);
    }

    /// A picture of what is seen.
    pub fn shot(&mut self, file: &Path) {
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap_or_default()).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// Nothing was refused by the page's policy, and its script threw nothing.
    #[track_caller]
    pub fn is_well(&mut self) {
        self.eval("1");
        assert!(self.wrong.is_empty(), "on the page: {:#?}", self.wrong);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        // An error here means that it is gone already.
        Command::new("kill")
            .args(["-s", "KILL", "--", &group])
            .status()
            .map(drop)
            .unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
