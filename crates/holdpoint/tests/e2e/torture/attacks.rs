//! Requests of anybody, drawn at random: user, address, route, Host, Origin, cookie and token. A model of a few lines
//! says who gets in, and no other part of the request matters.

use std::net::{IpAddr, Ipv6Addr};

use holdpoint_testkit::{
    http::{Request, get, post, request},
    process::{Process, run},
    user::Second,
};

use super::{
    BIN,
    seeded::{Dice, rounds},
};

/// Requests to one server.
const REQUESTS: usize = 60;
const TOKEN: &str = "the-token-of-the-torture";

/// What an app's page may use from anywhere on this machine.
const FOR_APPS: &[&str] = &[
    "/api/call/start",
    "/api/call/complete",
    "/api/call/event",
    "/api/call/batch",
    "/api/poll/{pause_id}",
    "/api/debug-client.js",
];
/// What a browser page of another origin never reaches.
const FOR_OTHERS: &[&str] = &[
    "/mcp",
    "/api/paused",
    "/api/calls",
    "/api/events",
    "/api/open",
    "/api/objects",
    "/api/apps",
    "/api/paused/{pause_id}/continue",
    "/api/repl/{session_id}/eval",
];

#[test]
fn whoever_asks_gets_what_is_theirs_and_nothing_else() {
    rounds("attacks", 3, |dice| {
        let has_token = dice.below(2) == 0;
        let mut server = Process::start_with(BIN, &["serve", "--port", "0", "--mcp-sse"], |it| {
            if has_token {
                it.env("HOLDPOINT_TOKEN", TOKEN);
            }
        });
        let port = server.port();
        let routes = routes(port, has_token);
        let cookie = cookie(port, has_token);
        for _ in 0..REQUESTS {
            Asked::draw(dice, &routes, has_token).check(port, &cookie);
        }
        // Everybody was refused or served, and the server is none the worse.
        let status = if has_token {
            get(port, "/healthz").send().status
        } else {
            let (code, said, _) = run(BIN, &["tool", "server_status"], &server.home);
            assert!(code == 0 && !said.contains("panics"), "{said}");
            200
        };
        assert_eq!(status, 200);
    });
}

fn with_token<'a>(request: Request<'a>, has_token: bool) -> Request<'a> {
    if has_token { request.header("authorization", &format!("Bearer {TOKEN}")) } else { request }
}

/// Every route of the one list, with its methods.
fn routes(port: u16, has_token: bool) -> Vec<(String, String)> {
    let document = with_token(get(port, "/openapi.json"), has_token).send().json();
    let mut all = vec![("POST".to_owned(), "/mcp".to_owned())];
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys();
        all.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
        // It answers when something changes.
        all.retain(|(_, path)| !path.ends_with("/watch"));
    }
    all
}

/// The cookie of a page of ours, by a key that works once.
fn cookie(port: u16, has_token: bool) -> String {
    let opened = with_token(post(port, "/api/open", ""), has_token).send().json();
    let url = opened["url"].as_str().unwrap();
    let path = format!("/{}", url.splitn(4, '/').nth(3).unwrap());
    let host = format!("localhost:{port}");
    let set = get(port, &path).header("host", &host).send();
    let set = set.header("set-cookie").expect("a cookie").to_owned();
    set.split(';').next().unwrap().to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Host {
    Ours,
    Theirs(&'static str),
    Twice,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Origin {
    None,
    Ours,
    Loopback,
    Foreign(&'static str),
    Twice,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Nothing,
    True,
    Wrong,
}

#[derive(Debug)]
struct Asked {
    method: String,
    path: String,
    by_other_user: bool,
    address: IpAddr,
    host: Host,
    origin: Origin,
    cookie: Shown,
    token: Shown,
    has_token: bool,
}

const HOSTS: &[Host] = &[
    Host::Ours,
    Host::Ours,
    Host::Ours,
    Host::Ours,
    Host::Ours,
    Host::Ours,
    Host::Theirs("evil.example"),
    Host::Theirs("[::1].evil.example"),
    Host::Theirs("evil@127.0.0.1"),
    Host::Theirs("localhost.evil.example:5174"),
    Host::Theirs("0.0.0.0"),
    Host::Twice,
];
const ORIGINS: &[Origin] = &[
    Origin::None,
    Origin::None,
    Origin::None,
    Origin::Ours,
    Origin::Ours,
    Origin::Loopback,
    Origin::Loopback,
    Origin::Foreign("https://evil.example"),
    Origin::Foreign("null"),
    Origin::Foreign("http://localhost.evil.example"),
    Origin::Foreign("http://evil@localhost"),
    Origin::Twice,
];
const SHOWN: &[Shown] = &[Shown::Nothing, Shown::True, Shown::Wrong];

impl Asked {
    fn draw(dice: &mut Dice, routes: &[(String, String)], has_token: bool) -> Asked {
        let (method, path) = dice.of(routes).clone();
        let address = [IpAddr::from([127, 0, 0, 1]), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        Asked {
            method,
            path,
            by_other_user: dice.below(4) == 0,
            address: *dice.of(&address),
            host: *dice.of(HOSTS),
            origin: *dice.of(ORIGINS),
            cookie: *dice.of(SHOWN),
            token: *dice.of(SHOWN),
            has_token,
        }
    }

    #[track_caller]
    fn check(&self, port: u16, cookie: &str) {
        let second = Second::find();
        let by_other = self.by_other_user && second.is_some();
        let send = || self.request(port, cookie).try_head();
        let answer = match second {
            Some(second) if by_other => second.run(send),
            _ => send(),
        };
        if by_other {
            assert!(answer.is_err(), "another user was answered: {self:?}");
            return;
        }
        let answer = answer.unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let refused = [401, 403].contains(&answer.status);
        match self.gets_in() {
            Some(true) => assert!(!refused, "{}: {self:?}", answer.status),
            Some(false) => {
                assert!(refused, "{}: {self:?}", answer.status);
                let sent = answer.header("access-control-allow-origin");
                assert_ne!(sent, Some("*"), "{self:?}");
            }
            None => assert_ne!(answer.status, 500, "{self:?}"),
        }
    }

    fn request(&self, port: u16, cookie: &str) -> Request<'_> {
        let mut request = request(port, &self.method, &self.path, "{}").at(self.address);
        let ours = format!("localhost:{port}");
        // Streams end with their connection: what matters is the head.
        request = match self.host {
            Host::Ours => request.header("host", &ours),
            Host::Theirs(host) => request.header("host", host),
            Host::Twice => request.header("host", &ours).header("host", &ours),
        };
        request = match self.origin {
            Origin::None => request,
            Origin::Ours => request.header("origin", &format!("http://{ours}")),
            Origin::Loopback => request.header("origin", "http://localhost:3000"),
            Origin::Foreign(origin) => request.header("origin", origin),
            Origin::Twice => request
                .header("origin", &format!("http://{ours}"))
                .header("origin", "http://localhost:3000"),
        };
        request = match self.cookie {
            Shown::Nothing => request,
            Shown::True => request.header("cookie", cookie),
            Shown::Wrong => request.header("cookie", &format!("holdpoint-{port}=wrong")),
        };
        match self.token {
            Shown::Nothing => request,
            Shown::True => request.header("authorization", &format!("Bearer {TOKEN}")),
            Shown::Wrong => request.header("authorization", "Bearer wrong"),
        }
    }

    /// What the rules of `SECURITY.md` say; nothing where a route has a rule of its own.
    fn gets_in(&self) -> Option<bool> {
        let knows = self.has_token && self.token == Shown::True || self.cookie == Shown::True;
        match self.host {
            Host::Ours => {}
            Host::Twice => return Some(false),
            Host::Theirs(host) if host.contains('@') || host.starts_with('[') => {
                return Some(false);
            }
            // Whoever knows the token may come by any name.
            Host::Theirs(_) if knows => return None,
            Host::Theirs(_) => return Some(false),
        }
        let (is_for_apps, is_for_others) =
            (FOR_APPS.contains(&&*self.path), FOR_OTHERS.contains(&&*self.path));
        if !is_for_apps && !is_for_others {
            return matches!(self.origin, Origin::Foreign(_) | Origin::Twice).then_some(false);
        }
        let by_origin = match self.origin {
            Origin::Foreign(_) | Origin::Twice => false,
            Origin::None => true,
            Origin::Loopback => is_for_apps,
            Origin::Ours if is_for_apps => return None,
            Origin::Ours => knows,
        };
        let is_open = self.path == "/api/debug-client.js";
        let by_token = !self.has_token || knows || is_open;
        Some(by_origin && by_token)
    }
}
