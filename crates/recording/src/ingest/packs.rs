//! The steps of frames, one function's together: what asks for a name's history reads no other function's, and
//! what is alike packs well.

use std::{collections::HashMap, sync::Arc};

use super::threads::Live;
use crate::{
    head::{Part, PieceAt},
    limits,
    pack::{Packed, deflate},
};

/// What is not packed yet may hold this much; then the longest piece is packed.
const WAITING_MAX: usize = 16 << 20;

#[derive(Debug, Clone, Default)]
struct Piece {
    bytes: Vec<u8>,
    low: u32,
    high: u32,
    begin: u64,
    end: u64,
    frames: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Packs {
    waiting: HashMap<u32, Piece>,
    bytes: usize,
    packs: Vec<Arc<[u8]>>,
    pieces: Vec<PieceAt>,
}

impl Piece {
    /// Where it stands.
    fn at(&self, function: u32, pack: u32, at: u32) -> PieceAt {
        let Piece { low, high, begin, end, frames, .. } = *self;
        let length = self.bytes.len() as u32;
        PieceAt { function, pack, at, length, low, high, begin, end, frames }
    }
}

impl Packs {
    /// What a frame has done since it was put last.
    pub(super) fn put(&mut self, live: &mut Live) {
        let piece = self.waiting.entry(live.function).or_default();
        let before = piece.bytes.len();
        let Some(sealed) = live.steps.seal(&mut piece.bytes) else { return };
        if before == 0 {
            (piece.low, piece.high) = (live.call, live.call);
            (piece.begin, piece.end) = (sealed.begin, sealed.end);
        }
        (piece.begin, piece.end) = (piece.begin.min(sealed.begin), piece.end.max(sealed.end));
        piece.frames += u32::from(sealed.is_first);
        (piece.low, piece.high) = (piece.low.min(live.call), piece.high.max(live.call));
        self.bytes += piece.bytes.len() - before;
        if piece.bytes.len() >= limits::PACK {
            self.pack(live.function);
        } else if self.bytes > WAITING_MAX {
            let longest = self.waiting.iter().max_by_key(|(_, it)| it.bytes.len());
            if let Some(function) = longest.map(|(function, _)| *function) {
                self.pack(function);
            }
        }
    }

    fn pack(&mut self, function: u32) {
        let Some(piece) = self.waiting.remove(&function) else { return };
        self.bytes -= piece.bytes.len();
        self.pieces.push(piece.at(function, self.packs.len() as u32, 0));
        self.packs.push(deflate(&piece.bytes).into());
    }

    /// Where everything stands; what was left of several functions shares a pack.
    pub(super) fn finish(mut self, out: &mut Packed) -> (Vec<Part>, Vec<PieceAt>) {
        let mut parts: Vec<Part> = self.packs.iter().map(|it| out.put(it)).collect();
        let mut rest: Vec<(u32, Piece)> = self.waiting.drain().collect();
        rest.sort_by_key(|(function, _)| *function);
        let mut shared = Vec::new();
        for (function, piece) in rest.into_iter().filter(|(_, it)| !it.bytes.is_empty()) {
            self.pieces.push(piece.at(function, parts.len() as u32, shared.len() as u32));
            shared.extend_from_slice(&piece.bytes);
            if shared.len() >= limits::PACK {
                parts.push(out.deflated(&shared));
                shared.clear();
            }
        }
        if !shared.is_empty() {
            parts.push(out.deflated(&shared));
        }
        (parts, self.pieces)
    }
}
