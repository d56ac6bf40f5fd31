//! Records of intercepted calls: written in batches, read newest first.
//!
//! What a search or an order needs is a column; the rest is the caller's, in `body`.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params, params_from_iter};

use crate::{
    batch::{Batch, CallRef},
    callpoints,
    cid::Cid,
    error::{Refusal, StoreError},
    host::{AppKey, Host},
    limits, retention, rows,
    store::Store,
    values::{self, Folder},
};

#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    pub call_id: String,
    pub process: String,
    pub name: String,
    /// The caller's word: `call`, `event`.
    pub kind: &'static str,
    pub status: String,
    pub thread: Option<String>,
    /// Seconds since 1970, by the clock of the app.
    pub started_at: f64,
    pub completed_at: f64,
    pub line: String,
    pub cids: Vec<Cid>,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    /// Grows with each record; the cursor of a page.
    pub id: i64,
    pub call_id: String,
    pub process: String,
    pub name: String,
    pub kind: String,
    pub status: String,
    pub thread: Option<String>,
    pub started_at: f64,
    pub completed_at: f64,
    pub line: String,
    pub cids: Vec<Cid>,
    /// Empty when it was not asked for.
    pub body: String,
}

/// One live object at one moment of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotRow {
    pub process: String,
    pub client_ref: String,
    pub at: f64,
    pub call_id: String,
    pub name: String,
    pub role: &'static str,
    /// The number of an argument, the name of a keyword.
    pub place: Option<String>,
    pub cid: Cid,
}

/// An app whose calls are recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct AppRow {
    pub host: Host,
    pub process: String,
    pub pid: i64,
    pub started_at: f64,
    pub page_url: Option<String>,
    /// What the app says of itself, as JSON text.
    pub about: Option<String>,
    pub seen_at: f64,
}

/// What [`row`] reads, in this order: by name, each column of each row would be looked for.
const COLUMNS: &str = "id, call_id, process, name, kind, status, thread, started_at, completed_at, \
                       line, cids, body";

/// Which records; everything that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct CallQuery {
    pub call_id: Option<String>,
    pub name: Option<String>,
    pub app: Option<AppKey>,
    pub status: Option<String>,
    pub kind: Option<&'static str>,
    /// Not what apps told beside their calls.
    pub calls_only: bool,
    /// Words that are all in the record's line, in any case.
    pub search: Option<String>,
    /// Completed at or after, at or before: seconds since 1970.
    pub since: Option<f64>,
    pub until: Option<f64>,
    /// Took at least as many seconds.
    pub longer_s: Option<f64>,
    /// Somebody decided that something else than the call itself was to happen.
    pub changed: bool,
    /// Holds this value: an argument, a result, what was called.
    pub value: Option<Cid>,
    /// Only records older than this one: the next page.
    pub before: Option<i64>,
    /// Only records newer than this one, the oldest of them: the page before.
    pub after: Option<i64>,
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallPage {
    /// Newest first.
    pub rows: Vec<CallRow>,
    /// How many match, whichever page is shown.
    pub total: u64,
    /// How many of these are newer than the page.
    pub newer: u64,
}

impl Store {
    /// Writes a batch as one; answers when it is committed, with how often values were dropped before it, by
    /// whichever process.
    pub async fn record(&self, batch: Arc<Batch>) -> Result<u64, StoreError> {
        let folder = self.folder.clone();
        self.write("record calls", move |connection| record(connection, &folder, &batch)).await
    }

    pub async fn calls(&self, query: CallQuery) -> Result<CallPage, StoreError> {
        self.read("list calls", move |connection| {
            let mut counted = Clauses::of(&query);
            let total = counted.count(connection)?;
            if let Some(before) = query.before {
                counted.push("id < ?", before);
            }
            if let Some(after) = query.after {
                counted.push("id > ?", after);
            }
            let order = if query.after.is_some() { "ASC" } else { "DESC" };
            let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
            let sql = format!(
                "SELECT {COLUMNS} FROM calls {} ORDER BY id {order} LIMIT ?",
                counted.text()
            );
            counted.values.push(Box::new(limit));
            let mut select = connection.prepare_cached(&sql)?;
            let rows = select.query_map(params_from_iter(&counted.values), row)?;
            let mut rows: Vec<CallRow> = rows.collect::<Result<_, _>>()?;
            rows.sort_unstable_by_key(|it| std::cmp::Reverse(it.id));
            let newer = match rows.first() {
                Some(first) if query.before.is_some() || query.after.is_some() => {
                    let mut newer = Clauses::of(&query);
                    newer.push("id > ?", first.id);
                    newer.count(connection)?
                }
                _ => 0,
            };
            Ok(CallPage { rows, total, newer })
        })
        .await
    }

    /// The newest record of that call.
    pub async fn call(&self, call_id: String) -> Result<Option<CallRow>, StoreError> {
        self.read("read a call", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM calls WHERE call_id = ?1 ORDER BY id DESC LIMIT 1"
            ))?;
            Ok(select.query_row([call_id], row).optional()?)
        })
        .await
    }

    /// The newest `limit` records of one app that began before `before`, in the order they began, and how many it
    /// has in all, counted up to [`limits::COUNTED_CALLS`]. What names no machine is of any.
    pub async fn calls_of(
        &self,
        app: AppKey,
        before: Option<f64>,
        limit: usize,
    ) -> Result<(Vec<CallRow>, u64), StoreError> {
        self.read("read an app's calls", move |connection| {
            let total = connection
                .prepare_cached(
                    "SELECT count(*) FROM (SELECT 1 FROM calls WHERE process = ?1 AND host IN (?3, '')
                     LIMIT ?2)",
                )?
                .query_row(params![app.process, limits::COUNTED_CALLS, app.host], |row| {
                    row.get(0)
                })?;
            let mut select = connection.prepare_cached(
                "SELECT *, '' AS body FROM (SELECT id, call_id, process, name, kind, status, thread,
                        started_at, completed_at, line, cids FROM calls
                        WHERE process = ?1 AND host IN (?3, '') AND started_at < ?4
                        ORDER BY started_at DESC LIMIT ?2)
                 ORDER BY started_at, id",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let before = before.unwrap_or(f64::MAX);
            let rows = select.query_map(params![app.process, limit, app.host, before], row)?;
            Ok((rows.collect::<Result<_, _>>()?, total))
        })
        .await
    }

    /// The apps, the last heard of first, with how many records each has.
    pub async fn apps(&self, limit: usize) -> Result<Vec<(AppRow, u64)>, StoreError> {
        self.read("list apps", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT *, (SELECT count(*) FROM calls
                            WHERE calls.process = apps.process AND calls.host = apps.host) AS calls
                 FROM apps ORDER BY seen_at DESC LIMIT ?1",
            )?;
            let rows = select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                let app = AppRow {
                    host: row.get("host")?,
                    process: row.get("process")?,
                    pid: row.get("pid")?,
                    started_at: row.get("started_at")?,
                    page_url: row.get("page_url")?,
                    about: row.get("about")?,
                    seen_at: row.get("seen_at")?,
                };
                Ok((app, row.get("calls")?))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// What became of one live object, oldest first; at most the newest `limit`.
    pub async fn snapshots(
        &self,
        app: AppKey,
        client_ref: String,
        limit: usize,
    ) -> Result<Vec<SnapshotRow>, StoreError> {
        self.read("read an object's history", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT * FROM (SELECT * FROM snapshots WHERE process = ?1 AND client_ref = ?2
                                AND host IN (?4, '') ORDER BY id DESC LIMIT ?3) ORDER BY id",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows =
                select.query_map(params![app.process, client_ref, limit, app.host], snapshot)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The last moment of each live object, the newest first.
    pub async fn objects(&self, limit: usize) -> Result<Vec<SnapshotRow>, StoreError> {
        self.read("list objects", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT * FROM snapshots WHERE id IN
                   (SELECT max(id) FROM snapshots GROUP BY process, client_ref, host)
                 ORDER BY id DESC LIMIT ?1",
            )?;
            let rows = select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], snapshot)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn record(connection: &Connection, folder: &Folder, batch: &Batch) -> Result<u64, Refusal> {
    values::insert(connection, folder, batch)?;
    for change in &batch.changes {
        callpoints::apply(connection, change)?;
    }
    for app in &batch.apps {
        save_app(connection, app)?;
    }
    insert(connection, batch)?;
    let mut take = connection.prepare_cached(
        "INSERT INTO snapshots (era, host, process, client_ref, at, call_id, name, role, place, cid)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for it in &batch.snapshots {
        let SnapshotRow { process, client_ref, at, call_id, name, role, place, cid } = it;
        let Batch { era, host, .. } = batch;
        take.execute(params![era, host, process, client_ref, at, call_id, name, role, place, cid])?;
    }
    Ok(retention::drops(connection)?)
}

fn insert(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let into = "calls (era, host, call_id, process, name, kind, status, thread, started_at, completed_at, \
                line, cids, body)";
    let calls: Vec<CallRef<'_>> = batch.calls().collect();
    rows::insert(connection, into, &calls, |it, to| {
        to.extend::<[&dyn ToSql; 13]>([
            &batch.era,
            &batch.host,
            &it.call_id,
            &it.process,
            &it.name,
            &it.kind,
            &it.status,
            &it.thread,
            &it.started_at,
            &it.completed_at,
            &it.line,
            &it.cids,
            &it.body,
        ]);
    })
}

fn save_app(connection: &Connection, it: &AppRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO apps (host, process, pid, started_at, page_url, about, seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (host, process) DO UPDATE SET
               page_url = ifnull(excluded.page_url, page_url),
               about = ifnull(excluded.about, about), seen_at = excluded.seen_at",
        )?
        .execute(params![
            it.host,
            it.process,
            it.pid,
            it.started_at,
            it.page_url,
            it.about,
            it.seen_at
        ])?;
    Ok(())
}

/// Conditions with their values, in the order of the question marks.
#[derive(Default)]
struct Clauses {
    all: Vec<&'static str>,
    values: Vec<Box<dyn ToSql>>,
}

impl Clauses {
    fn of(query: &CallQuery) -> Clauses {
        let mut clauses = Clauses::default();
        let texts = [
            ("call_id = ?", &query.call_id),
            ("name = ?", &query.name),
            ("status = ?", &query.status),
        ];
        for (clause, value) in texts {
            if let Some(value) = value {
                clauses.push(clause, value.clone());
            }
        }
        if let Some(AppKey { host, process }) = &query.app {
            clauses.push("process = ?", process.clone());
            clauses.push("host IN (?, '')", host.clone());
        }
        if let Some(kind) = query.kind {
            clauses.push("kind = ?", kind);
        }
        if query.calls_only {
            clauses.push("kind <> ?", "event");
        }
        if let Some(since) = query.since {
            clauses.push("completed_at >= ?", since);
        }
        if let Some(until) = query.until {
            clauses.push("completed_at <= ?", until);
        }
        if let Some(longer) = query.longer_s {
            clauses.push("completed_at - started_at >= ?", longer);
        }
        if query.changed {
            // As the engine writes a call: what was decided is the only member of that form.
            clauses.push("kind <> 'event' AND instr(body, ?) > 0", "\"d\":{\"w\":\"");
            clauses.push("instr(body, ?) = 0", "\"d\":{\"w\":\"continue\"");
        }
        if let Some(cid) = query.value {
            clauses.push("instr(cids, ?) > 0", cid);
        }
        for word in query.search.as_deref().unwrap_or_default().split_whitespace() {
            clauses.push("line LIKE ? ESCAPE '\\'", like(word));
        }
        clauses
    }

    fn push(&mut self, clause: &'static str, value: impl ToSql + 'static) {
        self.all.push(clause);
        self.values.push(Box::new(value));
    }

    fn text(&self) -> String {
        if self.all.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", self.all.join(" AND "))
        }
    }

    fn count(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let sql = format!("SELECT count(*) FROM calls {}", self.text());
        connection.prepare_cached(&sql)?.query_row(params_from_iter(&self.values), |row| row.get(0))
    }
}

/// The pattern that finds `word` anywhere, taken by the letter.
pub(crate) fn like(word: &str) -> String {
    let mut pattern = String::with_capacity(word.len() + 2);
    pattern.push('%');
    for letter in word.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

fn row(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    let (cids, _) = row.get_ref(10)?.as_blob()?.as_chunks::<64>();
    Ok(CallRow {
        id: row.get(0)?,
        call_id: row.get(1)?,
        process: row.get(2)?,
        name: row.get(3)?,
        kind: row.get(4)?,
        status: row.get(5)?,
        thread: row.get(6)?,
        started_at: row.get(7)?,
        completed_at: row.get(8)?,
        line: row.get(9)?,
        cids: cids.iter().map(|cid| Cid(*cid)).collect(),
        body: row.get(11)?,
    })
}

fn snapshot(row: &Row<'_>) -> rusqlite::Result<SnapshotRow> {
    let role: String = row.get("role")?;
    let roles = ["target", "arg", "kwarg", "result", "exception"];
    Ok(SnapshotRow {
        process: row.get("process")?,
        client_ref: row.get("client_ref")?,
        at: row.get("at")?,
        call_id: row.get("call_id")?,
        name: row.get("name")?,
        role: roles.into_iter().find(|known| *known == role).unwrap_or("arg"),
        place: row.get("place")?,
        cid: row.get("cid")?,
    })
}
