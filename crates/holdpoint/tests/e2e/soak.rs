//! One server under everything at once for as long as one likes: what it holds must not grow.
//!
//! `cargo xtask soak` runs it for an hour with five million events and judges what it held; here it runs for as long
//! as it takes to see that everything goes round, and that nothing is left when everybody has gone.

mod held;
mod load;
mod programs;
mod visitors;

use std::{
    path::PathBuf,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    debug::{Debug, python},
    until,
};
use serde_json::json;

use self::held::{Held, judge, table};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// What is run where nobody says otherwise.
const SECONDS: u64 = 20;
const EVENTS: u64 = 10_000;
/// Shorter runs are not judged: memory and disk still fill up to their bounds.
const JUDGED: Duration = Duration::from_secs(20 * 60);
/// How often what the server holds is looked at.
const LOOKED_AT: Duration = Duration::from_secs(5);
/// Handles that may be left when everybody has gone, beside those of the start: a pipe of each of the sixteen programs
/// that ended last and can still be asked about, the store's files, and connections about to end.
const KEPT_HANDLES: u64 = 32;
/// Connections that the last ones who asked may have left open.
const KEPT_SOCKETS: u64 = 4;

/// What everybody who makes work shares.
struct Soak {
    bin: String,
    port: u16,
    home: PathBuf,
    interpreter: String,
    folder: tempfile::TempDir,
    started: Instant,
    lasts: Duration,
    /// Events that there are to be in the end.
    events: u64,
    /// The server's own number of the last one.
    seq: AtomicU64,
    /// Recorded calls that the server said it has.
    calls: AtomicU64,
    over: Mutex<bool>,
    ending: Condvar,
}

impl Soak {
    fn happened(&self) -> u64 {
        self.seq.load(Ordering::Relaxed) + self.calls.load(Ordering::Relaxed)
    }

    /// Waits so long, or until it is over; gives whether there is more to do.
    fn goes_on_after(&self, pause: Duration) -> bool {
        let over = self.over.lock().unwrap();
        !*self.ending.wait_timeout_while(over, pause, |over| !*over).unwrap().0
    }

    fn end(&self) {
        // Whoever failed while it was held has already said why.
        *self.over.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
        self.ending.notify_all();
    }
}

/// Ends everybody's work, also when one of them fails.
struct Ending<'a>(&'a Soak);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[test]
fn what_a_server_holds_does_not_grow() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    // Another binary than the one that is built with this, which a build would replace meanwhile.
    let bin = std::env::var("HOLDPOINT_SOAK_BIN").unwrap_or_else(|_| BIN.to_owned());
    let python = python(&bin, FOLDER);
    let mut debug = python.start_with(&["--mcp-sse"]);
    let soak = Soak {
        bin,
        port: debug.rpc.process.port(),
        home: debug.home().to_owned(),
        interpreter: python.path.clone(),
        folder: tempfile::tempdir().unwrap(),
        started: Instant::now(),
        lasts: Duration::from_secs(number("HOLDPOINT_SOAK_SECONDS").unwrap_or(SECONDS)),
        events: number("HOLDPOINT_SOAK_EVENTS").unwrap_or(EVENTS),
        seq: AtomicU64::new(0),
        calls: AtomicU64::new(0),
        over: Mutex::new(false),
        ending: Condvar::new(),
    };
    let first = Held::now(&debug, &soak);
    let seen = under_load(&mut debug, &soak);
    let last = everybody_gone(&mut debug, &soak, first.sockets);
    println!("{}", table(&seen, soak.lasts));
    println!("at first: {first}\nat last:  {last}");
    let happened = soak.happened();
    assert!(happened >= soak.events, "{happened} events of {}", soak.events);
    assert!(last.handles <= first.handles + KEPT_HANDLES, "{first} → {last}");
    if soak.lasts >= JUDGED {
        let grown = judge(&seen, soak.lasts);
        assert!(grown.is_empty(), "{}", grown.join("\n"));
    } else {
        println!("not judged: shorter than {JUDGED:?}");
    }
}

/// Everybody works until it is over; what the server held meanwhile.
fn under_load(debug: &mut Debug, soak: &Soak) -> Vec<Held> {
    let mut seen = Vec::new();
    thread::scope(|scope| {
        let _ending = Ending(soak);
        for (name, work) in load::WORK {
            let work = move || {
                let _ending = Ending(soak);
                work(soak);
            };
            thread::Builder::new().name((*name).to_owned()).spawn_scoped(scope, work).unwrap();
        }
        while soak.goes_on_after(LOOKED_AT) {
            look(debug, soak);
            let held = Held::now(debug, soak);
            if held.minute() > seen.last().map_or(0, Held::minute) {
                println!("{held}");
            }
            seen.push(held);
            let is_enough = soak.started.elapsed() >= soak.lasts;
            if is_enough && soak.happened() >= soak.events
                || soak.started.elapsed() > soak.lasts + soak.lasts / 4
            {
                return;
            }
        }
    });
    seen
}

/// The server answers its first client and has no trouble.
fn look(debug: &mut Debug, soak: &Soak) {
    let status = debug.ok("server_status", json!({})).data;
    assert_eq!(status["panics"], 0, "{status}");
    assert_eq!(status["store"]["state"], "open", "{status}");
    soak.seq.store(status["seq"].as_u64().unwrap(), Ordering::Relaxed);
    debug.ok("timeline_query", json!({ "limit": 20 }));
    debug.rpc.heard.clear();
}

/// What is held once every program and every client is gone.
fn everybody_gone(debug: &mut Debug, soak: &Soak, sockets: u64) -> Held {
    until("the end of every program", || {
        let status = debug.ok("server_status", json!({})).data;
        (status["sessions"] == 0).then_some(())
    });
    debug.nothing_is_left();
    // Streams that were left end when the next thing is to be sent.
    until("closed connections", || {
        debug.ok("timeline_note", json!({ "text": "is anybody there?" }));
        debug.rpc.heard.clear();
        let held = Held::now(debug, soak);
        (held.sockets <= sockets + KEPT_SOCKETS).then_some(held)
    })
}
