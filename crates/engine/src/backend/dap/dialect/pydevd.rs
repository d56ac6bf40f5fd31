//! Python's debugger, which lets us into the program: a helper of ours works there, and tells more than the
//! protocol can say.

mod exceptions;
mod functions;
mod helper;
mod lines;
mod texts;
mod until;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use holdpoint_dap::{Event, types as t};
use serde_json::Value as Json;
use tokio::sync::{OnceCell, mpsc};

use super::{Dialect, Filters, Inside};
use crate::{
    backend::{
        Bound, Exceptions, FrameId, Loaded, Signal, StopReason, Stopped, TraceWay, UntilAsked,
        UntilEnd, UntilSeen, Value, Wanted, WantedFunction,
        dap::{Dap, DebuggerState, translate},
    },
    breakpoints::hits::HitTest,
    failure::Failure,
    ids::BreakpointId,
    language::Reading,
    limits,
};

/// How pydevd says that a breakpoint's condition raised; it stops then.
const CONDITION_RAISED: &str =
    "pydevd: Error while evaluating expression in conditional breakpoint";

/// The event by which the helper tells.
const EVENT: &str = "holdpoint";

/// How debugpy's adapter announces a child process.
const CHILD: &str = "debugpyAttach";

/// One process under pydevd. Cheap to clone.
#[derive(Clone)]
pub struct Pydevd(Arc<Own>);

/// What there is to know before one is connected.
#[derive(Default)]
pub struct About {
    /// Where the program's own sources are, to look for functions that are not loaded yet.
    pub folders: Vec<PathBuf>,
    /// It ran before we came: something may wait in it already.
    pub runs: bool,
    /// Tracepoints stop, though the helper could do without.
    pub emulates_traces: bool,
    /// Where to announce child processes that connect to nobody by themselves: there debugpy's own adapter
    /// is in between, which outlives the program.
    pub children: Option<mpsc::Sender<Json>>,
    /// How sources are read.
    pub reading: Reading,
}

/// What we know of it.
struct Own {
    about: About,
    /// Set once our helper is in the program.
    helper: OnceCell<()>,
    /// What runs of files that were edited since they were loaded.
    texts: Mutex<BTreeMap<PathBuf, String>>,
    /// Threads on their way from a function's head to its body, with what they stopped for.
    entering: Mutex<BTreeMap<i64, Vec<BreakpointId>>>,
    /// What a condition raised just now; the stop that it causes tells it.
    condition_error: Mutex<Option<String>>,
    /// What a value that was watched to the program's end was by then.
    until: Mutex<Option<UntilSeen>>,
    /// Of each file, the tracepoints that need no debugger: the interpreter itself calls our helper there.
    watched: Mutex<BTreeMap<PathBuf, Vec<BreakpointId>>>,
}

impl Pydevd {
    pub fn new(about: About) -> Pydevd {
        Pydevd(Arc::new(Own {
            about,
            helper: OnceCell::new(),
            texts: Mutex::default(),
            entering: Mutex::default(),
            condition_error: Mutex::default(),
            until: Mutex::default(),
            watched: Mutex::default(),
        }))
    }

    fn with<'a>(&'a self, dap: &'a Dap) -> Talk<'a> {
        Talk { dap, own: &self.0 }
    }
}

impl Own {
    fn is_in_process(&self) -> bool {
        !self.about.emulates_traces
    }

    fn entering(&self) -> MutexGuard<'_, BTreeMap<i64, Vec<BreakpointId>>> {
        self.entering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn condition_error(&self) -> MutexGuard<'_, Option<String>> {
        self.condition_error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<BreakpointId>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One process, and the connection to it.
#[derive(Clone, Copy)]
struct Talk<'a> {
    dap: &'a Dap,
    own: &'a Own,
}

impl Dialect for Pydevd {
    fn name(&self) -> &'static str {
        "debugpy"
    }

    /// Not a library's: nothing that a package manager put there.
    fn is_users(&self, _: &t::StackFrame, file: &Path) -> bool {
        let library = |name: &std::ffi::OsStr| {
            matches!(name.to_str(), Some("site-packages" | "dist-packages" | "node_modules"))
                || name.to_str().is_some_and(|name| name.starts_with("python3."))
        };
        !file.iter().any(library)
    }

    /// It marks the frame that an exception leaves.
    fn function<'a>(&self, name: &'a str) -> &'a str {
        name.trim_end_matches(" (Current frame)")
    }

    /// It explains to people what it shows in an editor.
    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String> {
        let short =
            |it: &str| it.split(" (note: full exc").next().unwrap_or_default().trim().to_owned();
        let text = match (stopped.text.as_deref().map(short), stopped.description.clone()) {
            (Some(text), Some(description)) if !description.is_empty() => {
                Some(format!("{text}: {description}"))
            }
            (text, description) => text.or(description),
        };
        text.filter(|text| !text.is_empty())
    }

    fn why_unbound(&self, message: &str) -> Option<String> {
        message.contains("justMyCode").then(|| {
            "it is in a library, which this launch leaves out; `debug_restart` takes it in, as does \
             `just_my_code: false`"
                .to_owned()
        })
    }

    fn filters(&self) -> &Filters {
        const FILTERS: Filters = Filters {
            uncaught: &["uncaught"],
            caught: &["raised"],
            user_unhandled: &["userUnhandled"],
            with_uncaught: &[],
            stops_at_uncaught: false,
            thrown_at: &[],
        };
        &FILTERS
    }

    fn hit_condition(&self, test: HitTest) -> Option<String> {
        Some(format!("{} {}", test.how.as_str(), test.number))
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

/// Where a value waits to be assigned, and how it is called from there.
const STAGE: &str = "__import__('builtins').__dict__.__setitem__('__holdpoint_staged__', (";
const STAGED: &str = "__import__('builtins').__dict__.get('__holdpoint_staged__')";

impl Inside for Pydevd {
    // pydevd answers with the old value where the expression fails, as if nothing had happened.
    fn staged<'a>(
        &'a self,
        dap: &'a Dap,
        frame: &'a FrameId,
        expression: &'a str,
    ) -> BoxFuture<'a, Result<&'static str, Failure>> {
        Box::pin(async move {
            let asked = format!("{STAGE}{expression}\n))");
            dap.evaluate(Some(frame), &asked, limits::VALUES).await.map(|_| STAGED)
        })
    }

    fn trace_way(&self, id: BreakpointId) -> TraceWay {
        match self.0.is_in_process() {
            true if self.0.watched().values().flatten().any(|it| *it == id) => TraceWay::Watched,
            true => TraceWay::InProcess,
            false => TraceWay::Emulated,
        }
    }

    fn waits_for_goodbye(&self) -> bool {
        self.0.about.children.is_some()
    }

    fn pid<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Option<u32>> {
        Box::pin(async {
            let asked = dap.requester.raw("pydevdSystemInfo", serde_json::json!({}));
            let info = tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await.ok()?.ok()?;
            u32::try_from(info.get("process")?.get("pid")?.as_u64()?).ok()
        })
    }

    fn title<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Result<String, Failure>> {
        Box::pin(async {
            let title = self.with(dap).helper("title()").await?;
            serde_json::from_str(&title)
                .map_err(|error| Failure::internal(format!("what a process is called: {error}")))
        })
    }

    fn check_condition<'a>(
        &'a self,
        dap: &'a Dap,
        file: Option<&'a Path>,
        condition: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.with(dap).check_condition(file, condition))
    }

    fn problems<'a>(
        &'a self,
        dap: &'a Dap,
        file: Option<&'a Path>,
        expressions: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Option<String>>, Failure>> {
        Box::pin(self.with(dap).problems(file, expressions))
    }

    fn loaded<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Result<Vec<Loaded>, Failure>> {
        Box::pin(self.with(dap).loaded())
    }

    fn is_same<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<Option<bool>, Failure>> {
        Box::pin(self.with(dap).is_same(file))
    }

    fn runs<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
        text: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(self.with(dap).runs(file, text))
    }

    fn set_breakpoints<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
        wanted: &'a [Wanted],
    ) -> BoxFuture<'a, Result<Vec<Bound>, Failure>> {
        Box::pin(self.with(dap).set_breakpoints(file, wanted))
    }

    fn set_functions<'a>(
        &'a self,
        dap: &'a Dap,
        wanted: &'a [WantedFunction],
    ) -> BoxFuture<'a, Result<Vec<Bound>, Failure>> {
        Box::pin(self.with(dap).set_functions(wanted))
    }

    fn exceptions<'a>(
        &'a self,
        dap: &'a Dap,
        exceptions: &'a Exceptions,
    ) -> BoxFuture<'a, Result<Option<t::SetExceptionBreakpointsArguments>, Failure>> {
        Box::pin(self.with(dap).exceptions(exceptions))
    }

    /// `None` and a statement look the same in its answer; this tells them apart.
    fn nothing<'a>(&'a self, dap: &'a Dap, expression: &'a str) -> BoxFuture<'a, Option<Value>> {
        Box::pin(async move {
            let compiled = self.with(dap).compile(expression).await;
            matches!(compiled, Some(Ok(_))).then(none)
        })
    }

    fn until<'a>(
        &'a self,
        dap: &'a Dap,
        asked: &'a UntilAsked,
    ) -> BoxFuture<'a, Result<UntilSeen, Failure>> {
        Box::pin(self.with(dap).until(asked))
    }

    fn until_ends<'a>(
        &'a self,
        dap: &'a Dap,
        end: UntilEnd,
    ) -> BoxFuture<'a, Result<Option<UntilSeen>, Failure>> {
        Box::pin(self.with(dap).until_ends(end))
    }

    fn interrupt<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, ()> {
        Box::pin(self.with(dap).interrupt())
    }

    fn event(&self, known: &DebuggerState, event: &Event) -> Option<Vec<Signal>> {
        match event {
            Event::Output(output) if output.output.starts_with(CONDITION_RAISED) => {
                let why = translate::last_line(&output.output);
                *self.0.condition_error() =
                    Some(format!("the breakpoint's condition failed: {why}"));
                Some(Vec::new())
            }
            Event::Other { event, body } if event == CHILD => {
                // Full means that nobody takes them any more: the session ends.
                let announced = self.0.about.children.as_ref().map(|it| it.try_send(body.clone()));
                if let Some(Err(error)) = announced {
                    tracing::debug!(%error, "a child process is not debugged");
                }
                Some(Vec::new())
            }
            Event::Other { event, body } if event == EVENT => {
                self.0.until_told(body);
                let title = body.get("title").and_then(Json::as_str).map(str::to_owned);
                let hits = body.get("hits").and_then(Json::as_array);
                let traces = known.traces();
                let passed = hits.map(|all| all.iter().filter_map(|it| traces.read(it)).collect());
                let titled = title.map(Signal::Titled).into_iter();
                Some(titled.chain(passed.map(Signal::Passed)).collect())
            }
            _ => None,
        }
    }

    fn stopped(&self, known: &DebuggerState, mut stopped: Stopped) -> Stopped {
        if self.0.is_in_process() {
            // What shares a line with a breakpoint and does not stop.
            stopped.hits.retain(|id| !known.traces().has(*id));
        }
        stopped.text = stopped.text.or_else(|| self.0.condition_error().take());
        // The stop of a thread that was on its way to a function's body is that of the breakpoint.
        if let Some(hits) = self.0.entering().remove(&stopped.thread) {
            if stopped.reason == StopReason::Step {
                stopped.reason = StopReason::Breakpoint;
            }
            stopped.hits.splice(0..0, hits);
        }
        stopped
    }

    fn look(
        &self,
        dap: &Dap,
        event: &t::StoppedEvent,
        stopped: &Stopped,
    ) -> Option<BoxFuture<'static, Option<Stopped>>> {
        let is_at_call = event.reason == t::StopReason::FunctionBreakpoint;
        let is_shared = self.0.is_in_process() && stopped.hits.len() > 1;
        if !is_at_call && !is_shared {
            return None;
        }
        let (own, dap, stopped) = (self.clone(), dap.clone(), stopped.clone());
        Some(Box::pin(async move {
            let talk = own.with(&dap);
            if is_at_call { talk.on_to_body(stopped).await } else { talk.with_hits(stopped).await }
        }))
    }
}

impl Talk<'_> {
    /// Nobody is told of a stop at a function's head, but for one that cannot go on.
    async fn on_to_body(self, stopped: Stopped) -> Option<Stopped> {
        let Err(failure) = self.enter(stopped.thread).await else { return None };
        tracing::debug!(%failure, "a function's body is not reached");
        Some(stopped)
    }

    /// Of several breakpoints on one line, those that wanted to stop.
    async fn with_hits(self, mut stopped: Stopped) -> Option<Stopped> {
        match self.hit().await {
            Ok(hits) if !hits.is_empty() => stopped.hits = hits,
            Ok(_) => {}
            Err(failure) => {
                tracing::debug!(%failure, "which of several breakpoints was hit is unknown")
            }
        }
        Some(stopped)
    }
}

/// Whether a file may be Python's.
fn is_python(file: Option<&Path>) -> bool {
    let is_source = |it: &std::ffi::OsStr| it == "py" || it == "pyw";
    file.is_none_or(|file| file.extension().is_some_and(is_source))
}

/// As JSON writes a string, so does Python.
fn literal(text: &str) -> String {
    Json::from(text).to_string()
}

/// Python's `None`, which its debugger does not show.
fn none() -> Value {
    Value {
        text: "None".to_owned(),
        kind: Some("NoneType".to_owned()),
        children: None,
        indexed: None,
        named: None,
    }
}
