//! Pairs of `/api/call/start` and `/api/call/complete` at full speed, ours and the floor in turns.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::super::http::{Connection, Listening, post_head};
use super::super::wire::{Process, Value};

/// The two take turns this often; each connection makes this many pairs each time. A turn ends with
/// everything on the disk: it is long enough that most of it is not that end.
const TURNS: u32 = 5;
const PAIRS: u32 = 6_000;

/// Pairs per second of ours and of the floor.
pub(super) fn rates(ours: &Listening, floor: &Listening, connections: u32) -> Result<(f64, f64)> {
    let ours = Side::connect(ours, connections, true).context("ours")?;
    let floor = Side::connect(floor, connections, false).context("the floor")?;
    in_turns(ours, floor, connections)
}

/// The same of two of ours.
pub(super) fn both(ours: &Listening, other: &Listening, connections: u32) -> Result<(f64, f64)> {
    let ours = Side::connect(ours, connections, true).context("ours")?;
    let other = Side::connect(other, connections, true).context("the other of ours")?;
    in_turns(ours, other, connections)
}

fn in_turns(mut ours: Side, mut floor: Side, connections: u32) -> Result<(f64, f64)> {
    let (mut times, mut floor_times) = (Duration::ZERO, Duration::ZERO);
    for turn in 0..=TURNS {
        let time = ours.turn(turn).context("ours")?;
        let floor_time = floor.turn(turn).context("the floor")?;
        // The first one warms up.
        if turn > 0 {
            times += time;
            floor_times += floor_time;
        }
    }
    let pairs = f64::from(TURNS * PAIRS * connections);
    Ok((pairs / times.as_secs_f64(), pairs / floor_times.as_secs_f64()))
}

/// One server and all connections to it, each with a thread.
struct Side {
    connections: Vec<Connection>,
    /// Whether records are there to be read when it has acknowledged them.
    records: bool,
}

impl Side {
    fn connect(server: &Listening, connections: u32, records: bool) -> Result<Self> {
        let connections = (0..connections).map(|_| Connection::to(server.port));
        Ok(Self { connections: connections.collect::<Result<_>>()?, records })
    }

    /// The time from the first request to the last record on the disk.
    fn turn(&mut self, turn: u32) -> Result<Duration> {
        let (records, ready) = (self.records, Barrier::new(self.connections.len()));
        let times: Vec<Result<Duration>> = thread::scope(|scope| {
            let runs: Vec<_> = (0..)
                .zip(&mut self.connections)
                .map(|(number, connection)| {
                    let app = Run { process: Process::number(number), turn, records };
                    let ready = &ready;
                    scope.spawn(move || {
                        let pairs = app.pairs(connection.port);
                        ready.wait();
                        app.run(connection, &pairs)
                    })
                })
                .collect();
            let joined = runs.into_iter().map(|run| run.join());
            joined.map(|run| run.unwrap_or_else(|_| bail!("a connection's thread died"))).collect()
        });
        let times = times.into_iter().collect::<Result<Vec<_>>>()?;
        times.into_iter().max().context("no connections")
    }
}

/// What one connection does in one turn.
struct Run {
    process: Process,
    turn: u32,
    records: bool,
}

/// What is sent of one call. The id in its end is known when it has begun.
struct Pair {
    start: Vec<u8>,
    /// The body of its end, from behind the id on.
    complete: String,
}

const COMPLETE: &str = r#"{"call_id":""#;

impl Run {
    /// Made before the clock runs: the hashes and the texts are the client's work, not the server's.
    fn pairs(&self, port: u16) -> Vec<Pair> {
        let Self { process, turn, .. } = self;
        let value = |what: &str, pair: u32| {
            Value::of(&format!("{what} {pair} of turn {turn} of app {}", process.key()))
        };
        let pair = |pair: u32| {
            let start = process.start_body(&value("order", pair));
            let complete = process.complete_body("", &value("price", pair));
            Pair {
                start: (post_head(port, "/api/call/start", start.len()) + &start).into_bytes(),
                complete: complete.trim_start_matches(COMPLETE).to_owned(),
            }
        };
        (0..PAIRS).map(pair).collect()
    }

    fn run(&self, connection: &mut Connection, pairs: &[Pair]) -> Result<Duration> {
        let start = Instant::now();
        let (mut id, mut request, mut answer) = (String::new(), String::new(), String::new());
        for Pair { start, complete } in pairs {
            call_id(connection.exchange(start, &mut answer)?, &mut id)?;
            let length = COMPLETE.len() + id.len() + complete.len();
            request.clear();
            request += &post_head(connection.port, "/api/call/complete", length);
            for part in [COMPLETE, &id, complete] {
                request += part;
            }
            let completed = connection.exchange(request.as_bytes(), &mut answer)?;
            if !completed.contains(r#""status":"ok""#) {
                bail!("a call did not end well: {completed}");
            }
        }
        if self.records {
            // Answered when everything that was acknowledged before is in the store.
            let record = connection.get(&format!("/api/calls/{id}"))?.json()?;
            let shown = record.pointer("/call/pretty_result").and_then(Json::as_str);
            if !shown.is_some_and(|shown| shown.contains(&format!("price {}", PAIRS - 1))) {
                bail!("the last record lacks its value: {record}");
            }
        }
        Ok(start.elapsed())
    }
}

/// The id in the answer to a start.
fn call_id(started: &str, id: &mut String) -> Result<()> {
    let found = started.split_once(r#""call_id":""#).and_then(|(_, rest)| rest.split_once('"'));
    let (found, _) = found.with_context(|| format!("not a call that goes on: {started}"))?;
    id.clear();
    id.push_str(found);
    Ok(())
}
