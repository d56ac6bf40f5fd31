//! Sockets: loopback on both families, the next port when one is taken, NODELAY, a place for each connection.

use std::{
    future::poll_fn,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::http::StatusCode;
use holdpoint_engine::limits;
use holdpoint_loopback::owner::Owners;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};

use super::{
    places::{Place, Places},
    users::{OtherEnd, Users},
};

/// Binds `host` at `port` or the next free one. Loopback is bound for IPv4 and IPv6 alike,
/// because `localhost` means either. Port 0 takes any free port.
pub(crate) async fn bind(host: IpAddr, port: u16) -> io::Result<Vec<TcpListener>> {
    let tries = limits::PORTS_TRIED;
    let mut taken = None;
    for offset in 0..=tries {
        let candidate = if port == 0 { 0 } else { port.saturating_add(offset) };
        match bind_at(host, candidate).await {
            Ok(listeners) => {
                if offset > 0 && port != 0 {
                    tracing::warn!(wanted = port, got = candidate, "the port is taken");
                }
                return Ok(listeners);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrInUse)))
}

async fn bind_at(host: IpAddr, port: u16) -> io::Result<Vec<TcpListener>> {
    let first = TcpListener::bind((host, port)).await?;
    let Some(twin) = twin(host) else { return Ok(vec![first]) };
    let port = first.local_addr()?.port();
    match TcpListener::bind((twin, port)).await {
        Ok(second) => Ok(vec![first, second]),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(error) => {
            tracing::info!(%error, %twin, "only one family of loopback is available");
            Ok(vec![first])
        }
    }
}

/// The other family's name for the same loopback.
fn twin(host: IpAddr) -> Option<IpAddr> {
    match host {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => None,
    }
}

/// A listener whose connections count against one bound for the whole process.
pub(crate) struct Bounded {
    listener: TcpListener,
    places: Arc<Places>,
    users: Users,
    owners: Owners,
    /// The last one was refused: the next is, too, unless there is a place at once.
    full: bool,
}

/// One accepted connection and its place.
pub(super) struct Connection {
    stream: TcpStream,
    seat: Seat,
    pub(super) caller: OtherEnd,
}

/// A place, until it is left.
pub(super) struct Seat(Arc<Place>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Bounded {
    pub(crate) fn all(listeners: Vec<TcpListener>, users: &Users) -> Vec<Bounded> {
        let places = Places::new();
        let bound = |listener| Bounded {
            listener,
            places: Arc::clone(&places),
            users: users.clone(),
            owners: Owners::new(),
            full: false,
        };
        listeners.into_iter().map(bound).collect()
    }
}

impl Connection {
    pub(super) fn place(&self) -> &Arc<Place> {
        &self.seat.0
    }

    /// The first bytes that come, which are not taken; none when the client leaves or is to.
    pub(super) async fn first_bytes<'b>(&self, buffer: &'b mut [u8]) -> &'b [u8] {
        let mut first = ReadBuf::new(buffer);
        let came = poll_fn(|cx| {
            if self.place().poll_closing(cx) {
                return Poll::Ready(Ok(0));
            }
            self.stream.poll_peek(cx, &mut first)
        });
        let came = came.await.unwrap_or(0);
        buffer.get(..came).unwrap_or_default()
    }

    /// Off this thread's runtime, to be given to another.
    pub(super) fn release(self) -> io::Result<Released> {
        Ok(Released { stream: self.stream.into_std()?, seat: self.seat, caller: self.caller })
    }

    /// Onto this thread's runtime.
    pub(super) fn take_up(released: Released) -> io::Result<Connection> {
        let Released { stream, seat, caller } = released;
        Ok(Connection { stream: TcpStream::from_std(stream)?, seat, caller })
    }
}

/// A connection on its way to another thread.
pub(super) struct Released {
    stream: std::net::TcpStream,
    seat: Seat,
    caller: OtherEnd,
}

impl Bounded {
    pub(super) async fn accept(&mut self) -> Connection {
        loop {
            // Trouble such as too many open files is waited out there.
            let (stream, peer) = axum::serve::Listener::accept(&mut self.listener).await;
            // Before it has a place: a stranger takes none away.
            let Some(caller) = self.users.admit(&mut self.owners, &stream, peer) else { continue };
            let wait = if self.full { Duration::ZERO } else { limits::PLACE_WAIT };
            let place = self.places.enter(wait).await;
            self.full = place.is_none();
            let Some(place) = place else {
                let error = "too many connections, and all of them are busy";
                refuse(stream, StatusCode::SERVICE_UNAVAILABLE, error);
                continue;
            };
            // Nagle's delay costs a client 20 ms and more a call.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "NODELAY was refused");
            }
            return Connection { stream, seat: Seat(place), caller };
        }
    }
}

/// Refuses a connection that was just accepted, and says why as far as the client reads it.
fn refuse(stream: TcpStream, status: StatusCode, error: &str) {
    tracing::warn!(%status, error, "refused a connection");
    // Past the runtime, which may not know yet that the socket can be written.
    let told = stream.into_std().and_then(|mut stream| {
        io::Write::write_all(&mut stream, refusal(status, error).as_bytes())?;
        // What stays unread would take the answer away from the client.
        // Nothing may have come.
        io::Read::read(&mut stream, &mut [0; 16 * 1024]).or(Ok(0))
    });
    if let Err(error) = told {
        tracing::debug!(%error, "the refusal was not sent");
    }
}

fn refusal(status: StatusCode, error: &str) -> String {
    let body = format!("{{\"error\":\"{error}\"}}");
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // To HTTP these are clients that closed their end.
        if self.place().poll_closing(cx) {
            return Poll::Ready(Ok(()));
        }
        let room = self.place().room();
        if room == 0 {
            let error = "the head of the request is too large";
            let answer = refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, error);
            if let Err(error) = self.stream.try_write(answer.as_bytes()) {
                tracing::debug!(%error, "the refusal was not sent");
            }
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let polled = if buf.remaining() <= room {
            Pin::new(&mut self.stream).poll_read(cx, buf)
        } else {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(room));
            let polled = Pin::new(&mut self.stream).poll_read(cx, &mut part);
            let came = part.filled().len();
            buf.advance(came);
            polled
        };
        self.place().came(buf.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn loopback_is_bound_twice_and_a_taken_port_moves_on() {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let first = bind(host, 0).await.unwrap();
        let port = first[0].local_addr().unwrap().port();
        for listener in &first {
            assert_eq!(listener.local_addr().unwrap().port(), port);
        }
        let second = bind(host, port).await.unwrap();
        assert!(second[0].local_addr().unwrap().port() > port);
    }
}
