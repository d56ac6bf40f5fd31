//! A run is recorded once and then asked: through MCP with real programs, and from a shell.

use std::{path::Path, process::Command};

use holdpoint_testkit::debug::{Debug, python};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

const CART: &str = "\
RATES = {'std': 0.5, 'gold': 0.25}


def rate(tier):
    key = tier.strip()
    try:
        return RATES[key]
    except KeyError:
        missing = None
        return missing


def total(tiers):
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

fn recorded(debug: &mut Debug, folder: &Path, more: serde_json::Value) -> String {
    let python = python(BIN, FOLDER);
    let path = format!("{}:{}", python.pytest().display(), folder.display());
    let mut arguments = json!({
        "test": "test_cart.py::test_total", "cwd": folder, "env": { "PYTHONPATH": path },
        "interpreter": python.path, "timeout_s": 100,
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("record_run", arguments).text
}

#[test]
fn a_failing_test_is_recorded_and_asked() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = project();
    let text = recorded(&mut debug, folder.path(), json!({ "focus": ["rate", "total"] }));
    for wanted in ["r1  test_cart.py::test_total   FAILED", "KeyError", "swallowed 1", "cart.py:8"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(text.contains("odd     rate: None once in 5 calls"), "{text}");
    let said = debug.ok("record_calls", json!({ "function": "rate", "where": "result is None" }));
    said.has(&[
        "5 calls of rate, 1 with result is None",
        "rate(tier='VIP') → None",
        "swallowed KeyError",
    ]);
    let said = debug.ok("record_frame", json!({ "function": "rate", "where": "result is None" }));
    said.has(&["key = tier.strip()", "key='VIP'", "KeyError", "→ None"]);
    let said = debug.ok("record_history", json!({ "name": "result", "in": "total" }));
    said.has(&["result: ", "0.5 → 0.75"]);
    let said = debug.fails("record_calls", json!({ "where": "reslt is None" }));
    said.has(&["E_INVALID_PARAMS", "did you mean `result`?"]);
    let said = debug.fails("record_frame", json!({ "call": "#99999" }));
    said.has(&["E_NOT_FOUND"]);
    debug.nothing_is_left();
}

#[test]
fn a_passing_and_a_failing_run_part_where_the_bug_is() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = project();
    recorded(&mut debug, folder.path(), json!({ "focus": ["rate", "total"] }));
    let mended = CART.replace("tier.strip()", "tier.strip().lower().replace('vip', 'std')");
    std::fs::write(folder.path().join("cart.py"), mended).unwrap();
    let text = recorded(&mut debug, folder.path(), json!({ "focus": ["rate", "total"] }));
    assert!(text.contains("passed"), "{text}");
    let said = debug.ok("record_diff", json!({ "a": "r1", "b": "r2" }));
    said.has(&[
        "r1 (FAILED) against r2 (passed)",
        "first difference  rate(tier='VIP')",
        "→ None / → 0.5",
    ]);
    let said = debug.ok("record_diff", json!({ "a": "r1", "b": "r1" }));
    said.has(&["no difference"]);
}

/// A program without an end is read while it runs, and ended; a second run says whether it went as the first.
#[test]
fn what_does_not_end_is_ended_and_what_runs_again_is_compared() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = project();
    let file = folder.path().join("endless.py");
    let program = "import cart, time\nwhile True:\n    cart.total(['VIP'])\n    time.sleep(0.01)\n";
    std::fs::write(&file, program).unwrap();
    let python = python(BIN, FOLDER);
    let run = json!({ "program": file, "interpreter": python.path, "timeout_s": 3 });
    let said = debug.ok("record_run", run);
    said.has(&["r1  endless.py", "it still runs; record_run {\"stop\": \"r1\"} ends it"]);
    // The only one that runs need not be named by its number.
    let said = debug.ok("record_run", json!({ "stop": "last" }));
    said.has(&["r1  endless.py   stopped in "]);
    assert!(!said.text.contains("signal"), "{}", said.text);
    let said = debug.fails("record_run", json!({ "stop": "r1" }));
    said.has(&["E_NOT_FOUND", "r1 has ended"]);
    debug.nothing_is_left();
    recorded(&mut debug, folder.path(), json!({}));
    let said =
        debug.ok("record_run", json!({ "again": "last", "focus": ["rate"], "timeout_s": 100 }));
    said.has(&["r3  test_cart.py::test_total", "again   the same calls as r2"]);
    std::fs::write(folder.path().join("cart.py"), CART.replace("'gold': 0.25", "'gold': 0.5"))
        .unwrap();
    let said = debug.ok("record_run", json!({ "again": "r2", "timeout_s": 100 }));
    said.has(&["again   not the same run as r2: they part at rate #", "record_diff"]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "commit.gpgsign=false"];
    let output =
        Command::new("git").args(who).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The last commit passed; what is in the tree now fails. The second side is run in a checkout of that commit, which
/// leaves the tree and git as they were. No hook runs, and a project that is on the path is taken from the checkout.
#[test]
fn the_second_side_is_run_at_a_commit_or_with_something_else() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = project();
    let good = CART.replace("tier.strip()", "tier.strip().lower().replace('vip', 'std')");
    let good = good.replace("key = ", "import os\n    key = os.environ.get('TIER') or ");
    std::fs::write(folder.path().join("cart.py"), &good).unwrap();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "good"]);
    let commit = git(folder.path(), &["rev-parse", "--short=8", "HEAD"]);
    let hook = folder.path().join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\ntouch hooked\n").unwrap();
    std::os::unix::fs::symlink("/bin/true", folder.path().join("unknown")).unwrap();
    std::fs::write(folder.path().join("cart.py"), good.replace(".lower()", "")).unwrap();
    let before = git(folder.path(), &["status", "--porcelain"]);
    let text = recorded(&mut debug, folder.path(), json!({ "focus": ["rate", "total"] }));
    assert!(text.contains("FAILED"), "{text}");
    let said = debug.ok("record_diff", json!({ "change": { "commit": "HEAD" }, "timeout_s": 100 }));
    said.has(&[
        &format!("r1 (FAILED) against r2 (passed, commit {commit})"),
        "first difference  rate(tier='VIP')",
        "→ None / → 0.5",
        "cart.py:6",
        ".strip().replace('vip', 'std')",
        ".strip().lower().replace('vip', 'std')",
    ]);
    assert_eq!(git(folder.path(), &["status", "--porcelain"]), before);
    assert_eq!(git(folder.path(), &["worktree", "list"]).lines().count(), 1);
    let said = debug.ok(
        "record_diff",
        json!({ "a": "r1", "change": { "env": { "TIER": "gold" } }, "timeout_s": 100 }),
    );
    said.has(&[
        "r1 (FAILED) against r3 (FAILED, TIER changed)",
        "first difference  rate(tier='std')",
    ]);
    let said =
        debug.fails("record_diff", json!({ "a": "r1", "change": { "commit": "--output=x" } }));
    said.has(&["E_NOT_FOUND", "git knows no commit", "git log --oneline"]);
    let said =
        debug.fails("record_diff", json!({ "a": "r1", "b": "r2", "change": { "commit": "HEAD" } }));
    said.has(&["E_INVALID_PARAMS"]);
    debug.nothing_is_left();
}

/// What a shell prints, and its exit code.
fn shell(home: &Path, folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(BIN);
    command.args(arguments).current_dir(folder).env("HOLDPOINT_HOME", home);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_shell_records_asks_and_hands_on() {
    let python = python(BIN, FOLDER);
    let (home, folder) = (tempfile::tempdir().unwrap(), project());
    let program = "import cart, sys\nprint(cart.total(['std', 'VIP']))\nsys.exit(3)\n";
    std::fs::write(folder.path().join("main.py"), program).unwrap();
    let ask = |arguments: &[&str]| shell(home.path(), folder.path(), arguments);
    let (code, stdout, stderr) = ask(&["record", "--", &python.path, "main.py"]);
    assert_eq!((code, stdout.as_str()), (Some(3), "0.5\n"), "{stderr}");
    assert!(stderr.contains("r1  ") && stderr.contains("swallowed 1"), "{stderr}");
    let (code, text, _) = ask(&["record", "calls", "--function", "rate", "--where", "swallowed"]);
    assert!(code == Some(0) && text.contains("rate(tier='VIP') → None"), "{text}");
    let (_, text, _) = ask(&["record", "list"]);
    assert!(text.starts_with("r1  "), "{text}");
    let (code, _, stderr) = ask(&["record", "export", "r1", "run.hpr"]);
    assert_eq!(code, Some(0), "{stderr}");
    // Another machine has nothing of it but the file.
    let other = tempfile::tempdir().unwrap();
    std::fs::rename(folder.path().join("cart.py"), folder.path().join("gone.py")).unwrap();
    let ask = |arguments: &[&str]| shell(other.path(), folder.path(), arguments);
    let (code, text, stderr) = ask(&["record", "import", "run.hpr"]);
    assert!(code == Some(0) && text.starts_with("r1  "), "{text}{stderr}");
    let (_, text, _) = ask(&["record", "frame", "#1"]);
    assert!(text.contains("main.py") || text.contains("cart"), "{text}");
    let (_, text, _) = ask(&["record", "show"]);
    assert!(text.contains("swallowed 1"), "{text}");
    let (code, _, _) = ask(&["record", "delete", "r1"]);
    assert_eq!(code, Some(0));
    let (code, _, stderr) = ask(&["record", "show"]);
    assert!(code == Some(1) && stderr.contains("no recording"), "{stderr}");
    std::fs::write(folder.path().join("bad.hpr"), b"HPRECD\0\x01nothing").unwrap();
    let (code, _, stderr) = ask(&["record", "import", "bad.hpr"]);
    assert!(code == Some(1) && stderr.contains("cannot be read"), "{stderr}");
}

#[test]
fn a_shell_records_a_script_of_another_folder_and_says_where_it_looked() {
    let python = python(BIN, FOLDER);
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let elsewhere = project();
    std::fs::write(elsewhere.path().join("main.py"), "import cart\ncart.total(['std'])\n").unwrap();
    let script = elsewhere.path().join("main.py");
    let script = script.to_str().unwrap();
    let ask = |arguments: &[&str]| shell(home.path(), folder.path(), arguments);
    let (code, _, stderr) = ask(&["record", "--", &python.path, script]);
    assert!(code == Some(0) && stderr.contains("\ncomplete"), "{stderr}");
    let (_, text, _) = ask(&["record", "calls", "--function", "total"]);
    assert!(text.contains("total("), "{text}");
    // What is asked for is all that is looked at; and nothing is not everything.
    let (code, _, stderr) = ask(&["record", "--scope", ".", "--", &python.path, script]);
    let (own, none) = (folder.path().display().to_string(), "kept    0 calls");
    assert!(
        code == Some(0) && stderr.contains(none) && stderr.contains("missing every call"),
        "{stderr}"
    );
    assert!(stderr.contains(&own) && !stderr.contains("complete"), "{stderr}");
}

#[test]
fn a_node_program_is_recorded_and_asked() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("package.json"), "{}").unwrap();
    let file = folder.path().join("main.js");
    let program = "\
function rate(tier) {
  const rates = { std: 0.5 };
  const found = rates[tier];
  return found;
}
let total = 0;
for (const tier of ['std', 'std', 'std', 'VIP', 'std']) {
  total += rate(tier);
}
if (Number.isNaN(total)) throw new Error('not a number');
";
    std::fs::write(&file, program).unwrap();
    let said = debug.ok("record_run", json!({ "program": file, "timeout_s": 100 }));
    said.has(&[
        "r1  main.js   FAILED with exit code 1 in ",
        "Error not a number",
        "\noutput  ",
        "rate: undefined once in 5 calls",
    ]);
    let said =
        debug.ok("record_calls", json!({ "function": "rate", "where": "result is undefined" }));
    said.has(&["5 calls of rate, 1 with result is undefined", "rate(tier='VIP')"]);
    let said =
        debug.ok("record_frame", json!({ "function": "rate", "where": "result is undefined" }));
    said.has(&["const found = rates[tier];", "found=undefined"]);
    // The head of its loop is visited once before the first pass, which is none of its own.
    let said = debug.ok("record_frame", json!({ "call": "#1" }));
    said.has(&["total += rate(tier);", "×5"]);
    assert!(!said.text.contains("pass 1 of"), "{}", said.text);
}

/// What a stranger stumbled over: an `else` that was left out, a file that named no function, an answer that led nowhere.
#[test]
fn a_failing_program_shows_its_output_and_the_way_to_a_line() {
    let mut debug = python(BIN, FOLDER).start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("main.py");
    let program = "\
def pick(shared):
    if shared:
        out = 1
    else:
        out = 2
    return out

async def one():
    return 1

async def main():
    return await one()

import asyncio
print('value', pick(False), asyncio.run(main()))
assert pick(True) == 2
";
    std::fs::write(&file, program).unwrap();
    let python = python(BIN, FOLDER);
    let run = json!({ "program": file, "interpreter": python.path, "timeout_s": 100 });
    let said = debug.ok("record_run", run);
    said.has(&[
        "r1  main.py   FAILED with exit code 1 in ",
        "\noutput  ",
        "answered by pick(shared=True)",
    ]);
    said.has(&["raised  1, swallowed 0"]);
    let said = debug.ok("record_frame", json!({ "function": "pick", "nth": 1 }));
    said.has(&["\n4   else:\n5       out = 2"]);
    let said = debug.ok("record_calls", json!({ "function": "main.py", "as": "count" }));
    said.has(&["2  pick"]);
    assert!(!said.text.contains("next    record_calls {}"), "{}", said.text);
    let said = debug.ok("record_calls", json!({ "where": "file == 'main.py'", "order": "ended" }));
    said.has(&["as they ended"]);
}
