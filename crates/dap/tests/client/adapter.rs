//! The other end of the connection, played by the test.

use std::future::Future;

use holdpoint_dap::{
    Client, Event, Inbox, Incoming,
    codec::{Decoder, encode},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    time::{Duration, timeout},
};

/// Bytes the fake connection itself holds in each direction.
pub(crate) const PIPE_BYTES: usize = 64 * 1024;

pub(crate) struct Adapter {
    pub(crate) stream: DuplexStream,
    decoder: Decoder,
}

pub(crate) fn connect() -> (Client, Inbox, Adapter) {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(ours);
    let (client, inbox) = Client::start(read, write, None);
    (client, inbox, Adapter::over(theirs))
}

/// The clock is paused: when everybody waits, the deadline is there at once.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future).await.expect("everybody waits for something")
}

/// Whether it would wait for ever. Shorter than the above, which may be inside.
pub(crate) async fn waits<T>(future: impl Future<Output = T>) -> bool {
    timeout(Duration::from_secs(1), future).await.is_err()
}

impl Adapter {
    pub(crate) fn over(stream: DuplexStream) -> Self {
        Adapter { stream, decoder: Decoder::default() }
    }

    /// The client's next message; nothing when it has ended the connection.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.decoder.next() {
                return Some(message.unwrap());
            }
            let mut buffer = [0; 4096];
            match soon(self.stream.read(&mut buffer)).await.unwrap() {
                0 => return None,
                bytes => self.decoder.feed(&buffer[..bytes]),
            }
        }
    }

    /// The client's next message, which has to be this command.
    pub(crate) async fn expect(&mut self, command: &str) -> Value {
        let message = self.next().await.expect("the client has gone");
        assert_eq!(message["command"], command, "{message}");
        message
    }

    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.write(encode(&message)).await;
    }

    pub(crate) async fn event(&mut self, event: &str, body: Value) {
        self.send(json!({"seq": 0, "type": "event", "event": event, "body": body})).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, body: Value) {
        self.send(answer_to(request, body)).await;
    }
}

pub(crate) fn answer_to(request: &Value, body: Value) -> Value {
    json!({
        "seq": 0, "type": "response", "request_seq": request["seq"], "success": true,
        "command": request["command"], "body": body,
    })
}

pub(crate) fn output(number: usize) -> Vec<u8> {
    let body = json!({"category": "stdout", "output": number.to_string()});
    encode(&json!({"seq": number, "type": "event", "event": "output", "body": body}))
}

/// The text of the next event, which has to be an output.
pub(crate) async fn next_output(inbox: &mut Inbox) -> String {
    match soon(inbox.next()).await {
        Some(Incoming::Event(Event::Output(output))) => output.output,
        other => panic!("expected an output, got {other:?}"),
    }
}
