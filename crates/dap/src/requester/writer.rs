//! The task that writes: one message, one write.

use std::{io, sync::Arc};

use serde_json::Value;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
};

use super::shared::Shared;
use crate::codec;

/// Ends when the connection is closed. When writing fails it closes the connection; reading goes on
/// until its own end, because an adapter that dies often says why.
pub(super) async fn run(
    shared: Arc<Shared>,
    mut outbox: mpsc::Receiver<Value>,
    mut write: impl AsyncWrite + Unpin,
) {
    let all = async {
        while let Some(message) = outbox.recv().await {
            if let Some(tape) = &shared.tape {
                tape.sent(&message);
            }
            if let Err(problem) = send(&mut write, &message).await {
                shared.close(&format!("writing failed: {problem}"));
                return;
            }
        }
    };
    tokio::select! {
        () = all => {}
        () = shared.end.cancelled() => {}
    }
}

async fn send(write: &mut (impl AsyncWrite + Unpin), message: &Value) -> io::Result<()> {
    write.write_all(&codec::encode(message)).await?;
    write.flush().await
}
