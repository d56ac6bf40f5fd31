//! Tracepoints' notifications as real clients hear them, over stdio, HTTP+SSE and streamable HTTP at once,
//! of a real Python or Node program. The stories and edge cases are those of docs/contract/hits.md.

use holdpoint_testkit::stage::{BOTH, Language, Program, Stage};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const HIT: &str = "notifications/breakpoint/hit";

/// Rounds of a loop, with a place to stop before each.
const PROGRAM: Program = Program {
    python: "\
import sys


class Box:
    def __init__(self, count):
        self.count = count

    def size(self):
        return self.count


def work(count):
    box = Box(count)
    nothing = None
    for i in range(count):
        double = i * 2
        total = i + double  # BP: loop
    return box, nothing


for number in range(int(sys.argv[1])):
    print('round', number)  # BP: round
    work(int(sys.argv[2]))
print('done')  # BP: done
",
    node: "\
class Box {
  constructor(count) {
    this.count = count;
  }
  size() {
    return this.count;
  }
}

function work(count) {
  const box = new Box(count);
  const nothing = null;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const double = i * 2;
    total = i + double; // BP: loop
  }
  return [box, nothing, total];
}

const [rounds, count] = process.argv.slice(2).map(Number);
for (let number = 0; number < rounds; number++) {
  console.log('round', number); // BP: round
  work(count);
}
console.log('done'); // BP: done
",
};

fn stage(language: Language) -> Stage {
    Stage::new(BIN, env!("CARGO_TARGET_TMPDIR"), language, PROGRAM)
}

/// Runs so many rounds of so many passes to the end.
fn run(stage: &mut Stage, rounds: u32, passes: u32) {
    let args = [rounds.to_string(), passes.to_string()];
    stage.launch(json!({ "args": args, "timeout_s": 120 })).ended(json!({ "code": 0 }));
}

/// What every client was told, the same to all: counts and messages.
#[track_caller]
fn heard(stage: &mut Stage) -> Vec<(u64, String)> {
    let hits = stage.all_heard(HIT);
    let one = |hit: &Value| {
        assert_eq!(hit["type"], "tracepoint", "{hit}");
        let message = hit["log_message"].as_str().unwrap_or_default().to_owned();
        (hit["hit_count"].as_u64().unwrap(), message)
    };
    hits.iter().map(one).collect()
}

fn counts(heard: &[(u64, String)]) -> Vec<u64> {
    heard.iter().map(|(count, _)| *count).collect()
}

/// Story 2, scenarios 1 to 3.
#[test]
fn ten_passes_are_ten_notifications_and_nothing_stops() {
    for language in BOTH {
        let mut stage = stage(language);
        let said = stage.trace("loop", json!({}));
        assert_eq!(said.data["breakpoint_id"], 1, "{}", said.text);
        run(&mut stage, 1, 10);
        let hits = stage.all_heard(HIT);
        assert_eq!(hits.len(), 10);
        for (number, hit) in (1..).zip(&hits) {
            assert_eq!((&hit["type"], &hit["breakpoint_id"]), (&json!("tracepoint"), &json!(1)));
            assert_eq!((&hit["hit_count"], &hit["session_id"]), (&json!(number), &json!("s1")));
            let location = &hit["location"];
            assert_eq!(location["file"], json!(stage.program));
            assert_eq!(location["line"], stage.line("loop"));
            assert_eq!(location["function"], "work");
            assert!(
                hit["timestamp"].as_str().unwrap().ends_with('Z') && hit["thread_id"].is_string()
            );
        }
        let seqs: Vec<u64> = hits.iter().map(|hit| hit["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
        let stops = stage.debug.ok("timeline_query", json!({ "since": 0, "kinds": ["stopped"] }));
        assert_eq!(stops.data["events"], json!([]));
    }
}

/// Story 2, scenario 1, in a session that is under way, and story 3, scenarios 1 to 4.
#[test]
fn a_message_has_its_values_and_an_error_only_where_it_belongs() {
    for language in BOTH {
        let mut stage = stage(language);
        let points = json!([{ "file": stage.program, "line": stage.line("round") }]);
        stage.launch(json!({ "args": ["1", "3"], "breakpoints": points }));
        let throws = "nothing.count";
        let message = format!(
            "Value is {{i}}, i={{i}}, double={{double}}, sum={{i + double}}, size {{box.size()}}, \
             bad {{{throws}}}, {{{{literal}}}}"
        );
        let said = stage.trace("loop", json!({ "log_message": message }));
        assert_eq!(said.data["breakpoint_id"], 2, "an id of its own: {}", said.text);
        stage.debug.go().ended(json!({ "code": 0 }));
        let error = match language {
            Language::Python => "<error: AttributeError>",
            Language::Node => "<error: TypeError>",
        };
        let expected = |i: u64| {
            let (double, sum) = (i * 2, i * 3);
            let text = format!(
                "Value is {i}, i={i}, double={double}, sum={sum}, size 3, bad {error}, {{literal}}"
            );
            (i + 1, text)
        };
        let hits = stage.all_heard(HIT);
        let traced = hits.iter().filter(|hit| hit["type"] == "tracepoint");
        let traced: Vec<(u64, String)> = traced
            .map(|hit| {
                let message = hit["log_message"].as_str().unwrap().to_owned();
                (hit["hit_count"].as_u64().unwrap(), message)
            })
            .collect();
        assert_eq!(traced, (0..3).map(expected).collect::<Vec<_>>());
    }
}

/// For clients that drop custom notifications.
#[test]
fn the_same_comes_as_log_messages_and_resource_updates() {
    let mut stage = stage(Language::Node);
    let uri = "holdpoint://timeline/tracepoint_hit";
    for client in stage.everyone() {
        client.ask("resources/subscribe", json!({ "uri": uri }));
    }
    stage.trace("loop", json!({ "log_message": "i is {i}" }));
    run(&mut stage, 1, 3);
    assert_eq!(stage.all_hear("notifications/resources/updated", &|_| true), json!({ "uri": uri }));
    let logs = stage.all_heard("notifications/message");
    let lines: Vec<&Value> = logs
        .iter()
        .filter(|log| log["data"]["kind"] == "tracepoint_hit")
        .map(|log| &log["data"]["data"]["message"])
        .collect();
    assert_eq!(lines, [&json!("i is 0"), &json!("i is 1"), &json!("i is 2")]);
    // Many hits are few updates: a client reads the resource once, however often it changed.
    stage.trace("loop", json!({ "log_message": "again {i}" }));
    run(&mut stage, 1, 2_000);
    let hits = stage.all_heard(HIT).len();
    assert_eq!(hits, 2_003);
    for client in stage.everyone() {
        let updates = client.take("notifications/resources/updated").len();
        assert!(updates < 500, "{updates} updates over {}", client.way());
    }
}

/// Story 4, scenarios 1 to 4.
#[test]
fn listed_disabled_enabled_and_removed() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.trace("loop", json!({ "log_message": "{number}" }));
        let points = json!([{ "file": stage.program, "line": stage.line("round") }]);
        stage.launch(json!({ "args": ["4", "2"], "breakpoints": points }));
        let listed = stage.debug.ok("breakpoint_list", json!({}));
        let types: Vec<&Value> =
            listed.data["breakpoints"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
        assert_eq!(types, [&json!("tracepoint"), &json!("breakpoint")]);
        let trace_hits = |stage: &mut Stage| {
            let hits = stage.all_heard(HIT);
            hits.iter().filter(|hit| hit["type"] == "tracepoint").count()
        };
        stage.debug.go();
        assert_eq!(trace_hits(&mut stage), 2, "round 0");
        stage.debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": false }));
        stage.debug.go();
        assert_eq!(trace_hits(&mut stage), 0, "round 1: disabled");
        stage.debug.ok("breakpoint_enable", json!({ "id": 1, "enabled": true }));
        stage.debug.go();
        assert_eq!(trace_hits(&mut stage), 2, "round 2: enabled again");
        stage.debug.ok("breakpoint_remove", json!({ "id": 1 }));
        stage.debug.go().ended(json!({ "code": 0 }));
        assert_eq!(trace_hits(&mut stage), 0, "round 3: removed");
        let listed = stage.debug.ok("breakpoint_list", json!({}));
        assert_eq!(listed.data["breakpoints"].as_array().unwrap().len(), 1);
    }
}

/// Story 5, scenario 1.
#[test]
fn every_hundredth_of_five_hundred_is_five_notifications() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.trace("loop", json!({ "log_message": "{i}", "hit_count_multiple": 100 }));
        run(&mut stage, 1, 500);
        let heard = heard(&mut stage);
        let expected: Vec<(u64, String)> =
            (1..=5).map(|n| (n * 100, (n * 100 - 1).to_string())).collect();
        assert_eq!(heard, expected);
    }
}

/// Story 5, scenario 2.
#[test]
fn after_ten_notifications_it_disables_itself() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.trace("loop", json!({ "log_message": "{i}", "max_notifications": 10 }));
        run(&mut stage, 1, 100);
        assert_eq!(counts(&heard(&mut stage)), (1..=10).collect::<Vec<u64>>());
        stage.debug.ok("breakpoint_list", json!({})).has(&["limit reached"]);
    }
}

/// FR-011 the other way round: a wait is for stops.
#[test]
fn tracepoints_never_end_a_wait() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.trace("loop", json!({}));
        let points = json!([
            { "file": stage.program, "line": stage.line("round") },
            { "file": stage.program, "line": stage.line("done") },
        ]);
        let first = stage.launch(json!({ "args": ["1", "20"], "breakpoints": points }));
        stage.debug.ok("debug_continue", json!({ "timeout_s": 0 }));
        let said = stage.debug.ok("breakpoint_wait", json!({ "since": first.data["seq"] }));
        said.stands("breakpoint", stage.line("done"));
        assert_eq!(said.data["breakpoint_id"], 3);
        let told = stage.all_heard(HIT);
        let types: Vec<&str> = told.iter().map(|hit| hit["type"].as_str().unwrap()).collect();
        let expected = [&["breakpoint"][..], &["tracepoint"; 20], &["breakpoint"]].concat();
        assert_eq!(types, expected, "what passed before a stop is told before it");
    }
}

/// Edge case: an expression that does not end, in a message or as a condition. V8 cannot end what a condition
/// does, so on Node the program stands for it; the program goes on, unharmed, in either language.
#[test]
fn an_expression_that_times_out_is_told_and_the_program_goes_on() {
    let endless = Program {
        python: "\
def slow():
    while True:
        pass


def work(n):
    try:
        return n  # BP: loop
    finally:
        print('left', n)


print([work(n) for n in range(4)])  # BP: end
",
        node: "\
function work(n) {
  try {
    return n; // BP: loop
  } finally {
    console.log('left', n);
  }
}

console.log([0, 1, 2, 3].map(work)); // BP: end
",
    };
    for language in BOTH {
        let mut stage = Stage::new(BIN, env!("CARGO_TARGET_TMPDIR"), language, endless);
        let slow = match language {
            Language::Python => "slow()",
            Language::Node => "(() => { for (;;); })()",
        };
        let message = format!("n is {{n}}, slow is {{{slow}}}");
        stage.trace("loop", json!({ "log_message": message }));
        let said = stage.launch(json!({ "timeout_s": 60 }));
        said.ended(json!({ "code": 0 })).has(&["left 0", "left 3"]);
        let expected = (0..4).map(|n| (n + 1, format!("n is {n}, slow is <error: Timeout>")));
        assert_eq!(heard(&mut stage), expected.collect::<Vec<_>>());
        let stops = stage.debug.ok("timeline_query", json!({ "since": 0, "kinds": ["stopped"] }));
        assert_eq!(stops.data["events"], json!([]), "it is no stop");
    }
}
