//! Bytes in, messages out, and back. No IO, no clock, nothing awaited.
//!
//! A message is `Content-Length: N`, an empty line and N bytes of JSON. Real streams also hold what
//! an adapter or the program printed in between, lengths that are wrong, bytes that are not UTF-8.
//! The decoder never gives up: it goes on at the next header that makes sense and says what it
//! skipped. What it reports does not depend on how the bytes were cut on their way.

mod header;
mod json;
#[cfg(test)]
mod tests;

use serde_json::Value;
use thiserror::Error;

use self::header::Header;
use crate::limits;

/// A part of the stream that is not a message. The decoder has gone on behind it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    #[error("skipped {bytes} bytes between messages: `{}`", sample.escape_debug())]
    Skipped { bytes: usize, sample: String },
    #[error("skipped a message of {bytes} bytes, more than {} are not kept", limits::BODY_BYTES)]
    TooLarge { bytes: usize, head: String },
    #[error("a message of {bytes} bytes is not JSON: {problem}")]
    NotJson { bytes: usize, problem: String, head: String },
    /// A process that is killed while it writes: nothing is wrong with the stream.
    #[error("the end came after {got} of a message's {bytes} bytes")]
    CutOff { got: usize, bytes: usize },
}

/// Header and body in one buffer, so that they leave in one write: two small writes cost 40 ms on a
/// socket with delayed acknowledgement.
pub fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// Feed it bytes, then take messages until there is none. Kept in memory: at most one message of the
/// largest size, and what was fed last.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Everything in the buffer before this has been used.
    start: usize,
    state: State,
    /// What was passed over since the last message.
    skipped: Sample,
    bounds: Bounds,
    body_bytes: usize,
}

#[derive(Debug)]
enum State {
    Header,
    Body {
        bytes: usize,
    },
    /// The rest of a body that is too large, with its first bytes until they are reported.
    Skip {
        bytes: usize,
        left: usize,
        head: Option<Sample>,
    },
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    header: usize,
    body: usize,
    skip: usize,
}

/// The first bytes of something, and how long it was.
#[derive(Debug, Default)]
struct Sample {
    bytes: usize,
    first: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::bounded(Bounds {
            header: limits::HEADER_BYTES,
            body: limits::BODY_BYTES,
            skip: limits::SKIP_BYTES,
        })
    }
}

impl Decoder {
    fn bounded(bounds: Bounds) -> Self {
        Decoder {
            buffer: Vec::new(),
            start: 0,
            state: State::Header,
            skipped: Sample::default(),
            bounds,
            body_bytes: 0,
        }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > limits::IDLE_BUFFER_BYTES {
            self.buffer = Vec::new();
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message or the next thing that is none; nothing when more bytes are needed.
    #[expect(
        clippy::should_implement_trait,
        reason = "more may come after `None`: not an iterator"
    )]
    pub fn next(&mut self) -> Option<Result<Value, DecodeError>> {
        loop {
            let step = match &self.state {
                State::Header => self.header(),
                State::Body { bytes } => self.body(*bytes),
                State::Skip { .. } => self.skip(),
            };
            match step {
                Step::Again => {}
                Step::Wait => return None,
                Step::Out(out) => return Some(out),
            }
        }
    }

    /// The size of the body that `next` gave last: what its value weighs.
    pub fn body_bytes(&self) -> usize {
        self.body_bytes
    }

    /// At the end of the stream: what was left over, if anything.
    pub fn finish(&mut self) -> Option<DecodeError> {
        let left = self.buffer.len() - self.start;
        match std::mem::replace(&mut self.state, State::Header) {
            // Killed before it had written how long its message is.
            State::Header if self.skipped.bytes == 0 && header::is_broken_off(self.rest()) => {
                self.start += left;
                None
            }
            State::Header => {
                self.discard(left);
                self.report()
            }
            State::Body { bytes } => {
                self.start += left;
                Some(DecodeError::CutOff { got: left, bytes })
            }
            State::Skip { bytes, left, .. } => {
                Some(DecodeError::CutOff { got: bytes - left, bytes })
            }
        }
    }

    /// Looks for a header that makes sense, passing over everything else.
    fn header(&mut self) -> Step {
        let rest = self.rest();
        let before = header::begin(rest);
        if before > 0 {
            self.discard(before);
            return Step::Again;
        }
        match header::read(rest, self.bounds.header) {
            Header::Incomplete => Step::Wait,
            Header::Nonsense => {
                self.discard(header::NAME.len());
                Step::Again
            }
            Header::Length { body, .. } if body > self.bounds.skip => {
                self.discard(header::NAME.len());
                Step::Again
            }
            Header::Length { header, body } => {
                let report = self.report();
                self.start += header;
                self.state = if body > self.bounds.body {
                    State::Skip { bytes: body, left: body, head: Some(Sample::default()) }
                } else {
                    State::Body { bytes: body }
                };
                report.map_or(Step::Again, |error| Step::Out(Err(error)))
            }
        }
    }

    fn body(&mut self, bytes: usize) -> Step {
        let Some(body) = self.rest().get(..bytes) else { return Step::Wait };
        let parsed = json::parse(body);
        let (used, out) = match parsed {
            Ok(value) => (bytes, Ok(value)),
            // The length may be wrong: a header inside is where the next message begins.
            Err(problem) => {
                let head = lossy(body.get(..limits::SAMPLE_BYTES).unwrap_or(body));
                (header::begin(body), Err(DecodeError::NotJson { bytes, problem, head }))
            }
        };
        self.start += used;
        self.state = State::Header;
        self.body_bytes = bytes;
        Step::Out(out)
    }

    fn skip(&mut self) -> Step {
        let State::Skip { bytes, left, head } = &mut self.state else { return Step::Again };
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let passed = rest.get(..*left).unwrap_or(rest);
        self.start += passed.len();
        *left -= passed.len();
        let (bytes, ended) = (*bytes, *left == 0);
        let known = head.take_if(|head| {
            head.add(passed);
            head.first.len() >= limits::SAMPLE_BYTES.min(bytes)
        });
        if ended {
            self.state = State::Header;
        }
        match known {
            Some(head) => Step::Out(Err(DecodeError::TooLarge { bytes, head: lossy(&head.first) })),
            None if ended => Step::Again,
            None => Step::Wait,
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn discard(&mut self, bytes: usize) {
        let end = self.start.saturating_add(bytes).min(self.buffer.len());
        self.skipped.add(self.buffer.get(self.start..end).unwrap_or_default());
        self.start = end;
    }

    /// What was passed over, unless it is blank or other headers of the message that follows.
    fn report(&mut self) -> Option<DecodeError> {
        let skipped = std::mem::take(&mut self.skipped);
        let whole = skipped.bytes == skipped.first.len();
        if whole && header::is_harmless(&skipped.first) {
            return None;
        }
        Some(DecodeError::Skipped { bytes: skipped.bytes, sample: lossy(&skipped.first) })
    }
}

enum Step {
    Again,
    Wait,
    Out(Result<Value, DecodeError>),
}

impl Sample {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let room = limits::SAMPLE_BYTES.saturating_sub(self.first.len());
        self.first.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
