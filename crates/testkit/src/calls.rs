//! The wire of intercepted calls, spoken by hand: a page's side of it in JSON, request by request, and
//! a Python program under the stand-in of the cideldill client.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};

use crate::{
    DEADLINE,
    http::{Request, Response},
    until,
};

/// An app that calls, of this very process, so that it is alive.
#[derive(Clone)]
pub struct Wire {
    pub port: u16,
    pub pid: u32,
    pub start: f64,
}

impl Wire {
    pub fn new(port: u16) -> Wire {
        Wire { port, pid: std::process::id(), start: 1_700_000_000.25 }
    }

    /// `<start>+<pid>`.
    pub fn process_key(&self) -> String {
        format!("{:.6}+{}", self.start, self.pid)
    }

    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.try_send(method, path, body).expect("an exchange")
    }

    /// The same, of a server that may be gone.
    pub fn try_send(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Response> {
        let mut request = Request {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: self.port,
            method,
            path,
            headers: Vec::new(),
            body: body.map(Value::to_string).unwrap_or_default(),
        };
        if body.is_some() {
            request.headers.push(("Content-Type", "application/json".to_owned()));
        }
        request.try_send()
    }

    /// Status and body.
    pub fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let response = self.send("POST", path, Some(&body));
        (response.status, response.json())
    }

    #[track_caller]
    pub fn ok(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert_eq!(status, 200, "POST {path}: {answer}");
        answer
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let response = self.send("GET", path, None);
        assert_eq!(response.status, 200, "GET {path}: {}", response.body);
        response.json()
    }

    /// A call of `name` with JSON values, as a page makes it; the fields of `more` win.
    pub fn start_body(&self, name: &str, args: &[Value], more: Value) -> Value {
        let mut body = json!({
            "method_name": name,
            "args": args.iter().map(item).collect::<Vec<_>>(),
            "kwargs": {},
            "call_site": { "timestamp": now(), "stack_trace": [] },
            "process_pid": self.pid,
            "process_start_time": self.start,
            "preferred_format": "json",
        });
        merge(&mut body, more);
        body
    }

    #[track_caller]
    pub fn start(&self, name: &str, args: &[Value]) -> Value {
        self.ok("/api/call/start", self.start_body(name, args, json!({})))
    }

    pub fn complete_body(&self, call_id: &str, result: &Value) -> Value {
        let mut body = json!({ "call_id": call_id, "status": "success", "timestamp": now() });
        merge(&mut body, prefixed("result", &item(result)));
        body
    }

    #[track_caller]
    pub fn complete(&self, call_id: &Value, result: &Value) -> Value {
        self.ok("/api/call/complete", self.complete_body(call_id.as_str().unwrap(), result))
    }

    /// A whole call that does not pause.
    #[track_caller]
    pub fn call(&self, name: &str, args: &[Value], result: &Value) -> String {
        let started = self.start(name, args);
        assert_eq!(started["action"], "continue", "{started}");
        assert_eq!(self.complete(&started["call_id"], result), json!({ "status": "ok" }));
        started["call_id"].as_str().unwrap().to_owned()
    }

    /// A whole call, if the server is there; its id.
    pub fn try_call(&self, name: &str, args: &[Value], result: &Value) -> Option<String> {
        let body = self.start_body(name, args, json!({}));
        let started = self.try_send("POST", "/api/call/start", Some(&body)).ok()?;
        let started: Value = serde_json::from_str(&started.body).ok()?;
        let id = started["call_id"].as_str()?.to_owned();
        let body = self.complete_body(&id, result);
        let done = self.try_send("POST", "/api/call/complete", Some(&body)).ok()?;
        (done.status == 200).then_some(id)
    }

    #[track_caller]
    pub fn add(&self, name: &str, behavior: &str) {
        self.ok("/api/breakpoints", json!({ "function_name": name, "behavior": behavior }));
    }

    /// The only paused call, once there is one.
    #[track_caller]
    pub fn paused(&self) -> Value {
        until("a paused call", || {
            let paused = self.get("/api/paused")["paused"].clone();
            paused.as_array().filter(|it| it.len() == 1).map(|it| it[0].clone())
        })
    }
}

pub fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs_f64()
}

pub fn cid(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A JSON value as an item with its data.
pub fn item(value: &Value) -> Value {
    let data = value.to_string();
    json!({ "cid": cid(data.as_bytes()), "data": data, "serialization_format": "json" })
}

/// `cid` → `result_cid`, and so on.
pub fn prefixed(prefix: &str, item: &Value) -> Value {
    let fields = item.as_object().unwrap().iter();
    fields.map(|(name, value)| (format!("{prefix}_{name}"), value.clone())).collect()
}

pub fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    into.as_object_mut().unwrap().extend(more);
}

/// A Python program whose functions are wrapped by the stand-in of the cideldill client.
pub struct Shop {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Shop {
    /// Starts `fixtures/callpoints/shop.py` and waits until its functions are registered.
    #[track_caller]
    pub fn start(port: u16) -> Shop {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/callpoints");
        let mut command = Command::new("python3");
        command.arg(folder.join("shop.py")).env("PUBLIC_CLIENT_PORT", port.to_string());
        Shop::of(command)
    }

    /// Another program of the kind: it prints `ready`, and then a line for each that it reads.
    #[track_caller]
    pub fn of(mut command: Command) -> Shop {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut shop = Shop { stdin: child.stdin.take(), child, lines };
        assert_eq!(shop.line(), "ready");
        shop
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Begins to evaluate an expression; [`Shop::line`] is what comes of it.
    pub fn begin(&mut self, expression: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{expression}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next line that the program prints.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line of the program")
    }

    #[track_caller]
    pub fn run(&mut self, expression: &str) -> String {
        self.begin(expression);
        self.line()
    }

    /// Its exit code, once its stdin has ended.
    pub fn end(mut self) -> Option<i32> {
        self.stdin = None;
        until("the end of the program", || self.child.try_wait().unwrap()).code()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        // An error here means that it is gone already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
