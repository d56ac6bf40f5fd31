//! What a server holds, as the system sees it: memory, handles, threads, children and disk; and whether that grows.

use std::{fmt, fs, path::Path, time::Duration};

use holdpoint_testkit::debug::Debug;

use super::Soak;

/// One look.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    at: Duration,
    events: u64,
    rss_kb: u64,
    pub(super) handles: u64,
    /// Those of the handles that are sockets.
    pub(super) sockets: u64,
    threads: u64,
    children: u64,
    disk_kb: u64,
}

/// What is judged: its name, what it is, and by how much it may be more at the end than after the first sixth: a
/// share in percent, and a number.
///
/// Memory: the allocator keeps what its busiest moment needed. Handles, threads and children go with whoever is there
/// at the moment: a client holds two, a program three. Disk: the log beside the database is as large as the last
/// burst made it.
type Kind = (&'static str, fn(&Held) -> u64, u64, u64);
const KINDS: &[Kind] = &[
    ("memory kB", |it| it.rss_kb, 5, 2_048),
    ("handles", |it| it.handles, 5, 8),
    ("threads", |it| it.threads, 0, 2),
    ("children", |it| it.children, 0, 3),
    ("disk kB", |it| it.disk_kb, 5, 8_192),
];

impl Held {
    pub(super) fn now(debug: &Debug, soak: &Soak) -> Held {
        let pid = debug.rpc.process.id();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
        };
        let handles: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten().collect();
        let is_socket = |entry: &&fs::DirEntry| {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            target.to_string_lossy().starts_with("socket:")
        };
        Held {
            at: soak.started.elapsed(),
            events: soak.happened(),
            rss_kb: field("VmRSS:"),
            handles: handles.len() as u64,
            sockets: handles.iter().filter(is_socket).count() as u64,
            threads: field("Threads:"),
            children: debug.children().len() as u64,
            disk_kb: bytes_under(&soak.home) / 1024,
        }
    }

    pub(super) fn minute(&self) -> u64 {
        self.at.as_secs() / 60
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { at, events, .. } = self;
        write!(f, "{:>5} s {events:>9} events", at.as_secs())?;
        KINDS.iter().try_for_each(|(name, what, ..)| write!(f, " · {name} {}", what(self)))
    }
}

/// The files of a home; links lead to what is shared with others.
fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_under(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |it| it.len()),
        _ => 0,
    });
    sizes.sum()
}

/// What grew, in words. The median of the last sixth against that of the second one: in an hour, the last ten minutes
/// against the second ten. A median, because what comes and goes is caught at random moments.
pub(super) fn judge(seen: &[Held], lasts: Duration) -> Vec<String> {
    let grew = KINDS.iter().filter_map(|kind| {
        let Compared { before, after, allowed } = compare(seen, lasts, kind);
        (after > allowed)
            .then(|| format!("{} grew: {before} after the first sixth, {after} at the end", kind.0))
    });
    grew.collect()
}

struct Compared {
    before: u64,
    after: u64,
    allowed: u64,
}

fn compare(seen: &[Held], lasts: Duration, (_, what, percent, more): &Kind) -> Compared {
    let of = |from: u32, until: u32| {
        let within = |held: &&Held| held.at >= lasts * from / 6 && held.at < lasts * until / 6;
        median(seen.iter().filter(within).map(what).collect())
    };
    // Whoever is late for its events goes on beyond the time.
    let (before, after) = (of(1, 2), of(5, 12));
    Compared { before, after, allowed: before + before * percent / 100 + more }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// All that was seen, in a table.
pub(super) fn table(seen: &[Held], lasts: Duration) -> String {
    let mut text = format!(
        "{:12} {:>12} {:>12} {:>12} {:>12}\n",
        "", "2nd sixth", "last sixth", "allowed", "most"
    );
    for kind in KINDS {
        let Compared { before, after, allowed } = compare(seen, lasts, kind);
        let most = seen.iter().map(kind.1).max().unwrap_or_default();
        text += &format!("{:12} {before:>12} {after:>12} {allowed:>12} {most:>12}\n", kind.0);
    }
    text
}

fn made(rss: impl Fn(u64) -> u64) -> Vec<Held> {
    let look = |second| Held {
        at: Duration::from_secs(second),
        rss_kb: rss(second),
        threads: 9,
        ..Held::default()
    };
    (0..3_600).step_by(5).map(look).collect()
}

#[test]
fn growth_is_seen_and_the_first_ten_minutes_do_not_count() {
    let hour = Duration::from_secs(3_600);
    let filled = made(|second| 20_000 + second.min(600) * 100);
    assert_eq!(judge(&filled, hour), Vec::<String>::new());
    let leaks = made(|second| 80_000 + second * 3);
    assert_eq!(judge(&leaks, hour).len(), 1, "{:?}", judge(&leaks, hour));
    let peaks = made(|second| if second % 100 == 0 { 500_000 } else { 80_000 });
    assert_eq!(judge(&peaks, hour), Vec::<String>::new());
}
