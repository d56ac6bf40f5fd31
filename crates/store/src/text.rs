//! How times and JSON stand in a column: as text that a person with an SQLite tool can read.

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use serde_json::Value;

/// A time as the schema's `strftime` writes it: UTC, milliseconds, of one length, so text order is
/// time order.
pub(crate) struct Time(pub(crate) Timestamp);

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map(Time).map_err(FromSqlError::other)
    }
}

pub(crate) struct Json(pub(crate) Value);

impl FromSql for Json {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}
