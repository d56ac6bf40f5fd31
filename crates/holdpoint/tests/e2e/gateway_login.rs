//! Servers that ask for a login: against an authorization server of ours, which checks what it is asked.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Stdio},
};

use holdpoint_testkit::{
    http::{Response, get, post},
    process::{Process, command, home, run},
    servers::Listening,
    until,
};
use serde_json::{Value, json};

use crate::gateway::{BIN, Hub, write};

/// A server that asks for a login, and a Holdpoint that has it in its configuration.
struct Stage {
    server: Listening,
    hub: Hub,
}

impl Stage {
    fn new(flags: &[&str]) -> Stage {
        Stage::with(flags, |server| json!({ "url": server.url("/mcp"), "transport": "http" }))
    }

    fn with(flags: &[&str], entry: impl Fn(&Listening) -> Value) -> Stage {
        let mut all = vec!["--login"];
        all.extend(flags);
        let server = Listening::fixture(&all);
        let folder = home();
        write(&folder.path().join("mcp_clients.json"), &json!({ "web": entry(&server) }));
        let args = ["serve", "--port", "0", "--mcp-clients", "--log-level", "trace"];
        let process = Process::start_at(BIN, &args, folder.path(), |_| {});
        Stage { server, hub: Hub::of(process, folder) }
    }

    fn home(&self) -> &Path {
        &self.hub.process.home
    }

    fn login_file(&self) -> std::path::PathBuf {
        self.home().join("logins").join("web.json")
    }

    fn seen(&self, what: &str) -> u64 {
        get(self.server.port, "/seen").send().json()[what].as_u64().unwrap_or(0)
    }

    #[track_caller]
    fn log_in(&self, args: &[&str]) {
        let mut attempt = Attempt::begin(self.home(), args, &[]);
        let landed = attempt.say_yes(self.server.port);
        assert_eq!(landed.status, 200, "{}", landed.body);
        let (code, said) = attempt.end();
        assert!(code == 0 && said.contains("logged in at web"), "{said}");
    }
}

/// `holdpoint gateway login web --print`, and a person before a browser.
struct Attempt {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    url: String,
}

impl Attempt {
    fn begin(home: &Path, args: &[&str], env: &[(&str, &str)]) -> Attempt {
        let mut all = vec!["gateway", "login", "web", "--print"];
        all.extend(args);
        let mut command = command(BIN, &all, home);
        command.envs(env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        while !url.starts_with("http") {
            url.clear();
            let read = out.read_line(&mut url).unwrap();
            if read == 0 {
                let mut error = String::new();
                child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
                panic!("no address: {error}");
            }
        }
        Attempt { child, out, url: url.trim().to_owned() }
    }

    /// Where the authorization server sends the browser.
    fn sent_to(&self, port: u16) -> String {
        let path = self.url.split_once(&port.to_string()).unwrap().1;
        let answer = get(port, path).send();
        assert_eq!(answer.status, 302, "{}", answer.body);
        answer.header("location").unwrap().to_owned()
    }

    fn say_yes(&self, port: u16) -> Response {
        visit(&self.sent_to(port))
    }

    fn end(&mut self) -> (i32, String) {
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap(), said)
    }
}

fn visit(url: &str) -> Response {
    let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, path) = rest.split_once('/').unwrap();
    get(port.parse().unwrap(), &format!("/{path}")).send()
}

const HINT: &str = "`holdpoint gateway login web` logs in";

#[test]
fn what_needs_a_login_says_the_command_and_works_after_it() {
    let stage = Stage::new(&[]);
    let hub = &stage.hub;
    let before = hub.status("web", "error");
    assert!(before["error"].as_str().unwrap().contains(HINT), "{before}");
    let (status, refusal) = hub.try_call("web/count", &json!({}));
    assert_eq!((status, &refusal["error"]), (409, &json!("server_not_connected")), "{refusal}");
    assert_eq!(refusal["hint"], HINT);
    let (status, refusal) = hub.post("/api/mcp-clients/web/reconnect", &json!({}));
    assert_eq!((status, &refusal["error"]), (502, &json!("connect_failed")), "{refusal}");
    assert_eq!(refusal["hint"], HINT);

    stage.log_in(&[]);
    // By itself: nobody has to tell the server.
    hub.connected("web");
    assert_eq!(hub.call("web/count", json!({}))["content"][0]["text"], "1");
    assert_eq!((stage.seen("registered"), stage.seen("authorized")), (1, 1));

    let (code, said, _) = run(BIN, &["gateway", "logout", "web"], stage.home());
    assert!(code == 0 && said.contains("forgotten"), "{said}");
    assert!(!stage.login_file().exists());
    let (status, refusal) = hub.try_call("web/count", &json!({}));
    assert_eq!((status, &refusal["error"]), (502, &json!("call_failed")), "{refusal}");
    assert_eq!(refusal["hint"], HINT);
    hub.status("web", "error");
}

#[test]
fn a_server_over_sse_is_logged_in_at_too() {
    let stage = Stage::with(&[], |it| json!({ "url": it.url("/sse"), "transport": "sse" }));
    let before = stage.hub.status("web", "error");
    assert!(before["error"].as_str().unwrap().contains(HINT), "{before}");
    stage.log_in(&[]);
    stage.hub.connected("web");
    assert_eq!(stage.hub.call("web/count", json!({}))["content"][0]["text"], "1");
}

/// A token that is about to end is renewed before it is used, one that was refused after; the call runs once.
#[test]
fn tokens_are_renewed_by_themselves() {
    let stage = Stage::new(&["--lives", "31", "--confidential"]);
    stage.log_in(&[]);
    stage.hub.connected("web");
    until("it to be renewed before its end", || {
        stage.hub.call("web/count", json!({}));
        (stage.seen("renewed") > 0).then_some(())
    });
    let before = stage.seen("renewed");
    post(stage.server.port, "/expire", "{}").send();
    let calls = get(stage.server.port, "/calls").send().json()["count"].as_u64().unwrap();
    let said = stage.hub.call("web/count", json!({}))["content"][0]["text"].clone();
    assert_eq!(said, (calls + 1).to_string(), "it ran once");
    assert!(stage.seen("renewed") > before);
    assert_eq!(stage.seen("spent twice"), 0);
}

#[test]
fn many_calls_with_an_ended_token_renew_it_once() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    stage.hub.connected("web");
    post(stage.server.port, "/expire", "{}").send();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| stage.hub.call("web/count", json!({})));
        }
    });
    assert_eq!((stage.seen("renewed"), stage.seen("spent twice")), (1, 0));
    assert_eq!(get(stage.server.port, "/calls").send().json(), json!({ "count": 16 }));
}

#[test]
fn a_login_that_was_taken_back_asks_for_another() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    stage.hub.connected("web");
    post(stage.server.port, "/revoke", "{}").send();
    let (status, refusal) = stage.hub.try_call("web/count", &json!({}));
    assert_eq!((status, refusal["hint"].as_str()), (502, Some(HINT)), "{refusal}");
    let now = stage.hub.status("web", "error");
    assert!(now["error"].as_str().unwrap().contains(HINT), "{now}");
    stage.log_in(&[]);
    stage.hub.connected("web");
}

#[test]
fn a_call_that_needs_more_says_which_scope() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    stage.hub.connected("web");
    let slow = json!({ "seconds": 0 });
    let (status, refusal) = stage.hub.try_call("web/slow", &slow);
    let hint = "`holdpoint gateway login web --scope \"write\"`";
    assert_eq!((status, refusal["hint"].as_str()), (502, Some(hint)), "{refusal}");
    stage.log_in(&["--scope", "write"]);
    until("the new login", || (stage.hub.try_call("web/slow", &slow).0 == 200).then_some(()));
    // And what was granted before still is.
    let kept = std::fs::read_to_string(stage.login_file()).unwrap();
    assert!(kept.contains("read") && kept.contains("write"));
}

#[test]
fn a_login_that_is_refused_or_strange_ends_with_words() {
    let stage = Stage::new(&["--deny"]);
    let mut attempt = Attempt::begin(stage.home(), &[], &[]);
    let back = attempt.sent_to(stage.server.port);
    // Whoever else knocks ends nothing.
    let strange = back.split('?').next().unwrap();
    assert_eq!(visit(&format!("{strange}?code=x&state=y")).status, 404);
    assert_eq!(visit(&back).status, 400);
    let (code, said) = attempt.end();
    assert!(code != 0 && said.contains("access_denied: the owner said no"), "{said}");
    assert!(!stage.login_file().exists());

    let open = Listening::fixture(&[]);
    let args = ["gateway", "login", "web", "--print", "--at", &open.url("/mcp")];
    let (code, _, error) = run(BIN, &args, stage.home());
    assert!(code != 0 && error.contains("it asks for no login"), "{error}");
    let (code, _, error) = run(BIN, &["gateway", "login", "wep"], stage.home());
    assert!(code != 0 && error.contains("did you mean `web`?"), "{error}");
}

/// From a machine without a browser: the address where it ends is pasted.
#[test]
fn the_address_can_be_pasted() {
    let stage = Stage::new(&[]);
    let mut attempt = Attempt::begin(stage.home(), &[], &[]);
    let back = attempt.sent_to(stage.server.port);
    writeln!(attempt.child.stdin.as_mut().unwrap(), "{back}").unwrap();
    let (code, said) = attempt.end();
    assert!(code == 0 && said.contains("logged in at web"), "{said}");
    stage.hub.connected("web");
}

/// Without `--print`: the user's browser is opened, and what it is sent to ends the login.
#[test]
fn a_real_browser_logs_in() {
    let stage = Stage::new(&[]);
    let (script, page) = (stage.home().join("browser"), stage.home().join("page"));
    let chromium = std::env::var("HOLDPOINT_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let profile = stage.home().join("profile");
    let (profile, shown) = (profile.display(), page.display());
    let options = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom";
    let text = format!(
        "#!/bin/sh\nexec {chromium} {options} --user-data-dir={profile} \"$1\" > {shown}\n"
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = command(BIN, &["gateway", "login", "web"], stage.home());
    let ended = command.env("BROWSER", &script).stdin(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert!(ended.status.success() && said.contains("logged in at web"), "{said}");
    stage.hub.connected("web");
    // A person can close it: the page says so.
    until("the browser's page", || {
        std::fs::read_to_string(&page).ok().filter(|it| it.contains("</html>")).map(drop)
    });
    let seen = std::fs::read_to_string(&page).unwrap();
    assert!(seen.to_lowercase().contains("logged in"), "{seen}");
}

#[test]
fn a_client_that_was_registered_by_hand_is_used() {
    let stage = Stage::new(&["--by-hand"]);
    let (code, _, error) = run(BIN, &["gateway", "login", "web", "--print"], stage.home());
    assert!(code != 0 && error.contains("--client-id"), "{error}");
    let env = [("HOLDPOINT_CLIENT_SECRET", "kept-by-hand")];
    let mut attempt = Attempt::begin(stage.home(), &["--client-id", "by-hand"], &env);
    assert_eq!(attempt.say_yes(stage.server.port).status, 200);
    assert_eq!(attempt.end().0, 0);
    stage.hub.connected("web");
    post(stage.server.port, "/expire", "{}").send();
    stage.hub.call("web/count", json!({}));
    assert_eq!((stage.seen("registered"), stage.seen("renewed")), (0, 1));
}

/// Kept for this user alone, for this address alone, and told to nobody.
#[test]
fn a_token_is_shown_to_its_server_alone() {
    let mut stage = Stage::new(&["--echo-headers"]);
    stage.log_in(&[]);
    stage.hub.connected("web");
    let file = stage.login_file();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        std::fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let tokens = &kept["credentials"]["token_response"];
    let secrets =
        ["access_token", "refresh_token"].map(|it| tokens[it].as_str().unwrap().to_owned());

    let (_, answer) = stage.hub.try_call("web/count", &json!({}));
    let mut said = answer.to_string();
    assert!(said.contains("‹secret›"), "the server told it: {said}");
    for path in ["/api/mcp-clients", "/api/calls"] {
        said += &stage.hub.get(path).to_string();
    }
    for tool in ["timeline_query", "server_status"] {
        let (_, out, error) = run(BIN, &["tool", tool], stage.home());
        said += &(out + &error);
    }
    // The same name at another address is another server.
    let other = Listening::fixture(&["--need", "nothing", "--echo-headers"]);
    let entry = json!({ "url": other.url("/mcp"), "transport": "http" });
    write(&stage.home().join("mcp_clients.json"), &json!({ "web": entry }));
    let now = stage.hub.status("web", "error");
    said += &now.to_string();
    stage.hub.process.signal("TERM");
    let (_, log) = stage.hub.process.end();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log is a full one");
    for secret in secrets {
        assert!(!said.contains(&secret), "{said}");
        assert_eq!(log.lines().find(|it| it.contains(&secret)), None);
    }
}
