//! `debug_probe` on Python: one call from a question about a run to its answer.

use std::path::Path;

use holdpoint_testkit::debug::{Debug, Said, program, python};
use serde_json::{Value, json};

pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
pub(crate) const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

pub(crate) fn start() -> Debug {
    python(BIN, FOLDER).start()
}

pub(crate) fn probe(debug: &mut Debug, file: &Path, more: Value) -> Said {
    debug.ok("debug_probe", debug.with_program(file, more))
}

#[track_caller]
pub(crate) fn last_line(said: &Said) -> &str {
    said.text.lines().next_back().unwrap_or_default()
}

/// A loop over numbers, in a function that another calls.
pub(crate) const LOOP: &str = "\
def work(n):
    half = n / 2
    return half  # BP: half


def run(count):
    total = 0
    for n in range(count):
        kind = 'odd' if n % 2 else 'even'
        total += work(n)
    return total


print('total', run(6))
";

#[test]
fn the_hits_that_were_asked_for_are_all_told_a_line_each() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    for asked in [4_u64, 5, 6] {
        let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": asked });
        let said = probe(&mut debug, &file, more);
        said.has(&["program.py:3 in work · n · half\n1 · 0 · 0.0\n2 · 1 · 0.5\n"]);
        for number in 2..=asked {
            said.has(&[&format!("\n{number} · {} · ", number - 1)]);
        }
        let word = format!("{asked} of {asked} · ended here");
        assert_eq!(last_line(&said), word);
        assert_eq!(said.data["hits"].as_array().unwrap().len() as u64, asked);
        // The names once, and nothing that nobody asked for.
        assert_eq!(said.text.matches("half").count(), 1, "{}", said.text);
        assert_eq!(said.text.lines().count() as u64, asked + 2, "{}", said.text);
    }
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
    debug.nothing_is_left();
}

#[test]
fn fewer_hits_than_asked_for_are_told_with_the_end() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n"], "hits": 9 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(last_line(&said), "6 of 9 · exit code 0");
    assert!(!said.text.contains("total 7.5"), "{}", said.text);
}

#[test]
fn a_hit_is_the_nth_pass_alone() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "run: total"], "hit": 5 });
    let said = probe(&mut debug, &file, more);
    assert_eq!(
        said.text,
        "hit 5 · program.py:3 in work · n = 4 · run: total = 3.0\n1 of 1 · ended here"
    );
    // Counted where the condition holds.
    let more =
        json!({ "file": file, "line": 3, "expressions": ["n"], "hit": 2, "condition": "n % 2" });
    probe(&mut debug, &file, more).has(&["hit 2 ·", "n = 3\n"]);
    let more = json!({ "file": file, "line": 3, "hit": 50 });
    let said = probe(&mut debug, &file, more);
    said.has(&["program.py:3 was passed 6 times, not 50 times"]);
    assert_eq!(last_line(&said), "0 of 1 · exit code 0");
    said.has(&["output: total 7.5"]);
    let more = json!({ "file": file, "line": 3, "hit": 4, "condition": "n > 3" });
    probe(&mut debug, &file, more).has(&["was passed 2 times with `n > 3` true, not 4 times"]);
}

#[test]
fn without_expressions_the_locals_are_told_and_then_what_changed() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 10, "hits": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["  count: int = 6\n", "  total: int = 0\n"]);
    said.has(&["hit 2 · kind = 'odd' · n = 1 · total = 0.0\n", "hit 3 · kind = 'even' · n = 2"]);
    assert!(!said.text.contains("hit 2 · count"), "{}", said.text);
}

#[test]
fn identical_hits_are_one_line() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n > 3"], "hits": 6 });
    let said = probe(&mut debug, &file, more);
    said.has(&["program.py:3 in work · n > 3\n1–4 · False (×4)\n5–6 · True (×2)\n"]);
}

#[test]
fn places_are_found_by_text_and_function_and_all_in_one_run() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let at = json!([
        { "file": "program.py", "match": "total += work(n)", "expressions": ["n"], "hits": "2" },
        { "function": "work", "condition": "n > 2", "expressions": ["n * 10"] },
    ]);
    let said = probe(&mut debug, &file, json!({ "at": at }));
    said.has(&[
        "hit 1 · program.py:10 in run · n = 0\nhit 2 · program.py:10 · n = 1\n",
        "hit 1 · program.py:2 in work · n * 10 = 30\n← run\n3 of 3 · ended here",
    ]);
    let said = debug.fails(
        "debug_probe",
        debug.with_program(&file, json!({ "at": { "file": "program.py", "match": "total" } })),
    );
    said.has(&["4 lines of", "7: total = 0; 10: total += work(n)", "hint: pass `line`"]);
    let more = json!({ "file": "program.py", "match": "totl = 0" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["no line of", "has `totl = 0`", "near: 7: total = 0"]);
}

#[test]
fn a_def_line_means_the_body_and_says_so() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 6, "expressions": ["count"] });
    let said = probe(&mut debug, &file, more);
    said.has(&[
        "program.py:7 in run (line 6 is the head of run: first line of its body) · count = 6",
    ]);
    let (_folder, file) = program("def one(x): return x + 1\n\nprint(one(4))\n");
    let more = json!({ "file": file, "line": 1, "expressions": ["x"] });
    probe(&mut debug, &file, more).has(&["in one (line 1 is the whole of one", "x = 4"]);
}

#[test]
fn the_end_of_a_path_names_a_file() {
    let mut debug = start();
    let (folder, file) = program("from deep.inner import one\nprint(one(4))\n");
    let deep = folder.path().join("deep");
    std::fs::create_dir(&deep).unwrap();
    std::fs::write(deep.join("inner.py"), "def one(x):\n    return x + 1\n").unwrap();
    let more = json!({ "at": "inner.py:2", "expressions": ["x"] });
    probe(&mut debug, &file, more.clone()).has(&["inner.py:2 in one · x = 4"]);
    std::fs::create_dir(deep.join("more")).unwrap();
    std::fs::write(deep.join("more/inner.py"), "x = 1\n").unwrap();
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["2 files are `inner.py`", "hint: which: deep/inner.py, deep/more/inner.py"]);
}

#[test]
fn a_condition_that_fails_is_told() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at program.py:3: NameError", "hint:"]);
    let more = json!({ "file": file, "line": 3, "condition": "n >" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `n >` does not parse", "hint: at program.py:3"]);
    assert!(!said.text.contains("breakpoint"), "{}", said.text);
    let more = json!({ "file": file, "line": 3, "condition": "nope > 1", "expressions": ["n"], "hits": "all" });
    let said = debug.fails("debug_probe", debug.with_program(&file, more));
    said.has(&["the condition `nope > 1` failed at program.py:3: NameError"]);
    let more = json!({ "file": file, "line": 3, "condition": "1 / n", "expressions": ["n"], "hits": "all" });
    probe(&mut debug, &file, more).has(&["\n1 · ZeroDivisionError in the condition\n2 · 1\n"]);
    debug.nothing_is_left();
}

#[test]
fn a_small_budget_leaves_out_hits_and_says_so() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": 6, "budget_tokens": 45 });
    let said = probe(&mut debug, &file, more);
    let last = last_line(&said);
    assert!(last.starts_with("6 of 6 · ended here · "), "{last}");
    assert!(last.contains("hits left out here: `budget_tokens: "), "{last}");
    let needed: u64 =
        last.split("budget_tokens: ").nth(1).unwrap().split('`').next().unwrap().parse().unwrap();
    let more = json!({ "file": file, "line": 3, "expressions": ["n", "half"], "hits": 6, "budget_tokens": needed });
    probe(&mut debug, &file, more).has(&["\n6 · 5 · 2.5"]);
}

#[test]
fn output_of_probes_is_kept_for_a_while_and_no_longer() {
    let mut debug = start();
    let (_folder, file) = program("for n in range(30):\n    print('line', n)\nprint('end')\n");
    let mut calls = Vec::new();
    for _ in 0..6 {
        let said = probe(&mut debug, &file, json!({ "file": file, "line": 3, "hit": 2 }));
        said.has(&["output: 31 lines, the last: end · all: debug_output"]);
        calls.push(json!({ "session_id": said.data["session_id"], "find": "line 29" }));
    }
    debug.ok("debug_output", calls[5].clone()).has(&["line 29"]);
    debug.ok("debug_output", calls[2].clone()).has(&["line 29"]);
    debug.fails("debug_output", calls[1].clone()).has(&["no session"]);
    debug.ok("debug_status", json!({})).has(&["no sessions"]);
}

#[test]
fn a_probe_that_takes_too_long_tells_what_it_saw() {
    let mut debug = start();
    let (_folder, file) =
        program("import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.01)\n");
    let more =
        json!({ "file": file, "line": 5, "expressions": ["n"], "hits": "all", "timeout_s": 3 });
    let said = probe(&mut debug, &file, more);
    said.has(&["\n1 · 1\n", "· still ran after 3 s and was ended; `timeout_s` gives it longer"]);
    debug.nothing_is_left();
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_anything_runs() {
    let mut debug = start();
    let (_folder, file) = program(LOOP);
    let refused = [
        (json!({ "hits": 2 }), "no place is given"),
        (
            json!({ "file": file, "line": 3, "hit": 2, "hits": 3 }),
            "`hit` and `hits` are both given",
        ),
        (json!({ "file": file, "line": 3, "hits": "some" }), "a number from 1, or \"all\""),
        (json!({ "file": file, "line": 3, "hits": 5000 }), "1000 at the most"),
        (json!({ "file": file, "line": 300 }), "has 14 lines"),
        (json!({ "file": "nowhere.py", "line": 3 }), "is not a file"),
        (json!({ "at": [{ "file": file, "lin": 3 }] }), "unknown field `lin`"),
        (json!({ "file": file, "line": 3, "test": file }), "exactly one of"),
    ];
    for (more, wanted) in refused {
        let said = debug.fails("debug_probe", debug.with_program(&file, more));
        said.has(&["[E_", wanted]);
    }
}
