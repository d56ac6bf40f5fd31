//! Errors that nobody handles. Whether somebody will is not known when one is thrown: V8 takes what a module
//! throws for caught, since Node's loader waits for it, and a promise that is rejected may be handled later.
//! So V8's guess is only where to look: what the frames hold is kept. When Node is about to give up, it calls
//! the function in our boot script, and the stop there is told with the frames as they were at the throw.

use std::{
    collections::VecDeque,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use holdpoint_cdp::{
    Position, ScriptOrigin, UserFile, path_of_url,
    types::{
        CallFrame, CallFrameId, Location, ObjectId, Paused, RemoteObject,
        debugger::{EvaluateOnCallFrame, Scope, SetBreakpointByUrl, SetVariableValue},
        runtime::{CallArgument, Evaluated, GetProperties, ReleaseObjectGroup, StackTrace},
    },
};

use super::{
    Cdp,
    connect::{BOOT, BOOT_PATTERN},
    exceptions, inspect, value,
    watch::Watch,
};
use crate::{
    failure::{Code, Failure},
    limits,
};

/// How the ids of frames begin that have ended: with their variables kept, and without.
pub(super) const KEPT: &str = "kept ";
const ENDED: &str = "ended ";
/// The end of the line at which V8 stops in our boot script.
const MARK: &str = "// An error that nobody handled.";
const REJECTION: &str = "unhandledRejection";
/// The class of Node's error around what was rejected with and is none.
const AROUND: &str = "UnhandledPromiseRejection";

/// What was there when an error was thrown.
#[derive(Debug, Default)]
pub(super) struct Kept {
    number: u64,
    /// The error with its stack, as V8 writes it.
    description: String,
    /// What was thrown, if it was no object: Node puts an error of its own around it.
    plain: Option<RemoteObject>,
    /// A module threw it, which is a rejection only to Node's loader.
    is_of_module: bool,
    frames: Vec<CallFrame>,
    /// For each frame, where that is known.
    variables: Vec<Option<ObjectId>>,
}

/// The last few errors that may turn out to be nobody's.
#[derive(Debug, Default)]
pub(super) struct Thrown {
    kept: VecDeque<Arc<Kept>>,
    /// Those that were told when they were thrown.
    told: VecDeque<String>,
    count: u64,
}

/// A stop in the boot script: where to evaluate, and what was kept.
#[derive(Debug, Clone)]
pub(super) struct Aftermath {
    monitor: CallFrameId,
    kept: Arc<Kept>,
}

/// The line of the boot script at which Node tells.
pub(super) fn monitor() -> SetBreakpointByUrl {
    let line = BOOT.lines().position(|line| line.ends_with(MARK)).unwrap_or_default();
    SetBreakpointByUrl {
        line_number: u32::try_from(line).unwrap_or_default(),
        url_regex: BOOT_PATTERN.to_owned(),
        column_number: None,
        condition: None,
    }
}

/// An error, and whether V8 expects nobody to catch it.
fn thrown(paused: &Paused) -> Option<(RemoteObject, bool)> {
    let data = paused.data.clone().filter(|_| inspect::is_exception(paused))?;
    let is_uncaught = data.get("uncaught").and_then(serde_json::Value::as_bool).unwrap_or(true);
    Some((serde_json::from_value(data).ok()?, is_uncaught))
}

fn description(error: &RemoteObject) -> String {
    error.description.clone().unwrap_or_else(|| value::text(error))
}

impl Watch {
    /// Whether V8 stopped at an error of which only Node will know whether anybody handles it. What is there
    /// is kept, and nobody is told yet.
    pub(super) async fn is_undecided(&mut self, paused: &Paused) -> bool {
        let Some((error, is_uncaught)) = thrown(paused) else { return false };
        let known = &self.cdp.known;
        // Without the boot script, V8's guess is all there is; and who wants caught ones wants all.
        let is_monitored = known.has_boot.load(Ordering::Relaxed);
        if !is_monitored || exceptions::wants_caught(&self.cdp) {
            self.remember_told(&error);
            return false;
        }
        if paused.reason == "exception" && is_uncaught {
            self.remember_told(&error);
            return false;
        }
        let is_at_top_level = paused.call_frames.iter().any(inspect::is_module_level);
        if is_uncaught || is_at_top_level {
            self.keep(paused, &error).await;
        }
        if !is_uncaught {
            exceptions::looked(&self.cdp).await;
        }
        true
    }

    fn remember_told(&self, error: &RemoteObject) {
        let mut thrown = self.thrown();
        thrown.told.push_back(description(error));
        if thrown.told.len() > limits::THROWN {
            thrown.told.pop_front();
        }
    }

    fn thrown(&self) -> std::sync::MutexGuard<'_, Thrown> {
        self.cdp.known.thrown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep(&self, paused: &Paused, error: &RemoteObject) {
        let number = {
            let mut thrown = self.thrown();
            thrown.count += 1;
            thrown.count
        };
        let is_user = |frame: &&CallFrame| {
            matches!(self.origin(&frame.location.script_id), Some(ScriptOrigin::File { .. }))
        };
        let plain = Some(error.clone()).filter(|it| it.object_id.is_none());
        let description = description(error);
        let is_of_module = paused.reason == "exception";
        let mut kept = Kept { number, description, plain, is_of_module, ..Kept::default() };
        for (at, frame) in paused.call_frames.iter().filter(is_user).enumerate() {
            let variables = match at {
                at if at < limits::KEPT_FRAMES => variables(&self.cdp, frame, number).await,
                _ => None,
            };
            let prefix = if variables.is_some() { KEPT } else { ENDED };
            let call_frame_id = CallFrameId(format!("{prefix}{at}"));
            kept.frames.push(CallFrame { call_frame_id, ..frame.clone() });
            kept.variables.push(variables);
        }
        let forgotten = {
            let mut thrown = self.thrown();
            // The same error is seen again on its way through promises; what is known of its throw stays.
            let is_known = thrown.kept.iter().any(|it| it.description == kept.description);
            if kept.frames.is_empty() || (is_known && kept.plain.is_none()) {
                Some(number)
            } else {
                thrown.kept.push_back(Arc::new(kept));
                let is_full = thrown.kept.len() > limits::THROWN;
                if is_full { thrown.kept.pop_front().map(|it| it.number) } else { None }
            }
        };
        if let Some(number) = forgotten {
            let release = ReleaseObjectGroup { object_group: group(number) };
            if let Err(failure) = self.cdp.ask(release).await {
                tracing::debug!(%failure, "what was kept of an error stays");
            }
        }
    }

    /// The stop at which Node gives up, as if it were at the throw. `None` for other stops; `Some(None)` when
    /// it was told before, or is nobody's business.
    pub(super) async fn given_up(&mut self, paused: &Paused) -> Option<Option<Paused>> {
        let is_hit = {
            let points = self.cdp.points();
            points.monitor.as_ref().is_some_and(|id| paused.hit_breakpoints.contains(id))
        };
        if !is_hit {
            return None;
        }
        // What fails before the first line is told by the program itself, as it ends.
        if self.began.is_some() || !exceptions::wants_uncaught(&self.cdp) {
            return Some(None);
        }
        Some(self.aftermath(paused).await)
    }

    async fn aftermath(&mut self, paused: &Paused) -> Option<Paused> {
        let monitor = paused.call_frames.first()?.call_frame_id.clone();
        let error = evaluate(&self.cdp, &monitor, "error").await?;
        let origin = evaluate(&self.cdp, &monitor, "origin").await?;
        let is_rejection = origin.value.is_some_and(|it| it == REJECTION);
        let description = description(&error);
        let kept = {
            let mut thrown = self.thrown();
            if let Some(at) = thrown.told.iter().position(|it| *it == description) {
                thrown.told.remove(at);
                return None;
            }
            let is_around = error.class_name.as_deref() == Some(AROUND);
            let is_it = |kept: &Arc<Kept>| match &kept.plain {
                Some(plain) => is_around && description.contains(&value::text(plain)),
                None => kept.description == description,
            };
            let at = thrown.kept.iter().rposition(is_it);
            at.and_then(|at| thrown.kept.remove(at))
        };
        let kept = match kept {
            Some(kept) => kept,
            None => Arc::new(traced(&self.cdp, &error).await),
        };
        let error = kept.plain.clone().unwrap_or(error);
        let is_rejection = is_rejection && !kept.is_of_module;
        let reason = if is_rejection { "promiseRejection" } else { "exception" };
        let told = Paused {
            call_frames: kept.frames.clone(),
            reason: reason.to_owned(),
            data: serde_json::to_value(&error).ok(),
            hit_breakpoints: Vec::new(),
            async_stack_trace: paused.async_stack_trace.clone(),
        };
        if exceptions::is_nobodys(&self.cdp, &told).await {
            return None;
        }
        self.cdp.moment().aftermath = Some(Aftermath { monitor, kept });
        Some(told)
    }
}

/// Where the error says that it comes from: frames without anything in them.
async fn traced(cdp: &Cdp, error: &RemoteObject) -> Kept {
    let mut frames = structured(cdp, error).await;
    if frames.is_empty() {
        // An error from within Node knows only who waited for it, and only in words.
        let text = description(error);
        frames = text.lines().filter_map(|line| written(cdp, line)).collect();
    }
    let mut kept = Kept::default();
    for (at, (function_name, location)) in frames.into_iter().enumerate() {
        kept.frames.push(CallFrame {
            call_frame_id: CallFrameId(format!("{ENDED}{at}")),
            location,
            function_name,
            function_location: None,
            scope_chain: Vec::new(),
            this: None,
            return_value: None,
            can_be_restarted: None,
        });
        kept.variables.push(None);
    }
    kept
}

async fn structured(cdp: &Cdp, error: &RemoteObject) -> Vec<(String, Location)> {
    let Some(id) = &error.object_id else { return Vec::new() };
    let params = serde_json::json!({ "errorObjectId": id });
    let asked = cdp.requester.call("Runtime.getExceptionDetails", params);
    let answer = tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await;
    let trace = answer.ok().and_then(Result::ok);
    let trace = trace.and_then(|it| it.pointer("/exceptionDetails/stackTrace").cloned());
    let trace: Option<StackTrace> = trace.and_then(|it| serde_json::from_value(it).ok());
    let frames = trace.into_iter().flat_map(|it| it.call_frames);
    frames.map(|frame| (frame.function_name.clone(), inspect::location(&frame))).collect()
}

/// `    at async load (/home/me/reads.js:3:10)`
fn written(cdp: &Cdp, line: &str) -> Option<(String, Location)> {
    let text = line.trim().strip_prefix("at ")?;
    let (name, place) = match text.rsplit_once(" (") {
        Some((name, place)) => (name, place.strip_suffix(')')?),
        None => ("", text.strip_prefix("async ").unwrap_or(text)),
    };
    let mut parts = place.rsplitn(3, ':');
    let column: u32 = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let file = UserFile::new(&path_of_url(parts.next()?)?);
    let sources = cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner);
    let script = sources.scripts().of_file(&file).last()?.id.clone();
    let at = Position::from_zero_based(line.saturating_sub(1), Some(column.saturating_sub(1)));
    // A program whose text has something of ours in it says the columns of its file.
    let at = sources.inserted(&script).map_or(at, |it| it.generated(at));
    let location = Location {
        script_id: script,
        line_number: at.line_number(),
        column_number: at.column_number(),
    };
    Some((name.to_owned(), location))
}

fn group(number: u64) -> String {
    format!("holdpoint {number}")
}

async fn evaluate(cdp: &Cdp, frame: &CallFrameId, expression: &str) -> Option<RemoteObject> {
    let mut command = EvaluateOnCallFrame::new(frame.clone(), expression);
    command.generate_preview = true;
    cdp.ask(command).await.ok().map(|answer| answer.result)
}

/// A frame's variables, those of the functions around it behind them, in an object that stays.
async fn variables(cdp: &Cdp, frame: &CallFrame, number: u64) -> Option<ObjectId> {
    let (mut own, mut around) = (Vec::new(), Vec::new());
    let mut is_own = true;
    for scope in &frame.scope_chain {
        if matches!(scope.kind.as_str(), "global" | "script") {
            break;
        }
        let into = if is_own { &mut own } else { &mut around };
        into.extend(names(cdp, scope).await);
        is_own &= !matches!(scope.kind.as_str(), "local" | "module" | "closure");
    }
    if inspect::has_this(frame) {
        own.push("this".to_owned());
    }
    around.retain(|name| !own.contains(name));
    let list = |names: &[String]| {
        let one = |name: &String| format!("{name:?}: {name}");
        names.iter().take(limits::KEPT_VARIABLES).map(one).collect::<Vec<_>>().join(", ")
    };
    let (own, around) = (list(&own), list(&around));
    let expression = format!("({{ __proto__: {{ __proto__: null, {around} }}, {own} }})");
    let mut command = EvaluateOnCallFrame::new(frame.call_frame_id.clone(), expression);
    command.object_group = Some(group(number));
    let answer = cdp.ask(command).await.ok().filter(|it| it.exception_details.is_none())?;
    answer.result.object_id
}

/// The names in a scope that have a value by now and can be written down.
async fn names(cdp: &Cdp, scope: &Scope) -> Vec<String> {
    let Some(object) = scope.object_id().cloned() else { return Vec::new() };
    let Ok(found) = cdp.ask(GetProperties::own(object)).await else { return Vec::new() };
    let is_plain = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
            && !inspect::WRAPPER.contains(&name)
            && !matches!(name, "this" | "arguments")
    };
    let known = found.result.into_iter().filter(|it| it.value.is_some());
    known.map(|it| it.name).filter(|name| is_plain(name)).collect()
}

impl Cdp {
    /// The variables of a frame that has ended; `None` for a frame that lives.
    pub(super) fn ended(&self, frame: &str) -> Option<Result<ObjectId, Failure>> {
        if let Some(at) = frame.strip_prefix(KEPT) {
            let aftermath = self.moment().aftermath.clone();
            let at: Option<usize> = at.parse().ok();
            let kept = aftermath.zip(at).and_then(|(it, at)| it.kept.variables.get(at)?.clone());
            return Some(kept.ok_or_else(gone));
        }
        frame.starts_with(ENDED).then(|| Err(gone()))
    }

    /// Evaluates with what a frame held that has ended, if that is known.
    pub(super) async fn evaluate_after(
        &self,
        frame: &str,
        expression: &str,
        timeout: Option<f64>,
        patience: Duration,
    ) -> Result<Evaluated, Failure> {
        let aftermath = self.moment().aftermath.clone().ok_or_else(gone)?;
        let mut expression = expression.to_owned();
        if let Some(Ok(variables)) = self.ended(frame) {
            let kept = SetVariableValue {
                scope_number: 0,
                variable_name: "frame".to_owned(),
                new_value: CallArgument { object_id: Some(variables), ..CallArgument::default() },
                call_frame_id: aftermath.monitor.clone(),
            };
            self.ask(kept).await?;
            let is_this = expression.trim() == "this";
            let text = if is_this { "frame.this".to_owned() } else { expression };
            expression = format!("with (frame) {{ {text}\n }}");
        }
        let mut command = EvaluateOnCallFrame::new(aftermath.monitor, expression);
        command.generate_preview = true;
        command.timeout = timeout;
        self.requester
            .send(command)
            .await
            .map_err(|error| super::evaluate::evaluation(error, patience))
    }
}

impl Aftermath {
    /// What there is to say about the stop besides the error.
    pub(super) fn note(&self) -> &'static str {
        match self.kept.variables.iter().any(Option::is_some) {
            true => "after the throw, its frames as they were",
            false => "after the throw, its frames have ended",
        }
    }
}

fn gone() -> Failure {
    Failure::new(Code::NotFound, "that frame has ended, and what it held is not known")
        .hint("set a breakpoint before the line that throws, and `debug_restart`")
}
