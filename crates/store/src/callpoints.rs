//! Callpoints and functions: what was asked for about functions, and what apps said of theirs.

use rusqlite::{Connection, ToSql, params};

use crate::{
    calls::like,
    error::{Refusal, StoreError},
    store::Store,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallpointRow {
    pub name: String,
    pub before: String,
    pub after: String,
    pub replacement: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRow {
    pub name: String,
    /// Whether it is a function, and not only something that metadata was given for.
    pub listed: bool,
    /// As JSON text, because a signature may be a text or a number.
    pub signature: Option<String>,
    pub metadata: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReplRow {
    pub session_id: String,
    pub started_at: f64,
    pub closed_at: Option<f64>,
    pub function_name: String,
    /// The whole session with its transcript, as JSON text.
    pub body: String,
}

/// Which sessions; everything that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct ReplQuery {
    pub search: Option<String>,
    pub closed: Option<bool>,
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub limit: usize,
}

/// A change of what is asked for about functions, in the order of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallpointChange {
    Callpoint(CallpointRow),
    Removed(String),
    Function(FunctionRow),
    DefaultBehavior(String),
}

impl CallpointChange {
    /// Bytes of its texts.
    pub fn bytes(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            CallpointChange::Callpoint(it) => {
                it.name.len() + it.before.len() + it.after.len() + of(&it.replacement)
            }
            CallpointChange::Removed(text) | CallpointChange::DefaultBehavior(text) => text.len(),
            CallpointChange::Function(it) => it.name.len() + of(&it.signature) + of(&it.metadata),
        }
    }
}

/// What an earlier server left about functions.
#[derive(Debug, Default)]
pub struct Kept {
    pub callpoints: Vec<CallpointRow>,
    pub functions: Vec<FunctionRow>,
    pub default_behavior: Option<String>,
}

impl Store {
    /// Everything about functions, for a server that starts.
    pub async fn kept_callpoints(&self) -> Result<Kept, StoreError> {
        self.read("read callpoints", kept).await
    }

    pub async fn save_repl(&self, row: ReplRow) -> Result<(), StoreError> {
        self.write("save REPL session", move |connection| {
            let mut save = connection.prepare_cached(
                "INSERT OR REPLACE INTO repl_sessions VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let ReplRow { session_id, started_at, closed_at, function_name, body } = row;
            save.execute(params![session_id, started_at, closed_at, function_name, body])?;
            Ok(())
        })
        .await
    }

    pub async fn repl(&self, session_id: String) -> Result<Option<ReplRow>, StoreError> {
        self.read("read REPL session", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT * FROM repl_sessions WHERE session_id = ?1")?;
            let mut rows = select.query_map([session_id], repl)?;
            Ok(rows.next().transpose()?)
        })
        .await
    }

    /// Newest first.
    pub async fn repls(&self, query: ReplQuery) -> Result<Vec<ReplRow>, StoreError> {
        self.read("list REPL sessions", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT * FROM repl_sessions
                 WHERE (?1 IS NULL OR body LIKE ?1 ESCAPE '\\') AND (?2 IS NULL OR started_at >= ?2)
                   AND (?3 IS NULL OR started_at <= ?3)
                   AND (?4 IS NULL OR (closed_at IS NOT NULL) = ?4)
                 ORDER BY started_at DESC LIMIT ?5",
            )?;
            let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
            let search = query.search.as_deref().map(like);
            let values = params![search, query.from, query.to, query.closed, limit];
            let rows = select.query_map(values, repl)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }
}

pub(crate) fn apply(connection: &Connection, change: &CallpointChange) -> rusqlite::Result<()> {
    let run = |sql, values: &[&dyn ToSql]| connection.prepare_cached(sql)?.execute(values);
    match change {
        CallpointChange::Callpoint(it) => run(
            "INSERT OR REPLACE INTO callpoints VALUES (?1, ?2, ?3, ?4)",
            params![it.name, it.before, it.after, it.replacement],
        ),
        CallpointChange::Removed(name) => {
            run("DELETE FROM callpoints WHERE name = ?1", params![name])
        }
        CallpointChange::Function(it) => run(
            "INSERT OR REPLACE INTO functions VALUES (?1, ?2, ?3, ?4)",
            params![it.name, it.listed, it.signature, it.metadata],
        ),
        CallpointChange::DefaultBehavior(word) => {
            run("INSERT OR REPLACE INTO meta VALUES ('default_behavior', ?1)", params![word])
        }
    }
    .map(drop)
}

fn kept(connection: &Connection) -> Result<Kept, Refusal> {
    let mut points = connection.prepare_cached("SELECT * FROM callpoints ORDER BY name")?;
    let callpoints = points.query_map([], |row| {
        Ok(CallpointRow {
            name: row.get("name")?,
            before: row.get("before")?,
            after: row.get("after")?,
            replacement: row.get("replacement")?,
        })
    })?;
    let mut functions = connection.prepare_cached("SELECT * FROM functions ORDER BY name")?;
    let functions = functions.query_map([], |row| {
        Ok(FunctionRow {
            name: row.get("name")?,
            listed: row.get("listed")?,
            signature: row.get("signature")?,
            metadata: row.get("metadata")?,
        })
    })?;
    let mut default =
        connection.prepare_cached("SELECT value FROM meta WHERE key = 'default_behavior'")?;
    let mut default = default.query_map([], |row| row.get(0))?;
    Ok(Kept {
        callpoints: callpoints.collect::<Result<_, _>>()?,
        functions: functions.collect::<Result<_, _>>()?,
        default_behavior: default.next().transpose()?,
    })
}

fn repl(row: &rusqlite::Row<'_>) -> rusqlite::Result<ReplRow> {
    Ok(ReplRow {
        session_id: row.get("session_id")?,
        started_at: row.get("started_at")?,
        closed_at: row.get("closed_at")?,
        function_name: row.get("function_name")?,
        body: row.get("body")?,
    })
}
