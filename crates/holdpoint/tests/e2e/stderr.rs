//! Nobody reads stderr, or nobody can: whatever is logged, everything goes on as if it had been read.

use std::{
    io::{PipeReader, Write as _},
    net::TcpListener,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use holdpoint_testkit::{
    http::{get, post},
    process::{Process, command},
    rpc::Rpc,
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

#[derive(Debug, Clone, Copy)]
enum Stderr {
    /// As a shell closes it: `2>&-`.
    Closed,
    /// Whoever should read it is gone.
    Broken,
    /// Nobody reads it, and nothing more goes in.
    Full,
}

const ALL: [Stderr; 3] = [Stderr::Closed, Stderr::Broken, Stderr::Full];

impl Stderr {
    /// The other end is to be held for as long as the process lives.
    fn give(self, command: &mut Command) -> Option<PipeReader> {
        let (reader, writer) = std::io::pipe().unwrap();
        match self {
            Stderr::Closed => {
                let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
                let mut shell = Command::new("sh");
                shell.args(["-c", "exec \"$0\" \"$@\" 2>&-", BIN]).args(args);
                for (name, value) in command.get_envs() {
                    match value {
                        Some(value) => shell.env(name, value),
                        None => shell.env_remove(name),
                    };
                }
                shell.stdin(Stdio::piped()).stdout(Stdio::piped());
                *command = shell;
                None
            }
            Stderr::Broken => {
                command.stderr(writer);
                None
            }
            Stderr::Full => {
                let mut filler = writer.try_clone().unwrap();
                let filled = Arc::new(AtomicU64::new(0));
                let counter = Arc::clone(&filled);
                // Ends with the reader.
                std::thread::spawn(move || {
                    while filler.write_all(b"x").is_ok() {
                        counter.fetch_add(1, Relaxed);
                    }
                });
                let mut before = 0;
                until("a full pipe", || {
                    let now = filled.load(Relaxed);
                    let is_full = now == std::mem::replace(&mut before, now) && now > 0;
                    is_full.then_some(())
                });
                command.stderr(writer);
                Some(reader)
            }
        }
    }
}

/// A server whose stderr is of no use.
fn start(
    stderr: Stderr,
    args: &[&str],
    prepare: impl FnOnce(&mut Command),
) -> (Process, Option<PipeReader>) {
    let mut held = None;
    let process = Process::start_with(BIN, args, |command| {
        prepare(command);
        held = stderr.give(command);
    });
    (process, held)
}

fn speak(mut process: Process) -> Rpc {
    let stdin = process.child().stdin.take().expect("a pipe");
    let stdout = process.child().stdout.take().expect("a pipe");
    Rpc::over(process, Box::new(stdin), Box::new(stdout))
}

#[test]
fn an_agents_server_starts_when_its_port_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for stderr in ALL {
        let (process, _held) = start(stderr, &["mcp", "--port", &port], |_| {});
        let mut rpc = speak(process);
        rpc.initialize("2025-11-25");
        assert!(rpc.text("server_status", json!({})).contains("sessions: 0"), "{stderr:?}");
        let (status, _) = rpc.finish();
        assert!(status.success(), "{stderr:?}: {status}");
    }
}

#[test]
fn a_server_starts_answers_and_stops_by_a_signal() {
    for stderr in ALL {
        let args = ["serve", "--port", "0", "--log-level", "debug"];
        let (mut server, _held) = start(stderr, &args, |_| {});
        let port = server.port();
        for _ in 0..1_000 {
            let refused = get(port, "/healthz").header("origin", "http://evil.example").send();
            assert_eq!(refused.status, 403, "{stderr:?}");
        }
        assert_eq!(get(port, "/healthz").send().status, 200, "{stderr:?}");
        server.signal("TERM");
        assert!(server.end().0.success(), "{stderr:?}");
    }
}

#[test]
fn a_call_too_large_to_read_goes_on() {
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(17 << 20));
    for stderr in ALL {
        let (mut server, _held) = start(stderr, &["serve", "--port", "0"], |_| {});
        let port = server.port();
        let answer =
            post(port, "/api/call/start", &large).header("content-type", "application/json").send();
        assert_eq!(
            (answer.status, &answer.json()["action"]),
            (200, &json!("continue")),
            "{stderr:?}"
        );
    }
}

#[test]
fn a_damaged_database_fails_nothing_but_itself() {
    for stderr in ALL {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("holdpoint.db"), "not a database at all".repeat(500))
            .unwrap();
        let mut held = None;
        let process = Process::start_at(BIN, &["mcp", "--port", "0"], home.path(), |command| {
            held = stderr.give(command);
        });
        let mut rpc = speak(process);
        rpc.initialize("2025-11-25");
        let listed = rpc.text("breakpoint_set", json!({ "file": "/tmp/nowhere.py", "line": 1 }));
        assert!(!listed.contains("E_INTERNAL"), "{stderr:?}: {listed}");
        let status = rpc.text("server_status", json!({}));
        assert!(status.contains("store: failed"), "{stderr:?}: {status}");
    }
}

#[test]
fn a_wrong_command_line_ends_at_once() {
    for stderr in ALL {
        let home = tempfile::tempdir().unwrap();
        let mut command = command(BIN, &["serve", "--no-such-option"], home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let _held = stderr.give(&mut command);
        let mut child = command.spawn().unwrap();
        let status = until("the end", || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(2), "{stderr:?}");
    }
}

#[test]
fn lines_that_could_not_be_written_are_counted() {
    let (server, _held) =
        start(Stderr::Full, &["mcp", "--port", "0", "--log-level", "warn"], |_| {});
    let mut rpc = speak(server);
    rpc.initialize("2025-11-25");
    let port = rpc.process.port();
    let dropped = until("dropped lines", || {
        get(port, "/healthz").header("origin", "http://evil.example").send();
        let status = rpc.text("server_status", json!({}));
        status.lines().find(|line| line.contains("lines of the log")).map(ToOwned::to_owned)
    });
    assert!(dropped.contains("nobody reads stderr"), "{dropped}");
}
