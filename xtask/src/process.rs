//! Child processes that cannot outlive their deadline, or us.
//!
//! Every child leads a process group, and a small shell process guards it: when the guard's
//! stdin closes it kills the group. That happens when the child has ended, when its deadline
//! has passed, and also when we die, by Ctrl-C or otherwise, because the pipe is ours.
//! A shell, because killing a group from std alone would need unsafe code.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How often a silent child is reported as still running.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long the last output may take to arrive once the whole group is dead.
const DRAIN: Duration = Duration::from_secs(5);

/// What of a child's output goes on to the terminal; all of it is kept.
#[derive(Clone, Copy)]
pub(crate) enum Show {
    All,
    /// For children whose stdout is data for us.
    Errors,
    /// For what is only interesting when it fails; says now and then that it is still running.
    Nothing,
}

/// A child that has ended, and what it said.
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    ended: Ended,
}

enum Ended {
    ByItself(ExitStatus),
    AtDeadline(Duration),
}

impl Finished {
    pub(crate) fn success(&self) -> bool {
        matches!(&self.ended, Ended::ByItself(status) if status.success())
    }

    pub(crate) fn timed_out(&self) -> bool {
        matches!(&self.ended, Ended::AtDeadline(_))
    }

    pub(crate) fn how_it_ended(&self) -> String {
        match &self.ended {
            Ended::ByItself(status) => status.to_string(),
            Ended::AtDeadline(limit) => format!("killed after {} s", limit.as_secs()),
        }
    }

    /// The end of what it said, for an error message.
    pub(crate) fn last_words(&self) -> String {
        const LINES: usize = 15;
        let said = format!("{}\n{}", self.stdout.trim_end(), self.stderr.trim_end());
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.iter().skip(lines.len().saturating_sub(LINES)).copied().collect::<Vec<_>>().join("\n")
    }
}

/// Runs a command to its end or its deadline.
pub(crate) fn run(command: &mut Command, limit: Duration, show: Show) -> Result<Finished> {
    let mut child = spawn(command.stdin(Stdio::null()).stderr(Stdio::piped()))?;
    let group = Group::led_by(&child)?;
    let stdout = collect(child.stdout.take(), matches!(show, Show::All).then(std::io::stdout))?;
    let stderr =
        collect(child.stderr.take(), (!matches!(show, Show::Nothing)).then(std::io::stderr))?;
    let (exited, exit) = mpsc::channel();
    thread::Builder::new().name("wait".into()).spawn(move || {
        // Nobody listens any more when the group was killed and given up.
        exited.send(child.wait()).ok();
    })?;
    let ended = wait(&exit, limit, show)?;
    drop(group);
    Ok(Finished {
        stdout: stdout.recv_timeout(DRAIN).unwrap_or_default(),
        stderr: stderr.recv_timeout(DRAIN).unwrap_or_default(),
        ended,
    })
}

/// A server started for a test; ends with its group when dropped.
pub(crate) struct Background {
    _group: Group,
    lines: Receiver<String>,
}

impl Background {
    /// Starts it; its stderr stays ours, its stdout is read line by line.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = spawn(command.stdin(Stdio::null()))?;
        let group = Group::led_by(&child)?;
        let stdout = child.stdout.take().context("stdout was not piped")?;
        let (line, lines) = mpsc::channel();
        thread::Builder::new().name("lines".into()).spawn(move || {
            for text in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Reading goes on when nobody listens: a full pipe would block the server.
                line.send(text).ok();
            }
            // Reaps it; the group's guard ends it.
            child.wait().ok();
        })?;
        Ok(Self { _group: group, lines })
    }

    /// The next line it prints.
    pub(crate) fn line(&self, limit: Duration) -> Result<String> {
        self.lines
            .recv_timeout(limit)
            .with_context(|| format!("it printed no line within {} s", limit.as_secs()))
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting `{}`", command.get_program().to_string_lossy()))
}

fn wait(
    exit: &Receiver<std::io::Result<ExitStatus>>,
    limit: Duration,
    show: Show,
) -> Result<Ended> {
    let start = Instant::now();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        match exit.recv_timeout(left.min(HEARTBEAT)) {
            Ok(status) => return Ok(Ended::ByItself(status.context("waiting for a child")?)),
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= limit => {
                return Ok(Ended::AtDeadline(limit));
            }
            Err(RecvTimeoutError::Timeout) => {
                if matches!(show, Show::Nothing) {
                    eprintln!("  … {} s", start.elapsed().as_secs());
                }
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the thread that waits has gone"),
        }
    }
}

/// Copies a stream to the terminal, if one is given, and delivers all of it at its end.
fn collect(
    stream: Option<impl Read + Send + 'static>,
    terminal: Option<impl Write + Send + 'static>,
) -> Result<Receiver<String>> {
    let stream = stream.context("a stream was not piped")?;
    let (all, received) = mpsc::channel();
    thread::Builder::new().name("output".into()).spawn(move || {
        // Nobody listens any more when a grandchild kept the pipe open beyond `DRAIN`.
        all.send(copy_lines(stream, terminal)).ok();
    })?;
    Ok(received)
}

fn copy_lines(stream: impl Read, mut terminal: Option<impl Write>) -> String {
    let mut reader = BufReader::new(stream);
    let mut all = Vec::new();
    loop {
        let mut line = Vec::new();
        // An error ends the stream as its end does: the exit status tells what matters.
        if reader.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return String::from_utf8_lossy(&all).into_owned();
        }
        if terminal.as_mut().is_some_and(|terminal| terminal.write_all(&line).is_err()) {
            terminal = None;
        }
        all.append(&mut line);
    }
}

/// A process group; dropping it kills what is left of it.
pub(crate) struct Group {
    guard: Child,
}

impl Group {
    /// A group that its guard leads. Others join by its id, and starting them costs no guard.
    pub(crate) fn empty() -> Result<Self> {
        let guard = Command::new("sh")
            .args(["-c", "read -r _; kill -9 0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting `sh` as a guard")?;
        Ok(Self { guard })
    }

    /// For `process_group` of a command that is to join; only of an [`Group::empty`] one.
    pub(crate) fn id(&self) -> Result<i32> {
        Ok(i32::try_from(self.guard.id())?)
    }

    /// The group that a child leads (`process_group(0)`).
    pub(crate) fn led_by(leader: &Child) -> Result<Self> {
        let guard = Command::new("sh")
            .args(["-c", r#"read -r _; kill -9 "-$1""#, "guard", &leader.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting `sh` as a guard")?;
        Ok(Self { guard })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            eprintln!("warning: a process group may have been left behind: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Finished {
        run(Command::new("sh").args(["-c", script]), limit, Show::Nothing).unwrap()
    }

    /// Waits until a killed process is gone. A zombie is: who reaps an orphan, and when, is the
    /// machine's business.
    #[track_caller]
    fn check_ends(pid: &str) {
        let deadline = Instant::now() + DRAIN;
        let stat = format!("/proc/{}/stat", pid.trim());
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(Instant::now() < deadline, "process {pid} is still there");
            thread::yield_now();
        }
    }

    #[test]
    fn output_and_status_are_kept() {
        let finished = sh("echo out; echo err >&2; exit 3", Duration::from_secs(10));
        assert_eq!(
            (finished.stdout.as_str(), finished.stderr.as_str(), finished.how_it_ended().as_str()),
            ("out\n", "err\n", "exit status: 3")
        );
        assert!(!finished.success());
    }

    #[test]
    fn the_deadline_kills_grandchildren_too() {
        let start = Instant::now();
        let finished = sh("sleep 100 & echo $!; sleep 100", Duration::from_millis(300));
        assert!(start.elapsed() < DRAIN, "a grandchild kept the pipe open");
        assert_eq!(finished.how_it_ended(), "killed after 0 s");
        check_ends(&finished.stdout);
    }

    #[test]
    fn what_a_child_left_behind_ends_with_it() {
        let start = Instant::now();
        let finished = sh("sleep 100 & echo done", Duration::from_secs(60));
        assert!(start.elapsed() < DRAIN, "a grandchild kept the pipe open");
        assert_eq!(finished.stdout, "done\n");
    }

    #[test]
    fn what_joins_a_group_ends_with_it() {
        let group = Group::empty().unwrap();
        let mut command = Command::new("sleep");
        let mut child = command.arg("100").process_group(group.id().unwrap()).spawn().unwrap();
        drop(group);
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_background_server_is_heard_and_ends_when_dropped() {
        let server =
            Background::start(Command::new("sh").args(["-c", "echo $$; sleep 100"])).unwrap();
        let pid = server.line(Duration::from_secs(10)).unwrap();
        drop(server);
        check_ends(&pid);
    }
}
