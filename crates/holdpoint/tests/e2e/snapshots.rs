//! Snapshots and what changed between them, on real Python and Node programs.

use std::path::PathBuf;

use holdpoint_testkit::debug::{self, Debug, Said, line};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const PYTHON: &str = "\
class Order:
    def __init__(self):
        self.items = [1, 2]
        self.note = None


def add(order, by):
    before = by
    order.items.append(by)  # BP: append
    order.note = {'last': by, 'a b': 1}
    del before
    return order  # BP: return


order = Order()
rounds = 0
for by in (7, 9):
    rounds += 1
    add(order, by)
print('done')  # BP: done
";

const NODE: &str = "\
class Order {
  constructor() {
    this.items = [1, 2];
    this.note = null;
  }
}

function add(order, by) {
  const before = by;
  order.items.push(by); // BP: append
  order.note = { last: by, 'a b': 1 };
  return order; // BP: return
}

const order = new Order();
let rounds = 0;
for (const by of [7, 9]) {
  rounds += 1;
  add(order, by);
}
console.log('done'); // BP: done
";

struct Stage {
    debug: Debug,
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl Stage {
    /// Stands at the first of these marks.
    fn new(node: bool, marks: &[&str]) -> Stage {
        let mut debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = if node { ("program.js", NODE) } else { ("program.py", PYTHON) };
        let program = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&program, text).unwrap();
        let points: Vec<Value> = marks
            .iter()
            .map(|mark| json!({ "file": program, "line": line(&program, mark) }))
            .collect();
        let more = json!({ "stop_on_entry": false, "breakpoints": points });
        let mut arguments = match node {
            true => json!({ "program": program }),
            false => debug.with_program(&program, json!({})),
        };
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        debug.ok("debug_launch", arguments).stands("breakpoint", line(&program, marks[0]));
        Stage { debug, program, _folder: folder }
    }

    #[track_caller]
    fn snapshot(&mut self, label: &str) -> Said {
        self.debug.ok("debug_snapshot", json!({ "label": label }))
    }

    #[track_caller]
    fn diff(&mut self, arguments: Value) -> Said {
        self.debug.ok("debug_diff", arguments)
    }
}

/// The paths of one list, of the innermost frame.
fn paths(said: &Said, list: &str) -> Vec<String> {
    let rows = said.data[list].as_array().unwrap().iter();
    rows.filter(|row| row["frame"] == Value::Null)
        .map(|row| row["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn added_removed_and_changed_paths_between_two_snapshots() {
    for node in [false, true] {
        let mut stage = Stage::new(node, &["append", "return"]);
        stage.snapshot("before").has(&["snap1 `before` (s1, add at program.", "values, depth 2"]);
        stage.debug.go().stands("breakpoint", line(&stage.program, "return"));
        stage.snapshot("after");
        let said = stage.diff(json!({ "a": "before", "b": "after" }));
        assert_eq!(paths(&said, "added"), ["order.items[2]"]);
        said.has(&["snap1 `before`", "→ snap2 `after`", "+ order.items[2]"]);
        // The note had no parts before: it is one change, not two additions.
        assert!(paths(&said, "changed").contains(&"order.note".to_owned()), "{}", said.text);
        let empty = if node { "null" } else { "None" };
        said.has(&["order.note: ", empty]);
        let removed: &[&str] = if node { &[] } else { &["before"] };
        assert_eq!(paths(&said, "removed"), removed);
        let below = stage.diff(json!({ "a": "snap1", "b": "snap2", "path": "order.items" }));
        assert_eq!(paths(&below, "added"), ["order.items[2]"]);
        assert!(paths(&below, "changed").is_empty(), "{}", below.text);
        let same = stage.diff(json!({ "a": "after", "b": "now" }));
        same.has(&["no differences in"]);
    }
}

#[test]
fn between_stops_without_asking_before() {
    for node in [false, true] {
        let mut stage = Stage::new(node, &["append", "done"]);
        stage.debug.fails("debug_diff", json!({})).has(&["E_NOT_FOUND", "debug_snapshot"]);
        let first = stage.debug.ok("debug_wait", json!({})).data["seq"].clone();
        let second = stage.debug.go().data["seq"].clone();
        let said = stage.diff(json!({}));
        let changed = paths(&said, "changed");
        assert!(changed.contains(&"by".to_owned()), "{}", said.text);
        said.has(&["stop ", "→ now", "by: 7 → 9"]);
        stage.debug.go().stands("breakpoint", line(&stage.program, "done"));
        // Both are past: by their numbers, as numbers or as text.
        let said = stage.diff(json!({ "a": first, "b": second.to_string() }));
        assert!(paths(&said, "changed").contains(&"by".to_owned()), "{}", said.text);
        // The function has returned; its caller stands.
        stage.diff(json!({})).has(&["left: add"]);
    }
}

#[test]
fn what_stands_is_looked_at_as_deep_as_the_other_side() {
    for node in [false, true] {
        let mut stage = Stage::new(node, &["append"]);
        stage.snapshot("before");
        stage.debug.go();
        let said = stage.diff(json!({ "a": "before" }));
        assert_eq!(paths(&said, "added"), ["order.items[2]"], "{}", said.text);
        assert!(paths(&said, "changed").contains(&"order.note".to_owned()), "{}", said.text);
        said.has(&["by: 7 → 9", "rounds: 1 → 2"]);
    }
}

#[test]
fn what_cannot_be_compared_says_what_can() {
    let mut stage = Stage::new(true, &["append", "done"]);
    stage.snapshot("before");
    let said = stage.debug.fails("debug_diff", json!({ "a": "first" }));
    said.has(&["[E_NOT_FOUND] no snapshot `first`", "snapshots: `before`", "stops by seq: "]);
    stage.debug.fails("debug_diff", json!({ "a": 999 })).has(&["no stop with seq 999"]);
    stage.debug.fails("debug_diff", json!({ "a": [1] })).has(&["E_INVALID_PARAMS"]);
    let deep = stage.debug.fails("debug_snapshot", json!({ "depth": 9 }));
    deep.has(&["[E_INVALID_PARAMS]", "`depth` is from 0 to 5"]);
    stage.debug.fails("debug_snapshot", json!({ "label": "now" })).has(&["means something else"]);
    stage.debug.ok("debug_stop", json!({}));
    stage.debug.fails("debug_snapshot", json!({})).has(&["E_SESSION_ENDED"]);
    // What was kept outlives the program.
    stage.debug.fails("debug_diff", json!({ "a": "before" })).has(&["E_SESSION_ENDED"]);
    stage.diff(json!({ "a": "before", "b": "before" })).has(&["no differences"]);
}

#[test]
fn a_large_program_is_kept_within_bounds() {
    let mut debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
    let text = "\
rows = [{'n': n, 'parts': list(range(50))} for n in range(2000)]
loop = []
loop.append(loop)
print('first')  # BP: first
rows[3]['n'] = 'changed'
loop.append(1)
print('second')  # BP: second
";
    let (_folder, program) = debug::program(text);
    let at = |mark| json!({ "file": program, "line": line(&program, mark) });
    let more = json!({ "stop_on_entry": false, "breakpoints": [at("first"), at("second")] });
    debug.launch(&program, more).stands("breakpoint", line(&program, "first"));
    let said = debug.ok("debug_snapshot", json!({ "label": "before", "depth": 5 }));
    said.has(&["not everything: too many values"]);
    assert!(said.data["values"].as_u64().unwrap() <= 1_000);
    debug.go();
    let said = debug.ok("debug_diff", json!({ "a": "before" }));
    said.has(&["~ rows[3]['n']: int 3 → str 'changed'", "+ loop[1]: int = 1"]);
    // What the bound left out on one side is not told as gone or new.
    assert!(paths(&said, "removed").is_empty(), "{}", said.text);
    assert!(paths(&said, "added").iter().all(|path| path.starts_with("loop")), "{}", said.text);
}
