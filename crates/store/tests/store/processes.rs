//! Several processes on one file, and one that is killed. The other process is this test binary,
//! started again for [`child`] alone.

use std::{
    env,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use futures::future::join_all;
use holdpoint_store::{KeptLaunch, Store};

use crate::{at, open};

const PATH: &str = "HOLDPOINT_STORE_TEST_PATH";
const NAME: &str = "HOLDPOINT_STORE_TEST_NAME";
/// Breakpoints each writer of the sharing test saves.
const EACH: u32 = 300;

/// Not a test of its own: what the other process does. `endless` writes until it is killed.
#[tokio::test]
async fn child() {
    let (Some(path), Ok(name)) = (env::var_os(PATH).map(PathBuf::from), env::var(NAME)) else {
        return;
    };
    let store = open(&path);
    if name.starts_with("endless") {
        write_until_killed(&store, &name).await;
    } else {
        write_each(&store, &name).await;
    }
}

async fn write_each(store: &Store, name: &str) {
    for start in (0..EACH).step_by(10) {
        let ten = (start..start + 10).map(|line| store.save_breakpoint(at(name, line)));
        assert!(join_all(ten).await.iter().all(Result::is_ok));
    }
    assert_eq!(store.stats().failed, 0);
}

#[expect(clippy::print_stdout, reason = "how the parent learns what was flushed")]
async fn write_until_killed(store: &Store, name: &str) {
    let launch = KeptLaunch { name: name.into(), ..KeptLaunch::default() };
    store.begin_launch(launch).await.unwrap();
    for round in 0.. {
        let lines = round * 10..round * 10 + 10;
        join_all(lines.map(|line| store.save_breakpoint(at(name, line)))).await;
        store.flush().await.unwrap();
        println!("\nflushed {}", round * 10 + 10);
    }
}

fn start(path: &Path, name: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture"])
        .env(PATH, path)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn flushed(line: &str) -> Option<u32> {
    line.strip_prefix("flushed ")?.parse().ok()
}

#[tokio::test]
async fn servers_share_a_file_from_its_first_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let children = ["one", "two"].map(|name| start(&path, name));
    let (three, four) = (open(&path), open(&path));
    futures::join!(write_each(&three, "three"), write_each(&four, "four"));
    for (mut child, _lines) in children {
        assert!(child.wait().unwrap().success());
    }
    drop(three);
    let rows = four.breakpoints().await.unwrap();
    for name in ["one", "two", "three", "four"] {
        let found = rows.iter().filter(|row| row.breakpoint.file.as_deref() == Some(name)).count();
        assert_eq!(found, usize::try_from(EACH).unwrap(), "{name}");
    }
}

#[tokio::test]
async fn kill_9_loses_nothing_that_was_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    for round in 1..=8 {
        let name = format!("endless {round}");
        let (mut child, mut lines) = start(&path, &name);
        // Killed at another moment each round, always in the middle of writing.
        let wanted = round * 7;
        let mut seen = lines.by_ref().filter_map(|line| flushed(&line.unwrap()));
        assert!(seen.by_ref().take(wanted).count() == wanted);
        child.kill().unwrap();
        child.wait().unwrap();
        // What it could still say before it died counts too; the last word may be cut.
        let last = seen.last().unwrap_or(u32::try_from(wanted).unwrap() * 10);

        let store = open(&path);
        let rows = store.breakpoints().await.unwrap();
        let found = rows.iter().filter(|row| row.breakpoint.file.as_deref() == Some(&*name));
        let found: Vec<_> = found.filter_map(|row| row.breakpoint.line).collect();
        assert!((0..last).all(|line| found.contains(&line)), "{last} flushed, found {found:?}");
        assert_eq!(store.left_open().await.unwrap()[0].launch.name, name);
        let left = rows.into_iter().map(|row| store.remove_breakpoint(row.id));
        join_all(left).await;
    }
}
