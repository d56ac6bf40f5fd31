//! Mutated input at every door of a real server: JSON-RPC lines, HTTP requests, what debug adapters and inspectors say.
//! It goes on answering, keeps to its memory, and nothing in it panics.
//!
//! `HOLDPOINT_FUZZ_COUNT` asks for more of them, as `cargo xtask fuzz` does, and `HOLDPOINT_FUZZ_SEED` for others. Each
//! input has a seed of its own, the first one's plus its number; a failure names those since the server was last seen
//! well.

mod cdp;
mod corpus;
mod dap;
mod http;
mod jsonrpc;
mod mutate;

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use holdpoint_testkit::process::Process;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// How many inputs there are where nobody says otherwise: some seconds of each.
const COUNT: u64 = 4_000;
/// After how many the server is asked whether it is well.
const LOOK_EVERY: u64 = 2_000;
/// Megabytes that a server may hold at any time: its log of events (32), what is recorded and not yet written (11),
/// a thousand clients, sixteen thousand calls under way, and what the allocator keeps of all that.
const MEMORY_MB: u64 = 256;

/// How many inputs, and the first one's seed.
struct Plan {
    count: u64,
    first: u64,
}

impl Plan {
    fn read() -> Plan {
        let number = |name: &str| std::env::var(name).ok().map(|it| it.parse().expect(name));
        Plan {
            count: number("HOLDPOINT_FUZZ_COUNT").unwrap_or(COUNT),
            first: number("HOLDPOINT_FUZZ_SEED").unwrap_or(1),
        }
    }
}

/// The seeds of what is said to a server, connection by connection.
struct Seeds(Mutex<(u64, u64)>);

impl Seeds {
    fn of(plan: &Plan) -> Seeds {
        Seeds(Mutex::new((plan.first, plan.first + plan.count)))
    }

    /// The next one.
    fn now(&self) -> u64 {
        self.0.lock().unwrap().0
    }

    fn take(&self) -> u64 {
        let mut seeds = self.0.lock().unwrap();
        seeds.0 += 1;
        seeds.0 - 1
    }

    fn are_over(&self) -> bool {
        let seeds = self.0.lock().unwrap();
        seeds.0 >= seeds.1
    }

    /// What was taken since then was not sent, since nobody was there any more: as many more are to come. Not the same
    /// ones, which may be what ended the connection.
    fn more_since(&self, before: u64) {
        let mut seeds = self.0.lock().unwrap();
        seeds.1 += seeds.0 - before;
    }
}

/// A server that is looked at now and then.
struct Watch {
    pid: u32,
    started: Instant,
    begun_kb: u64,
    most_kb: u64,
    /// The seed up to which all was well.
    well: u64,
}

impl Watch {
    fn over(process: &Process, plan: &Plan) -> Watch {
        let begun_kb = process.rss_kb();
        let (pid, started) = (process.id(), Instant::now());
        Watch { pid, started, begun_kb, most_kb: begun_kb, well: plan.first }
    }

    /// The server answered: what it holds, up to this seed.
    #[track_caller]
    fn well(&mut self, seed: u64) {
        let rss_kb = rss_kb(self.pid).unwrap_or_else(|| panic!("gone: {}", self.since(seed)));
        self.most_kb = self.most_kb.max(rss_kb);
        assert!(rss_kb < MEMORY_MB * 1024, "{rss_kb} kB: {}", self.since(seed));
        self.well = seed;
    }

    /// How to see it again.
    fn since(&self, seed: u64) -> String {
        let count = seed.saturating_sub(self.well).max(1);
        format!("HOLDPOINT_FUZZ_SEED={} HOLDPOINT_FUZZ_COUNT={count}", self.well)
    }

    fn tell(&self, plan: &Plan, what: &str) {
        let Plan { count, first } = plan;
        println!(
            "{count} {what} from seed {first} in {:.1?}: {} kB before, {} at the most, {} at the end",
            self.started.elapsed(),
            self.begun_kb,
            self.most_kb,
            rss_kb(self.pid).unwrap_or_default()
        );
    }
}

/// Resident memory, while it lives.
fn rss_kb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// As long as a loaded machine takes to answer when thousands of inputs wait before the question.
const ANSWER: Duration = Duration::from_secs(120);
