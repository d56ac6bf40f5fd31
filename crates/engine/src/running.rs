//! Processes that we did not start, as the system shows them. Linux: everything is read from `/proc`.

use std::{
    collections::{HashMap, HashSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{
    failure::{Code, Failure},
    limits,
    process::Exit,
};

/// One process, and no later one of the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub pid: u32,
    /// The program file.
    pub executable: PathBuf,
    /// When it began, in the kernel's own count.
    began: u64,
}

/// One connection or listening socket of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub is_listening: bool,
    inode: u64,
}

impl Socket {
    /// How to reach what listens here: what listens everywhere is reached by the loopback.
    pub fn reachable(&self) -> SocketAddr {
        let port = self.local.port();
        if self.local.ip().is_unspecified() { ([127, 0, 0, 1], port).into() } else { self.local }
    }
}

impl Running {
    /// A process that lives and may be looked at, or why not.
    pub fn find(pid: u32) -> Result<Running, Failure> {
        let began = match stat(pid) {
            Some(Stat { state: 'Z' | 'X', .. }) => {
                return Err(Failure::new(Code::NotFound, format!("process {pid} has ended")));
            }
            Some(stat) => stat.began,
            None => {
                return Err(Failure::new(Code::NotFound, format!("no process {pid}"))
                    .hint("process ids are of this machine; `ps -ef` lists them"));
            }
        };
        let executable = std::fs::read_link(format!("/proc/{pid}/exe"));
        let executable = executable.map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => not_ours(pid),
            _ => Failure::new(
                Code::NotFound,
                format!("process {pid} runs no program file that could be debugged"),
            ),
        })?;
        Ok(Running { pid, executable, began })
    }

    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|it| it.began == self.began && !matches!(it.state, 'Z' | 'X'))
    }

    /// Waits for its end, whoever started it: with what it ended, where that is to be seen.
    pub async fn ends(&self) -> Option<Exit> {
        while self.is_alive() {
            // The system tells only parents.
            tokio::time::sleep(limits::DEAD_LOOK).await;
        }
        self.ended_with()
    }

    /// With what it ended, as long as nobody has taken note of its end.
    pub fn ended_with(&self) -> Option<Exit> {
        let stat = stat(self.pid).filter(|it| it.began == self.began && it.state == 'Z')?;
        Some(match stat.ended & 0x7f {
            0 => Exit::Code((stat.ended >> 8) & 0xff),
            signal => Exit::Signal(signal),
        })
    }

    /// When it began, by the clock that files have.
    pub fn since(&self) -> Option<SystemTime> {
        let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
        // The kernel counts hundredths of a second for everybody outside of it.
        let began = Duration::from_millis(self.began.saturating_mul(10));
        let age = Duration::try_from_secs_f64(uptime).ok()?.checked_sub(began)?;
        // Both counts are cut off, and no program loads anything in its first moments.
        SystemTime::now().checked_sub(age)?.checked_add(limits::COARSE)
    }

    /// Waits for its end, for a while.
    pub async fn ends_within(&self, patience: Duration) -> bool {
        let gone = async {
            while self.is_alive() {
                // The system tells only parents.
                tokio::time::sleep(limits::LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(patience, gone).await.is_ok()
    }

    /// The name of its program file.
    pub fn name(&self) -> &str {
        self.executable.file_name().and_then(|it| it.to_str()).unwrap_or_default()
    }

    /// The words it was started with.
    pub fn words(&self) -> Vec<String> {
        words(self.pid)
    }

    /// The script it runs, as far as its words tell.
    pub fn script(&self) -> Option<String> {
        let words = self.words();
        let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
        Path::new(script).file_name().map(|it| it.to_string_lossy().into_owned())
    }

    pub fn cwd(&self) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/cwd", self.pid)).ok()
    }

    /// Who traces it: a native debugger, `strace`.
    pub fn tracer(&self) -> Option<u32> {
        self.status("TracerPid")?.parse().ok().filter(|pid| *pid != 0)
    }

    /// Whether it does something of its own when this signal comes, rather than what the system does.
    pub fn handles(&self, signal: u32) -> bool {
        let caught = self.status("SigCgt").and_then(|it| u64::from_str_radix(&it, 16).ok());
        let bit = 1_u64.checked_shl(signal.saturating_sub(1)).unwrap_or(0);
        caught.is_some_and(|caught| caught & bit != 0)
    }

    /// Whether its loopback is ours; a container has its own.
    pub fn shares_network(&self) -> bool {
        let of = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        of(&self.pid.to_string()) == of("self")
    }

    /// Its TCP sockets.
    pub fn sockets(&self) -> Vec<Socket> {
        let own = inodes(self.pid);
        table(self.pid).into_iter().filter(|it| own.contains(&it.inode)).collect()
    }

    fn status(&self, field: &str) -> Option<String> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
        Some(line.trim().to_owned())
    }
}

/// The process on the other end of a loopback connection.
pub fn peer(socket: &Socket) -> Option<u32> {
    let ends = |it: &Socket| it.local == socket.remote && it.remote == socket.local;
    let inode = table(std::process::id()).into_iter().find(ends)?.inode;
    owner(inode)
}

/// The process that listens on a port of ours.
pub fn listener(port: u16) -> Option<u32> {
    let listens = |it: &Socket| it.is_listening && it.local.port() == port;
    owner(table(std::process::id()).into_iter().find(listens)?.inode)
}

/// Whether a process, or one below it, holds a socket.
pub fn holds(root: u32, inode: u64) -> bool {
    let parents: HashMap<u32, u32> =
        pids().filter_map(|pid| Some((pid, stat(pid)?.parent))).collect();
    let parent = |pid| parents.get(&pid).copied();
    let mut below = parents.keys().filter(|pid| leads_to(**pid, root, parent));
    below.any(|pid| inodes(*pid).contains(&inode))
}

/// Whether a process is `root`, or was started below it; of a thread, whether its process is.
pub fn is_below(pid: u32, root: u32) -> bool {
    leads_to(pid, root, |pid| Some(stat(pid)?.parent))
}

fn leads_to(mut pid: u32, root: u32, parent: impl Fn(u32) -> Option<u32>) -> bool {
    // Numbers may be given anew while they are read.
    for _ in 0..limits::DEEP {
        match parent(pid) {
            _ if pid == root => return true,
            Some(above) => pid = above,
            None => return false,
        }
    }
    false
}

pub fn words(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).map(|it| String::from_utf8_lossy(it).into_owned());
    words.filter(|word| !word.is_empty()).collect()
}

fn not_ours(pid: u32) -> Failure {
    let text = format!("process {pid} may not be looked at: it is another user's, or protected");
    Failure::new(Code::AttachFailed, text).hint(
        "run Holdpoint as the user of that process, or let the program listen for a debugger \
         and pass `host` and `port`",
    )
}

struct Stat {
    state: char,
    parent: u32,
    began: u64,
    /// As `wait` tells it.
    ended: i32,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in brackets and may hold anything, brackets too.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // The 22nd field of all, the 20th from the state on.
    let began = fields.nth(17)?.parse().ok()?;
    // The last one; not for everybody to see.
    let ended = fields.last().and_then(|it| it.parse().ok()).unwrap_or_default();
    Some(Stat { state, parent, began, ended })
}

fn inodes(pid: u32) -> HashSet<u64> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |link: PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
    };
    files.filter_map(|file| inode(std::fs::read_link(file.path()).ok()?)).collect()
}

fn owner(inode: u64) -> Option<u32> {
    pids().find(|pid| inodes(*pid).contains(&inode))
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|it| it.file_name().to_str()?.parse().ok())
}

/// The TCP sockets of the network that a process is in.
fn table(pid: u32) -> Vec<Socket> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/net/{name}"));
    let text = ["tcp", "tcp6"].map(|name| read(name).unwrap_or_default());
    text.iter().flat_map(|it| it.lines().skip(1)).filter_map(socket).collect()
}

fn socket(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    Some(Socket {
        local: address(fields.get(1)?)?,
        remote: address(fields.get(2)?)?,
        is_listening: *fields.get(3)? == "0A",
        inode: fields.get(9)?.parse().ok()?,
    })
}

/// `0100007F:240D`: each four bytes of the address as the machine counts, the port as people do.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Option<Vec<u32>> = host
        .as_bytes()
        .chunks(8)
        .map(|it| u32::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok())
        .collect();
    let bytes: Vec<u8> = words?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let ip = match <[u8; 16]>::try_from(bytes.as_slice()) {
        Ok(bytes) => Ipv6Addr::from(bytes).to_canonical(),
        Err(_) => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.as_slice()).ok()?)),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_writes_them() {
        assert_eq!(address("0100007F:240D"), Some("127.0.0.1:9229".parse().unwrap()));
        let six = "00000000000000000000000001000000:1F90";
        assert_eq!(address(six), Some("[::1]:8080".parse().unwrap()));
        let mapped = "0000000000000000FFFF00000100007F:0001";
        assert_eq!(address(mapped), Some("127.0.0.1:1".parse().unwrap()));
        assert_eq!(address("x:y"), None);
    }

    #[test]
    fn we_are_seen_as_we_are() {
        let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listening.local_addr().unwrap().port();
        let me = Running::find(std::process::id()).unwrap();
        assert!(me.is_alive() && me.shares_network() && me.tracer().is_none());
        assert!(me.sockets().iter().any(|it| it.is_listening && it.local.port() == port));
        assert_eq!(listener(port), Some(me.pid));
        let near = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (_far, _) = listening.accept().unwrap();
        let local = near.local_addr().unwrap();
        let sockets = me.sockets();
        let socket = sockets.iter().find(|it| it.local == local).unwrap();
        assert_eq!(peer(socket), Some(me.pid));
    }

    #[test]
    fn a_socket_is_held_by_us_and_those_above() {
        let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listening.local_addr().unwrap().port();
        let me = std::process::id();
        let sockets = Running::find(me).unwrap().sockets();
        let inode = sockets.iter().find(|it| it.local.port() == port).unwrap().inode;
        assert!(holds(me, inode) && holds(std::os::unix::process::parent_id(), inode));
        assert!(!holds(me, 0) && !holds(u32::MAX, inode));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!holds(child.id(), inode));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert_eq!(Running::find(pid).unwrap_err().code, Code::NotFound);
    }
}
