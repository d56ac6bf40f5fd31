//! Two servers with one home: whichever ends, in whatever way, the other is found.

use std::path::Path;

use holdpoint_testkit::{
    process::{Process, run},
    until,
};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve(home: &Path) -> Process {
    Process::start_at(BIN, &["serve", "--port", "0"], home, |_| {})
}

fn ports(home: &Path) -> Vec<u16> {
    let text = std::fs::read_to_string(home.join("port")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn wait_for(home: &Path, count: usize) -> Vec<u16> {
    until("the port file", || Some(ports(home)).filter(|ports| ports.len() == count))
}

fn answered_by(home: &Path) -> String {
    let (code, said, stderr) = run(BIN, &["tool", "server_status"], home);
    assert_eq!(code, 0, "{stderr}");
    said
}

#[test]
fn the_older_is_found_when_the_newer_ends() {
    let home = tempfile::tempdir().unwrap();
    let older = serve(home.path());
    let first = wait_for(home.path(), 1);
    let mut newer = serve(home.path());
    let both = wait_for(home.path(), 2);
    assert_eq!(both[1], first[0], "the newest first");
    assert!(answered_by(home.path()).contains(&format!("pid {}", newer.id())));
    newer.signal("TERM");
    newer.end();
    assert_eq!(ports(home.path()), first);
    assert!(answered_by(home.path()).contains(&format!("pid {}", older.id())));
}

#[test]
fn one_that_was_killed_is_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let older = serve(home.path());
    wait_for(home.path(), 1);
    let mut newer = serve(home.path());
    wait_for(home.path(), 2);
    newer.signal("KILL");
    newer.end();
    assert!(answered_by(home.path()).contains(&format!("pid {}", older.id())));
    // The next one to start cleans up.
    let _third = serve(home.path());
    until("a file of those that live", || {
        let named = ports(home.path());
        (named.len() == 2 && named[1] != 0).then_some(())
    });
}

#[test]
fn the_older_ends_first_and_takes_nothing_with_it() {
    let home = tempfile::tempdir().unwrap();
    let mut older = serve(home.path());
    wait_for(home.path(), 1);
    let newer = serve(home.path());
    let both = wait_for(home.path(), 2);
    older.signal("TERM");
    older.end();
    assert_eq!(ports(home.path()), both[..1]);
    assert!(answered_by(home.path()).contains(&format!("pid {}", newer.id())));
}
