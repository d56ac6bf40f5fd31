//! Where an inspector listens: from what the program prints, or by asking its port.

use std::time::Duration;

use holdpoint_loopback::Quick;
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::{error::Error, limits};

const ANNOUNCEMENT: &str = "Debugger listening on ";

/// One thing that an inspector port offers to debug.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub url: String,
    /// What [`crate::Client::connect`] takes.
    #[serde(default)]
    pub web_socket_debugger_url: String,
}

/// The address in a line of a program's stderr, if it announces one:
/// `Debugger listening on ws://127.0.0.1:9229/<uuid>`.
pub fn inspector_url(stderr_line: &str) -> Option<String> {
    let (_, after) = stderr_line.split_once(ANNOUNCEMENT)?;
    let url = after.split_whitespace().next()?;
    (url.len() > "ws://".len() && url.starts_with("ws://")).then(|| url.to_owned())
}

/// Asks an inspector port what it offers. Loopback and other hosts; `within` bounds the whole of it.
pub async fn targets(host: &str, port: u16, within: Duration) -> Result<Vec<TargetInfo>, Error> {
    let address = authority(host, port);
    let answer = timeout(within, get(host, port, "/json/list"))
        .await
        .map_err(|_| Error::Unreachable {
            address: address.clone(),
            detail: "no answer in time".into(),
        })?
        .map_err(|error| Error::Unreachable {
            address: address.clone(),
            detail: error.to_string(),
        })?;
    let body =
        body(&answer).map_err(|detail| Error::Malformed { what: address.clone(), detail })?;
    let mut targets: Vec<TargetInfo> = serde_json::from_slice(body)
        .map_err(|error| Error::Malformed { what: address.clone(), detail: error.to_string() })?;
    for target in &mut targets {
        target.web_socket_debugger_url = reachable(&target.web_socket_debugger_url, &address);
    }
    Ok(targets)
}

/// Node answers only when the host it is called by is an IP address or `localhost`: a web page
/// must not reach it by a name of its own. We may have reached it by any name.
pub(crate) fn host_header(host: &str, port: u16) -> String {
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    authority(if is_address { host } else { "127.0.0.1" }, port)
}

fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Node builds its answer from the host it was called by; the way we came is the way that works.
fn reachable(url: &str, authority: &str) -> String {
    match url.strip_prefix("ws://").and_then(|rest| rest.split_once('/')) {
        Some((_, path)) => format!("ws://{authority}/{path}"),
        None => url.to_owned(),
    }
}

async fn get(host: &str, port: u16, path: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = Quick::connect((host, port)).await?;
    let header = host_header(host, port);
    let request = format!("GET {path} HTTP/1.1\r\nHost: {header}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    // Node keeps the connection open: the length decides, the end only where none is given.
    while !is_whole(&answer) {
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            break;
        }
        answer.extend(chunk.iter().take(count));
        if answer.len() > limits::LIST_BYTES {
            return Err(std::io::Error::other("the answer is too large"));
        }
    }
    Ok(answer)
}

fn is_whole(answer: &[u8]) -> bool {
    split_head(answer)
        .is_some_and(|(head, body)| content_length(head).is_some_and(|length| body.len() >= length))
}

fn body(answer: &[u8]) -> Result<&[u8], String> {
    let (head, body) = split_head(answer).ok_or("not an HTTP answer")?;
    let status = head.lines().next().unwrap_or_default();
    if status.split_whitespace().nth(1) != Some("200") {
        return Err(format!("the port answered `{status}`"));
    }
    match content_length(head) {
        Some(length) => body.get(..length).ok_or_else(|| "the answer is cut off".into()),
        None => Ok(body),
    }
}

fn split_head(answer: &[u8]) -> Option<(&str, &[u8])> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    Some((head, answer.get(end + 4..)?))
}

fn content_length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_address_is_found_in_what_node_prints() {
        let line = "Debugger listening on ws://127.0.0.1:40551/01234567-89ab\n";
        assert_eq!(inspector_url(line).as_deref(), Some("ws://127.0.0.1:40551/01234567-89ab"));
        assert_eq!(inspector_url("Debugger attached."), None);
        assert_eq!(inspector_url("Debugger listening on ws://"), None);
        assert_eq!(inspector_url("Debugger listening on "), None);
    }

    #[test]
    fn an_answer_is_whole_by_its_length() {
        let answer = b"HTTP/1.0 200 OK\r\nContent-Type: x\r\ncontent-length: 2\r\n\r\n[]";
        assert!(is_whole(answer));
        assert!(!is_whole(&answer[..answer.len() - 1]));
        assert_eq!(body(answer), Ok(b"[]".as_slice()));
        assert!(body(&answer[..answer.len() - 1]).unwrap_err().contains("cut off"));
        assert!(body(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap_err().contains("400"));
    }

    #[test]
    fn a_name_is_not_sent_as_host() {
        assert_eq!(host_header("localhost", 9229), "127.0.0.1:9229");
        assert_eq!(host_header("box.example", 9229), "127.0.0.1:9229");
        assert_eq!(host_header("::1", 9229), "[::1]:9229");
        assert_eq!(reachable("ws://127.0.0.1:1/u", "box:1"), "ws://box:1/u");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(line in ".*", answer in prop::collection::vec(any::<u8>(), 0..200)) {
            inspector_url(&line);
            is_whole(&answer);
            drop(body(&answer));
        }
    }
}
