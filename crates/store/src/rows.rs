//! Rows that are written many at a time.

use rusqlite::{Connection, ToSql, params_from_iter};

use crate::limits;

/// Writes rows by as few statements as may be: each one costs its beginning and its end, and into a
/// table with AUTOINCREMENT another row. `values` gives the columns of a row, in the order of `into`.
///
/// A row that is refused leaves the ones before it to be taken back by the whole write: to take
/// them back by itself, a statement of several rows would copy every page that it changes.
pub(crate) fn insert<'r, T>(
    connection: &Connection,
    into: &str,
    rows: &'r [T],
    values: impl Fn(&'r T, &mut Vec<&'r dyn ToSql>),
) -> rusqlite::Result<()> {
    let columns = into.split(',').count();
    let row = format!("({})", vec!["?"; columns].join(", "));
    let statement =
        |rows: usize| format!("INSERT OR FAIL INTO {into} VALUES {}", vec![&*row; rows].join(", "));
    let mut bound = Vec::with_capacity(columns * limits::ROWS);
    let mut chunks = rows.chunks_exact(limits::ROWS);
    if rows.len() >= limits::ROWS {
        let mut many = connection.prepare_cached(&statement(limits::ROWS))?;
        for chunk in &mut chunks {
            bound.clear();
            chunk.iter().for_each(|row| values(row, &mut bound));
            many.execute(params_from_iter(&bound))?;
        }
    }
    let rest = chunks.remainder();
    if rest.is_empty() {
        return Ok(());
    }
    let mut one = connection.prepare_cached(&statement(1))?;
    for row in rest {
        bound.clear();
        values(row, &mut bound);
        one.execute(params_from_iter(&bound))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there_once_and_in_order() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)")
            .unwrap();
        let lengths = [0, 1, limits::ROWS - 1, limits::ROWS, limits::ROWS * 2 + 3];
        let mut expected = Vec::new();
        for length in lengths {
            let rows: Vec<(i64, String)> =
                (0..length).map(|n| (i64::try_from(n).unwrap(), format!("{length}"))).collect();
            insert(&connection, "t (a, b)", &rows, |row, to| {
                to.extend([&row.0 as &dyn ToSql, &row.1])
            })
            .unwrap();
            expected.extend(rows);
        }
        let mut select = connection.prepare("SELECT a, b FROM t ORDER BY id").unwrap();
        let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(found.collect::<Result<Vec<(i64, String)>, _>>().unwrap(), expected);
    }
}
