//! One thread of JavaScript under the V8 inspector: a Node program's main thread, or a worker of it.
//!
//! What V8 answers says only that it took the command; stops come as events, and [`watch`] decides which of
//! them are anybody's business: the entry, holds before scripts with source maps, and conditions of ours are not.

mod attached;
mod begin;
mod breakpoints;
mod connect;
mod evaluate;
mod exceptions;
mod fresh;
mod functions;
mod inspect;
mod onward;
mod pausing;
mod points;
mod reach;
mod text;
mod tokens;
mod traces;
mod unassigned;
mod unhandled;
mod until;
mod value;
mod watch;
mod weave;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Instant,
};

use holdpoint_cdp::{
    Command, Error, Requester, Sources, Target,
    types::{
        CallFrame, Paused, ScriptId,
        debugger::{GetScriptSource, Resume, SetBlackboxPatterns, StepInto, StepOut, StepOver},
    },
};

pub use self::attached::{Attached, attach};
pub use self::connect::{AtEntry, BOOT, BOOT_NAME, Began, FirstLine, Setup, Subject, connect};
pub use self::functions::outline;
pub use self::weave::{WovenText, WovenTexts, counted};
use self::{points::Points, traces::Traces};
use super::{
    Bound, ExceptionInfo, Exceptions, FrameId, Handle, Loaded, RunningText, Scope, Slice, Stack,
    Step, Thread, Value, Variable, Wanted, WantedFunction, Went, tasks::Tasks,
};
use crate::{
    failure::{Code, Failure},
    limits,
};

/// JavaScript has one thread in each target, so its number means nothing.
const THREAD: i64 = 1;
/// Scripts of Node itself.
const INTERNALS: &str = "^node:";
/// What has no source to show.
const WASM: &str = "^wasm://";
/// The name of the expression in which an idle program stops.
const IDLE: &str = "holdpoint:idle";
/// Scripts that a package manager put there.
const LIBRARIES: &str = "/node_modules/";

/// Cheap to clone.
#[derive(Clone)]
pub struct Cdp {
    requester: Requester,
    known: Arc<ThreadState>,
}

/// What we know of one thread.
struct ThreadState {
    name: String,
    just_my_code: bool,
    /// `None` for a program that we started.
    attached: Option<Attached>,
    sources: Arc<Mutex<Sources>>,
    moment: Mutex<Moment>,
    /// Tells of each stop as it is recorded.
    stopped: Arc<tokio::sync::Notify>,
    points: Mutex<Points>,
    traces: Mutex<Traces>,
    /// Texts that have tracepoints in them.
    woven: Arc<WovenTexts>,
    /// A value that a step is watched for.
    until: Mutex<Option<until::WatchedValue>>,
    /// Files of which is wanted which lines ran.
    surveyed: Mutex<Vec<PathBuf>>,
    /// Where the program's own sources are, to look for functions that are not loaded yet.
    folders: Vec<PathBuf>,
    /// Which exceptions are anybody's business.
    exceptions: exceptions::Wanted,
    /// Whether our boot script runs in it, which tells of errors that nobody handles.
    has_boot: AtomicBool,
    thrown: Mutex<unhandled::Thrown>,
    /// The scripts that were looked into last, as words and marks.
    words: Mutex<VecDeque<(ScriptId, Arc<Vec<tokens::Token>>)>>,
    /// Changes of breakpoints come one after the other.
    order: tokio::sync::Mutex<()>,
    /// What is under way beside the events.
    tasks: Tasks,
}

/// Where it stands.
#[derive(Default)]
struct Moment {
    paused: Option<Arc<Paused>>,
    /// How many stops there were, and how often it was told to go on: what was got before means nothing after.
    epoch: u64,
    /// The stop at which something was evaluated last.
    touched_at: Option<u64>,
    /// Set when it stands where Node tells of an error that nobody handled.
    aftermath: Option<unhandled::Aftermath>,
    asked: Asked,
    /// Set while V8 may still act on a pause that another stop has answered.
    is_pause_late: bool,
    /// How many frames there were when a step began.
    step_depth: usize,
    /// Until when an evaluation may run that nobody waits for any more.
    busy_until: Option<Instant>,
}

/// What the next stop without a breakpoint is due to: V8 does not say.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Asked {
    #[default]
    Nothing,
    Step(Step),
    Pause,
}

impl Cdp {
    fn new(requester: Requester, name: String, setup: &Setup) -> Cdp {
        let mut sources = Sources::default();
        for text in &setup.woven.0 {
            sources.expect(&text.file, Arc::clone(&text.inserted));
        }
        let known = ThreadState {
            name,
            just_my_code: setup.just_my_code,
            folders: setup.folders.clone(),
            exceptions: exceptions::Wanted::default(),
            has_boot: AtomicBool::default(),
            thrown: Mutex::default(),
            words: Mutex::default(),
            attached: setup.attached.clone(),
            sources: Arc::new(Mutex::new(sources)),
            woven: Arc::clone(&setup.woven),
            moment: Mutex::default(),
            stopped: Arc::default(),
            points: Mutex::default(),
            traces: Mutex::default(),
            until: Mutex::default(),
            surveyed: Mutex::default(),
            order: tokio::sync::Mutex::default(),
            tasks: Tasks::default(),
        };
        Cdp { requester, known: Arc::new(known) }
    }

    /// Sends a command and waits for its answer, within a deadline: a thread that is inside of a system
    /// call answers nothing.
    async fn ask<C: Command>(&self, command: C) -> Result<C::Answer, Failure> {
        let patience = super::patience();
        match tokio::time::timeout(patience, self.requester.send(command)).await {
            Ok(answer) => answer.map_err(refused),
            Err(_) => {
                let text = format!("the program did not answer `{}` in {patience:?}", C::METHOD);
                Err(Failure::new(Code::AdapterFailed, text).hint(self.silence()))
            }
        }
    }

    /// Why the thread may not answer, and what to do.
    fn silence(&self) -> String {
        let native =
            "it may be inside of a call that does not return to JavaScript, such as `execSync`";
        let traced = self.endless().map(|it| format!(", or {it}"));
        format!("{native}{}", traced.unwrap_or_default())
    }

    /// A tracepoint that may hold the program for good.
    pub fn endless(&self) -> Option<String> {
        let (id, expression) = self.traces().risk()?;
        Some(format!(
            "tracepoint {id} evaluates `{}`, which V8 cannot end at a tracepoint: `debug_stop` ends the \
             program",
            crate::budget::cut(&expression, 80)
        ))
    }

    /// Which stop this is, or which run after it.
    pub(super) fn epoch(&self) -> u64 {
        self.moment().epoch
    }

    /// What the process or worker is called by those who wrote the program.
    pub async fn title(&self) -> Result<String, Failure> {
        Ok(self.known.name.clone())
    }

    pub async fn resume(&self, _: i64) -> Result<Went, Failure> {
        self.moment().asked = Asked::Nothing;
        self.go(self.ask(Resume::default())).await.map(|_| Went::All)
    }

    pub async fn step(&self, _: i64, step: Step) -> Result<(), Failure> {
        {
            let mut moment = self.moment();
            moment.asked = Asked::Step(step);
            moment.step_depth = moment.paused.as_ref().map_or(0, |it| it.call_frames.len());
        }
        self.go(self.step_on(step)).await
    }

    /// From the moment when it is asked to go on nothing of this stop means anything, unless it refuses.
    async fn go<T>(&self, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.moment().epoch += 1;
        let answer = asked.await;
        if answer.is_err() {
            let mut moment = self.moment();
            moment.epoch = moment.epoch.saturating_sub(1);
        }
        answer
    }

    async fn step_on(&self, step: Step) -> Result<(), Failure> {
        match step {
            Step::Over => self.ask(StepOver {}).await.map(drop),
            Step::In => self.ask(StepInto::default()).await.map(drop),
            Step::Out => self.ask(StepOut {}).await.map(drop),
        }
    }

    pub async fn set_breakpoints(
        &self,
        file: &Path,
        wanted: &[Wanted],
    ) -> Result<Vec<Bound>, Failure> {
        breakpoints::replace(self, file, wanted).await
    }

    pub async fn set_functions(&self, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
        functions::replace(self, wanted).await
    }

    pub async fn running(&self, file: &Path) -> Result<RunningText, Failure> {
        text::running(self, file).await
    }

    /// V8 tells the text of any script when it is needed.
    pub async fn loaded(&self) -> Result<Vec<Loaded>, Failure> {
        Ok(Vec::new())
    }

    pub async fn is_same(&self, _: &Path) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// V8 knows which lines of what it runs have code.
    pub async fn runs(&self, _: &Path, _: Option<&str>) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether a condition is one, as far as V8 can tell before its scope is known.
    pub async fn check_condition(&self, condition: &str) -> Result<(), Failure> {
        breakpoints::parses(self, condition).await.map_err(|problem| {
            Failure::new(
                Code::InvalidParams,
                format!("the condition `{condition}` does not parse: {problem}"),
            )
        })
    }

    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        exceptions::set(self, exceptions).await
    }

    pub async fn threads(&self) -> Result<Vec<Thread>, Failure> {
        Ok(vec![Thread { id: THREAD, name: self.known.name.clone() }])
    }

    pub async fn stack(&self, _: i64, slice: Slice) -> Result<Stack, Failure> {
        inspect::stack(self, slice).await
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        inspect::scopes(self, frame)
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        inspect::children(self, of, slice).await
    }

    pub async fn assign(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        inspect::assign(self, container, name, value).await
    }

    pub async fn exception(&self, _: i64) -> Result<ExceptionInfo, Failure> {
        inspect::exception(self).await
    }

    /// Leaves the program running, without our breakpoints. A worker's connection is its program's.
    pub async fn detach(&self) -> Result<(), Failure> {
        let requester = &self.requester;
        let leaving = async {
            if *requester.target() == Target::Main {
                requester.close().await;
                requester.closed().await;
                return Ok(());
            }
            requester.call("Debugger.disable", serde_json::json!({})).await.map(drop)
        };
        match tokio::time::timeout(limits::DETACH, leaving).await {
            Ok(left) => left.map_err(refused),
            Err(_) => Err(Failure::new(Code::Timeout, "the program did not answer")),
        }
    }

    async fn blackbox(&self, libraries: bool) -> Result<(), Failure> {
        let always = [INTERNALS, WASM, connect::BOOT_PATTERN];
        let mut patterns: Vec<String> = always.map(str::to_owned).to_vec();
        if libraries && self.known.just_my_code {
            patterns.push(LIBRARIES.to_owned());
        }
        self.ask(SetBlackboxPatterns { patterns }).await.map(drop)
    }

    /// Maps are read from disk when they are needed first, so not on the runtime's own threads.
    async fn sources<R: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Sources) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let sources = Arc::clone(&self.known.sources);
        let asked = move || question(&mut sources.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(asked)
            .await
            .map_err(|error| Failure::internal(format!("a source map could not be read: {error}")))
    }

    /// A script as words and marks; `None` where it is too large to look into at each stop.
    async fn words(&self, script: &ScriptId) -> Option<Arc<Vec<tokens::Token>>> {
        let known = {
            let words = self.known.words.lock().unwrap_or_else(PoisonError::into_inner);
            words.iter().find(|(id, _)| id == script).map(|(_, words)| Arc::clone(words))
        };
        if known.is_some() {
            return known;
        }
        let source = self.ask(GetScriptSource { script_id: script.clone() }).await.ok()?;
        let source = source.script_source;
        let is_small = source.len() as u64 <= limits::FUNCTION_BYTES;
        let read = move || if is_small { tokens::tokens(&source) } else { Vec::new() };
        let words = Arc::new(tokio::task::spawn_blocking(read).await.ok()?);
        let mut all = self.known.words.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((script.clone(), Arc::clone(&words)));
        if all.len() > limits::SCRIPTS_READ {
            all.pop_front();
        }
        Some(words)
    }

    fn moment(&self) -> MutexGuard<'_, Moment> {
        self.known.moment.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn points(&self) -> MutexGuard<'_, Points> {
        self.known.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn surveyed(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.known.surveyed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.known.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A command without a type, within the same deadline.
    async fn call(&self, method: &str, params: serde_json::Value) -> Result<(), Failure> {
        match tokio::time::timeout(limits::ADAPTER_ANSWER, self.requester.call(method, params))
            .await
        {
            Ok(answer) => answer.map(drop).map_err(refused),
            Err(_) => Err(Failure::new(
                Code::AdapterFailed,
                format!("the program did not answer `{method}`"),
            )),
        }
    }

    fn paused(&self) -> Result<Arc<Paused>, Failure> {
        self.moment().paused.clone().ok_or_else(|| {
            Failure::new(Code::NotStopped, "the program is running")
                .hint("`debug_pause` stops it, `debug_wait` waits for its next stop")
        })
    }

    fn frame(&self, frame: &FrameId) -> Result<CallFrame, Failure> {
        is_live(frame)?;
        let wanted = text(frame)?;
        let paused = self.paused()?;
        let found = paused.call_frames.iter().find(|it| it.call_frame_id.0 == wanted);
        found.cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "that frame is of an earlier stop")
                .hint("`debug_stack` numbers the frames of this one")
        })
    }
}

/// What scheduled a task has no frame any more.
fn is_live(frame: &FrameId) -> Result<(), Failure> {
    if text(frame)?.starts_with(inspect::ASYNC) {
        return Err(Failure::new(Code::NotFound, "an async caller keeps no variables")
            .hint("its frame is gone; only frames without `async` have values"));
    }
    Ok(())
}

fn text(frame: &FrameId) -> Result<&str, Failure> {
    frame.as_text().ok_or_else(|| Failure::internal("a frame of another protocol"))
}

fn refused(error: Error) -> Failure {
    match error {
        Error::Refused { method, message, .. } => {
            Failure::new(Code::AdapterFailed, format!("V8 refused `{method}`: {message}"))
        }
        Error::Closed { reason } => {
            Failure::new(Code::SessionEnded, format!("the program is gone: {reason}"))
        }
        error @ (Error::Malformed { .. } | Error::Unreachable { .. } | Error::Busy { .. }) => {
            Failure::new(Code::AdapterFailed, error.to_string())
        }
    }
}
