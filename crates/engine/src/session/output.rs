//! What the program wrote, kept in memory within bounds, read with a cursor.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::watch,
};

use crate::{limits, nouns::Stream};

/// What one stream brought since it was last told.
#[derive(Debug, PartialEq)]
pub(super) struct News {
    pub(super) stream: Stream,
    /// The beginning and the end of it.
    pub(super) text: String,
    pub(super) bytes: u64,
}

/// Bytes as they came, of all streams in one order.
pub struct Output {
    kept: Mutex<Kept>,
    /// How many bytes there ever were; a reader's cursor is such a number.
    written: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    chunks: std::collections::VecDeque<Chunk>,
    bytes: usize,
    end: u64,
    /// How much of it has been told on the timeline.
    told: u64,
}

struct Chunk {
    stream: Stream,
    bytes: Vec<u8>,
}

/// What was written after a cursor.
#[derive(Debug, Default, PartialEq)]
pub struct OutputText {
    pub text: String,
    /// Bytes after the cursor that are no longer kept.
    pub lost: u64,
    /// Where to read on.
    pub cursor: u64,
}

/// The end of what was written.
#[derive(Debug, PartialEq)]
pub struct OutputTail {
    pub pieces: Vec<(Stream, String)>,
    /// Bytes before it.
    pub left_out: u64,
}

impl Default for Output {
    fn default() -> Self {
        Output { kept: Mutex::default(), written: watch::Sender::new(0) }
    }
}

impl Output {
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut kept = self.kept();
        kept.push(stream, bytes);
        self.written.send_replace(kept.end);
    }

    pub fn cursor(&self) -> u64 {
        *self.written.borrow()
    }

    /// Everything after `since`, of one stream or of the program's two: what its debugger says is not the
    /// program's output.
    pub fn since(&self, since: u64, only: Option<Stream>) -> OutputText {
        let kept = self.kept();
        let first = kept.end - kept.bytes as u64;
        let mut at = first;
        let mut bytes = Vec::new();
        for chunk in &kept.chunks {
            let skip = usize::try_from(since.saturating_sub(at)).unwrap_or(usize::MAX);
            at += chunk.bytes.len() as u64;
            if only.map_or(chunk.stream != Stream::Debugger, |only| only == chunk.stream) {
                bytes.extend(chunk.bytes.get(skip..).unwrap_or_default());
            }
        }
        OutputText {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            lost: first.saturating_sub(since),
            cursor: kept.end,
        }
    }

    /// The last bytes of all streams in their order, neighbours of one stream as one piece.
    pub fn tail(&self, bytes: usize) -> OutputTail {
        let kept = self.kept();
        let mut left = bytes;
        let mut pieces: Vec<(Stream, Vec<u8>)> = Vec::new();
        for chunk in kept.chunks.iter().rev() {
            let from = chunk.bytes.len().saturating_sub(left);
            let part = chunk.bytes.get(from..).unwrap_or_default();
            left -= part.len();
            match pieces.last_mut().filter(|(stream, _)| *stream == chunk.stream) {
                Some((_, later)) => later.splice(0..0, part.iter().copied()).for_each(drop),
                None => pieces.push((chunk.stream, part.to_vec())),
            }
            if left == 0 {
                break;
            }
        }
        let shown = (bytes - left) as u64;
        let text = |(stream, bytes): (Stream, Vec<u8>)| {
            (stream, String::from_utf8_lossy(&bytes).into_owned())
        };
        let pieces = pieces.into_iter().rev().map(text).collect();
        OutputTail { pieces, left_out: kept.end - shown }
    }

    /// What came since this was last asked, one piece per stream; from then on it counts as told.
    pub(super) fn news(&self) -> Vec<News> {
        let mut kept = self.kept();
        let (since, end) = (kept.told, kept.end);
        kept.told = end;
        if since == end {
            return Vec::new();
        }
        let news = Stream::ALL.iter().map(|stream| kept.news(*stream, since));
        news.filter(|news| news.bytes > 0).collect()
    }

    /// Returns when there is something that has not been told.
    pub(super) async fn has_news(&self) {
        let told = self.kept().told;
        // Cannot fail: the sender is ours.
        self.written.subscribe().wait_for(|end| told < *end).await.map(drop).unwrap_or_default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a pipe to its end, so that the program never waits for us.
    pub async fn drain(&self, stream: Stream, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut buffer).await {
                Ok(0) => return,
                Ok(count) => self.push(stream, buffer.get(..count).unwrap_or_default()),
                Err(error) => {
                    tracing::debug!(%error, ?stream, "the program's output broke off");
                    return;
                }
            }
        }
    }
}

impl Kept {
    /// The first and the last bytes of what a stream brought: a flood must not cost more than a line.
    fn news(&self, stream: Stream, since: u64) -> News {
        const HALF: usize = limits::OUTPUT_EVENT / 2;
        let (mut head, mut tail, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
        let mut at = self.end - self.bytes as u64;
        for chunk in &self.chunks {
            let skip = usize::try_from(since.saturating_sub(at)).unwrap_or(usize::MAX);
            at += chunk.bytes.len() as u64;
            let new = chunk.bytes.get(skip..).unwrap_or_default();
            if chunk.stream != stream || new.is_empty() {
                continue;
            }
            bytes += new.len() as u64;
            let (first, rest) = new.split_at(new.len().min(HALF.saturating_sub(head.len())));
            head.extend_from_slice(first);
            let kept = rest.len().saturating_sub(HALF);
            tail.extend_from_slice(rest.get(kept..).unwrap_or_default());
            tail.drain(..tail.len().saturating_sub(HALF));
        }
        let left_out = bytes.saturating_sub((head.len() + tail.len()) as u64);
        let mut text = String::from_utf8_lossy(&head).into_owned();
        if left_out > 0 {
            text += &format!("… {left_out} bytes …");
        }
        text += &String::from_utf8_lossy(&tail);
        News { stream, text, bytes }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.end += bytes.len() as u64;
        self.bytes += bytes.len();
        match self.chunks.back_mut() {
            Some(last) if last.stream == stream && last.bytes.len() < limits::OUTPUT_CHUNK => {
                last.bytes.extend(bytes);
            }
            _ => self.chunks.push_back(Chunk { stream, bytes: bytes.to_vec() }),
        }
        while self.bytes > limits::OUTPUT_BYTES && self.chunks.len() > 1 {
            if let Some(old) = self.chunks.pop_front() {
                self.bytes -= old.bytes.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_on_where_it_was() {
        let output = Output::default();
        output.push(Stream::Stdout, b"one\n");
        let first = output.since(0, None);
        assert_eq!((first.text.as_str(), first.lost, first.cursor), ("one\n", 0, 4));
        output.push(Stream::Stderr, b"two\n");
        assert_eq!(output.since(first.cursor, None).text, "two\n");
        assert_eq!(output.since(2, None).text, "e\ntwo\n");
        assert_eq!(output.since(0, Some(Stream::Stdout)).text, "one\n");
    }

    #[test]
    fn what_the_debugger_says_is_not_the_programs_output() {
        let output = Output::default();
        output.push(Stream::Stdout, b"one\n");
        output.push(Stream::Debugger, b"Frame skipped\n");
        output.push(Stream::Stderr, b"two\n");
        assert_eq!(output.since(0, None).text, "one\ntwo\n");
        assert_eq!(output.since(0, Some(Stream::Debugger)).text, "Frame skipped\n");
    }

    #[test]
    fn news_are_told_once_and_a_flood_is_a_line() {
        let output = Output::default();
        output.push(Stream::Stdout, b"one\n");
        output.push(Stream::Stderr, b"oh\n");
        output.push(Stream::Stdout, b"two\n");
        let told = output.news();
        let texts: Vec<_> = told.iter().map(|it| (it.stream, it.text.as_str())).collect();
        assert_eq!(texts, [(Stream::Stdout, "one\ntwo\n"), (Stream::Stderr, "oh\n")]);
        assert_eq!(output.news(), []);
        output.push(
            Stream::Stdout,
            &[b"begin".to_vec(), vec![b'x'; 9_000], b"end".to_vec()].concat(),
        );
        let flood = output.news().remove(0);
        assert_eq!(flood.bytes, 9_008);
        assert!(flood.text.starts_with("begin") && flood.text.ends_with("end"), "{}", flood.text);
        assert!(flood.text.contains("… 7984 bytes …"), "{}", flood.text);
    }

    #[test]
    fn what_is_no_longer_kept_is_counted() {
        let output = Output::default();
        let chunk = vec![b'x'; limits::OUTPUT_CHUNK];
        let chunks = 10 + limits::OUTPUT_BYTES / limits::OUTPUT_CHUNK;
        for _ in 0..chunks {
            output.push(Stream::Stdout, &chunk);
        }
        let text = output.since(0, None);
        assert_eq!(text.lost as usize + text.text.len(), chunks * limits::OUTPUT_CHUNK);
        assert!(text.text.len() <= limits::OUTPUT_BYTES);
    }
}
