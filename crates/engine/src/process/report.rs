//! What a guard writes down about its program, where we can read it after the guard's own end.
//!
//! A guard ends as its program ended, so a guard that somebody killed looks like a program that was. Only what
//! is written here tells the two apart. It is memory with a file's name, which the guard opens through `/proc`:
//! nothing is inherited, so no program ever holds it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::{fd::AsRawFd as _, unix::fs::FileExt as _},
};

use super::Exit;

/// Bytes of a report: two words and a number.
const BYTES: usize = 64;
/// Its first line: the guard could open it.
const HERE: &str = "guard";

/// The side that reads.
pub(super) struct Report(Option<File>);

impl Report {
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> Report {
        let made = rustix::fs::memfd_create("holdpoint-guard", rustix::fs::MemfdFlags::CLOEXEC);
        Report(made.ok().map(File::from))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> Report {
        Report(None)
    }

    /// How the guard names it; it knows our process id.
    pub(super) fn number(&self) -> Option<i32> {
        self.0.as_ref().map(|file| file.as_raw_fd())
    }

    pub(super) fn read(&self) -> Said {
        let mut text = [0; BYTES];
        let read = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = String::from_utf8_lossy(text.get(..read).unwrap_or_default()).into_owned();
        let mut lines = text.lines();
        if lines.next() != Some(HERE) {
            return Said::Nothing;
        }
        let last = lines.next().and_then(|line| line.split_once(' '));
        match last.map(|(word, number)| (word, number.parse())) {
            Some(("code", Ok(code))) => Said::Ended(Exit::Code(code)),
            Some(("signal", Ok(signal))) => Said::Ended(Exit::Signal(signal)),
            _ => Said::Begun,
        }
    }
}

/// What the guard came to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// It cannot write here.
    Nothing,
    /// It stands over its program.
    Begun,
    /// Its program ended so.
    Ended(Exit),
}

/// The side that writes: the guard's.
pub struct ReportWriter(Option<File>);

impl ReportWriter {
    /// The report `number` of our parent. Without it everything goes on; only a killed guard is not known as one.
    pub fn open(parent: i32, number: Option<i32>) -> ReportWriter {
        let path = number.map(|number| format!("/proc/{parent}/fd/{number}"));
        let file = path.and_then(|path| OpenOptions::new().write(true).open(path).ok());
        let mut writer = ReportWriter(file);
        writer.put(&format!("{HERE}\n"));
        writer
    }

    pub fn ended(&mut self, exit: Exit) {
        match exit {
            Exit::Code(code) => self.put(&format!("code {code}\n")),
            Exit::Signal(signal) => self.put(&format!("signal {signal}\n")),
            Exit::Unknown | Exit::Left | Exit::Lost | Exit::Unguarded(_) => {}
        }
    }

    fn put(&mut self, text: &str) {
        let done: io::Result<()> =
            self.0.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()));
        if let Err(error) = done {
            tracing::debug!(%error, "the guard's report cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_guard_wrote_is_read() {
        let report = Report::new();
        assert_eq!(report.read(), Said::Nothing);
        let me = i32::try_from(std::process::id()).unwrap();
        let mut writer = ReportWriter::open(me, report.number());
        assert_eq!(report.read(), Said::Begun);
        writer.ended(Exit::Signal(9));
        assert_eq!(report.read(), Said::Ended(Exit::Signal(9)));
    }
}
