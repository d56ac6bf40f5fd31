//! Whether what is to outlive a server is kept.

use std::{
    fs::OpenOptions,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
};

use holdpoint_engine::limits;

use super::{Finding, FindingKind, Machine, network};

/// An answer of `/healthz` with its head.
const ANSWER_BYTES: u64 = 16 * 1024;

pub(super) fn store(machine: &Machine) -> Vec<Finding> {
    of_server(machine).or_else(|| of_file(machine)).into_iter().collect()
}

/// A running server knows best.
fn of_server(machine: &Machine) -> Option<Finding> {
    let state = ask(network::running_port(machine)?)?;
    let trouble = match state.as_str() {
        "failing" => "cannot be written now",
        "failed" => "could not be opened",
        _ => return None,
    };
    let detail = format!("{trouble}, says the running server: what happens now is not kept");
    Some(
        Finding::new(FindingKind::Warning, "store", detail)
            .with_fix("ask that server for its status, which says why"),
    )
}

fn ask(port: u16) -> Option<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, limits::HEALTH_ANSWER).ok()?;
    stream.set_read_timeout(Some(limits::HEALTH_ANSWER)).ok()?;
    let request =
        format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES).read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let health: serde_json::Value = serde_json::from_str(body).ok()?;
    health.get("store")?.as_str().map(str::to_owned)
}

/// No server runs: the next one must be able to write it.
fn of_file(machine: &Machine) -> Option<Finding> {
    let file = machine.whereabouts.holdpoint_folder().ok()?.join("holdpoint.db");
    if !file.exists() {
        return None;
    }
    let what = format!("store {}", file.display());
    match OpenOptions::new().append(true).open(&file) {
        Ok(_) => None,
        Err(error) => Some(
            Finding::new(FindingKind::Warning, what, format!("cannot be written: {error}"))
                .with_fix(format!(
                    "let yourself write {}, or name another by --db",
                    file.display()
                )),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use expect_test::{Expect, expect};

    use super::super::tests::{machine_in, report};
    use super::*;

    /// What is said with a server whose health has this store.
    #[track_caller]
    fn check(state: &str, expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let folder = machine.whereabouts.holdpoint_folder().unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("port"), listener.local_addr().unwrap().port().to_string())
            .unwrap();
        let body = format!("{{\"ok\":true,\"store\":\"{state}\"}}");
        // Ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // What is closed unread takes its answer along.
                assert!(stream.read(&mut [0; 512]).is_ok());
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                stream.write_all((head + &body).as_bytes()).unwrap_or_default();
            }
        });
        expected
            .assert_eq(&report(root.path(), &of_server(&machine).into_iter().collect::<Vec<_>>()));
    }

    #[test]
    fn a_running_server_says_what_is_wrong() {
        check("open", expect![""]);
        check(
            "failing",
            expect![[r#"
                warning store cannot be written now, says the running server: what happens now is not kept
                        fix: ask that server for its status, which says why"#]],
        );
    }
}
