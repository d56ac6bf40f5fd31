//! `debug_experiment`: hypotheses about one run, each judged where it can be seen.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, Said, program, python},
    node,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

const SHOP: &str = "\
def discount(price, rate):
    cut = price * rate
    return price - cut


def bill(prices):
    rate = 0.1
    total = 0
    for price in prices:
        total += discount(price, rate)
    return total


def unused():
    return 1


print('total', bill([100, 200, 300]))
";

const SHOP_JS: &str = "\
function discount(price, rate) {
  const cut = price * rate;
  return price - cut;
}

function bill(prices) {
  let rate = 0.1;
  let total = 0;
  for (const price of prices) {
    total += discount(price, rate);
  }
  return total;
}

console.log('total', bill([100, 200, 300]));
";

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

fn in_js(text: &str) -> (tempfile::TempDir, PathBuf) {
    let (folder, python) = program(text);
    let file = python.with_file_name("program.js");
    std::fs::rename(python, &file).unwrap();
    (folder, file)
}

fn experiment(debug: &mut Debug, file: &Path, experiments: Value) -> Said {
    let more = json!({ "experiments": experiments });
    debug.ok("debug_experiment", debug.with_program(file, more))
}

#[track_caller]
fn verdicts(said: &Said) -> Vec<String> {
    let all = said.data["experiments"].as_array().unwrap();
    all.iter().map(|it| it["verdict"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn counts(said: &Said) -> &str {
    let mut lines = said.text.lines().rev();
    let next = lines.next().unwrap();
    assert!(next.starts_with("next: "), "{}", said.text);
    // Of a long answer the data is left out.
    assert!(said.data["experiments"].is_null() || said.data["next"] == next, "{}", said.data);
    lines.next().unwrap()
}

#[test]
fn each_hypothesis_is_judged_in_one_run() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let said = experiment(
        &mut debug,
        &file,
        json!([
            { "at": "program.py:3", "expect": "cut == 10", "capture": ["price", "cut"],
              "hypothesis": "the first cut is ten" },
            { "at": "program.py:cut = price", "condition": "price == 300", "expect": "rate > 0.5",
              "capture": "rate", "hypothesis": "the rate grows" },
            { "at": "unused", "expect": "True", "hypothesis": "unused is called" },
            { "at": "program.py:3", "condition": "price > 1000", "expect": "True" },
            { "at": "program.py:11", "expect": "nothing_of_that_name" },
        ]),
    );
    assert_eq!(
        verdicts(&said),
        ["confirmed", "refuted", "not_reached", "not_reached", "not_judged"],
        "{}",
        said.text
    );
    said.has(&[
        "1 confirmed: the first cut is ten\n  program.py:3 in discount, pass 1 · price = 100 · cut = 10.0 · expected cut == 10",
        "2 refuted: the rate grows\n  program.py:2 in discount, pass 3 · rate = 0.1 · expected rate > 0.5",
        "3 not reached: unused is called",
        "`unused` was never called",
        "with `price > 1000` true",
        "5 not judged",
        "NameError",
        "output: total 540",
        "next: correct `expect` of 5, which raised",
    ]);
    assert_eq!(counts(&said), "1 confirmed, 1 refuted, 2 not reached, 1 not judged · exit code 0");
    assert_eq!(said.data["experiments"][1]["evidence"]["pass"], 3);
    assert_eq!(said.data["exit"], json!({ "code": 0 }));
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn what_is_set_changes_the_outcome_after_it_was_judged() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let said = experiment(
        &mut debug,
        &file,
        json!([
            { "at": "program.py:8", "expect": "rate == 0.1", "set": "rate = 0.5", "capture": ["rate"] },
            { "at": "program.py:11", "expect": "total == 300", "capture": ["total", "rate"] },
            { "at": "program.py:3", "expect": "rate == 0.5", "set": ["cut = nope", "cut = 0"] },
        ]),
    );
    assert_eq!(verdicts(&said), ["confirmed", "refuted", "confirmed"], "{}", said.text);
    said.has(&[
        "rate = 0.1 · expected rate == 0.1 · then rate = 0.5",
        "total = 350.0 · rate = 0.5",
        "`cut = nope` failed: NameError",
        "then cut = 0",
        "output: total 350.0",
    ]);
}

#[test]
fn two_at_one_place_are_each_judged_at_their_own_pass() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let said = experiment(
        &mut debug,
        &file,
        json!([
            { "at": "program.py:3", "condition": "price == 200", "expect": "cut == 20" },
            { "at": "program.py:3", "condition": "price == 300", "expect": "cut == 20" },
            { "at": "program.py:3", "expect": "price == 100" },
            { "at": "program.py:3", "condition": "price.nothing", "expect": "True" },
        ]),
    );
    assert_eq!(
        verdicts(&said),
        ["confirmed", "refuted", "confirmed", "not_reached"],
        "{}",
        said.text
    );
    said.has(&["pass 2", "pass 3", "its condition `price.nothing` failed", "AttributeError"]);
}

#[test]
fn a_crash_is_told_with_what_was_judged_before() {
    let mut debug = start();
    let (_folder, file) = program(&SHOP.replace("return price - cut", "return price / (cut - 20)"));
    let said = experiment(
        &mut debug,
        &file,
        json!([
            { "at": "program.py:3", "expect": "cut != 20", "hypothesis": "no cut is twenty" },
            { "at": "program.py:11", "expect": "True", "hypothesis": "the bill is made" },
        ]),
    );
    assert_eq!(verdicts(&said), ["confirmed", "not_reached"], "{}", said.text);
    said.has(&["uncaught ZeroDivisionError"]);
    assert_eq!(said.data["exit"], json!({ "code": 1 }));
    debug.nothing_is_left();
}

#[test]
fn a_program_that_never_ends_is_ended_and_what_was_seen_is_told() {
    let mut debug = start();
    let (_folder, file) = program("n = 0\nwhile n >= 0:\n    n += 1\nprint(n)\n");
    let more = json!({ "timeout_s": 2, "experiments": [
        { "at": "program.py:3", "condition": "n == 5", "expect": "n == 5", "capture": ["n"] },
        { "at": "program.py:4", "expect": "True" },
    ] });
    let said = debug.ok("debug_experiment", debug.with_program(&file, more));
    assert_eq!(verdicts(&said), ["confirmed", "not_reached"], "{}", said.text);
    said.has(&["pass 6 · n = 5", "still ran after 2 s and was ended"]);
    assert_eq!(said.data["timed_out"], true);
    debug.nothing_is_left();
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_runs() {
    let mut debug = start();
    let (_folder, file) = program(SHOP);
    let one = json!({ "at": "program.py:3", "expect": "True" });
    let many = Value::Array(vec![one.clone(); 21]);
    for (experiments, why) in [
        (many, "21 experiments, 20 at the most"),
        (json!([]), "`experiments` is empty"),
        (json!([one, { "at": "program.py:3", "expect": " " }]), "experiment 2: `expect` is empty"),
        (json!([one, { "at": "program.py:400", "expect": "True" }]), "experiment 2: "),
        (json!([{ "at": "nowhere.py:3", "expect": "True" }]), "nowhere.py"),
        (json!([{ "at": "program.py:3", "condition": "price ==", "expect": "True" }]), "price =="),
        (json!([{ "expect": "True" }]), "at"),
    ] {
        let arguments = debug.with_program(&file, json!({ "experiments": experiments }));
        debug.fails("debug_experiment", arguments).has(&[why]);
    }
    let most = Value::Array(vec![json!({ "at": "program.py:3", "expect": "True" }); 20]);
    let said = experiment(&mut debug, &file, most);
    assert_eq!(counts(&said), "20 confirmed · exit code 0");
    debug.nothing_is_left();
}

#[test]
fn a_cancelled_run_leaves_nothing_behind() {
    let mut debug = start();
    let (_folder, file) = program("import time\nprint('up', flush=True)\ntime.sleep(60)\n");
    let more = json!({ "experiments": [{ "at": "program.py:3", "expect": "True" }] });
    let id = debug.ask("debug_experiment", debug.with_program(&file, more));
    holdpoint_testkit::until("a program", || (!debug.children().is_empty()).then_some(()));
    debug.rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    debug.nothing_is_left();
}

#[test]
fn a_test_is_tried_with_its_verdict() {
    let mut debug = start();
    let (folder, file) = program("def test_sum():\n    total = 1 + 1\n    assert total == 3\n");
    let test = file.with_file_name("test_sum.py");
    std::fs::rename(&file, &test).unwrap();
    let path = python(BIN, FOLDER).pytest();
    let run = |debug: &mut Debug, set: Value| {
        let arguments = json!({
            "test": "test_sum.py::test_sum", "cwd": folder.path(), "env": { "PYTHONPATH": path },
            "interpreter": python(BIN, FOLDER).path,
            "experiments": [{ "at": "test_sum.py:3", "expect": "total == 2", "set": set }],
        });
        debug.ok("debug_experiment", arguments)
    };
    let said = run(&mut debug, json!([]));
    assert_eq!(verdicts(&said), ["confirmed"], "{}", said.text);
    said.has(&["1 failed"]);
    run(&mut debug, json!("total = 3")).has(&["1 passed"]);
}

#[test]
fn node_is_judged_and_changed_too() {
    let mut debug = node::start(BIN);
    let (_folder, file) = in_js(SHOP_JS);
    let said = experiment(
        &mut debug,
        &file,
        json!([
            { "at": "program.js:3", "condition": "price === 200", "expect": "cut === 20", "capture": ["cut"] },
            { "at": "program.js:8", "expect": "rate > 1", "set": "rate = 0.5", "capture": ["rate"] },
            { "at": "program.js:12", "expect": "total", "capture": ["total", "rate"] },
            { "at": "program.js:console.log", "condition": "false", "expect": "true" },
        ]),
    );
    assert_eq!(
        verdicts(&said),
        ["refuted", "refuted", "confirmed", "not_reached"],
        "{}",
        said.text
    );
    said.has(&["pass 2", "cut = 100", "total = 300", "output: total 300"]);
    debug.nothing_is_left();
}
