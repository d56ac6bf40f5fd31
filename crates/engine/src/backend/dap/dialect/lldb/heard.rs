//! What a compiled program says of its own end before it is stopped there: a panic's message, the exception that
//! nothing caught. Runtimes write it to stderr, and nobody else knows it.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{budget, limits};

/// Lines of a message that are kept.
const LINES: usize = 6;

/// Listens to a program's stderr.
#[derive(Clone)]
pub struct Heard(Arc<watch::Sender<Last>>);

#[derive(Debug, Default)]
struct Last {
    /// What came after the last line end.
    open: String,
    /// The lines of the newest message, as far as they came.
    lines: Vec<String>,
    /// Nothing belongs to it any more.
    is_whole: bool,
}

impl Default for Heard {
    fn default() -> Self {
        Heard(Arc::new(watch::Sender::new(Last::default())))
    }
}

impl Heard {
    /// More of what the program wrote.
    pub fn hear(&self, bytes: &[u8]) {
        self.0.send_modify(|last| last.take(&String::from_utf8_lossy(bytes)));
    }

    /// The newest message. It was written before the stop, and may still be on its way to us.
    pub(super) async fn message(&self) -> Option<String> {
        let mut heard = self.0.subscribe();
        let there = |last: &Last| last.message();
        let waiting = heard.wait_for(|last| last.is_whole && !last.lines.is_empty());
        let came = tokio::time::timeout(limits::LAST_WORDS, waiting).await;
        match came {
            Ok(Ok(last)) => there(&last),
            Ok(Err(_)) | Err(_) => there(&self.0.borrow()),
        }
    }

    /// What is said from here on is about another end.
    pub(super) fn forget(&self) {
        self.0.send_modify(|last| {
            last.lines.clear();
            last.is_whole = false;
        });
    }
}

impl Last {
    fn take(&mut self, text: &str) {
        self.open.push_str(text);
        while let Some((line, rest)) = self.open.split_once('\n') {
            let (line, rest) = (line.trim_end().to_owned(), rest.to_owned());
            self.open = rest;
            self.line(&line);
        }
        if self.open.len() > limits::NAME_BYTES * 16 {
            self.open.clear();
        }
    }

    fn line(&mut self, line: &str) {
        let begins = line.contains("panicked at ") || line.starts_with("terminate called ");
        if begins {
            self.lines.clear();
            self.is_whole = line == "terminate called without an active exception";
        } else if self.lines.is_empty() || self.is_whole {
            return;
        }
        // How to see a backtrace is for people at a shell.
        if line.starts_with("note: ") || line.starts_with("stack backtrace:") || line.is_empty() {
            self.is_whole = true;
            return;
        }
        self.lines.push(budget::cut(line, limits::NAME_BYTES));
        self.is_whole |= self.lines.len() >= LINES || line.trim_start().starts_with("what():");
    }

    /// `index out of bounds: the len is 3 but the index is 7`.
    fn message(&self) -> Option<String> {
        let (first, rest) = self.lines.split_first()?;
        if let Some((_, thrown)) = first.split_once("throwing an instance of ") {
            let what =
                rest.first().and_then(|it| it.split_once("what():")).map(|(_, it)| it.trim());
            let kind = thrown.trim_matches('\'');
            return Some(what.map_or(kind.to_owned(), |what| format!("{kind}: {what}")));
        }
        // Before 1.73 the message stood on the line itself, in quotes.
        let own = first.split_once("panicked at '").and_then(|(_, it)| it.rsplit_once("', "));
        if let Some((message, _)) = own {
            return Some(message.to_owned());
        }
        Some(if rest.is_empty() { first.clone() } else { rest.join(" ⏎ ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> (Option<String>, bool) {
        let mut last = Last::default();
        last.take(text);
        (last.message(), last.is_whole)
    }

    #[test]
    fn a_panic_is_what_it_says() {
        let panic = "noise\nthread 'main' (7) panicked at src/a.rs:4:5:\nindex out of bounds: the len is 3 but \
                     the index is 7\nnote: run with `RUST_BACKTRACE=1`\n";
        let told = "index out of bounds: the len is 3 but the index is 7".to_owned();
        assert_eq!(heard(panic), (Some(told), true));
        let old = "thread 'main' panicked at 'no more', a.rs:3:5\nnote: run\n";
        assert_eq!(heard(old), (Some("no more".to_owned()), true));
        assert_eq!(heard("nothing of it\n"), (None, false));
    }

    #[test]
    fn an_exception_that_nothing_caught_has_its_type_and_text() {
        let text = "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no stock\n";
        assert_eq!(heard(text), (Some("std::runtime_error: no stock".to_owned()), true));
        let (bare, _) = heard("terminate called after throwing an instance of 'int'\n");
        assert_eq!(bare.as_deref(), Some("int"));
    }
}
