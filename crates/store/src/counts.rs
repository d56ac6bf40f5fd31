//! How often functions were called: in all, and of late.

use rusqlite::params;

use crate::{error::StoreError, store::Store};

/// How often a function was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallCount {
    pub name: String,
    pub calls: u64,
    /// Of these, how many did not succeed.
    pub failed: u64,
    /// Since a while ago, in equal parts, the oldest first.
    pub recent: Vec<u64>,
}

impl Store {
    /// How often each function was called, and since `since` (seconds since 1970) in `parts` equal parts up to `until`;
    /// the names in their order, `limit` of them at the most.
    pub async fn call_counts(
        &self,
        (since, until): (f64, f64),
        parts: usize,
        limit: usize,
    ) -> Result<Vec<CallCount>, StoreError> {
        self.read("count calls by function", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT name, count(*), total(status <> 'success') FROM calls
                 WHERE kind <> 'event' GROUP BY name ORDER BY name LIMIT ?1",
            )?;
            let rows = select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                let failed: f64 = row.get(2)?;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a number of rows"
                )]
                let failed = failed as u64;
                let (name, calls) = (row.get(0)?, row.get(1)?);
                Ok(CallCount { name, calls, failed, recent: vec![0; parts] })
            })?;
            let mut counts: Vec<CallCount> = rows.collect::<Result<_, _>>()?;
            let mut select = connection.prepare_cached(
                "SELECT name, cast((completed_at - ?1) * ?3 / (?2 - ?1) AS INTEGER), count(*) FROM calls
                 WHERE completed_at BETWEEN ?1 AND ?2 AND kind <> 'event' GROUP BY 1, 2",
            )?;
            let given = params![since, until, i64::try_from(parts).unwrap_or(1)];
            let mut rows = select.query(given)?;
            while let Some(row) = rows.next()? {
                let (name, part, calls): (String, usize, u64) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let Ok(at) = counts.binary_search_by(|it| it.name.cmp(&name)) else { continue };
                let slot = counts.get_mut(at).and_then(|it| {
                    let last = it.recent.len().saturating_sub(1);
                    it.recent.get_mut(part.min(last))
                });
                if let Some(slot) = slot {
                    *slot += calls;
                }
            }
            Ok(counts)
        })
        .await
    }
}
