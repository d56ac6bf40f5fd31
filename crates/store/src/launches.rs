//! Programs that were launched: enough to run the last one again, and to see which never ended.

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::{
    error::{Refusal, StoreError},
    host::Host,
    limits,
    store::Store,
    text::{Json, Time},
};

/// Never given twice in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchId(pub i64);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptLaunch {
    pub name: String,
    pub language: String,
    /// The whole request, as the caller wants it back. It may hold secrets of the environment:
    /// the file is its user's alone.
    pub spec: Value,
    pub cwd: String,
    /// Who began it, in the caller's words: something by which the caller can tell a server that
    /// is gone from another that shares this file and is still at work.
    pub owner: Option<String>,
    /// Where its owner runs.
    pub host: Host,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRow {
    pub id: LaunchId,
    pub launch: KeptLaunch,
    pub started_at: Timestamp,
    /// None while it runs, and for ever if its server died.
    pub ended_at: Option<Timestamp>,
    pub exit: Option<String>,
}

impl Store {
    /// Notes a launch and forgets those past the newest [`limits::LAUNCHES`].
    pub async fn begin_launch(&self, launch: KeptLaunch) -> Result<LaunchId, StoreError> {
        self.write("begin launch", move |connection| begin(connection, &launch)).await
    }

    /// Says whether there was such a launch and it had not ended: the first end counts.
    pub async fn end_launch(
        &self,
        id: LaunchId,
        exit: impl Into<String>,
    ) -> Result<bool, StoreError> {
        let exit = exit.into();
        self.write("end launch", move |connection| {
            let mut update = connection.prepare_cached(
                "UPDATE launches SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), exit = ?2
                 WHERE id = ?1 AND ended_at IS NULL",
            )?;
            Ok(update.execute(params![id.0, exit])? > 0)
        })
        .await
    }

    /// The newest, ended or not.
    pub async fn last_launch(&self) -> Result<Option<LaunchRow>, StoreError> {
        Ok(self.launches(1).await?.pop())
    }

    /// The newest `limit`, newest first; at most [`limits::LAUNCHES`] exist.
    pub async fn launches(&self, limit: usize) -> Result<Vec<LaunchRow>, StoreError> {
        self.read("list launches", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT * FROM launches ORDER BY id DESC LIMIT ?1")?;
            let rows = select.query_map([kept(limit)], row)?.collect::<Result<_, _>>()?;
            Ok(rows)
        })
        .await
    }

    /// Launches that never ended, newest first: their server crashed, or it runs and shares this
    /// file ([`KeptLaunch::owner`] tells).
    pub async fn left_open(&self) -> Result<Vec<LaunchRow>, StoreError> {
        self.read("list open launches", |connection| {
            let mut select = connection
                .prepare_cached("SELECT * FROM launches WHERE ended_at IS NULL ORDER BY id DESC")?;
            let rows = select.query_map([], row)?.collect::<Result<_, _>>()?;
            Ok(rows)
        })
        .await
    }
}

fn begin(connection: &Connection, it: &KeptLaunch) -> Result<LaunchId, Refusal> {
    let id = connection
        .prepare_cached(
            "INSERT INTO launches (name, language, spec, cwd, owner, host)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
        )?
        .query_row(
            params![it.name, it.language, it.spec.to_string(), it.cwd, it.owner, it.host],
            |row| row.get(0),
        )?;
    connection
        .prepare_cached(
            "DELETE FROM launches
             WHERE id <= (SELECT id FROM launches ORDER BY id DESC LIMIT 1 OFFSET ?1)",
        )?
        .execute([kept(usize::MAX)])?;
    Ok(LaunchId(id))
}

fn kept(limit: usize) -> i64 {
    i64::try_from(limit.min(limits::LAUNCHES)).unwrap_or(i64::MAX)
}

fn row(row: &Row<'_>) -> rusqlite::Result<LaunchRow> {
    let Time(started_at) = row.get("started_at")?;
    let ended_at: Option<Time> = row.get("ended_at")?;
    let Json(spec) = row.get("spec")?;
    let launch = KeptLaunch {
        name: row.get("name")?,
        language: row.get("language")?,
        spec,
        cwd: row.get("cwd")?,
        owner: row.get("owner")?,
        host: row.get("host")?,
    };
    Ok(LaunchRow {
        id: LaunchId(row.get("id")?),
        launch,
        started_at,
        ended_at: ended_at.map(|Time(it)| it),
        exit: row.get("exit")?,
    })
}
