//! stdout as a place for whole lines: the SDK's messages and our own notifications take turns.

use std::{io, sync::Arc};

use futures::future::BoxFuture;
use rmcp::{
    RoleServer,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
    },
    sync::Mutex,
};
use tokio_util::task::AbortOnDropHandle;

use crate::mcp::outlet::Lines;

/// Room for what the SDK writes by itself: a line about a message that is none.
const ASIDE_BYTES: usize = 4 * 1024;

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

/// Reads as the SDK reads, writes through [`Out`].
pub(super) struct Shared<R: AsyncRead, W> {
    inner: AsyncRwTransport<RoleServer, R, DuplexStream>,
    out: Out<W>,
    /// What the SDK's reader writes by itself; ends with it.
    _aside: AbortOnDropHandle<()>,
}

impl<R, W> Shared<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, out: Out<W>, line_bytes: usize) -> Shared<R, W> {
        let (aside, written) = tokio::io::duplex(ASIDE_BYTES);
        let inner = AsyncRwTransport::new_server(read, aside).with_max_line_length(line_bytes);
        let aside = AbortOnDropHandle::new(tokio::spawn(pass_on(written, out.clone())));
        Shared { inner, out, _aside: aside }
    }
}

async fn pass_on<W: AsyncWrite + Send + Unpin>(written: DuplexStream, out: Out<W>) {
    let mut lines = BufReader::new(written);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
        if let Err(error) = out.put(&line).await {
            tracing::debug!(%error, "stdout is closed");
            return;
        }
        line.clear();
    }
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
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            out.put(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.inner.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await?;
        drop(self.out.0.lock().await.take());
        Ok(())
    }
}
