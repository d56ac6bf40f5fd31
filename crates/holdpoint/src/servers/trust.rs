//! Whether what listens at an address is ours, asked before anything is sent there.
//!
//! After a server was killed its port stays written, and whoever listens there next would be told all that we say. The
//! kernel knows whose the other end is; where it does not say, the server proves that it has the key of our home.

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpStream},
};

use anyhow::{Context as _, bail};
use axum::http::Uri;
use holdpoint_engine::limits;
use holdpoint_loopback::owner::{Owners, Whose};

use super::find::Destination;
use crate::{
    http::{endpoints::proof, serving::users},
    key::{self, Key},
};

const ROOT: u32 = 0;
/// No answer of a server about itself comes near this size.
const ANSWER_BYTES: u64 = 64 << 10;

/// What is to be sent with each request: the token if there is one. An error for a server that was found and is not
/// ours; one that the user named is theirs to know.
pub(crate) fn pass(to: &Destination, token: Option<&str>) -> anyhow::Result<Option<String>> {
    let token = token.map(str::to_owned);
    let Some(address) = loopback(&to.url) else { return Ok(token) };
    let Ok(mut stream) = TcpStream::connect_timeout(&address, limits::HEALTH_ANSWER) else {
        // Nobody is there, which is said by whoever wanted to talk to them.
        return Ok(token);
    };
    let local = stream.local_addr().context("a connection without an end")?;
    match Owners::new().server(local, address) {
        Whose::Known(owner) if is_trusted(owner.user) => Ok(token),
        Whose::Known(owner) if !to.is_named => {
            let user = users::name(owner.user);
            bail!(
                "`{}` is served by user {user}, not by you; nothing was sent\n\
                 hint: --url says that you mean that server",
                to.url
            )
        }
        Whose::Known(_) => Ok(token),
        Whose::Nobody | Whose::Unknown => {
            let key = Key::find().filter(|key| proves(&mut stream, address, key).unwrap_or(false));
            match key {
                Some(key) => Ok(token.or_else(|| Some(key.as_str().to_owned()))),
                None if to.is_named => Ok(token),
                None => bail!(
                    "nobody can say whose the server at `{}` is, and it does not prove that it is yours; \
                     nothing was sent\nhint: --url says that you mean that server",
                    to.url
                ),
            }
        }
    }
}

fn is_trusted(user: u32) -> bool {
    user == ROOT || user == rustix::process::geteuid().as_raw()
}

/// Where a server of this machine is; none for one of another.
fn loopback(url: &str) -> Option<SocketAddr> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    let ip = match host {
        "localhost" => IpAddr::from([127, 0, 0, 1]),
        host => host.parse().ok()?,
    };
    ip.is_loopback().then(|| SocketAddr::new(ip, uri.port_u16().unwrap_or(80)))
}

/// Whether the server at the other end has this key.
fn proves(stream: &mut TcpStream, address: SocketAddr, key: &Key) -> io::Result<bool> {
    stream.set_read_timeout(Some(limits::HEALTH_ANSWER))?;
    stream.set_write_timeout(Some(limits::HEALTH_ANSWER))?;
    let nonce = key::secret()?;
    let question = format!(
        "GET {}?nonce={nonce} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n",
        proof::PATH
    );
    stream.write_all(question.as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES).read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let said = body.get("proof").and_then(|it| it.as_str()).unwrap_or_default();
    Ok(key.proof(&nonce, address).is_some_and(|proof| key::same(said, &proof)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_of_this_machine_are_looked_up() {
        let here = |port| Some(SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!(loopback("http://localhost:5174"), here(5174));
        assert_eq!(loopback("http://127.0.0.1:5174/mcp"), here(5174));
        assert_eq!(loopback("http://[::1]:80"), Some("[::1]:80".parse().unwrap()));
        assert_eq!(loopback("http://box.example:5174"), None);
        assert_eq!(loopback("nonsense"), None);
    }
}
