//! What an answer must say, a line each:
//!
//! - `stopped REASON at MARK|MARK`, `ended {exit}|{exit}`, `finally ended …` (after whatever other stops), `running`
//! - `has TEXT`, `lacks TEXT`
//! - `variable NAME = VALUE`
//! - `data POINTER = JSON`, `data POINTER >= NUMBER` (of a list, its length)

use holdpoint_testkit::debug::Said;
use serde_json::Value;

/// Holds one line against an answer; the failure says what was wrong. `line` is a mark's line.
pub(super) fn check(check: &str, said: &Said, line: &dyn Fn(&str) -> usize) -> Result<(), String> {
    let (word, rest) = check.split_once(' ').unwrap_or((check, ""));
    let holds = match word {
        "stopped" => stopped(rest, said, line),
        "ended" => {
            let exits = rest.split('|').map(json);
            said.data["state"] == "ended" && exits.into_iter().any(|it| said.data["exit"] == it)
        }
        "running" => said.data["state"] == "running",
        "has" => said.text.contains(rest),
        "lacks" => !said.text.contains(rest),
        "variable" => variable(rest, said),
        "data" => data(rest, &said.data),
        _ => panic!("no check `{check}`"),
    };
    if holds { Ok(()) } else { Err(format!("not `{check}`: {}\n{}", said.text, said.data)) }
}

fn stopped(rest: &str, said: &Said, line: &dyn Fn(&str) -> usize) -> bool {
    let (reason, marks) = rest.split_once(" at ").expect("`stopped REASON at MARK`");
    let stop = &said.data["stop"];
    let is_there = |mark: &str| stop["line"] == line(mark);
    said.data["state"] == "stopped" && stop["reason"] == reason && marks.split('|').any(is_there)
}

fn variable(rest: &str, said: &Said) -> bool {
    let (name, value) = rest.split_once(" = ").expect("`variable NAME = VALUE`");
    let all = said.data["variables"].as_array().cloned().unwrap_or_default();
    let is_it = |it: &Value| it["name"] == name && it["value"] == value;
    all.iter().any(is_it)
        || said.data["scopes"].as_array().is_some_and(|scopes| {
            let each = scopes.iter().filter_map(|it| it["variables"].as_array()).flatten();
            each.into_iter().any(is_it)
        })
}

fn data(rest: &str, data: &Value) -> bool {
    if let Some((pointer, least)) = rest.split_once(" >= ") {
        let found = data.pointer(pointer).unwrap_or(&Value::Null);
        let number = found.as_array().map(Vec::len).or_else(|| found.as_u64()?.try_into().ok());
        return number.is_some_and(|it| it >= least.parse::<usize>().expect("a number"));
    }
    let (pointer, wanted) = rest.split_once(" = ").expect("`data POINTER = JSON`");
    data.pointer(pointer) == Some(&json(wanted))
}

#[track_caller]
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
