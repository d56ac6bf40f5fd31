//! Recordings, as a person looks at them: what a run came to, its calls, one of them line by line and pass by pass, a
//! value's life, two runs beside each other; made by an agent, and by the person.

use std::path::Path;

use holdpoint_testkit::{
    browser::Browser,
    debug::{self, Debug},
};
use serde_json::{Value, json};

use super::{BIN, HOSTILE, python, shoot, signed_in};

const CART: &str = "\
RATES = {'std': 0.5, 'gold': 0.25}


def rate(tier):
    key = tier.strip()
    try:
        return RATES[key]
    except KeyError:
        missing = None
        return missing


def total(tiers, token='ghp_0123456789abcdefghijABCDEFGHIJ012345'):
    result = 0
    for tier in tiers:
        found = rate(tier)
        if found is not None:
            result += found
    return result
";

const TEST: &str = "\
import cart


def test_total():
    assert cart.total(['std', 'gold', 'std', 'std', 'VIP']) == 2.25
";

/// A project with a bug that nobody is told of.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cart.py"), CART).unwrap();
    std::fs::write(folder.path().join("test_cart.py"), TEST).unwrap();
    std::fs::write(folder.path().join("pytest.ini"), "[pytest]\n").unwrap();
    folder
}

fn record(debug: &mut Debug, folder: &Path) -> String {
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let path = format!("{}:{}", python.pytest().display(), folder.display());
    let arguments = json!({
        "test": "test_cart.py::test_total", "cwd": folder, "env": { "PYTHONPATH": path },
        "interpreter": python.path, "timeout_s": 100, "focus": ["rate", "total"],
    });
    debug.ok("record_run", arguments).text
}

/// A run that fails and one that passes, for who looks at every view.
pub(super) fn two_runs(debug: &mut Debug) -> tempfile::TempDir {
    let folder = project();
    assert!(record(debug, folder.path()).contains("FAILED"));
    mend(folder.path());
    assert!(record(debug, folder.path()).contains("passed"));
    folder
}

fn mend(folder: &Path) {
    let mended = CART.replace("tier.strip()", "tier.strip().lower().replace('vip', 'std')");
    std::fs::write(folder.join("cart.py"), mended).unwrap();
}

/// The addresses of all that there is to see of [`two_runs`].
pub(super) const VIEWS: &[&str] = &[
    "/recordings",
    "/recordings/r1",
    "/recordings/r1?where=result+is+None",
    "/recordings/r1?where=nonsense+is",
    "/recordings/r1/call/4",
    "/recordings/r1/call/4?line=15&nth=2",
    "/recordings/r1/history?name=result",
    "/recordings/diff?a=r1&b=r2",
];

fn at(browser: &mut Browser, path: &str) {
    browser
        .until(path, &format!("(location.pathname + location.search).startsWith({})", json!(path)));
}

#[test]
fn a_run_is_looked_at_from_the_list_to_a_pass_of_a_loop() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/recordings"));
    browser.shows(".first-rec pre", "holdpoint record -- python app.py");
    shoot(&mut browser, "recordings-empty");
    // Made by an agent while the list is open.
    let folder = project();
    record(&mut debug, folder.path());
    browser.shows("#recordings", "test_cart.py::test_total");
    browser.shows("#rec-r1 .badge", "failed");
    // Not every recorder keeps the lines of what is not in focus.
    browser.until(
        "what was kept",
        "/complete|without lines/.test(document.querySelector('#rec-r1 .kept').textContent)",
    );
    shoot(&mut browser, "recordings");
    browser.click("#rec-r1 a.row");
    at(&mut browser, "/recordings/r1");
    browser.shows(".what-failed", "AssertionError");
    browser.shows(".way", "test_total");
    browser.shows(".findings", "KeyError");
    browser.shows(".findings", "None once in 5 calls");
    browser.shows("#rec-over .kv", "calls");
    browser.shows("#rec-flame svg", "test_total");
    let bars = browser.eval("document.querySelectorAll('#rec-flame rect').length");
    assert_eq!(bars, json!(9));
    shoot(&mut browser, "recording");
    // A tree that is fetched as it is opened.
    let opened = "document.querySelectorAll('.calls-tree details[open] ul li').length";
    assert_eq!(browser.eval(opened), json!(0));
    browser.click(".calls-tree > li:last-child summary");
    browser.shows(".calls-tree > li:last-child > details > ul", "total(tiers=");
    browser.click(".calls-tree > li:last-child ul summary");
    browser.shows(".calls-tree ul ul", "tier='VIP'");
    // By a condition; what is wrong with one is said in its place.
    browser.type_into("#where-q", "reslt is None");
    browser.key("Enter");
    browser.shows("#rec-calls .failure", "did you mean `result`?");
    browser.shows(".findings", "KeyError");
    browser.open(&format!("{base}/recordings/r1?where=result+is+None&function=rate"));
    browser.shows(".found-calls", "tier='VIP'");
    browser.shows(".found-n", "1 of 5 calls");
    shoot(&mut browser, "recording-found");
    browser.click(".found-calls a.row");
    at(&mut browser, "/recordings/r1/call/");
    browser.shows("#L5 .vals", "key = 'VIP'");
    browser.shows("#L5 code .f, #L4 code .f", "rate");
    browser.shows("#L7 .vals", "raises KeyError");
    browser.shows("#came-to", "None");
    browser.shows("#given", "'VIP'");
    browser.click("#callers a");
    a_pass(&mut browser);
    a_life(&mut browser);
    browser.is_well();
    debug.nothing_is_left();
}

/// The loop of `total`, pass by pass.
fn a_pass(browser: &mut Browser) {
    browser.shows("#src-h", "total");
    browser.shows("#L18 .vals", "0.5, 0.75");
    browser.shows("#L18 .times", "×4");
    // What is secret was never kept.
    browser.shows("#given", "secret");
    assert!(!browser.text("main").contains("ghp_0123"));
    browser.click(".passes a:nth-child(2)");
    browser.until("a pass", "location.search === '?line=15&nth=1'");
    browser.shows("#L15.frame .vals", "tier = 'std'");
    browser.shows("#L18 .vals b", "0.5");
    browser.shows("#state", "result");
    shoot(browser, "recording-pass");
    // The slider's middle is a later pass, with other values.
    browser.click("#nth");
    browser.until("another pass", "/line=15&nth=[34]/.test(location.search)");
    let nth: u32 =
        browser.eval("document.querySelector('#nth').value").as_str().unwrap().parse().unwrap();
    browser.shows(".pass-n", &format!("pass {nth} of 6"));
    let (before, after) = if nth == 3 { ("0.75", "1.25") } else { ("1.25", "1.75") };
    browser.shows("#L18 .vals s", before);
    browser.shows("#L18 .vals b", after);
    browser.shows("#state", before);
    // By keys: to the pass in which nothing was found.
    while browser.eval("Number(document.querySelector('#nth').value)").as_u64().unwrap() < 5 {
        let now = browser.eval("location.search");
        browser.shows("#live", "Live");
        browser.key(".");
        browser.until(
            "the next pass",
            &format!("location.search !== {now} && document.querySelector('#nth')"),
        );
    }
    browser.shows("#L15 .vals", "'VIP'");
    browser.shows("#L18.cold", "result");
}

/// What `result` was, from write to write.
fn a_life(browser: &mut Browser) {
    browser.click("#state a[href*='name=result']");
    at(browser, "/recordings/r1/history?name=result");
    browser.shows(".writes", "0.5 → 0.75");
    browser.shows(".plot figcaption", "5 numbers");
    let lines = browser.eval("document.querySelectorAll('.plot line').length");
    assert_eq!(lines, json!(8));
    shoot(browser, "recording-life");
    browser.click("#h-when");
    browser.ask("Input.insertText", json!({ "text": "> 1" }));
    browser.key("Enter");
    browser.until("a condition", "location.search.includes('when=')");
    browser.shows(".found-n", "2 of 5 writes");
    browser.click("#h-when");
    browser.ask("Input.insertText", json!({ "text": " nonsense (" }));
    browser.key("Enter");
    browser.shows("#life .failure", "E_INVALID_PARAMS");
}

#[test]
fn what_another_process_records_comes_and_ends_in_the_open_list() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/recordings"));
    browser.shows(".first-rec pre", "holdpoint record -- python app.py");
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let text = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.02)\n";
    std::fs::write(folder.path().join("waits.py"), text).unwrap();
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let mut command = std::process::Command::new(BIN);
    command.args(["record", "--", &python.path, "waits.py"]).current_dir(folder.path());
    command.env("HOLDPOINT_HOME", debug.home()).stdout(std::process::Stdio::null());
    let mut other = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    // No event of this server tells of it.
    browser.shows("#recordings", "waits.py");
    std::fs::write(&go, "").unwrap();
    assert!(other.wait().unwrap().success());
    browser.until(
        "its end",
        "/complete|without lines/.test(document.querySelector('#rec-r1 .kept').textContent)",
    );
    let mut command = std::process::Command::new(BIN);
    command.args(["record", "delete", "r1"]).env("HOLDPOINT_HOME", debug.home());
    assert!(command.output().unwrap().status.success());
    browser.shows(".first-rec pre", "holdpoint record -- python app.py");
}

#[test]
fn two_runs_are_seen_beside_each_other_and_one_is_deleted() {
    let mut debug = python();
    let _folder = two_runs(&mut debug);
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/recordings"));
    browser.shows("#rec-r2 .badge", "passed");
    browser.click(".compare-two button");
    at(&mut browser, "/recordings/diff?a=r1&b=r2");
    browser.shows("#parts-at", "what rate came to");
    browser.shows(".side-of:first-child .side-call", "→ None");
    browser.shows(".side-of:last-child .side-call", "→ 0.5");
    browser.shows(".side-of:first-child .source .frame .vals", "key = 'VIP'");
    browser.shows(".side-of:last-child .source .frame .vals", "key = 'std'");
    browser.shows(".differences", "raised AssertionError");
    shoot(&mut browser, "recordings-two");
    // Every address has its data without a script.
    browser.without_script(true);
    for (path, wanted) in VIEWS.iter().zip([
        "r2",
        "KeyError",
        "tier=",
        "error",
        "result",
        "pass 2 of 6",
        "0.75",
        "came to",
    ]) {
        browser.open(&format!("{base}{path}"));
        browser.shows("main", wanted);
    }
    browser.without_script(false);
    browser.open(&format!("{base}/recordings/r2"));
    browser.shows("#live", "Live");
    browser.click("#rec-acts summary");
    browser.click("#rec-acts .danger");
    browser.until(
        "the list",
        "document.readyState === 'complete' && location.pathname === '/recordings'",
    );
    browser.shows("#recordings", "r1");
    browser.hides("#recordings", "r2");
    debug.fails("record_calls", json!({ "recording": "r2" })).has(&["no recording is called `r2`"]);
    browser.open(&format!("{base}/recordings/r2"));
    browser.shows("main", "no recording is called");
    browser.is_well();
}

#[test]
fn a_person_records_a_program_and_ends_one() {
    let mut debug = python();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("package.json"), "{}").unwrap();
    let program = "\
function rate(tier) {
  const rates = { std: 0.5 };
  return rates[tier];
}
let total = 0;
for (const tier of ['std', 'std', 'std', 'VIP', 'std']) {
  total += rate(tier);
}
if (Number.isNaN(total)) throw new Error('not a number');
";
    std::fs::write(root.join("main.js"), program).unwrap();
    std::fs::write(
        root.join("endless.js"),
        "function tick() { return Date.now(); }\nsetInterval(tick, 20);\n",
    )
    .unwrap();
    let (mut browser, base) = signed_in(&mut debug);
    let run = |browser: &mut Browser, command: &str| {
        browser.open(&format!("{base}/recordings"));
        browser.shows("#live", "Live");
        browser.type_into("[name=cwd]", &root.display().to_string());
        browser.type_into("[name=command]", command);
        browser.key("Enter");
    };
    run(&mut browser, "main.js");
    browser.shows("#rec-r1 .badge", "failed");
    browser.click("#rec-r1 a.row");
    browser.shows(".what-failed", "Error not a number");
    browser.shows(".findings", "undefined once in 5 calls");
    browser.open(&format!("{base}/recordings/r1/call/1"));
    browser.shows("#source", "total += rate(tier);");
    browser.shows("#L7 .vals", "total = 0.5, 1, 1.5");
    browser.shows("#L7 .vals a", "rate");
    browser.click(".passes a:nth-child(2)");
    browser.shows("#L6.frame", "for (const tier of");
    browser.shows("#state", "total");
    shoot(&mut browser, "recording-node");
    run(&mut browser, "no-such-program-at-all");
    browser.shows("#rec-r2 .badge", "ended with");
    // One that does not end is seen while it runs.
    run(&mut browser, "endless.js");
    browser.shows("#rec-r3 .badge", "recording");
    browser.click("#rec-r3 a.row");
    browser.shows("#rec-state", "so far");
    browser.click("#rec-acts .danger");
    browser.hides("#rec-state", "so far");
    browser.shows("#rec-acts", "Record again");
    browser.is_well();
    debug.nothing_is_left();
}

#[test]
fn hostile_text_in_a_recording_is_text() {
    let mut debug = python();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join("a<img src=x onerror='window.hit=1'>.py");
    let text = HOSTILE;
    let program = format!(
        "def evil(x, **rest):\n    y = x\n    for y in [x, x + '1', {text:?}]:\n        z = {{y: y}}\n    raise ValueError(x)\n\n\ndef main(text):\n    try:\n        evil(text)\n    except ValueError:\n        pass\n    evil(text)\n\n\nmain({text:?})\n",
        text = text.replace(['\u{1b}', '\u{202e}'], "")
    );
    std::fs::write(&file, program).unwrap();
    let python = debug::python(BIN, env!("CARGO_TARGET_TMPDIR"));
    let run = json!({ "program": file, "interpreter": python.path, "timeout_s": 100, "name": HOSTILE, "focus": ["evil", "main"] });
    debug.ok("record_run", run.clone());
    debug.ok("record_run", run);
    let (mut browser, base) = signed_in(&mut debug);
    for path in [
        "/recordings",
        "/recordings/r1",
        "/recordings/r1?function=%3Cimg+src%3Dx+onerror%3E&where=%3Cimg+src%3Dx+onerror%3E",
        "/recordings/r1?where=raised",
        "/recordings/r1/call/2",
        "/recordings/r1/call/3",
        "/recordings/r1/call/3?line=3&nth=2",
        "/recordings/r1/call/%3Cimg%20src%3Dx%20onerror%3E",
        "/recordings/r1/history?name=y",
        "/recordings/r1/history?name=%3Cimg+src%3Dx+onerror%3E",
        "/recordings/diff?a=r1&b=r2",
        "/recordings/diff?a=%3Cimg+src%3Dx+onerror%3E&b=r2",
        "/recordings/%3Cimg%20src%3Dx%20onerror%3E",
    ] {
        browser.open(&format!("{base}{path}"));
        browser.shows("#live", "Live");
        browser.shows("main", "<img src=x onerror");
        let odd = "[document.images.length, document.scripts.length, window.hit ?? 0]";
        assert_eq!(browser.eval(odd), json!([0, 1, 0]), "{path}");
        let text = browser.eval("document.body.textContent");
        assert!(!text.as_str().unwrap().contains(['\u{1b}', '\u{202e}']), "{path}");
        let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_i64().unwrap_or_default() <= 0, "{path} is {wide} too wide");
    }
    browser.open(&format!("{base}/recordings/r1"));
    shoot(&mut browser, "recording-hostile");
    let none: Value = browser.eval("window.hit ?? null");
    assert!(none.is_null());
    browser.is_well();
}
