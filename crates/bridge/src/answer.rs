//! What a job's folder says when it is done: the data, or why not. The public bridge calls every failure of a script
//! `E_INTERNAL`; what it was is read in its text.

use std::{
    fs, io,
    path::{Component, Path},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{BridgeError, Ran, limits};

/// What a script answered.
#[derive(Debug, Clone, PartialEq)]
pub struct BridgeAnswer {
    pub data: Value,
    /// Where the person is in the editor, where it says.
    pub editor_context: Option<Value>,
    /// From the command's being there to its being taken.
    pub pickup: Duration,
    /// From then to the answer.
    pub took: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    data: Value,
    data_ref: Option<String>,
    editor_context: Option<Value>,
}

#[derive(Deserialize)]
struct ErrorFile {
    error: ScriptError,
}

#[derive(Deserialize)]
struct ScriptError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    hint: Option<String>,
    details: Option<Value>,
}

/// What is in the folder of a job that is done.
pub(crate) enum Found {
    Answer(BridgeAnswer),
    /// It was not run for want of room.
    NoRoom,
    /// It was not run: too many have failed.
    Closed(Duration),
    /// The script, or its bridge, said no.
    Failed(BridgeError),
    /// Not whole yet, or never.
    Unreadable(String),
}

pub(crate) fn read(folder: &Path, script: &str) -> Found {
    match file(&folder.join("error.json")) {
        Ok(text) => return failed(&text, script),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Found::Unreadable(error.to_string()),
    }
    let answer = file(&folder.join("response.json")).and_then(|text| {
        let response: Response = serde_json::from_slice(&text)?;
        let data = match &response.data_ref {
            Some(name) => serde_json::from_slice(&file(&folder.join(plain_name(name)?))?)?,
            None => response.data,
        };
        Ok((data, response.editor_context))
    });
    match answer {
        Ok((data, editor_context)) => Found::Answer(BridgeAnswer {
            data,
            editor_context,
            pickup: Duration::ZERO,
            took: Duration::ZERO,
        }),
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

/// A name in the job's folder and nowhere else.
fn plain_name(name: &str) -> io::Result<&str> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) if !name.contains(['/', '\\', ':']) => Ok(name),
        _ => Err(io::Error::other(format!("`{name}` is no file of the job"))),
    }
}

/// A whole file, if it is no larger than an answer may be. No link is followed: it is not ours.
fn file(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    if found.len() > limits::ANSWER_BYTES {
        return Err(io::Error::other(format!("it has {} bytes", found.len())));
    }
    let mut text = Vec::new();
    let mut file = io::Read::take(fs::File::open(path)?, limits::ANSWER_BYTES);
    io::Read::read_to_end(&mut file, &mut text)?;
    Ok(text)
}

fn failed(text: &[u8], script: &str) -> Found {
    let error = match serde_json::from_slice::<ErrorFile>(text) {
        Ok(read) => read.error,
        Err(error) => return Found::Unreadable(error.to_string()),
    };
    match error.code.as_str() {
        "E_CAPACITY" => Found::NoRoom,
        "E_CIRCUIT_OPEN" => {
            let after = error.details.as_ref().and_then(|it| it.get("retryAfter"));
            let seconds = after.and_then(Value::as_f64).unwrap_or(60.0).clamp(1.0, 600.0);
            Found::Closed(Duration::from_secs_f64(seconds))
        }
        "E_CANCELLED" => {
            Found::Failed(BridgeError::Cancelled { script: script.to_owned(), ran: Ran::Maybe })
        }
        _ => {
            let (code, message) = classified(&error.code, &error.message);
            let details = error.details.and_then(without_traces).map(Box::new);
            Found::Failed(BridgeError::Script { code, message, hint: error.hint, details })
        }
    }
}

/// What it is called, and what it says without that and without a stack trace.
fn classified(code: &str, message: &str) -> (String, String) {
    let (said, rest) = match message.split_once(':') {
        Some((code, rest)) if is_code(code.trim()) => (Some(code.trim()), rest.trim()),
        _ => (None, message),
    };
    let text = cut(&without_frames(rest));
    let erased = code.is_empty() || code == "E_INTERNAL" || code == "E_UNKNOWN";
    let class = match (erased, said) {
        (false, _) => code,
        (true, Some(said)) => said,
        (true, None) => meant(&text),
    };
    (merged(class).to_owned(), text)
}

fn is_code(text: &str) -> bool {
    text.starts_with("E_") && text.chars().all(|it| it == '_' || it.is_ascii_uppercase())
}

/// What words in a text mean, the surest first.
const MEANT: &[(&[&str], &str)] = &[
    (&["no active debug session"], "E_NO_SESSION"),
    (&["no debug session"], "E_NO_SESSION"),
    (&["session", "not found"], "E_NO_SESSION"),
    (&["no active session"], "E_NO_SESSION"),
    (&["not paused"], "E_NOT_STOPPED"),
    (&["not stopped"], "E_NOT_STOPPED"),
    (&["must be paused"], "E_NOT_STOPPED"),
    (&["is running"], "E_NOT_STOPPED"),
    (&["no thread"], "E_NOT_STOPPED"),
    (&["no stack"], "E_NOT_STOPPED"),
    (&["script not found"], "E_SCRIPT_NOT_FOUND"),
    (&["unknown script"], "E_SCRIPT_NOT_FOUND"),
    (&["configuration", "not found"], "E_NOT_FOUND"),
    (&["no such file"], "E_FILE_NOT_FOUND"),
    (&["enoent"], "E_FILE_NOT_FOUND"),
    (&["file", "not found"], "E_FILE_NOT_FOUND"),
    (&["file", "does not exist"], "E_FILE_NOT_FOUND"),
    (&["ambiguous"], "E_AMBIGUOUS_SYMBOL"),
    (&["no language server"], "E_NO_LANGUAGE_SERVER"),
    (&["no symbol provider"], "E_NO_LANGUAGE_SERVER"),
    (&["symbol", "not found"], "E_NOT_FOUND"),
    (&["not found"], "E_NOT_FOUND"),
    (&["read-only"], "E_READ_ONLY"),
    (&["readonly"], "E_READ_ONLY"),
    (&["invalid reference"], "E_INVALID_REFERENCE"),
    (&["variablesreference"], "E_INVALID_REFERENCE"),
    (&["unrecognized key"], "E_INVALID_PARAMS"),
    (&["validation"], "E_INVALID_PARAMS"),
    (&["invalid"], "E_INVALID_PARAMS"),
    (&["is required"], "E_INVALID_PARAMS"),
    (&["not defined"], "E_EVALUATE_FAILED"),
    (&["syntaxerror"], "E_EVALUATE_FAILED"),
    (&["evaluat"], "E_EVALUATE_FAILED"),
    (&["timed out"], "E_TIMEOUT"),
    (&["timeout"], "E_TIMEOUT"),
    (&["not supported"], "E_UNSUPPORTED_OPERATION"),
    (&["unsupported"], "E_UNSUPPORTED_OPERATION"),
];

fn meant(text: &str) -> &'static str {
    let text = text.to_lowercase();
    let holds = |words: &&[&str]| words.iter().all(|it| text.contains(it));
    MEANT.iter().find(|(words, _)| holds(words)).map_or("E_INTERNAL", |(_, code)| code)
}

/// One code for one thing: theirs has several.
fn merged(code: &str) -> &str {
    match code {
        "E_NOT_PAUSED" | "E_NO_THREAD" | "E_NO_THREADS" | "E_NO_STACK" | "E_NO_FRAMES" => {
            "E_NOT_STOPPED"
        }
        "E_INVALID_INPUT"
        | "E_INVALID_PARAM"
        | "E_VALIDATION_FAILED"
        | "E_MISSING_REQUIRED_PARAM" => "E_INVALID_PARAMS",
        "E_OPERATION_CANCELLED" | "E_ABORTED" => "E_CANCELLED",
        "E_SYMBOL_NOT_FOUND" => "E_NOT_FOUND",
        "E_SESSION_NOT_FOUND" => "E_NO_SESSION",
        "E_INVALID_EXPRESSION" => "E_EVALUATE_FAILED",
        other => other,
    }
}

/// Where in their code it happened is of no use to a model, and a name of somebody's machine.
fn without_frames(text: &str) -> String {
    let is_frame =
        |line: &&str| line.trim_start().starts_with("at ") && line.starts_with([' ', '\t']);
    text.lines().filter(|line| !is_frame(line)).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(limits::MESSAGE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The details without stacks, on every level, and without what only repeats the message.
fn without_traces(details: Value) -> Option<Value> {
    match details {
        Value::Object(fields) => {
            let kept: Map<String, Value> = fields
                .into_iter()
                .filter(|(name, _)| !["stack", "stackTrace", "error"].contains(&name.as_str()))
                .filter_map(|(name, value)| Some((name, without_traces(value)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::String(text) => Some(Value::String(cut(&without_frames(&text)))),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_public_bridge_erased_is_read_in_its_text() {
        for (code, message, class, text) in [
            ("E_INTERNAL", "E_NO_SESSION: nothing runs", "E_NO_SESSION", "nothing runs"),
            ("E_INTERNAL", "No active debug session", "E_NO_SESSION", "No active debug session"),
            ("E_INTERNAL", "Debugger is not paused", "E_NOT_STOPPED", "Debugger is not paused"),
            ("E_INTERNAL", "E_NOT_PAUSED: x", "E_NOT_STOPPED", "x"),
            (
                "E_INTERNAL",
                "Launch configuration 'a' not found",
                "E_NOT_FOUND",
                "Launch configuration 'a' not found",
            ),
            ("E_INTERNAL", "ENOENT: no such file", "E_FILE_NOT_FOUND", "ENOENT: no such file"),
            (
                "E_INTERNAL",
                "Unrecognized key: \"x\"",
                "E_INVALID_PARAMS",
                "Unrecognized key: \"x\"",
            ),
            (
                "E_INTERNAL",
                "name 'x' is not defined",
                "E_EVALUATE_FAILED",
                "name 'x' is not defined",
            ),
            ("E_INTERNAL", "boom", "E_INTERNAL", "boom"),
            ("E_NO_SESSION", "none", "E_NO_SESSION", "none"),
            ("E_INTERNAL", "boom\n    at run (/x/y.js:1:2)\n    at z", "E_INTERNAL", "boom"),
        ] {
            let told = classified(code, message);
            assert_eq!((told.0.as_str(), told.1.as_str()), (class, text), "{message}");
        }
    }

    #[test]
    fn details_keep_facts_and_lose_traces() {
        let details = json!({"stack": "at x", "error": "e", "configurations": ["a"], "inner": {"stack": "y"}});
        assert_eq!(without_traces(details), Some(json!({"configurations": ["a"]})));
        assert_eq!(without_traces(json!({"stack": "at x"})), None);
    }

    #[test]
    fn data_is_read_from_the_job_s_own_folder_alone() {
        for name in ["../x", "/etc/passwd", "a/b", "..", ".", "", "C:x", "a\\b"] {
            assert!(plain_name(name).is_err(), "{name}");
        }
        assert_eq!(plain_name("data.json").unwrap(), "data.json");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), r#"{"data": 1}"#).unwrap();
        let link = folder.path().join("response.json");
        std::os::unix::fs::symlink(folder.path().join("secret"), link).unwrap();
        assert!(matches!(read(folder.path(), "x"), Found::Unreadable(_)));
    }
}
