//! Opening the file: whose it is, whether it is sound, and the settings of a connection.
//!
//! Nothing here opens a database by `std::fs` once it exists: closing such a handle would drop the
//! locks of every SQLite connection this process has to it
//! (<https://www.sqlite.org/howtocorrupt.html>, 2.2).

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, limits::Limit};

use crate::{
    error::StoreError,
    limits,
    schema::{self, APPLICATION_ID, MIGRATIONS, SMALL_TABLES},
};

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// This file, made with its folders if there is none, for this user alone.
    File(PathBuf),
    /// Nowhere: it ends with the [`Store`](crate::Store).
    Memory,
}

impl From<PathBuf> for Location {
    /// `:memory:` means what it means to every SQLite tool.
    fn from(path: PathBuf) -> Location {
        if path == Path::new(":memory:") { Location::Memory } else { Location::File(path) }
    }
}

pub(crate) fn memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    settle(&connection)?;
    // There is no folder beside it: large values are rows like the others.
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, limits::MEMORY_ROW_BYTES)?;
    schema::migrate(&mut connection, MIGRATIONS)?;
    Ok(connection)
}

/// The connection that writes. `path` is absolute. Refuses before the first byte is written.
pub(crate) fn writer(path: &Path) -> Result<Connection, StoreError> {
    create(path).map_err(|error| StoreError::open(path, &error))?;
    probe(path)?;
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| sort(path, &error))?;
    prepare(&mut connection, path)?;
    Ok(connection)
}

/// A connection that reads beside the writer.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    settle(&connection)?;
    Ok(connection)
}

/// Makes the file empty if there is none, before SQLite would make it readable for everybody. The
/// `-wal` and `-shm` files take its mode.
fn create(path: &Path) -> io::Result<()> {
    let mut folders = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    }
    if let Some(folder) = path.parent() {
        folders.recursive(true).create(folder)?;
    }
    match file.write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Looks at the header without locks, without recovery, without files beside the file: an ordinary
/// connection would already repair a stranger's database. Our mark is in the file itself from the
/// first commit on, because a new file turns to WAL only after it.
fn probe(path: &Path) -> Result<(), StoreError> {
    let size = path.metadata().map_err(|error| StoreError::open(path, &error))?.len();
    if size == 0 {
        return Ok(());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let looked = Connection::open_with_flags(immutable(path), flags)
        .and_then(|connection| Ok((identity(&connection)?, schema::version(&connection)?)));
    match looked {
        // SQLite takes a file of one byte for an empty one and would write over it.
        Ok((None, _)) => Err(StoreError::Foreign { path: path.into(), found: "not SQLite".into() }),
        Ok((identity, version)) => judge(path, identity, version),
        // A checkpoint that is under way, or was killed, looks like damage from here: the ordinary
        // connection, which sees the log too, decides.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
        Err(error) => Err(sort(path, &error)),
    }
}

fn immutable(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    let path = path.as_os_str().as_encoded_bytes();
    if path.first() != Some(&b'/') {
        uri.push('/');
    }
    for &byte in path {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b':' => uri.push(char::from(byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            // Writing to a string cannot fail.
            byte => write!(uri, "%{byte:02x}").unwrap_or_default(),
        }
    }
    uri + "?immutable=1"
}

/// The file's mark, or none if nothing was ever written.
fn identity(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let mark = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((pages > 0).then_some(mark))
}

fn judge(path: &Path, identity: Option<i64>, version: i64) -> Result<(), StoreError> {
    let known = schema::version_of(MIGRATIONS);
    let path = path.to_owned();
    match identity {
        Some(mark) if mark != APPLICATION_ID => {
            let found = format!("another application's SQLite file (application_id {mark:#010x})");
            Err(StoreError::Foreign { path, found })
        }
        Some(_) if version > known => Err(StoreError::Newer { path, found: version, known }),
        Some(_) | None => Ok(()),
    }
}

/// Judges the file again, now with its log, and only then writes.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let sort = |error: rusqlite::Error| sort(path, &error);
    settle(connection).map_err(sort)?;
    // If we refuse the file, closing it must not move its log into it.
    hold_checkpoint(connection, true).map_err(sort)?;
    let identity = identity(connection).map_err(sort)?;
    judge(path, identity, schema::version(connection).map_err(sort)?)?;
    if identity.is_some() {
        check(connection, path)?;
    }
    hold_checkpoint(connection, false).map_err(sort)?;
    // A file that is there already keeps its own.
    connection.pragma_update(None, "page_size", limits::PAGE_BYTES).map_err(sort)?;
    schema::migrate(connection, MIGRATIONS).map_err(sort)?;
    turn_to_wal(connection, path)?;
    // A kill of the process loses nothing that was committed; a power cut may lose what came after
    // the last flush, and never the file.
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(sort)?;
    // Less than nothing: kilobytes, not pages.
    connection.pragma_update(None, "cache_size", -limits::WRITER_CACHE_KB).map_err(sort)?;
    connection
        .pragma_update_and_check(None, "wal_autocheckpoint", limits::WAL_PAGES, |_| Ok(()))
        .map_err(sort)?;
    connection
        .pragma_update_and_check(None, "journal_size_limit", limits::WAL_BYTES, |_| Ok(()))
        .map_err(sort)
}

/// What every connection has.
fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(limits::BUSY_WAIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, limits::ROW_BYTES)?;
    connection.set_prepared_statement_cache_capacity(limits::STATEMENTS);
    Ok(())
}

fn hold_checkpoint(connection: &Connection, hold: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, hold)?;
    Ok(())
}

/// Damage in the small tables is found here, at any age of the file; damage in a large one by the
/// call that reads it.
fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    for table in SMALL_TABLES {
        // An older file may not have it yet.
        let exists = connection.table_exists(None, *table).map_err(|error| sort(path, &error))?;
        if !exists {
            continue;
        }
        let verdict: String = connection
            .query_row(&format!("PRAGMA quick_check({table})"), [], |row| row.get(0))
            .map_err(|error| sort(path, &error))?;
        if verdict != "ok" {
            // The first line says which database, and there is one.
            let detail = verdict.lines().last().unwrap_or_default().to_owned();
            return Err(StoreError::Damaged { path: path.to_owned(), detail });
        }
    }
    Ok(())
}

/// SQLite answers "busy" at once here, without waiting, if another process has the file open in
/// its first moments. Taking the write lock is the wait.
fn turn_to_wal(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    for _ in 0..limits::WAL_ATTEMPTS {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)) {
            Ok::<String, _>(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let detail = format!("journal mode `{mode}` is all that works there");
                return Err(StoreError::Open { path: path.to_owned(), detail });
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => connection
                .execute_batch("BEGIN IMMEDIATE; COMMIT")
                .map_err(|error| sort(path, &error))?,
            Err(error) => return Err(sort(path, &error)),
        }
    }
    Err(StoreError::Open { path: path.to_owned(), detail: "another process keeps it busy".into() })
}

/// Whose fault an error of opening is.
fn sort(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, found: "not SQLite".into() },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, detail },
        _ => StoreError::Open { path, detail },
    }
}
