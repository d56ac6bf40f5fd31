//! The disk is full, the home cannot be written, the database is not one: programs go on, and everybody who
//! depends on the store hears of it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use holdpoint_testkit::{
    calls::Wire,
    debug::{program, python},
    http::get,
    process::{Process, run},
    rpc::Rpc,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A server whose files cannot grow past so many kilobytes, like a disk that is full; room is made by `grow`.
fn small_disk(kilobytes: u32) -> Rpc {
    let limit = format!("ulimit -S -f {kilobytes}; exec \"$0\" \"$@\"");
    let mut rpc = Rpc::start_with(BIN, &["mcp", "--port", "0"], |command| {
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let envs: Vec<_> = command
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
            .collect();
        let mut shell = Command::new("bash");
        shell.args(["-c", &limit, BIN]).args(args);
        for (name, value) in envs {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.stdin(std::process::Stdio::piped());
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        *command = shell;
    });
    rpc.initialize("2025-11-25");
    rpc
}

fn grow(rpc: &Rpc) {
    let pid = rpc.process.id().to_string();
    let done =
        Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited:unlimited"]).status();
    assert!(done.unwrap().success(), "prlimit");
}

fn status(rpc: &mut Rpc) -> String {
    rpc.text("server_status", json!({}))
}

/// Calls with values of ten kilobytes, each acknowledged.
fn calls(wire: &Wire, from: usize, to: usize) {
    for number in from..to {
        let large = format!("{number} {}", "x".repeat(10_000));
        wire.call("f", &[json!(large)], &json!(number));
    }
}

#[test]
fn a_full_disk_is_told_and_what_waited_is_written_when_there_is_room() {
    let mut rpc = small_disk(700);
    let wire = Wire::new(rpc.process.port());
    calls(&wire, 0, 200);
    let said = until("trouble", || {
        calls(&wire, 0, 1);
        let said = status(&mut rpc);
        said.contains("store: failing").then_some(said)
    });
    assert!(said.contains("recorded calls wait for it"), "{said}");
    assert_eq!(get(wire.port, "/healthz").send().json()["store"], "failing");
    let records = rpc.text("breakpoint_get_call_records", json!({ "limit": 1 }));
    assert!(records.contains("nothing is kept now: the store failed"), "{records}");
    grow(&rpc);
    until("all calls", || {
        let said = status(&mut rpc);
        (said.contains("store: open") && !said.contains("lost")).then_some(())
    });
    let records = rpc.text("breakpoint_get_call_records", json!({ "limit": 1 }));
    let records: Value = serde_json::from_str(&records).unwrap();
    assert!(records["total_count"].as_u64().unwrap() > 200, "{records}");
}

#[test]
fn calls_that_are_lost_are_counted_and_told() {
    let mut rpc = small_disk(900);
    let wire = Wire::new(rpc.process.port());
    // More than is kept back.
    calls(&wire, 0, 1_500);
    let said = until("losses", || {
        calls(&wire, 0, 1);
        let said = status(&mut rpc);
        said.contains("recorded calls were lost").then_some(said)
    });
    assert!(said.contains("store: failing"), "{said}");
    let told = rpc.text("timeline_query", json!({ "kinds": ["calls_lost"] }));
    assert!(told.contains("recorded calls were lost"), "{told}");
}

#[test]
fn a_database_that_is_named_and_cannot_be_opened_fails_at_start() {
    let home = tempfile::tempdir().unwrap();
    let damaged = home.path().join("other.db");
    std::fs::write(&damaged, "no database at all".repeat(100)).unwrap();
    let missing = home.path().join("other.db/below/a/file.db");
    for (path, why) in [(&damaged, "is not a Holdpoint database"), (&missing, "cannot open")] {
        for command in ["mcp", "serve"] {
            let args = [command, "--port", "0", "--db", path.to_str().unwrap()];
            let (code, _, stderr) = run(BIN, &args, home.path());
            assert_eq!(code, 1, "{command}: {stderr}");
            assert!(stderr.contains("--db") && stderr.contains(why), "{command}: {stderr}");
            assert!(stderr.contains("hint:"), "{command}: {stderr}");
        }
    }
}

/// A folder that nobody can write, root neither.
struct ReadOnly {
    path: PathBuf,
    is_mounted: bool,
    _folder: tempfile::TempDir,
}

impl ReadOnly {
    fn new() -> ReadOnly {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        std::fs::create_dir(&path).unwrap();
        let mount = ["-t", "tmpfs", "-o", "ro,size=64k", "holdpoint-test"];
        let mounted = Command::new("mount").args(mount).arg(&path).output();
        let is_mounted = mounted.is_ok_and(|it| it.status.success());
        if !is_mounted {
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o500))
                .unwrap();
        }
        ReadOnly { path, is_mounted, _folder: folder }
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        if self.is_mounted {
            Command::new("umount").arg("-l").arg(&self.path).status().map(drop).unwrap_or_default();
        }
        std::fs::set_permissions(&self.path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap_or_default();
    }
}

fn at_home(home: &Path) -> Rpc {
    // What a launch brings along goes to a temporary folder of its own.
    let mut process = Process::start_at(BIN, &["mcp", "--port", "0"], home, |command| {
        command.env("TMPDIR", FOLDER);
    });
    let stdin = process.child().stdin.take().expect("a pipe");
    let stdout = process.child().stdout.take().expect("a pipe");
    let mut rpc = Rpc::over(process, Box::new(stdin), Box::new(stdout));
    rpc.initialize("2025-11-25");
    rpc
}

#[test]
fn programs_are_debugged_from_a_home_that_cannot_be_written() {
    let home = ReadOnly::new();
    let python = python(BIN, FOLDER);
    // The debugger is found there as if it had been installed before: no test waits for a download.
    let spare = Path::new(FOLDER).join(format!("holdpoint-{}", user()));
    std::fs::create_dir_all(&spare).unwrap();
    std::fs::set_permissions(&spare, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&python.debuggers, spare.join("debugpy")).unwrap_or_default();
    let mut rpc = at_home(&home.path);
    let (_folder, file) = program("x = 1\nprint('done', x)\n");
    let launch = json!({ "program": file, "interpreter": python.path });
    let said = rpc.text("debug_launch", launch);
    assert!(said.contains("program.py:1"), "{said}");
    let said = rpc.text("debug_continue", json!({}));
    assert!(said.contains("exit code 0") && said.contains("done 1"), "{said}");
    let said = status(&mut rpc);
    assert!(said.contains("store: failed, cannot open"), "{said}");
    let said = rpc.text("breakpoint_set", json!({ "file": file, "line": 2 }));
    assert!(said.contains("nothing is kept now: cannot open"), "{said}");
}

#[test]
fn node_is_debugged_from_a_home_that_cannot_be_written() {
    let home = ReadOnly::new();
    let mut rpc = at_home(&home.path);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("program.js");
    std::fs::write(&file, "const x = 1;\nconsole.log('done', x);\n").unwrap();
    let said = rpc.text("debug_launch", json!({ "program": file }));
    assert!(said.contains("program.js:1"), "{said}");
    let said = rpc.text("debug_continue", json!({}));
    assert!(said.contains("exit code 0"), "{said}");
}

fn user() -> String {
    let output = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_absurd_age_drops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let wire = Wire::new(server.port());
    wire.call("f", &[json!(1)], &json!(2));
    server.signal("TERM");
    server.end();
    for days in ["213503982334602", "18446744073709551615"] {
        let (code, pruned, stderr) = run(BIN, &["store", "prune", "--days", days], home.path());
        assert_eq!(
            (code, pruned.as_str()),
            (0, "0 calls, 0 values, 0 moments dropped\n"),
            "{stderr}"
        );
    }
}

/// Another process drops everything: what the app only names is asked for again, and nothing dangles.
#[test]
fn what_another_process_dropped_is_asked_for_again() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let wire = Wire::new(server.port());
    let value = json!("a value that is sent once");
    wire.call("f", std::slice::from_ref(&value), &json!(1));
    let whole = wire.start_body("f", &[value], json!({}));
    let mut named = whole["args"][0].clone();
    named.as_object_mut().unwrap().remove("data");
    let only_named = json!({ "args": [named] });
    // It is in the store, and known.
    wire.get("/api/calls");
    let (_, pruned, _) = run(BIN, &["store", "prune", "--megabytes", "0"], home.path());
    assert!(pruned.starts_with("1 calls"), "{pruned}");
    // The next commit tells.
    wire.call("g", &[json!("another")], &json!(2));
    wire.get("/api/calls");
    let (status, answer) = wire.post("/api/call/start", wire.start_body("f", &[], only_named));
    assert_eq!((status, &answer["error"]), (400, &json!("cid_not_found")), "{answer}");
}
