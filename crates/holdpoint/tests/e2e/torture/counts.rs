//! What a run of walks has seen, and what went wrong in it.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// In which way the product, or the walk itself, was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A call that was not answered in its time.
    Hang,
    /// A process that outlived what it belonged to.
    Orphan,
    /// An answer that the program's own log, or `/proc`, contradicts.
    Lie,
    /// The server ended, or counted a panic.
    Crash,
    /// An acknowledged record that is not in the store.
    Lost,
    /// The walk could not go on.
    Walk,
}

const WRONGS: [Wrong; 6] =
    [Wrong::Hang, Wrong::Orphan, Wrong::Lie, Wrong::Crash, Wrong::Lost, Wrong::Walk];

/// Why a round was given up.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) wrong: Wrong,
    pub(super) text: String,
}

pub(super) fn wrong<T>(wrong: Wrong, text: impl Into<String>) -> Result<T, Failed> {
    Err(Failed { wrong, text: text.into() })
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Program,
    Child,
    Client,
    Server,
    Guard,
    Connection,
    App,
}

const VICTIMS: [Victim; 7] = [
    Victim::Program,
    Victim::Child,
    Victim::Client,
    Victim::Server,
    Victim::Guard,
    Victim::Connection,
    Victim::App,
];

#[derive(Default)]
pub(super) struct Counts {
    pub(super) rounds: AtomicU64,
    pub(super) calls: AtomicU64,
    pub(super) checks: AtomicU64,
    pub(super) stops: AtomicU64,
    pub(super) ends: AtomicU64,
    pub(super) hits: AtomicU64,
    pub(super) records: AtomicU64,
    kills: [AtomicU64; VICTIMS.len()],
    wrongs: [AtomicU64; WRONGS.len()],
}

impl Counts {
    pub(super) fn killed(&self, victim: Victim) {
        self.kills[victim as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn failed(&self, wrong: Wrong) {
        self.wrongs[wrong as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn kills(&self) -> u64 {
        self.kills.iter().map(|it| it.load(Relaxed)).sum()
    }

    pub(super) fn failures(&self) -> u64 {
        self.wrongs.iter().map(|it| it.load(Relaxed)).sum()
    }

    /// Everything in a few lines.
    pub(super) fn summary(&self, seed: u64, took: Duration) -> String {
        format!("rounds from seed {seed} in {:.1} s\n{self}", took.as_secs_f64())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("rounds", &self.rounds),
            ("calls", &self.calls),
            ("checks", &self.checks),
            ("stops", &self.stops),
            ("ends", &self.ends),
            ("tracepoint hits", &self.hits),
            ("records", &self.records),
        ];
        let row = |(name, count): (&str, &AtomicU64)| format!("{name} {}", count.load(Relaxed));
        let seen: Vec<String> = all.into_iter().map(row).collect();
        let kills: Vec<String> =
            VICTIMS.iter().zip(&self.kills).map(|(it, n)| row((&named(it), n))).collect();
        let wrongs: Vec<String> =
            WRONGS.iter().zip(&self.wrongs).map(|(it, n)| row((&named(it), n))).collect();
        write!(
            f,
            "  {}\n  kills: {}\n  wrong: {}",
            seen.join(" · "),
            kills.join(" · "),
            wrongs.join(" · ")
        )
    }
}

fn named(it: &impl fmt::Debug) -> String {
    format!("{it:?}").to_lowercase()
}
