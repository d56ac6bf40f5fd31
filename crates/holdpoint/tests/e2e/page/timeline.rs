//! The timeline: lanes, rates, plotted values, zoom and filter, with a real program, app and external server.

use std::path::Path;

use holdpoint_testkit::{
    browser::Browser,
    calls::{Shop, Wire},
    debug::{Debug, fixture, line},
    process::{Process, run},
};
use serde_json::{Value, json};

use super::{BIN, shoot, signed_in, waiting_shop, with_everything};

/// Ten thousand hits of a tracepoint, a stopped program, a paused call of an app and an external call.
fn busy() -> (Debug, Browser, String, Shop) {
    let mut debug = with_everything();
    let stock = fixture("stock.py");
    let point =
        json!({ "file": stock, "line": line(&stock, "left"), "log_message": "{left} left" });
    debug.ok("tracepoint_set", point);
    debug.launch(&stock, json!({ "stop_on_entry": false }));
    debug.ok("debug_wait", json!({ "timeout_s": 60 }));
    debug.ok(
        "external_call_tool",
        json!({ "tool": "everything/get-sum", "arguments": { "a": 2, "b": 3 } }),
    );
    let (shop, _) = waiting_shop(&mut debug);
    debug.ok("timeline_note", json!({ "text": "the stock is off by 4,000" }));
    let (browser, base) = signed_in(&mut debug);
    (debug, browser, base, shop)
}

fn count(browser: &mut Browser, css: &str) -> u64 {
    let text = browser.text(css).replace(',', "");
    text.trim().parse().unwrap_or_else(|_| panic!("{css} is `{text}`"))
}

#[test]
fn everything_that_happened_is_in_its_lane_and_counted() {
    let (mut debug, mut browser, base, mut shop) = busy();
    browser.open(&format!("{base}/timeline?span=all"));
    for lane in ["testkit", "stock.py", "everything"] {
        browser.shows(".lane-name", lane);
    }
    browser.shows(".lane-name small", &shop.id().to_string());
    // Ten thousand hits are at most one mark per part of the lane.
    let hits = count(&mut browser, "#n-tracepoints");
    let told = debug.ok("tracepoint_read", json!({}));
    assert!(told.text.contains("10000") || told.text.contains("10,000"), "{}", told.text);
    assert!(hits > 5_000, "{hits}");
    let marks = "[...document.querySelectorAll('#lanes svg path')].map((it) => it.getAttribute('d').split('M').length - 1)";
    let marks = browser.eval(marks);
    let most = marks.as_array().unwrap().iter().filter_map(Value::as_u64).max().unwrap();
    assert!((2..=300).contains(&most), "{marks}");
    let elements = browser.eval("document.querySelectorAll('main *').length");
    assert!(elements.as_u64().unwrap() < 3_000, "{elements}");
    // The value is plotted, and said in words.
    browser.shows(".value-lane", "left");
    let said = browser.eval("document.querySelector('.vals-plot').getAttribute('aria-label')");
    let said = said.as_str().unwrap();
    assert!(said.starts_with("left at stock.py:6: from 49,996 to 14,004"), "{said}");
    // What waits is amber until it goes on.
    browser.until(
        "the pause lasts",
        "document.querySelector('.chart .pa.on title')?.textContent.includes('multiply')",
    );
    browser.shows(".fl title", "off by 4,000");
    browser.shows("#tl-rates", "calls/s");
    shoot(&mut browser, "timeline");
    let paused = Wire::new(debug.rpc.process.port()).paused();
    debug.ok("breakpoint_continue", json!({ "pause_id": paused["id"], "action": "continue" }));
    browser.until("it went on", "!document.querySelector('.chart .pa.on')");
    assert_eq!(shop.line(), "= 42");
    debug.ok("timeline_note", json!({ "text": "live as it happens" }));
    browser.shows("#tl-events", "live as it happens");
    browser.is_well();
}

#[test]
fn zoom_range_kinds_and_words_are_in_the_address_and_work_without_a_script() {
    let (mut debug, mut browser, base, _shop) = busy();
    browser.open(&format!("{base}/timeline?span=all"));
    browser.shows("#tl-events", "off by 4,000");
    // Kinds.
    browser.click(".chip.trace");
    browser.until("hits are off", "new URLSearchParams(location.search).get('only') === '1' && !document.querySelector('.value-lane')");
    browser.hides("#tl-events .kind", "tracepoint");
    browser.click(".chip.trace");
    browser.shows(".value-lane", "left");
    // Words.
    browser.key("/");
    browser.ask("Input.insertText", json!({ "text": "OFF BY" }));
    browser.key("Enter");
    browser.shows("#tl-pager", "that hold “OFF BY”");
    assert_eq!(browser.eval("document.querySelectorAll('#tl-events tr').length"), json!(1));
    debug.ok("timeline_query", json!({ "match": "OFF BY" })).has(&["off by 4,000"]);
    // The lanes hold no more than the list does.
    browser.shows(".fl title", "off by 4,000");
    let lanes = browser.eval("[document.querySelectorAll('.lane-name a, .lane-name b.cut').length, document.querySelectorAll('.value-lane, .chart .td, .chart .cd').length]");
    assert_eq!(lanes, json!([1, 0]));
    assert_eq!(browser.text("#n-tracepoints"), "0");
    debug.ok("timeline_note", json!({ "text": "no longer off by anything" }));
    browser.shows(".fl title", "no longer off by anything");
    // Zoom, by key and by dragging.
    browser.open(&format!("{base}/timeline?span=600000"));
    browser.key("+");
    browser.until("half of it", "new URLSearchParams(location.search).get('span') === '300000'");
    browser.shows(".btn[aria-current]", "Follow");
    let range = |browser: &mut Browser| {
        let at = "[...document.querySelectorAll('#range time')].map((it) => Number(it.dataset.at))";
        let at = browser.eval(at);
        at[1].as_i64().unwrap() - at[0].as_i64().unwrap()
    };
    assert_eq!(range(&mut browser), 300_000);
    drag(&mut browser, 0.25, 0.75);
    browser.until("a range that stands", "new URLSearchParams(location.search).has('to')");
    let dragged = range(&mut browser);
    assert!((140_000..160_000).contains(&dragged), "{dragged}");
    browser.key("f");
    browser.until("it follows again", "!new URLSearchParams(location.search).has('to')");
    // Older events, a page at a time.
    browser.open(&format!("{base}/timeline?span=all"));
    let before = browser.text("#tl-events tr:last-child td");
    browser.click("#tl-pager .end a");
    browser.until("older ones", "new URLSearchParams(location.search).has('before')");
    browser.shows("#tl-pager", "Newest");
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let first = browser.text("#tl-events tr:first-child td");
    assert_eq!(number(&first), number(&before) - 1);
    // Without a script all of it is there.
    browser.without_script(true);
    browser.open(&format!("{base}/timeline?span=all"));
    browser.without_script(false);
    assert!(browser.text("#lanes").contains("stock.py"));
    browser.is_well();
}

/// Over the middle of the lanes, from one share of the width to another.
fn drag(browser: &mut Browser, from: f64, to: f64) {
    let place = browser.eval("(() => { const it = document.querySelector('.axis').getBoundingClientRect(); return [it.left, it.width, it.bottom + 30]; })()");
    let x = |share: f64| place[0].as_f64().unwrap() + share * place[1].as_f64().unwrap();
    for (kind, share) in [
        ("mousePressed", from),
        ("mouseMoved", (from + to) / 2.0),
        ("mouseMoved", to),
        ("mouseReleased", to),
    ] {
        let event = json!({ "type": kind, "x": x(share), "y": place[2], "button": "left", "buttons": 1, "clickCount": 1 });
        browser.ask("Input.dispatchMouseEvent", event);
    }
}

/// What retention did to the oldest events of a server.
fn forget(home: &Path, until: u64) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
        c.execute('DELETE FROM timeline WHERE seq <= ?', (int(sys.argv[2]),)); c.commit()";
    let done = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(home.join("holdpoint.db"))
        .arg(until.to_string())
        .status()
        .unwrap();
    assert!(done.success());
}

#[test]
fn what_is_no_longer_kept_is_named_as_a_gap() {
    let mut first = Process::start(BIN, &["serve", "--port", "0"]);
    let home = first.home.clone();
    let port = first.port();
    let wire = Wire::new(port);
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    for number in 0..20 {
        wire.call("shop.till:charge", &[json!(number)], &json!(number));
    }
    first.signal("TERM");
    first.end();
    forget(&home, 5);
    let mut again = Process::start_at(BIN, &["serve", "--port", "0"], &home, |_| {});
    let port = again.port();
    let (code, url, stderr) = run(BIN, &["open", "--print"], &home);
    assert_eq!(code, 0, "{stderr}");
    let mut browser = Browser::start();
    browser.open(url.trim());
    browser.open(&format!("http://127.0.0.1:{port}/timeline"));
    browser.shows("#runs", "An earlier one");
    browser.click("#runs a:nth-child(2)");
    browser.shows("#notices", "A gap: seq 1 to 5 are no longer kept");
    browser.shows(".lane-name", "shop");
    browser.shows("#tl-events", "shop.till:charge");
    shoot(&mut browser, "timeline-gap");
    browser.is_well();
}
