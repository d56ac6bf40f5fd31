//! Files: made private, read by other tools, brought up to date, refused without a scratch.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use holdpoint_store::{AppKey, BreakpointKey, CallQuery, Host, KeptBreakpoint, StoreError, limits};
use rusqlite::{Connection, config::DbConfig};
use serde_json::json;

use crate::{at, open, try_open};

#[tokio::test]
async fn a_new_file_is_made_with_its_folders_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a %20?#").join("b").join("hold point.db");
    let store = open(&path);
    store.save_breakpoint(at("app.py", 1)).await.unwrap();
    assert_eq!(store.path(), Some(&*path));
    assert!(store.stats().file_bytes.unwrap() > 4096);
    #[cfg(unix)]
    for name in ["hold point.db", "hold point.db-wal", "hold point.db-shm", "."] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.with_file_name(name)).unwrap().permissions().mode();
        let wanted = if name == "." { 0o700 } else { 0o600 };
        assert_eq!(mode & 0o777, wanted, "{name}");
    }
    drop(store);
    assert_eq!(open(&path).breakpoints().await.unwrap().len(), 1);
    let left = folder_files(path.parent().unwrap());
    assert_eq!(left.keys().collect::<Vec<_>>(), ["hold point.db"], "closing puts the log away");
}

#[tokio::test]
async fn a_file_of_version_1_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_1.sql")).unwrap();
    let store = open(&path);
    let rows = store.breakpoints().await.unwrap();
    let line = KeptBreakpoint {
        condition: Some("x > 1".into()),
        hit_condition: Some(">= 2".into()),
        enabled: false,
        ..at("app.py", 41)
    };
    assert_eq!((rows[0].id, &rows[0].breakpoint), (BreakpointKey(3), &line));
    assert_eq!(rows[0].created_at.to_string(), "2026-11-15T21:00:01.25Z");
    assert_eq!(rows[1].breakpoint.log_message.as_deref(), Some("hello {name}"));
    let open = store.left_open().await.unwrap();
    assert_eq!(open[0].launch.spec, json!({ "program": "app.py" }));
    assert_eq!(store.save_breakpoint(at("app.py", 42)).await.unwrap(), BreakpointKey(10));
}

/// Its breakpoints have no bounds on what they report.
#[tokio::test]
async fn a_file_of_version_2_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_2.sql")).unwrap();
    let store = open(&path);
    let rows = store.breakpoints().await.unwrap();
    let bounds = |row: &holdpoint_store::BreakpointRow| {
        (row.breakpoint.hit_count_multiple, row.breakpoint.max_notifications)
    };
    assert_eq!(rows.iter().map(bounds).collect::<Vec<_>>(), [(0, 0), (0, 0)]);
    let bounded =
        KeptBreakpoint { hit_count_multiple: 7, max_notifications: 9, ..at("app.py", 41) };
    assert_eq!(store.save_breakpoint(bounded.clone()).await.unwrap(), BreakpointKey(3));
    assert_eq!(store.breakpoints().await.unwrap()[0].breakpoint, bounded);
}

/// It knows nothing of calls.
#[tokio::test]
async fn a_file_of_version_3_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_3.sql")).unwrap();
    let store = open(&path);
    assert_eq!(store.breakpoints().await.unwrap()[0].breakpoint.max_notifications, 9);
    assert_eq!(store.call_stats().await.unwrap().calls, 0);
    assert!(store.kept_callpoints().await.unwrap().callpoints.is_empty());
}

/// It knows no tracepoint that disabled itself, and no choice of exceptions.
#[tokio::test]
async fn a_file_of_version_4_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_4.sql")).unwrap();
    let store = open(&path);
    let rows = store.breakpoints().await.unwrap();
    assert_eq!(rows.iter().map(|row| row.breakpoint.spent).collect::<Vec<_>>(), [false, false]);
    assert_eq!(store.exceptions().await.unwrap(), None);
    let kept = store.kept_callpoints().await.unwrap();
    assert_eq!((kept.callpoints.len(), kept.default_behavior.as_deref()), (1, Some("go")));
    let spent = KeptBreakpoint { enabled: false, spent: true, ..at("app.py", 41) };
    assert_eq!(store.save_breakpoint(spent.clone()).await.unwrap(), BreakpointKey(3));
    assert_eq!(store.breakpoints().await.unwrap()[0].breakpoint, spent);
}

/// It names no machine.
#[tokio::test]
async fn a_file_of_version_5_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_5.sql")).unwrap();
    let store = open(&path);
    let apps = store.apps(9).await.unwrap();
    let named: Vec<_> = apps.iter().map(|(app, _)| (&app.host, app.process.as_str())).collect();
    assert_eq!(named, [(&Host::default(), "1794765102.342905+77")]);
    assert_eq!(store.runs(None, 9).await.unwrap()[0].run.host, Host::default());
    assert_eq!(store.last_launch().await.unwrap().unwrap().launch.host, Host::default());
    assert!(store.breakpoints().await.unwrap()[0].breakpoint.spent);
}

/// Its calls and live objects name no machine: they are found on whichever the file lies.
#[tokio::test]
async fn a_file_of_version_6_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    Connection::open(&path).unwrap().execute_batch(include_str!("fixtures/version_6.sql")).unwrap();
    let store = open(&path);
    let app = AppKey { host: Host::named("ann"), process: "1794765102.342905+77".into() };
    let (calls, total) = store.calls_of(app.clone(), None, 9).await.unwrap();
    assert_eq!((calls.len(), total, calls[0].name.as_str()), (1, 1, "f"));
    assert_eq!(store.snapshots(app.clone(), "7".into(), 9).await.unwrap().len(), 1);
    let query = CallQuery { app: Some(app), limit: 9, ..CallQuery::default() };
    assert_eq!(store.calls(query).await.unwrap().total, 1);
}

#[tokio::test]
async fn any_sqlite_tool_reads_it_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = open(&path);
    store.save_breakpoint(at("app.py", 41)).await.unwrap();
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                  print(c.execute('SELECT file, line FROM breakpoints').fetchall(), \
                  c.execute('PRAGMA user_version').fetchone(), \
                  c.execute('PRAGMA integrity_check').fetchone())";
    let output = Command::new("python3").args(["-c", script]).arg(&path).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.trim(), "[('app.py', 41)] (7,) ('ok',)", "{:?}", output.stderr);
}

/// `make` leaves a database at the path it is given; it must be refused with `text` and every
/// file of the folder must stay as it was.
#[track_caller]
fn refused(text: &str, make: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    make(&path);
    let before = folder_files(folder.path());
    let error = try_open(&path).err().unwrap();
    let after = folder_files(folder.path());
    assert_eq!(error.to_string().replace(&*path.to_string_lossy(), "DB"), text);
    assert!(error.hint().is_some());
    for (name, bytes) in &before {
        // The index of the log is no data: SQLite makes it anew from the log.
        assert!(name.ends_with("-shm") || after.get(name) == Some(bytes), "`{name}` was changed");
    }
    if matches!(error, StoreError::Foreign { .. }) {
        assert!(before == after, "files were left beside a stranger's: {:?}", after.keys());
    }
}

fn folder_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// Ours, closed, with enough rows for several pages.
fn ours(path: &Path) {
    drop(open(path));
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO breakpoints (kind, file, line) SELECT 'line', 'app.py', i FROM n",
        )
        .unwrap();
}

/// Runs `sql` and leaves its effect in the log, as a killed process would.
fn in_log_only(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn what_is_not_sqlite_is_refused() {
    let text = "`DB` is not a Holdpoint database: not SQLite";
    refused(text, |path| fs::write(path, "my notes\n".repeat(1000)).unwrap());
    refused(text, |path| fs::write(path, "x").unwrap());
    let header = [b"SQLite format 3\0".as_slice(), &[7; 9000]].concat();
    refused(text, |path| fs::write(path, header).unwrap());
}

#[test]
fn another_applications_database_is_refused() {
    let text = "`DB` is not a Holdpoint database: another application's SQLite file (application_id 0x00000000)";
    refused(text, |path| {
        Connection::open(path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap()
    });
    refused(text, |path| {
        in_log_only(path, "CREATE TABLE t (x)");
        in_log_only(path, "INSERT INTO t VALUES (1)");
    });
}

#[test]
fn a_newer_schema_is_refused() {
    let text = "`DB` has schema version 8; this Holdpoint knows up to 7";
    refused(text, |path| {
        ours(path);
        Connection::open(path).unwrap().pragma_update(None, "user_version", 8).unwrap();
    });
    refused(text, |path| {
        ours(path);
        in_log_only(path, "PRAGMA user_version = 8");
    });
}

#[test]
fn a_damaged_file_is_refused() {
    refused("`DB` is damaged: database disk image is malformed", |path| {
        ours(path);
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    });
    refused("`DB` is damaged: Tree 2 page 2: btreeInitPage() returns error code 11", |path| {
        ours(path);
        let mut bytes = fs::read(path).unwrap();
        let page = usize::try_from(limits::PAGE_BYTES).unwrap();
        bytes[page..2 * page].fill(42);
        fs::write(path, bytes).unwrap();
    });
}

#[test]
fn a_folder_in_the_way_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let error = try_open(folder.path()).err().unwrap();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = try_open(&file.join("db")).err().unwrap();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    drop(open(&file));
}
