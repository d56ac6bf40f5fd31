//! Connection lost and server restarted: the page says so, comes back by itself, loses no event that is kept, and
//! shows none twice.

use std::collections::BTreeSet;

use holdpoint_testkit::{
    browser::Browser,
    calls::Wire,
    process::{Process, run},
    until,
};
use serde_json::json;

use super::BIN;

fn calls(wire: &Wire, from: u32, to: u32) {
    for number in from..to {
        wire.call("shop.till:charge", &[json!(number)], &json!(number));
    }
}

/// The numbers in the list, each as often as it stands there.
fn listed(browser: &mut Browser) -> Vec<u64> {
    let rows = browser.eval(
        "[...document.querySelectorAll('#tl-events tr[id]')].map((it) => Number(it.id.slice(3)))",
    );
    rows.as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect()
}

fn is_each_once(numbers: &[u64]) {
    let once: BTreeSet<_> = numbers.iter().collect();
    assert_eq!(once.len(), numbers.len(), "{numbers:?}");
}

#[test]
fn a_restart_loses_no_kept_event_and_repeats_none() {
    let mut first = Process::start(BIN, &["serve", "--port", "0"]);
    let (home, port) = (first.home.clone(), first.port());
    let wire = Wire::new(port);
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    calls(&wire, 0, 10);
    let (_, url, _) = run(BIN, &["open", "--print"], &home);
    let mut browser = Browser::start();
    browser.open(url.trim());
    browser.open(&format!("http://127.0.0.1:{port}/timeline?span=all"));
    browser.until("ten calls", "document.querySelectorAll('#tl-events .kind.call').length >= 10");
    // The page's connection breaks, and what happens meanwhile is there when it is back.
    browser.ask(
        "Network.emulateNetworkConditions",
        json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 }),
    );
    browser.eval("dispatchEvent(new Event('offline'))");
    calls(&wire, 10, 20);
    browser.ask(
        "Network.emulateNetworkConditions",
        json!({ "offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 }),
    );
    browser.until("all of them", "document.querySelectorAll('#tl-events .kind.call').length >= 20");
    is_each_once(&listed(&mut browser));
    let before = wire.get("/api/calls?limit=100")["total_count"].clone();
    // The server is killed.
    first.signal("TERM");
    first.end();
    browser.until("it is said", "!document.querySelector('#lost').hidden && document.querySelector('#live-word').textContent === 'Not connected'");
    let mut again = Process::start_at(BIN, &["serve", "--port", &port.to_string()], &home, |_| {});
    assert_eq!(again.port(), port);
    browser.until("it is back", "document.querySelector('#lost').hidden");
    browser.shows("#live", "Live");
    // What the other server saw is kept, once each, and the new one's events are its own.
    until("calls again", || wire.try_call("shop.till:charge", &[json!(20)], &json!(20)));
    browser.shows("#tl-events", "shop.till:charge");
    is_each_once(&listed(&mut browser));
    browser.shows("#runs", "An earlier one");
    browser.click("#runs a:nth-child(2)");
    browser.until("its events", "document.querySelectorAll('#tl-events .kind.call').length >= 20");
    let numbers = listed(&mut browser);
    is_each_once(&numbers);
    let rows = browser.eval("[...document.querySelectorAll('#tl-events .kind.call')].filter((it) => it.textContent === 'calls').length");
    assert_eq!(rows, before, "each recorded call is one row");
    let whole = (1..=*numbers.iter().max().unwrap()).rev().collect::<Vec<_>>();
    assert_eq!(numbers, whole, "no number is missing");
    browser.is_well();
}
