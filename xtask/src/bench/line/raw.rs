//! A debugger as it is started without us, and the connection to it.
//!
//! Where its words have `{port}` it listens there and we dial, where they have `{door}` we listen and it dials, else
//! it speaks by its pipes.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use socket2::SockRef;

use super::quick::{ANSWER_LIMIT, Quick};
use crate::bench::client::Process;
use crate::process::Group;

/// Between two looks whether it listens.
const AGAIN: Duration = Duration::from_millis(1);

/// How a debugger is started.
pub(super) struct Raw {
    pub(super) words: Vec<String>,
    pub(super) folder: Option<PathBuf>,
    pub(super) env: Vec<(OsString, OsString)>,
}

/// A debugger that was started. Fields are dropped in order: the connection closes, the debugger is killed.
pub(super) struct Wire {
    pub(super) read: Box<dyn Read>,
    pub(super) write: Box<dyn Write>,
    pub(super) process: Process,
}

impl Raw {
    /// Whatever is left of it ends with the group.
    pub(super) fn start(&self, group: &Group) -> Result<Wire> {
        let has = |mark: &str| self.words.iter().any(|it| it.contains(mark));
        if has("{door}") {
            return self.be_dialled(group);
        }
        if has("{port}") {
            return self.dial(group);
        }
        let mut command = self.command("", "", group)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = self.spawn(command)?;
        let stdin = process.0.stdin.take().context("stdin was not piped")?;
        let stdout = process.0.stdout.take().context("stdout was not piped")?;
        Ok(Wire { read: Box::new(stdout), write: Box::new(stdin), process })
    }

    fn be_dialled(&self, group: &Group) -> Result<Wire> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Linux bounds `accept` by it, too: one that dies at once never dials.
        SockRef::from(&listener).set_read_timeout(Some(ANSWER_LIMIT))?;
        let door = listener.local_addr()?.to_string();
        let process = self.spawn(self.command("{door}", &door, group)?)?;
        let (stream, _) = listener.accept().context("waiting for the debugger to dial us")?;
        Wire::over(stream, process)
    }

    fn dial(&self, group: &Group) -> Result<Wire> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let process = self.spawn(self.command("{port}", &free.to_string(), group)?)?;
        Wire::over(dial(free)?, process)
    }

    fn command(&self, mark: &str, address: &str, group: &Group) -> Result<Command> {
        let words = self.words.iter();
        let words: Vec<String> = match mark {
            "" => words.cloned().collect(),
            mark => words.map(|it| it.replace(mark, address)).collect(),
        };
        let (program, args) = words.split_first().context("`raw` names no command")?;
        let mut command = Command::new(program);
        command.args(args).envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(group.id()?);
        Ok(command)
    }

    fn spawn(&self, mut command: Command) -> Result<Process> {
        let child = command.spawn();
        let started = || format!("starting `{}`", command.get_program().to_string_lossy());
        Ok(Process(child.with_context(started)?))
    }
}

impl Wire {
    fn over(stream: TcpStream, process: Process) -> Result<Self> {
        let (read, write) = (Quick::new(stream.try_clone()?)?, Quick::new(stream)?);
        Ok(Self { read: Box::new(read), write: Box::new(write), process })
    }
}

fn dial(port: u16) -> Result<TcpStream> {
    let begun = Instant::now();
    loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > ANSWER_LIMIT => {
                return Err(error).context("the debugger does not listen");
            }
            // Nobody tells when a port opens.
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}
