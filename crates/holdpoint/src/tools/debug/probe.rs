//! `debug_probe`: one call from launch to values: run to a line, look, end.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use holdpoint_engine::{
    breakpoints::{Asked, Breakpoints},
    budget::{self, Budget, Lines},
    failure::{Code, Failure},
    ids::{BreakpointId, Epoch},
    inspect, limits,
    process::Exit,
    session::{Outcome, Session, Shown},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{launch, report, wait::patience};
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
};

pub(crate) struct Probe;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file to run. Exactly one of `program`, `module` and `command`.
    program: Option<PathBuf>,
    module: Option<String>,
    /// A command line, such as `pytest tests/test_a.py`.
    command: Option<String>,
    /// Where to stop.
    file: PathBuf,
    line: u32,
    language: Option<String>,
    /// Evaluated at the stop.
    #[serde(default)]
    expressions: Vec<String>,
    /// Stop only when this is true.
    condition: Option<String>,
    /// How many hits to report (default 1).
    hits: Option<u32>,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    interpreter: Option<PathBuf>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Probe {
    const NAME: &'static str = "debug_probe";
    const ABOUT: &'static str = "Why does a test fail, where does a value go wrong: run to a line \
        and see stack, locals, expressions and output there.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = Duration::from_secs(30);
    const TITLE: &'static str = "Probe a line";
    const RARE: &'static [&'static str] = &["language", "stdin", "just_my_code"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let deadline = Instant::now() + patience(params.timeout_s, Self::TIMEOUT);
        let hits = params.hits.unwrap_or(1).clamp(1, 100);
        let launch = launch::resolve(&params.launch())?;
        let own = Arc::new(Breakpoints::default());
        let file = launch::absolute(&launch.cwd, &params.file);
        let condition = params.condition.clone();
        let point = own.set(Asked { condition, ..Asked::line(file, params.line) })?;
        call.doing(format!("running {} to line {}", launch.title(), params.line));
        let session = app.engine.sessions.launch_with(launch, own, call.follow()).await?;
        let ended = Ender(Arc::clone(&session));
        let result = watch(&session, point.id, &params, hits, deadline, call.budget).await;
        session.stop().await;
        app.engine.sessions.forget(session.id);
        drop(ended);
        result
    }
}

/// Ends the program also when the call is cancelled or times out.
struct Ender(Arc<Session>);

impl Drop for Ender {
    fn drop(&mut self) {
        let session = Arc::clone(&self.0);
        // Ends as soon as the program is gone.
        tokio::spawn(async move { session.stop().await });
    }
}

async fn watch(
    session: &Session,
    point: BreakpointId,
    params: &Params,
    hits: u32,
    deadline: Instant,
    budget: Budget,
) -> Result<Reply, Failure> {
    let mut lines = Lines::within(budget);
    let mut found = Vec::new();
    let mut from = Epoch::default();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match session.wait(from, left).await {
            Outcome::Stopped(shown) => {
                from = shown.stop.epoch;
                let is_exception = shown.stop.reason.as_str() == "exception";
                if shown.stop.hits.contains(&point) || is_exception {
                    let number = found.len() + 1;
                    found.push(hit(session, &shown, params, number, &mut lines).await);
                    if found.len() >= hits as usize || is_exception {
                        return answer(session, lines, found, None);
                    }
                }
                session.resume().await?;
            }
            Outcome::Ended(exit) if found.is_empty() => return never(session, params, exit),
            Outcome::Ended(exit) => return answer(session, lines, found, Some(exit)),
            Outcome::Running => return late(session, params, lines, found),
        }
    }
}

/// Tells one hit, and gives its data.
async fn hit(
    session: &Session,
    shown: &Shown,
    params: &Params,
    number: usize,
    lines: &mut Lines,
) -> Value {
    let mut text = report::head(session, shown);
    if number == 1 {
        let stack: Vec<String> = shown
            .stack
            .frames
            .iter()
            .take(8)
            .enumerate()
            .map(|(n, frame)| super::stack::line(n, frame, session))
            .collect();
        text += &format!("\n\n--- Stack Trace ---\n{}", stack.join("\n"));
    }
    let backend = session.backend(shown.stop.thread.target);
    let (mut values, mut locals) = (Vec::new(), Vec::new());
    if let (Ok(backend), Some(top)) = (&backend, shown.stack.frames.first()) {
        for expression in &params.expressions {
            let value = backend.evaluate(Some(&top.id), expression, Duration::from_secs(5)).await;
            let told = match &value {
                Ok(value) => inspect::one_line(expression, value, 400),
                Err(failure) => format!("{expression} → {}", failure.message),
            };
            values.push(format!("  {told}"));
        }
        locals = inspect::locals(backend, &top.id).await.unwrap_or_default();
    }
    if !values.is_empty() {
        text += &format!("\n\n--- Expressions ---\n{}", values.join("\n"));
    }
    let listed = inspect::list(&locals, Budget::tokens(400), limits::VALUE_BYTES);
    let shown_locals = if listed.text.is_empty() { "(no variables)" } else { &listed.text };
    text += &format!("\n\n--- Local Variables ---\n{shown_locals}");
    if listed.more {
        text += "\n  … more: use debug_launch and debug_variables";
    }
    if !lines.push(&text) {
        lines.always(&format!("hit {number} is left out: pass a larger `budget_tokens`"));
    }
    json!({
        "line": shown.stack.frames.first().map(|it| it.line),
        "reason": shown.stop.reason.as_str(),
        "expressions": values,
        "locals": listed.shown.iter()
            .map(|it| (it.name.clone(), json!(budget::cut(&it.value.text, limits::VALUE_BYTES))))
            .collect::<serde_json::Map<_, _>>(),
    })
}

fn answer(
    session: &Session,
    mut lines: Lines,
    hits: Vec<Value>,
    exit: Option<Exit>,
) -> Result<Reply, Failure> {
    if let Some(exit) = exit {
        lines.always(&format!("\nProgram terminated with {exit} after {} hits", hits.len()));
    }
    lines.always(&report::new_output(&session.output.since(0, None)));
    let data = json!({ "reached": true, "hits": hits, "exit": exit.map(report::exit_json) });
    Ok(Answer::new(lines.into_text(), &data)?.into())
}

fn never(session: &Session, params: &Params, exit: Exit) -> Result<Reply, Failure> {
    let output = report::new_output(&session.output.since(0, None));
    let condition = params.condition.as_deref();
    let condition = condition.map(|it| format!(" with `{it}` true")).unwrap_or_default();
    let text = format!(
        "Line {} of {} was never reached{condition}: the program terminated with {exit}{output}",
        params.line,
        params.file.display()
    );
    let data = json!({ "reached": false, "hits": [], "exit": report::exit_json(exit) });
    Ok(Answer::new(text, &data)?.into())
}

fn late(
    session: &Session,
    params: &Params,
    lines: Lines,
    hits: Vec<Value>,
) -> Result<Reply, Failure> {
    if !hits.is_empty() {
        return answer(session, lines, hits, None);
    }
    let output = report::new_output(&session.output.since(0, None));
    let text = format!(
        "line {} was not reached in time; the program was still running and was ended{output}",
        params.line
    );
    Err(Failure::new(Code::Timeout, text).hint("pass a larger `timeout_s`, or probe another line"))
}

impl Params {
    fn launch(&self) -> launch::Params {
        launch::Params {
            program: self.program.clone(),
            module: self.module.clone(),
            command: self.command.clone(),
            language: self.language.clone(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stop_on_entry: Some(false),
            breakpoints: Vec::new(),
            stdin: None,
            interpreter: self.interpreter.clone(),
            just_my_code: None,
            timeout_s: None,
        }
    }
}
