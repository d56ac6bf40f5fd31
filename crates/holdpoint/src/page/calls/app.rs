//! The apps whose calls there are, as they are called: by their page, by what they say of themselves, by their process.

use std::sync::Arc;

use holdpoint_engine::{callpoints::Callpoints, failure::Failure, records::AppRow};
use serde_json::Value;

use crate::app::App;

pub(in crate::page) struct AppsKnown {
    rows: Arc<Vec<(AppRow, u64)>>,
    pub(in crate::page) is_late: bool,
}

impl AppsKnown {
    pub(in crate::page) async fn of(app: &App, calls: &Callpoints) -> Result<AppsKnown, Failure> {
        calls.records.settle().await;
        let known = super::version(app, calls);
        let ask = calls.records.apps();
        let (rows, is_late) = app.desk.calls.apps.get(String::new(), known, ask).await?;
        Ok(AppsKnown { rows, is_late })
    }

    pub(in crate::page) fn all(&self) -> &[(AppRow, u64)] {
        &self.rows
    }

    /// `shop.py, pid 17417`, of a process by its key.
    pub(in crate::page) fn name(&self, process: &str) -> String {
        match self.rows.iter().find(|(row, _)| row.process == process) {
            Some((row, _)) => name(row),
            None => by_key(process),
        }
    }

    /// When it began, and when it was last heard of, in seconds.
    pub(super) fn life(&self, process: &str) -> (f64, f64) {
        let found = self.rows.iter().find(|(row, _)| row.process == process);
        found.map_or((0.0, 0.0), |(row, _)| (row.started_at, row.seen_at))
    }
}

pub(super) fn name(row: &AppRow) -> String {
    let about = row.about.as_deref().and_then(|it| serde_json::from_str::<Value>(it).ok());
    let word = |path: &str| {
        let told = about.as_ref().and_then(|it| it.pointer(path)).and_then(Value::as_str);
        let file = told.and_then(|it| it.rsplit('/').next());
        file.filter(|it| !it.is_empty()).map(str::to_owned)
    };
    match (&row.page_url, word("/name").or_else(|| word("/argv/0"))) {
        (Some(url), _) => format!("JS {url}"),
        (None, Some(name)) => format!("{name}, pid {}", row.pid),
        (None, None) => format!("pid {}", row.pid),
    }
}

/// `1700000000.250000+17417` says the process by itself.
fn by_key(process: &str) -> String {
    match process.split_once('+') {
        Some((_, pid)) => format!("pid {pid}"),
        None => process.to_owned(),
    }
}
