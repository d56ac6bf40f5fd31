//! `debug_stack`: the calls that led here.

use std::{collections::BTreeMap, path::Path};

use holdpoint_engine::{
    backend::{Frame, Slice},
    budget::Lines,
    failure::{Code, Failure},
    ids::ThreadKey,
    limits,
    session::Session,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::StoppedSession,
};

pub(crate) struct Stack;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Another than the stopped one: `2/1`.
    thread: Option<String>,
    limit: Option<usize>,
}

impl Tool for Stack {
    const NAME: &'static str = "debug_stack";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "How did it get here: the call stack, numbered for `frame`.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Call stack";
    const LONG: bool = true;
    type Scope = StoppedSession;
    type Params = Params;

    async fn run(at: StoppedSession, params: Params, call: Call) -> Result<Reply, Failure> {
        let thread = match &params.thread {
            None => at.shown.stop.thread,
            Some(name) => name.parse::<ThreadKey>().map_err(|_| {
                Failure::new(Code::InvalidParams, format!("`{name}` is not a thread"))
                    .hint("`debug_threads` lists them")
            })?,
        };
        let limit = params.limit.unwrap_or(limits::STACK_FRAMES).clamp(1, 1_000);
        let backend = at.session.backend(thread.target)?;
        let slice = Slice { start: 0, count: limit };
        let stack = at.of_this_stop(backend.stack(thread.thread, slice).await)?;
        let mut lines = Lines::within(call.budget);
        let mut rows = Vec::new();
        for (number, frame) in stack.frames.iter().take(limit).enumerate() {
            let row = row(number, frame);
            let told = line(number, frame, &at.session);
            if !lines.push_beside(&told, row.to_string().len() + 1) {
                break;
            }
            rows.push(row);
        }
        let total = stack.total.unwrap_or(stack.frames.len()).max(rows.len());
        if rows.is_empty() {
            lines.always("(empty stack)");
        }
        if total > rows.len() {
            let more = total - rows.len();
            lines.always(&format!("… {more} more: debug_stack {{\"limit\": {total}}}"));
        }
        for note in edited(&at, thread, &stack.frames).await {
            lines.always(&note);
        }
        let data = json!({ "thread_id": thread, "frames": rows, "total": total });
        Ok(Answer::new(lines.into_text(), &data)?.into())
    }
}

/// The files among them that have become something else since they were loaded.
async fn edited(at: &StoppedSession, thread: ThreadKey, frames: &[Frame]) -> Vec<String> {
    let mut first: BTreeMap<&Path, u32> = BTreeMap::new();
    for (file, frame) in frames.iter().filter_map(|it| Some((it.file.as_deref()?, it))) {
        first.entry(file).or_insert(frame.line);
    }
    let mut notes = Vec::new();
    for (file, line) in first {
        let edited = at.session.edited(Some(thread.target), file).await;
        notes.extend(edited.map(|it| it.note(file, Some(line))));
    }
    notes
}

/// `#0   process                        (orders.py:19)`; `·` marks code that is not the user's.
pub(super) fn line(number: usize, frame: &Frame, session: &Session) -> String {
    let mark = if frame.is_user { " " } else { "·" };
    format!("#{number:<3}{mark}{:<30} ({})", frame.function, report::spot(frame, session))
}

fn row(number: usize, frame: &Frame) -> Value {
    json!({
        "frame": number,
        "function": frame.function,
        "file": frame.file.as_ref().map(|it| it.display().to_string()).or_else(|| frame.place.clone()),
        "line": frame.line,
        "column": frame.column,
        "user_code": frame.is_user,
    })
}
