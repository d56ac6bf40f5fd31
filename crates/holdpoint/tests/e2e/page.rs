//! The page, in a real browser against the real server with real programs: done by clicking and typing, checked on the
//! page and through MCP.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use holdpoint_testkit::{
    browser::Browser,
    debug::{self, Debug, line},
    http::{get, post},
    node,
    process::{Process, run},
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
    let mut guarded = Process::start(BIN, &["serve", "--port", "0", "--token", "secret"]);
    let other = get(guarded.port(), "/sessions").send();
    assert!(other.status == 403 && other.body.contains("holdpoint open"), "{}", other.body);
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
    browser.eval("document.querySelector('[data-to-line]').value = ''");
    browser.type_into("[data-to-line]", "9");
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
    browser.shows("#source .here", "for price, count in lines");
    debug.ok("debug_stack", json!({}));
    debug.ok("debug_variables", json!({}));
    debug.eval("amount");
    // It waits until it is handed back, and hears the note.
    let waiting = debug.ask("debug_wait", json!({}));
    browser.type_into("#note-text", "look at the second line");
    browser.key("Enter");
    browser.until("the note is sent", "document.querySelector('#note-text').value === ''");
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

/// What a program that has the cookie sends, as the page's forms do.
fn cookie(debug: &mut Debug) -> (u16, String) {
    let port = debug.rpc.process.port();
    let (_, url, _) = run(BIN, &["open", "--print"], debug.home());
    let way = url.trim().split_once(&port.to_string()).unwrap().1.to_owned();
    let set = get(port, &way).send().header("set-cookie").unwrap().to_owned();
    (port, set.split(';').next().unwrap().to_owned())
}

#[test]
fn every_view_has_its_data_and_its_actions_without_a_script() {
    let mut debug = python();
    let (_folder, file) = cart();
    let point = json!({ "file": file, "line": line(&file, "add") });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (port, cookie) = cookie(&mut debug);
    let see = |path: &str| {
        let answer = get(port, path).header("Accept", "text/html").header("Cookie", &cookie).send();
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    };
    assert!(see("/").contains("stopped in") && see("/now").contains("What happened"));
    assert!(see("/sessions").contains("cart.py"));
    let one = see("/sessions/s1");
    assert!(one.contains("aria-current=\"step\"") && one.contains("amount"), "{one}");
    let ours = format!("http://127.0.0.1:{port}");
    let press = |origin: &str, cookie: &str| {
        post(port, "/sessions/s1", "do=over")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "text/html")
            .header("Host", &format!("127.0.0.1:{port}"))
            .header("Origin", origin)
            .header("Cookie", cookie)
            .send()
    };
    // Nobody else can press.
    assert_eq!(press("https://evil.example", &cookie).status, 403);
    assert_eq!(press("http://localhost:3000", &cookie).status, 403);
    assert_eq!(press(&ours, "a=b").status, 403);
    debug.ok("debug_status", json!({})).has(&["cart.py:7"]);
    let went = press(&ours, &cookie);
    assert_eq!(
        (went.status, went.header("location")),
        (303, Some("/sessions/s1")),
        "{}",
        went.body
    );
    debug.ok("debug_status", json!({})).has(&["cart.py:6"]);
    // Files that nothing names are not shown, wherever they are.
    std::fs::write(file.with_file_name(".env"), "PASSWORD=hunter2").unwrap();
    std::fs::write(file.with_file_name("notes.txt"), "a private word").unwrap();
    for path in ["/etc/passwd", ".env", "notes.txt", "../../etc/passwd"] {
        let whole = if path.starts_with('/') {
            path.to_owned()
        } else {
            file.with_file_name(path).display().to_string()
        };
        let asked = format!("/sessions/s1?file={}", whole.replace('/', "%2F"));
        let answer =
            get(port, &asked).header("Accept", "text/html").header("Cookie", &cookie).send();
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            !answer.body.contains("hunter2")
                && !answer.body.contains("root:")
                && !answer.body.contains("a private word"),
            "{path}"
        );
    }
    // What was refused is in its log, which is no fault here.
    debug.rpc.process.signal("KILL");
    debug.rpc.process.end();
}

#[test]
fn a_server_that_was_started_again_is_found_by_its_page() {
    let mut first = Process::start(BIN, &["serve", "--port", "0"]);
    let port = first.port();
    let home = first.home.clone();
    let (_, url, _) = run(BIN, &["open", "--print"], &home);
    let mut browser = Browser::start();
    browser.open(url.trim());
    browser.shows("#live", "Live");
    browser.shows("main", "until someone has looked");
    browser.shows("main", "holdpoint setup claude-code --write");
    shoot(&mut browser, "now-empty");
    first.signal("KILL");
    browser.shows("#lost", "The server does not answer");
    browser.until("it is said", "!document.querySelector('#lost').hidden");
    let again = Process::start_at(BIN, &["serve", "--port", &port.to_string()], &home, |_| {});
    browser.until("it is back", "document.querySelector('#lost').hidden");
    browser.shows("#live", "Live");
    drop(again);
}

#[test]
fn a_node_program_is_steered_from_the_page() {
    let mut debug = node::start(BIN);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("cart.js");
    let text = "function total(lines) {\n  let amount = 0;\n  for (const [price, count] of lines) {\n    amount += price * count; // BP: add\n  }\n  return amount;\n}\nconsole.log('total', total([[100, 2], [25, 4]]));\n";
    std::fs::write(&file, text).unwrap();
    let point = json!({ "file": file, "line": line(&file, "add") });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#source .here", "amount += price * count");
    browser.shows("#vars", "amount");
    browser.type_into("#ev", "price * 3");
    browser.key("Enter");
    browser.shows("#talk samp", "300");
    browser.key("F8");
    browser.shows("#vars", "200");
    debug.ok("debug_status", json!({})).has(&["stopped"]);
    browser.click("#points .btn");
    browser.shows("#points", "None");
    browser.click("[value=continue]");
    browser.shows("#out", "total 300");
    browser.shows("#state", "ended");
    browser.is_well();
}

#[test]
fn a_person_starts_a_program_and_ends_it() {
    let mut debug = python();
    let (_folder, file) = cart();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions"));
    browser.type_into("[name=command]", &file.display().to_string());
    browser.click(".launch .main-act");
    browser.until("its session is shown", "location.pathname === '/sessions/s1'");
    browser.shows("#state", "stopped");
    browser.shows("#control-note", "You are in control");
    debug.fails("debug_continue", json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    browser.click("[value=stop]");
    browser.shows("#state", "ended");
    debug.ok("debug_status", json!({})).has(&["ended"]);
    browser.open(&format!("{base}/sessions"));
    browser.shows("#programs", "ended");
    shoot(&mut browser, "sessions");
    browser.open(&format!("{base}/now"));
    shoot(&mut browser, "now");
    browser.is_well();
}

/// What would run, hide or break out, if it were not text.
const HOSTILE: &str =
    "</script><img src=x onerror='window.hit=1'>{{7*7}}\u{1b}[31m\u{202e}&amp;\"'`";

#[test]
fn hostile_text_in_every_field_is_shown_as_text() {
    let mut debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start_as(HOSTILE, &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("a<img src=x onerror='window.hit=1'>.py");
    let text = format!(
        "evil = {{{text:?}: [{text:?}]}}\nprint({text:?})\nprint(b'\\xff\\xfe')\nraise ValueError({text:?})\n",
        text = HOSTILE.replace(['\u{1b}', '\u{202e}'], "")
    );
    std::fs::write(&file, text).unwrap();
    let condition = "1 or '</script><img src=x onerror=alert(1)>'";
    let point = json!({ "file": file, "line": 3, "condition": condition });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    debug.ok(
        "tracepoint_set",
        json!({ "file": file, "line": 4, "log_message": format!("{{evil}} {}", "<b>x</b>") }),
    );
    debug.ok("timeline_note", json!({ "text": HOSTILE }));
    debug.eval("'<img src=x onerror=alert(1)>'");
    let (mut browser, base) = signed_in(&mut debug);
    for path in ["/now", "/sessions", "/sessions/s1", "/sessions/s1?frame=%3Cimg%3E&line=%22%3E"] {
        browser.open(&format!("{base}{path}"));
        browser.shows("#live", "Live");
        browser.shows("main", "<img src=x onerror");
        let odd = "[document.images.length, document.scripts.length, window.hit ?? 0, document.querySelectorAll('main b').length && [...document.querySelectorAll('main b')].some((it) => it.textContent === 'x') ? 1 : 0]";
        assert_eq!(browser.eval(odd), json!([0, 1, 0, 0]), "{path}");
        let text = browser.eval("document.body.textContent");
        assert!(!text.as_str().unwrap().contains(['\u{1b}', '\u{202e}']), "{path}");
    }
    browser.open(&format!("{base}/sessions/s1"));
    browser.click("#vars details summary");
    browser.shows("#vars ul", "<img src=x");
    debug.ok("debug_continue", json!({}));
    browser.shows("#place", "ValueError");
    shoot(&mut browser, "session-hostile");
    browser.is_well();
}

#[test]
fn keys_alone_go_everywhere_and_steer() {
    let (mut debug, mut browser, base, _folder, file) = stopped_cart();
    browser.key("?");
    browser.until("the list of keys", "document.querySelector('#keys').open");
    browser.key("Escape");
    browser.key("g");
    browser.key("n");
    browser.until("Now", "location.pathname === '/now'");
    browser.shows("#held", "cart.py stopped");
    browser.key("g");
    browser.key("s");
    browser.until("Sessions", "location.pathname === '/sessions'");
    browser.key("j");
    browser.key("Enter");
    browser.until("the session", "location.pathname === '/sessions/s1'");
    browser.open(&format!("{base}/now"));
    shoot(&mut browser, "now-held");
    browser.key("h");
    browser.until("the hold", "location.pathname === '/sessions/s1'");
    browser.shows("#state", "stopped");
    // On the line where it stands, which has one.
    browser.key("b");
    browser.hides("#points", &format!("cart.py:{}", line(&file, "add")));
    debug.ok("breakpoint_list", json!({})).has(&["no breakpoints"]);
    browser.key("o");
    browser.shows("#control-note", "You are in control");
    browser.key("Shift+F11");
    browser.shows("#place", "<module>");
    browser.key("`");
    browser.ask("Input.insertText", json!({ "text": "RATE * 4" }));
    browser.key("Enter");
    browser.shows("#talk samp", "1.0");
    browser.is_well();
}
