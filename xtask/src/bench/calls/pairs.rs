//! Pairs of `/api/call/start` and `/api/call/complete` at full speed, ours and the floor in turns.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::super::http::{Connection, Listening};
use super::wire::{Process, Value};

/// The two take turns this often; over all connections, this many pairs each time. A turn ends with
/// everything on the disk: it is long enough that most of it is not that end.
const TURNS: u32 = 5;
const PAIRS_PER_TURN: u32 = 20_000;

/// Pairs per second of ours and of the floor.
pub(super) fn rates(ours: &Listening, floor: &Listening, connections: u32) -> Result<(f64, f64)> {
    let mut ours = Side::connect(ours, connections, true).context("ours")?;
    let mut floor = Side::connect(floor, connections, false).context("the floor")?;
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
    let pairs = f64::from(TURNS * (PAIRS_PER_TURN / connections) * connections);
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
        let pairs = PAIRS_PER_TURN / u32::try_from(self.connections.len())?;
        let (records, ready) = (self.records, Barrier::new(self.connections.len()));
        let times: Vec<Result<Duration>> = thread::scope(|scope| {
            let runs: Vec<_> = (0..)
                .zip(&mut self.connections)
                .map(|(number, connection)| {
                    let app = Run { process: Process::number(number), turn, pairs, records };
                    let ready = &ready;
                    scope.spawn(move || {
                        let values = app.values();
                        ready.wait();
                        app.run(connection, &values)
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
    pairs: u32,
    records: bool,
}

impl Run {
    /// Made before the clock runs: the hashes are the client's work, not the server's.
    fn values(&self) -> Vec<(Value, Value)> {
        let Self { process, turn, pairs, .. } = self;
        let text = |what: &str, pair: u32| {
            Value::of(&format!("{what} {pair} of turn {turn} of app {}", process.key()))
        };
        (0..*pairs).map(|pair| (text("order", pair), text("price", pair))).collect()
    }

    fn run(&self, connection: &mut Connection, values: &[(Value, Value)]) -> Result<Duration> {
        let start = Instant::now();
        let mut last = String::new();
        for (argument, result) in values {
            let started = connection.post("/api/call/start", &self.process.start_body(argument))?;
            last = call_id(&started.json()?)?;
            let body = self.process.complete_body(&last, result);
            let completed = connection.post("/api/call/complete", &body)?.json()?;
            if completed.get("status").and_then(Json::as_str) != Some("ok") {
                bail!("a call did not end well: {completed}");
            }
        }
        if self.records {
            // Answered when everything that was acknowledged before is in the store.
            let record = connection.get(&format!("/api/calls/{last}"))?.json()?;
            let shown = record.pointer("/call/pretty_result").and_then(Json::as_str);
            if !shown.is_some_and(|shown| shown.contains(&format!("price {}", self.pairs - 1))) {
                bail!("the last record lacks its value: {record}");
            }
        }
        Ok(start.elapsed())
    }
}

fn call_id(started: &Json) -> Result<String> {
    let id = started.get("call_id").and_then(Json::as_str);
    Ok(id.with_context(|| format!("not a call that goes on: {started}"))?.to_owned())
}
