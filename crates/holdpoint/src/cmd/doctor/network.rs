//! The server that may be running, and the addresses it needs.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::port_owner::{self, Owner};
use super::{Finding, FindingKind, Machine};
use crate::cmd::setup::file;
use crate::cmd::setup::whereabouts::Platform;
use crate::http::serving::port_file;

/// A server on this machine accepts in microseconds, or it is stuck.
const CONNECT_DEADLINE: Duration = Duration::from_millis(500);

/// What the port file leads to.
#[derive(Debug, PartialEq, Eq)]
enum Server {
    NoPortFile,
    /// There is a file, and no port number in it.
    Unreadable {
        why: String,
    },
    Silent {
        port: u16,
    },
    /// Somebody answers who is not Holdpoint.
    Foreign {
        port: u16,
        owner: Owner,
    },
    Running {
        port: u16,
    },
}

pub(super) fn running_server(machine: &Machine) -> Vec<Finding> {
    // Without a home there is no port file, and the home has its own check.
    let Some(path) = port_file_of(machine) else { return Vec::new() };
    vec![describe_server(find_server(machine, &path), &path, machine.whereabouts.platform)]
}

/// Where the server of this home listens.
pub(super) fn running_port(machine: &Machine) -> Option<u16> {
    match find_server(machine, &port_file_of(machine)?) {
        Server::Running { port } => Some(port),
        Server::NoPortFile
        | Server::Unreadable { .. }
        | Server::Silent { .. }
        | Server::Foreign { .. } => None,
    }
}

/// The port everyone expects, or at least any port, has to be free.
pub(super) fn port(machine: &Machine) -> Vec<Finding> {
    let port = machine.port;
    let ours = port_file_of(machine)
        .is_some_and(|path| find_server(machine, &path) == Server::Running { port });
    let finding = if ours {
        Finding::new(
            FindingKind::Ok,
            format!("port {port}"),
            "is taken by the running Holdpoint server",
        )
    } else {
        match is_free(port) {
            Ok(true) => Finding::new(FindingKind::Ok, format!("port {port}"), "is free"),
            Ok(false) => taken_port(port, port_owner::find(&machine.whereabouts, port)),
            Err(error) => no_port(&error),
        }
    };
    vec![finding]
}

pub(super) fn ipv6_loopback(_machine: &Machine) -> Vec<Finding> {
    vec![match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => Finding::new(FindingKind::Ok, "IPv6 loopback", "is available"),
        Err(error) => {
            let detail = format!(
                "is not available: {error}; programs that debug on ::1 only cannot be reached"
            );
            let finding = Finding::new(FindingKind::Warning, "IPv6 loopback", detail);
            if cfg!(target_os = "linux") {
                finding.with_fix("sudo sysctl -w net.ipv6.conf.lo.disable_ipv6=0")
            } else {
                finding
            }
        }
    }]
}

fn port_file_of(machine: &Machine) -> Option<PathBuf> {
    machine.whereabouts.holdpoint_folder().ok().map(|folder| folder.join("port"))
}

fn find_server(machine: &Machine, path: &Path) -> Server {
    let text = match file::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Server::NoPortFile,
        // The hint speaks of something else than this report.
        Err(error) => return Server::Unreadable { why: first_line(&error.to_string()) },
    };
    let named = port_file::all(&text);
    let newest = named.iter().copied().find(|port| answers(*port)).or(named.first().copied());
    match newest {
        None => Server::Unreadable { why: format!("`{}` holds no port number", path.display()) },
        Some(port) if !answers(port) => Server::Silent { port },
        Some(port) => match port_owner::find(&machine.whereabouts, port) {
            Some(owner) if !is_ours(&owner, &machine.whereabouts.exe) => {
                Server::Foreign { port, owner }
            }
            Some(_) | None => Server::Running { port },
        },
    }
}

fn describe_server(server: Server, path: &Path, platform: Platform) -> Finding {
    let remove = match platform {
        Platform::Windows => "del",
        Platform::MacOs | Platform::Xdg => "rm",
    };
    let fix = format!("{remove} {}", platform.shell_word(&path.to_string_lossy()));
    let stale = |detail| Finding::new(FindingKind::Warning, "server", detail).with_fix(fix);
    match server {
        Server::NoPortFile => Finding::new(FindingKind::Info, "server", "is not running"),
        Server::Running { port } => Finding::new(
            FindingKind::Ok,
            "server",
            format!("is running at http://127.0.0.1:{port}"),
        ),
        Server::Unreadable { why } => stale(format!("may be running, but {why}")),
        Server::Silent { port } => {
            stale(format!("is not running, though {} says port {port}", path.display()))
        }
        Server::Foreign { port, owner } => stale(format!(
            "is not running: {} says port {port}, which belongs to {owner}",
            path.display()
        )),
    }
}

fn taken_port(port: u16, owner: Option<Owner>) -> Finding {
    if let Err(error) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        return no_port(&error);
    }
    let (who, fix) = match owner {
        Some(owner) => (owner.to_string(), format!("stop process {}", owner.pid)),
        None => ("another program".to_owned(), "stop that program".to_owned()),
    };
    let detail = format!("is taken by {who}; Holdpoint takes the next free one");
    Finding::new(FindingKind::Warning, format!("port {port}"), detail)
        .with_fix(format!("{fix}, if you want that port"))
}

fn no_port(error: &io::Error) -> Finding {
    Finding::new(FindingKind::Missing, "loopback", format!("allows no port to be opened: {error}"))
        .with_fix(
            "let programs listen on 127.0.0.1: check the sandbox, the container or the firewall",
        )
}

/// Asks twice, since some systems let two programs bind the same port on different addresses.
fn is_free(port: u16) -> io::Result<bool> {
    if answers(port) {
        return Ok(false);
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(false),
        Err(error) => Err(error),
    }
}

fn answers(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, CONNECT_DEADLINE).is_ok()
}

/// Linux cuts a process name to 15 bytes, so a longer name of ours is recognised by its beginning.
fn is_ours(owner: &Owner, exe: &Path) -> bool {
    let own_name =
        exe.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_own_name = !owner.name.is_empty() && own_name.starts_with(&owner.name);
    is_own_name || owner.name.starts_with("holdpoint")
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{free_port, machine_in, report};
    use super::*;

    /// What is said about the server when the port file holds this. Ports are shown as `<port>`.
    #[track_caller]
    fn check_server(port_file_text: Option<&str>, port: u16, expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        if let Some(text) = port_file_text {
            let folder = machine.whereabouts.holdpoint_folder().unwrap();
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("port"), text).unwrap();
        }
        let report = report(root.path(), &running_server(&machine));
        expected.assert_eq(&report.replace(&port.to_string(), "<port>"));
    }

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn without_a_port_file_no_server_is_running() {
        check_server(None, 1, expect!["info    server is not running"]);
    }

    #[test]
    fn a_port_file_that_leads_nowhere_is_stale() {
        let port = free_port();
        check_server(
            Some(&port.to_string()),
            port,
            expect![[r#"
                warning server is not running, though /home/.holdpoint/port says port <port>
                        fix: rm /home/.holdpoint/port"#]],
        );
    }

    #[test]
    fn a_port_file_without_a_number_is_stale() {
        for text in ["", "0", "99999", "http://127.0.0.1"] {
            check_server(
                Some(text),
                65_535,
                expect![[r#"
                    warning server may be running, but `/home/.holdpoint/port` holds no port number
                            fix: rm /home/.holdpoint/port"#]],
            );
        }
    }

    #[test]
    fn a_server_that_answers_is_running_if_it_is_ours() {
        let path = Path::new("/home/.holdpoint/port");
        let check = |server, expected: Expect| {
            expected.assert_eq(&describe_server(server, path, Platform::Xdg).render())
        };
        check(
            Server::Running { port: 5174 },
            expect!["ok      server is running at http://127.0.0.1:5174"],
        );
        let owner = Owner { pid: 77, name: "vite".to_owned() };
        check(
            Server::Foreign { port: 5174, owner },
            expect![[r#"
                warning server is not running: /home/.holdpoint/port says port 5174, which belongs to `vite` (process 77)
                        fix: rm /home/.holdpoint/port"#]],
        );
    }

    #[test]
    fn our_server_is_known_by_its_process_name() {
        let check = |name: &str, exe: &str, expected: bool| {
            assert_eq!(
                is_ours(&Owner { pid: 1, name: name.to_owned() }, Path::new(exe)),
                expected,
                "{name} {exe}"
            );
        };
        check("holdpoint", "/bin/holdpoint", true);
        check("holdpoint.exe", "/bin/hp", true);
        check("hp-nightly-buil", "/bin/hp-nightly-build-7", true);
        check("python3", "/bin/holdpoint", false);
        check("", "/bin/holdpoint", false);
    }

    /// What is said about the port, shown as `<port>`. The test's own process is what may listen on it.
    #[track_caller]
    fn check_port(port: u16, expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine { port, ..machine_in(root.path()) };
        expected.assert_eq(
            &report(root.path(), &super::port(&machine)).replace(&port.to_string(), "<port>"),
        );
    }

    #[test]
    fn a_free_port_is_good() {
        check_port(free_port(), expect!["ok      port <port> is free"]);
    }

    #[test]
    fn a_taken_port_is_a_warning_that_names_who_takes_it() {
        let (_listener, port) = listener();
        assert!(!is_free(port).unwrap());
        let check = |owner, expected: Expect| expected.assert_eq(&taken_port(5174, owner).render());
        check(
            Some(Owner { pid: 77, name: "vite".to_owned() }),
            expect![[r#"
                warning port 5174 is taken by `vite` (process 77); Holdpoint takes the next free one
                        fix: stop process 77, if you want that port"#]],
        );
        check(
            None,
            expect![[r#"
                warning port 5174 is taken by another program; Holdpoint takes the next free one
                        fix: stop that program, if you want that port"#]],
        );
    }

    #[test]
    fn the_port_of_our_running_server_is_good() {
        let (_listener, port) = listener();
        let root = tempfile::tempdir().unwrap();
        let mut machine = Machine { port, ..machine_in(root.path()) };
        // The server is this very test, so its name is ours.
        machine.whereabouts.exe = std::env::current_exe().unwrap();
        let folder = machine.whereabouts.holdpoint_folder().unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("port"), port.to_string()).unwrap();
        let said = report(root.path(), &[running_server(&machine), super::port(&machine)].concat());
        expect![[r#"
            ok      server is running at http://127.0.0.1:<port>
            ok      port <port> is taken by the running Holdpoint server"#]]
        .assert_eq(&said.replace(&port.to_string(), "<port>"));
    }

    #[test]
    fn no_port_at_all_is_missing() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        expect![[r#"
            missing loopback allows no port to be opened: permission denied
                    fix: let programs listen on 127.0.0.1: check the sandbox, the container or the firewall"#]].assert_eq(&no_port(&error).render());
    }
}
