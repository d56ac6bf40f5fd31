//! Who may look at the page, and a page whose server goes away and comes back.

use holdpoint_testkit::{
    browser::Browser,
    http::get,
    process::{Process, run},
};
use serde_json::json;

use super::{BIN, cart, python, shoot};

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
