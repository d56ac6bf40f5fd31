//! A debug adapter, played by the test: the other end of a connection in memory.
//!
//! With the clock paused a wait that nobody ends fails at once, and nothing sleeps.

mod scripted;

use std::future::Future;

use holdpoint_dap::{
    Event, Inbox, Incoming, Requester,
    codec::{Decoder, encode},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    time::{Duration, timeout},
};

pub use self::scripted::{PROGRAM, Scripted, Way};

/// Bytes the fake connection itself holds in each direction.
pub const PIPE_BYTES: usize = 64 * 1024;

pub struct Adapter {
    pub stream: DuplexStream,
    decoder: Decoder,
}

pub fn connect() -> (Requester, Inbox, Adapter) {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(ours);
    let (client, inbox) = Requester::start(read, write, None);
    (client, inbox, Adapter::over(theirs))
}

/// The clock is paused: when everybody waits, the deadline is there at once.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future).await.expect("everybody waits for something")
}

/// Whether it would wait for ever. Shorter than the above, which may be inside.
pub async fn waits<T>(future: impl Future<Output = T>) -> bool {
    timeout(Duration::from_secs(1), future).await.is_err()
}

impl Adapter {
    pub fn over(stream: DuplexStream) -> Self {
        Adapter { stream, decoder: Decoder::default() }
    }

    /// The client's next message; nothing when it has ended the connection.
    pub async fn next(&mut self) -> Option<Value> {
        soon(self.read()).await
    }

    /// The same, however long it takes. Nothing is lost when it is dropped.
    pub async fn read(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.decoder.next() {
                return Some(message.unwrap());
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer).await.unwrap() {
                0 => return None,
                bytes => self.decoder.feed(&buffer[..bytes]),
            }
        }
    }

    /// The client's next message, which has to be this command.
    pub async fn expect(&mut self, command: &str) -> Value {
        let message = self.next().await.expect("the client has gone");
        assert_eq!(message["command"], command, "{message}");
        message
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    pub async fn send(&mut self, message: Value) {
        self.write(encode(&message)).await;
    }

    pub async fn event(&mut self, event: &str, body: Value) {
        self.send(json!({"seq": 0, "type": "event", "event": event, "body": body})).await;
    }

    pub async fn answer(&mut self, request: &Value, body: Value) {
        self.send(answer_to(request, body)).await;
    }
}

pub fn answer_to(request: &Value, body: Value) -> Value {
    json!({
        "seq": 0, "type": "response", "request_seq": request["seq"], "success": true,
        "command": request["command"], "body": body,
    })
}

pub fn output(number: usize) -> Vec<u8> {
    let body = json!({"category": "stdout", "output": number.to_string()});
    encode(&json!({"seq": number, "type": "event", "event": "output", "body": body}))
}

/// The text of the next event, which has to be an output.
pub async fn next_output(inbox: &mut Inbox) -> String {
    match soon(inbox.next()).await {
        Some(Incoming::Event(Event::Output(output))) => output.output,
        other => panic!("expected an output, got {other:?}"),
    }
}
