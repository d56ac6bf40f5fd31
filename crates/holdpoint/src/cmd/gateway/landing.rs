//! Where a browser comes back to after a login: one request of it is waited for, and answered with what came of it.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

pub(super) const PATH: &str = "/callback";
/// Bytes of a request: an address with a code in it.
const HEAD: usize = 16 * 1024;
/// A browser of this machine sends its request at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// The address of the first request that `is_mine`, with the browser that waits to be told how it ended. Any other is
/// none of ours, whoever sent it.
pub(super) async fn land(
    listener: TcpListener,
    back: &str,
    is_mine: impl Fn(&str) -> bool,
) -> io::Result<(String, TcpStream)> {
    let origin = back.strip_suffix(PATH).unwrap_or(back);
    loop {
        let (mut stream, _) = listener.accept().await?;
        let asked = tokio::time::timeout(PATIENCE, target(&mut stream)).await.ok().flatten();
        let url = asked.filter(|it| it.starts_with(PATH)).map(|it| format!("{origin}{it}"));
        match url.filter(|it| is_mine(it)) {
            Some(url) => return Ok((url, stream)),
            None => {
                let text = "This is not the login that is waited for.";
                reply(&mut stream, "404 Not Found", text).await;
            }
        }
    }
}

/// Tells the browser how the login ended.
pub(super) async fn tell(mut stream: TcpStream, is_in: bool) {
    let (status, text) = match is_in {
        true => ("200 OK", "You are logged in. This page can be closed."),
        false => ("400 Bad Request", "The login failed; the terminal says why."),
    };
    reply(&mut stream, status, text).await;
}

/// What the first line of a request asks for.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok().filter(|it| *it > 0)?;
        head.extend_from_slice(piece.get(..read)?);
        if head.len() > HEAD {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    words.next().filter(|it| *it == "GET")?;
    words.next().map(str::to_owned)
}

async fn reply(stream: &mut TcpStream, status: &str, text: &str) {
    let body = format!("<!doctype html><meta charset=utf-8><title>Holdpoint</title><p>{text}</p>");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    if let Err(error) = stream.write_all(answer.as_bytes()).await {
        tracing::debug!(%error, "the browser did not wait for an answer");
    }
}
