//! Which process listens on a port.
//!
//! A courtesy to the reader of the report: where the system does not tell us, nobody is named.
//! Linux shows only the processes of the same user, unless we are root.

use std::fmt;
use std::fs;
use std::path::Path;

use super::process::{self, Answer};
use crate::cmd::setup::whereabouts::Whereabouts;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u32,
    pub(super) name: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {})", self.name, self.pid)
    }
}

/// Who listens on a TCP port of this machine, as far as we may know.
pub(super) fn find(whereabouts: &Whereabouts, port: u16) -> Option<Owner> {
    if cfg!(target_os = "linux") {
        from_proc(Path::new("/proc"), port)
    } else {
        from_lsof(whereabouts, port)
    }
}

fn from_proc(proc: &Path, port: u16) -> Option<Owner> {
    let inodes: Vec<String> = ["net/tcp", "net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(proc.join(table)).ok())
        .flat_map(|table| listening_inodes(&table, port))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let pid = fs::read_dir(proc)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find(|pid: &u32| holds_any(&proc.join(pid.to_string()), &inodes))?;
    let name = fs::read_to_string(proc.join(pid.to_string()).join("comm")).ok()?;
    Some(Owner { pid, name: name.trim().to_owned() })
}

/// The socket numbers of those who listen on the port, out of `/proc/net/tcp`.
/// See <https://docs.kernel.org/networking/proc_net_tcp.html>.
fn listening_inodes(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let ending = format!(":{port:04X}");
    let inode = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        (local.ends_with(&ending) && *state == LISTEN).then(|| (*inode).to_owned())
    };
    table.lines().filter_map(inode).collect()
}

fn holds_any(process: &Path, inodes: &[String]) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else { return false };
    descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).any(|target| {
        let target = target.to_string_lossy();
        let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        inode.is_some_and(|inode| inodes.iter().any(|wanted| wanted == inode))
    })
}

fn from_lsof(whereabouts: &Whereabouts, port: u16) -> Option<Owner> {
    let program = whereabouts.find_program("lsof")?;
    let address = format!("-iTCP:{port}");
    match process::ask(&program, &["-nP", &address, "-sTCP:LISTEN", "-Fpc"], process::DEADLINE) {
        Answer::Said(text) => parse_lsof(&text),
        Answer::TooLate | Answer::Failed(_) => None,
    }
}

/// One field per line, named by its first letter: `p` is the process, `c` the command.
fn parse_lsof(text: &str) -> Option<Owner> {
    let field = |letter: char| text.lines().find_map(|line| line.strip_prefix(letter));
    Some(Owner { pid: field('p')?.parse().ok()?, name: field('c')?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1436 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41001 1 0 100 0 0 10 0
   1: 0100007F:1436 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 41002 1 0 20 4 30 10 -1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41003 1 0 100 0 0 10 0
";

    #[test]
    fn only_listeners_of_the_port_count() {
        assert_eq!(listening_inodes(TABLE, 5174), ["41001"]);
        assert_eq!(listening_inodes(TABLE, 22), ["41003"]);
        assert_eq!(listening_inodes(TABLE, 80), [""; 0]);
        assert_eq!(listening_inodes("garbage\n\n", 80), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn the_owner_is_the_process_that_holds_the_socket() {
        let proc = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = proc.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("net/tcp", TABLE);
        write("1/comm", "init\n");
        write("77/comm", "python3\n");
        fs::create_dir(proc.path().join("77/fd")).unwrap();
        std::os::unix::fs::symlink("/dev/null", proc.path().join("77/fd/0")).unwrap();
        std::os::unix::fs::symlink("socket:[41001]", proc.path().join("77/fd/3")).unwrap();
        assert_eq!(
            from_proc(proc.path(), 5174),
            Some(Owner { pid: 77, name: "python3".to_owned() })
        );
        assert_eq!(from_proc(proc.path(), 22), None);
        assert_eq!(from_proc(&proc.path().join("none"), 22), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = from_proc(Path::new("/proc"), listener.local_addr().unwrap().port());
        assert_eq!(owner.map(|owner| owner.pid), Some(std::process::id()));
    }

    #[test]
    fn the_answer_of_lsof_is_understood() {
        let owner = Owner { pid: 812, name: "node".to_owned() };
        assert_eq!(parse_lsof("p812\ncnode\nf21\n"), Some(owner));
        assert_eq!(parse_lsof(""), None);
        assert_eq!(parse_lsof("pnone\ncnode\n"), None);
    }
}
