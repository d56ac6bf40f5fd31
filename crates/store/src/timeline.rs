//! What happened, run by run: every event of every server that shares this file, within bounds.
//!
//! Rows come in batches and in order, and are made on the writer's thread. The oldest go when there are
//! too many or when they are too old, a slice with each batch, so that no commit takes long.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter, types::Value};

use crate::{
    error::{Refusal, StoreError},
    host::Host,
    limits,
    store::Store,
    text::{Json, Time},
};

/// One server's life. Never given twice in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub i64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub host: Host,
    pub pid: u32,
    pub version: String,
    pub started_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub run: Run,
    /// How many events of it are kept.
    pub events: u64,
    pub last_at: Option<Timestamp>,
}

/// An event to keep, in the caller's words.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: &'static str,
    pub session: Option<String>,
    /// What is searched.
    pub text: String,
    /// JSON; as text, since in a burst there are thousands a second.
    pub data: String,
}

/// One that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: String,
    pub session: Option<String>,
    pub text: String,
    pub data: serde_json::Value,
}

/// Which events of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventsWanted {
    /// Only those with a greater number.
    pub after: u64,
    /// Only those with a smaller number.
    pub before: Option<u64>,
    /// Of any of these kinds; empty is any.
    pub kinds: Vec<String>,
    pub session: Option<String>,
    /// Whose text holds this, in whichever case.
    pub text: Option<String>,
    pub limit: usize,
    /// The last ones that match instead of the first.
    pub newest: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventsPage {
    /// In order.
    pub events: Vec<EventRow>,
    /// How many more match, counted up to [`limits::COUNTED`].
    pub more: usize,
    /// The numbers that are kept of this run, first and last.
    pub kept: Option<(u64, u64)>,
}

impl Store {
    pub async fn begin_run(&self, run: Run) -> Result<RunId, StoreError> {
        self.write("begin run", move |connection| {
            let id = connection
                .prepare_cached(
                    "INSERT INTO runs (host, pid, version, started_at) VALUES (?1, ?2, ?3, ?4)
                     RETURNING id",
                )?
                .query_row(
                    params![run.host, run.pid, run.version, time(run.started_at)],
                    |row| row.get(0),
                )?;
            Ok(RunId(id))
        })
        .await
    }

    /// Adds events; one that is there already stays as it is. `events` is run on the writer's thread.
    pub async fn append_events(
        &self,
        run: RunId,
        events: impl Iterator<Item = NewEvent> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.write("append events", move |connection| {
            append(connection, run, events)?;
            trim(connection)?;
            Ok(())
        })
        .await
    }

    pub async fn events(&self, run: RunId, wanted: EventsWanted) -> Result<EventsPage, StoreError> {
        self.read("read events", move |connection| page(connection, run, &wanted)).await
    }

    /// The newest `limit` runs before `before`, newest first.
    pub async fn runs(
        &self,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<Vec<RunRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("list runs", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT * FROM runs WHERE events > 0 AND (?1 IS NULL OR id < ?1)
                 ORDER BY id DESC LIMIT ?2",
            )?;
            let before = before.map(|run| run.0);
            let rows = select.query_map(params![before, limit], run_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn append(
    connection: &Connection,
    run: RunId,
    events: impl Iterator<Item = NewEvent>,
) -> Result<(), Refusal> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO timeline (run, seq, at, kind, session, text, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let (mut added, mut last) = (0_i64, None);
    for it in events {
        let at = time(it.at);
        let values = params![run.0, number(it.seq), at, it.kind, it.session, it.text, it.data];
        added += changes(insert.execute(values)?);
        last = Some(at);
    }
    connection
        .prepare_cached(
            "UPDATE runs SET events = events + ?2, last_at = ifnull(?3, last_at) WHERE id = ?1",
        )?
        .execute(params![run.0, added, last])?;
    Ok(())
}

/// Takes a slice off the oldest run, if there is too much or it is too old.
fn trim(connection: &Connection) -> Result<(), Refusal> {
    let (events, runs): (i64, i64) = connection
        .prepare_cached("SELECT ifnull(sum(events), 0), count(*) FROM runs")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let oldest: Option<(i64, String)> = connection
        .prepare_cached("SELECT run, at FROM timeline ORDER BY run, seq LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((run, at)) = oldest else { return Ok(()) };
    let now = Timestamp::now();
    let old = time(now - SignedDuration::try_from(limits::EVENT_AGE).unwrap_or_default());
    let over = (events - limits::EVENTS).min(limits::TRIM);
    let removed = if runs > limits::RUNS {
        cut(connection, run, limits::TRIM, None)?
    } else if over > 0 {
        cut(connection, run, over, None)?
    } else if at < old {
        cut(connection, run, limits::TRIM, Some(&old))?
    } else {
        return Ok(());
    };
    connection
        .prepare_cached("UPDATE runs SET events = events - ?2 WHERE id = ?1")?
        .execute(params![run, removed])?;
    // A run without events may be somebody's who goes on.
    let quiet = time(now - SignedDuration::from_hours(24));
    connection
        .prepare_cached("DELETE FROM runs WHERE events <= 0 AND ifnull(last_at, started_at) < ?1")?
        .execute([quiet])?;
    Ok(())
}

/// Removes the first `count` events of a run, of those before `old`.
fn cut(connection: &Connection, run: i64, count: i64, old: Option<&str>) -> Result<i64, Refusal> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM timeline WHERE run = ?1 AND (?3 IS NULL OR at < ?3) AND seq <= ifnull(
             (SELECT seq FROM timeline WHERE run = ?1 ORDER BY seq LIMIT 1 OFFSET ?2 - 1),
             (SELECT max(seq) FROM timeline WHERE run = ?1))",
    )?;
    Ok(changes(delete.execute(params![run, count, old])?))
}

fn page(connection: &Connection, run: RunId, it: &EventsWanted) -> Result<EventsPage, Refusal> {
    let (filter, values) = filter(run, it);
    let order = if it.newest { "DESC" } else { "ASC" };
    let sql =
        format!("SELECT * FROM timeline WHERE {filter} ORDER BY seq {order} LIMIT {}", it.limit);
    let mut select = connection.prepare(&sql)?;
    let mut events = select
        .query_map(params_from_iter(&values), event_row)?
        .collect::<Result<Vec<EventRow>, _>>()?;
    if it.newest {
        events.reverse();
    }
    let more = if events.len() < it.limit {
        0
    } else {
        let counted = limits::COUNTED + it.limit;
        let sql =
            format!("SELECT count(*) FROM (SELECT 1 FROM timeline WHERE {filter} LIMIT {counted})");
        let all: i64 =
            connection.prepare(&sql)?.query_row(params_from_iter(&values), |row| row.get(0))?;
        usize::try_from(all).unwrap_or_default().saturating_sub(events.len())
    };
    let kept: (Option<i64>, Option<i64>) = connection
        .prepare_cached("SELECT min(seq), max(seq) FROM timeline WHERE run = ?1")?
        .query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let seq = |it: i64| u64::try_from(it).unwrap_or_default();
    let kept = kept.0.zip(kept.1).map(|(first, last)| (seq(first), seq(last)));
    Ok(EventsPage { events, more, kept })
}

/// The conditions as SQL, and the values in it.
fn filter(run: RunId, it: &EventsWanted) -> (String, Vec<Value>) {
    let mut sql = "run = ? AND seq > ?".to_owned();
    let mut values = vec![Value::from(run.0), Value::from(number(it.after))];
    if let Some(before) = it.before {
        sql += " AND seq < ?";
        values.push(number(before).into());
    }
    if !it.kinds.is_empty() {
        let places = vec!["?"; it.kinds.len()].join(", ");
        sql += &format!(" AND kind IN ({places})");
        values.extend(it.kinds.iter().cloned().map(Value::from));
    }
    if let Some(session) = &it.session {
        sql += " AND session = ?";
        values.push(session.clone().into());
    }
    if let Some(text) = &it.text {
        sql += " AND instr(lower(text), lower(?)) > 0";
        values.push(text.clone().into());
    }
    (sql, values)
}

fn changes(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// Of one length, so that text order is time order, and exact.
fn time(at: Timestamp) -> String {
    format!("{at:.9}")
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let Time(started_at) = row.get("started_at")?;
    let last_at: Option<Time> = row.get("last_at")?;
    let (host, pid, version) = (row.get("host")?, row.get("pid")?, row.get("version")?);
    let run = Run { host, pid, version, started_at };
    let events: i64 = row.get("events")?;
    Ok(RunRow {
        id: RunId(row.get("id")?),
        run,
        events: u64::try_from(events).unwrap_or_default(),
        last_at: last_at.map(|Time(it)| it),
    })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let Time(at) = row.get("at")?;
    let Json(data) = row.get("data")?;
    let seq: i64 = row.get("seq")?;
    Ok(EventRow {
        seq: u64::try_from(seq).unwrap_or_default(),
        at,
        kind: row.get("kind")?,
        session: row.get("session")?,
        text: row.get("text")?,
        data,
    })
}
