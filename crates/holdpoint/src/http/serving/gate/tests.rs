//! One table of who gets in. A row is what is answered (`ok` is let through), what is asked, and its headers; `token` and
//! `unknown` before the method are servers with a token, and connections of which the system does not say whose they are.
//! `COOKIE`, `TOKEN` and `KEY` stand for the true ones. The server is at 127.0.0.1:5174 and, with `lan`, at 192.168.1.5.

use axum::http::HeaderValue;

use super::*;

const TABLE: &str = "
# Exactly one plain Host that names us.
ok  GET /api/events | host: localhost:5174
ok  GET /api/events | host: localhost
ok  GET /api/events | host: LOCALHOST:5174
ok  GET /api/events | host: 127.0.0.1:5174
ok  GET /api/events | host: 127.0.0.2
ok  GET /api/events | host: [::1]:5174
ok  GET /api/events | host: [::1]
ok  GET /api/events | host: localhost:8080
403 GET /api/events
403 GET /api/events | host:
403 GET /api/events | host: evil.example:5174
403 GET /api/events | host: localhost.evil.example
403 GET /api/events | host: 127.0.0.1.evil.example
403 GET /api/events | host: [::1].evil.example
403 GET /api/events | host: [::1]evil.example:5174
403 GET /api/events | host: evil@127.0.0.1
403 GET /api/events | host: evil@127.0.0.1:5174
403 GET /api/events | host: 127.0.0.1@evil.example
403 GET /api/events | host: localhost:5174@evil.example
403 GET /api/events | host: localhost:
403 GET /api/events | host: localhost:+5174
403 GET /api/events | host: localhost:0
403 GET /api/events | host: localhost:99999
403 GET /api/events | host: localhost:5174:5174
403 GET /api/events | host: localhost/
403 GET /api/events | host: localhost.
403 GET /api/events | host: localhost, evil.example
403 GET /api/events | host: http://localhost
403 GET /api/events | host: ::1
403 GET /api/events | host: [::1
403 GET /api/events | host: [localhost]
403 GET /api/events | host: [127.0.0.1]
403 GET /api/events | host: 127.1
403 GET /api/events | host: 0.0.0.0
403 GET /api/events | host: 192.168.1.5
403 GET /api/events | host: local\u{e9}host
403 GET /api/events | host: localhost | host: localhost
403 GET /api/events | host: localhost | host: evil.example
403 GET /api/events | host: evil.example | host: localhost
# An absolute address says the same as the Host.
ok  GET http://localhost:5174/api/events | host: localhost:5174
403 GET http://evil.example/api/events | host: localhost:5174
403 GET http://evil@localhost:5174/api/events | host: localhost:5174
403 GET http://localhost:5174/api/events | host: evil.example
403 GET http://localhost:5174/api/events
403 token GET http://evil.example/api/events | host: localhost | authorization: Bearer TOKEN

# Pages: nobody's, other servers' of this machine, ours.
403 GET /api/events | host: localhost:5174 | origin: https://evil.example
403 GET /api/call/start | host: localhost:5174 | origin: https://evil.example
403 GET /api/call/start | host: localhost:5174 | origin: null
403 GET /api/call/start | host: localhost:5174 | origin: file://localhost
403 GET /api/call/start | host: localhost:5174 | origin: http://localhost.evil.example
403 GET /api/call/start | host: localhost:5174 | origin: http://[::1].evil.example
403 GET /api/call/start | host: localhost:5174 | origin: http://evil@localhost
403 GET /api/call/start | host: localhost:5174 | origin: http://localhost:3000/
403 GET /api/call/start | host: localhost:5174 | origin: HTTP://LOCALHOST:3000
403 GET /api/call/start | host: localhost:5174 | origin: http://localhost:3000 | origin: http://localhost:3000
403 GET /api/call/start | host: localhost:5174 | origin: http://localhost:3000 | origin: https://evil.example
403 GET /api/call/start | host: localhost:5174 | origin: http://localhost:3000, https://evil.example
403 GET /healthz | host: localhost:5174 | origin: https://evil.example
ok  POST /api/call/start | host: localhost:5174 | origin: http://localhost:3000
ok  POST /api/call/complete | host: localhost:5174 | origin: http://127.0.0.1:3000
ok  GET /api/poll/1 | host: localhost:5174 | origin: http://[::1]:3000
ok  GET /api/callpoints/watch | host: localhost:5174 | origin: https://localhost
ok  GET /api/debug-client.js | host: localhost:5174 | origin: http://localhost:3000
403 POST /mcp | host: localhost:5174 | origin: http://localhost:3000
403 GET /mcp/sse | host: localhost:5174 | origin: http://localhost:3000
403 GET /api/events | host: localhost:5174 | origin: http://localhost:3000
403 GET /api/paused | host: localhost:5174 | origin: http://localhost:3000
403 POST /api/repl/1/eval | host: localhost:5174 | origin: http://localhost:3000
403 POST /api/open | host: localhost:5174 | origin: http://localhost:3000
403 GET /healthz | host: localhost:5174 | origin: http://localhost:3000
ok  POST /mcp | host: localhost:5174 | origin: https://ok.example
403 POST /mcp | host: localhost:5174 | origin: https://ok.example:444
403 POST /mcp | host: localhost:5174 | origin: http://ok.example
403 POST /mcp | host: localhost:5174 | origin: https://ok.example.evil
403 POST /mcp | host: localhost:5174 | origin: http://localhost:5174
ok  POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: COOKIE
ok  POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: a=b; COOKIE
403 POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: holdpoint-5174=wrong
403 POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: holdpoint-5174=
403 POST /mcp | host: localhost:5174 | origin: https://localhost:5174 | cookie: COOKIE
403 POST /mcp | host: localhost:5174 | origin: http://127.0.0.1:5174 | cookie: COOKIE
403 POST /mcp | host: localhost:5174 | origin: http://localhost:3000 | cookie: COOKIE
403 POST /mcp | host: localhost:5174 | origin: https://evil.example | cookie: COOKIE
# What browsers send without an Origin.
ok  GET /api/paused | host: localhost:5174 | sec-fetch-site: none
403 GET /api/paused | host: localhost:5174 | sec-fetch-site: same-origin
ok  GET /api/paused | host: localhost:5174 | sec-fetch-site: same-origin | cookie: COOKIE
403 GET /api/paused | host: localhost:5174 | sec-fetch-site: same-site | cookie: COOKIE
403 GET /api/paused | host: localhost:5174 | sec-fetch-site: cross-site
403 GET /api/paused | host: localhost:5174 | sec-fetch-site: cross-site | sec-fetch-mode: navigate
403 GET /api/paused | host: localhost:5174 | sec-fetch-site: none | sec-fetch-site: none
ok  GET /api/debug-client.cjs | host: localhost:5174 | sec-fetch-site: cross-site
ok  GET / | host: localhost:5174 | sec-fetch-site: cross-site | sec-fetch-mode: navigate
403 GET / | host: localhost:5174 | sec-fetch-site: cross-site | sec-fetch-mode: no-cors
ok  GET /open | host: localhost:5174 | sec-fetch-site: same-origin
# Views show nothing without the cookie; what is done to them, and their stream, is for those who have it.
ok  GET /sessions/s1 | host: localhost:5174 | sec-fetch-site: cross-site | sec-fetch-mode: navigate
403 GET /sessions/s1 | host: localhost:5174 | sec-fetch-site: cross-site | sec-fetch-mode: no-cors
403 GET /sessions/s1 | host: localhost:5174 | sec-fetch-site: same-site | sec-fetch-mode: no-cors | cookie: COOKIE
403 GET /sessions/s1 | host: localhost:5174 | origin: http://localhost:3000 | cookie: COOKIE
ok  GET /page/page.css | host: localhost:5174 | sec-fetch-site: same-origin
403 GET /page/page.css | host: localhost:5174 | sec-fetch-site: cross-site
403 GET /page/live | host: localhost:5174 | sec-fetch-site: same-origin
ok  GET /page/live | host: localhost:5174 | sec-fetch-site: same-origin | cookie: COOKIE
403 POST /sessions/s1 | host: localhost:5174 | origin: http://localhost:5174
ok  POST /sessions/s1 | host: localhost:5174 | origin: http://localhost:5174 | cookie: COOKIE
403 POST /sessions/s1 | host: localhost:5174 | origin: http://localhost:3000 | cookie: COOKIE
403 POST /sessions/s1 | host: localhost:5174 | origin: null | cookie: COOKIE

# A token.
401 token GET /api/events | host: localhost
401 token GET / | host: localhost
ok  token GET /sessions | host: localhost
401 token GET /page/live | host: localhost
401 token POST /sessions | host: localhost
ok  token GET /healthz | host: localhost
ok  token GET /api/events | host: localhost | authorization: Bearer TOKEN
ok  token GET /api/events | host: box.example | authorization: Bearer TOKEN
403 token GET /api/events | host: box.example
403 token GET /api/events | host: evil@box.example | authorization: Bearer TOKEN
401 token GET /api/events | host: localhost | authorization: Bearer wrong
401 token GET /api/events | host: localhost | authorization: Bearer TOKEN2
401 token GET /api/events | host: localhost | authorization: Bearer
401 token GET /api/events | host: localhost | authorization: TOKEN
401 token GET /api/events | host: localhost | authorization: Bearer TOKEN | authorization: Bearer TOKEN
401 token GET /api/events?token=TOKEN | host: localhost
403 token POST /mcp | host: localhost | authorization: Bearer TOKEN | origin: https://evil.example
403 token POST /mcp | host: localhost | authorization: Bearer TOKEN | origin: http://localhost:3000
ok  token POST /mcp | host: localhost | authorization: Bearer TOKEN | origin: https://ok.example
401 token POST /mcp | host: localhost | origin: https://ok.example
401 token POST /api/call/start | host: localhost | origin: http://localhost:3000
ok  token POST /api/call/start | host: localhost | origin: http://localhost:3000 | authorization: Bearer TOKEN
ok  token GET /api/debug-client.js | host: localhost
ok  token POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: COOKIE
# What a browser asks before it shows the token.
ok  token OPTIONS /mcp | host: localhost | origin: https://ok.example | access-control-request-method: POST
ok  token OPTIONS /mcp | host: box.example | origin: https://ok.example | access-control-request-method: POST
ok  token OPTIONS /api/call/start | host: localhost | origin: http://localhost:3000 | access-control-request-method: POST
403 token OPTIONS /mcp | host: localhost | origin: http://localhost:3000 | access-control-request-method: POST
403 token OPTIONS /mcp | host: localhost | origin: https://evil.example | access-control-request-method: POST
401 token OPTIONS /mcp | host: localhost | origin: https://ok.example
403 OPTIONS /mcp | host: evil.example | origin: https://ok.example | access-control-request-method: POST
# A page at our own address in a network.
403 token lan POST /mcp | host: 192.168.1.5:5174 | origin: http://192.168.1.5:5174
ok  token lan POST /mcp | host: 192.168.1.5:5174 | origin: http://192.168.1.5:5174 | authorization: Bearer TOKEN
ok  token lan POST /mcp | host: 192.168.1.5:5174 | origin: http://192.168.1.5:5174 | cookie: COOKIE
ok  token lan GET /open | host: 192.168.1.5:5174
401 token lan GET / | host: 192.168.1.5:5174
403 token lan POST /mcp | host: 192.168.1.5:5174 | origin: http://192.168.1.6:5174 | authorization: Bearer TOKEN
403 token lan POST /mcp | host: 192.168.1.6:5174 | origin: http://192.168.1.6:5174
403 token lan POST /mcp | host: evil.example:5174 | origin: http://evil.example:5174

# Connections of which the system does not say whose they are.
401 unknown GET /api/events | host: localhost
401 unknown POST /api/call/start | host: localhost
401 unknown GET /healthz | host: localhost
ok  unknown GET /api/events | host: localhost | authorization: Bearer KEY
401 unknown GET /api/events | host: localhost | authorization: Bearer wrong
401 unknown GET /api/events | host: localhost | authorization: Bearer
ok  unknown GET /api/proof | host: localhost
ok  unknown GET /open | host: localhost
ok  unknown POST /mcp | host: localhost:5174 | origin: http://localhost:5174 | cookie: COOKIE
403 unknown POST /mcp | host: localhost:5174 | origin: http://localhost:3000 | authorization: Bearer KEY
401 token unknown GET /api/events | host: localhost | authorization: Bearer KEY
ok  token unknown GET /api/events | host: localhost | authorization: Bearer TOKEN
401 token GET /api/events | host: localhost | authorization: Bearer KEY
";

/// At least this many were asked for.
const ROWS: usize = 80;

struct Row {
    expected: Option<u16>,
    has_token: bool,
    caller: OtherEnd,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

const TOKEN: &str = "open-sesame";

/// A gate that has given out its cookie, and the cookie.
fn gate(has_token: bool) -> (Gate, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::at(&folder.path().join("key")).unwrap();
    let said = key.as_str().to_owned();
    let rules = Rules {
        origins: vec!["https://ok.example".to_owned()],
        token: has_token.then(|| TOKEN.to_owned()),
        key: Some(key),
        ..Rules::default()
    };
    let once = rules.pages.key().unwrap();
    let set = rules.pages.redeem(&once, 5174).unwrap();
    let cookie = set.split(';').next().unwrap().to_owned();
    (Gate::new(rules), cookie, said)
}

fn read(row: &str, cookie: &str, key: &str) -> Row {
    let mut parts = row.split(" | ");
    let mut words: Vec<&str> = parts.next().unwrap().split_whitespace().collect();
    let mut flag = |name: &str| {
        let at = words.iter().position(|it| *it == name);
        at.map(|at| words.remove(at)).is_some()
    };
    let (has_token, is_unknown, is_lan) = (flag("token"), flag("unknown"), flag("lan"));
    let local = if is_lan { "192.168.1.5:5174" } else { "127.0.0.1:5174" };
    let mut headers = HeaderMap::new();
    for part in parts {
        let (name, value) = part.split_once(':').unwrap();
        let value =
            value.trim().replace("COOKIE", cookie).replace("TOKEN", TOKEN).replace("KEY", key);
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let [expected, method, uri] = words[..] else { panic!("{row}") };
    Row {
        expected: expected.parse().ok(),
        has_token,
        caller: OtherEnd { local: local.parse().unwrap(), is_known: !is_unknown },
        method: method.parse().unwrap(),
        uri: uri.parse().unwrap(),
        headers,
    }
}

#[test]
fn who_gets_in_by_host_origin_cookie_and_token() {
    let rows: Vec<&str> =
        TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with('#')).collect();
    assert!(rows.len() >= ROWS, "{}", rows.len());
    let mut wrong = Vec::new();
    for text in rows {
        let has_token = text.split(" | ").next().unwrap().contains(" token ");
        let (gate, cookie, key) = gate(has_token);
        let row = read(text, &cookie, &key);
        assert_eq!(row.has_token, has_token);
        let refusal = gate.refusal(&row.caller, &row.method, &row.uri, &row.headers);
        let status = refusal.map(|(status, _)| status.as_u16());
        if status != row.expected {
            wrong.push(format!("{text}\n    is {status:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const HERE: OtherEnd = OtherEnd {
    local: std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5174),
    is_known: true,
};

fn passes(headers: &[(HeaderName, &str)]) -> bool {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name, value.parse().unwrap());
    }
    let gate = Gate::new(Rules::default());
    gate.refusal(&HERE, &Method::POST, &Uri::from_static("/api/call/start"), &map).is_none()
}

proptest::proptest! {
    /// Whatever a browser sends: only names of loopback pass, and nothing panics.
    #[test]
    fn only_loopback_passes(host in "[ -~]{0,40}", origin in "[ -~]{0,40}") {
        if passes(&[(HOST, &host), (ORIGIN, &origin)]) {
            let is_ours = |text: &str| text.contains("localhost") || text.contains("127.") || text.contains("::1");
            proptest::prop_assert!(is_ours(&host.to_lowercase()) && is_ours(&origin.to_lowercase()));
        }
    }

    #[test]
    fn a_name_that_only_contains_ours_is_refused(before in "[a-z]{1,9}", after in "[a-z]{1,9}") {
        for name in [
            format!("{before}.localhost.{after}"), format!("127.0.0.1.{after}"), format!("localhost{after}"),
            format!("[::1].{after}"), format!("{before}@localhost"), format!("localhost:1@{after}"),
        ] {
            let origin = format!("http://{name}");
            proptest::prop_assert!(!passes(&[(HOST, &name)]));
            proptest::prop_assert!(!passes(&[(HOST, "localhost"), (ORIGIN, &origin)]));
        }
    }
}
