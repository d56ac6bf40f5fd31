//! Notifications as real clients hear them: one server, heard over stdio, HTTP+SSE and streamable HTTP at
//! once, debugging a real Python or Node program. The scenarios are those of docs/contract/hits.md.

use holdpoint_testkit::stage::{BOTH, Language, Program, Stage};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const HIT: &str = "notifications/breakpoint/hit";
const STATE: &str = "notifications/debug/session_state";

const PROGRAM: Program = Program {
    python: "\
def work(count):
    total = 0
    for i in range(count):
        total += i  # BP: loop
    return total


print('sum', work(3))
other = 1  # BP: other
if other == 2:
    other = 3  # BP: never
raise ValueError('boom')  # BP: raise
",
    node: "\
function work(count) {
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += i; // BP: loop
  }
  return total;
}

console.log('sum', work(3));
let other = 1; // BP: other
if (other === 2) {
  other = 3; // BP: never
}
throw new TypeError('boom'); // BP: raise
",
};

fn stage(language: Language) -> Stage {
    Stage::new(BIN, env!("CARGO_TARGET_TMPDIR"), language, PROGRAM)
}

fn any(_: &Value) -> bool {
    true
}

/// Story 1, scenario 1.
#[test]
fn a_hit_is_notified_with_id_location_thread_and_time() {
    for language in BOTH {
        let mut stage = stage(language);
        let said = stage.run_to(&["loop"]);
        let hit = stage.all_hear(HIT, &any);
        assert_eq!((&hit["breakpoint_id"], &hit["type"]), (&json!(1), &json!("breakpoint")));
        assert_eq!((&hit["session_id"], &hit["hit_count"]), (&json!("s1"), &json!(1)));
        let location = &hit["location"];
        assert_eq!(location["file"], json!(stage.program));
        assert_eq!(location["line"], stage.line("loop"));
        assert_eq!(location["function"], "work");
        assert!(location.get("column").is_some(), "{hit}");
        assert_eq!(hit["thread_id"], said.data["stop"]["thread_id"]);
        assert_eq!(hit["seq"], said.data["seq"]);
        assert!(hit["timestamp"].as_str().unwrap().ends_with('Z'), "{hit}");
    }
}

/// Story 1, scenario 2.
#[test]
fn only_the_breakpoint_that_was_hit_is_notified() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.run_to(&["never", "other", "raise"]);
        let hits = stage.all_heard(HIT);
        let ids: Vec<&Value> = hits.iter().map(|hit| &hit["breakpoint_id"]).collect();
        assert_eq!(ids, [&json!(2)]);
    }
}

#[test]
fn every_hit_is_counted_and_said() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.run_to(&["loop"]);
        stage.debug.go().has(&["hit 2"]);
        let said = stage.debug.go();
        said.has(&["hit 3"]);
        assert_eq!(said.data["stop"]["hit_counts"], json!([3]));
        let mut last = 0;
        for count in 1..=3 {
            let hit = stage.all_hear(HIT, &any);
            assert_eq!(hit["hit_count"], count);
            let seq = hit["seq"].as_u64().unwrap();
            assert!(last < seq);
            last = seq;
        }
    }
}

#[test]
fn an_exception_is_a_hit_of_its_own_type() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.run_to(&[]).stands("exception", stage.line("raise"));
        let hit = stage.all_hear(HIT, &any);
        assert_eq!(hit["type"], "exception");
        assert_eq!(hit["location"]["line"], stage.line("raise"));
        assert!(hit["text"].as_str().unwrap().contains("boom"), "{hit}");
    }
}

#[test]
fn every_change_of_state_is_told_with_what_it_was() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.run_to(&["other"]).stands("breakpoint", stage.line("other"));
        stage.debug.ok("debug_stop", json!({}));
        let mut changes = Vec::new();
        loop {
            let change = stage.all_hear(STATE, &any);
            let of = |name: &str| change[name].as_str().unwrap_or("none").to_owned();
            changes.push((of("old"), of("new")));
            match change["new"].as_str().unwrap() {
                "stopped" => {
                    assert_eq!(change["reason"], "breakpoint");
                    assert_eq!(change["location"]["line"], stage.line("other"));
                }
                "ended" => {
                    assert!(change["reason"].as_str().unwrap().contains("signal"), "{change}");
                    break;
                }
                _ => assert_eq!(change["location"], Value::Null),
            }
        }
        let changes: Vec<_> =
            changes.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let expected = [
            ("none", "starting"),
            ("starting", "running"),
            ("running", "stopped"),
            ("stopped", "ended"),
        ];
        assert_eq!(changes, expected);
    }
}

/// For clients that drop what they do not know.
#[test]
fn the_same_facts_come_as_standard_messages() {
    let mut stage = stage(Language::Node);
    let uri = json!({ "uri": "holdpoint://timeline" });
    for client in stage.everyone() {
        client.ask("resources/subscribe", uri.clone());
    }
    stage.run_to(&["loop"]);
    let is_stop = |params: &Value| params["data"]["kind"] == "stopped";
    let logged = stage.all_hear("notifications/message", &is_stop);
    assert_eq!(
        (&logged["level"], &logged["logger"]),
        (&json!("info"), &json!("holdpoint.timeline"))
    );
    let data = &logged["data"]["data"];
    assert_eq!(
        (&data["reason"], &data["line"]),
        (&json!("breakpoint"), &json!(stage.line("loop")))
    );
    assert_eq!(data["hits"], json!([{ "breakpoint": 1, "hit_count": 1 }]));
    assert_eq!(stage.all_hear("notifications/resources/updated", &any), uri);
    // What the resource then says is what happened.
    let read = stage.debug.rpc.request("resources/read", uri);
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    let page: Value = serde_json::from_str(text).unwrap();
    let kinds: Vec<_> =
        page["events"].as_array().unwrap().iter().map(|it| it["kind"].clone()).collect();
    assert!(kinds.contains(&json!("stopped")) && kinds.contains(&json!("breakpoint_bound")));
}

#[test]
fn the_timeline_has_processes_threads_output_and_bindings_in_one_order() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.run_to(&["other"]);
        stage.debug.ok("breakpoint_set", json!({ "file": stage.program, "line": 5 }));
        stage.debug.go().stands("exception", stage.line("raise"));
        let said = stage.debug.go();
        assert_eq!(said.data["state"], "ended");
        let all = stage.debug.ok("timeline_query", json!({ "since": 0, "budget_tokens": 2_500 }));
        let events = all.data["events"].as_array().unwrap();
        let kinds: Vec<&str> = events.iter().map(|it| it["kind"].as_str().unwrap()).collect();
        let place = |kind: &str| {
            kinds
                .iter()
                .position(|it| *it == kind)
                .unwrap_or_else(|| unreachable!("{kind} in {kinds:?}"))
        };
        assert!(place("session_started") < place("process_started"));
        assert!(place("process_started") < place("stopped"));
        // What was printed before the stop is told before it.
        assert!(place("output") < place("stopped"), "{kinds:?}");
        assert!(place("process_ended") < place("session_ended"));
        let of = |kind: &str| {
            let found = events.iter().filter(|it| it["kind"] == kind);
            found.map(|it| it["data"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(of("output")[0]["text"], "sum 3\n");
        let bound = of("breakpoint_bound");
        assert_eq!(bound[0]["breakpoint"], 1);
        assert_eq!(
            (&bound[0]["line"], &bound[0]["moved"]),
            (&json!(stage.line("other")), &json!(false))
        );
        let seqs: Vec<u64> = events.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted_by(|a, b| a + 1 == *b), "{seqs:?}");
        if language == Language::Python {
            place("thread_started");
        }
    }
}
