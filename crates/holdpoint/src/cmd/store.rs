//! `holdpoint store`: what is kept on disk, less of it, or all of it as JSON lines.
//!
//! Beside running servers: the file is shared, and what they record meanwhile is recorded.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Subcommand;
use holdpoint_engine::{
    callpoints::Retention,
    limits,
    memory::{Location, open_store},
    records::{RecordQuery, Records},
};
use serde_json::json;

use super::Command;
use crate::{config::Config, home, out, serve, view::call};

/// What is kept on disk: say how much, drop the oldest, export
#[derive(clap::Parser)]
pub(crate) struct Store {
    #[command(subcommand)]
    what: What,
}

impl Command for Store {
    const NAME: &'static str = "store";
    const TAKES: &'static [&'static str] = &["db"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        run(config.settings.db, self.what)
    }
}

#[derive(Subcommand)]
enum What {
    /// Say what is kept, and how much it takes
    Stats {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Drop the oldest recorded calls and the values only they used
    Prune {
        /// Keep calls of this many days
        #[arg(long, value_name = "DAYS")]
        days: Option<u64>,
        /// Keep this many megabytes
        #[arg(long, value_name = "MB")]
        megabytes: Option<u64>,
    },
    /// Print the recorded calls as JSON, one to a line, the newest first
    Export {
        /// Only calls of this function
        #[arg(long, value_name = "NAME")]
        function: Option<String>,
        /// How many at the most
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
}

fn run(db: Option<PathBuf>, what: What) -> anyhow::Result<ExitCode> {
    let path = db.or_else(|| Some(home::folder()?.join("holdpoint.db")));
    let path = path.context("there is no home folder; name the database with --db")?;
    anyhow::ensure!(
        path.is_file(),
        "nothing is kept at `{}`\nhint: a server makes it when a program is debugged or an app calls",
        path.display()
    );
    serve::runtime()?.block_on(work(&path, what))?;
    Ok(ExitCode::SUCCESS)
}

async fn work(path: &Path, what: What) -> anyhow::Result<()> {
    let store = open_store(Location::File(path.to_owned())).await?;
    match what {
        What::Stats { json } => {
            let stats = store.call_stats().await?;
            let file_bytes = store.stats().file_bytes.unwrap_or_default();
            if json {
                out::line(json!({
                    "file": path, "file_bytes": file_bytes, "used_bytes": stats.used_bytes,
                    "calls": stats.calls, "values": stats.values, "value_bytes": stats.value_bytes,
                    "snapshots": stats.snapshots, "repl_sessions": stats.repl_sessions,
                    "callpoints": stats.callpoints, "functions": stats.functions,
                    "oldest": stats.oldest, "newest": stats.newest,
                }));
                return Ok(());
            }
            let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
            out::line(format_args!("file        {} ({})", path.display(), megabytes(file_bytes)));
            out::line(format_args!("in use      {}", megabytes(stats.used_bytes)));
            out::line(format_args!("calls       {}", stats.calls));
            out::line(format_args!(
                "values      {} ({})",
                stats.values,
                megabytes(stats.value_bytes)
            ));
            out::line(format_args!("objects     {} moments", stats.snapshots));
            out::line(format_args!("callpoints  {}", stats.callpoints));
            out::line(format_args!("functions   {}", stats.functions));
            out::line(format_args!("REPL        {} sessions", stats.repl_sessions));
        }
        What::Prune { days, megabytes } => {
            let usual = Retention::default();
            let keep = Retention {
                age_s: days.map_or(usual.age_s, |days| days.saturating_mul(24 * 3600)),
                bytes: megabytes
                    .map_or(usual.bytes, |megabytes| megabytes.saturating_mul(1_000_000)),
            };
            let now = jiff::Timestamp::now().as_second() as f64;
            let done = store.prune(keep, now, &|_| {}).await?;
            out::line(format_args!(
                "{} calls, {} values, {} moments dropped",
                done.calls, done.values, done.snapshots
            ));
        }
        What::Export { function, limit } => {
            export(&Records::over(store), function, limit.unwrap_or(usize::MAX)).await?;
        }
    }
    Ok(())
}

async fn export(records: &Records, name: Option<String>, mut left: usize) -> anyhow::Result<()> {
    let mut before = None;
    while left > 0 {
        let limit = left.min(limits::RECORDS_PAGE_MAX);
        let wanted = RecordQuery { name: name.clone(), before, limit, ..RecordQuery::default() };
        let page = records.page(wanted).await?;
        for call in &page.calls {
            out::line(call::record(call));
        }
        left = left.saturating_sub(page.calls.len());
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    Ok(())
}
