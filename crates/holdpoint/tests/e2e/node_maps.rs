//! Node, what was made from something else: breakpoints in sources, wherever and however they were compiled.

use holdpoint_testkit::{
    debug::Debug,
    node::{self, Folder},
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start(BIN)
}

/// The source, and what was made of it: everything in one line, and `add` called on another.
const SOURCE: &str = "function add(a: number, b: number) {
  const sum = a + b;
  return sum;
}
add(1, 2);
";
const MADE: &str = "function add(a, b) {   const sum = a + b; return sum; }\nadd(1, 2);\n";
const MAPPINGS: &str = "AAAA,uBACE,mBACA;AAEF";

/// A project with `src/sum.ts`, and the text made of it with a map that names it.
struct Made {
    folder: Folder,
    source: std::path::PathBuf,
    map: String,
}

impl Made {
    fn new() -> Made {
        let folder = Folder::default();
        let source = folder.write("src/sum.ts", SOURCE);
        let map = json!({
            "version": 3, "sources": [source], "names": [], "mappings": MAPPINGS,
        });
        Made { folder, source, map: map.to_string() }
    }

    /// The text with its map inside.
    fn text(&self) -> String {
        let hex: String = self.map.bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("{MADE}//# sourceMappingURL=data:application/json,{hex}\n")
    }

    /// Runs a program to lines 3 and 5 of the source: in a function, and at the top level.
    #[track_caller]
    fn stops(&self, name: &str, program: &str) {
        let mut debug = start();
        let main = self.folder.write(name, program);
        let points = json!([
            { "file": self.source, "line": 3 }, { "file": self.source, "line": 5 },
        ]);
        let said = debug.launch(&main, json!({ "stop_on_entry": false, "breakpoints": points }));
        said.stands("breakpoint", 5).has(&["Stopped (breakpoint 2) at", "sum.ts:5"]);
        let said = debug.go();
        said.stands("breakpoint", 3).has(&["(breakpoint 1)", "sum.ts:3 in add", "sum = 3"]);
        debug.go().ended(json!({ "code": 0 }));
    }
}

#[test]
fn a_bundle_beside_its_map() {
    let made = Made::new();
    made.folder.write("dist/bundle.js", format!("{MADE}//# sourceMappingURL=bundle.js.map\n"));
    made.folder.write("dist/bundle.js.map", &made.map);
    made.stops("main.js", "require('./dist/bundle.js');\n");
    made.stops("main.mjs", "import './dist/bundle.js';\n");
    // It is the program itself.
    made.stops("dist/bundle.js", &format!("{MADE}//# sourceMappingURL=bundle.js.map\n"));
}

#[test]
fn a_module_with_its_map_inside() {
    let made = Made::new();
    made.folder.write("dist/bundle.mjs", made.text());
    made.stops("main.mjs", "import './dist/bundle.mjs';\n");
    made.stops("later.cjs", "import('./dist/bundle.mjs');\n");
}

/// As jest and vitest do, and as loaders of TypeScript do: under the name of the source itself.
#[test]
fn what_a_program_compiles_itself_under_the_name_of_its_source() {
    let made = Made::new();
    let text = json!(made.text());
    let name = json!(made.source);
    made.stops(
        "script.js",
        &format!(
            "new (require('vm').Script)({text}, {{ filename: {name} }}).runInThisContext();\n"
        ),
    );
    made.stops(
        "context.js",
        &format!(
            "const vm = require('vm');\nvm.runInContext({text}, vm.createContext({{}}), {name});\n"
        ),
    );
    made.stops(
        "function.js",
        &format!("require('vm').compileFunction({text}, [], {{ filename: {name} }})();\n"),
    );
    made.stops(
        "module.js",
        &format!(
            "const Module = require('module');\nnew Module({name})._compile({text}, {name});\n"
        ),
    );
    made.stops("eval.js", &format!("(0, eval)({text} + '//# sourceURL=' + {name});\n"));
}

/// As bundlers do in development: under a name that is no file.
#[test]
fn what_a_program_compiles_itself_under_another_name() {
    let made = Made::new();
    let text = json!(made.text());
    made.stops(
        "script.js",
        &format!(
            "new (require('vm').Script)({text}, {{ filename: 'made.js' }}).runInThisContext();\n"
        ),
    );
    made.stops(
        "eval.js",
        &format!("(0, eval)({text} + '//# sourceURL=webpack-internal:///./src/sum.ts');\n"),
    );
}

#[test]
fn a_step_over_a_file_that_was_made_ends_behind_it() {
    let made = Made::new();
    made.folder.write("dist/bundle.js", made.text());
    let text = "const before = 1;\nrequire('./dist/bundle.js');\nconst after = 2;\nconsole.log(before + after);\n";
    let main = made.folder.write("main.js", text);
    let mut debug = start();
    // A breakpoint that is never reached keeps us looking for its source.
    let never = made.folder.write("never.ts", "let a = 1;\n");
    debug.ok("breakpoint_set", json!({ "file": never, "line": 1 }));
    debug.launch(&main, json!({})).stands("entry", 1);
    debug.ok("debug_step", json!({})).stands("step", 2);
    debug.ok("debug_step", json!({})).stands("step", 3);
    debug.ok("debug_step", json!({})).stands("step", 4);
    debug.go().ended(json!({ "code": 0 })).has(&["3"]);
}

/// Its first line waits for a breakpoint too.
#[test]
fn a_step_over_a_file_that_breakpoints_wait_for_ends_behind_it() {
    let folder = Folder::default();
    let other =
        folder.write("other.js", "exports.one = 1;\nexports.two = () => {\n  return 2;\n};\n");
    let text = "const { one, two } = require('./other.js');\nconst three = one + two();\nconsole.log(three);\n";
    let main = folder.write("main.js", text);
    let mut debug = start();
    debug.ok("breakpoint_set", json!({ "file": other, "line": 3, "condition": "false" }));
    debug.launch(&main, json!({})).stands("entry", 1);
    debug.ok("debug_step", json!({})).stands("step", 2);
    debug.ok("breakpoint_set", json!({ "file": other, "line": 3 }));
    debug.ok("debug_step", json!({})).stands("breakpoint", 3).has(&["other.js:3"]);
    debug.ok("debug_step", json!({ "action": "step_out" })).has(&["main.js:3"]);
    debug.go().ended(json!({ "code": 0 })).has(&["3"]);
}
