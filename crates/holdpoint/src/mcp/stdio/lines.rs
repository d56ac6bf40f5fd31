//! The transport: a message is a line, in both directions. The SDK's messages, our own notifications and
//! what is said about a line that is no message take turns on stdout.

use std::{io, sync::Arc};

use futures::future::BoxFuture;
use holdpoint_engine::{aside::aside, limits};
use rmcp::{
    RoleServer,
    model::{ContentBlock, JsonRpcMessage, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, mpsc},
};
use tokio_util::task::AbortOnDropHandle;

use super::read::{Reader, Said};
use crate::mcp::outlet::Lines;

/// Answers about lines that are no messages, on their way out. Past that the client is not read: it does not
/// take them.
const ASIDE: usize = 64;

/// The writing end, until the connection is closed.
pub(super) struct Out<W>(Arc<Mutex<Option<W>>>);

impl<W> Clone for Out<W> {
    fn clone(&self) -> Self {
        Out(Arc::clone(&self.0))
    }
}

impl<W: AsyncWrite + Send + Unpin> Out<W> {
    pub(super) fn new(write: W) -> Out<W> {
        Out(Arc::new(Mutex::new(Some(write))))
    }

    /// Whoever comes meanwhile waits: lines never mix.
    async fn put(&self, lines: &[u8]) -> io::Result<()> {
        let mut write = self.0.lock().await;
        let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        write.write_all(lines).await?;
        write.flush().await
    }
}

impl<W: AsyncWrite + Send + Unpin> Lines for Out<W> {
    fn write(&self, lines: Vec<u8>) -> BoxFuture<'_, io::Result<()>> {
        Box::pin(async move { self.put(&lines).await })
    }
}

/// Reads with [`Reader`], writes through [`Out`].
pub(super) struct Shared<R, W> {
    reader: Reader<R>,
    out: Out<W>,
    /// An answer that has no place in `aside` yet.
    unsaid: Option<Vec<u8>>,
    /// `None` once the connection is closed.
    aside: Option<mpsc::Sender<Vec<u8>>>,
    /// Ends with `aside`.
    writer: AbortOnDropHandle<()>,
}

impl<R, W> Shared<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, out: Out<W>) -> Shared<R, W> {
        let (aside, answers) = mpsc::channel(ASIDE);
        // A write that is broken off would leave half a line, and whoever reads is broken off at any time.
        let writer = AbortOnDropHandle::new(tokio::spawn(pass_on(answers, out.clone())));
        Shared { reader: Reader::new(read), out, unsaid: None, aside: Some(aside), writer }
    }

    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.unsaid.is_some() {
                let place = self.aside.as_ref()?.reserve().await.ok()?;
                self.unsaid.take().map(|line| place.send(line)).unwrap_or_default();
            }
            match self.reader.next().await {
                Ok(Some(Said::Message(message))) => return Some(*message),
                Ok(Some(Said::Nothing)) => {}
                Ok(Some(Said::Wrong(error))) => {
                    tracing::debug!(%error.error.message, "a line is no message");
                    self.unsaid = line(&error).ok();
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::error!(%error, "stdin cannot be read");
                    return None;
                }
            }
        }
    }
}

async fn pass_on<W: AsyncWrite + Send + Unpin>(mut answers: mpsc::Receiver<Vec<u8>>, out: Out<W>) {
    while let Some(answer) = answers.recv().await {
        if let Err(error) = out.put(&answer).await {
            tracing::debug!(%error, "stdout is closed");
            return;
        }
    }
}

/// About how many bytes it will be: only results of tools are ever large.
fn weight(message: &TxJsonRpcMessage<RoleServer>) -> usize {
    let JsonRpcMessage::Response(response) = message else { return 0 };
    let ServerResult::CallToolResult(result) = &response.result else { return 0 };
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        _ => 0,
    };
    result.content.iter().map(block).sum()
}

fn line(message: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<R, W> Transport<RoleServer> for Shared<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            if weight(&item) <= limits::ASIDE_BYTES {
                return out.put(&line(&item)?).await;
            }
            let text = Box::pin(aside(move || line(&item))).await;
            out.put(&text.ok_or(io::ErrorKind::InvalidData)??).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.aside = None;
        // A task that panicked has said why.
        (&mut self.writer).await.unwrap_or_default();
        drop(self.out.0.lock().await.take());
        Ok(())
    }
}
