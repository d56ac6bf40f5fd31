//! The packets of debuggers that live inside of a runtime: Java's, and Mono's that was made after it.
//!
//! A packet is its length, a number, a flag, and two bytes: of a command its set and itself, of an answer the error.

use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};

use anyhow::{Context, Result, bail};

use super::raw::Wire;
use crate::bench::client::Process;

const HEAD_BYTES: usize = 11;
const IS_REPLY: u8 = 0x80;
/// An answer is some kilobytes; a length beyond this is none.
const PACKET_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One connection. Fields are dropped in order: it closes, the program is killed.
pub(super) struct Packets {
    read: BufReader<Box<dyn Read>>,
    write: Box<dyn Write>,
    id: u32,
    /// What happened while we waited for an answer.
    happened: VecDeque<Vec<u8>>,
    _process: Process,
}

impl Packets {
    /// Greets, and is greeted.
    pub(super) fn over(wire: Wire, greeting: &[u8]) -> Result<Self> {
        let Wire { read, mut write, process } = wire;
        let mut read = BufReader::new(read);
        write.write_all(greeting)?;
        let mut said = vec![0; greeting.len()];
        read.read_exact(&mut said).context("waiting for the runtime's greeting")?;
        if said != greeting {
            bail!("the runtime greets otherwise");
        }
        Ok(Self { read, write, id: 0, happened: VecDeque::new(), _process: process })
    }

    /// Sends a command and waits for its answer.
    pub(super) fn ask(&mut self, (set, command): (u8, u8), body: Body) -> Result<Answer> {
        self.id += 1;
        let length = u32::try_from(HEAD_BYTES + body.0.len())?;
        let mut packet = Vec::with_capacity(HEAD_BYTES + body.0.len());
        packet.extend(length.to_be_bytes());
        packet.extend(self.id.to_be_bytes());
        packet.extend([0, set, command]);
        packet.extend(body.0);
        self.write.write_all(&packet)?;
        loop {
            let (head, body) = self.packet()?;
            let [.., i0, i1, i2, i3, flag, one, two] = head;
            if flag & IS_REPLY == 0 {
                self.happened.push_back(body);
            } else if u32::from_be_bytes([i0, i1, i2, i3]) == self.id {
                return match u16::from_be_bytes([one, two]) {
                    0 => Ok(Answer { bytes: body, at: 0 }),
                    error => bail!("the runtime refused {set}/{command}: error {error}"),
                };
            }
        }
    }

    /// What happened next.
    pub(super) fn event(&mut self) -> Result<Answer> {
        if let Some(bytes) = self.happened.pop_front() {
            return Ok(Answer { bytes, at: 0 });
        }
        loop {
            let (head, bytes) = self.packet()?;
            let [.., flag, _, _] = head;
            if flag & IS_REPLY == 0 {
                return Ok(Answer { bytes, at: 0 });
            }
        }
    }

    fn packet(&mut self) -> Result<([u8; HEAD_BYTES], Vec<u8>)> {
        let mut head = [0; HEAD_BYTES];
        self.read.read_exact(&mut head).context("the runtime closed the connection")?;
        let [l0, l1, l2, l3, ..] = head;
        let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3]))?;
        if !(HEAD_BYTES..=PACKET_BYTES_MAX).contains(&length) {
            bail!("a packet of {length} bytes");
        }
        let mut body = vec![0; length - HEAD_BYTES];
        self.read.read_exact(&mut body)?;
        Ok((head, body))
    }
}

/// What a command says, big-endian.
#[derive(Default)]
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(super) fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn long(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn text(self, value: &str) -> Result<Self> {
        let mut longer = self.int(i32::try_from(value.len())?);
        longer.0.extend(value.as_bytes());
        Ok(longer)
    }
}

/// What is answered, or happened; read from its begin to its end.
pub(super) struct Answer {
    bytes: Vec<u8>,
    at: usize,
}

impl Answer {
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.saturating_add(count));
        self.at += count;
        taken.context("an answer that is too short")
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.take(1)?.try_into()?))
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.take(4)?.try_into()?))
    }

    pub(super) fn long(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.take(8)?.try_into()?))
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.take(count).map(drop)
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let count = usize::try_from(self.int()?)?;
        Ok(String::from_utf8_lossy(self.take(count)?).into_owned())
    }

    /// As many as their count says.
    pub(super) fn all<T>(&mut self, one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = usize::try_from(self.int()?)?;
        self.some(count, one)
    }

    pub(super) fn some<T>(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        (0..count).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_no_more() {
        let body = Body::default().byte(7).int(-2).long(1 << 40).text("fig").unwrap();
        let mut answer = Answer { bytes: body.0, at: 0 };
        assert_eq!(answer.byte().unwrap(), 7);
        assert_eq!(answer.int().unwrap(), -2);
        assert_eq!(answer.long().unwrap(), 1 << 40);
        assert_eq!(answer.text().unwrap(), "fig");
        answer.byte().unwrap_err();
    }
}
