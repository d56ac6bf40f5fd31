//! The schema and its history: the tables are what the steps make, and nothing else makes tables.
//!
//! `user_version` counts the steps a file has taken. A step that was ever released is never
//! edited; a change is a new step at the end of [`MIGRATIONS`] and a fixture of the version before
//! in `tests/store/fixtures`.

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours: `Hold` in ASCII. `file` and SQLite tools show it.
pub(crate) const APPLICATION_ID: i64 = 0x486f_6c64;

/// Each in a transaction of its own; step `n` (from 0) makes version `n + 1`.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("schema/001_breakpoints_and_launches.sql"),
    include_str!("schema/002_timeline.sql"),
    include_str!("schema/003_tracepoints.sql"),
    include_str!("schema/004_calls.sql"),
    include_str!("schema/005_what_was_left.sql"),
    include_str!("schema/006_hosts.sql"),
    include_str!("schema/007_hosts_of_calls.sql"),
];

/// Tables small enough to be checked for damage at each opening.
pub(crate) const SMALL_TABLES: &[&str] =
    &["meta", "breakpoints", "launches", "runs", "callpoints", "functions"];

/// The version that `steps` end at.
pub(crate) fn version_of(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Takes the steps that the file has not taken. Several processes may do this at once: the version
/// is read again under the lock of each step. A version past the last step is left as it is.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    loop {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let from = version(&step)?;
        let Some(sql) = usize::try_from(from).ok().and_then(|from| steps.get(from)) else {
            return Ok(());
        };
        if from == 0 {
            step.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        step.execute_batch(sql)?;
        step.pragma_update(None, "user_version", from + 1)?;
        step.commit()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut names = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .unwrap();
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn steps_are_taken_once_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a RENAME TO b"];
        migrate(&mut connection, &steps[..1]).unwrap();
        connection.execute("INSERT INTO a VALUES (7)", []).unwrap();
        migrate(&mut connection, &steps).unwrap();
        migrate(&mut connection, &steps).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
        let kept: i64 = connection.query_row("SELECT x FROM b", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 7);
    }

    #[test]
    fn a_step_that_fails_in_the_middle_leaves_the_version_before() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"];
        migrate(&mut connection, &steps).unwrap_err();
        assert_eq!((version(&connection).unwrap(), tables(&connection)), (1, vec!["a".to_owned()]));
    }

    #[test]
    fn every_small_table_exists_and_can_be_checked() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let made = tables(&connection);
        assert!(SMALL_TABLES.iter().all(|name| made.contains(&(*name).to_owned())), "{made:?}");
    }
}
