//! `debug_probe` on Node: one call from a question about a run to its answer.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, Said},
    node,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A program in a folder of its own.
fn program(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let (folder, python) = holdpoint_testkit::debug::program(text);
    let file = python.with_file_name(name);
    std::fs::rename(python, &file).unwrap_or_default();
    (folder, file)
}

fn probe(debug: &mut Debug, file: &Path, more: Value) -> Said {
    debug.ok("debug_probe", debug.with_program(file, more))
}

#[track_caller]
fn last_line(said: &Said) -> &str {
    said.text.lines().next_back().unwrap_or_default()
}

/// A loop over numbers, in a function that another calls.
const LOOP: &str = "\
function work(n) {
  const half = n / 2;
  return half;
}

const run = count => {
  let total = 0;
  for (let n = 0; n < count; n++) {
    const kind = n % 2 ? 'odd' : 'even';
    total += work(n);
  }
  return total;
};

console.log('total', run(6));
";

#[test]
fn the_hits_that_were_asked_for_are_all_told_a_line_each() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    for asked in [4_u64, 6] {
        let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": asked });
        let said = probe(&mut debug, &file, more);
        said.has(&[
            "main.js:3 in work · n · half\n1 · 0 · 0\n2 · 1 · 0.5\n",
            &format!("\n{asked} · {} · ", asked - 1),
        ]);
        let word = format!("{asked} of {asked} · ended here");
        assert_eq!(last_line(&said), word);
    }
    let more = json!({ "file": file, "line": 3, "expressions": ["n"], "hits": 9 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(last_line(&said), "6 of 9 · exit code 0");
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn a_hit_is_the_nth_pass_alone() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "run: total"], "hit": 5 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(
        said.text,
        "hit 5 · main.js:3 in work · n = 4 · run: total = 3\n1 of 1 · ended here"
    );
    let more =
        json!({ "file": file, "line": 3, "expressions": ["n"], "hit": 2, "condition": "n % 2" });
    probe(&mut debug, &file, more).has(&["hit 2 ·", "n = 3\n"]);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 3, "hit": 50 }));
    said.has(&["main.js:3 was passed 6 times, not 50 times"]);
    assert_eq!(last_line(&said), "0 of 1 · exit code 0");
}

#[test]
fn places_are_found_by_text_and_function_and_all_in_one_run() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    let at = json!([
        { "file": "main.js", "match": "total += work(n)", "expressions": ["n"], "hits": 2 },
        { "function": "work", "condition": "n > 2", "expressions": ["n * 10"] },
        { "file": "main.js", "line": 10, "condition": "n === 4", "expressions": ["kind"] },
    ]);
    let said = probe(&mut debug, &file, json!({ "at": at }));
    said.has(&[
        "hit 1 · main.js:10 in run · n = 0\nhit 2 · main.js:10 · n = 1\n",
        "main.js:2 in work · n * 10 = 30\n← run",
        "kind = \"even\"",
        "4 of 4 · ended here",
    ]);
}

#[test]
fn the_head_of_a_function_means_its_body_and_says_so() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    let more = json!({ "file": file, "line": 6, "expressions": ["count"] });
    probe(&mut debug, &file, more)
        .has(&["main.js:7 in run (line 6 is the head of run: first line of its body) · count = 6"]);
}

#[test]
fn all_passes_are_told_without_stopping_and_grouped() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    let more = json!({ "at": "main.js:3", "expressions": ["n", "String(half)"], "hits": "all" });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        " · n · String(half)\n1 · 0 · \"0\"\n",
        "\n6 · 5 · \"2.5\"\n6 passes · exit code 0",
    ]);
    let more = json!({ "file": file, "line": 10, "expressions": ["n"], "by": "kind" });
    probe(&mut debug, &file, more).has(&[
        " by kind · n\n\"even\" ×3 · sum 6, min 0, max 4\n\"odd\" ×3 · sum 9, min 1, max 5\n",
        "6 passes in 2 groups",
    ]);
    // A caller's variables are to be had only where the program stands.
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "run: kind"], "hits": "all" });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        " · n · run: kind\n1 · 0 · \"even\"\n",
        "\n6 · 5 · \"odd\"\n6 passes · exit code 0",
    ]);
    let more =
        json!({ "file": file, "line": 3, "expressions": ["n", "run: total"], "by": "main.js:9" });
    probe(&mut debug, &file, more).has(&[
        " by pass of main.js:9 · n · run: total\npass 1 ×1 · sum 0, min 0, max 0 · sum 0, min 0",
        "6 passes in 6 groups",
    ]);
}

#[test]
fn many_passes_are_counted_exactly_and_what_stands_out_is_shown() {
    let mut debug = node::start(BIN);
    let text = "\
function step(n) {
  const value = n === 41 ? undefined : n % 3;
  return value;
}
for (let n = 0; n < 5000; n++) step(n);
";
    let (_folder, file) = program("main.js", text);
    let more = json!({ "file": file, "line": 3, "expressions": ["value"], "hits": "all" });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        "value: 5000 values: 0 ×1667 (from hit 1), 1 ×1667 (from hit 2), 2 ×1665 (from hit 3), undefined (hit 42)",
        "\n42 · undefined\n",
        "\n5000 · 1\n",
        "of 5000 passes shown, all counted above · exit code 0",
    ]);
}

#[test]
fn an_uncaught_error_is_told_with_its_place() {
    let mut debug = node::start(BIN);
    let text = "function check(n) {\n  if (n > 1) {\n    throw new RangeError('too much');\n  }\n  return n;\n}\nfor (let n = 0; n < 5; n++) check(n);\n";
    let (_folder, file) = program("main.js", text);
    let more = json!({ "file": file, "line": 5, "expressions": ["n"], "hits": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["2 of 3 · exit code 1 · uncaught RangeError: too much at main.js:3 in check"]);
}

#[test]
fn without_a_place_the_first_failure_is_told() {
    let mut debug = node::start(BIN);
    let text = "\
const { fork } = require('child_process');

function check(n, prices) {
  return prices[n].net;
}

if (process.argv[2] === undefined) {
  for (const part of ['north', 'south']) fork(__filename, [part]);
} else {
  const prices = Array.from({ length: 4 }, (_, n) => ({ net: n }));
  const last = process.argv[2] === 'south' ? 9 : 3;
  check(last, prices);
}
";
    let (_folder, file) = program("main.js", text);
    let said = probe(&mut debug, &file, json!({ "expressions": ["n", "prices.length"] }));
    assert_eq!(
        said.text,
        "TypeError: Cannot read properties of undefined (reading 'net')\n\
         at main.js:4 in check · main.js south\n\
         n = 9 · prices.length = 4\nexit code 0"
    );
    let (_folder, file) = program("fine.js", "try { null.x } catch {}\nconsole.log('fine')\n");
    let said = probe(&mut debug, &file, json!({}));
    assert_eq!(said.text, "no uncaught exception · exit code 0");
    debug.nothing_is_left();
}

/// `index < limit) { … RangeError(` reads like a function with type parameters, and is none.
#[test]
fn a_line_that_is_no_head_stays_where_it_is() {
    let mut debug = node::start(BIN);
    let text = "\
function take(index, limit) {
  let obj = '{\"a\": 1}';
  if (index >= 0 && index < limit) {
    obj = [];
    obj[index] = 1;
  } else if (limit < 0) {
    throw new RangeError('no');
  }
  return obj;
}
for (const index of [1, 9, 2]) take(index, 5);
";
    let (_folder, file) = program("main.js", text);
    let at = ["main.js:4", "main.js:9"];
    let more = json!({ "at": at, "hits": "all", "expressions": ["index", "JSON.stringify(obj)"] });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        " · index · JSON.stringify(obj)\n1 · 4 · 1 · ",
        "\n3 · 9 · 9 · ",
        "\n4 · 4 · 2 · ",
        "4: 2, 9: 3 · exit code 0",
    ]);
    let more = json!({ "at": "main.js:4", "expressions": ["obj"] });
    probe(&mut debug, &file, more).has(&["main.js:4 in take · obj = '{\"a\": 1}'\n"]);
}

#[test]
fn a_condition_that_fails_is_told() {
    let mut debug = node::start(BIN);
    let (_folder, file) = program("main.js", LOOP);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at main.js:3: ReferenceError", "hint:"]);
    let more = json!({ "file": file, "line": 3, "condition": "n >" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `n >`", "SyntaxError"]);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1", "expressions": ["n"], "hits": "all" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at main.js:3: ReferenceError"]);
    debug.nothing_is_left();
}

#[test]
fn a_line_that_is_never_reached_says_what_ran() {
    let mut debug = node::start(BIN);
    let text = "\
function never(x) {
  return x;
}
function sign(n) {
  if (n > 100) {
    const big = true;
    return big;
  }
  const small = false;
  return small;
}
function main() {
  for (let n = 0; n < 3; n++) sign(n);
}
main();
process.exit(4);
";
    let (_folder, file) = program("main.js", text);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 6 }));
    said.has(&["Line 6 of main.js was never reached: of `sign` ran lines ", "5, 9–10"]);
    assert_eq!(last_line(&said), "0 of 1 · exit code 4");
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 2, "hits": "all" }));
    said.has(&["`never` was not called; of main.js were called: sign, main"]);
    let said = probe(&mut debug, &file, json!({ "file": file, "line": 10, "condition": "n > 5" }));
    said.has(&[
        "was never reached with `n > 5` true: the line was passed, the condition never held",
    ]);
    let said = probe(&mut debug, &file, json!({ "function": "sing" }));
    said.has(&["`sing` was never called: no function `sing`", "near: sign"]);
}

#[test]
fn a_test_runs_by_its_name_and_its_verdict_is_a_line() {
    let mut debug = node::start(BIN);
    let text = "\
const test = require('node:test');
const assert = require('node:assert');
const { total } = require('./cart.js');
test('other', () => { total([9]); });
test('adds up (1+1)', () => {
  assert.strictEqual(total([1, 2]), 4);
});
";
    let (folder, _) = program("cart.test.js", text);
    let root = folder.path().canonicalize().unwrap();
    let cart = "exports.total = items => {\n  let sum = 0;\n  for (const it of items) {\n    sum += it;\n  }\n  return sum;\n};\n";
    std::fs::write(root.join("cart.js"), cart).unwrap();
    std::fs::write(root.join("package.json"), "{}").unwrap();
    let run = json!({
        "test": "cart.test.js::adds up (1+1)", "cwd": root,
        "file": "cart.js", "line": 4, "expressions": ["sum", "it"], "hits": "all",
    });
    let said = debug.ok("debug_probe", run);
    said.has(&[
        " · sum · it\n1 · 0 · 1\n2 · 1 · 2\n",
        "2 passes · 1 failed: adds up (1+1) (cart.test.js:6) Expected values to be strictly equal:",
    ]);
    let call = said.text.split("all: debug_output ").nth(1).unwrap().lines().next().unwrap();
    debug.ok("debug_output", serde_json::from_str(call).unwrap()).has(&["3 !== 4"]);
    let run =
        json!({ "test": root.join("cart.test.js"), "function": "total", "expressions": ["items"] });
    let said = debug.ok("debug_probe", run);
    said.has(&["cart.js:2 in ", "items = ", "first hit · ended here"]);
}

#[test]
fn a_probe_that_takes_too_long_tells_what_it_saw_and_what_ran() {
    let mut debug = node::start(BIN);
    let text = "let n = 0;\nfunction tick() {\n  n += 1;\n}\nfunction never() {\n  n = 0;\n}\nsetInterval(tick, 10);\n";
    let (_folder, file) = program("main.js", text);
    let more =
        json!({ "file": file, "line": 3, "expressions": ["n"], "hits": "all", "timeout_s": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["\n1 · 0\n", "· still ran after 3 s and was ended; `timeout_s` gives it longer"]);
    debug.nothing_is_left();
}
