//! An instrumented app whose calls go through the server: what was acknowledged is in the store, whoever dies.

use std::{
    collections::HashSet,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use holdpoint_testkit::calls::Wire;
use serde_json::{Value, json};

use super::{
    counts::{Failed, Victim, Wrong, wrong},
    round::{Round, within},
    server::Server,
};

/// What is acknowledged is in the store by then, as `docs/contract/calls.md` says it.
const KEPT: Duration = Duration::from_millis(500);
/// How long a paused call of an app that is gone may stay, and a decision take to arrive.
const HEARD: Duration = Duration::from_secs(10);

/// When a call was acknowledged, and its id.
type Acknowledged = (Instant, String);

pub(super) fn called(round: &Round<'_>) -> Result<(), Failed> {
    let mut server = Server::start(round)?;
    let wire = Wire::new(server.port()?);
    if round.chance(50) {
        paused(round, &mut server, &wire)?;
    }
    let threads = 1 + round.pick(3);
    let is_killed = round.chance(75);
    let (acknowledged, died) = calls(round, &mut server, &wire, threads, is_killed)?;
    round.counts.records.fetch_add(acknowledged.len() as u64, Relaxed);
    if is_killed {
        server.again(round)?;
    }
    // The end of a server in good order loses nothing, nor does a reader who asks.
    let bound = if is_killed { KEPT } else { Duration::ZERO };
    let kept = records(&Wire::new(server.port()?))?;
    let is_old = |at: &Instant| died.saturating_duration_since(*at) > bound || !is_killed;
    let lost: Vec<String> = acknowledged
        .iter()
        .filter(|(at, id)| is_old(at) && !kept.contains(id))
        .map(|(at, _)| format!("{} ms before", died.saturating_duration_since(*at).as_millis()))
        .collect();
    round.expect(Wrong::Lost, lost.is_empty(), || {
        let first = lost.first();
        format!("{} of {} are lost, the first {first:?}", lost.len(), acknowledged.len())
    })?;
    server.is_sound(round)?;
    server.ends(round, round.chance(30))
}

/// Threads that call as fast as they are answered, until the server dies or they have called enough.
fn calls(
    round: &Round<'_>,
    server: &mut Server,
    wire: &Wire,
    threads: usize,
    is_killed: bool,
) -> Result<(Vec<Acknowledged>, Instant), Failed> {
    let (all, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let time = Duration::from_millis(200 + u64::try_from(round.pick(900)).unwrap());
    round.note(format!("{threads} threads call for {time:?}"));
    let died = thread::scope(|scope| {
        for of in 0..threads {
            let (wire, all, is_over) = (wire.clone(), &all, &is_over);
            scope.spawn(move || {
                let mut number = 0;
                while !is_over.load(Relaxed) {
                    number += 1;
                    let id = wire.try_call("work", &[json!(of), json!(number)], &json!("done"));
                    match id {
                        Some(id) => all.lock().unwrap().push((Instant::now(), id)),
                        None => return,
                    }
                }
            });
        }
        thread::sleep(time);
        let died = Instant::now();
        let killed = if is_killed {
            round.kills(Victim::Server);
            server.kill(round)
        } else {
            Ok(())
        };
        is_over.store(true, Relaxed);
        killed.map(|()| died)
    })?;
    Ok((all.into_inner().unwrap(), died))
}

/// The ids of all calls in the store.
fn records(wire: &Wire) -> Result<HashSet<String>, Failed> {
    let mut found = HashSet::new();
    let mut before = String::new();
    loop {
        let path = format!("/api/calls?function_name=work&limit=1000{before}");
        let Ok(answer) = wire.try_send("GET", &path, None) else {
            return wrong(Wrong::Crash, "no answer about calls");
        };
        let page: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let calls = page["calls"].as_array().cloned().unwrap_or_default();
        found.extend(calls.iter().filter_map(|it| Some(it["call_id"].as_str()?.to_owned())));
        match page["next"].as_i64() {
            Some(next) => before = format!("&before={next}"),
            None => return Ok(found),
        }
    }
}

/// A process that only is there, for the app's.
struct Dummy(Child);

impl Dummy {
    fn start() -> Dummy {
        let mut command = Command::new("sleep");
        command.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Dummy(command.spawn().unwrap())
    }
}

impl Drop for Dummy {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

/// A call that pauses: it is decided as the agent says, or goes with its app.
fn paused(round: &Round<'_>, server: &mut Server, wire: &Wire) -> Result<(), Failed> {
    let mut app = Dummy::start();
    let wire = Wire { pid: app.0.id(), start: 1_700_000_001.5, port: wire.port };
    let add = json!({ "function_name": "held", "behavior": "stop" });
    let said = server.client.call(round, "breakpoint_add", add)?;
    round.check(said.is_ok(), || said.text.clone())?;
    let started = wire.start("held", &[json!(7)]);
    let Some(id) = started["poll_url"].as_str().and_then(|it| it.strip_prefix("/api/poll/")) else {
        return round.check(false, || format!("it does not pause: {started}"));
    };
    let listed =
        |server: &mut Server| server.client.call(round, "breakpoint_list_paused", json!({}));
    let said = listed(server)?;
    round.check(said.text.contains(id), || format!("{id} is not listed: {}", said.text))?;
    if round.chance(40) {
        round.kills(Victim::App);
        app.0.kill().unwrap();
        app.0.wait().unwrap();
        let mut last = String::new();
        let is_gone = within(HEARD, || {
            last = listed(server).map(|it| it.text).unwrap_or_default();
            !last.contains(id)
        });
        return round.check(is_gone, || format!("its app is gone: {last}"));
    }
    let decided = json!({ "pause_id": id, "action": "skip", "fake_result": 42 });
    let said = server.client.call(round, "breakpoint_continue", decided)?;
    round.check(said.is_ok(), || said.text.clone())?;
    let polled = wire.get(&format!("/api/poll/{id}?hold_s=5"));
    let is_so = polled["action"]["action"] == "skip" && polled["action"]["fake_result"] == 42;
    round.check(is_so, || polled.to_string())
}
