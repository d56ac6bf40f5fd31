//! kill -9 of the server while eight threads of an app under our Python client call at full speed.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use holdpoint_testkit::{
    calls::{Wire, now},
    process::Process,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// Eight threads, the client's own and a debug build share the machine with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// Four threads whose calls ask first, and four whose records are shipped in batches. What the server
/// acknowledged is printed: each call that asked, and now and then how many records were shipped.
const APP: &str = r#"
import sys, threading, time
import holdpoint
from holdpoint._runtime import runtime

counts = [0] * 8
acknowledged = []
stop = threading.Event()

@holdpoint.debug
def asked(thread, number):
    return "%d of thread %d" % (number, thread)

@holdpoint.debug
def asked_too(thread, number):
    return "%d of thread %d" % (number, thread)

@holdpoint.debug
def shipped(thread, number):
    return number

def ask(thread):
    while not stop.is_set():
        number = counts[thread]
        asks = runtime.may_ask()
        assert asked(thread, number) == "%d of thread %d" % (number, thread)
        # A call that asked in vain asks no more for a while.
        if asks and runtime.may_ask():
            acknowledged.append((time.time(), thread, number))
        counts[thread] += 1

def ship(thread):
    while not stop.is_set():
        # As fast as they are shipped: nothing is dropped, so that what was acknowledged can be counted.
        while runtime.recording and len(runtime.ship.records) > 10_000:
            time.sleep(0.001)
        assert shipped(thread, counts[thread]) == counts[thread]
        counts[thread] += 1

holdpoint.with_debug("ON")
while not runtime.points["asked"].asks:
    time.sleep(0.001)
threads = [threading.Thread(target=ask if n < 4 else ship, args=(n,)) for n in range(8)]
for thread in threads:
    thread.start()
print("ready", flush=True)
while True:
    calls = sum(counts[4:])
    shipped_all = holdpoint.flush(60)
    now = time.time()
    for at, thread, number in list(acknowledged):
        print("asked %r %d %d" % (at, thread, number))
    acknowledged.clear()
    if not shipped_all:
        break
    assert runtime.ship.dropped_so_far() == 0
    print("shipped %r %d" % (now, calls), flush=True)
# The server is gone. Every thread goes on.
print("gone", flush=True)
before = list(counts)
while any(counts[n] < before[n] + 100 for n in range(8)):
    time.sleep(0.001)
stop.set()
for thread in threads:
    thread.join()
print("done", flush=True)
"#;

struct App {
    child: Child,
    lines: Receiver<String>,
}

impl App {
    fn start(home: &Path) -> App {
        let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python");
        let mut child = Command::new("python3")
            .args(["-c", APP])
            .env("PYTHONPATH", client.canonicalize().unwrap())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("HOME", home)
            .env("HOLDPOINT_HOME", home)
            .env_remove("HOLDPOINT_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        App { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line of the app")
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // An error here means that it is gone already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// What the app says was acknowledged, and when.
#[derive(Default)]
struct Acknowledged {
    asked: Vec<(f64, [u64; 2])>,
    shipped: Vec<(f64, u64)>,
}

impl Acknowledged {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["asked", at, thread, number] => {
                let call = [thread.parse().unwrap(), number.parse().unwrap()];
                self.asked.push((at.parse().unwrap(), call));
            }
            ["shipped", at, calls] => {
                self.shipped.push((at.parse().unwrap(), calls.parse().unwrap()));
            }
            _ => unreachable!("{line}"),
        }
    }
}

/// Acknowledged this long before the end, a record is on the disk. The flush interval is 100 ms; a machine
/// that is loaded writes later.
const OLD_S: f64 = 2.0;

#[test]
fn eight_threads_go_on_and_what_was_acknowledged_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let serve = || Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let mut process = serve();
    ask_first(&Wire::new(process.port()));
    let mut app = App::start(home.path());
    assert_eq!(app.line(), "ready");
    let mut acknowledged = Acknowledged::default();
    // Until there is something old of both kinds.
    let old = |at: f64| at < now() - OLD_S - 0.5;
    while !(acknowledged.asked.iter().filter(|(at, _)| old(*at)).count() > 100
        && acknowledged.shipped.iter().any(|(at, calls)| old(*at) && *calls > 100))
    {
        acknowledged.hear(&app.line());
    }
    let killed = now();
    process.signal("KILL");
    process.end();
    let rest: Vec<String> =
        std::iter::from_fn(|| Some(app.line()).filter(|it| it != "gone")).collect();
    rest.iter().for_each(|line| acknowledged.hear(line));
    assert_eq!(app.line(), "done");
    let status = until("the end of the app", || app.child.try_wait().unwrap());
    let mut said = String::new();
    app.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(status.success(), "{said}");
    assert!(
        said.lines().all(|line| line.starts_with("holdpoint: ") || line.starts_with("hint: ")),
        "{said}"
    );

    // What it could not take away itself.
    std::fs::remove_file(home.path().join("port")).unwrap();
    let mut process = serve();
    let wire = Wire::new(process.port());
    let kept = asked_calls(&wire);
    let lost: Vec<_> = acknowledged
        .asked
        .iter()
        .filter(|(at, call)| *at < killed - OLD_S && !kept.contains(call))
        .collect();
    assert!(lost.is_empty(), "{} of {}: {lost:?}", lost.len(), acknowledged.asked.len());
    let shipped = wire.get("/api/calls?function_name=shipped&limit=1")["total_count"].as_u64();
    let old = acknowledged.shipped.iter().filter(|(at, _)| *at < killed - OLD_S);
    let expected = old.map(|(_, calls)| *calls).max().unwrap();
    assert!(shipped >= Some(expected), "{shipped:?} of {expected}");
}

/// A replacement by the same function: nothing pauses, and each call asks.
fn ask_first(wire: &Wire) {
    let signature = "(thread, number)";
    for name in ["asked", "asked_too"] {
        wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }));
    }
    wire.add("asked", "go");
    wire.ok("/api/breakpoints/asked/after_behavior", json!({ "behavior": "go" }));
    let replacement = json!({ "replacement_function": "asked_too" });
    wire.ok("/api/breakpoints/asked/replacement", replacement);
}

/// Thread and number of each recorded call that asked.
fn asked_calls(wire: &Wire) -> HashSet<[u64; 2]> {
    let mut found = HashSet::new();
    let mut before = String::new();
    loop {
        let page = wire.get(&format!("/api/calls?function_name=asked&limit=1000{before}"));
        let number = |value: &Value| value.as_str().unwrap().parse().unwrap();
        for call in page["calls"].as_array().unwrap() {
            found.insert([number(&call["pretty_args"][0]), number(&call["pretty_args"][1])]);
        }
        match page["next"].as_i64() {
            Some(next) => before = format!("&before={next}"),
            None => return found,
        }
    }
}
