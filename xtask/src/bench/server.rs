//! The cost of being an MCP server: to start, to wait, to answer.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::client::{Process, Server, StdioClient};
use super::http::{HttpClient, Listening};
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Samples, give_up_after};
use crate::process::Group;
use crate::workspace::Workspace;

pub(super) const SERVER: Bench = Bench {
    name: "server",
    about: "start, memory, and the round trip of a trivial tool over pipes, socket pairs and HTTP",
    client: Client::Any,
    run: measure,
};

const STARTS: usize = 40;
const WARM_UP_CALLS: usize = 200;
/// Ours and the floor take turns this often, with this many calls each time.
const TURNS: usize = 30;
const CALLS_PER_TURN: usize = 100;

const START_GOAL_MS: f64 = 10.0;
const RSS_GOAL_MB: f64 = 12.0;
const ROUND_TRIP_GOAL: f64 = 1.5;

/// It takes seconds; a server that does not answer would hold us for ever.
const MEASURE_LIMIT: Duration = Duration::from_secs(5 * 60);

/// For a server to say where it listens.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
const LISTEN_POLL: Duration = Duration::from_millis(2);

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = workspace.release("holdpoint")?;
    let floor = workspace.release("floor")?;
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
    eprintln!("round trips over pipes …");
    let clients = stdio.each(|server| ready(StdioClient::over_pipes(server)?))?;
    rows.extend(round_trips("stdio, pipes", clients, StdioClient::request)?);
    eprintln!("round trips over socket pairs …");
    let clients = stdio.each(|server| ready(StdioClient::over_socket_pairs(server)?))?;
    rows.extend(round_trips("stdio, socket pairs", clients, StdioClient::request)?);
    eprintln!("round trips over HTTP …");
    let clients =
        Pair { ours: serve(&http.ours, port_in_file)?, floor: serve(&http.floor, port_on_stdout)? };
    rows.extend(round_trips("streamable HTTP", clients, HttpClient::request)?);
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn ready(mut client: StdioClient) -> Result<StdioClient> {
    client.initialize()?;
    client.settle()?;
    Ok(client)
}

/// The same trivial call, again and again, in turns.
fn round_trips<C>(
    transport: &str,
    mut clients: Pair<C>,
    request: impl Fn(&mut C, &str, Value) -> Result<Duration>,
) -> Result<Vec<Row>> {
    let mut times = Pair { ours: Samples::default(), floor: Samples::default() };
    let call = |client: &mut C, params: &Value, calls: usize| -> Result<Vec<Duration>> {
        (0..calls).map(|_| request(client, "tools/call", params.clone())).collect()
    };
    // The least a tool of ours can do: look, find nothing new, say so.
    let ours = json!({ "name": "timeline_query", "arguments": { "since": u32::MAX } });
    let floor = json!({ "name": "echo", "arguments": { "text": "hello" } });
    call(&mut clients.ours, &ours, WARM_UP_CALLS).context("ours")?;
    call(&mut clients.floor, &floor, WARM_UP_CALLS).context("the floor")?;
    for _ in 0..TURNS {
        times.ours.0.extend(call(&mut clients.ours, &ours, CALLS_PER_TURN).context("ours")?);
        times
            .floor
            .0
            .extend(call(&mut clients.floor, &floor, CALLS_PER_TURN).context("the floor")?);
    }
    let row = |percent, goal| Row {
        what: format!("round trip, {transport}, p{percent}"),
        unit: Unit::Microseconds,
        ours: times.ours.percentile(percent),
        floor: times.floor.percentile(percent),
        goal,
    };
    Ok(vec![row(50, Goal::TimesFloor(ROUND_TRIP_GOAL)), row(99, Goal::None)])
}

/// Starts a server on a free port and connects to it.
fn serve(server: &Server, port: impl Fn(&mut Process, &Path) -> Result<u16>) -> Result<HttpClient> {
    let (mut command, home) = server.command()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut process = Process(command.spawn().context("starting a server")?);
    let group = Group::led_by(&process.0)?;
    let port = port(&mut process, &home.0)?;
    HttpClient::connect(Listening::new(port, process, group, home))
}

/// The floor prints its port.
fn port_on_stdout(process: &mut Process, _home: &Path) -> Result<u16> {
    let stdout = process.0.stdout.take().context("stdout was not piped")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    line.trim().parse().with_context(|| format!("not a port: `{line}`"))
}

/// Ours writes its port to a file, as its clients find it.
fn port_in_file(process: &mut Process, home: &Path) -> Result<u16> {
    let deadline = Instant::now() + LISTEN_LIMIT;
    while Instant::now() < deadline {
        let text = std::fs::read_to_string(home.join("port")).unwrap_or_default();
        if let Ok(port) = text.trim().parse() {
            return Ok(port);
        }
        if let Some(status) = process.0.try_wait()? {
            bail!("it ended before it listened: {status}");
        }
        thread::sleep(LISTEN_POLL);
    }
    bail!("no port in `{}` within {} s", home.display(), LISTEN_LIMIT.as_secs())
}
