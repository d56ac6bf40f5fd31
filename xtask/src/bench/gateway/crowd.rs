//! A thousand calls at once by one client, to four servers: every answer is looked at.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Far, ready};
use crate::bench::client::Server;
use crate::bench::table::{Goal, Row, Unit};

const CALLS: u64 = 1_000;
const NAMES: [&str; 4] = ["s1", "s2", "h1", "h2"];
/// Ids of the handshake come before.
const FIRST_ID: u64 = 1_000;
/// An answer that has not come by then is lost.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    eprintln!("{CALLS} calls at once …");
    let through = |id: u64, text: &str| {
        let name = NAMES.get(usize::try_from(id).unwrap_or(0) % NAMES.len()).unwrap_or(&"s1");
        let arguments = json!({ "tool": format!("{name}/echo"), "arguments": { "text": text } });
        json!({ "name": "external_call_tool", "arguments": arguments })
    };
    let direct = |_: u64, text: &str| json!({ "name": "echo", "arguments": { "text": text } });
    let ours = all_at_once(&far.behind("mcp", &NAMES)?, &through).context("ours")?;
    let floor = all_at_once(&far.direct(), &direct).context("the floor")?;
    let row = |what: &str, unit, ours, floor, goal| Row {
        what: format!("{CALLS} calls at once to two servers over pipes and two over HTTP, {what}"),
        unit,
        ours,
        floor,
        goal,
    };
    let all = Goal::AtLeast(CALLS as f64);
    Ok(vec![
        row("right answers", Unit::Pieces, ours.right as f64, floor.right as f64, all),
        row("all of them", Unit::Milliseconds, ours.took_ms, floor.took_ms, Goal::None),
    ])
}

struct Came {
    /// Answers that hold what their own call said.
    right: usize,
    took_ms: f64,
}

/// The text of a call is in no other one.
fn all_at_once(server: &Server, params: &dyn Fn(u64, &str) -> Value) -> Result<Came> {
    let (mut writer, mut reader, _server) = ready(server)?.into_ends();
    let mut said = BTreeMap::new();
    let mut lines = Vec::new();
    for id in FIRST_ID..FIRST_ID + CALLS {
        let text = format!("call {id} of its own");
        let params = params(id, &text);
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        serde_json::to_writer(&mut lines, &message)?;
        lines.push(b'\n');
        said.insert(id, text);
    }
    let (tells, answers) = channel();
    // Ends with the server, at the latest when that is dropped.
    thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            if tells.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    let start = Instant::now();
    // A server that takes its time with reading holds this up, not the answers.
    thread::spawn(move || writer.write_all(&lines).and_then(|()| writer.flush()).map(|()| writer));
    let (mut right, mut took) = (0, Duration::ZERO);
    while let Ok(line) = answers.recv_timeout(LIMIT.saturating_sub(start.elapsed())) {
        let answer: Value = serde_json::from_str(&line)?;
        let Some(text) = answer.get("id").and_then(Value::as_u64).and_then(|id| said.remove(&id))
        else {
            continue;
        };
        took = start.elapsed();
        right += usize::from(is_right(&answer, &text));
        if said.is_empty() {
            break;
        }
    }
    Ok(Came { right, took_ms: took.as_secs_f64() * 1e3 })
}

fn is_right(answer: &Value, text: &str) -> bool {
    let block = answer.pointer("/result/content/0/text").and_then(Value::as_str);
    // Through us the block holds the result as JSON.
    let inner = block.and_then(|it| serde_json::from_str::<Value>(it).ok());
    let inner = inner.as_ref().and_then(|it| it.pointer("/content/0/text")?.as_str());
    inner.or(block) == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_right_if_it_holds_its_own_text() {
        let plain = json!({ "result": { "content": [{ "text": "a" }] } });
        assert!(is_right(&plain, "a") && !is_right(&plain, "b"));
        let passed_on = json!({ "content": [{ "text": "a" }] }).to_string();
        let passed_on = json!({ "result": { "content": [{ "text": passed_on }] } });
        assert!(is_right(&passed_on, "a") && !is_right(&passed_on, "b"));
        assert!(!is_right(&json!({ "error": { "message": "a" } }), "a"));
    }
}
