//! What a person can do to a program. The first press of any control takes over from the agents.

use std::path::Path;

use holdpoint_engine::{
    event::Event,
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
};
use serde_json::{Value, json};

use super::doing;
use crate::{
    app::App,
    page::{address::FormFields, sheet::Then},
    tool::Reply,
};

/// Starts a program; whoever started it steers it.
pub(super) async fn start(app: &App, form: &FormFields) -> Result<Then, Failure> {
    match form.get("do") {
        "start" => {}
        "attach" => return attach(app, form).await,
        _ => return Err(form.unknown()),
    }
    let command = form.get("command").trim();
    let mut asked = json!({ "timeout_s": limits::PAGE_FIRST_STOP });
    // A file alone is run by its language; with words behind it, it is a command.
    let cwd = form.get("cwd").trim();
    let folder =
        if cwd.is_empty() { crate::root::current() } else { crate::root::current().join(cwd) };
    let is_file = folder.join(command).is_file();
    set(&mut asked, if is_file { "program" } else { "command" }, json!(command));
    if !cwd.is_empty() {
        set(&mut asked, "cwd", json!(cwd));
    }
    let before = newest(app);
    let done = doing::start(app, "debug_launch", None, asked).await?;
    let id = done
        .as_ref()
        .and_then(session_of)
        .or_else(|| newest(app).filter(|it| Some(it) != before.as_ref()));
    let Some(id) = id else { return Ok(Then::Said("It is being started.".to_owned())) };
    if let Ok(session) = app.engine.sessions.find(Some(&id)) {
        session.take_over();
    }
    Ok(Then::To(format!("/sessions/{id}")))
}

/// Takes a program that runs; whoever took it steers it.
async fn attach(app: &App, form: &FormFields) -> Result<Then, Failure> {
    let Ok(pid) = form.get("pid").trim().parse::<u32>() else {
        return Err(Failure::new(Code::InvalidParams, "a process is named by its number"));
    };
    let before = newest(app);
    let done = doing::start(app, "debug_attach", None, json!({ "pid": pid })).await?;
    let id = done.as_ref().and_then(session_of).or_else(|| newest(app));
    let Some(id) = id.filter(|it| Some(it) != before.as_ref()) else {
        return Ok(Then::Said("It is being attached to.".to_owned()));
    };
    if let Ok(session) = app.engine.sessions.find(Some(&id)) {
        session.take_over();
    }
    Ok(Then::To(format!("/sessions/{id}")))
}

fn newest(app: &App) -> Option<String> {
    app.engine.sessions.all().last().map(|it| it.id.to_string())
}

fn session_of(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Answer(answer) => answer.data.get("session_id")?.as_str().map(str::to_owned),
        Reply::Json(_) | Reply::Refused(_) | Reply::Raw(_) => None,
    }
}

fn set(asked: &mut Value, name: &str, value: Value) {
    if let Some(object) = asked.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

pub(in crate::page) async fn act(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    let session = app.engine.sessions.find(Some(id))?;
    let what = form.get("do");
    let mover = Mover { app, id };
    match what {
        "take_over" => session.take_over(),
        "hand_back" => session.hand_back(),
        "control" if form.get("control") == "you" => session.take_over(),
        "control" => session.hand_back(),
        "note" => note(app, form)?,
        "evaluate" => return evaluate(app, id, form).await,
        "set" => {
            session.take_over();
            return set_variable(app, id, form).await;
        }
        "toggle" | "trace" | "enable" | "remove" | "condition" => {
            return super::points::act(app, form).await;
        }
        _ => {
            let (tool, asked) = moving(what, form).ok_or_else(|| form.unknown())?;
            session.take_over();
            return mover.call(tool, asked).await;
        }
    }
    Ok(Then::Here)
}

/// What moves the program: the tool, and what is asked of it.
fn moving(what: &str, form: &FormFields) -> Option<(&'static str, Value)> {
    let patient = limits::TOOL_TIMEOUT_MAX.as_secs();
    Some(match what {
        "continue" => ("debug_continue", json!({ "timeout_s": patient })),
        "to_line" => {
            let line: u32 = form.get("line").parse().ok()?;
            ("debug_continue", json!({ "to_line": line, "timeout_s": patient }))
        }
        "over" => ("debug_step", json!({ "action": "next", "timeout_s": patient })),
        "in" => ("debug_step", json!({ "action": "step_in", "timeout_s": patient })),
        "out" => ("debug_step", json!({ "action": "step_out", "timeout_s": patient })),
        "pause" => ("debug_pause", json!({ "timeout_s": patient })),
        "stop" => ("debug_stop", json!({})),
        "restart" => ("debug_restart", json!({ "timeout_s": limits::PAGE_FIRST_STOP })),
        "input" => ("debug_input", json!({ "text": format!("{}\n", form.get("text")) })),
        "close_input" => ("debug_input", json!({ "text": "", "close": true })),
        _ => return None,
    })
}

struct Mover<'a> {
    app: &'a App,
    id: &'a str,
}

impl Mover<'_> {
    async fn call(&self, tool: &'static str, asked: Value) -> Result<Then, Failure> {
        if tool != "debug_restart" {
            doing::tool(self.app, tool, Some(self.id), asked).await?;
            return Ok(Then::Here);
        }
        let before = newest(self.app);
        let done = doing::start(self.app, tool, Some(self.id), asked).await?;
        // What runs again is another session; the person who asked for it steers it.
        let again = done.as_ref().and_then(session_of).or_else(|| newest(self.app));
        let Some(again) = again.filter(|it| Some(it) != before.as_ref()) else {
            return Ok(Then::Said("It is being started again.".to_owned()));
        };
        if let Ok(session) = self.app.engine.sessions.find(Some(&again)) {
            session.take_over();
        }
        Ok(Then::To(format!("/sessions/{again}")))
    }
}

/// A word for the agent: its next answer carries it.
fn note(app: &App, form: &FormFields) -> Result<(), Failure> {
    let text = form.get("text").trim();
    if text.is_empty() || text.len() > limits::NOTE_BYTES {
        let text = format!("a note has from 1 to {} bytes", limits::NOTE_BYTES);
        return Err(Failure::new(Code::InvalidParams, text));
    }
    app.engine.log.append(Event::Note { text: text.to_owned(), by: "a person".to_owned() });
    Ok(())
}

/// Evaluating is looking, not moving: the agent stays in control. What it threw is in the transcript.
async fn evaluate(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    let frame: usize = form.get("frame").parse().unwrap_or_default();
    let asked = json!({ "expression": form.get("expression"), "frame": frame });
    match doing::tool(app, "debug_evaluate", Some(id), asked).await {
        Err(failure) if failure.code == Code::EvaluateFailed => Ok(Then::Here),
        Err(failure) => Err(failure),
        Ok(_) => Ok(Then::Here),
    }
}

/// Gives a variable another value: whoever does, steers.
async fn set_variable(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    let frame: usize = form.get("frame").parse().unwrap_or_default();
    let asked = json!({ "name": form.get("name"), "value": form.get("value"), "frame": frame });
    doing::tool(app, "debug_set_variable", Some(id), asked).await?;
    Ok(Then::Here)
}

/// A point by its number.
pub(super) fn point(form: &FormFields) -> Result<BreakpointId, Failure> {
    let id = form.get("point").parse().map(BreakpointId);
    id.map_err(|_| Failure::new(Code::InvalidParams, "no point was named"))
}

/// A file that a form names.
pub(super) fn file(form: &FormFields) -> &Path {
    Path::new(form.get("file"))
}
