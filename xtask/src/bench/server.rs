//! The cost of being an MCP server: to start, to wait, to answer.

mod set_up;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::client::{Server, StdioClient};
use super::http::{HttpClient, Listening};
use super::one_core::OneCore;
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind, Samples, give_up_after, median};
use crate::workspace::Workspace;

pub(super) const SERVER: Bench = Bench {
    name: "server",
    about: "start, memory, the round trip of a trivial tool over pipes, socket pairs and HTTP, a new connection",
    run: Kind::Table { client: Client::Any, rows: measure },
};

const STARTS: usize = 40;
const WARM_UP_CALLS: usize = 200;
/// Processes of each, because where the scheduler puts one decides about its microseconds.
const PAIRS: usize = 8;
/// Ours and the floor take turns this often, with this many calls each time.
const TURNS: usize = 4;
const CALLS_PER_TURN: usize = 100;

const START_GOAL_MS: f64 = 10.0;
const RSS_GOAL_MB: f64 = 12.0;
const ROUND_TRIP: Goal = Goal::TimesFloor(1.5);

/// It takes seconds; a server that does not answer would hold us for ever.
const MEASURE_LIMIT: Duration = Duration::from_secs(5 * 60);

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = workspace.optimised("holdpoint")?;
    let floor = workspace.optimised("floor")?;
    give_up_after(MEASURE_LIMIT)?;
    let stdio = Pair {
        ours: Server::new(&ours, &["mcp", "--port", "0"]),
        floor: Server::new(&floor, &["stdio"]),
    };
    let http = Pair {
        ours: Server::new(&ours, &["serve", "--port", "0"]),
        floor: Server::new(&floor, &["http"]),
    };
    let mut rows = starts(&stdio)?;
    let pipes = || stdio.each(|server| ready(StdioClient::over_pipes(server)?));
    rows.extend(round_trips("stdio, pipes", &pipes, StdioClient::request)?);
    let sockets = || stdio.each(|server| ready(StdioClient::over_socket_pairs(server)?));
    rows.extend(round_trips("stdio, socket pairs", &sockets, StdioClient::request)?);
    let http = || {
        let ours = HttpClient::connect(Listening::ours(&http.ours)?)?;
        Ok(Pair { ours, floor: HttpClient::connect(Listening::floor(&http.floor)?)? })
    };
    rows.extend(round_trips("streamable HTTP", &http, HttpClient::request)?);
    rows.extend(set_up::rows(&ours)?);
    Ok(rows)
}

/// What a call costs, with client and server on one core; and wherever the scheduler puts them, where
/// waking an idle core can take longer than the call.
fn round_trips<C>(
    transport: &str,
    connect: &impl Fn() -> Result<Pair<C>>,
    request: impl Fn(&mut C, &str, Value) -> Result<Duration>,
) -> Result<Vec<Row>> {
    eprintln!("round trips over {transport} …");
    let pinned = OneCore::take()?;
    let mut rows = calls(&format!("{transport}, p"), ROUND_TRIP, connect, &request)?;
    drop(pinned);
    rows.extend(calls(&format!("{transport}, free, p"), Goal::None, connect, &request)?);
    Ok(rows)
}

/// The two that are compared.
struct Pair<T> {
    ours: T,
    floor: T,
}

impl<T> Pair<T> {
    fn each<U>(&self, make: impl Fn(&T) -> Result<U>) -> Result<Pair<U>> {
        let ours = make(&self.ours).context("ours")?;
        Ok(Pair { ours, floor: make(&self.floor).context("the floor")? })
    }
}

/// Start to first answer, and what the process then weighs.
fn starts(servers: &Pair<Server>) -> Result<Vec<Row>> {
    eprintln!("{STARTS} starts of each …");
    let mut times = Pair { ours: Samples::default(), floor: Samples::default() };
    let mut weights = Pair { ours: Vec::new(), floor: Vec::new() };
    for _ in 0..STARTS {
        let (time, weight) = start_once(&servers.ours).context("ours")?;
        times.ours.0.push(time);
        weights.ours.push(weight);
        let (time, weight) = start_once(&servers.floor).context("the floor")?;
        times.floor.0.push(time);
        weights.floor.push(weight);
    }
    let start = |percent, goal| Row {
        what: format!("start to initialize answer, p{percent}"),
        unit: Unit::Milliseconds,
        ours: times.ours.percentile(percent) / 1e3,
        floor: times.floor.percentile(percent) / 1e3,
        goal,
    };
    let rss = Row {
        what: "idle RSS, median".into(),
        unit: Unit::Megabytes,
        ours: median(weights.ours),
        floor: median(weights.floor),
        goal: Goal::AtMost(RSS_GOAL_MB),
    };
    Ok(vec![start(50, Goal::AtMost(START_GOAL_MS)), start(95, Goal::None), rss])
}

fn start_once(server: &Server) -> Result<(Duration, f64)> {
    let start = Instant::now();
    let mut client = StdioClient::over_pipes(server)?;
    client.initialize()?;
    let time = start.elapsed();
    client.settle()?;
    Ok((time, client.rss_mb()?))
}

fn ready(mut client: StdioClient) -> Result<StdioClient> {
    client.initialize()?;
    client.settle()?;
    Ok(client)
}

/// The same trivial call, again and again, in turns.
fn calls<C>(
    what: &str,
    goal: Goal,
    connect: &impl Fn() -> Result<Pair<C>>,
    request: &impl Fn(&mut C, &str, Value) -> Result<Duration>,
) -> Result<Vec<Row>> {
    let mut times = Pair { ours: Samples::default(), floor: Samples::default() };
    let call = |client: &mut C, params: &Value, calls: usize| -> Result<Vec<Duration>> {
        (0..calls).map(|_| request(client, "tools/call", params.clone())).collect()
    };
    // The least a tool of ours can do: look, find nothing new, say so.
    let ours = json!({ "name": "timeline_query", "arguments": { "since": u32::MAX } });
    let floor = json!({ "name": "echo", "arguments": { "text": "hello" } });
    for _ in 0..PAIRS {
        let mut clients = connect()?;
        call(&mut clients.ours, &ours, WARM_UP_CALLS).context("ours")?;
        call(&mut clients.floor, &floor, WARM_UP_CALLS).context("the floor")?;
        for _ in 0..TURNS {
            let took = call(&mut clients.ours, &ours, CALLS_PER_TURN).context("ours")?;
            times.ours.0.extend(took);
            let took = call(&mut clients.floor, &floor, CALLS_PER_TURN).context("the floor")?;
            times.floor.0.extend(took);
        }
    }
    let row = |percent, goal| Row {
        what: format!("round trip, {what}{percent}"),
        unit: Unit::Microseconds,
        ours: times.ours.percentile(percent),
        floor: times.floor.percentile(percent),
        goal,
    };
    Ok(vec![row(50, goal), row(99, Goal::None)])
}
