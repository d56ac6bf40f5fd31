//! A server with a home of its own, all of whose processes carry its mark.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use holdpoint_testkit::{
    debug::{link_adapters, python},
    process::{self, Process},
};
use rustix::process::{Pid, Signal, kill_process};

use super::{
    BIN, FOLDER,
    client::Client,
    counts::{Failed, Wrong, wrong},
    round::{Round, within},
};

/// In the environment of everything that a server starts.
const MARK: &str = "HOLDPOINT_TEST_ID";
/// How long anything may outlive what it belongs to.
const GONE: Duration = Duration::from_secs(5);
/// How long a server may take to end in good order: its promises for clients, programs and store together.
const FAREWELL: Duration = Duration::from_secs(12);
/// How long one may take to start on a loaded machine.
const START: Duration = Duration::from_secs(30);

pub(super) struct Server {
    process: Process,
    home: tempfile::TempDir,
    mark: String,
    pub(super) client: Client,
    /// Programs of the suite's languages: debug servers may stand over them.
    by_servers: bool,
}

/// A process that a server started.
#[derive(Debug, Clone)]
pub(super) struct Started {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) words: Vec<String>,
}

impl Started {
    pub(super) fn is_guard(&self) -> bool {
        self.words.get(1).is_some_and(|it| it == "guard")
    }

    /// What a debugger starts of itself, for itself.
    fn is_debuggers_own(&self) -> bool {
        self.words.iter().any(|it| it.contains("** telemetry **"))
    }
}

impl Server {
    pub(super) fn start(round: &Round<'_>) -> Result<Server, Failed> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("walk-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let home = process::home();
        let debuggers = &python(BIN, FOLDER).debuggers;
        std::os::unix::fs::symlink(debuggers, home.path().join("debugpy")).unwrap();
        link_adapters(home.path());
        let by_servers = super::lang::programs().iter().any(|it| it.language.is_some());
        let (process, client) = start(round, home.path(), &mark)?;
        Ok(Server { process, home, mark, client, by_servers })
    }

    /// Another with the same home, once this one is gone.
    pub(super) fn again(&mut self, round: &Round<'_>) -> Result<(), Failed> {
        // What the killed one could not take away.
        std::fs::remove_file(self.home.path().join("port")).unwrap_or_default();
        round.note("another server with the same home");
        (self.process, self.client) = start(round, self.home.path(), &self.mark)?;
        Ok(())
    }

    pub(super) fn port(&mut self) -> Result<u16, Failed> {
        let file = self.home.path().join("port");
        let read = || std::fs::read_to_string(&file).ok()?.lines().next()?.trim().parse().ok();
        let mut port: Option<u16> = None;
        within(START, || {
            port = read();
            port.is_some()
        });
        port.map_or_else(|| wrong(Wrong::Crash, "no port file"), Ok)
    }

    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.process.id()).unwrap()
    }

    /// Everything that carries this server's mark, without itself.
    pub(super) fn started(&self) -> Vec<Started> {
        let wanted = format!("{MARK}={}", self.mark);
        let server = self.pid();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        let is_ours = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            *pid != server && environment.split(|byte| *byte == 0).any(|it| it == wanted.as_bytes())
        };
        pids.filter(is_ours).filter_map(seen).collect()
    }

    /// The guard of the newest program, and that program.
    pub(super) fn newest(&self) -> (Option<Started>, Option<Started>) {
        let all = self.started();
        let guard = all.iter().filter(|it| it.is_guard()).max_by_key(|it| it.pid).cloned();
        let is_one = |it: &&Started| !it.is_guard() && !it.is_debuggers_own();
        let below = |pid: i32| all.iter().filter(is_one).find(|it| it.parent == pid).cloned();
        let mut program = guard.as_ref().and_then(|guard| below(guard.pid));
        // A debug server runs the program for us, some by a second one.
        while self.by_servers
            && let Some(next) = program.as_ref().and_then(|it| below(it.pid))
        {
            program = Some(next);
        }
        (guard, program)
    }

    /// Ends it by force.
    pub(super) fn kill(&mut self, round: &Round<'_>) -> Result<(), Failed> {
        kill(self.pid());
        self.client.leave();
        if !within(GONE, || !self.process.is_running()) {
            return wrong(Wrong::Hang, "the server survives SIGKILL");
        }
        self.nothing_is_left(round)
    }

    /// Nothing that it started may live on.
    pub(super) fn nothing_is_left(&self, round: &Round<'_>) -> Result<(), Failed> {
        let is_over = within(GONE, || self.started().is_empty());
        round.expect(Wrong::Orphan, is_over, || format!("left behind: {:?}", self.started()))
    }

    /// Its client goes without a word, or the system tells it to end; it ends in good order, and so does all else.
    pub(super) fn ends(mut self, round: &Round<'_>, by_signal: bool) -> Result<(), Failed> {
        if by_signal {
            signal(self.pid(), Signal::TERM);
        } else {
            self.client.leave();
        }
        if !within(FAREWELL, || !self.process.is_running()) {
            kill(self.pid());
            return wrong(Wrong::Hang, format!("the server does not end within {FAREWELL:?}"));
        }
        let (status, stderr) = self.process.end();
        round.note(format!("the server ended with {status}: {stderr}"));
        let is_fine = status.success() && !stderr.contains("panicked");
        round.expect(Wrong::Crash, is_fine, || format!("{status}: {stderr}"))?;
        self.nothing_is_left(round)
    }

    /// It still answers, and nothing in it panicked.
    pub(super) fn is_sound(&mut self, round: &Round<'_>) -> Result<(), Failed> {
        let said = self.client.call(round, "server_status", serde_json::json!({}))?;
        let is_fine = said.data["panics"] == 0;
        round.expect(Wrong::Crash, is_fine, || said.text.clone())
    }
}

/// After a round that failed, so that it disturbs no other.
impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone, and its number somebody else's.
        self.process.child().kill().unwrap_or_default();
        self.started().iter().for_each(|it| kill(it.pid));
    }
}

fn start(round: &Round<'_>, home: &Path, mark: &str) -> Result<(Process, Client), Failed> {
    let mut process = Process::start_at(BIN, &["mcp", "--port", "0"], home, |command| {
        command.env(MARK, mark).env_remove("VIRTUAL_ENV");
        // Go's own libraries are compiled once, not for each home.
        command.env("GOCACHE", std::env::temp_dir().join("holdpoint-walk-go"));
    });
    let stdin = process.child().stdin.take().expect("a pipe");
    let stdout = process.child().stdout.take().expect("a pipe");
    let mut client = Client::lines(stdin, stdout);
    client.initialize(round)?;
    Ok((process, client))
}

fn seen(pid: i32) -> Option<Started> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(&words).split('\0').map(str::to_owned).collect();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    Some(Started { pid, parent, words })
}

pub(super) fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|it| it != "Z" && it != "X")
}

pub(super) fn kill(pid: i32) {
    signal(pid, Signal::KILL);
}

fn signal(pid: i32, signal: Signal) {
    // It may be gone by itself.
    let pid = Pid::from_raw(pid).expect("a pid");
    kill_process(pid, signal).unwrap_or_default();
}
