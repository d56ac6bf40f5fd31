//! Bytes in, packets out, and back. No IO, nothing awaited.
//!
//! A packet is its length, a number, a flag, and two bytes: of a command its set and itself, of an answer the error.

use crate::{MonoError, limits};

/// What both sides say first, the runtime before us.
pub const HANDSHAKE: &[u8; 13] = b"DWP-Handshake";

const HEAD: usize = 11;
const IS_REPLY: u8 = 0x80;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    Reply { id: u32, error: u16, body: Vec<u8> },
    Command { set: u8, command: u8, body: Vec<u8> },
}

/// A command as it is sent.
pub fn encode(id: u32, set: u8, command: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEAD + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    bytes.extend(length.to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend([0, set, command]);
    bytes.extend(body);
    bytes
}

/// Feed it bytes, then take packets until there is none.
#[derive(Debug, Default)]
pub struct PacketDecoder {
    buffer: Vec<u8>,
    /// Everything in the buffer before this has been used.
    start: usize,
}

impl PacketDecoder {
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next packet; nothing when more bytes are needed. After an error nothing that comes can be read.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, MonoError> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let Some(head) = rest.first_chunk::<HEAD>() else { return Ok(None) };
        let [l0, l1, l2, l3, i0, i1, i2, i3, flag, one, two] = *head;
        let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
        if length < HEAD {
            return Err(MonoError::Malformed("a packet that is shorter than its head"));
        }
        if length > limits::PACKET_BYTES {
            return Err(MonoError::Malformed("a packet that is too long"));
        }
        let Some(body) = rest.get(HEAD..length) else { return Ok(None) };
        let body = body.to_vec();
        self.start += length;
        Ok(Some(if flag & IS_REPLY != 0 {
            let id = u32::from_be_bytes([i0, i1, i2, i3]);
            Packet::Reply { id, error: u16::from_be_bytes([one, two]), body }
        } else {
            Packet::Command { set: one, command: two, body }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(id: u32, error: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = encode(id, 0, 0, body);
        let [one, two] = error.to_be_bytes();
        bytes.splice(8..11, [IS_REPLY, one, two]);
        bytes
    }

    #[test]
    fn packets_are_the_same_however_the_bytes_are_cut() {
        let mut bytes = reply(7, 102, b"no");
        bytes.extend(encode(9, 64, 100, b"event"));
        let expected = [
            Packet::Reply { id: 7, error: 102, body: b"no".to_vec() },
            Packet::Command { set: 64, command: 100, body: b"event".to_vec() },
        ];
        for size in 1..bytes.len() {
            let mut decoder = PacketDecoder::default();
            let mut seen = Vec::new();
            for chunk in bytes.chunks(size) {
                decoder.feed(chunk);
                while let Some(packet) = decoder.next_packet().unwrap() {
                    seen.push(packet);
                }
            }
            assert_eq!(seen, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error() {
        for length in [0_u32, 10, u32::MAX] {
            let mut decoder = PacketDecoder::default();
            decoder.feed(&length.to_be_bytes());
            decoder.feed(&[0; 7]);
            assert!(decoder.next_packet().is_err(), "{length}");
        }
    }
}
