//! Tracepoints by `sys.monitoring`, which Python has from 3.12 on: the same hits as by the debugger, which is asked
//! beside it about the same program, and the answers say which way a point works.
//!
//! The interpreters are those of this machine; where it has none from 3.12 on, the older way is all that is asked.

use std::path::Path;

use holdpoint_testkit::{
    debug::{Debug, Said, ask_python, line, monitoring_pythons, program, python},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A server for each interpreter that has `sys.monitoring`.
fn each() -> impl Iterator<Item = Debug> {
    monitoring_pythons().into_iter().map(|it| python(BIN, FOLDER).start_in(&it))
}

/// Tracepoints by the debugger, in the same interpreter. By its older means: by `sys.monitoring` it misses the rounds
/// of a loop on one line in Python 3.13.
fn by_debugger() -> Value {
    json!({ "PYDEVD_USE_SYS_MONITORING": "false" })
}

#[track_caller]
fn set(debug: &mut Debug, file: &Path, mark: &str, more: Value) -> Said {
    let mut arguments = json!({ "file": file, "line": line(file, mark) });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.ok("tracepoint_set", arguments)
}

#[track_caller]
fn run(debug: &mut Debug, file: &Path, more: Value) -> Said {
    let mut all = json!({ "stop_on_entry": false, "timeout_s": 120 });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    debug.launch(file, all)
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
                "{} {} {}:{} {}",
                it["breakpoint"], it["hit_count"], it["file"], it["line"], it["message"]
            ));
        }
        match events.last().and_then(|it| it["seq"].as_u64()) {
            Some(last) => since = last,
            None => return all,
        }
    }
}

#[track_caller]
fn way(said: &Said) -> String {
    said.data["way"].as_str().unwrap_or("-").to_owned()
}

const LOOP: &str = "\
import sys

def work(n):
    total = 0
    for i in range(n):
        total += i  # BP: loop
    return total

print('sum', work(int(sys.argv[1])))
print('done')  # BP: done
";

#[test]
fn the_answer_says_which_way_a_point_works() {
    let (_folder, file) = program(LOOP);
    let more = json!({ "args": ["3"] });
    for mut debug in each() {
        debug.launch(&file, more.clone()).stands("entry", 1);
        let said = set(&mut debug, &file, "loop", json!({ "log_message": "{i}" }));
        said.has(&["verified", "in-process, by sys.monitoring"]);
        assert_eq!(way(&said), "watched");
        // A function by its name is pydevd's to find.
        let said = debug.ok("tracepoint_set", json!({ "function": "work" }));
        assert_eq!(way(&said), "in_process", "{}", said.text);
        debug.go().ended(json!({ "code": 0 }));
        debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["3 hits"]);
    }
    let mut debug = python(BIN, FOLDER).start();
    debug.launch(&file, more).stands("entry", 1);
    let said = set(&mut debug, &file, "loop", json!({ "log_message": "{i}" }));
    let has =
        holdpoint_testkit::debug::ask_python("import sys; print(sys.version_info >= (3, 12))");
    assert_eq!(way(&said), if has == "True" { "watched" } else { "in_process" });
}

/// Lines of every kind, each with a point: what `sys.monitoring` and the debugger count must be one.
const SHAPES: &str = "\
import asyncio, functools, threading

TOP = [1, 2, 3]  # BP: top

def one_line(n):
    for i in range(n): TOP.append(i)  # BP: one_line
    return [it * 2 for it in TOP if it]  # BP: comprehension

def generates(n):
    for i in range(n):
        yield i * n  # BP: yields
    return n

async def waits(n):
    await asyncio.sleep(0)
    for i in range(n):
        await asyncio.sleep(0)  # BP: awaits
    return n

def deep(n):
    if n == 0:
        raise KeyError(n)  # BP: raises
    return deep(n - 1)  # BP: deep

class Shop:
    size = len(TOP)  # BP: body

    @functools.lru_cache
    def priced(self, it):
        found = sorted(
            TOP,
            key=lambda each: -each,  # BP: lambda
        )
        return found[0] + it  # BP: cached

    def __repr__(self):
        return 'a shop'

def closes(n):
    kept = n
    def inner():
        nonlocal kept
        kept += 1  # BP: inner
        return kept
    return inner() + inner()

def loops(n):
    while n: n -= 1  # BP: while
    try:
        deep(2)
    except KeyError as error:
        found = str(error)  # BP: caught
    finally:
        n = 7  # BP: finally
    with threading.Lock():
        return n  # BP: with

one_line(4)
total = sum(generates(5))
asyncio.run(waits(3))
shop = Shop()
print(shop.priced(1), shop.priced(1), closes(2), loops(3), shop)
exec(compile('x = 1\\ny = x + 1\\n', __file__, 'exec'), {})
print('end')  # BP: end
";

fn marks(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().filter_map(|it| Some(it.split_once("# BP: ")?.1.to_owned())).collect()
}

#[test]
fn it_counts_and_tells_what_the_debugger_does() {
    let (_folder, file) = program(SHAPES);
    for mut debug in each() {
        let marks = marks(&file);
        for mark in &marks {
            // What is there, what is not, what has a scope of its own, what has a format.
            let message =
                format!("{mark} {{len(TOP)}} {{n}} {{[TOP[0] for _ in TOP][0]}} {{TOP[0]:>3}}");
            set(&mut debug, &file, mark, json!({ "log_message": message }));
        }
        run(&mut debug, &file, json!({ "env": by_debugger() })).ended(json!({ "code": 0 }));
        let theirs = hits(&mut debug);
        assert!(theirs.len() > marks.len(), "{theirs:#?}");
        run(&mut debug, &file, json!({})).ended(json!({ "code": 0 }));
        let both = hits(&mut debug);
        let (_, ours) = both.split_at(theirs.len());
        assert_eq!(ours, theirs);
    }
}

#[test]
fn conditions_hit_conditions_multiples_limits_and_errors_are_the_same() {
    let (_folder, file) = program(LOOP);
    let cases = [
        json!({ "log_message": "{i}", "condition": "i % 3 == 0" }),
        json!({ "log_message": "{i}", "hit_condition": ">= 7" }),
        json!({ "log_message": "{i}", "hit_condition": "% 4" }),
        json!({ "log_message": "{i}", "hit_count_multiple": 5 }),
        json!({ "log_message": "{i} {total}", "max_notifications": 3 }),
        json!({ "log_message": "{i} {nothing.at.all} {1 / 0} {i!r:>4}" }),
        json!({ "log_message": "{i}", "condition": "nothing" }),
        json!({}),
    ];
    for mut debug in each() {
        for case in &cases {
            let mut told = Vec::new();
            for env in [json!({}), by_debugger()] {
                let id = set(&mut debug, &file, "loop", case.clone()).data["breakpoint_id"].clone();
                let at = debug.ok("timeline_query", json!({ "limit": 1 })).data["next"].clone();
                run(&mut debug, &file, json!({ "args": ["12"], "env": env }))
                    .ended(json!({ "code": 0 }));
                let said =
                    debug.ok("tracepoint_read", json!({ "id": id, "since": at, "limit": 100 }));
                let all = said.data["hits"].as_array().unwrap().clone();
                let each =
                    all.iter().map(|it| (it["hit_count"].clone(), it["log_message"].clone()));
                told.push(each.collect::<Vec<_>>());
                debug.ok("breakpoint_remove", json!({ "id": id }));
            }
            assert!(!told.first().unwrap().is_empty(), "{case}");
            assert_eq!(told.first(), told.last(), "{case}");
        }
    }
}

#[test]
fn a_hundred_thousand_hits_lose_none() {
    let (_folder, file) = program(LOOP);
    for mut debug in each() {
        set(&mut debug, &file, "loop", json!({ "log_message": "{i}" }));
        run(&mut debug, &file, json!({ "args": ["100000"] })).ended(json!({ "code": 0 }));
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
        said.has(&["100000 hits", "min 0, max 99999, first 0, last 99999"]);
        let newest = debug.ok("tracepoint_read", json!({ "limit": 1 })).data["hits"][0].clone();
        assert_eq!(newest["hit_count"], 100_000);
    }
}

/// The program is in the middle of the traced function, which no start of it tells us of.
#[test]
fn a_running_program_takes_it_and_gives_it_back() {
    let (_folder, file) = program(
        "import time\n\
         def work():\n    n = 0\n    while n >= 0:\n        n += 1  # BP: mark\n        time.sleep(0.001)\n\
         work()\n",
    );
    for mut debug in each() {
        run(&mut debug, &file, json!({ "timeout_s": 0.3 })).has(&["Running"]);
        let said = set(&mut debug, &file, "mark", json!({ "log_message": "{n}" }));
        assert_eq!(way(&said), "watched");
        let count = |debug: &mut Debug| {
            let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
            said.data["tracepoints"][0]["hits"].as_u64().unwrap_or(0)
        };
        until("hits", || (count(&mut debug) > 50).then_some(()));
        // With a breakpoint beside it, it is the debugger's, and its count goes on; alone again, it is ours.
        let beside = json!({ "file": file, "line": line(&file, "mark"), "condition": "n < 0" });
        let id = debug.ok("breakpoint_set", beside).data["breakpoint_id"].clone();
        let at = count(&mut debug);
        until("more hits", || (count(&mut debug) > at + 50).then_some(()));
        debug.ok("breakpoint_remove", json!({ "id": id }));
        let at = count(&mut debug);
        until("more hits", || (count(&mut debug) > at + 50).then_some(()));
        debug.ok("breakpoint_remove", json!({ "id": 1 }));
        let all = hits(&mut debug);
        let numbers: Vec<u64> =
            all.iter().filter_map(|it| it.split(' ').nth(1)?.parse().ok()).collect();
        let values: Vec<u64> = all
            .iter()
            .filter_map(|it| it.rsplit(' ').next()?.trim_matches('"').parse().ok())
            .collect();
        assert!(numbers.windows(2).all(|two| matches!(two, [a, b] if *b == a + 1)), "{numbers:?}");
        assert!(values.windows(2).all(|two| matches!(two, [a, b] if *b == a + 1)), "{values:?}");
        debug.ok("debug_stop", json!({}));
    }
}

#[test]
fn children_and_threads_report_until_their_end() {
    let (_folder, file) = program(
        "import multiprocessing, os, threading\n\
         def work(n):\n    for i in range(50):\n        total = n + i  # BP: mark\n\
         if __name__ == '__main__':\n    \
             all = []\n    \
             for n, how in ((100, 'fork'), (200, 'spawn')):\n        \
                 all.append(multiprocessing.get_context(how).Process(target=work, args=(n,)))\n    \
             for it in all: it.start()\n    \
             for it in all: it.join()\n    \
             thread = threading.Thread(target=work, args=(300,))\n    \
             thread.start()\n    \
             thread.join()\n    \
             work(0)\n    \
             os._exit(3)\n",
    );
    for mut debug in each() {
        set(&mut debug, &file, "mark", json!({ "log_message": "{n}" }));
        run(&mut debug, &file, json!({})).ended(json!({ "code": 3 }));
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "aggregate": true }));
        said.has(&["200 hits", "n: 200 values, 4 distinct, min 0, max 300"]);
    }
}

#[test]
fn what_does_not_end_costs_its_value_and_not_the_program() {
    let (_folder, file) = program(
        "import time\ndef slow():\n    while True:\n        pass\ndef work(n):\n    return n  # BP: work\nprint(work(3))\nprint(work(4))\n",
    );
    for mut debug in each() {
        let more = json!({ "log_message": "{n} {slow()} {n} {time.sleep(60)}" });
        set(&mut debug, &file, "work", more);
        run(&mut debug, &file, json!({})).ended(json!({ "code": 0 })).has(&["3", "4"]);
        let said = debug.ok("tracepoint_read", json!({ "id": 1, "since": 0 }));
        said.has(&["3 <error: Timeout> <error: Timeout> <error: Timeout>"]);
        said.has(&["4 <error: Timeout> <error: Timeout> <error: Timeout>"]);
    }
}

/// A step that ends on the traced line: it was passed before the program stood there, and is told before.
#[test]
fn a_pass_is_told_before_the_stop_on_its_line() {
    let (_folder, file) = program(LOOP);
    for mut debug in each() {
        debug.launch(&file, json!({ "args": ["2"] })).stands("entry", 1);
        set(&mut debug, &file, "done", json!({ "log_message": "here" }));
        let at = line(&file, "done");
        debug.ok("breakpoint_set", json!({ "file": file, "line": at - 1 }));
        debug.go();
        debug.ok("debug_step", json!({ "action": "next" }));
        debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["1 hit"]);
        debug.go().ended(json!({ "code": 0 }));
        debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["1 hit"]);
    }
}

/// The program has taken what there is of `sys.monitoring`: the debugger does it then, and the answer says so.
#[test]
fn where_no_tool_is_left_the_debugger_does_it() {
    let (folder, file) = program(LOOP);
    let text = "import sys\nfor it in (3, 4, 5):\n    sys.monitoring.use_tool_id(it, 'taken')\n";
    std::fs::write(folder.path().join("sitecustomize.py"), text).unwrap();
    let env = json!({ "PYTHONPATH": folder.path() });
    for mut debug in each() {
        debug.launch(&file, json!({ "args": ["3"], "env": env })).stands("entry", 1);
        let said = set(&mut debug, &file, "loop", json!({ "log_message": "{i}" }));
        assert_eq!(way(&said), "in_process", "{}", said.text);
        debug.go().ended(json!({ "code": 0 }));
        debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["3 hits"]);
    }
}

/// What the program does with `sys.monitoring` itself is as it was.
#[test]
fn a_program_with_tools_of_its_own_is_left_alone() {
    let (_folder, file) = program(
        "import sys\n\
         seen = []\n\
         def work(n):\n    total = n  # BP: mark\n    return total\n\
         own = sys.monitoring\n\
         own.use_tool_id(2, 'profiler')\n\
         own.register_callback(2, own.events.LINE, lambda code, line: seen.append(line))\n\
         own.set_local_events(2, work.__code__, own.events.LINE)\n\
         work(1)\n\
         own.set_local_events(2, work.__code__, 0)\n\
         work(2)\n\
         print(seen)\n",
    );
    for mut debug in each() {
        set(&mut debug, &file, "mark", json!({ "log_message": "{n}" }));
        run(&mut debug, &file, json!({})).ended(json!({ "code": 0 })).has(&["[4, 5]"]);
        debug.ok("tracepoint_read", json!({ "id": 1 })).has(&["2 hits"]);
    }
}

/// A coroutine and a generator that wait when the breakpoint comes are on no stack, where the debugger looks.
#[test]
fn a_breakpoint_stops_what_waited_when_it_was_set() {
    let text = "\
import asyncio
async def turns():
    n = 0
    while True:
        n += 1  # BP: turn
        await asyncio.sleep(0.001)
def numbers():
    n = 0
    while True:
        n += 1  # BP: number
        yield n
async def main():
    other = asyncio.ensure_future(turns())
    for n in numbers():
        await asyncio.sleep(0.001)
asyncio.run(main())
";
    let mut count = 0;
    for mut debug in each() {
        let (_folder, file) = program(text);
        for mark in ["turn", "number"] {
            run(&mut debug, &file, json!({ "timeout_s": 0.3 })).has(&["Running"]);
            let place = json!({ "file": file, "line": line(&file, mark) });
            debug.ok("breakpoint_set", place.clone()).has(&["(verified)"]);
            debug
                .ok("debug_wait", json!({ "timeout_s": 20 }))
                .stands("breakpoint", line(&file, mark));
            debug.ok("debug_stop", json!({}));
            debug.ok("breakpoint_remove", place);
        }
        count += 1;
    }
    let is_new = ask_python("import sys; print(sys.version_info >= (3, 12))");
    assert!(count > 0 || is_new != "True", "nothing was looked at");
}
