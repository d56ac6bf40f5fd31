//! How many rounds of what is beside the walk itself, and from which seed; `cargo xtask torture` says it by the
//! same variables.

use std::time::{Duration, Instant};

/// A round here is a server's whole life, of a second or two, where one of the walk's is some calls.
const SHARE: u64 = 10;

/// Runs rounds, each with a seed of its own that a failure prints.
pub(super) fn rounds(what: &str, otherwise: u64, mut round: impl FnMut(&mut Dice)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let rounds = number("HOLDPOINT_TORTURE_ROUNDS").map_or(otherwise, |it| it.div_ceil(SHARE));
    let first = number("HOLDPOINT_TORTURE_SEED").unwrap_or(1);
    let limit = number("HOLDPOINT_TORTURE_MINUTES").map(|it| Duration::from_secs(it * 60));
    let started = Instant::now();
    let mut done = 0;
    for seed in first..first + rounds {
        if limit.is_some_and(|limit| started.elapsed() > limit) {
            break;
        }
        let said = Said { what, seed };
        round(&mut Dice(seed));
        drop(said);
        done += 1;
    }
    println!("{done} rounds of {what} from seed {first} in {:?}", started.elapsed());
    assert!(done > 0, "no round of {what}");
}

struct Said<'a> {
    what: &'a str,
    seed: u64,
}

impl Drop for Said<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Said { what, seed } = self;
            println!("{what}: HOLDPOINT_TORTURE_SEED={seed} HOLDPOINT_TORTURE_ROUNDS=1");
        }
    }
}

/// The same throws for the same seed: `SplitMix64`.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (end as u64)).unwrap()
    }

    pub(super) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
