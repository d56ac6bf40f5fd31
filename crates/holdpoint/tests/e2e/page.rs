//! The page, in a real browser against the real server with real programs: done by clicking and typing, checked on the
//! page and through MCP.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use holdpoint_testkit::{
    browser::Browser,
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

pub fn cart() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("cart.py");
    std::fs::write(&file, CART).unwrap();
    (folder, file)
}

/// A browser that `holdpoint open` let in.
pub fn signed_in(debug: &mut Debug) -> (Browser, String) {
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
    let mut debug = python();
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
pub fn shoot(browser: &mut Browser, name: &str) {
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

#[test]
fn a_browser_without_the_cookie_is_told_the_one_command_and_shown_nothing() {
    let mut debug = python();
    let (_folder, file) = cart();
    debug.launch(&file, json!({}));
    let port = debug.rpc.process.port();
    for path in ["/", "/now", "/sessions", "/sessions/s1"] {
        let answer = get(port, path).header("Accept", "text/html").send();
        assert_eq!(answer.status, 403, "{path}");
        assert!(
            answer.body.contains("holdpoint open") && !answer.body.contains("cart"),
            "{path}: {}",
            answer.body
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
    }
    for path in ["/page/live?at=/now", "/sessions/s1/values?path=x"] {
        assert_eq!(get(port, path).send().status, 403, "{path}");
    }
    let style = get(port, "/page/page.css").send();
    let tag = style.header("etag").unwrap().to_owned();
    assert_eq!(get(port, "/page/page.css").header("If-None-Match", &tag).send().status, 304);
    // A program that asks gets what it always got.
    assert!(get(port, "/").send().body.starts_with("holdpoint "));
}

#[test]
fn an_empty_server_says_what_it_is_and_shows_an_agent_when_it_comes() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    // The agent of this test is connected already: the page shows what happened.
    browser.shows("#people", "you");
    browser.open(&format!("{base}/sessions"));
    browser.shows("#programs", "Nothing has been started");
    shoot(&mut browser, "sessions-empty");
    browser.is_well();
}

#[test]
fn what_an_agent_does_shows_within_300_ms() {
    let (mut debug, mut browser, _, _folder, file) = stopped_cart();
    browser.shows("#source .here", "amount += price * count");
    browser.shows("#vars", "amount");
    debug.ok("debug_step", json!({}));
    let asked = Instant::now();
    browser.shows("#source .here", "for price, count in lines");
    let took = asked.elapsed();
    assert!(took.as_millis() < 300, "{took:?}");
    browser.shows("#source .vals b", "200");
    browser.shows("#vars .changed", "was 0");
    browser.shows("#control-note", "debug_step");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "begin") }));
    browser.shows("#points", "cart.py:5");
    debug.eval("amount + 1");
    browser.shows("#talk", "201");
    browser.is_well();
    shoot(&mut browser, "session");
}

#[test]
fn a_person_steps_sets_points_evaluates_and_writes_to_the_program() {
    let (mut debug, mut browser, _, _folder, file) = stopped_cart();
    // A point by a click in the gutter, and away again.
    let begin = line(&file, "begin");
    browser.click(&format!("#L{begin} .g"));
    browser.shows("#points", &format!("cart.py:{begin}"));
    debug.ok("breakpoint_list", json!({})).has(&[&format!("cart.py:{begin}")]);
    browser.click(&format!("#L{begin} .g"));
    browser.hides("#points", &format!("cart.py:{begin}"));
    // One where no code is lies elsewhere, and says so.
    let empty = line(&file, "add") + 1;
    browser.click(&format!("#L{empty} .g"));
    browser.shows(&format!("#L{empty} .why"), "no code");
    browser.click(&format!("#L{empty} .g"));
    browser.hides(".why", "no code");
    // Evaluate, and what throws.
    browser.type_into("#ev", "amount + 40");
    browser.key("Enter");
    browser.shows("#talk samp", "40");
    browser.type_into("#ev", "nothing_of_that_name");
    browser.key("Enter");
    browser.shows("#talk .fail", "nothing_of_that_name");
    // Steps by button and by key.
    browser.click("[value=over]");
    browser.shows("#source .here", "for price, count in lines");
    browser.key("F10");
    browser.shows("#source .here", "amount += price");
    debug.ok("debug_status", json!({})).has(&["stopped"]);
    // To a line, with the breakpoint off.
    browser.click("#points input[type=checkbox]");
    browser.until(
        "the point is off",
        "!document.querySelector('#points input[type=checkbox]').checked",
    );
    browser.type_into("[data-line]", "9");
    browser.click("#to-line button");
    browser.shows("#source .here", "return amount");
    // On, to its question.
    browser.key("F8");
    browser.shows("#out", "total 300");
    browser.shows("#state", "running");
    browser.type_into("#stdin", "Ada");
    browser.key("Enter");
    browser.shows("#out", "bye");
    browser.shows("#state", "ended");
    browser.shows("#place", "exit code 0");
    browser.is_well();
}

#[test]
fn the_person_in_control_is_obeyed_and_the_agent_is_told() {
    let (mut debug, mut browser, _, _folder, _) = stopped_cart();
    browser.click("[value=over]");
    browser.shows("#control-note", "You are in control");
    let refused = debug.fails("debug_step", json!({}));
    refused.has(&["E_HUMAN_IN_CONTROL", "debug_wait"]);
    for tool in ["debug_continue", "debug_pause", "debug_stop", "debug_restart"] {
        debug.fails(tool, json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    }
    // Reading still works.
    debug.ok("debug_stack", json!({}));
    debug.ok("debug_variables", json!({}));
    debug.eval("amount");
    // It waits until it is handed back, and hears the note.
    let waiting = debug.ask("debug_wait", json!({}));
    browser.type_into("#note-text", "look at the second line");
    browser.key("Enter");
    browser.shows("#said, #note-said", "");
    browser.click("[name=control][value=agents]");
    let told = debug.answer(waiting);
    told.has(&["handed back"]);
    let next = debug.ok("debug_step", json!({}));
    assert!(
        told.text.contains("look at the second line")
            || next.text.contains("look at the second line"),
        "{} / {}",
        told.text,
        next.text
    );
    browser.is_well();
}

#[test]
fn hostile_text_is_text_and_a_secret_is_shown_to_the_person_alone() {
    let mut debug = python();
    let (_folder, file) = cart();
    let point = json!({ "file": file, "line": 15 });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#vars", "</script><img src=x onerror=alert(1)>");
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), json!(0));
    browser.shows("#vars .mark-secret", "‹secret");
    assert!(
        !browser
            .eval("document.body.innerText")
            .as_str()
            .unwrap()
            .contains("ghp_0123456789abcdefghijABC")
    );
    browser.click("#vars .mark-secret");
    browser.shows("#vars .revealed", "ghp_0123456789abcdefghijABC");
    let seen = debug.ok("debug_variables", json!({}));
    assert!(!seen.text.contains("ghp_0123456789"), "{}", seen.text);
    let told = debug.ok("timeline_query", json!({}));
    assert!(!told.text.contains("ghp_0123456789"), "{}", told.text);
    browser.is_well();
}
