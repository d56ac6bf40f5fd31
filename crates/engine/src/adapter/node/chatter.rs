//! What Node's inspector says on the program's stderr is not the program's: it is taken out, and the
//! address in it is found. Everything else passes at once, lines unfinished included.

use holdpoint_cdp::discover::inspector_url;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    sync::oneshot,
};

const LISTENING: &str = "Debugger listening on ws://";
const ENDING: &str = "Debugger ending on ws://";
/// The same, as Node's test runner tells of a process that it started: it takes out all else that an inspector says.
const TOLD: &str = "# Debugger ending on ws://";
const WHOLE: &[&str] = &[
    "For help, see: https://nodejs.org/en/docs/inspector",
    "For help, see: https://nodejs.org/learn/getting-started/debugging",
    "Debugger attached.",
    "Waiting for the debugger to disconnect...",
];
/// Its test runner warns of the debugger that we are: `(node:1234) Warning: …`, and how to learn more.
const WARNS: &str =
    ") Warning: Using the inspector with --test forces running at a concurrency of 1.";
const TRACES: &str = "(Use `";
/// Bytes on their way from the program to the session.
const PIPE_BYTES: usize = 64 * 1024;

/// The output without the chatter, and the first address that is announced.
pub(super) fn without(
    mut stderr: Box<dyn AsyncRead + Send + Unpin>,
) -> (Box<dyn AsyncRead + Send + Unpin>, oneshot::Receiver<String>) {
    let (mut up, down) = tokio::io::duplex(PIPE_BYTES);
    let (found, url) = oneshot::channel();
    // Ends with the program's output.
    tokio::spawn(async move {
        let mut found = Some(found);
        let mut filter = Filter::default();
        let mut buffer = vec![0; PIPE_BYTES];
        loop {
            let count = stderr.read(&mut buffer).await.unwrap_or(0);
            let (text, urls) = match count {
                0 => (filter.end(), Vec::new()),
                count => filter.take(buffer.get(..count).unwrap_or_default()),
            };
            if let Some(url) = urls.into_iter().next()
                && let Some(found) = found.take()
            {
                // Whoever launched may have given up.
                found.send(url).unwrap_or_default();
            }
            // Read on when nobody listens: the program must not wait for us.
            up.write_all(&text).await.unwrap_or_default();
            if count == 0 {
                return;
            }
        }
    });
    (Box::new(down), url)
}

#[derive(Default)]
struct Filter {
    /// The beginning of a line that may become chatter.
    line: Vec<u8>,
    /// In the middle of a line that is the program's.
    is_passing: bool,
    /// The line before was a warning of us.
    is_warned: bool,
}

impl Filter {
    /// What to pass on, and the addresses found.
    fn take(&mut self, bytes: &[u8]) -> (Vec<u8>, Vec<String>) {
        let mut out = Vec::with_capacity(bytes.len());
        let mut urls = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            if self.is_passing {
                out.extend(piece);
                self.is_passing = !ends;
                continue;
            }
            self.line.extend(piece);
            let text = String::from_utf8_lossy(&self.line).into_owned();
            let text = text.trim_end_matches(['\n', '\r']);
            let is_trace = self.is_warned && (text.starts_with(TRACES) || TRACES.starts_with(text));
            match (ends, may_be(text) || is_trace) {
                (true, _) if is_chatter(text) || is_trace => {
                    urls.extend(inspector_url(text));
                    self.is_warned = is_warning(text);
                    self.line.clear();
                }
                (false, true) => {}
                (ends, _) => {
                    out.append(&mut self.line);
                    self.is_passing = !ends;
                    self.is_warned = false;
                }
            }
        }
        (out, urls)
    }

    fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }
}

fn is_chatter(line: &str) -> bool {
    line.starts_with(LISTENING)
        || line.starts_with(ENDING)
        || line.starts_with(TOLD)
        || WHOLE.contains(&line)
        || is_warning(line)
}

fn is_warning(line: &str) -> bool {
    after_pid(line).is_some_and(|rest| rest.starts_with(WARNS))
}

/// What follows `(node:1234`.
fn after_pid(line: &str) -> Option<&str> {
    Some(line.strip_prefix("(node:")?.trim_start_matches(|it: char| it.is_ascii_digit()))
}

/// Whether a line that begins so may be chatter when it is whole.
fn may_be(start: &str) -> bool {
    let long = |known: &str| known.starts_with(start) || start.starts_with(known);
    let warns = |rest: &str| WARNS.starts_with(rest) || rest.starts_with(WARNS);
    long(LISTENING)
        || long(ENDING)
        || long(TOLD)
        || WHOLE.iter().any(|known| known.starts_with(start))
        || "(node:".starts_with(start)
        || after_pid(start).is_some_and(warns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "before\n(node:12) Warning: Using the inspector with --test forces running at a concurrency of 1. Use the inspectPort option\n(Use `node --trace-warnings ...` to show where the warning was created)\n(node:12) Warning: mine\n(Use `node --trace-warnings ...` again)\nDebugger listening on ws://127.0.0.1:1/a\nFor help, see: https://nodejs.org/en/docs/inspector\nDebugger attached.\n# Debugger ending on ws://127.0.0.1:1/a\n# Subtest\nDebug it\nDebugger attached. Not.\nprompt> ";
    const LEFT: &str = "before\n(node:12) Warning: mine\n(Use `node --trace-warnings ...` again)\n# Subtest\nDebug it\nDebugger attached. Not.\nprompt> ";

    #[test]
    fn chatter_is_taken_out_however_it_is_cut() {
        for size in 1..TEXT.len() {
            let mut filter = Filter::default();
            let (mut out, mut urls) = (Vec::new(), Vec::new());
            for chunk in TEXT.as_bytes().chunks(size) {
                let (text, found) = filter.take(chunk);
                out.extend(text);
                urls.extend(found);
            }
            out.extend(filter.end());
            assert_eq!(String::from_utf8(out).unwrap(), LEFT);
            assert_eq!(urls, ["ws://127.0.0.1:1/a"]);
        }
    }

    #[test]
    fn an_unfinished_line_passes_at_once() {
        let mut filter = Filter::default();
        assert_eq!(filter.take(b"name? ").0, b"name? ");
        assert_eq!(filter.take(b"Deb").0, b"Deb");
    }
}
