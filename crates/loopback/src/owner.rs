//! Whose the other end of a loopback connection is: the kernel knows the user of every socket.
//!
//! Linux answers one exact question about four numbers (`sock_diag`), whatever else is open on the machine; where that
//! is not to be had, `/proc/net/tcp` is read. Elsewhere nobody can say.
//!
//! A socket that no process holds any more has no user, and the kernel writes a zero there, which is root's number. It
//! also has no inode, so that is what tells the two apart: whoever closes at once is nobody, never root.

#[cfg(target_os = "linux")]
mod diag;
#[cfg(any(target_os = "linux", test))]
mod table;

use std::net::{IpAddr, SocketAddr};

/// What the kernel says of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Known(Owner),
    /// No process holds it: it was closed, or nobody has accepted it yet.
    Nobody,
    /// The system does not say.
    Unknown,
}

/// A socket that some process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user who made it.
    pub user: u32,
    /// Its number, by which `/proc/PID/fd` names it.
    pub inode: u64,
}

/// What the kernel keeps of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    local: SocketAddr,
    remote: SocketAddr,
    is_listening: bool,
    owner: Owner,
}

/// The way to the kernel's table, kept open between questions.
#[derive(Debug, Default)]
pub struct Owners {
    #[cfg(target_os = "linux")]
    diag: diag::Diag,
}

impl Owners {
    pub fn new() -> Owners {
        Owners::default()
    }

    /// Whose the client of a connection is that we accepted.
    pub fn client(&mut self, local: SocketAddr, peer: SocketAddr) -> Whose {
        whose(self.find(plain(peer), plain(local)))
    }

    /// Whose the server of a connection is that we made: who accepted it or, until somebody has, who listens there.
    pub fn server(&mut self, local: SocketAddr, peer: SocketAddr) -> Whose {
        match self.client(local, peer) {
            Whose::Nobody => self.listener(peer),
            known => known,
        }
    }

    /// Whose the socket is that listens at an address.
    pub fn listener(&mut self, address: SocketAddr) -> Whose {
        let address = plain(address);
        whose(self.find(address, nowhere(address)))
    }

    #[cfg(target_os = "linux")]
    fn find(&mut self, local: SocketAddr, remote: SocketAddr) -> Result<Option<Entry>, NotSaid> {
        let is_it = |entry: &Entry| is_asked(entry, local, remote);
        match self.diag.ask(local, remote) {
            Ok(found) => Ok(found.filter(is_it)),
            Err(_) => Ok(table::read()?.into_iter().find(is_it)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn find(&mut self, _: SocketAddr, _: SocketAddr) -> Result<Option<Entry>, NotSaid> {
        Err(NotSaid)
    }
}

/// The system does not say.
#[derive(Debug)]
struct NotSaid;

fn whose(found: Result<Option<Entry>, NotSaid>) -> Whose {
    match found {
        Ok(Some(entry)) if entry.owner.inode != 0 => Whose::Known(entry.owner),
        Ok(_) => Whose::Nobody,
        Err(NotSaid) => Whose::Unknown,
    }
}

/// The kernel answers with whoever listens where it finds no connection, and with what is nearest; only what was asked
/// for counts.
fn is_asked(entry: &Entry, local: SocketAddr, remote: SocketAddr) -> bool {
    if entry.local.port() != local.port() {
        return false;
    }
    if remote.port() == 0 {
        return entry.is_listening
            && (entry.local.ip() == local.ip() || entry.local.ip().is_unspecified());
    }
    !entry.is_listening && entry.local == local && entry.remote == remote
}

/// An IPv4 address is one, also where a socket of both families writes it as IPv6.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn nowhere(like: SocketAddr) -> SocketAddr {
    let ip = match like.ip() {
        IpAddr::V4(_) => IpAddr::from([0; 4]),
        IpAddr::V6(_) => IpAddr::from([0; 16]),
    };
    SocketAddr::new(ip, 0)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        io::Write as _,
        net::{TcpListener, TcpStream},
        os::linux::fs::MetadataExt as _,
    };

    use super::*;

    fn me() -> u32 {
        std::fs::metadata("/proc/self").unwrap().st_uid()
    }

    /// Both ends of a connection to `listen`, dialled as `dial`.
    fn both(listen: &str, dial: &str) -> (TcpListener, TcpStream, TcpStream) {
        let listener = TcpListener::bind((listen, 0)).unwrap();
        let client = TcpStream::connect((dial, listener.local_addr().unwrap().port())).unwrap();
        let (server, _) = listener.accept().unwrap();
        (listener, client, server)
    }

    #[test]
    fn both_ends_are_known_in_every_family() {
        for (listen, dial) in [
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
            ("::", "127.0.0.1"),
            ("::", "::1"),
            ("127.0.0.1", "::ffff:127.0.0.1"),
            ("0.0.0.0", "127.0.0.2"),
        ] {
            let (_listener, client, server) = both(listen, dial);
            let mut owners = Owners::new();
            let ends = [
                owners.client(server.local_addr().unwrap(), server.peer_addr().unwrap()),
                owners.server(client.local_addr().unwrap(), client.peer_addr().unwrap()),
                owners.listener(client.peer_addr().unwrap()),
            ];
            for end in ends {
                let is_me = matches!(end, Whose::Known(it) if it.user == me() && it.inode > 0);
                assert!(is_me, "{listen} by {dial}: {ends:?}");
            }
        }
    }

    /// The kernel writes root's number for a socket that nobody holds.
    #[test]
    fn whoever_closed_is_nobody_and_not_root() {
        let (_listener, mut client, server) = both("127.0.0.1", "127.0.0.1");
        let (local, peer) = (server.local_addr().unwrap(), server.peer_addr().unwrap());
        client.write_all(b"POST /mcp").unwrap();
        drop(client);
        assert_eq!(Owners::new().client(local, peer), Whose::Nobody);
        let found = table::read().unwrap();
        let entry = found.iter().find(|it| is_asked(it, peer, local));
        assert!(entry.is_none_or(|it| it.owner.inode == 0), "{entry:?}");
    }

    #[test]
    fn a_listener_at_the_same_port_does_not_stand_for_the_client() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listens = listener.local_addr().unwrap();
        let gone = SocketAddr::from(([127, 0, 0, 1], 9));
        assert_eq!(Owners::new().client(gone, listens), Whose::Nobody);
        assert!(matches!(Owners::new().listener(listens), Whose::Known(_)));
    }

    #[test]
    fn what_nobody_accepted_yet_is_the_listeners() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        let mut owners = Owners::new();
        assert_eq!(owners.client(local, peer), Whose::Nobody);
        assert_eq!(owners.server(local, peer), owners.listener(peer));
        assert!(matches!(owners.listener(peer), Whose::Known(it) if it.user == me()));
    }

    #[test]
    fn both_ways_say_the_same() {
        let (_listener, client, server) = both("127.0.0.1", "127.0.0.1");
        let (here, there) = (client.local_addr().unwrap(), server.local_addr().unwrap());
        let asked = diag::Diag::default().ask(here, there).unwrap().unwrap();
        let read = table::read().unwrap();
        assert_eq!(read.iter().find(|it| is_asked(it, here, there)), Some(&asked));
    }
}
