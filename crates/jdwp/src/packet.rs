//! Bytes in, packets out, and back. No IO.

use crate::limits;

const HEAD: usize = 11;
const REPLY: u8 = 0x80;
/// What both sides say first; the debugger begins.
pub(crate) const HANDSHAKE: &[u8] = b"JDWP-Handshake";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Packet {
    Command { id: u32, set: u8, command: u8, data: Vec<u8> },
    Reply { id: u32, error: u16, data: Vec<u8> },
}

pub(crate) fn encode(id: u32, set: u8, command: u8, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEAD + data.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEAD + data.len());
    bytes.extend(length.to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend([0, set, command]);
    bytes.extend(data);
    bytes
}

/// Feed it bytes, then take packets until there is none.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    buffer: Vec<u8>,
    start: usize,
}

impl Packets {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend(bytes);
    }

    /// The next packet; an error where the stream is out of step, which nothing mends.
    pub(crate) fn next(&mut self) -> Result<Option<Packet>, &'static str> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let Some((head, _)) = rest.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [l0, l1, l2, l3, i0, i1, i2, i3, flags, one, two] = *head;
        let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
        if !(HEAD..=limits::PACKET_BYTES).contains(&length) {
            return Err("a packet of an impossible length");
        }
        let Some(data) = rest.get(HEAD..length) else { return Ok(None) };
        let (id, data) = (u32::from_be_bytes([i0, i1, i2, i3]), data.to_vec());
        self.start += length;
        Ok(Some(match flags & REPLY != 0 {
            true => Packet::Reply { id, error: u16::from_be_bytes([one, two]), data },
            false => Packet::Command { id, set: one, command: two, data },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_however_the_bytes_are_cut() {
        let mut bytes = encode(7, 1, 2, b"abc");
        // A reply: its flag, and an error in the place of the command.
        let mut reply = encode(7, 0, 13, b"");
        reply[8] = REPLY;
        bytes.extend(reply);
        for cut in 1..bytes.len() {
            let mut packets = Packets::default();
            let mut found = Vec::new();
            for chunk in bytes.chunks(cut) {
                packets.feed(chunk);
                while let Some(packet) = packets.next().unwrap() {
                    found.push(packet);
                }
            }
            let command = Packet::Command { id: 7, set: 1, command: 2, data: b"abc".to_vec() };
            assert_eq!(found, [command, Packet::Reply { id: 7, error: 13, data: Vec::new() }]);
        }
    }

    #[test]
    fn a_stream_out_of_step_is_an_error_and_no_allocation() {
        for length in [0_u32, 10, u32::MAX] {
            let mut packets = Packets::default();
            let mut bytes = length.to_be_bytes().to_vec();
            bytes.extend([0; 16]);
            packets.feed(&bytes);
            assert!(packets.next().is_err(), "{length}");
        }
    }
}
