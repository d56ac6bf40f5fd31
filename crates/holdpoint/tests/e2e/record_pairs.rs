//! Twenty pairs of runs with one thing planted, which `record_diff` finds first, and twenty of equal runs, in which it
//! finds nothing: in each pair clocks, uuids, addresses, hash seeds and who comes first are others.

use std::path::{Path, PathBuf};

use holdpoint_testkit::debug::{Debug, monitoring_pythons, python};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

/// The first difference that `PLANT=1` makes, `PLANT=2`, …; both programs have the same.
const PLANTS: [&str; 10] = [
    "rate(tier='vip')",
    "audit(step=7)",
    "audit(step=6)",
    "charge(amount=5)",
    "parse(text='7')",
    "left(n=4)",
    "compute(n=23)",
    "fetch",
    "add(total=3, n=3)",
    "show(ticket.state='closed' / 'open')",
];

const EQUAL: usize = 10;

struct Pairs {
    debug: Debug,
    launch: Value,
    last: String,
    _folder: tempfile::TempDir,
}

impl Pairs {
    fn new(program: &str, interpreter: Option<&Path>) -> Pairs {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join(Path::new(program).file_name().unwrap());
        std::fs::copy(Path::new(FIXTURES).join(program), &to).unwrap();
        std::fs::write(folder.path().join("package.json"), "{}").unwrap();
        let mut launch = json!({ "program": to, "timeout_s": 100 });
        if let Some(interpreter) = interpreter {
            launch["interpreter"] = json!(interpreter);
        }
        let mut debug = python(BIN, FOLDER).start();
        let last = first_word(&debug.ok("record_run", launch.clone()).text);
        Pairs { debug, launch, last, _folder: folder }
    }

    /// Runs it once more, and compares with the run before.
    fn against_the_last(&mut self) -> String {
        let run = first_word(&self.debug.ok("record_run", self.launch.clone()).text);
        let said = self.debug.ok("record_diff", json!({ "a": self.last, "b": run }));
        self.last = run;
        said.text
    }

    fn planted(&mut self, number: usize) -> String {
        let change = json!({ "env": { "PLANT": number.to_string() } });
        let ask = json!({ "a": self.last, "change": change, "timeout_s": 100 });
        self.debug.ok("record_diff", ask).text
    }

    fn check_equal(&mut self, count: usize) {
        for number in 0..count {
            let said = self.against_the_last();
            assert!(said.contains(": no difference in "), "pair {number}: {said}");
        }
    }

    fn check_planted(&mut self) {
        for (at, wanted) in PLANTS.iter().enumerate() {
            let said = self.planted(at + 1);
            let first = said.lines().find_map(|it| it.strip_prefix("first difference  "));
            assert!(first.is_some_and(|it| it.starts_with(wanted)), "PLANT={}: {said}", at + 1);
        }
    }
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

#[test]
fn python_runs_part_where_something_was_planted_and_nowhere_else() {
    let newest = monitoring_pythons().pop().map(PathBuf::from);
    let mut pairs = Pairs::new("python/pairs.py", newest.as_deref());
    pairs.check_equal(EQUAL);
    pairs.check_planted();
    pairs.debug.nothing_is_left();
}

/// Calls alone, where the lines are not to be had.
#[test]
fn python_runs_are_compared_by_their_calls_too() {
    let own = PathBuf::from(&python(BIN, FOLDER).path);
    let mut pairs = Pairs::new("python/pairs.py", Some(&own));
    pairs.check_equal(3);
    pairs.check_planted();
}

#[test]
fn node_runs_part_where_something_was_planted_and_nowhere_else() {
    let mut pairs = Pairs::new("node/pairs.cjs", None);
    pairs.check_equal(EQUAL);
    pairs.check_planted();
    pairs.debug.nothing_is_left();
}
