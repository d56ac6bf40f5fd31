//! Programs we start. Each runs under a guard, a second copy of our own binary that ends the whole
//! process tree when it is told to, or when we die in whatever way.
//!
//! The guard is transparent: the program has our pipes for stdin, stdout and stderr, and the guard ends
//! as the program ended, with the same code or by the same signal. One that is killed takes its program
//! with it, and what that leaves is ended from here.

pub mod keeper;
mod orphans;
pub mod report;
mod tree;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};

use tokio::{
    io::AsyncRead,
    process::{Child, ChildStdin, Command},
};

use self::{
    orphans::Standing,
    report::{Report, Said},
};
use crate::failure::{Code, Failure};

/// What this process was given that lets its bearer in here. Nothing that we start has it from us: a program under a
/// debugger is the user's, or of whoever wrote it.
const SECRETS: [&str; 2] = ["HOLDPOINT_TOKEN", "HOLDPOINT_TOKEN_FILE"];

/// A command with our environment, but for our secrets.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in SECRETS {
        command.env_remove(name);
    }
    command
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Spec {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// On top of our own environment; `None` takes a variable away.
    pub env: BTreeMap<String, Option<String>>,
}

/// A program under way. Dropping it ends the tree.
pub struct Program {
    guard: Child,
    standing: Standing,
    report: Report,
    role: Role,
    pub pipes: Pipes,
}

/// What a process that we started is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The program itself: its pipes, its end and its exit code are what the session tells.
    Debuggee,
    /// It runs the program for us. Its output, its end and its exit code are its own affair: those of the
    /// program come by the protocol.
    Server,
    /// A server that looks at a program which is not ours: it is given time to let that go.
    Visitor,
}

/// What an adapter leaves in here is read for the session.
pub struct Pipes {
    pub stdin: Option<ChildStdin>,
    /// The program's own; an adapter may put itself in between to take out what its debugger says there.
    pub stdout: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// As much.
    pub stderr: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// What a debug server says of itself.
    pub debugger: Option<Box<dyn AsyncRead + Send + Unpin>>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Its end was seen, its status was not.
    Unknown,
    /// Its guard was killed by this signal, and the program ended with it.
    Unguarded(i32),
    /// We only attached to it, and let it go: it runs on.
    Left,
    /// We only attached to it, and its debugger went away: it runs on.
    Lost,
}

impl Program {
    /// Starts the program itself. `guard` is our own binary.
    pub fn start(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        Program::begin(guard, spec, Role::Debuggee, Stdio::piped)
    }

    /// Starts the program itself, with our own input and output.
    pub fn beside(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        Program::begin(guard, spec, Role::Debuggee, Stdio::inherit)
    }

    /// Starts a debug server, which is to run the program.
    pub fn serve(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        let mut server = Program::begin(guard, spec, Role::Server, Stdio::piped)?;
        server.pipes.debugger = server.pipes.stderr.take();
        Ok(server)
    }

    /// Starts a debug server, which is to look at a program that runs already.
    pub fn visit(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        let mut server = Program::begin(guard, spec, Role::Visitor, Stdio::piped)?;
        server.pipes.debugger = server.pipes.stderr.take();
        Ok(server)
    }

    /// The same of one that speaks elsewhere than by its pipes.
    pub fn visit_aside(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        Program::begin(guard, spec, Role::Visitor, Stdio::null)
    }

    /// Starts a debug server that speaks elsewhere than by its pipes: they are the program's.
    pub fn beside_its_program(guard: &Path, spec: &Spec) -> Result<Program, Failure> {
        Program::begin(guard, spec, Role::Server, Stdio::piped)
    }

    /// Whether it only runs the program for us, or looks at it.
    pub fn is_server(&self) -> bool {
        matches!(self.role, Role::Server | Role::Visitor)
    }

    /// Whether the program that it debugs is not ours.
    pub fn is_visitor(&self) -> bool {
        self.role == Role::Visitor
    }

    fn begin(
        guard: &Path,
        spec: &Spec,
        role: Role,
        pipe: fn() -> Stdio,
    ) -> Result<Program, Failure> {
        let mut command = command(guard);
        let (me, report) = (std::process::id().to_string(), Report::new());
        command.args(["guard", "--parent", &me]);
        if role == Role::Visitor {
            command.arg("--visits");
        }
        if let Some(number) = report.number() {
            command.args(["--report", &number.to_string()]);
        }
        command.arg("--").arg(&spec.program).args(&spec.args);
        command.current_dir(&spec.cwd);
        for (name, value) in &spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(pipe()).stdout(pipe()).stderr(pipe());
        // A terminal's Ctrl-C is for us, we end the program in our own order: the guard leaves our session.
        orphans::adopt();
        orphans::bury();
        let mut guard = command.spawn().map_err(|error| {
            Failure::new(
                Code::LaunchFailed,
                format!("cannot start `{}`: {error}", spec.program.display()),
            )
        })?;
        let pipes = Pipes {
            stdin: guard.stdin.take(),
            stdout: guard.stdout.take().map(|pipe| Box::new(pipe) as Box<_>),
            stderr: guard.stderr.take().map(|pipe| Box::new(pipe) as Box<_>),
            debugger: None,
        };
        let standing = Standing::new(guard.id());
        Ok(Program { guard, standing, report, role, pipes })
    }

    /// The process below which all of it is; none once it has ended.
    pub fn root(&self) -> Option<u32> {
        self.guard.id()
    }

    /// Waits for the end.
    pub async fn wait(&mut self) -> Exit {
        let guard = self.guard.wait().await.map_or(Exit::Unknown, Exit::from);
        self.standing.fell();
        orphans::bury();
        let Exit::Signal(signal) = guard else { return guard };
        let program = match self.report.read() {
            Said::Ended(program) if program == guard => return program,
            // Its program was gone, and what that had left was being ended.
            Said::Ended(program) => program,
            Said::Begun => Exit::Unguarded(signal),
            Said::Nothing => guard,
        };
        if !orphans::end().await {
            tracing::warn!("a guard was killed, and what was below it does not end");
        }
        program
    }

    /// What a killed guard left goes on reporting, and the end is looked for when nothing is reported: so it is
    /// ended before that. Whether it is over.
    pub fn end_what_is_left(&mut self) -> bool {
        let Ok(Some(status)) = self.guard.try_wait() else { return false };
        if matches!(Exit::from(status), Exit::Signal(_)) && self.report.read() == Said::Begun {
            self.standing.fell();
            orphans::kill();
        }
        true
    }

    /// What a program that ended at once wrote to stderr.
    pub async fn last_words(&mut self) -> String {
        let mut text = Vec::new();
        if let Some(stderr) = self.pipes.stderr.take().or_else(|| self.pipes.debugger.take()) {
            let mut bounded = tokio::io::AsyncReadExt::take(stderr, 64 * 1024);
            let read = tokio::io::AsyncReadExt::read_to_end(&mut bounded, &mut text);
            // A child may keep the pipe open; what came so far is what there is.
            tokio::time::timeout(crate::limits::DRAIN, read).await.map(drop).unwrap_or_default();
        }
        crate::budget::cut(String::from_utf8_lossy(&text).trim(), 2_000)
    }

    /// Ends the whole tree and waits for it.
    pub async fn kill(&mut self) -> Exit {
        self.tell_guard();
        self.wait().await
    }

    /// The same of a debug server that has nothing to let go.
    pub async fn kill_at_once(&mut self) -> Exit {
        self.signal_guard(rustix::process::Signal::QUIT);
        self.wait().await
    }

    /// The same, with what its guard left of it: the dead are nobody's for as long as we live otherwise.
    pub async fn finish(mut self) {
        self.kill().await;
        if !orphans::end().await {
            tracing::warn!("a program was ended, and what was below it does not end");
        }
    }

    /// The guard does the killing: only it sees every descendant.
    fn tell_guard(&self) {
        self.signal_guard(rustix::process::Signal::TERM);
    }

    fn signal_guard(&self, signal: rustix::process::Signal) {
        if let Some(pid) = self.guard.id().and_then(|pid| i32::try_from(pid).ok())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
            && let Err(error) = rustix::process::kill_process(pid, signal)
        {
            tracing::debug!(%error, "the guard is gone already");
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.tell_guard();
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Unknown,
        }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}{}", signal_name(*signal)),
            Exit::Unknown => f.write_str("an unknown exit code"),
            Exit::Unguarded(signal) => {
                write!(f, "its guard, which was killed by signal {signal}{}", signal_name(*signal))
            }
            Exit::Left => f.write_str("the program left running"),
            Exit::Lost => f.write_str("its debugger gone, the program still running"),
        }
    }
}

/// As Linux numbers them on nearly every machine.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        16 => "SIGSTKFLT",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        27 => "SIGPROF",
        29 => "SIGIO",
        30 => "SIGPWR",
        31 => "SIGSYS",
        34 => "SIGRTMIN",
        35..=64 => return format!(" (SIGRTMIN+{})", signal - 34),
        _ => return String::new(),
    };
    format!(" ({name})")
}
