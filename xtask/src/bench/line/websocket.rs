//! The least that a websocket client can be: text out in one masked frame, text in from any number.
//!
//! RFC 6455, without extensions, subprotocols, and checks of the handshake's key: the other end is
//! a `node` that we have just started. Generic over the stream, so that the tests need no socket.

use std::io::{BufRead, BufReader, Read, Write};

use anyhow::{Context, Result, bail};

/// A stack with previews is some kilobytes; a length beyond this is not one of ours.
const MESSAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;

const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;

/// Any four bytes: masks protect proxies, of which there is none here.
const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

pub(super) struct WebSocket<S> {
    stream: BufReader<S>,
}

impl<S: Read + Write> WebSocket<S> {
    /// Upgrades a connection.
    pub(super) fn open(mut stream: S, host: &str, path: &str) -> Result<Self> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut stream = BufReader::new(stream);
        let status = line(&mut stream)?;
        if !status.starts_with("HTTP/1.1 101") {
            bail!("no websocket at `{host}{path}`: {status}");
        }
        while !line(&mut stream)?.is_empty() {}
        Ok(Self { stream })
    }

    pub(super) fn send(&mut self, text: &str) -> Result<()> {
        let mut frame = vec![FINAL | TEXT];
        // The shortest of the three forms of a length, as the RFC demands.
        match (u8::try_from(text.len()), u16::try_from(text.len())) {
            (Ok(length @ ..=125), _) => frame.push(MASKED | length),
            (_, Ok(length)) => {
                frame.push(MASKED | 126);
                frame.extend(length.to_be_bytes());
            }
            (_, Err(_)) => {
                frame.push(MASKED | 127);
                frame.extend((text.len() as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        frame.extend(text.bytes().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        // One write: a second one would wait for the acknowledgement of the first.
        Ok(self.stream.get_mut().write_all(&frame)?)
    }

    /// The next message, put together from its frames.
    pub(super) fn receive(&mut self) -> Result<String> {
        let mut message = Vec::new();
        loop {
            let [head, length] = self.take()?;
            let payload = self.payload(length)?;
            match head & 0x0F {
                CLOSE => bail!("the inspector closed the connection"),
                // Pings and pongs may come between the frames of a message; V8 sends none to answer.
                control if control > CLOSE => continue,
                _ => message.extend(payload),
            }
            if head & FINAL != 0 {
                return String::from_utf8(message).context("a message that is not UTF-8");
            }
        }
    }

    fn payload(&mut self, length: u8) -> Result<Vec<u8>> {
        let length = match length {
            126 => u64::from(u16::from_be_bytes(self.take()?)),
            127 => u64::from_be_bytes(self.take()?),
            short @ ..=125 => u64::from(short),
            128.. => bail!("a masked frame from a server"),
        };
        if length > MESSAGE_BYTES_MAX {
            bail!("a frame of {length} bytes");
        }
        let mut payload = vec![0; usize::try_from(length)?];
        self.stream.read_exact(&mut payload)?;
        Ok(payload)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        bail!("the connection closed during the websocket's handshake");
    }
    Ok(line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use super::*;

    /// What the server says, and what it is told.
    struct Wire {
        says: Cursor<Vec<u8>>,
        told: Vec<u8>,
    }

    impl Read for Wire {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.says.read(buffer)
        }
    }

    impl Write for Wire {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.told.write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn open(frames: &[u8]) -> WebSocket<Wire> {
        let mut says = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".to_vec();
        says.extend(frames);
        let wire = Wire { says: Cursor::new(says), told: Vec::new() };
        WebSocket::open(wire, "127.0.0.1:1", "/id").unwrap()
    }

    #[test]
    fn a_message_is_put_together_from_its_frames() {
        // Two parts with a ping between them, then one with a length of two bytes.
        let mut frames = b"\x01\x02he\x89\x00\x80\x03llo".to_vec();
        frames.extend([0x81, 126, 0, 200]);
        frames.extend([b'x'; 200]);
        let mut socket = open(&frames);
        assert_eq!(socket.receive().unwrap(), "hello");
        assert_eq!(socket.receive().unwrap(), "x".repeat(200));
        socket.receive().unwrap_err();
    }

    #[test]
    fn a_close_and_an_absurd_length_are_errors() {
        open(b"\x88\x00").receive().unwrap_err();
        open(b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff").receive().unwrap_err();
    }

    #[track_caller]
    fn check_sent(text: &str, head: &[u8]) {
        let mut socket = open(b"");
        socket.stream.get_mut().told.clear();
        socket.send(text).unwrap();
        let told = &socket.stream.get_ref().told;
        let (sent_head, rest) = told.split_at(head.len());
        assert_eq!(sent_head, head);
        let (mask, payload) = rest.split_at(4);
        let plain = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        assert_eq!(plain.collect::<Vec<u8>>(), text.as_bytes());
    }

    #[test]
    fn what_is_sent_is_masked_and_says_its_length() {
        check_sent("hello", &[0x81, 0x85]);
        check_sent(&"x".repeat(125), &[0x81, 0xFD]);
        check_sent(&"x".repeat(126), &[0x81, 0xFE, 0, 126]);
        check_sent(&"x".repeat(70_000), &[0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0x11, 0x70]);
    }
}
