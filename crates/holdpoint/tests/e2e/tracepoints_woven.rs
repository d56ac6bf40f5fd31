//! Tracepoints that are calls in a Node program's own text: the same hits as by V8, which is asked beside it about the
//! same program, at a hundredth of their price; and nobody who looks sees the calls.

use std::path::Path;

use holdpoint_testkit::{
    debug::{Debug, Said, line},
    node::{self, Folder},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn start() -> Debug {
    node::start_among(BIN, &[])
}

#[track_caller]
fn set(debug: &mut Debug, file: &Path, mark: &str, more: &Value) -> Said {
    let mut arguments = json!({ "file": file, "line": line(file, mark) });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("tracepoint_set", arguments)
}

/// Which way a point works in what runs now.
#[track_caller]
fn way(debug: &mut Debug, id: u64) -> String {
    let said = debug.ok("breakpoint_enable", json!({ "id": id, "enabled": true }));
    said.data["way"].as_str().unwrap_or("-").to_owned()
}

/// What every hit says of itself, oldest first.
#[track_caller]
fn hits(debug: &mut Debug) -> Vec<String> {
    let (mut since, mut all) = (0, Vec::new());
    loop {
        let asked = json!({ "kinds": ["tracepoint_hit"], "since": since, "limit": 100 });
        let data = debug.ok("timeline_query", asked).data;
        let events = data["events"].as_array().unwrap();
        for event in events {
            let it = &event["data"];
            all.push(format!(
                "{} {} {}:{} {} {}",
                it["breakpoint"],
                it["hit_count"],
                it["file"],
                it["line"],
                it["function"],
                it["message"]
            ));
        }
        match events.last().and_then(|it| it["seq"].as_u64()) {
            Some(last) => since = last,
            None => return all,
        }
    }
}

const LOOP: &str = "\
function work(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    total += i; // BP: loop
  }
  return total; // BP: end
}
console.log('sum', work(Number(process.argv[2])));
console.log('done'); // BP: done
";

#[test]
fn the_answer_says_which_way_a_point_works() {
    let folder = Folder::default();
    let file = folder.write("loop.js", LOOP);
    let mut debug = start();
    set(&mut debug, &file, "loop", &json!({ "log_message": "{i}" })).has(&["pending"]);
    // What may not end is tried where the program stands.
    set(&mut debug, &file, "done", &json!({ "log_message": "{String(1)}" }));
    debug.launch(&file, json!({ "args": ["3"] })).has(&["Stopped (entry)"]);
    let said = debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": true }));
    said.has(&["verified", "in-process, by a call in its text"]);
    assert_eq!((way(&mut debug, 1), way(&mut debug, 2)), ("watched".into(), "in_process".into()));
    // One that is set while the program runs.
    let said = set(&mut debug, &file, "end", &json!({ "log_message": "{total}" }));
    assert_eq!(said.data["way"], "in_process", "{}", said.text);
    debug.go().ended(json!({ "code": 0 })).has(&["sum 3"]);
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["3 hits"]);
    debug.ok("tracepoint_read", json!({ "id": 3 })).has(&["1 hit"]);
}

/// V8 ends the program where a command comes to it between the moment that it tells of a text and the stop at its first
/// statement, if what is at its top is read in functions. How long that takes shall not matter; Node calls `dirname` then.
#[test]
fn a_program_with_points_begins_however_long_that_takes() {
    let folder = Folder::default();
    let text = "const base = 1;\nfunction work(n) {\n  const total = n + base;\n  return total; // BP: end\n}\nwork(2);\n";
    let file = folder.write("loop.js", text);
    let slow = folder.write(
        "slow.cjs",
        "const path = require('path'), { dirname } = path;\n\
         path.dirname = (name) => {\n\
           const end = process.hrtime.bigint() + BigInt(process.env.SPIN_US) * 1000n;\n\
           while (String(name).endsWith('loop.js') && process.hrtime.bigint() < end);\n\
           return dirname(name);\n\
         };\n",
    );
    let mut debug = start();
    set(&mut debug, &file, "end", &json!({ "log_message": "{total}" }));
    for turn in 0..24 {
        let micros = (600 + turn * 100).to_string();
        let env =
            json!({ "NODE_OPTIONS": format!("--require={}", slow.display()), "SPIN_US": micros });
        let asked = json!({ "stop_on_entry": false, "env": env });
        debug.launch(&file, asked).ended(json!({ "code": 0 })).has(&["1 hit"]);
    }
}

/// Statements of every kind, each with a point: what the text and V8 count must be one.
const SHAPES: &str = "\
const { EventEmitter } = require('node:events');
const top = [1, 2, 3]; // BP: top
let made = (() => 1)(), other = 2; // BP: declares
const named = function () { return named.name; }; // BP: named
class Cart {
  #secret = 5;
  constructor(n) {
    this.n = n; // BP: this
  }
  total(k) {
    return this.#secret * this.n + k; // BP: private
  }
  static { made += 1; }
}
function deep(n) {
  if (n === 0) // BP: if
    throw new TypeError('end'); // BP: throw
  return deep(n - 1) + 1; // BP: deep
}
function* counts(n) {
  for (let i = 0; i < n; i++) yield i * n; // BP: for
  const last = yield n; // BP: yields
  return last;
}
async function waits(n) {
  await null; // BP: await
  const { a, b = n } = { a: n }; // BP: pattern
  switch (a + b) { // BP: switch
    case 4:
      made += 1; // BP: case
      break; // BP: break
  }
  while (n-- > 0) // BP: while
    made += n; // BP: body
  return made; // BP: returns
}
const arrow = n => n + 1; // BP: arrow
try {
  deep(3);
} catch (error) {
  made = error.name; // BP: caught
}
[...counts(2)].forEach(it => {
  top.push(it); // BP: each
});
const emitter = new EventEmitter();
emitter.on('x', function (n) {
  this.last = arrow(n); // BP: listener
});
emitter.emit('x', new Cart(2).total(1));
made = 7; // BP: number
waits(2).then(it => {
  console.log(it, named(), top.length); // BP: end
});
";

const MARKS: &[(&str, &str)] = &[
    ("top", "{top}"),
    ("declares", "{top.length}"),
    ("named", "{named}"),
    ("this", "{this.n} {n}"),
    ("private", "{this.n} {k} {nobody}"),
    ("if", "{n}"),
    ("throw", "{n}"),
    ("deep", "{n}"),
    ("for", "{n}"),
    ("yields", "{n}"),
    ("await", "{n}"),
    ("pattern", "{n}"),
    ("switch", "{a} {b}"),
    ("case", "{made}"),
    ("break", "{made}"),
    ("while", "{n}"),
    ("body", "{n} {made}"),
    ("returns", "{made}"),
    ("arrow", "{made}"),
    ("caught", "{error.name} {error}"),
    ("each", "{it} {top}"),
    ("listener", "{n} {this.last}"),
    ("number", "{made}"),
    ("end", "{it} {top.length}"),
];

#[test]
fn the_text_and_v8_count_the_same() {
    let folder = Folder::default();
    let file = folder.write("shapes.js", SHAPES);
    let (mut woven, mut by_v8) = (start(), start());
    by_v8.launch(&file, json!({})).has(&["Stopped (entry)"]);
    for (mark, message) in MARKS {
        let more = match *mark {
            "deep" => json!({ "log_message": message, "condition": "n !== 2" }),
            "each" => json!({ "log_message": message, "hit_condition": ">1" }),
            "body" => json!({ "log_message": message, "hit_count_multiple": 2 }),
            "this" => json!({ "log_message": message, "condition": "nobody" }),
            _ => json!({ "log_message": message }),
        };
        set(&mut woven, &file, mark, &more);
        set(&mut by_v8, &file, mark, &more);
    }
    woven.launch(&file, json!({})).has(&["Stopped (entry)"]);
    let all = (1..).zip(MARKS).map(|(id, (mark, _))| (way(&mut woven, id), *mark));
    let by_v8_still: Vec<&str> =
        all.filter(|(way, _)| way != "watched").map(|(_, mark)| mark).collect();
    // No place for a call, or a name that may not be there yet.
    let expected = [
        "top", "named", "this", "for", "case", "break", "while", "body", "returns", "arrow",
        "each", "end",
    ];
    assert_eq!(by_v8_still, expected);
    woven.go().ended(json!({ "code": 0 })).has(&["9 named 6"]);
    by_v8.go().ended(json!({ "code": 0 })).has(&["9 named 6"]);
    let (mine, theirs) = (hits(&mut woven), hits(&mut by_v8));
    assert!(theirs.len() > 25, "{theirs:#?}");
    assert_eq!(mine, theirs);
}

const MODULE: &str = "\
import { setTimeout as later } from 'node:timers/promises';
export function price(n) {
  return n * 2; // BP: price
}
const first = await later(1, 5); // BP: await
console.log(price(first), price(8));
";

#[test]
fn modules_workers_and_children_have_them_too() {
    let folder = Folder::default();
    let shared = folder.write("price.mjs", MODULE);
    let main = "\
        import { Worker, isMainThread } from 'node:worker_threads';\n\
        import { fork } from 'node:child_process';\n\
        import { price } from './price.mjs';\n\
        price(1);\n\
        if (isMainThread && !process.send) {\n\
          new Worker(new URL(import.meta.url)).on('exit', () => fork(new URL(import.meta.url)));\n\
        }\n";
    let main = folder.write("main.mjs", main);
    let mut debug = start();
    set(&mut debug, &shared, "price", &json!({ "log_message": "{n}" }));
    debug.launch(&main, json!({ "stop_on_entry": false })).ended(json!({ "code": 0 }));
    let said = debug.ok("tracepoint_read", json!({ "id": 1 }));
    said.has(&["9 hits"]);
}

const LOOKS: &str = "\
const one = 1;
function helper(v) { return v + one; }
function price(index, names) {
  const label = names[index % names.length]; // BP: label
  const total = helper(index) + label.length; // BP: total
  if (total > 5) // BP: if
    helper(total); // BP: helper
  return total; // BP: returns
}
function fails(n) {
  return n.missing.deeper; // BP: fails
}
console.log(price(7, ['a', 'bb'])); // BP: call
console.log(price.toString().length, fails.toString().includes('$'));
try { fails({}); } catch (error) { console.log(error.stack.split('\\n')[1].trim().replace(/.*looks/, '')); }
console.log(Object.keys(globalThis).some(it => it.startsWith('$')));
";

/// Every place that a walk through the program comes to, as a person sees it.
#[track_caller]
fn walk(traced: bool, action: &str) -> (Vec<String>, String) {
    let folder = Folder::default();
    let file = folder.write("looks.js", LOOKS);
    let mut debug = start();
    for mark in ["label", "total", "if", "helper", "returns", "fails"] {
        if traced {
            set(&mut debug, &file, mark, &json!({ "log_message": "{index}" }));
        }
    }
    let point = json!({ "file": file, "line": line(&file, "label") });
    let said = debug.launch(&file, json!({ "stop_on_entry": false, "breakpoints": [point] }));
    said.stands("breakpoint", line(&file, "label"));
    let mut places = Vec::new();
    for _ in 0..12 {
        let said = debug.ok("debug_step", json!({ "action": action }));
        assert!(!said.text.contains("$hpt"), "{}", said.text);
        if said.data["stop"]["function"] == "<module>" {
            break;
        }
        places.push(format!("{}:{}", said.data["stop"]["function"], said.data["stop"]["line"]));
        let stack = debug.ok("debug_stack", json!({}));
        assert!(!stack.text.contains("weave"), "{}", stack.text);
    }
    let end = debug.go();
    end.ended(json!({ "code": 0 }));
    let output = debug.ok("debug_output", json!({}));
    (places, output.data["text"].as_str().unwrap_or(&output.text).to_owned())
}

#[test]
fn steps_texts_and_stacks_are_those_of_the_file() {
    for action in ["next", "step_in"] {
        let (plain, plain_output) = walk(false, action);
        let (woven, woven_output) = walk(true, action);
        assert!(plain.len() >= 4, "{plain:?}");
        assert_eq!(woven, plain);
        assert_eq!(woven_output, plain_output);
    }
}

#[test]
fn a_crash_shows_the_line_of_the_file() {
    let run = |traced: bool| {
        let folder = Folder::default();
        let file = folder.write("crash.js", "const n = {};\n  n.a.b; // BP: crash\n");
        let mut debug = start();
        if traced {
            set(&mut debug, &file, "crash", &json!({ "log_message": "{n}" }));
        }
        let said = debug.launch(&file, json!({ "stop_on_entry": false }));
        let said = if said.data["exit"].is_null() { debug.go() } else { said };
        said.ended(json!({ "code": 1 }));
        let output = debug.ok("debug_output", json!({}));
        output.text.replace(&file.display().to_string(), "crash.js")
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_file_that_is_another_by_then_is_traced_by_v8() {
    let folder = Folder::default();
    let part = folder.write("part.js", "exports.f = n => {\n  return n + 1; // BP: part\n};\n");
    let main = "\
        const fs = require('node:fs');\n\
        const file = require.resolve('./part.js');\n\
        let sum = require(file).f(1);\n\
        delete require.cache[file];\n\
        fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('+ 1', '+ 10'));\n\
        const again = require(file);\n\
        setTimeout(() => console.log(sum + again.f(2)), 1000);\n";
    let main = folder.write("main.js", main);
    let mut debug = start();
    set(&mut debug, &part, "part", &json!({ "log_message": "{n}" }));
    debug.launch(&main, json!({ "stop_on_entry": false })).ended(json!({ "code": 0 }));
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["2 hits"]);
    debug.ok("debug_output", json!({})).has(&["14"]);
    let told = debug.ok("debug_output", json!({ "stream": "debugger" }));
    told.has(&["was loaded again, as another text"]);
}

#[test]
fn a_point_that_becomes_another_is_counted_as_what_it_is() {
    let folder = Folder::default();
    let file = folder.write("loop.js", LOOP);
    let mut debug = start();
    set(&mut debug, &file, "loop", &json!({ "log_message": "{i}" }));
    debug.launch(&file, json!({ "args": ["3"] })).has(&["Stopped (entry)"]);
    assert_eq!(way(&mut debug, 1), "watched");
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    let said = set(&mut debug, &file, "loop", &json!({ "log_message": "{i} {total}" }));
    assert_eq!(said.data["way"], "in_process", "{}", said.text);
    debug.go().ended(json!({ "code": 0 })).has(&["sum 3"]);
    let all = hits(&mut debug);
    let said = all.iter().map(|it| it.rsplit_once(" \"").unwrap().1.to_owned());
    assert_eq!(said.collect::<Vec<_>>(), ["0 0\"", "1 0\"", "2 1\""]);
}

#[test]
fn a_breakpoint_that_comes_to_its_line_finds_the_pass_counted() {
    let folder = Folder::default();
    let file = folder.write("loop.js", LOOP);
    let mut debug = start();
    set(&mut debug, &file, "loop", &json!({ "log_message": "{i}" }));
    debug.launch(&file, json!({ "args": ["6"] })).has(&["Stopped (entry)"]);
    assert_eq!(way(&mut debug, 1), "watched");
    let stop = json!({ "file": file, "line": line(&file, "loop"), "hit_condition": "3" });
    let stop = debug.ok("breakpoint_set", stop).data["breakpoint_id"].clone();
    assert_eq!(way(&mut debug, 1), "in_process");
    debug.go().stands("breakpoint", line(&file, "loop"));
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["3 hits"]);
    debug.ok("breakpoint_remove", json!({ "id": stop }));
    assert_eq!(way(&mut debug, 1), "watched");
    debug.go().ended(json!({ "code": 0 })).has(&["sum 15"]);
    debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["6 hits"]);
}
