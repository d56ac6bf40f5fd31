//! What holds of every view: its data without a script, hostile text as text, keys alone.

use holdpoint_testkit::{
    debug::{self, line},
    http::{get, post},
};
use serde_json::json;

use super::{BIN, HOSTILE, cart, cookie, python, shoot, signed_in, stopped_cart};

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
    for path in [
        "/now",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1?frame=%3Cimg%3E&line=%22%3E",
        "/timeline?span=all",
        "/timeline?q=%3Cimg+src%3Dx+onerror",
    ] {
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
    browser.until("Now", "document.readyState === 'complete' && location.pathname === '/now'");
    browser.shows("#held", "cart.py stopped");
    browser.key("g");
    browser.key("s");
    browser.until(
        "Sessions",
        "document.readyState === 'complete' && location.pathname === '/sessions'",
    );
    browser.key("j");
    browser.key("Enter");
    browser.until(
        "the session",
        "document.readyState === 'complete' && location.pathname === '/sessions/s1'",
    );
    browser.open(&format!("{base}/now"));
    shoot(&mut browser, "now-held");
    browser.key("h");
    browser.until(
        "the hold",
        "document.readyState === 'complete' && location.pathname === '/sessions/s1'",
    );
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
