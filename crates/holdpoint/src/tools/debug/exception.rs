//! `debug_exception`: what went wrong at an exception stop, with every frame's variables.

use holdpoint_engine::{
    backend::{ExceptionInfo, Frame},
    budget::{self, Budget, Lines},
    failure::{Code, Failure},
    inspect,
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

pub(crate) struct Exception;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    limit: Option<usize>,
}

impl Tool for Exception {
    const NAME: &'static str = "debug_exception";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Why did it crash: the exception's type, message, causes and each \
        frame's variables.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Exception";
    const LONG: bool = true;
    type Scope = StoppedSession;
    type Params = Params;

    async fn run(at: StoppedSession, params: Params, call: Call) -> Result<Reply, Failure> {
        if at.shown.stop.reason.as_str() != "exception" {
            let reason = at.shown.stop.reason.as_str();
            return Err(Failure::new(
                Code::NotFound,
                format!("the program stopped at a {reason}, not at an exception"),
            )
            .hint("`breakpoint_set_exception` chooses which exceptions stop"));
        }
        let info = at.backend.exception(at.shown.stop.thread.thread).await;
        let info = match (at.of_this_stop(info), at.shown.stop.text.as_deref()) {
            // Some tell no more of it than they told with the stop.
            (Err(failure), Some(text)) if failure.code == Code::AdapterFailed => said(text),
            (info, _) => info?,
        };
        let mut lines = Lines::within(call.budget);
        lines.always(&format!("{}: {}", info.kind, budget::cut(&info.message, 1_000)));
        let causes = causes(info.trace.as_deref().unwrap_or_default());
        let told = causes.iter().take_while(|cause| lines.push(cause)).count();
        if told < causes.len() {
            let left = causes.len() - told;
            lines.always(&format!("… {left} more causes: pass a larger `budget_tokens`"));
        }
        let limit = params.limit.unwrap_or(8).clamp(1, 100);
        let mut rows = Vec::new();
        let mut marked = false;
        for (number, frame) in at.shown.stack.frames.iter().take(limit).enumerate() {
            let mark = !marked && frame.is_user;
            marked |= mark;
            if !lines.push(&head(number, frame, &at.session, mark)) {
                break;
            }
            rows.push(describe(&at, number, frame, &mut lines).await);
        }
        let left = at.shown.stack.frames.len().saturating_sub(rows.len());
        if left > 0 {
            lines.always(&format!(
                "… {left} more frames: debug_exception {{\"limit\": 100, \"budget_tokens\": 5000}}"
            ));
        }
        let data = json!({ "type": info.kind, "message": info.message, "frames": rows, "trace": info.trace.map(|it| budget::cut(&it, 4_000)) });
        Ok(Answer::new(lines.into_text(), &data)?.into())
    }
}

fn head(number: usize, frame: &Frame, session: &Session, mark: bool) -> String {
    let here = if mark { "  ← your code" } else { "" };
    format!("#{number} {} ({}){here}", frame.function, report::spot(frame, session))
}

async fn describe(at: &StoppedSession, number: usize, frame: &Frame, lines: &mut Lines) -> Value {
    let locals = inspect::locals(&at.backend, &frame.id).await.unwrap_or_default();
    let listed = inspect::list(&locals, Budget::tokens(200), 120);
    let told = listed.text.lines().take_while(|line| lines.push(&format!("  {line}"))).count();
    if told < locals.len() {
        let left = locals.len() - told;
        lines.always(&format!("    … {left} more: debug_variables {{\"frame\": {number}}}"));
    }
    let shown = listed
        .shown
        .iter()
        .take(told)
        .map(|it| json!({ "name": it.name, "value": budget::cut(&it.value.text, 120) }));
    json!({
        "function": frame.function, "line": frame.line, "user_code": frame.is_user,
        "file": frame.file.as_ref().map(|it| it.display().to_string()),
        "locals": shown.collect::<Vec<Value>>(),
    })
}

/// The lines of a trace that name the exceptions before this one, newest cause first.
/// `fatal error: all goroutines are asleep`
fn said(text: &str) -> ExceptionInfo {
    let (kind, message) = text.split_once(": ").unwrap_or(("exception", text));
    ExceptionInfo { kind: kind.to_owned(), message: message.to_owned(), trace: None }
}

fn causes(trace: &str) -> Vec<String> {
    // JavaScript tells the causes after the error itself.
    if trace.contains("\nCaused by: ") {
        let after = trace.split("\nCaused by: ").skip(1);
        let first_line = |part: &str| part.lines().next().unwrap_or_default().to_owned();
        return after.map(|part| format!("caused by {}", first_line(part))).collect();
    }
    let parts: Vec<&str> = trace
        .split("The above exception was the direct cause of the following exception:")
        .flat_map(|part| {
            part.split("During handling of the above exception, another exception occurred:")
        })
        .collect();
    let last_line =
        |part: &&str| part.trim().lines().next_back().unwrap_or_default().trim().to_owned();
    let before = parts.split_last().map(|(_, before)| before).unwrap_or_default();
    before
        .iter()
        .rev()
        .map(last_line)
        .filter(|it| !it.is_empty())
        .map(|it| format!("caused by {it}"))
        .collect()
}
