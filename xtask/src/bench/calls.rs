//! The cost of intercepted calls: raw over HTTP, of our Python client, of a pause, and of what is kept.
//!
//! The floor is a handler of the same HTTP library that does nothing: it reads no body, checks no value
//! and keeps nothing. Ours checks each value against its hash, and what it acknowledged is on the disk
//! before the clock stops.

mod kept;
mod pairs;
mod python;

use std::time::Duration;

use anyhow::Result;

use self::python::App;
use super::client::Server;
use super::http::Listening;
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind, give_up_after};
use crate::workspace::Workspace;

pub(super) const CALLS: Bench = Bench {
    name: "calls",
    about: "intercepted calls: raw pairs, our Python client, resuming a pause, a million records",
    run: Kind::Table { client: Client::Optimised, rows: measure },
};

const PAIRS_GOAL: Goal = Goal::AtLeastOfFloor { limit: 5_000.0, share: 0.5 };
/// Looking for secrets costs less than one part in twenty.
const SECRETS_GOAL: Goal = Goal::ShareOfFloor(0.95);
const ASKED_GOAL: Goal = Goal::AtLeast(1_500.0);
const FAST_GOAL: Goal = Goal::AtLeast(20_000.0);
const RESUME_GOAL_MS: f64 = 3.0;
const RSS_GOAL_MB: f64 = 60.0;
const TREE_GOAL_MS: f64 = 100.0;

/// It takes two minutes; a server that does not answer would hold us for ever.
const MEASURE_LIMIT: Duration = Duration::from_secs(15 * 60);

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = Server::new(&workspace.optimised("holdpoint")?, &["serve", "--port", "0"]);
    let floor = Server::new(&workspace.optimised("floor")?, &["bare"]);
    give_up_after(MEASURE_LIMIT)?;
    let bare = Listening::floor(&floor)?;
    let mut rows = pairs_rows(&ours, &bare)?;
    rows.push(secrets_row(&ours, workspace)?);
    rows.extend(python_rows(&ours, &bare, workspace)?);
    rows.extend(kept_rows(&ours)?);
    Ok(rows)
}

fn pairs_rows(ours: &Server, bare: &Listening) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for connections in [1, 8] {
        eprintln!("pairs of start and complete, {connections} at once …");
        let server = Listening::ours(ours)?;
        let (rate, floor) = pairs::rates(&server, bare, connections)?;
        let what = match connections {
            1 => "start + complete, new values on disk, 1 connection".to_owned(),
            many => format!("the same, {many} connections"),
        };
        rows.push(Row { what, unit: Unit::PerSecond, ours: rate, floor, goal: PAIRS_GOAL });
    }
    Ok(rows)
}

/// What looking for secrets costs: ours beside ours that shows them.
fn secrets_row(ours: &Server, workspace: &Workspace) -> Result<Row> {
    eprintln!("secrets hidden and shown …");
    let arguments = &["serve", "--port", "0", "--show-secrets"];
    let shown = Server::new(&workspace.optimised("holdpoint")?, arguments);
    let (ours, shown) = (Listening::ours(ours)?, Listening::ours(&shown)?);
    let (rate, floor) = pairs::both(&ours, &shown, 1)?;
    let what = "start + complete, secrets hidden beside shown".to_owned();
    Ok(Row { what, unit: Unit::PerSecond, ours: rate, floor, goal: SECRETS_GOAL })
}

fn python_rows(ours: &Server, bare: &Listening, workspace: &Workspace) -> Result<Vec<Row>> {
    eprintln!("our Python client …");
    let server = Listening::ours(ours)?;
    let app = App { script: workspace.root.join("clients/python/bench.py"), server: &server, bare };
    let figures = app.figures()?;
    let per_second = |what: &str, ours, floor, goal| Row {
        what: what.to_owned(),
        unit: Unit::PerSecond,
        ours,
        floor,
        goal,
    };
    eprintln!("pauses …");
    let resumed = app.resumes()?;
    let resume = |percent, goal| Row {
        what: format!("resume of a paused call, REST to the app's function, p{percent}"),
        unit: Unit::FineMilliseconds,
        ours: resumed.percentile(percent) / 1e3,
        floor: 1e3 / figures.request,
        goal,
    };
    Ok(vec![
        per_second("Python: calls that ask first", figures.asked, figures.request, ASKED_GOAL),
        per_second("Python: recorded calls, fast path", figures.fast, figures.request, FAST_GOAL),
        per_second("Python: the function, not wrapped", figures.plain, figures.request, Goal::None),
        resume(50, Goal::AtMost(RESUME_GOAL_MS)),
        resume(99, Goal::None),
    ])
}

fn kept_rows(ours: &Server) -> Result<Vec<Row>> {
    eprintln!("{} records …", kept::RECORDS);
    let server = Listening::ours(ours)?;
    let kept = kept::measure(&server)?;
    let row = |what: &str, unit, ours, goal| Row {
        what: what.to_owned(),
        unit,
        ours,
        floor: f64::NAN,
        goal,
    };
    let tree = Goal::AtMost(TREE_GOAL_MS);
    Ok(vec![
        row("records taken in batches", Unit::PerSecond, kept.per_second, Goal::None),
        row("RSS after a million records", Unit::Megabytes, kept.rss_mb, Goal::AtMost(RSS_GOAL_MB)),
        row("the most that it was", Unit::Megabytes, kept.peak_mb, Goal::None),
        row("call tree of an app's 10,000 calls, p50", Unit::Milliseconds, kept.tree_ms, tree),
        row("the newest 10,000 of a million, p50", Unit::Milliseconds, kept.newest_ms, Goal::None),
    ])
}
