//! The store fails while an app calls: it is full, cannot be written, is damaged, is of a later version, or its server
//! is killed in the middle. The app goes on, and what was acknowledged is there, or its loss is told.

use std::{
    fs,
    io::{Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    calls::Wire,
    http::get,
    process::{Process, home},
    until,
};
use serde_json::{Value, json};

use super::{
    BIN,
    seeded::{Dice, rounds},
};

/// How old an acknowledged call may be and still be lost to a kill: twice what `docs/contract/calls.md` states for a
/// machine that is taken, since tests take it whole.
const BOUND: Duration = Duration::from_secs(1);

#[test]
fn a_store_that_fails_keeps_its_word() {
    rounds("store faults", 5, |dice| match dice.below(5) {
        0 => full(dice),
        1 => killed(dice),
        2 => damaged(dice),
        3 => newer(dice),
        _ => read_only(dice),
    });
}

struct App {
    wire: Wire,
    /// Calls that the server said are done, and when.
    acknowledged: Vec<(Instant, String)>,
}

impl App {
    fn of(server: &mut Process) -> App {
        App { wire: Wire::new(server.port()), acknowledged: Vec::new() }
    }

    /// Calls with values of up to so many bytes; each must be answered.
    #[track_caller]
    fn calls(&mut self, dice: &mut Dice, count: usize, bytes: usize) {
        for number in 0..count {
            let value = format!("{number} {}", "x".repeat(dice.below(bytes)));
            let id = self.wire.try_call("f", &[json!(value)], &json!(number));
            let id = id.expect("an app's call is answered whatever the store does");
            self.acknowledged.push((Instant::now(), id));
        }
    }

    fn is_kept(&self, id: &str) -> bool {
        get(self.wire.port, &format!("/api/calls/{id}")).send().status == 200
    }
}

fn serve(home: &Path) -> Process {
    Process::start_at(BIN, &["serve", "--port", "0"], home, |_| {})
}

fn health(port: u16) -> Value {
    get(port, "/healthz").send().json()
}

/// A disk that is full at a random size, and then is not.
fn full(dice: &mut Dice) {
    let folder = home();
    let script = format!("ulimit -S -f {}; exec \"$0\" \"$@\"", 800 + dice.below(1_500));
    let words = ["-c", &script, BIN, "serve", "--port", "0"];
    let mut server = Process::start_at("bash", &words, folder.path(), |_| {});
    let mut app = App::of(&mut server);
    let before = 20 + dice.below(200);
    app.calls(dice, before, 20_000);
    let is_failing = health(app.wire.port)["store"] == "failing";
    app.calls(dice, 20, 1_000);
    let pid = server.id().to_string();
    let grown =
        Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited:unlimited"]).status();
    assert!(grown.unwrap().success(), "prlimit");
    until("a store that works", || (health(app.wire.port)["store"] == "open").then_some(()));
    let (_, id) = app.acknowledged.last().cloned().unwrap();
    until("the last call", || app.is_kept(&id).then_some(()));
    let kept = app.acknowledged.iter().filter(|(_, id)| app.is_kept(id)).count();
    let lost = lost(folder.path());
    assert!(kept + lost >= app.acknowledged.len(), "{kept} kept, {lost} told as lost");
    assert!(is_failing || lost == 0, "lost {lost} while all seemed well");
}

fn lost(home: &Path) -> usize {
    let (_, status, _) = holdpoint_testkit::process::run(BIN, &["tool", "server_status"], home);
    let before = status.split(" recorded calls were lost").next().unwrap_or_default();
    let number = before.rsplit(['(', ' ', '\n']).next().unwrap_or_default();
    if status.contains("recorded calls were lost") { number.parse().unwrap() } else { 0 }
}

/// kill -9 at a random moment: what is older than the bound is there afterwards.
fn killed(dice: &mut Dice) {
    let folder = home();
    let mut server = serve(folder.path());
    let mut app = App::of(&mut server);
    let began = Instant::now();
    let lasts = BOUND + Duration::from_millis(100 + dice.below(1_000) as u64);
    while began.elapsed() < lasts {
        app.calls(dice, 20, 3_000);
    }
    server.signal("KILL");
    let at = Instant::now();
    server.end();
    let acknowledged = std::mem::take(&mut app.acknowledged);
    let mut server = serve(folder.path());
    app.wire.port = fresh_port(&mut server, app.wire.port);
    let old = acknowledged.iter().filter(|(when, _)| at.duration_since(*when) >= BOUND);
    let old: Vec<&String> = old.map(|(_, id)| id).collect();
    assert!(!old.is_empty(), "nothing to look for");
    for id in old {
        assert!(app.is_kept(id), "{id} was answered more than {BOUND:?} before the kill");
    }
    app.calls(dice, 3, 100);
}

/// The port of the server that runs now; the file still names the killed one for a moment.
fn fresh_port(server: &mut Process, old: u16) -> u16 {
    until("a new port", || {
        let port = server.port();
        (port != old && get(port, "/healthz").try_send().is_ok()).then_some(port)
    })
}

/// A database with some calls in it, whose server has ended.
fn written(dice: &mut Dice, folder: &Path) -> PathBuf {
    let mut server = serve(folder);
    let count = 10 + dice.below(100);
    App::of(&mut server).calls(dice, count, 2_000);
    server.signal("TERM");
    server.end();
    let files = fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    files.into_iter().find(|it| it.extension().is_some_and(|it| it == "db")).expect("a database")
}

/// Bytes anywhere in the file are others now: every answer is one, and no app is held up.
fn damaged(dice: &mut Dice) {
    let folder = home();
    let database = written(dice, folder.path());
    let size = fs::metadata(&database).unwrap().len();
    let mut file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    for _ in 0..1 + dice.below(20) {
        let at = dice.below(usize::try_from(size).unwrap());
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        let junk: Vec<u8> = (0..dice.below(600)).map(|it| (it * 7) as u8).collect();
        file.write_all(&junk).unwrap();
    }
    drop(file);
    let mut server = serve(folder.path());
    let mut app = App::of(&mut server);
    app.calls(dice, 30, 2_000);
    for path in ["/api/calls", "/api/breakpoints", "/api/objects", "/api/apps", "/healthz"] {
        let answer = get(app.wire.port, path).send();
        assert!([200, 404, 500].contains(&answer.status), "{path}: {}", answer.body);
        if answer.status == 500 {
            assert!(answer.body.contains("store_failed"), "{path}: {}", answer.body);
        }
    }
    ends_well(server);
}

/// A file of a later version: nothing of it is touched, and apps go on.
fn newer(dice: &mut Dice) {
    let folder = home();
    let database = written(dice, folder.path());
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute('PRAGMA user_version = %d' % int(sys.argv[2])); db.commit()";
    let version = (100 + dice.below(1_000)).to_string();
    let set = Command::new("python3").args(["-c", script]).arg(&database).arg(&version).status();
    assert!(set.unwrap().success());
    let before = fs::read(&database).unwrap();
    let mut server = serve(folder.path());
    let mut app = App::of(&mut server);
    app.calls(dice, 20, 2_000);
    assert_ne!(health(app.wire.port)["store"], "open");
    ends_well(server);
    assert!(fs::read(&database).unwrap() == before, "a file of a later version was written");
}

/// A home that cannot be written: the server is there all the same.
fn read_only(dice: &mut Dice) {
    let folder = home();
    let inside = folder.path().join("home");
    fs::create_dir(&inside).unwrap();
    let mount = ["-t", "tmpfs", "-o", "ro,size=64k,mode=0700", "holdpoint-torture"];
    let mounted = Command::new("mount").args(mount).arg(&inside).output();
    if !mounted.is_ok_and(|it| it.status.success()) {
        // Only root can; a folder without the right to write stops everybody else.
        fs::set_permissions(&inside, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    }
    let _mounted = Mounted(&inside);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Process::start_at(BIN, &["serve", "--port", &port.to_string()], &inside, |_| {});
    until("an answer", || get(port, "/healthz").try_send().ok());
    let mut app = App { wire: Wire::new(port), acknowledged: Vec::new() };
    app.calls(dice, 20, 2_000);
    assert_ne!(health(port)["store"], "open");
    ends_well(server);
}

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // Where nothing was mounted there is nothing to take away.
        Command::new("umount").arg("-l").arg(self.0).output().map(drop).unwrap_or_default();
    }
}

#[track_caller]
fn ends_well(mut server: Process) {
    server.signal("TERM");
    let (status, stderr) = server.end();
    assert!(status.success() && !stderr.contains("panicked"), "{status}: {stderr}");
}
