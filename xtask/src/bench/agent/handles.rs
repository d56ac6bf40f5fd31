//! What an agent copies from one answer into its next call: a call's handle, or the whole call that was proposed.

use anyhow::{Context, Result};
use serde_json::Value;

/// The arguments with each `{#TEXT}` replaced by the first handle behind TEXT, and `{TEXT#}` by the last before it; the
/// latest answer that has one counts.
pub(super) fn filled(arguments: &Value, read: &[&str]) -> Result<Value> {
    Ok(match arguments {
        Value::String(text) => Value::String(replaced(text, read)?),
        Value::Array(items) => {
            let filled: Result<Vec<Value>> = items.iter().map(|it| filled(it, read)).collect();
            Value::Array(filled?)
        }
        Value::Object(fields) => {
            let filled: Result<_> =
                fields.iter().map(|(name, it)| Ok((name.clone(), filled(it, read)?))).collect();
            Value::Object(filled?)
        }
        other => other.clone(),
    })
}

fn replaced(text: &str, read: &[&str]) -> Result<String> {
    let Some((before, rest)) = text.split_once('{') else { return Ok(text.to_owned()) };
    let Some((mark, after)) = rest.split_once('}') else { return Ok(text.to_owned()) };
    let found = match (mark.strip_prefix('#'), mark.strip_suffix('#')) {
        (Some(mark), _) => read.iter().rev().find_map(|it| handle_behind(it, mark)),
        (None, Some(mark)) => read.iter().rev().find_map(|it| handle_before(it, mark)),
        (None, None) => return Ok(text.to_owned()),
    };
    let handle = found.with_context(|| format!("no call's handle behind `{mark}`"))?;
    Ok(format!("{before}{handle}{after}"))
}

fn handle_behind(text: &str, mark: &str) -> Option<String> {
    let (_, behind) = text.split_once(mark)?;
    handle(behind.split_once('#')?.1)
}

fn handle_before(text: &str, mark: &str) -> Option<String> {
    let (before, _) = text.split_once(mark)?;
    handle(before.rsplit_once('#')?.1)
}

/// `#813`, `#2.813`.
fn handle(behind: &str) -> Option<String> {
    let is_part = |c: &char| c.is_ascii_digit() || *c == '.';
    let number: String = behind.chars().take_while(is_part).collect();
    let number = number.trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("#{number}"))
}

/// The call in an answer's line `next    record_frame {"call": "#22"}`.
pub(super) fn next(answer: &str) -> Result<(String, Value)> {
    let line = answer.lines().rev().find_map(|line| line.strip_prefix("next "));
    let line = line.context("the last answer names no next call")?.trim();
    let (name, arguments) = line.split_once(' ').context("it has no arguments")?;
    Ok((name.to_owned(), serde_json::from_str(arguments)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn handles_are_read_where_an_agent_reads_them() {
        let read = ["r1\nrate #3, apply #4", "odd rate: None once (#2.22), else"];
        let filled = |text: &str| filled(&json!({ "call": text }), &read).unwrap();
        assert_eq!(filled("{#rate}"), json!({ "call": "#2.22" }));
        assert_eq!(filled("{#apply}:42/2"), json!({ "call": "#4:42/2" }));
        assert_eq!(filled("{, else#}"), json!({ "call": "#2.22" }));
        assert_eq!(filled("#9"), json!({ "call": "#9" }));
        assert!(super::filled(&json!("{#nobody}"), &read).is_err());
    }

    #[test]
    fn the_next_call_is_the_one_that_was_proposed() {
        let answer = "kept 3 calls\ncomplete\nnext    record_frame {\"call\": \"#22\"}\n\nelsewhere: nothing";
        let expected = ("record_frame".to_owned(), json!({ "call": "#22" }));
        assert_eq!(next(answer).unwrap(), expected);
        assert!(next("complete").is_err());
    }
}
