//! Cuts the connection between a server and a debugger inside a program, from outside of both.

use std::{collections::BTreeMap, fs};

use rustix::{
    net::{Shutdown, shutdown},
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

/// `false` where there is none, or the system does not let us.
pub(super) fn cut(server: i32, program: i32) -> bool {
    let (of_server, of_program) = (sockets(server), sockets(program));
    let connections = connections();
    let is_between = |inode: &u64| {
        let Some((here, there)) = connections.get(inode) else { return false };
        of_server
            .values()
            .any(|other| connections.get(other).is_some_and(|(own, to)| own == there && to == here))
    };
    let found = of_program.iter().find(|(_, inode)| is_between(inode));
    let Some((handle, _)) = found else { return false };
    let cut = || {
        let process = pidfd_open(Pid::from_raw(program)?, PidfdFlags::empty()).ok()?;
        let socket = pidfd_getfd(process, *handle, PidfdGetfdFlags::empty()).ok()?;
        shutdown(socket, Shutdown::Both).ok()
    };
    cut().is_some()
}

/// The sockets of a process: handle and inode.
fn sockets(pid: i32) -> BTreeMap<i32, u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let socket = |entry: fs::DirEntry| {
        let to = fs::read_link(entry.path()).ok()?;
        let inode = to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        Some((entry.file_name().to_str()?.parse().ok()?, inode))
    };
    entries.filter_map(socket).collect()
}

/// Both ends of each connection of this machine, by its inode.
fn connections() -> BTreeMap<u64, (String, String)> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let inode = words.get(9)?.parse().ok()?;
        Some((inode, ((*words.get(1)?).to_owned(), (*words.get(2)?).to_owned())))
    };
    table.lines().skip(1).filter_map(row).collect()
}
