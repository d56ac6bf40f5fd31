//! What a new connection costs, with and without the look whose it is.
//!
//! Both servers are ours; the one beside lets every user in and so looks at nobody. A connection is counted from the
//! first packet to the end of a trivial answer: nobody opens one for less.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::Pair;
use crate::bench::{
    Samples,
    client::Server,
    http::Listening,
    one_core::OneCore,
    table::{Goal, Row, Unit},
};

const WARM_UP: usize = 200;
const TURNS: usize = 20;
const CONNECTIONS_PER_TURN: usize = 100;
const GOAL: Goal = Goal::TimesFloor(1.2);

pub(super) fn rows(ours: &Path) -> Result<Vec<Row>> {
    eprintln!("connections, with and without the look whose they are …");
    let servers = Pair {
        ours: Listening::ours(&Server::new(ours, &["serve", "--port", "0"]))?,
        floor: Listening::ours(&Server::new(
            ours,
            &["serve", "--port", "0", "--share-with-users"],
        ))?,
    };
    let _pinned = OneCore::take()?;
    let mut times = Pair { ours: Samples::default(), floor: Samples::default() };
    for server in [&servers.ours, &servers.floor] {
        (0..WARM_UP).try_for_each(|_| connect(server.port).map(drop))?;
    }
    for _ in 0..TURNS {
        for _ in 0..CONNECTIONS_PER_TURN {
            times.ours.0.push(connect(servers.ours.port)?);
            times.floor.0.push(connect(servers.floor.port)?);
        }
    }
    let row = |percent, goal| Row {
        what: format!("connection set-up, same user beside every user, p{percent}"),
        unit: Unit::Microseconds,
        ours: times.ours.percentile(percent),
        floor: times.floor.percentile(percent),
        goal,
    };
    Ok(vec![row(50, GOAL), row(99, Goal::None)])
}

fn connect(port: u16) -> Result<Duration> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("connecting")?;
    stream.set_nodelay(true)?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).context("reading the answer")?;
    let took = start.elapsed();
    if !answer.starts_with("HTTP/1.1 200") {
        bail!("the server answered {answer:?}");
    }
    Ok(took)
}
