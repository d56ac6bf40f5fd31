//! The last of what a server wrote to stderr: bounded, so that one that floods it costs nothing.

use std::sync::{Mutex, PoisonError};

use holdpoint_engine::limits;
use tokio::io::{AsyncRead, AsyncReadExt as _};

#[derive(Default)]
pub(super) struct Tail(Mutex<Vec<u8>>);

impl Tail {
    /// Reads to the end, and keeps the last of it.
    pub(super) async fn follow(&self, mut from: impl AsyncRead + Unpin) {
        let mut piece = vec![0; 16 * 1024];
        while let Ok(read) = from.read(&mut piece).await {
            if read == 0 {
                return;
            }
            self.push(piece.get(..read).unwrap_or_default());
        }
    }

    fn push(&self, piece: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(piece);
        let drop = kept.len().saturating_sub(limits::EXTERNAL_STDERR);
        kept.drain(..drop);
    }

    pub(super) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}
