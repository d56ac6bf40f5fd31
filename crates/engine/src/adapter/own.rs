//! Whether a debug connection is of the program that we started. Every user of the machine can reach a port of loopback;
//! whoever dialled ours first would be shown all that we ask, and whoever listens at the address of another would be asked
//! it.

use std::{io, net::SocketAddr};

use holdpoint_loopback::owner::{Owners, Whose};
use tokio::net::{TcpListener, TcpStream};

use crate::{
    failure::{Code, Failure},
    running::{self, Running},
};

const ROOT: u32 = 0;

/// The next connection of the program below `root`. Others are closed.
pub(super) async fn accept(listener: &TcpListener, root: Option<u32>) -> io::Result<TcpStream> {
    loop {
        let (stream, peer) = listener.accept().await?;
        let whose = Owners::new().client(stream.local_addr()?, peer);
        if is_own(whose, root) {
            return Ok(stream);
        }
        // What its guard leaves behind is nobody's program any more, and about to end.
        if whose == Whose::Nobody || !is_there(root) {
            tracing::debug!(?whose, "a debug connection came from a program that has ended");
        } else {
            tracing::warn!(?whose, "refused a debug connection that is not of the program");
        }
    }
}

fn is_there(root: Option<u32>) -> bool {
    root.is_some_and(|root| Running::find(root).is_ok())
}

/// Whether the program below `root` listens at this address, `ws://…` or `http://…`.
pub(super) fn listens(url: &str, root: Option<u32>) -> Result<(), Failure> {
    let place = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
    let Some(address) = place.and_then(|it| it.parse::<SocketAddr>().ok()) else {
        return Err(stranger(url));
    };
    if is_own(Owners::new().listener(address), root) { Ok(()) } else { Err(stranger(url)) }
}

fn stranger(url: &str) -> Failure {
    let text = format!("what listens at {url} is not the program that was launched");
    Failure::new(Code::LaunchFailed, text).hint("launch it again; another user may have its port")
}

fn is_own(whose: Whose, root: Option<u32>) -> bool {
    let me = rustix::process::geteuid().as_raw();
    match whose {
        // Told without a look at every process. Only root's programs become another user's.
        Whose::Known(owner) if owner.user != me && me != ROOT => false,
        Whose::Known(owner) => root.is_some_and(|root| running::holds(root, owner.inode)),
        Whose::Nobody => false,
        // Where the system says nothing of sockets, it says nothing of who started what either.
        Whose::Unknown => true,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn only_the_programs_own_connection_is_taken() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut stranger = tokio::process::Command::new("sleep").arg("60").spawn().unwrap();
        let url = format!("ws://{address}/uuid");
        let (me, other) = (Some(std::process::id()), stranger.id());
        assert!(listens(&url, me).is_ok());
        assert!(listens(&url, other).is_err() && listens(&url, None).is_err());
        assert!(listens("ws://nonsense", me).is_err());
        let mut refused = TcpStream::connect(address).await.unwrap();
        tokio::select! {
            _ = accept(&listener, other) => panic!("it is not the stranger's"),
            read = refused.read_u8() => assert!(read.is_err(), "it is closed without a word"),
        }
        let _mine = TcpStream::connect(address).await.unwrap();
        assert!(accept(&listener, me).await.is_ok());
        stranger.kill().await.unwrap();
    }
}
