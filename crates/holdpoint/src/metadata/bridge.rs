//! A script of the editor, by its bridge: paths as the editor names them, waits in slices, counts from 1, and an end
//! that was not one told as what it was.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use holdpoint_bridge::{Bridge, BridgeAnswer, BridgeError, BridgeStatus, Ran, Sides, Waiting};
use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
};
use holdpoint_metadata::{BridgeAsk, BridgeCarrier, Literal, ParamKind, ToolSpec};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{arguments::Given, failures, render};
use crate::tool::{Answer, Call, Reply};

/// Members of an answer that are paths.
const PATHS: &[&str] = &["file", "path", "outputPath", "workspaceFolder"];

/// The editor that has a workspace open.
pub(super) struct Editor {
    workspace: PathBuf,
    /// The bridge of the last call: it keeps a folder ready for the next.
    held: Mutex<Option<Bridge>>,
}

impl Editor {
    pub(super) fn of(workspace: &Path) -> Editor {
        Editor { workspace: workspace.to_owned(), held: Mutex::default() }
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(super) fn is_there(&self) -> bool {
        Bridge::find(&self.workspace).is_ok()
    }

    /// The bridge that lives now: windows open and close while a server runs.
    fn bridge(&self) -> Result<Bridge, Failure> {
        let found = Bridge::find(&self.workspace).map_err(|error| failure(&error))?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_ref().filter(|it| it.folder() == found.folder()) {
            Some(held) => Ok(held.clone()),
            None => Ok(held.insert(found).clone()),
        }
    }
}

pub(super) async fn run(
    editor: &Editor,
    carrier: &BridgeCarrier,
    spec: &ToolSpec,
    given: &Given,
    call: &Call,
) -> Result<Reply, Failure> {
    let bridge = editor.bridge()?;
    let script = match &carrier.ask {
        BridgeAsk::Status => return Ok(state(&bridge.status())),
        BridgeAsk::Script(script) => script.as_str(),
    };
    let sides = bridge.sides();
    let mut params = given.to_json();
    name_paths(spec, &mut params, &sides);
    let asked = Asked { bridge: &bridge, script, call };
    let answer = match &carrier.wait {
        _ if carrier.reloads => return asked.reload(editor, params).await,
        Some(wait) => asked.in_slices(wait, given, params).await,
        None => asked.once(params, asked.left()).await.map_err(|error| failure(&error)),
    }?;
    let mut data = match (carrier.context, answer.editor_context) {
        (true, Some(context)) => context,
        _ => answer.data,
    };
    outcome(&data)?;
    for path in &carrier.zero_based {
        count_from_one(&mut data, path);
    }
    plain_paths(&mut data, &sides);
    Ok(Answer::json(render::text(&data), data).into())
}

/// One call on its way.
struct Asked<'a> {
    bridge: &'a Bridge,
    script: &'a str,
    call: &'a Call,
}

impl Asked<'_> {
    /// Until the boundary would cut it off, and a little less: the bridge knows whether the script was run.
    fn left(&self) -> Duration {
        let left = self.call.until.saturating_duration_since(Instant::now());
        left - left / 20
    }

    async fn once(&self, params: Value, timeout: Duration) -> Result<BridgeAnswer, BridgeError> {
        self.bridge.call(self.script, params, timeout, &self.call.cancel).await
    }

    /// No script waits for longer than a slice; one that saw nothing in its slice is asked again.
    async fn in_slices(
        &self,
        wait: &str,
        given: &Given,
        params: Value,
    ) -> Result<BridgeAnswer, Failure> {
        let asked = given.get(wait).and_then(Literal::as_number).unwrap_or_default();
        let within = Duration::from_secs_f64(asked.max(0.0) / 1_000.0).min(self.left());
        let (script, until) = (self.script, Instant::now() + self.left());
        let waiting =
            Waiting { script, field: wait, within, grace: limits::TOOL_WAIT_GRACE, until };
        let doing = |left: Duration| {
            self.call.doing(format!("waits for the editor, {} s more", left.as_secs()));
        };
        let answer = self.bridge.wait(waiting, params, &self.call.cancel, doing).await;
        answer.map_err(|error| failure(&error))?.ok_or_else(|| {
            let waited = (within.as_secs_f64() * 10.0).round() / 10.0;
            Failure::new(Code::Timeout, format!("nothing of it happened within {waited} s"))
        })
    }

    /// The window goes away under the call, so no answer is one; then the next bridge is waited for.
    async fn reload(&self, editor: &Editor, params: Value) -> Result<Reply, Failure> {
        let before = self.bridge.status().bridge_id;
        match self.once(params, self.left()).await {
            Ok(_)
            | Err(BridgeError::Restarted { ran: Ran::Maybe })
            | Err(BridgeError::Unavailable { ran: Ran::Maybe, .. })
            | Err(BridgeError::Timeout { ran: Ran::Maybe, .. }) => {}
            Err(error) => return Err(failure(&error)),
        }
        let is_new = || {
            let bridge = editor.bridge().ok()?;
            bridge.status().bridge_id.filter(|it| Some(it) != before.as_ref())
        };
        while !self.left().is_zero() {
            if let Some(id) = is_new() {
                let text = format!("the window was reloaded; its bridge is `{id}` now");
                let data = json!({ "reloaded": true, "bridgeId": id });
                return Ok(Answer::json(text, data).into());
            }
            tokio::time::sleep(limits::LOOK_AGAIN.min(self.left())).await;
        }
        let text = "the window is told to reload; `bridge_status` says when it is back";
        Ok(Answer::json(text, json!({ "reloaded": false })).into())
    }
}

fn failure(error: &BridgeError) -> Failure {
    let mut failure = Failure::new(failures::code(error.code()), error.to_string());
    failure.hint = error.hint().map(Into::into);
    if failure.code == Code::Unsupported && failure.hint.is_none() {
        failure.hint = Some("the extension in the editor is of another version; update it".into());
    }
    failure.details = error.details().map(Box::new);
    failure
}

/// A wait that came to nothing is answered like one that did not; its `event` says which it was.
fn outcome(data: &Value) -> Result<(), Failure> {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    match text("event") {
        Some("timeout") => Err(Failure::new(Code::Timeout, "nothing of it happened in that time")),
        Some("error") => {
            let code = failures::code(text("code").unwrap_or_default());
            let message = text("message").unwrap_or("the script failed").to_owned();
            let mut failure = Failure::new(code, message);
            failure.hint = text("hint").map(|it| it.to_owned().into());
            Err(failure)
        }
        _ => Ok(()),
    }
}

fn state(status: &BridgeStatus) -> Reply {
    let data = json!({
        "healthy": status.dead.is_none(),
        "why": status.dead,
        "extension": status.flavour.called(),
        "version": Some(&status.capabilities.version).filter(|it| !it.is_empty()),
        "capabilities": status.capabilities.capabilities,
        "bridgeId": status.bridge_id,
        "workspace": status.workspace,
        "bridgeRoot": status.folder,
        "pid": status.pid,
        "platform": status.platform,
        "lastSeenAgo": status.last_seen.map(|it| it.as_secs_f64()),
        "jobsUnderWay": status.in_flight,
        "twoWindows": status.split,
    });
    let known = data.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let known = Value::Object(known.map(|(name, it)| (name.clone(), it.clone())).collect());
    Answer::json(told(status), known).into()
}

fn told(status: &BridgeStatus) -> String {
    let version = &status.capabilities.version;
    let called = format!("{} {version}", status.flavour.called());
    let seen = status.last_seen.map(|it| format!(", heard {:.1} s ago", it.as_secs_f64()));
    let mut lines = vec![match &status.dead {
        None => format!("VS Code answers: {}{}", called.trim_end(), seen.unwrap_or_default()),
        Some(why) => format!("VS Code does not answer: {why}"),
    }];
    lines.push(format!("workspace: {}", status.workspace.display()));
    if let Some((owner, other)) = &status.split {
        lines.push(format!("two windows answer for it, `{owner}` and `{other}`: close one"));
    }
    lines.push(match status.dead {
        None => "hint: `debug_launch` with `backend`: `vscode` starts a program there, `debug_attach` joins one",
        Some(_) => "hint: open the folder in VS Code, or \"Developer: Reload Window\" there",
    }
    .to_owned());
    lines.join("\n")
}

/// The paths of a call, as the editor's side names them.
fn name_paths(spec: &ToolSpec, params: &mut Value, sides: &Sides) {
    for param in &spec.params {
        if let ParamKind::Text { is_path: true, .. } = param.kind
            && let Some(Value::String(path)) = params.get_mut(&param.name)
        {
            *path = sides.there(path);
        }
    }
}

/// Those of an answer, as ours does.
fn plain_paths(data: &mut Value, sides: &Sides) {
    match data {
        Value::Array(items) => items.iter_mut().for_each(|item| plain_paths(item, sides)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(path) if PATHS.contains(&name.as_str()) => {
                        *path = sides.here(path);
                    }
                    member => plain_paths(member, sides),
                }
            }
        }
        _ => {}
    }
}

/// `calls[].line` is one more in each of `calls`.
fn count_from_one(data: &mut Value, path: &str) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_each) = match step.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (step, false),
    };
    let Some(member) = data.get_mut(name) else { return };
    match (member, rest) {
        (Value::Array(items), rest) if is_each => {
            items.iter_mut().for_each(|item| count_from_one(item, rest));
        }
        (member, "") => {
            if let Some(number) = member.as_i64() {
                *member = (number + 1).into();
            }
        }
        (member, rest) => count_from_one(member, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_from_zero_counts_from_one() {
        let mut data = json!({"calls": [{"line": 0, "callSites": [{"line": 4}]}], "line": 7});
        count_from_one(&mut data, "calls[].line");
        count_from_one(&mut data, "calls[].callSites[].line");
        count_from_one(&mut data, "none[].line");
        assert_eq!(data, json!({"calls": [{"line": 1, "callSites": [{"line": 5}]}], "line": 7}));
        let mut data = json!({"range": {"start": {"line": 1}}});
        count_from_one(&mut data, "range.start.line");
        assert_eq!(data, json!({"range": {"start": {"line": 2}}}));
    }

    #[test]
    fn an_end_that_was_none_is_a_failure() {
        assert!(outcome(&json!({"event": "stopped", "line": 3})).is_ok());
        let told =
            outcome(&json!({"event": "error", "code": "E_NOT_STOPPED", "message": "it runs"}));
        assert_eq!(told.unwrap_err().to_string(), "[E_NOT_STOPPED] it runs");
        assert_eq!(outcome(&json!({"event": "timeout"})).unwrap_err().code, Code::Timeout);
    }
}
