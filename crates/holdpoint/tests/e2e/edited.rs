//! Source edited while a program runs it: the ordinary way of an agent.

use std::path::PathBuf;

use holdpoint_testkit::{
    debug::{Debug, python},
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// A program in two files, and which lines of them matter.
struct Program {
    folder: tempfile::TempDir,
    main: &'static str,
    part: &'static str,
}

impl Program {
    fn new(files: [(&'static str, &str); 2]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let [(main, _), (part, _)] = files;
        Program { folder, main, part }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Puts lines before the first.
    fn prepend(&self, name: &str, lines: &str) {
        let file = self.file(name);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{lines}{text}")).unwrap();
    }
}

fn python_program() -> Program {
    let main = "\
import shop

def work(n):
    total = n + 1
    return total * 2

for i in range(5):
    work(i)
    shop.sell(i)
";
    let part = "\
def sell(n):
    price = n * 10
    return price
";
    Program::new([("main.py", main), ("shop.py", part)])
}

fn node_program() -> Program {
    let main = "\
const shop = require('./shop.js');

function work(n) {
  const total = n + 1;
  return total * 2;
}
for (let i = 0; i < 5; i++) {
  work(i);
  shop.sell(i);
}
";
    let part = "\
exports.sell = function sell(n) {
  const price = n * 10;
  return price;
};
";
    Program::new([("main.js", main), ("shop.js", part)])
}

/// Both languages do the same at the same lines: 4 and 5 of the program, 2 and 3 of its part.
fn what_runs_is_shown(debug: &mut Debug, program: &Program, comment: &str) {
    let (main, part) = (program.file(program.main), program.file(program.part));
    let line = |line: u32| json!({ "file": main, "line": line });
    let stop_at = json!({ "breakpoints": [line(4)], "stop_on_entry": false });
    debug.launch(&main, stop_at).stands("breakpoint", 4);

    let two = format!("{comment} one\n{comment} two\n");
    program.prepend(program.main, &two);
    program.prepend(program.part, &two);
    // The stop is where it was, in the text that runs.
    let at = debug.go();
    at.stands("breakpoint", 4).has(&[">>>    4 |", "total = n + 1", "line 4 is line 6 there now"]);
    assert!(!at.text.contains("one"), "{}", at.text);
    debug.ok("debug_source", json!({})).has(&[">>>    4 |", "total = n + 1", "debug_restart"]);
    debug.ok("debug_stack", json!({})).has(&["changed on disk since it was loaded"]);

    // A breakpoint by the new numbers is set in the code that they mean.
    let set = debug.ok("breakpoint_set", line(7));
    set.has(&[":7 (verified)", "in the text that runs this is line 5", "return total * 2"]);
    assert_eq!(set.data["state"], "bound", "{}", set.text);
    debug.go().stands("breakpoint", 5).has(&["return total * 2", "line 5 is line 7 there now"]);
    debug.ok("breakpoint_list", json!({})).has(&["in the text that runs this is line 5"]);
    // So is one in a file that nobody has looked at; and those that were there stay where they are.
    let set = debug.ok("breakpoint_set", json!({ "file": part, "line": 5 }));
    set.has(&["(verified)", "this is line 3", "return price"]);
    debug.go().stands("breakpoint", 3).has(&["return price"]);
    debug.go().stands("breakpoint", 4).has(&["total = n + 1"]);

    // New code does not run.
    let text = std::fs::read_to_string(&main).unwrap().replace("total * 2", "total * 3");
    std::fs::write(&main, text).unwrap();
    let new = debug.ok("breakpoint_set", line(7));
    new.has(&["pending", "line 7 is new", "debug_restart"]);
    assert_eq!(new.data["state"], "pending", "{}", new.text);
    debug.fails("debug_continue", json!({ "to_line": 7 })).has(&["is new", "debug_restart"]);
    // The other one is where it was, by its own numbers.
    debug.go().stands("breakpoint", 3);
    // The next run has the new text, and breakpoints are where their code went.
    let at = debug.ok("debug_restart", json!({}));
    at.stands("breakpoint", 6).has(&[
        "total = n + 1",
        "moved with the code",
        "breakpoint 1 from line 4",
    ]);
    assert!(!at.text.contains("changed on disk"), "{}", at.text);
    debug.go().stands("breakpoint", 7).has(&["total * 3"]);
    debug.ok("debug_stop", json!({}));
}

#[test]
fn python_shows_what_runs() {
    let mut debug = python(BIN, TARGET).start();
    what_runs_is_shown(&mut debug, &python_program(), "#");
}

#[test]
fn node_shows_what_runs() {
    let mut debug = node::start(BIN);
    what_runs_is_shown(&mut debug, &node_program(), "//");
}

/// No text is said to be changed that is what runs.
fn written_anew(debug: &mut Debug, program: &Program) {
    let (main, part) = (program.file(program.main), program.file(program.part));
    let at = json!([{ "file": main, "line": 4 }]);
    debug.launch(&main, json!({ "breakpoints": at, "stop_on_entry": false }));
    for file in [&main, &part] {
        let text = std::fs::read(file).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let at = debug.go();
    at.stands("breakpoint", 4);
    assert!(!at.text.contains("on disk"), "{}", at.text);
    let set = debug.ok("breakpoint_set", json!({ "file": part, "line": 2 }));
    assert!(!set.text.contains("on disk"), "{}", set.text);
    // A file that is gone runs on.
    std::fs::remove_file(&part).unwrap();
    debug.go().stands("breakpoint", 2).has(&["price = n * 10", "no longer there"]);
    debug.ok("debug_stop", json!({}));
}

#[test]
fn a_file_with_the_same_text_has_not_changed() {
    written_anew(&mut python(BIN, TARGET).start(), &python_program());
    written_anew(&mut node::start(BIN), &node_program());
}

#[test]
fn a_comment_on_the_first_line_is_no_line_of_code() {
    let mut debug = python(BIN, TARGET).start();
    let program = python_program();
    let main = program.file(program.main);
    program.prepend(program.main, "# nothing\n");
    debug.launch(&main, json!({}));
    let set = debug.ok("breakpoint_set", json!({ "file": main, "line": 1 }));
    set.has(&["pending", "no code"]);
    debug.ok("debug_stop", json!({}));
}

/// Node strips the types of a `.ts`: what V8 has is another text, line by line.
#[test]
fn typescript_that_node_runs_itself_is_shown_as_it_was_written() {
    let folder = Folder::default();
    let text = "function work(n: number): number {\n  const total: number = n + 1;\n  return total;\n}\n\
        for (let i = 0; i < 5; i++) work(i);\n";
    let file = folder.write("program.ts", text);
    let node = node::runners().new_node;
    let mut debug = node::start(BIN);
    let at = json!([{ "file": file, "line": 2 }]);
    let more = json!({ "interpreter": node, "breakpoints": at, "stop_on_entry": false });
    debug.launch(&file, more).stands("breakpoint", 2);
    folder.write("program.ts", text);
    let same = debug.go();
    assert!(!same.text.contains("on disk"), "{}", same.text);
    folder.write("program.ts", format!("// One.\n{text}"));
    debug
        .go()
        .stands("breakpoint", 2)
        .has(&["const total: number = n + 1", "line 2 is line 3 there now"]);
    let set = debug.ok("breakpoint_set", json!({ "file": file, "line": 4 }));
    set.has(&["(verified)", "this is line 3"]);
    debug.go().stands("breakpoint", 3);
    debug.ok("debug_stop", json!({}));
}

/// A module that is loaded again runs the new text; so does a process that was started after the edit.
#[test]
fn what_is_loaded_again_is_what_runs() {
    let program = python_program();
    let (main, part) = (program.file(program.main), program.file(program.part));
    let mut debug = python(BIN, TARGET).start();
    let at = json!([{ "file": main, "line": 4 }]);
    debug.launch(&main, json!({ "breakpoints": at, "stop_on_entry": false }));
    program.prepend(program.part, "# one\n");
    debug.eval("__import__('importlib').reload(shop)");
    let set = debug.ok("breakpoint_set", json!({ "file": part, "line": 3 }));
    assert!(!set.text.contains("this is line"), "{}", set.text);
    let there = debug.go();
    there.stands("breakpoint", 3).has(&["price = n * 10"]);
    assert!(!there.text.contains("on disk"), "{}", there.text);
    debug.ok("debug_stop", json!({}));
}
