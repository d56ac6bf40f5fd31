//! The page, in a real browser against the real server with real programs: done by clicking and typing, checked on the
//! page and through MCP. Each view has a file of its own; what they share is here.

mod accessible;
mod calls;
mod entrance;
mod every_view;
mod external;
mod javascript;
mod recordings;
mod repl;
mod restart;
mod sessions;
mod setup;
mod strangers;
mod timeline;
mod values;

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    browser::Browser,
    calls::{Shop, Wire},
    debug::{self, Debug, line},
    http::get,
    process::run,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A cart whose total is off by a cent, as a person would debug it.
const CART: &str = "\
RATE = 0.25


def total(lines, coupon=None):
    amount = 0  # BP: begin
    for price, count in lines:
        amount += price * count  # BP: add
    # No code on this line.
    return amount


token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
lines = [(100, 2), (25, 4)]
hostile = '</script><img src=x onerror=alert(1)>'
print('total', total(lines))
print('name?', input())
print('bye')
";

fn cart() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("cart.py");
    std::fs::write(&file, CART).unwrap();
    (folder, file)
}

/// A browser that `holdpoint open` let in.
pub(crate) fn signed_in(debug: &mut Debug) -> (Browser, String) {
    let port = debug.rpc.process.port();
    let (code, url, stderr) = run(BIN, &["open", "--print"], debug.home());
    assert_eq!(code, 0, "{stderr}");
    let mut browser = Browser::start();
    browser.open(url.trim());
    (browser, format!("http://127.0.0.1:{port}"))
}

fn python() -> Debug {
    debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start()
}

/// Stopped where the amount grows, with a page on it.
fn stopped_cart() -> (Debug, Browser, String, tempfile::TempDir, PathBuf) {
    stopped_in(python())
}

fn stopped_in(mut debug: Debug) -> (Debug, Browser, String, tempfile::TempDir, PathBuf) {
    let (folder, file) = cart();
    let point = json!({ "file": file, "line": line(&file, "add") });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#state", "stopped");
    (debug, browser, base, folder, file)
}

fn shots() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("shots")
}

/// Light and dark, as wide as a desk and as a phone.
pub(crate) fn shoot(browser: &mut Browser, name: &str) {
    for (width, height) in [(1440, 900), (390, 844)] {
        browser.size(width, height);
        for is_dark in [false, true] {
            browser.dark(is_dark);
            let hue = if is_dark { "dark" } else { "light" };
            browser.shot(&shots().join(format!("{name}-{hue}-{width}.png")));
            let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_i64().unwrap_or_default() <= 0, "{name} at {width} is {wide} too wide");
        }
    }
    browser.size(1440, 900);
    browser.dark(false);
}

/// A server that is used from here, as npm installs it.
fn everything() -> String {
    format!("everything:node {}", holdpoint_testkit::servers::node_server("server-everything"))
}

/// A server that debugs Python and uses another one.
fn with_everything() -> Debug {
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let mut debug = python.start_with(&["--mcp-client", &everything()]);
    holdpoint_testkit::until("it is connected", || {
        let told = debug.ok("external_list_servers", json!({}));
        told.text.contains("\"connected\"").then_some(())
    });
    debug
}

/// An app that has called, and one of whose calls waits: it is named by its pause.
fn waiting_shop(debug: &mut Debug) -> (Shop, String) {
    let wire = Wire::new(debug.rpc.process.port());
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(wire.port);
    assert_eq!(shop.run("add(2, 3)"), "= 5");
    assert_eq!(shop.run("fail('no pens')"), "raised ValueError no pens");
    wire.ok("/api/breakpoints/multiply/behavior", json!({ "behavior": "stop" }));
    shop.begin("multiply(6, 7)");
    let pause = wire.paused()["id"].as_str().unwrap().to_owned();
    (shop, pause)
}

/// What a program that has the cookie sends, as the page's forms do.
pub(crate) fn cookie(debug: &mut Debug) -> (u16, String) {
    let port = debug.rpc.process.port();
    let (_, url, _) = run(BIN, &["open", "--print"], debug.home());
    let way = url.trim().split_once(&port.to_string()).unwrap().1.to_owned();
    let set = get(port, &way).send().header("set-cookie").unwrap().to_owned();
    (port, set.split(';').next().unwrap().to_owned())
}

/// What would run, hide or break out, if it were not text.
const HOSTILE: &str =
    "</script><img src=x onerror='window.hit=1'>{{7*7}}\u{1b}[31m\u{202e}&amp;\"'`";
