//! What is dropped, by age and by size: the oldest calls first, then the values only they used.
//!
//! In small steps, each a command of its own, so that recording goes on between them. A record's
//! number and its era grow together, so the first record to keep is found by halving.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    cid::Cid,
    error::{Refusal, StoreError},
    limits,
    store::Store,
};

/// How much may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub age_s: u64,
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { age_s: limits::KEEP_AGE.as_secs(), bytes: limits::KEEP_BYTES }
    }
}

/// What pruning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub calls: u64,
    pub values: u64,
    pub snapshots: u64,
    /// Everything up to this era is gone.
    pub era: i64,
}

/// What is kept of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CallStats {
    pub calls: u64,
    pub values: u64,
    pub value_bytes: u64,
    pub snapshots: u64,
    pub repl_sessions: u64,
    pub callpoints: u64,
    pub functions: u64,
    /// In use; freed pages of the file do not count, large values in files do.
    pub used_bytes: u64,
    pub oldest: Option<f64>,
    pub newest: Option<f64>,
}

/// The era of a time in seconds since 1970.
pub fn era(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a time of this century fits")]
    let slot = (seconds / limits::ERA_SECONDS).floor() as i64;
    slot
}

impl Store {
    pub async fn call_stats(&self) -> Result<CallStats, StoreError> {
        self.read("count calls", |connection| Ok(stats(connection)?)).await
    }

    /// Drops what `keep` does not allow. `now` is in seconds since 1970. `floor` hears of an era
    /// before anything of it goes.
    pub async fn prune(
        &self,
        keep: Retention,
        now: f64,
        floor: impl Fn(i64),
    ) -> Result<Pruned, StoreError> {
        #[expect(clippy::cast_precision_loss, reason = "an age in seconds")]
        let too_old = era(now - keep.age_s as f64).saturating_sub(1);
        let mut done = Pruned { era: i64::MIN, ..Pruned::default() };
        loop {
            let last = self.read("measure calls", move |connection| {
                Ok(last_era(connection, too_old, keep.bytes)?)
            });
            let Some(last) = last.await?.filter(|last| *last > done.era) else { return Ok(done) };
            floor(last);
            done.era = last;
            while self.drop_some(last, &mut done).await? {}
        }
    }

    /// One step; says whether there is more.
    async fn drop_some(&self, last: i64, done: &mut Pruned) -> Result<bool, StoreError> {
        let step = self.write("drop old calls", move |connection| drop_step(connection, last));
        let Step { calls, values, snapshots, files } = step.await?;
        self.folder.remove(&files);
        done.calls += calls;
        done.values += values;
        done.snapshots += snapshots;
        Ok(calls + values + snapshots > 0)
    }
}

struct Step {
    calls: u64,
    values: u64,
    snapshots: u64,
    files: Vec<Cid>,
}

fn drop_step(connection: &Connection, last: i64) -> Result<Step, Refusal> {
    let calls = drop_rows(connection, "calls", last)?;
    let snapshots = drop_rows(connection, "snapshots", last)?;
    let mut delete = connection.prepare_cached(
        "DELETE FROM captured WHERE id IN (SELECT id FROM captured WHERE era <= ?1 LIMIT ?2)
         RETURNING cid, data IS NULL",
    )?;
    let mut values = 0;
    let mut files = Vec::new();
    let mut rows = delete.query(params![last, limits::DROP_ROWS])?;
    while let Some(row) = rows.next()? {
        values += 1;
        if row.get(1)? {
            files.push(row.get(0)?);
        }
    }
    drop(rows);
    if values > 0 {
        connection
            .prepare_cached(
                "INSERT INTO meta VALUES ('drops', '1')
                 ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1",
            )?
            .execute([])?;
    }
    Ok(Step { calls, values, snapshots, files })
}

/// How often values were dropped, by whichever process: what somebody knows to be kept may be gone then.
pub(crate) fn drops(connection: &Connection) -> rusqlite::Result<u64> {
    let found = connection
        .prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'drops'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn drop_rows(connection: &Connection, table: &'static str, last: i64) -> rusqlite::Result<u64> {
    let sql = format!(
        "DELETE FROM {table} WHERE id IN
           (SELECT id FROM {table} WHERE id < ?1 ORDER BY id LIMIT ?2)"
    );
    let end = first_after(connection, table, last)?;
    let gone = connection.prepare_cached(&sql)?.execute(params![end, limits::DROP_ROWS])?;
    Ok(u64::try_from(gone).unwrap_or_default())
}

/// The first row whose era is past `last`, by halving; past the end when there is none.
fn first_after(connection: &Connection, table: &'static str, last: i64) -> rusqlite::Result<i64> {
    let sql = format!("SELECT id, era FROM {table} WHERE id >= ?1 ORDER BY id LIMIT 1");
    let ends = format!("SELECT ifnull(min(id), 0), ifnull(max(id), -1) + 1 FROM {table}");
    let (mut low, mut high): (i64, i64) =
        connection.prepare_cached(&ends)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = connection
            .prepare_cached(&sql)?
            .query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((id, era)) if era <= last => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The era up to which everything goes now, if anything must.
fn last_era(connection: &Connection, too_old: i64, bytes: u64) -> rusqlite::Result<Option<i64>> {
    let oldest: Option<i64> = connection
        .prepare_cached(
            "SELECT min(era) FROM (SELECT min(era) AS era FROM captured UNION ALL
             SELECT era FROM (SELECT era FROM calls ORDER BY id LIMIT 1))",
        )?
        .query_row([], |row| row.get(0))?;
    let Some(oldest) = oldest else { return Ok(None) };
    if oldest <= too_old {
        return Ok(Some(too_old));
    }
    Ok((used(connection)? > bytes).then_some(oldest))
}

fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    let files: u64 = connection
        .prepare_cached("SELECT ifnull(sum(size), 0) FROM captured WHERE data IS NULL")?
        .query_row([], |row| row.get(0))?;
    Ok(pages * pragma("page_size")? + files)
}

fn stats(connection: &Connection) -> rusqlite::Result<CallStats> {
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, u64>(0));
    let time = |sql| connection.query_row(sql, [], |row| row.get::<_, Option<f64>>(0));
    Ok(CallStats {
        calls: count("SELECT count(*) FROM calls")?,
        values: count("SELECT count(*) FROM captured")?,
        value_bytes: count("SELECT ifnull(sum(size), 0) FROM captured")?,
        snapshots: count("SELECT count(*) FROM snapshots")?,
        repl_sessions: count("SELECT count(*) FROM repl_sessions")?,
        callpoints: count("SELECT count(*) FROM callpoints")?,
        functions: count("SELECT count(*) FROM functions")?,
        used_bytes: used(connection)?,
        oldest: time("SELECT min(completed_at) FROM calls")?,
        newest: time("SELECT max(completed_at) FROM calls")?,
    })
}
