//! Pages: ours by the cookie that `holdpoint open` brings, those of other servers of this machine, and everybody else's.

use holdpoint_testkit::{
    http::{Response, get, post},
    process::{Process, run},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve(more: &[&str]) -> (Process, u16) {
    let mut process = Process::start(BIN, &[&["serve", "--port", "0"], more].concat());
    let port = process.port();
    (process, port)
}

/// The way below the host of the address that is printed.
fn opened(process: &Process, port: u16, more: &[&str]) -> String {
    let (code, stdout, stderr) = run(BIN, &[&["open", "--print"], more].concat(), &process.home);
    assert_eq!(code, 0, "{stderr}");
    let host = format!("http://127.0.0.1:{port}");
    stdout.trim().strip_prefix(&host).unwrap_or_else(|| panic!("{stdout}")).to_owned()
}

fn cookie(process: &Process, port: u16, more: &[&str]) -> String {
    let way = opened(process, port, more);
    let answer = get(port, &way).header("Sec-Fetch-Site", "none").send();
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{}", answer.body);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    assert_eq!(get(port, &way).send().status, 403, "it works once");
    set.split(';').next().unwrap().to_owned()
}

fn mcp(port: u16, headers: &[(&'static str, &str)]) -> Response {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "a page", "version": "0" } } });
    let mut asked = post(port, "/mcp", &hello.to_string())
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream");
    for (name, value) in headers {
        asked = asked.header(name, value);
    }
    asked.send()
}

#[test]
fn a_page_of_ours_is_trusted_once_it_has_the_cookie() {
    let (process, port) = serve(&[]);
    let host = format!("127.0.0.1:{port}");
    let ours = format!("http://{host}");
    let cookie = cookie(&process, port, &[]);
    let ask = |origin: &str, cookie: &str| {
        mcp(port, &[("Host", &host), ("Origin", origin), ("Cookie", cookie)]).status
    };
    assert_eq!(ask(&ours, &cookie), 200);
    assert_eq!(ask(&ours, "other=1"), 403);
    assert_eq!(ask(&format!("http://localhost:{port}"), &cookie), 403, "not the same place");
    assert_eq!(ask("http://localhost:3000", &cookie), 403);
    assert_eq!(ask("https://evil.example", &cookie), 403);
    let index = get(port, "/").header("Sec-Fetch-Site", "none").header("Cookie", &cookie).send();
    assert!(index.status == 200 && index.body.starts_with("holdpoint "), "{}", index.body);
}

#[test]
fn another_page_of_this_machine_may_use_the_routes_of_calls_and_no_others() {
    let (_process, port) = serve(&[]);
    let other = ("Origin", "http://localhost:3000");
    let refused = mcp(port, &[other]);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    for path in ["/api/events", "/api/paused", "/api/calls", "/healthz", "/", "/openapi.json"] {
        assert_eq!(get(port, path).header(other.0, other.1).send().status, 403, "{path}");
    }
    let open = post(port, "/api/open", "").header(other.0, other.1).send();
    assert_eq!(open.status, 403);
    for path in ["/api/callpoints/watch", "/api/functions", "/api/debug-client.js"] {
        let asked = get(port, path).header(other.0, other.1).send();
        assert_eq!(asked.status, 200, "{path}");
        assert_eq!(asked.header("access-control-allow-origin"), Some(other.1), "{path}");
    }
}

#[test]
fn with_a_token_open_needs_it_and_the_page_does_not() {
    let (process, port) = serve(&["--token", "secret"]);
    let (code, _, stderr) = run(BIN, &["open", "--print"], &process.home);
    assert_eq!(code, 1);
    assert!(stderr.contains("Authorization: Bearer"), "{stderr}");
    let cookie = cookie(&process, port, &["--token", "secret"]);
    let host = format!("127.0.0.1:{port}");
    let ours = format!("http://{host}");
    let page = mcp(port, &[("Host", &host), ("Origin", &ours), ("Cookie", &cookie)]);
    assert_eq!(page.status, 200);
}

#[test]
fn a_page_at_our_own_address_in_a_network_works() {
    let (process, port) = serve(&["--host", "0.0.0.0", "--token", "secret"]);
    let (code, stdout, stderr) = run(
        BIN,
        &["open", "--print", "--url", &format!("http://127.0.0.1:{port}"), "--token", "secret"],
        &process.home,
    );
    assert_eq!(code, 0, "{stderr}");
    let way = stdout.trim().split_once("/open").map(|(_, key)| format!("/open{key}")).unwrap();
    // Reached at an address that is no loopback's, by its own name.
    let Some(address) = own_address() else { return };
    let host = format!("{address}:{port}");
    let answer = get(port, &way).at(address).header("Host", &host).send();
    assert_eq!(answer.status, 303, "{}", answer.body);
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let ours = format!("http://{host}");
    let ask = |cookie: &str| {
        get(port, "/api/paused")
            .at(address)
            .header("Host", &host)
            .header("Origin", &ours)
            .header("Cookie", cookie)
            .send()
            .status
    };
    assert_eq!((ask(&cookie), ask("a=b")), (200, 403));
}

/// An address of this machine that is not its loopback, if it has one.
fn own_address() -> Option<std::net::IpAddr> {
    // Nothing is sent: the system only says from where it would be.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}
