//! Java, looking: values as they are, without running any code of the program's, and expressions that do.

use holdpoint_testkit::{
    debug::{Debug, fixture, line},
    node,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn at(mark: &str) -> Debug {
    let mut debug = node::start(BIN);
    let file = fixture("Values.java");
    let points = json!([{ "file": file, "line": line(&file, mark) }]);
    let more = json!({ "breakpoints": points, "stop_on_entry": false });
    debug.launch(&file, more).stands("breakpoint", line(&file, mark));
    debug
}

#[test]
fn values_are_readable_and_nothing_of_the_program_runs_for_it() {
    let mut debug = at("values");
    debug.ok("debug_variables", json!({})).has(&[
        "numbers: int[] = [3, 1, 2]",
        "list: ArrayList = [1, 2, 3]",
        "= [\"x\", \"y\", \"z\"]",
        "= [\"v\", \"w\"]",
        "map: LinkedHashMap = {\"a\"=1, \"b\"=2}",
        "tree: TreeMap = {1=\"one\", 2=\"two\"}",
        "= [\"only\"]",
        "deque: ArrayDeque = [1, 2, 3]",
        "loud: Values.Loud = {number=7, color=GREEN}",
        "text: String = \"tab\\t\\\"quoted\\\" ä\"",
        "letter: char = 'x'",
        "big: long = 5000000000",
        "half: double = 0.5",
        "boxed: Integer = 42",
        "nothing: Object = null",
        "color: Values.Color = RED",
    ]);
    debug.ok("debug_variables", json!({ "path": "grid[1][0]" })).has(&["\"b\""]);
    debug.ok("debug_variables", json!({ "path": "map" })).has(&["\"a\"", "\"b\"", "2"]);
    let output = debug.ok("debug_output", json!({})).text;
    assert!(!output.contains("toString ran"), "{output}");
}

#[test]
fn views_of_maps_and_the_elements_of_lists_are_shown_with_what_is_in_them() {
    let mut debug = at("values");
    let mut is = |expression: &str, expected: &str| {
        let found = debug.eval(expression);
        assert!(found.contains(expected), "{expression}: {found}");
    };
    is("map.keySet()", "[\"a\", \"b\"]");
    is("map.values()", "[1, 2]");
    is("map.entrySet()", "{\"a\"=1, \"b\"=2}");
    is("new java.util.HashMap(map).keySet()", "[\"a\", \"b\"]");
    is("tree.keySet()", "[1, 2]");
    is("tree.firstEntry()", "{1=\"one\"}");
    is("java.util.Optional.of(boxed)", "[42]");
    is("java.util.List.of(loud, loud)", "[Values.Loud{number=7, color=GREEN}, Values.Loud{");
    is("java.util.List.of(list, map)", "[[1, 2, 3], {\"a\"=1, \"b\"=2}]");
    let output = debug.ok("debug_output", json!({})).text;
    assert!(!output.contains("toString ran"), "{output}");
}

#[test]
fn expressions_are_evaluated_in_the_program() {
    let mut debug = at("values");
    let mut is = |expression: &str, expected: &str| {
        let found = debug.eval(expression);
        assert!(found.contains(expected), "{expression}: {found}");
    };
    is("numbers[0] * 2 + list.size()", "9");
    is("loud.twice(3)", "21");
    is("loud.twice(\"ab\")", "\"abab\"");
    is("\"n=\" + numbers.length + boxed", "\"n=342\"");
    is("list.get(1) == 2 && map.containsKey(\"a\")", "true");
    is("list[2]", "3");
    is("map[\"b\"]", "2");
    is("boxed + 1", "43");
    is("(int) half + LIMIT", "40");
    is("Math.max(3, 9)", "9");
    is("text.length() > 3 ? shared : null", "\"shared\"");
    is("list instanceof java.util.List", "true");
    is("loud.color == Color.GREEN", "true");
    is("\"\" + loud", "\"loud\"");
    is("fixed.contains(\"z\")", "true");
    is("loud.number = 9", "9");
    is("loud.twice(1)", "9");
    let failed = debug.fails("debug_evaluate", json!({ "expression": "nope + 1" }));
    failed.has(&["`nope` is no variable"]);
    let failed = debug.fails("debug_evaluate", json!({ "expression": "Integer.parseInt(\"x\")" }));
    failed.has(&["NumberFormatException"]);
}

#[test]
fn an_endless_method_is_broken_off_and_the_program_goes_on() {
    let mut debug = at("values");
    for endless in ["loud.endless()", "loud.endlessInside()"] {
        let asked = json!({ "expression": endless, "timeout_s": 1 });
        debug.fails("debug_evaluate", asked).has(&["interrupted"]);
        // It stands where it stood, and nothing of this is left in it.
        debug.ok("debug_stack", json!({})).has(&["Values.main"]);
        assert!(debug.eval("loud.twice(\"a\")").contains("aa"));
    }
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["caught"]);
}

#[test]
fn a_method_that_waits_in_the_machine_is_not_broken_off_and_ends_by_itself() {
    let mut debug = at("values");
    let asked = json!({ "expression": "loud.slow()", "timeout_s": 0.5 });
    let said = debug.fails("debug_evaluate", asked);
    said.has(&["goes on", "`debug_stop` ends the program"]);
    debug.ok("debug_stop", json!({}));
}

#[test]
fn a_variable_that_is_set_is_what_the_program_sees() {
    let mut debug = at("done");
    debug
        .ok("debug_set_variable", json!({ "name": "result", "value": "100 + boxed" }))
        .has(&["142"]);
    debug.ok("breakpoint_remove", json!({ "id": 1 }));
    debug.go().ended(json!({ "code": 0 })).has(&["done 142"]);
}

#[test]
fn a_lambda_sees_what_it_captured_and_its_object() {
    let mut debug = at("lambda");
    // First the line itself, then the body that is on it.
    debug.go().has(&["lambda", "outer"]);
    assert!(debug.eval("it + outer + field").contains("21"));
    debug.ok("debug_stack", json!({})).has(&["Values.inner.lambda", "Values.main"]);
}

#[test]
fn caught_exceptions_stop_where_they_pass_the_users_code() {
    let mut debug = node::start(BIN);
    let file = fixture("Values.java");
    debug.launch(&file, json!({}));
    debug.ok("breakpoint_set_exception", json!({ "filters": ["caught"] }));
    let said = debug.go();
    assert_eq!(said.data["stop"]["reason"], "exception", "{}", said.text);
    said.has(&["NumberFormatException", "nonsense"]);
    debug.go().ended(json!({ "code": 0 })).has(&["caught"]);
}
