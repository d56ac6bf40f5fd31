//! Loopback sockets without the kernel's delays, and whose they are ([`owner`]).
//!
//! Debuggees write a message in two parts with Nagle's algorithm on; the kernel on our side then holds
//! back the acknowledgement of the first part for 40 ms, and every request costs 44 ms instead of 0.5.
//! `TCP_QUICKACK` ends that, but the kernel forgets it: it is set again around every read. Linux only;
//! elsewhere this is a plain socket with `TCP_NODELAY`.

pub mod owner;

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, ToSocketAddrs},
};

/// A TCP connection that acknowledges and sends at once.
#[derive(Debug)]
pub struct Quick(TcpStream);

impl Quick {
    pub async fn connect(address: impl ToSocketAddrs) -> io::Result<Quick> {
        Quick::new(TcpStream::connect(address).await?)
    }

    /// Takes over an accepted connection.
    pub fn new(stream: TcpStream) -> io::Result<Quick> {
        stream.set_nodelay(true)?;
        let quick = Quick(stream);
        quick.arm();
        Ok(quick)
    }

    pub fn stream(&self) -> &TcpStream {
        &self.0
    }

    /// Best effort: without it everything works, only slower.
    fn arm(&self) {
        #[cfg(target_os = "linux")]
        socket2::SockRef::from(&self.0).set_tcp_quickack(true).unwrap_or_default();
    }
}

impl AsyncRead for Quick {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(cx, buf);
        self.arm();
        read
    }
}

impl AsyncWrite for Quick {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// The shape of a debuggee's answer: two small writes with Nagle on. Delayed, 20 of them take 800 ms.
    #[tokio::test]
    async fn two_small_writes_are_not_delayed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut byte = [0];
            while stream.read(&mut byte).await.unwrap() == 1 {
                stream.write_all(b"header").await.unwrap();
                stream.write_all(b"body").await.unwrap();
            }
        });
        let mut quick = Quick::connect(address).await.unwrap();
        let started = std::time::Instant::now();
        for _ in 0..20 {
            quick.write_all(b"?").await.unwrap();
            let mut answer = [0; 10];
            quick.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"headerbody");
        }
        let took = started.elapsed();
        drop(quick);
        peer.await.unwrap();
        if cfg!(target_os = "linux") {
            assert!(took < std::time::Duration::from_millis(400), "{took:?}");
        }
    }
}
