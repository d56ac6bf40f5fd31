//! Every view for everybody: axe-core finds nothing serious, and keys alone are enough.

use holdpoint_testkit::{browser::Browser, calls::Shop, debug::line, packages::axe};
use serde_json::{Value, json};

use super::{cart, recordings, signed_in, waiting_shop, with_everything};

/// A stopped program, a paused call with a transcript, a record, an external call, two recordings: something in every
/// view.
fn full()
-> (holdpoint_testkit::debug::Debug, Browser, String, Shop, [tempfile::TempDir; 2], Vec<String>) {
    let mut debug = with_everything();
    let (folder, file) = cart();
    debug.ok(
        "tracepoint_set",
        json!({ "file": file, "line": line(&file, "begin"), "log_message": "{amount}" }),
    );
    let point = json!({ "file": file, "line": line(&file, "add") });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    debug.ok(
        "external_call_tool",
        json!({ "tool": "everything/get-sum", "arguments": { "a": 2, "b": 3 } }),
    );
    let (shop, pause) = waiting_shop(&mut debug);
    debug.ok("breakpoint_repl_eval", json!({ "pause_id": pause, "expression": "20 + 22" }));
    debug.ok("timeline_note", json!({ "text": "a note" }));
    let runs = recordings::two_runs(&mut debug);
    let (browser, base) = signed_in(&mut debug);
    let views = [
        "/now",
        "/sessions",
        "/sessions/s1",
        "/calls",
        "/calls/records",
        "/calls/points",
        "/calls/tree",
        "/values",
        "/timeline?span=all",
        "/repl",
        "/external",
        "/external/everything/get-sum",
        "/setup",
        "/docs",
        "/sessions/s99",
    ];
    let views = views.iter().chain(recordings::VIEWS).map(|it| (*it).to_owned()).collect();
    (debug, browser, base, shop, [folder, runs], views)
}

/// What axe says is serious or worse.
fn serious(browser: &mut Browser, axe: &str) -> Vec<String> {
    // The page's policy lets nothing in; the debugger is no part of the page.
    browser.eval(&format!("{axe}; 1"));
    let run = "axe.run(document, { resultTypes: ['violations'] }).then((it) => it.violations.filter((it) => ['serious', 'critical'].includes(it.impact))
        .map((it) => `${it.id} (${it.impact}): ${it.nodes.slice(0, 4).map((it) => it.html.slice(0, 160) + ' ' + it.failureSummary.slice(0, 300)).join(' | ')}`))";
    let found = browser.eval(run);
    found.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn axe_finds_nothing_serious_in_any_view() {
    let axe = axe();
    let (_debug, mut browser, base, _shop, _folder, views) = full();
    let mut wrong = Vec::new();
    for (width, height, is_dark) in [(1440, 900, false), (1440, 900, true), (390, 844, false)] {
        browser.size(width, height);
        browser.dark(is_dark);
        for view in &views {
            browser.open(&format!("{base}{view}"));
            browser.shows("#live", "Live");
            let found = serious(&mut browser, &axe);
            wrong.extend(
                found.into_iter().map(|it| format!("{view} at {width}, dark {is_dark}: {it}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What has the focus, in words that tell one thing from another.
const FOCUSED: &str = "(() => { const it = document.activeElement; if (!it || it === document.body) return ''; \
    const box = it.getBoundingClientRect(); \
    return [it.tagName, it.id, it.getAttribute('href') ?? it.name ?? '', it.value ?? '', (it.getAttribute('aria-label') || it.textContent || '').trim().slice(0, 40), \
    Math.round(box.left), Math.round(box.top + scrollY)].join(' '); })()";

#[test]
fn keys_alone_reach_everything_that_can_be_pressed() {
    let (_debug, mut browser, base, _shop, _folder, views) = full();
    // By the keys of the views.
    browser.open(&format!("{base}/now"));
    for (key, path) in [
        ("c", "/calls"),
        ("v", "/values"),
        ("t", "/timeline"),
        ("r", "/repl"),
        ("e", "/external"),
        ("u", "/setup"),
        ("p", "/recordings"),
        ("s", "/sessions"),
        ("n", "/now"),
    ] {
        browser.shows("#live", "Live");
        browser.key("g");
        browser.key(key);
        browser.until(
            path,
            &format!("document.readyState === 'complete' && location.pathname === '{path}'"),
        );
    }
    for view in &views {
        browser.open(&format!("{base}{view}"));
        browser.shows("#live", "Live");
        // Those that can be pressed and are seen; of radios, the group.
        let all = "(() => { const names = new Set(); return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')] \
            .filter((it) => !it.disabled && it.type !== 'hidden' && it.checkVisibility({ visibilityProperty: true }) && !(it.type === 'radio' && (names.has(it.name) || !names.add(it.name)))).length; })()";
        let all = browser.eval(all).as_u64().unwrap();
        browser.eval("document.activeElement?.blur()");
        let mut seen = std::collections::BTreeSet::new();
        let mut is_round = false;
        for _ in 0..all + 40 {
            browser.key("Tab");
            let now = browser.eval(FOCUSED).as_str().unwrap_or_default().to_owned();
            // Beyond the last one is the browser itself, or the first one again.
            if now.is_empty() || (seen.len() as u64 + 3 >= all && seen.contains(&now)) {
                is_round = true;
                break;
            }
            // Whoever looks sees where they are.
            let is_shown = "(() => { const it = document.activeElement; \
                const looks = [it, it.nextElementSibling, it.closest('form')].filter(Boolean).flatMap((it) => [null, '::before', '::after'].map((part) => getComputedStyle(it, part))); \
                return looks.some((it) => (it.outlineStyle !== 'none' && it.outlineWidth !== '0px') || it.boxShadow !== 'none'); })()";
            assert_eq!(
                browser.eval(is_shown),
                json!(true),
                "{view}: nothing shows the focus on {now}"
            );
            seen.insert(now);
        }
        assert!(is_round, "{view}: Tab comes to no end after {} of {all}", seen.len());
        assert!(seen.len() as u64 + 3 >= all, "{view}: {} of {all} are reached", seen.len());
    }
    // And they act: a filter, a call, an expression.
    browser.open(&format!("{base}/external/everything/echo"));
    browser.eval("document.querySelector('[name=a-message]').focus()");
    browser.ask("Input.insertText", json!({ "text": "by keys alone" }));
    browser.key("Enter");
    browser.shows("#result pre", "by keys alone");
    browser.open(&format!("{base}/repl"));
    browser.key("`");
    browser.ask("Input.insertText", json!({ "text": "6 * 7" }));
    browser.key("Enter");
    browser.shows("#rt-talk samp", "42");
    browser.is_well();
}
