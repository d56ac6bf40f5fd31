//! Seeded walks over everything a client can do to programs, with kills at random points, in the middle of requests
//! too. What is said is checked against what the programs themselves wrote down, and against `/proc`.
//!
//! `cargo xtask torture` runs as many rounds as one likes; here are a few of fixed seeds. A round that fails prints
//! its seed and the way that led there, and the others go on.

mod abuse;
mod amid;
mod app;
mod attached;
mod attacks;
mod client;
mod counts;
mod kills;
mod lang;
mod looks;
mod model;
mod programs;
mod round;
mod seeded;
mod server;
mod sockets;
mod store;
mod traced;
mod until;
mod walk;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        LazyLock, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use holdpoint_testkit::debug::{monitoring_pythons, python};

use self::{
    counts::{Counts, Failed, Wrong},
    round::Round,
};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// What is walked where nobody says otherwise.
const ROUNDS: u64 = 20;
const SEED: u64 = 1;
const JOBS: u64 = 2;

#[test]
fn a_walk_of_fixed_seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let rounds = number("HOLDPOINT_TORTURE_ROUNDS").unwrap_or(ROUNDS);
    let seed = number("HOLDPOINT_TORTURE_SEED").unwrap_or(SEED);
    let jobs = number("HOLDPOINT_TORTURE_JOBS").unwrap_or(JOBS);
    let limit = number("HOLDPOINT_TORTURE_MINUTES").map(|it| Duration::from_secs(it * 60));
    python(BIN, FOLDER);
    let (counts, next, begun) = (Counts::default(), AtomicU64::new(0), Instant::now());
    let is_over = || limit.is_some_and(|limit| begun.elapsed() > limit);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while !is_over() {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= rounds {
                        return;
                    }
                    one(seed + number, &counts);
                    if (number + 1).is_multiple_of(250) {
                        println!("{}", counts.summary(seed, begun.elapsed()));
                    }
                }
            });
        }
    });
    println!("{}", counts.summary(seed, begun.elapsed()));
    assert_eq!(counts.failures(), 0, "rounds that failed are above, with their seeds");
    assert!(counts.checks.load(Relaxed) > 0 && counts.kills() > 0, "nothing was looked at");
}

/// One round, and what is told of it where it fails.
fn one(seed: u64, counts: &Counts) {
    let round = Round::new(seed, counts);
    counts.rounds.fetch_add(1, Relaxed);
    let ended = catch_unwind(AssertUnwindSafe(|| walk(&round)));
    let failed = match ended {
        Ok(Ok(())) => return,
        Ok(Err(failed)) => failed,
        Err(_) => Failed { wrong: Wrong::Walk, text: "it panicked, as said above".to_owned() },
    };
    counts.failed(failed.wrong);
    println!("seed {seed}, {:?}: {}\n  {}\n", failed.wrong, failed.text, round.trail());
}

fn walk(round: &Round<'_>) -> Result<(), Failed> {
    if let Some((language, _)) = lang::programs()[0].language {
        return match round.pick(100) {
            0..20 if language.attaches() => attached::attached(round),
            20..35 => traced::traced(round),
            35..45 => traced::probed(round),
            _ => walk::launched(round),
        };
    }
    match round.pick(100) {
        0..60 => walk::launched(round),
        60..72 => attached::attached(round),
        72..80 => traced::traced(round),
        80..86 => traced::probed(round),
        _ => app::called(round),
    }
}

/// The interpreter of programs that run before any server.
fn python_path() -> &'static str {
    &python(BIN, FOLDER).path
}

/// The interpreters of all others: the usual one, and the newest with `sys.monitoring`, where tracepoints and steps
/// take another way.
fn pythons() -> &'static [&'static str] {
    static PYTHONS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        static NEWEST: OnceLock<Option<String>> = OnceLock::new();
        let newest = NEWEST.get_or_init(|| monitoring_pythons().pop()).as_deref();
        std::iter::once(python_path()).chain(newest).collect()
    });
    &PYTHONS
}

/// The folder from which Python imports the debugger that Holdpoint provides.
fn debugpy() -> PathBuf {
    let folders = std::fs::read_dir(&python(BIN, FOLDER).debuggers).unwrap().flatten();
    folders.map(|it| it.path()).find(|it| it.join("debugpy").is_dir()).unwrap()
}
