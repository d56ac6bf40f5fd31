//! Breakpoints that outlive a session: where, when and how to stop, as it was asked for.
//!
//! What became of one (bound, moved) belongs to a session and is not here.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    error::{Refusal, StoreError},
    limits,
    store::Store,
    text::Time,
};

/// Never given twice in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BreakpointKey(pub i64);

/// Kind, file, line, column and function together identify one; the rest can change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptBreakpoint {
    /// The caller's word: line, function, exception, trace, …
    pub kind: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub function: Option<String>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub log_message: Option<String>,
    pub hit_count_multiple: u32,
    pub max_notifications: u32,
    pub enabled: bool,
    /// It disabled itself: all that it was to report is reported.
    pub spent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointRow {
    pub id: BreakpointKey,
    pub created_at: Timestamp,
    pub breakpoint: KeptBreakpoint,
}

impl Store {
    /// Adds it, or changes the one it is identical with and returns that one's id.
    pub async fn save_breakpoint(
        &self,
        breakpoint: KeptBreakpoint,
    ) -> Result<BreakpointKey, StoreError> {
        self.write("save breakpoint", move |connection| save(connection, &breakpoint)).await
    }

    /// Says whether there was one.
    pub async fn remove_breakpoint(&self, id: BreakpointKey) -> Result<bool, StoreError> {
        self.write("remove breakpoint", move |connection| {
            let mut delete = connection.prepare_cached("DELETE FROM breakpoints WHERE id = ?1")?;
            Ok(delete.execute([id.0])? > 0)
        })
        .await
    }

    /// Says whether there is one.
    pub async fn set_enabled(&self, id: BreakpointKey, enabled: bool) -> Result<bool, StoreError> {
        self.write("enable breakpoint", move |connection| {
            let mut update =
                connection.prepare_cached("UPDATE breakpoints SET enabled = ?2 WHERE id = ?1")?;
            Ok(update.execute(params![id.0, enabled])? > 0)
        })
        .await
    }

    /// Which exceptions stop, in the caller's words: there is one choice, whichever sessions there are.
    pub async fn save_exceptions(&self, choice: String) -> Result<(), StoreError> {
        self.write("save exceptions", move |connection| {
            let save = "INSERT OR REPLACE INTO meta VALUES ('exceptions', ?1)";
            connection.prepare_cached(save)?.execute([choice])?;
            Ok(())
        })
        .await
    }

    /// What [`Store::save_exceptions`] was last given.
    pub async fn exceptions(&self) -> Result<Option<String>, StoreError> {
        self.read("read exceptions", |connection| {
            let select = "SELECT value FROM meta WHERE key = 'exceptions'";
            let found = connection.prepare_cached(select)?.query_row([], |row| row.get(0));
            Ok(found.optional()?)
        })
        .await
    }

    /// All of them, oldest first; at most [`limits::BREAKPOINTS`] exist.
    pub async fn breakpoints(&self) -> Result<Vec<BreakpointRow>, StoreError> {
        self.read("list breakpoints", |connection| {
            let mut select = connection.prepare_cached("SELECT * FROM breakpoints ORDER BY id")?;
            let rows = select.query_map([], row)?.collect::<Result<_, _>>()?;
            Ok(rows)
        })
        .await
    }
}

fn save(connection: &Connection, it: &KeptBreakpoint) -> Result<BreakpointKey, Refusal> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO breakpoints (kind, file, line, \"column\", function,
                                  condition, hit_condition, log_message, hit_count_multiple,
                                  max_notifications, enabled, spent)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (kind, ifnull(file, ''), ifnull(line, 0), ifnull(\"column\", 0),
                      ifnull(function, ''))
         DO UPDATE SET condition = excluded.condition, hit_condition = excluded.hit_condition,
                       log_message = excluded.log_message,
                       hit_count_multiple = excluded.hit_count_multiple,
                       max_notifications = excluded.max_notifications,
                       enabled = excluded.enabled, spent = excluded.spent
         RETURNING id",
    )?;
    let values = params![
        it.kind,
        it.file,
        it.line,
        it.column,
        it.function,
        it.condition,
        it.hit_condition,
        it.log_message,
        it.hit_count_multiple,
        it.max_notifications,
        it.enabled,
        it.spent
    ];
    let id = upsert.query_row(values, |row| row.get(0))?;
    // Ids only grow, so below the bound there is nothing to count.
    if id > limits::BREAKPOINTS && count(connection)? > limits::BREAKPOINTS {
        return Err(Refusal::Full { what: "breakpoints", most: limits::BREAKPOINTS });
    }
    Ok(BreakpointKey(id))
}

fn count(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT count(*) FROM breakpoints")?.query_row([], |row| row.get(0))
}

fn row(row: &Row<'_>) -> rusqlite::Result<BreakpointRow> {
    let Time(created_at) = row.get("created_at")?;
    let breakpoint = KeptBreakpoint {
        kind: row.get("kind")?,
        file: row.get("file")?,
        line: row.get("line")?,
        column: row.get("column")?,
        function: row.get("function")?,
        condition: row.get("condition")?,
        hit_condition: row.get("hit_condition")?,
        log_message: row.get("log_message")?,
        hit_count_multiple: row.get("hit_count_multiple")?,
        max_notifications: row.get("max_notifications")?,
        enabled: row.get("enabled")?,
        spent: row.get("spent")?,
    };
    Ok(BreakpointRow { id: BreakpointKey(row.get("id")?), created_at, breakpoint })
}
