//! Asking another program a question, and not waiting for ever.
//!
//! What counts is what the program says on its standard output; its exit code does not.
//! A program that is still silent at the deadline is killed, with the programs it has started.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A version takes milliseconds, a cold Python import on a slow disk a second.
pub(super) const DEADLINE: Duration = Duration::from_secs(3);

/// A version is one line; what says more is not answering the question.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// What it said, without the white space around it. It may be nothing.
    Said(String),
    /// It did not finish before the deadline.
    TooLate,
    /// It could not be started or not be read.
    Failed(String),
}

/// What a program says to these words, if it does so in time.
pub(crate) fn said(program: &Path, arguments: &[&str]) -> Option<String> {
    match ask(program, arguments, DEADLINE) {
        Answer::Said(text) => Some(text),
        Answer::TooLate | Answer::Failed(_) => None,
    }
}

/// Runs a program and returns what it said until the deadline.
pub(super) fn ask(program: &Path, arguments: &[&str], deadline: Duration) -> Answer {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    in_own_group(&mut command);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Answer::Failed(error.to_string()),
    };
    let answer = listen(&mut child, deadline);
    if answer == Answer::TooLate {
        kill_group(&child);
    }
    // It has closed its output or it is late; either way nothing more is wanted from it.
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        tracing::debug!(%error, program = %program.display(), "a program that was asked could not be ended");
    }
    answer
}

fn listen(child: &mut Child, deadline: Duration) -> Answer {
    let Some(output) = child.stdout.take() else {
        return Answer::Failed("it has no output".to_owned());
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    // The thread ends when the pipe closes, at the latest when the child and its children are killed.
    let reader = thread::Builder::new().name("doctor-ask".to_owned()).spawn(move || {
        // Nobody listens any more after the deadline.
        sender.send(read_all(output)).ok();
    });
    if let Err(error) = reader {
        return Answer::Failed(error.to_string());
    }
    match receiver.recv_timeout(deadline) {
        Ok(Ok(text)) => Answer::Said(text),
        Ok(Err(error)) => Answer::Failed(error.to_string()),
        Err(_) => Answer::TooLate,
    }
}

fn read_all(output: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    output.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// `python3` and `node` are often shell scripts that start the real program; a group can be killed as one.
#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn in_own_group(_command: &mut Command) {}

/// The standard library kills a process but no group, and we write no unsafe code: the shell does it for us.
/// The child is not reaped yet, so its number cannot belong to anyone else.
#[cfg(unix)]
fn kill_group(child: &Child) {
    let script = format!("kill -s KILL -- -{}", child.id());
    run_killer(Command::new("/bin/sh").args(["-c", &script]));
}

#[cfg(not(unix))]
fn kill_group(child: &Child) {
    run_killer(Command::new("taskkill").args(["/T", "/F", "/PID", &child.id().to_string()]));
}

fn run_killer(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::debug!(%status, "the children of a late program may still run"),
        Err(error) => tracing::debug!(%error, "the children of a late program may still run"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::OpenOptions;
    use std::time::Instant;

    use super::*;

    fn ask_shell(script: &str, deadline: Duration) -> Answer {
        ask(Path::new("/bin/sh"), &["-c", script], deadline)
    }

    #[track_caller]
    fn check(script: &str, expected: &str) {
        assert_eq!(ask_shell(script, DEADLINE * 10), Answer::Said(expected.to_owned()));
    }

    #[test]
    fn an_answer_is_what_it_says_on_its_standard_output() {
        check("echo Python 3.11.7", "Python 3.11.7");
        check("echo here; echo there >&2; exit 7", "here");
        check("exit 1", "");
        check("cat", "");
    }

    #[test]
    fn an_answer_without_end_is_cut() {
        let Answer::Said(text) = ask_shell("while :; do echo yes; done", DEADLINE * 10) else {
            panic!("no answer")
        };
        let length = text.len() as u64;
        assert!((ANSWER_BYTES_MAX / 2..=ANSWER_BYTES_MAX).contains(&length), "{length}");
    }

    #[test]
    fn a_program_that_cannot_start_fails() {
        let answer = ask(Path::new("/no/such/program"), &[], DEADLINE);
        assert!(matches!(answer, Answer::Failed(_)), "{answer:?}");
    }

    #[test]
    fn a_late_program_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // The child's child holds the writing end. Its death is the end of the file, and nothing else is.
        let script = format!("sleep 120 > {} & wait", fifo.display());
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::read(fifo)
        });
        let started = Instant::now();
        assert_eq!(ask_shell(&script, Duration::from_millis(500)), Answer::TooLate);
        // On a machine too busy to get as far as the `sleep`, the reader still waits for a first writer.
        drop(OpenOptions::new().read(true).write(true).open(fifo).unwrap());
        assert_eq!(reader.join().unwrap().unwrap(), b"");
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}
