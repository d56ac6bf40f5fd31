//! What a command writes, as much as is worth keeping: its beginning and its end.

use std::collections::VecDeque;

use holdpoint_engine::limits;
use tokio::io::{AsyncRead, AsyncReadExt as _};

#[derive(Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes that were in between.
    lost: usize,
}

impl Output {
    /// To its end: a command that is not read would stand still.
    pub(super) async fn read(&mut self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = [0_u8; 8 * 1024];
        loop {
            match pipe.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => self.take(buffer.get(..count).unwrap_or_default()),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = limits::TOOL_OUTPUT_HEAD - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(limits::TOOL_OUTPUT_TAIL);
        self.tail.drain(..over);
        self.lost += over;
    }

    pub(super) fn text(mut self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(self.tail.make_contiguous());
        match self.lost {
            0 => format!("{head}{tail}"),
            lost => format!("{head}\n… {lost} bytes are not kept …\n{tail}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_long_keeps_its_beginning_and_its_end() {
        let mut output = Output::default();
        output.read(b"short".as_slice()).await;
        assert_eq!(output.text(), "short");
        let mut long = vec![b'a'; limits::TOOL_OUTPUT_HEAD];
        long.extend(vec![b'b'; limits::TOOL_OUTPUT_TAIL + 7]);
        long.extend(b"end");
        let mut output = Output::default();
        output.read(long.as_slice()).await;
        let text = output.text();
        assert!(text.starts_with("aaa") && text.ends_with("bbbend"));
        assert!(text.contains("… 10 bytes are not kept …"));
    }
}
