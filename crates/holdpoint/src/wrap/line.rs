//! Lines as they come, to be looked at one by one; of one that is too long the parts, which are only passed on.

use holdpoint_engine::limits;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

pub(super) struct Lines<R> {
    from: BufReader<R>,
    /// In the middle of one that is too long.
    is_long: bool,
}

/// What goes on to the other side.
pub(super) enum Piece {
    /// A whole line, with its end.
    Line(Vec<u8>),
    /// A part of one that nobody looks into.
    Part(Vec<u8>),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R) -> Lines<R> {
        Lines { from: BufReader::with_capacity(64 * 1024, from), is_long: false }
    }

    pub(super) async fn next(&mut self) -> Option<Piece> {
        let mut line = Vec::new();
        loop {
            let available = self.from.fill_buf().await.ok()?;
            if available.is_empty() {
                return (!line.is_empty()).then_some(Piece::Part(line));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let take = end.map_or(available.len(), |at| at + 1);
            line.extend_from_slice(available.get(..take).unwrap_or_default());
            self.from.consume(take);
            if end.is_some() {
                return Some(match std::mem::take(&mut self.is_long) {
                    true => Piece::Part(line),
                    false => Piece::Line(line),
                });
            }
            if line.len() >= limits::EXTERNAL_MESSAGE {
                self.is_long = true;
                return Some(Piece::Part(line));
            }
        }
    }
}
