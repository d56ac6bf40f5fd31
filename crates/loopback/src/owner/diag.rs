//! One question to the kernel's table of sockets, over netlink; see `man 7 sock_diag`.
//!
//! Numbers are in the machine's own order but for ports and addresses, which are in the network's. The kernel answers
//! while it takes the question, so the answer is there when sending returns.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::OwnedFd,
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
        netlink::{self, SocketAddrNetlink},
    },
};

use super::{Entry, Owner};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const IPPROTO_TCP: u8 = 6;
const LISTEN: u8 = 10;
const INET: u8 = 2;
const INET6: u8 = 10;
/// Bytes of the head of a message, and of a question with it.
const HEAD: usize = 16;
const QUESTION: usize = HEAD + 56;
/// No answer about one socket comes near it.
const ANSWER: usize = 1024;
/// As many as the kernel can number.
const MOST_ERRORS: i32 = 4095;
/// Answers to questions that were given up before.
const STALE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Diag {
    socket: Option<OwnedFd>,
    asked: u32,
    /// It has found a socket before, so one that it does not find is not there.
    has_answered: bool,
}

impl Diag {
    /// The socket with these ends, or the one that listens at `local`; an error where the kernel does not answer such
    /// questions.
    pub(super) fn ask(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> io::Result<Option<Entry>> {
        let answer = self.exchange(local, remote);
        match answer {
            Ok(entry) => {
                self.has_answered = true;
                Ok(Some(entry))
            }
            // A kernel without this part of it says the same as one that finds nothing.
            Err(Errno::NOENT) if self.has_answered => Ok(None),
            Err(error) => {
                if error != Errno::NOENT {
                    self.socket = None;
                }
                Err(error.into())
            }
        }
    }

    fn exchange(&mut self, local: SocketAddr, remote: SocketAddr) -> Result<Entry, Errno> {
        self.asked = self.asked.wrapping_add(1);
        let asked = self.asked;
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(rustix::net::socket_with(
                AddressFamily::NETLINK,
                SocketType::DGRAM,
                SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                Some(netlink::SOCK_DIAG),
            )?),
        };
        let kernel = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(
            &*socket,
            &question(asked, local, remote),
            SendFlags::empty(),
            &kernel,
        )?;
        let mut answer = [0; ANSWER];
        for _ in 0..STALE {
            let (_, length) = rustix::net::recv(&*socket, &mut answer[..], RecvFlags::DONTWAIT)?;
            let answer = answer.get(..length).ok_or(Errno::MSGSIZE)?;
            if u32_at(answer, 8)? == asked {
                return read(answer);
            }
        }
        Err(Errno::BADMSG)
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
fn question(number: u32, local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(QUESTION);
    bytes.extend((QUESTION as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    bytes.extend(number.to_ne_bytes());
    bytes.extend([0; 4]);
    let family = if local.is_ipv4() { INET } else { INET6 };
    bytes.extend([family, IPPROTO_TCP, 0, 0]);
    // In every state.
    bytes.extend([0xff; 4]);
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        match address {
            IpAddr::V4(it) => {
                bytes.extend(it.octets());
                bytes.extend([0; 12]);
            }
            IpAddr::V6(it) => bytes.extend(it.octets()),
        }
    }
    // At any interface, and of whatever cookie.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    bytes
}

/// `struct nlmsghdr` and `struct inet_diag_msg`, or the number of an error.
fn read(answer: &[u8]) -> Result<Entry, Errno> {
    let kind = u16::from_ne_bytes(array(answer, 4)?);
    if kind == NLMSG_ERROR {
        let number = i32::from_ne_bytes(array(answer, HEAD)?);
        let is_error = (-MOST_ERRORS..0).contains(&number);
        return Err(if is_error { Errno::from_raw_os_error(-number) } else { Errno::BADMSG });
    }
    if kind != SOCK_DIAG_BY_FAMILY {
        return Err(Errno::BADMSG);
    }
    let [family, state, ..]: [u8; 4] = array(answer, HEAD)?;
    let port = |at| array(answer, at).map(u16::from_be_bytes);
    let address = |at| match family {
        INET => array::<4>(answer, at).map(|it| IpAddr::from(Ipv4Addr::from(it))),
        INET6 => array::<16>(answer, at).map(|it| Ipv6Addr::from(it).to_canonical()),
        _ => Err(Errno::AFNOSUPPORT),
    };
    Ok(Entry {
        local: SocketAddr::new(address(HEAD + 8)?, port(HEAD + 4)?),
        remote: SocketAddr::new(address(HEAD + 24)?, port(HEAD + 6)?),
        is_listening: state == LISTEN,
        owner: Owner {
            user: u32_at(answer, HEAD + 64)?,
            inode: u64::from(u32_at(answer, HEAD + 68)?),
        },
    })
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Errno> {
    array(bytes, at).map(u32::from_ne_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Errno> {
    let part = bytes.get(at..at + N).and_then(|part| part.try_into().ok());
    part.ok_or(Errno::BADMSG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_cut_off_is_none() {
        let whole = question(1, ([127, 0, 0, 1], 80).into(), ([127, 0, 0, 1], 90).into());
        assert_eq!(whole.len(), QUESTION);
        for length in 0..HEAD + 4 {
            assert!(read(&whole[..length]).is_err());
        }
        let mut error = vec![0; HEAD + 4];
        error[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        error[HEAD..].copy_from_slice(&(-2_i32).to_ne_bytes());
        assert_eq!(read(&error), Err(Errno::NOENT));
        error[HEAD..].copy_from_slice(&i32::MIN.to_ne_bytes());
        assert!(read(&error).is_err());
    }
}
