//! Pages that are not ours, in a browser that holds our cookie: they can read nothing and trigger nothing.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use holdpoint_testkit::{
    browser::Browser,
    debug::{self, Debug},
};
use serde_json::{Value, json};

use super::{BIN, stopped_in};

/// Everything that a page can do to another address without leave, each way once; what it got is what it says.
const ATTACK: &str = r#"async (base) => {
  const got = {};
  const routes = ["/", "/now", "/sessions/s1", "/page/live?at=/now", "/sessions/s1/values?path=x", "/recordings", "/recordings/r1/inside", "/mcp", "/sse", "/health",
    "/api/calls", "/api/open", "/api/timeline", "/api/mcp-clients", "/openapi.json", "/docs"];
  const read = async (name, ask) => {
    const stop = AbortSignal.timeout(1500);
    try { const answer = await ask(stop); got[name] = `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 40)}`; }
    catch { got[name] = "refused"; }
  };
  for (const route of routes) {
    await read(`get ${route}`, (signal) => fetch(base + route, { credentials: "include", signal }));
  }
  const run = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "debug_launch", arguments: { program: "x.py" } } });
  for (const type of ["text/plain", "application/json"]) {
    await read(`mcp ${type}`, (signal) => fetch(base + "/mcp", { method: "POST", credentials: "include", body: run, headers: { "Content-Type": type }, signal }));
  }
  await read("press", (signal) => fetch(base + "/sessions/s1", { method: "POST", credentials: "include", body: new URLSearchParams({ do: "over" }), signal }));
  // Blind ones: nothing can be read of them, so only what they do counts.
  const blind = { method: "POST", mode: "no-cors", credentials: "include" };
  await fetch(base + "/sessions/s1", { ...blind, body: new URLSearchParams({ do: "over" }) }).catch(() => {});
  await fetch(base + "/mcp", { ...blind, body: run }).catch(() => {});
  await fetch(base + "/api/open", blind).catch(() => {});
  const form = document.createElement("form");
  const target = document.createElement("iframe");
  target.name = "t";
  Object.assign(form, { method: "post", action: base + "/sessions/s1", target: "t" });
  form.innerHTML = "<input name=do value=over>";
  document.body.append(target, form);
  form.submit();
  const framed = document.createElement("iframe");
  framed.src = base + "/sessions/s1";
  const seen = new Promise((done) => { framed.onload = () => done(); setTimeout(done, 1500); });
  document.body.append(framed);
  await seen;
  try { got.frame = framed.contentDocument ? framed.contentDocument.body.innerText : "closed"; } catch { got.frame = "closed"; }
  const stream = new EventSource(base + "/page/live?at=/now", { withCredentials: true });
  got.stream = await new Promise((done) => { stream.onerror = () => done("refused"); stream.addEventListener("parts", () => done("heard")); });
  stream.close();
  const script = document.createElement("script");
  script.src = base + "/sessions/s1";
  got.script = await new Promise((done) => { script.onerror = () => done("refused"); script.onload = () => done("ran"); document.head.append(script); });
  return got;
}"#;

/// A server of another page, on this machine.
fn elsewhere() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Browsers open connections that they do not use.
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

/// It warns of each stranger, which is not what is looked at here.
fn unmoved() -> Debug {
    debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start_with(&["--log-level", "error"])
}

fn serve(mut stream: TcpStream) {
    let page = "<!doctype html><title>elsewhere</title><body>a page";
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    // A browser that goes away in between is none of ours.
    stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(answer.as_bytes())).ok();
}

#[track_caller]
fn attack(browser: &mut Browser, base: &str) -> Value {
    browser.eval(&format!("({ATTACK})({})", json!(base)))
}

#[test]
fn a_page_of_another_server_reads_nothing_and_triggers_nothing() {
    let (mut debug, mut browser, base, _folder, _file) = stopped_in(unmoved());
    let other = elsewhere();
    let before = debug.ok("timeline_query", json!({ "limit": 1 })).text.clone();
    for host in ["127.0.0.1", "localhost"] {
        browser.open(&format!("http://{host}:{other}/"));
        let got = attack(&mut browser, &base);
        for (what, came) in got.as_object().unwrap() {
            let came = came.as_str().unwrap_or_default();
            let is_nothing = matches!(came, "refused" | "closed" | "");
            assert!(is_nothing, "{host}: {what} got {came}");
        }
    }
    debug.ok("debug_status", json!({})).has(&["cart.py:7", "s1"]);
    assert!(!debug.ok("debug_status", json!({})).text.contains("s2"), "a program was started");
    assert_eq!(debug.ok("timeline_query", json!({ "limit": 1 })).text, before);
    // And the same browser, at our own page, still may.
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#state", "stopped");
}

/// A name of somebody else's that leads to this machine: the browser takes it for a page of theirs.
#[test]
fn a_rebound_name_is_shown_nothing_of_the_server() {
    let (mut debug, _browser, base, _folder, _file) = stopped_in(unmoved());
    let port = base.rsplit_once(':').unwrap().1.to_owned();
    let mut stranger = Browser::start_with(&["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
    for path in ["/", "/sessions/s1", "/health", "/docs"] {
        stranger.open(&format!("http://evil.example:{port}{path}"));
        let text = stranger.eval("document.documentElement.innerText");
        let text = text.as_str().unwrap_or_default();
        assert!(!text.contains("cart") && !text.contains("holdpoint open"), "{path}: {text}");
    }
    let asked = "fetch('/mcp', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })
        .then((it) => it.status)";
    assert_eq!(stranger.eval(asked), 403);
    debug.ok("debug_status", json!({})).has(&["cart.py:7"]);
}
