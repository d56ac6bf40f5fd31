//! The task that reads: bytes to messages, answers to those who wait, all else to the inbox.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::{
    inbox::{Entrance, Incoming, ReverseRequest},
    shared::Shared,
};
use crate::{
    codec::{DecodeError, Decoder},
    event::Event,
    limits,
    message::{self, Message},
};

pub(super) struct Reader {
    shared: Arc<Shared>,
    entrance: Entrance,
    decoder: Decoder,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, entrance: Entrance) -> Self {
        Reader { shared, entrance, decoder: Decoder::default() }
    }

    pub(super) async fn run(mut self, mut read: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; limits::READ_BYTES];
        let reason = loop {
            match read.read(&mut buffer).await {
                Ok(0) => break self.end_of_stream(),
                Ok(bytes) => self.take(buffer.get(..bytes).unwrap_or_default()).await,
                Err(problem) => break format!("reading failed: {problem}"),
            }
        };
        self.shared.close(&reason);
        // When writing failed earlier, that is the reason.
        let reason = self.shared.closed().unwrap_or_else(|| Arc::from(reason));
        self.entrance.put(Incoming::Closed(reason), 0).await;
    }

    async fn take(&mut self, bytes: &[u8]) {
        self.decoder.feed(bytes);
        while let Some(decoded) = self.decoder.next() {
            match decoded {
                Ok(value) => self.message(value).await,
                Err(error) => self.garbage(&error),
            }
        }
    }

    async fn message(&mut self, value: Value) {
        if let Some(tape) = &self.shared.tape {
            tape.received(&value);
        }
        let weight = self.decoder.body_bytes();
        match Message::read(value) {
            Ok(Message::Response(response)) => self.shared.answered(response),
            Ok(Message::Event { event, body }) => {
                let event = self.event(&event, body);
                self.entrance.put(Incoming::Event(event), weight).await;
            }
            Ok(Message::Request { seq, command, arguments }) => {
                let request =
                    ReverseRequest::new(command, arguments, seq, Arc::clone(&self.shared));
                self.entrance.put(Incoming::Request(request), weight).await;
            }
            Err(problem) => self.shared.count_malformed(&problem),
        }
    }

    /// A known event that cannot be read is still an event: it must not be lost.
    fn event(&self, event: &str, body: Value) -> Event {
        Event::read(event, &body).unwrap_or_else(|problem| {
            self.shared.count_malformed(&format!("event `{event}`: {problem}"));
            Event::Other { event: event.to_owned(), body }
        })
    }

    fn garbage(&self, error: &DecodeError) {
        let text = error.to_string();
        if let Some(tape) = &self.shared.tape {
            tape.noise(&text);
        }
        self.shared.count_garbage(&text);
        match error {
            DecodeError::TooLarge { head, .. } | DecodeError::NotJson { head, .. } => {
                if let Some(seq) = message::request_seq_in(head) {
                    self.shared.spoiled(seq, text);
                }
            }
            DecodeError::Skipped { .. } | DecodeError::CutOff { .. } => {}
        }
    }

    fn end_of_stream(&mut self) -> String {
        match self.decoder.finish() {
            None => "the adapter ended the connection".to_owned(),
            Some(cut @ DecodeError::CutOff { .. }) => {
                if let Some(tape) = &self.shared.tape {
                    tape.noise(&cut.to_string());
                }
                tracing::debug!(%cut, "the adapter ended within a message");
                "the adapter ended the connection within a message".to_owned()
            }
            Some(rest) => {
                self.garbage(&rest);
                "the adapter ended the connection within a message".to_owned()
            }
        }
    }
}

/// Also when the task is aborted or panics, nobody waits for an answer that cannot come.
impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.close("it was dropped");
    }
}
