//! `holdpoint leave`: holds the connection to the inspector of a Node program that we did not start, and says goodbye on
//! it when the server was killed and cannot.
//!
//! Node's inspector writes to a connection of which it has just read the end, and the program dies of that (seen with
//! 20.20). So the end of the server must not be the end of its connection. As long as the server lives this process does
//! nothing: its stdin is a pipe that ends with the server, its stdout the connection.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    os::fd::AsFd as _,
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::config::Config;

/// How long the program may take to hear it. One that is inside of a system call is left all the same.
const PATIENCE: Duration = Duration::from_secs(3);
/// After these the program says nothing unasked. The numbers are the last that there are: the server counts from one.
const SILENCE: [(u32, &str); 3] = [
    (i32::MAX as u32 - 2, "NodeWorker.disable"),
    (i32::MAX as u32 - 1, "Debugger.disable"),
    (i32::MAX as u32, "Runtime.disable"),
];
const LAST_ANSWER: &[u8] = br#""id":2147483647"#;
/// The kinds of a websocket's frames.
const TEXT: u8 = 1;
const CLOSE: u8 = 8;

/// Say goodbye to a program for a server that was killed
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Leave {}

impl super::Command for Leave {
    const NAME: &'static str = "leave";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        io::copy(&mut io::stdin(), &mut io::sink())?;
        let socket = io::stdout().as_fd().try_clone_to_owned()?;
        // An error means that the program has closed it already, as it does when the server said goodbye itself.
        part(TcpStream::from(socket)).unwrap_or_default();
        Ok(ExitCode::SUCCESS)
    }
}

fn part(mut socket: TcpStream) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    socket.set_nonblocking(false)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    for (id, method) in SILENCE {
        let text = format!(r#"{{"id":{id},"method":"{method}"}}"#);
        socket.write_all(&frame(TEXT, &text))?;
    }
    let mut tail = Vec::new();
    read(&mut socket, until, |bytes| {
        tail.extend_from_slice(bytes);
        let is_last = tail.windows(LAST_ANSWER.len()).any(|it| it == LAST_ANSWER);
        tail.drain(..tail.len().saturating_sub(LAST_ANSWER.len()));
        is_last
    })?;
    socket.write_all(&frame(CLOSE, ""))?;
    read(&mut socket, until, |_| false)
}

/// Reads to the end of the connection, or until it is enough.
fn read(
    socket: &mut TcpStream,
    until: Instant,
    mut is_enough: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut bytes = [0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let length = socket.read(&mut bytes)?;
        if length == 0 || is_enough(bytes.get(..length).unwrap_or_default()) {
            return Ok(());
        }
    }
}

/// A frame of a client has to be masked; a mask of zeros leaves it as it is. Ours are short.
fn frame(kind: u8, text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or_default() & 0x7f;
    [&[0x80 | kind, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}
