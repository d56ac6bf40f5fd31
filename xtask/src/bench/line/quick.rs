//! A loopback connection without the kernel's delays, as a debugger's client needs it.
//!
//! Debuggees write a message in two parts with Nagle's algorithm on; a delayed acknowledgement of
//! the first part costs 40 ms. The kernel forgets `TCP_QUICKACK`, so each read sets it again.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any launch: past it the debuggee does not answer.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Quick(TcpStream);

impl Quick {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.set_write_timeout(Some(ANSWER_LIMIT))?;
        let quick = Self(stream);
        quick.arm()?;
        Ok(quick)
    }

    #[cfg(target_os = "linux")]
    fn arm(&self) -> io::Result<()> {
        socket2::SockRef::from(&self.0).set_tcp_quickack(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn arm(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Quick {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.arm()?;
        Ok(count)
    }
}

impl Write for Quick {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
