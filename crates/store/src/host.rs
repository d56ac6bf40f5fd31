//! The machine that a process number means something on. Whatever is known by a process is known by that machine
//! too, so that several may share one store.

use std::{fmt, sync::LazyLock};

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef},
};

/// A machine by its name; empty where nobody noted it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(String);

/// An app whose calls are recorded: its process, and where that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AppKey {
    pub host: Host,
    pub process: String,
}

static HERE: LazyLock<Host> = LazyLock::new(|| {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    Host(named.trim().to_owned())
});

impl Host {
    /// This machine.
    pub fn here() -> Host {
        HERE.clone()
    }

    pub fn named(name: &str) -> Host {
        Host(name.to_owned())
    }
}

impl AppKey {
    /// An app on this machine.
    pub fn here(process: &str) -> AppKey {
        AppKey { host: Host::here(), process: process.to_owned() }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ToSql for Host {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Host {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Host)
    }
}
