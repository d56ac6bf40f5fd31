//! Who may come in: users of this machine, what they can read of ours, and whose server we talk to.

use std::{
    fs::{self, OpenOptions},
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv6Addr, TcpStream},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use holdpoint_testkit::{
    http::{get, post, request},
    process::{Process, home, run},
    user::{NOBODY, Second},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve(more: &[&str]) -> (Process, u16) {
    let mut process = Process::start(BIN, &[&["serve", "--port", "0"], more].concat());
    let port = process.port();
    (process, port)
}

/// Everything that there is to ask for.
fn routes(port: u16) -> Vec<(String, String)> {
    let document = get(port, "/openapi.json").send().json();
    let mut routes: Vec<(String, String)> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys();
        routes.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    let beside =
        [("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/mcp/sse"), ("POST", "/mcp/messages")];
    routes.extend(beside.map(|(method, path)| (method.to_owned(), path.to_owned())));
    routes
}

#[test]
fn another_user_gets_nothing_from_any_route() {
    let Some(second) = Second::find() else { return };
    let (mut process, port) = serve(&["--mcp-sse"]);
    let routes = routes(port);
    assert!(routes.len() > 40, "{}", routes.len());
    for address in [IpAddr::from([127, 0, 0, 1]), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        for (method, path) in &routes {
            let asked = second.run(|| request(port, method, path, "{}").at(address).try_send());
            assert!(asked.is_err(), "{method} {path} answered");
        }
    }
    // By an address of IPv4 in the clothes of IPv6, too.
    let mapped = IpAddr::V6("::ffff:127.0.0.1".parse().unwrap());
    assert!(second.run(|| get(port, "/healthz").at(mapped).try_send()).is_err());
    let (code, status, stderr) = run(BIN, &["tool", "server_status"], &process.home);
    assert_eq!(code, 0, "{stderr}");
    let told = format!("refused: {} connections of user ", 2 * routes.len() + 1);
    assert!(status.contains(&told) && status.contains("(uid 65534)"), "{status}");
    process.signal("TERM");
    let (_, stderr) = process.end();
    assert_eq!(stderr.matches("refused a connection of user").count(), 1, "{stderr}");
    assert!(stderr.contains("--allow-user"), "{stderr}");
}

/// The kernel gives root's number to a socket that nobody holds any more, and root may always.
#[test]
fn whoever_closes_at_once_has_asked_for_nothing() {
    let Some(second) = Second::find() else { return };
    let (_process, port) = serve(&[]);
    let body = r#"{"function_name":"stolen"}"#;
    let asked = format!(
        "POST /api/breakpoints HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    second.run(|| {
        for _ in 0..50 {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(asked.as_bytes()).unwrap_or_default();
        }
    });
    // Asked on a connection that comes after all of them.
    let known = get(port, "/api/breakpoints").send().json();
    assert_eq!(known["breakpoints"], json!([]));
}

#[test]
fn who_is_named_is_let_in_and_with_sharing_everybody() {
    let Some(second) = Second::find() else { return };
    let uid = NOBODY.to_string();
    for option in [&["--allow-user", "77", "--allow-user", &uid][..], &["--share-with-users"]] {
        let (_process, port) = serve(option);
        let asked = second.run(|| get(port, "/healthz").try_send());
        assert_eq!(asked.unwrap().status, 200, "{option:?}");
    }
    let home = tempfile::tempdir().unwrap();
    let (code, _, stderr) = run(BIN, &["serve", "--allow-user", "no-such-user"], home.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("--allow-user: no user `no-such-user`"), "{stderr}");
}

#[test]
fn an_event_stream_of_ours_stays_open_while_strangers_knock() {
    let Some(second) = Second::find() else { return };
    let (_process, port) = serve(&[]);
    let mut events = get(port, "/api/events?since=0").stream();
    assert_eq!(events.next_data().unwrap().event, "server_started");
    second.run(|| {
        for _ in 0..200 {
            assert!(get(port, "/api/events?since=0").try_send().is_err());
        }
    });
    assert_eq!(get(port, "/healthz").send().status, 200);
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(all(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// A server with something recorded: a value that is large enough for a file of its own.
fn with_records(home: &Path) -> Process {
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], home, |_| {});
    let port = process.port();
    let data = serde_json::to_string(&"x".repeat(1 << 20)).unwrap();
    let cid = holdpoint_testkit::calls::cid(data.as_bytes());
    let call = json!({
        "method_name": "f", "process_pid": 1, "process_start_time": 1.0, "preferred_format": "json",
        "args": [{ "cid": cid, "data": data, "serialization_format": "json" }],
    });
    let started = post(port, "/api/call/start", &call.to_string())
        .header("Content-Type", "application/json")
        .send();
    assert_eq!(started.status, 200, "{}", started.body);
    let id = started.json()["call_id"].clone();
    let end = json!({ "call_id": id, "status": "success" }).to_string();
    let ended = post(port, "/api/call/complete", &end).header("Content-Type", "application/json");
    assert_eq!(ended.send().status, 200);
    holdpoint_testkit::until("the record", || {
        let kept = get(port, "/api/calls").send();
        kept.body.contains("\"f\"").then_some(())
    });
    process
}

/// Not by their modes alone: whatever is in the home while a program is debugged and calls are recorded.
#[test]
fn another_user_opens_no_file_of_ours() {
    let Some(second) = Second::find() else { return };
    let home = home();
    let server = with_records(home.path());
    let program = home.path().join("program.js");
    fs::write(&program, "let a = 1;\na += 1;\n").unwrap();
    let launch = format!("{{\"program\":\"{}\"}}", program.display());
    let (code, said, stderr) = run(BIN, &["tool", "debug_launch", &launch], home.path());
    assert_eq!(code, 0, "{said} {stderr}");
    let files = all(home.path());
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let is_folder = file.is_dir();
        let opened = second.run(|| match is_folder {
            true => fs::read_dir(&file).map(drop),
            // A pipe would wait for its other end.
            false => OpenOptions::new().read(true).write(true).open(&file).map(drop),
        });
        assert!(opened.is_err(), "{}", file.display());
    }
    let opened = second.run(|| fs::read_dir(format!("/proc/{}/fd", server.id())).map(drop));
    assert!(opened.is_err(), "its handles");
}

#[test]
fn what_we_keep_is_the_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut process = with_records(&home);
    assert_eq!(mode(&home), 0o700);
    let mut files = 0;
    for path in all(&home) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
        files += usize::from(path.is_file());
    }
    assert!(files >= 5, "a database, a value, a port, a key, an entry: {files}");
    if let Some(second) = Second::find() {
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        for path in all(&home).into_iter().filter(|it| it.is_file()) {
            let read = second.run(|| fs::read(&path).map(drop));
            assert!(read.is_err(), "{} was read", path.display());
        }
    }
    process.signal("TERM");
    process.end();
}

#[test]
fn what_is_wider_is_narrowed_with_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut process = with_records(&home);
    process.signal("TERM");
    process.end();
    for path in [&home, &home.join("holdpoint.db"), &home.join("key")] {
        let wider = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(wider)).unwrap();
    }
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], &home, |_| {});
    process.port();
    assert_eq!(mode(&home), 0o700);
    assert_eq!((mode(&home.join("holdpoint.db")), mode(&home.join("key"))), (0o600, 0o600));
    process.signal("TERM");
    let (_, stderr) = process.end();
    assert_eq!(stderr.matches("others could read this; now only you can").count(), 3, "{stderr}");
}

#[test]
fn the_port_file_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    symlink(&victim, home.join("port")).unwrap();
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], &home, |_| {});
    process.port();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    assert!(!fs::symlink_metadata(home.join("port")).unwrap().is_symlink());
}

/// After a kill the port file stays; whoever listens there next is not who we mean.
#[test]
fn a_tool_sends_nothing_to_another_users_server() {
    let Some(second) = Second::find() else { return };
    let thief = second.steal();
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("port"), thief.port.to_string()).unwrap();
    for command in [&["tool", "server_status"][..], &["open", "--print"]] {
        let call = [command, &["--token", "secret"]].concat();
        let (code, stdout, stderr) = run(BIN, &call, home.path());
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains("not by you; nothing was sent"), "{stderr}");
    }
    assert!(thief.heard().iter().all(String::is_empty), "{:?}", thief.heard());
    // Whom the user names is the user's to know.
    let url = format!("http://127.0.0.1:{}", thief.port);
    let (code, ..) = run(BIN, &["tool", "server_status", "--url", &url], home.path());
    assert_eq!(code, 1);
    assert!(thief.heard().iter().any(|it| it.contains("/mcp")), "{:?}", thief.heard());
}

#[test]
fn a_server_proves_that_it_has_the_key_of_its_home() {
    let (process, port) = serve(&["--token", "secret"]);
    let key = fs::read_to_string(process.home.join("key")).unwrap();
    assert_eq!(key.len(), 64);
    let nonce = "0123456789abcdef".repeat(2);
    let ask = |address: IpAddr| {
        get(port, &format!("/api/proof?nonce={nonce}")).at(address).send().json()["proof"].clone()
    };
    let (four, six) = (ask([127, 0, 0, 1].into()), ask(IpAddr::V6(Ipv6Addr::LOCALHOST)));
    assert_eq!(four.as_str().unwrap().len(), 64);
    assert_ne!(four, six, "a proof is of the address at which it was asked");
    let (_other, other_port) = serve(&[]);
    let others = get(other_port, &format!("/api/proof?nonce={nonce}")).send().json();
    assert_ne!(others["proof"], four, "another home has another key");
    assert_eq!(get(port, "/api/proof?nonce=12").send().status, 400);
    assert!(!get(port, "/api/proof").send().body.contains(&key));
}

/// A token lies in a file or in the environment; nothing that we start or write shows it.
#[test]
fn a_token_is_seen_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "very-secret-token\n").unwrap();
    let file = file.to_str().unwrap();
    let options = ["serve", "--port", "0", "--log-level", "trace", "--token-file", file];
    let mut process = Process::start(BIN, &options);
    let port = process.port();
    assert_eq!(get(port, "/openapi.json").send().status, 401);
    let known = get(port, "/openapi.json").header("Authorization", "Bearer very-secret-token");
    assert_eq!(known.send().status, 200);
    // What a browser or a careless client puts into an address.
    let careless = get(port, "/api/events?token=very-secret-token").send();
    assert_eq!(careless.status, 401);
    let url = format!("http://127.0.0.1:{port}");
    let call = ["tool", "server_status", "--url", &url, "--token-file", file];
    let (code, _, stderr) = run(BIN, &call, folder.path());
    assert_eq!(code, 0, "{stderr}");
    let mut seen = String::new();
    let line = fs::File::open(format!("/proc/{}/cmdline", process.id()));
    line.unwrap().read_to_string(&mut seen).unwrap();
    process.signal("TERM");
    let (_, log) = process.end();
    assert!(log.contains("refused a request"), "{log}");
    seen += &log;
    assert!(!seen.contains("very-secret"), "{seen}");
}

#[test]
fn exactly_one_plain_host_on_the_wire() {
    let (_process, port) = serve(&[]);
    let status = |head: &str| -> u16 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(holdpoint_testkit::DEADLINE)).unwrap();
        write!(stream, "{head}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap_or_default();
        answer.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or_default()
    };
    assert_eq!(status("GET /healthz HTTP/1.1\r\nHost: localhost\r\n"), 200);
    for head in [
        "GET /healthz HTTP/1.1\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n",
        "GET /healthz HTTP/1.1\r\nHost: [::1].evil.example\r\n",
        "GET /healthz HTTP/1.1\r\nHost: evil@127.0.0.1\r\n",
        "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1\r\nOrigin: http://localhost:1\r\n",
        "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nContent-Length: 0\r\n",
        "POST /api/call/start HTTP/1.1\r\nHost: evil@localhost\r\nContent-Length: 0\r\n",
    ] {
        assert_eq!(status(head), 403, "{head}");
    }
}

#[test]
fn preflights_are_answered_where_there_is_a_token() {
    let options = ["--token", "secret", "--allow-origin", "https://ok.example"];
    let (_process, port) = serve(&options);
    let asks = |origin: &str, path: &str| {
        request(port, "OPTIONS", path, "")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "authorization,content-type")
            .send()
    };
    for (origin, path) in
        [("https://ok.example", "/mcp"), ("http://localhost:3000", "/api/call/start")]
    {
        let answer = asks(origin, path);
        assert_eq!(answer.status, 200, "{origin} {path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        let headers = answer.header("access-control-allow-headers").unwrap().to_lowercase();
        assert!(headers.contains("authorization"), "{headers}");
    }
    assert_eq!(asks("http://localhost:3000", "/mcp").status, 403);
    let call = |token: &str| {
        let body: Value = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        post(port, "/mcp", &body.to_string())
            .header("Origin", "https://ok.example")
            .header("Content-Type", "application/json")
            .header("Authorization", token)
            .send()
            .status
    };
    assert_eq!(call("Bearer wrong"), 401);
    assert_ne!(call("Bearer secret"), 401);
}
