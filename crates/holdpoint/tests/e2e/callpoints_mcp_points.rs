//! Callpoints over MCP: set, changed and removed by the tools about calls, in the words of the contract.

use serde_json::json;

use crate::callpoints_mcp::Stage;

/// One tool for both kinds: by a name it is that of functions, by a place that of lines.
#[test]
fn a_breakpoint_is_removed_in_the_words_of_its_kind() {
    let mut stage = Stage::new();
    let missing = stage.error("breakpoint_remove", json!({}));
    assert_eq!(
        (&missing["error"], &missing["parameter"]),
        (&json!("missing_parameter"), &json!("function_name"))
    );
    assert!(missing["message"].as_str().unwrap().contains("`file` and `line`"), "{missing}");
    let wrong = stage.error("breakpoint_remove", json!({ "function_name": 5 }));
    assert_eq!(
        (&wrong["error"], &wrong["parameter"]),
        (&json!("invalid_parameter"), &json!("function_name"))
    );
    let extra = json!({ "function_name": "f", "verbose": true, "id": null });
    assert_eq!(stage.ok("breakpoint_remove", extra)["status"], "ok");
    for line in [json!({ "id": 7 }), json!({ "file": "a.py", "line": 3, "verbose": true })] {
        let answer = stage.agent.call("breakpoint_remove", line);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(answer["isError"] == true && text.contains("E_"), "{text}");
    }
}

#[test]
fn breakpoints_are_added_listed_and_removed() {
    let mut stage = Stage::new();
    let empty =
        json!({ "breakpoints": [], "behaviors": {}, "after_behaviors": {}, "replacements": {} });
    assert_eq!(stage.ok("breakpoint_list_breakpoints", json!({})), empty);
    let added = stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    // Nobody has such a function: that it is set is not that it works.
    let note = "no app has registered `f` yet; its calls pause when one does";
    let pauses = "before, after";
    assert_eq!(
        added,
        json!({ "status": "ok", "function_name": "f", "pauses": pauses, "note": note })
    );
    let known = json!({ "function_name": "shop.cart:charge", "signature": "(a)" });
    stage.wire.ok("/api/functions", known);
    let charge = |name: &str| json!({ "function_name": name });
    let bound = stage.ok("breakpoint_add", charge("shop.cart:charge"));
    assert_eq!(
        bound,
        json!({ "status": "ok", "function_name": "shop.cart:charge", "pauses": pauses })
    );
    let near = stage.ok("breakpoint_add", charge("chrge"))["note"].clone();
    assert!(near.as_str().unwrap().ends_with("did you mean `shop.cart:charge`?"), "{near}");
    for name in ["shop.cart:charge", "chrge"] {
        stage.ok("breakpoint_remove", charge(name));
    }
    stage.ok("breakpoint_add", json!({ "function_name": "g", "behavior": "stop" }));
    // Again, it is what it was.
    stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["breakpoints"], json!(["f", "g"]));
    assert_eq!(listed["behaviors"], json!({ "f": "yield", "g": "stop" }));
    assert_eq!(listed["after_behaviors"], json!({ "f": "yield", "g": "yield" }));
    let missing = stage.error("breakpoint_add", json!({}));
    assert_eq!(
        (&missing["error"], &missing["parameter"]),
        (&json!("missing_parameter"), &json!("function_name"))
    );
    let bad = stage.error("breakpoint_add", json!({ "function_name": "h", "behavior": "odd" }));
    assert_eq!(bad["error"], "invalid_behavior");
    assert_eq!(bad["message"], "it is stop, go or yield");
    stage.ok("breakpoint_set_after_behavior", json!({ "function_name": "g", "behavior": "stop" }));
    for name in ["g", "never"] {
        let removed = stage.ok("breakpoint_remove", json!({ "function_name": name }));
        assert_eq!(removed, json!({ "status": "ok", "function_name": name }));
    }
    stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["behaviors"], json!({ "f": "yield", "g": "yield" }));
    assert_eq!(listed["after_behaviors"]["g"], "yield");
    // `breakpoint_list` has every kind.
    let all = stage.agent.call("breakpoint_list", json!({}));
    let rows = all["structuredContent"]["data"]["breakpoints"].as_array().unwrap().clone();
    assert_eq!(rows.iter().filter(|row| row["type"] == "callpoint").count(), 2);
}

/// Everything about a function in one call, or nothing of it.
#[test]
fn a_breakpoint_is_added_whole_or_not_at_all() {
    let mut stage = Stage::new();
    for (name, signature) in [("f", "(a)"), ("g", "(a)"), ("h", "(a, b)")] {
        stage.wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }));
    }
    let whole =
        json!({ "function_name": "f", "behavior": "go", "after": "exception", "replacement": "g" });
    assert_eq!(stage.ok("breakpoint_add", whole)["pauses"], "when it raises");
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["behaviors"], json!({ "f": "go" }));
    assert_eq!(listed["after_behaviors"], json!({ "f": "exception" }));
    assert_eq!(listed["replacements"], json!({ "f": "g" }));
    let odd = stage.error("breakpoint_add", json!({ "function_name": "g", "after": "odd" }));
    assert_eq!(odd["error"], "invalid_behavior");
    let other = stage.error("breakpoint_add", json!({ "function_name": "g", "replacement": "h" }));
    assert_eq!(other["error"], "signature_mismatch");
    assert_eq!(stage.ok("breakpoint_list_breakpoints", json!({}))["breakpoints"], json!(["f"]));
    // What yields is as the default says, and the answer says what that is.
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let yields = stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    assert_eq!(yields["pauses"], "never; the default is go");
}

#[test]
fn behaviors_are_set_and_checked() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    let mut set = |tool: &str, behavior: &str| {
        stage.call(tool, json!({ "function_name": "f", "behavior": behavior }))
    };
    for (given, kept) in
        [("stop", "stop"), ("go", "go"), ("yield", "yield"), ("continue", "go"), ("defer", "yield")]
    {
        let answer = json!({ "status": "ok", "function_name": "f", "behavior": kept });
        assert_eq!(set("breakpoint_set_behavior", given), (false, answer));
    }
    for (given, kept) in [
        ("stop", "stop"),
        ("go", "go"),
        ("exception", "exception"),
        ("stop_exception", "stop_exception"),
        ("yield", "yield"),
        ("both", "stop_exception"),
    ] {
        let answer = json!({ "status": "ok", "function_name": "f", "behavior": kept });
        assert_eq!(set("breakpoint_set_after_behavior", given), (false, answer));
    }
    for tool in ["breakpoint_set_behavior", "breakpoint_set_after_behavior"] {
        let (is_error, answer) = set(tool, "odd");
        assert_eq!((is_error, &answer["error"]), (true, &json!("invalid_behavior")));
    }
    for tool in ["breakpoint_set_behavior", "breakpoint_set_after_behavior"] {
        let none = stage.error(tool, json!({ "function_name": "none", "behavior": "stop" }));
        assert_eq!(none["error"], "breakpoint_not_found");
    }
    let get = |stage: &mut Stage| stage.ok("breakpoint_get_default_behavior", json!({}));
    assert_eq!(get(&mut stage), json!({ "behavior": "stop" }));
    for behavior in ["go", "exception", "stop_exception", "stop"] {
        let set = stage.ok("breakpoint_set_default_behavior", json!({ "behavior": behavior }));
        assert_eq!(set, json!({ "status": "ok", "behavior": behavior }));
        assert_eq!(get(&mut stage), json!({ "behavior": behavior }));
    }
    let bad = stage.error("breakpoint_set_default_behavior", json!({ "behavior": "yield" }));
    assert_eq!(bad["error"], "invalid_behavior");
}

#[test]
fn a_replacement_needs_equal_signatures() {
    let mut stage = Stage::new();
    let none = json!({ "functions": [], "signatures": {}, "metadata": {} });
    assert_eq!(stage.ok("breakpoint_list_functions", json!({})), none);
    let set = |stage: &mut Stage, to: &str| {
        let arguments = json!({ "function_name": "f", "replacement_function": to });
        stage.call("breakpoint_set_replacement", arguments)
    };
    let unknown = set(&mut stage, "g");
    assert_eq!((unknown.0, &unknown.1["error"]), (true, &json!("signature_mismatch")));
    for (name, signature) in [("f", "(a)"), ("g", "(a)"), ("h", "(a, b)")] {
        stage.wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }));
    }
    assert_eq!(set(&mut stage, "g").1["error"], "breakpoint_not_found");
    stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    assert_eq!(set(&mut stage, "h").1["error"], "signature_mismatch");
    let done = json!({ "status": "ok", "function_name": "f", "replacement_function": "g" });
    assert_eq!(set(&mut stage, "g"), (false, done));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["replacements"], json!({ "f": "g" }));
    assert!(!set(&mut stage, "").0);
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["replacements"], json!({}));
    let functions = stage.ok("breakpoint_list_functions", json!({}));
    assert_eq!(functions["functions"], json!(["f", "g", "h"]));
    assert_eq!(functions["signatures"]["h"], "(a, b)");
    assert_eq!(functions["metadata"], json!({}));
    let more = json!({ "function_name": "k", "function_metadata": { "module": "shop" } });
    stage.wire.ok("/api/functions", more);
    let functions = stage.ok("breakpoint_list_functions", json!({}));
    assert_eq!(functions["metadata"]["k"]["module"], "shop");
}
