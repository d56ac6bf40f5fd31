//! The round trip of a trivial tool: by `external_call_tool`, as an exposed tool, through `wrap`, and directly.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Far, ready};
use crate::bench::{
    Samples,
    client::{Server, StdioClient},
    http::{HttpClient, Listening},
    one_core::OneCore,
    table::{Goal, Row, Unit},
};

/// Processes of each, because where the scheduler puts one decides about its microseconds.
const ROUNDS: usize = 4;
/// All take turns this often, with this many calls each time.
const TURNS: usize = 5;
const CALLS_PER_TURN: usize = 100;
const WARM_UP_CALLS: usize = 300;

/// Milliseconds above the direct call.
const CALL_GOAL: f64 = 1.0;
const WRAP_GOAL: f64 = 0.3;

/// One way to the same tool.
struct Trip<C> {
    what: &'static str,
    above: f64,
    client: C,
    params: Value,
}

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (transport, pin) in [("one core", true), ("free", false)] {
        eprintln!("round trips, {transport} …");
        let pinned = if pin { Some(OneCore::take()?) } else { None };
        rows.extend(measured(
            &format!("stdio, {transport}"),
            &|| stdio(far),
            StdioClient::request,
        )?);
        rows.extend(measured(&format!("HTTP, {transport}"), &|| http(far), HttpClient::request)?);
        drop(pinned);
    }
    Ok(rows)
}

/// The last is the direct one.
fn stdio(far: &Far) -> Result<Vec<Trip<StdioClient>>> {
    let wrap = ["wrap", "--port", "0", "--", super::text(&far.floor)?, "stdio"];
    Ok(vec![
        called("s", ready(&far.behind("mcp", &["s"])?)?),
        exposed("s_echo", ready(&far.behind("mcp", &["s"])?)?),
        plain("wrap", WRAP_GOAL, ready(&Server::new(&far.ours, &wrap))?),
        plain("direct", 0.0, ready(&far.direct())?),
    ])
}

fn http(far: &Far) -> Result<Vec<Trip<HttpClient>>> {
    let ours = || HttpClient::connect(Listening::ours(&far.behind("serve", &["h"])?)?);
    let direct = Listening::floor(&Server::new(&far.floor, &["http"]))?;
    Ok(vec![
        called("h", ours()?),
        exposed("h_echo", ours()?),
        plain("direct", 0.0, HttpClient::connect(direct)?),
    ])
}

fn called<C>(server: &str, client: C) -> Trip<C> {
    let arguments = json!({ "tool": format!("{server}/echo"), "arguments": { "text": "hello" } });
    let params = json!({ "name": "external_call_tool", "arguments": arguments });
    Trip { what: "external_call_tool", above: CALL_GOAL, client, params }
}

fn exposed<C>(name: &str, client: C) -> Trip<C> {
    let params = json!({ "name": name, "arguments": { "text": "hello" } });
    Trip { what: "an exposed tool", above: CALL_GOAL, client, params }
}

fn plain<C>(what: &'static str, above: f64, client: C) -> Trip<C> {
    let params = json!({ "name": "echo", "arguments": { "text": "hello" } });
    Trip { what, above, client, params }
}

fn measured<C>(
    place: &str,
    connect: &dyn Fn() -> Result<Vec<Trip<C>>>,
    request: impl Fn(&mut C, &str, Value) -> Result<Duration>,
) -> Result<Vec<Row>> {
    let mut times: Vec<(&'static str, f64, Samples)> = Vec::new();
    for _ in 0..ROUNDS {
        let mut trips = connect()?;
        times.resize_with(trips.len(), || ("", 0.0, Samples::default()));
        for turn in 0..=TURNS {
            // The first one warms up.
            let calls = if turn == 0 { WARM_UP_CALLS } else { CALLS_PER_TURN };
            for (trip, (what, above, times)) in trips.iter_mut().zip(&mut times) {
                (*what, *above) = (trip.what, trip.above);
                for _ in 0..calls {
                    let took = request(&mut trip.client, "tools/call", trip.params.clone());
                    let took = took.context(trip.what)?;
                    if turn > 0 {
                        times.0.push(took);
                    }
                }
            }
        }
    }
    Ok(beside_the_last(place, &times))
}

fn beside_the_last(place: &str, times: &[(&'static str, f64, Samples)]) -> Vec<Row> {
    let Some(((_, _, direct), through)) = times.split_last() else { return Vec::new() };
    let row = |what: &str, times: &Samples, percent, goal| Row {
        what: format!("{what}, {place}, p{percent}"),
        unit: Unit::FineMilliseconds,
        ours: times.percentile(percent) / 1e3,
        floor: direct.percentile(percent) / 1e3,
        goal,
    };
    let rows = |(what, above, times): &(&'static str, f64, Samples)| {
        let goal = Goal::NearFloor { times: 1.0, plus: *above };
        [row(what, times, 50, goal), row(what, times, 99, Goal::None)]
    };
    through.iter().flat_map(rows).collect()
}
