//! Captured values by CID: small ones in the database, large ones in files beside it.
//!
//! A value is written once. `era` says when it was last used, so that dropping old eras never takes
//! a value away from a newer call.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use crate::{
    batch::Batch,
    cid::Cid,
    error::{Refusal, StoreError},
    limits, rows,
    store::Store,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewValue {
    pub cid: Cid,
    /// The caller's word: `dill`, `json`, `stack`.
    pub format: &'static str,
    /// How it is shown, as JSON text; none when the data itself is.
    pub pretty: Option<String>,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueRow {
    pub cid: Cid,
    pub format: String,
    pub size: u64,
    pub pretty: Option<String>,
    /// None when it was not asked for, or its file is gone.
    pub data: Option<Vec<u8>>,
}

/// Where large values lie; none when everything is in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folder(Option<PathBuf>);

impl Store {
    /// Those of `cids` that are kept, with how they are shown; the data only of those whose data is
    /// what is shown.
    pub async fn values(&self, cids: Vec<Cid>) -> Result<HashMap<Cid, ValueRow>, StoreError> {
        let folder = self.folder.clone();
        self.read("look up values", move |connection| {
            let mut found = HashMap::with_capacity(cids.len());
            for cid in cids {
                if found.contains_key(&cid) {
                    continue;
                }
                if let Some(mut value) = find(connection, cid)? {
                    let large = value.size > limits::SHOWN_BYTES && value.format != "stack";
                    let shown = value.pretty.is_some() || large;
                    value.data = if shown { None } else { value.data.or(folder.read(cid)) };
                    found.insert(cid, value);
                }
            }
            Ok(found)
        })
        .await
    }

    /// One value with its data.
    pub async fn value(&self, cid: Cid) -> Result<Option<ValueRow>, StoreError> {
        let folder = self.folder.clone();
        self.read("read a value", move |connection| {
            let mut found = find(connection, cid)?;
            if let Some(value) = &mut found
                && value.data.is_none()
            {
                value.data = folder.read(cid);
            }
            Ok(found)
        })
        .await
    }

    /// The CIDs of values that begin with at least eight such digits; `limit` of them at the most.
    pub async fn cids(&self, digits: String, limit: usize) -> Result<Vec<Cid>, StoreError> {
        let Some((first, last)) = Cid::beginning(&digits) else { return Ok(Vec::new()) };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("look up a CID", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT DISTINCT cid FROM captured
                 WHERE head BETWEEN ?1 AND ?2 AND cid BETWEEN ?3 AND ?4 AND format <> 'stack'
                 LIMIT ?5",
            )?;
            let given = params![first.head(), last.head(), first, last, limit];
            let rows = select.query_map(given, |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The newest values, for a page that lists them.
    pub async fn newest_values(&self, limit: usize) -> Result<Vec<ValueRow>, StoreError> {
        self.read("list values", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT cid, format, size, pretty, NULL AS data FROM captured
                 WHERE format <> 'stack' ORDER BY id DESC LIMIT ?1",
            )?;
            let rows = select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn find(connection: &Connection, cid: Cid) -> rusqlite::Result<Option<ValueRow>> {
    connection
        .prepare_cached(
            "SELECT cid, format, size, pretty, data FROM captured WHERE head = ?1 AND cid = ?2",
        )?
        .query_row(params![cid.head(), cid], row)
        .optional()
}

fn row(row: &Row<'_>) -> rusqlite::Result<ValueRow> {
    Ok(ValueRow {
        cid: row.get("cid")?,
        format: row.get("format")?,
        size: row.get("size")?,
        pretty: row.get("pretty")?,
        data: row.get("data")?,
    })
}

/// Writes values, or only notes that they were used again; then those that are only used.
pub(crate) fn insert(
    connection: &Connection,
    folder: &Folder,
    batch: &Batch,
) -> Result<(), Refusal> {
    let era = batch.era;
    let mut find =
        connection.prepare_cached("SELECT id, era FROM captured WHERE head = ?1 AND cid = ?2")?;
    let mut update = connection.prepare_cached("UPDATE captured SET era = ?2 WHERE id = ?1")?;
    // Says whether it is there. Looked for first: most are new, and an update that finds nothing costs
    // twice as much.
    let mut touch = |cid: Cid| -> rusqlite::Result<bool> {
        let found = find.query_row(params![cid.head(), cid], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((id, before)): Option<(i64, i64)> = found.optional()? else { return Ok(false) };
        if before < era {
            update.execute(params![id, era])?;
        }
        Ok(true)
    };
    let mut new = Vec::new();
    let mut here = HashSet::new();
    for value in batch.values() {
        // Once in a batch: what is not written yet cannot be found.
        if touch(value.cid)? || !here.insert(value.cid) {
            continue;
        }
        let size = u64::try_from(value.data.len()).unwrap_or(u64::MAX);
        let aside = value.data.len() > limits::INLINE_BYTES && folder.write(value.cid, value.data);
        let data = if aside { None } else { Some(value.data) };
        new.push((value.cid.head(), value, size, data));
    }
    let into = "captured (head, cid, era, format, size, pretty, data)";
    rows::insert(connection, into, &new, |(head, value, size, data), to| {
        to.extend::<[&dyn ToSql; 7]>([
            head,
            &value.cid,
            &batch.era,
            &value.format,
            size,
            &value.pretty,
            data,
        ]);
    })?;
    for cid in &batch.used {
        touch(*cid)?;
    }
    Ok(())
}

impl Folder {
    pub(crate) fn beside(database: &Path) -> Folder {
        let mut name = database.as_os_str().to_owned();
        name.push(".values");
        Folder(Some(name.into()))
    }

    fn path(&self, cid: Cid) -> Option<PathBuf> {
        let name = cid.to_string();
        let shelf = name.get(..2)?;
        Some(self.0.as_ref()?.join(shelf).join(&name))
    }

    fn read(&self, cid: Cid) -> Option<Vec<u8>> {
        fs::read(self.path(cid)?).ok()
    }

    /// Says whether it lies there now. One that cannot be written goes into the database, which
    /// refuses what is too large.
    fn write(&self, cid: Cid, data: &[u8]) -> bool {
        let Some(path) = self.path(cid) else { return false };
        match put(&path, data) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a value could not be put aside");
                false
            }
        }
    }

    pub(crate) fn remove(&self, cids: &[Cid]) {
        for path in cids.iter().filter_map(|cid| self.path(*cid)) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::debug!(%error, path = %path.display(), "a value's file stays");
            }
        }
    }
}

/// Whole or not at all: another reader never sees half a value.
fn put(path: &Path, data: &[u8]) -> io::Result<()> {
    let mut folders = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    if let Some(folder) = path.parent() {
        folders.recursive(true).create(folder)?;
    }
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let mut file = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file.write(true).create(true).truncate(true).open(&part)?.write_all(data)?;
    fs::rename(&part, path)
}
