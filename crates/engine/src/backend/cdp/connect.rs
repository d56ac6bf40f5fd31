//! Taking a program under control: the connection, what is set before its first line, and its workers.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use holdpoint_cdp::{
    Event, Inbox, Incoming, Limits, Requester, Script, Target, UserFile, WorkerSession,
    types::{
        Location, ScriptId,
        debugger::{
            GetPossibleBreakpoints, Instrumentation, RemoveBreakpoint, SetAsyncCallStackDepth,
            SetBreakpoint, SetBreakpointByUrl, SetInstrumentationBreakpoint,
        },
        worker,
    },
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{
    Cdp, LIBRARIES, THREAD, WovenTexts, attached::Attached, refused, unhandled, watch::Watch,
};
use crate::{
    backend::{Backend, Bound, Connected, Signal},
    breakpoints::Breakpoints,
    failure::Failure,
    limits,
};

/// The script that Node runs for us before a program's own: nobody wants to see it.
pub const BOOT_NAME: &str = "holdpoint-boot.cjs";
pub const BOOT: &str = include_str!("boot.cjs");
pub(super) const BOOT_PATTERN: &str = "/holdpoint-boot\\.cjs$";

/// How to take a program, and each of its workers.
#[derive(Clone)]
pub struct Setup {
    pub breakpoints: Arc<Breakpoints>,
    pub just_my_code: bool,
    /// Where the program's own sources are.
    pub folders: Vec<PathBuf>,
    /// Where workers are announced.
    pub joining: mpsc::Sender<Connected>,
    /// Whether the first line of the user's own code is where to stop, in whichever thread that runs.
    pub first_line: FirstLine,
    /// The texts that have tracepoints in them.
    pub woven: Arc<WovenTexts>,
    /// For a program that we did not start.
    pub attached: Option<Attached>,
}

/// The stop at the first line of the user's own code: one for all threads of a program. Test runners run
/// much of their own before, and most of them run the user's code in another process.
#[derive(Clone, Default)]
pub struct FirstLine(Arc<AtomicBool>);

impl FirstLine {
    pub fn expect(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether whoever asks is the first.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// What one thread is and where it is to stop first.
pub struct Subject {
    pub name: String,
    pub pid: Option<u32>,
    /// The program's own file, where it is known.
    pub script: Option<PathBuf>,
    pub entry: AtEntry,
}

pub enum AtEntry {
    /// V8 stops before the first line; nobody is told.
    Silent,
    /// V8 stops before the first line.
    Told,
    /// V8 does not stop by itself: a script of ours let us in, or the program runs already.
    LetIn,
}

impl AtEntry {
    /// Whether V8 stops by itself before the first line.
    fn is_by_v8(&self) -> bool {
        matches!(self, AtEntry::Silent | AtEntry::Told)
    }
}

/// How a program that was let go began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// It stands, or stood, before its first line.
    Entered,
    /// It ended before that.
    Over,
}

/// Connects to the inspector at `url` and lets the program go, with everything set.
pub async fn connect(
    url: &str,
    setup: Setup,
    subject: Subject,
) -> Result<(Connected, oneshot::Receiver<Began>), Failure> {
    let (requester, inbox) = Requester::connect(url, Limits::default()).await.map_err(refused)?;
    let taken = over(requester, inbox, setup, subject).await?;
    Ok((taken.connected, taken.began))
}

/// The same over a connection that is there.
pub(super) async fn over(
    requester: Requester,
    inbox: Inbox,
    setup: Setup,
    subject: Subject,
) -> Result<Taken, Failure> {
    let (events, taken) = mpsc::channel(limits::MAILBOX);
    let router = Router {
        requester: requester.clone(),
        inbox,
        main: events,
        workers: HashMap::new(),
        taking: JoinSet::new(),
        setup: setup.clone(),
    };
    // Ends with the connection, which ends with the program or with its session.
    tokio::spawn(router.run());
    let result = take(requester.clone(), taken, &setup, subject).await;
    if result.is_err() {
        requester.close().await;
    }
    result
}

/// One thread under control.
pub(super) struct Taken {
    pub(super) cdp: Cdp,
    pub(super) connected: Connected,
    pub(super) began: oneshot::Receiver<Began>,
}

/// One thread, from its first event on.
async fn take(
    requester: Requester,
    events: mpsc::Receiver<Event>,
    setup: &Setup,
    subject: Subject,
) -> Result<Taken, Failure> {
    let cdp = Cdp::new(requester, subject.name, setup);
    let (sender, signals) = mpsc::channel::<Signal>(limits::MAILBOX);
    let (began, beginning) = oneshot::channel();
    let watch = Watch {
        cdp: cdp.clone(),
        events,
        signals: sender,
        tells_entry: matches!(subject.entry, AtEntry::Told),
        first_line: setup.first_line.clone(),
        is_entering: false,
        script: subject.script,
        steps_onward: 0,
        // Without a stop before the first line nobody is told that it was passed.
        began: subject.entry.is_by_v8().then_some(began),
        early: Vec::new(),
    };
    let thread = Signal::ThreadStarted { thread: THREAD, name: Some(cdp.known.name.clone()) };
    watch.signals.try_send(thread).unwrap_or_default();
    // Ends with the thread it watches.
    tokio::spawn(watch.run());
    let revision = setup.breakpoints.revision();
    let bound = configure(&cdp, setup, subject.entry).await?;
    let backend = Backend::Cdp(cdp.clone());
    let connected = Connected { backend, signals, pid: subject.pid, revision, bound };
    Ok(Taken { cdp, connected, began: beginning })
}

/// Each step waits for its answer: sent at once, Node lost the entry stop in 3 of 50 tries.
async fn configure(cdp: &Cdp, setup: &Setup, entry: AtEntry) -> Result<Vec<Bound>, Failure> {
    let enabled = tokio::time::timeout(limits::ADAPTER_ANSWER, cdp.requester.enable());
    enabled
        .await
        .map_err(|_| Failure::new(crate::failure::Code::LaunchFailed, "the inspector is silent"))?
        .map_err(refused)?;
    let monitor = cdp.ask(unhandled::monitor()).await?;
    cdp.points().monitor = Some(monitor.breakpoint_id);
    cdp.set_exceptions(&setup.breakpoints.exceptions()).await?;
    // Libraries only from the first line on: a program may lie among them, as test runners do.
    cdp.blackbox(!entry.is_by_v8()).await?;
    // A program that V8 does not stop has its loader already: it runs, or a script of ours let it in.
    if !entry.is_by_v8() {
        cdp.points().has_loader = true;
        cdp.ask(SetAsyncCallStackDepth { max_depth: limits::ASYNC_DEPTH }).await?;
    }
    let mut bound = Vec::new();
    for (file, wanted) in setup.breakpoints.by_file() {
        bound.extend(cdp.set_breakpoints(&file, &wanted).await?);
    }
    let functions = setup.breakpoints.functions();
    if !functions.is_empty() {
        bound.extend(cdp.set_functions(&functions).await?);
    }
    if setup.first_line.is_awaited() && !matches!(entry, AtEntry::Told) {
        set_first_line(cdp).await?;
    }
    cdp.begin_survey(setup.breakpoints.surveyed()).await?;
    cdp.requester.run().await.map_err(refused)?;
    Ok(bound)
}

/// A breakpoint on a file's first line, which stands for the entry.
pub(super) async fn set_entry(cdp: &Cdp, file: &Path) -> Result<(), Failure> {
    set_first(cdp, cdp.url_regex(&UserFile::new(file))).await
}

/// The same on the first line of every file of the user's.
pub(super) async fn set_first_line(cdp: &Cdp) -> Result<(), Failure> {
    let libraries = if cdp.known.just_my_code { LIBRARIES } else { BOOT_NAME };
    let url_regex = format!("^(?:file://)?/(?!.*{libraries})(?!.*{BOOT_PATTERN})");
    set_first(cdp, url_regex).await?;
    // By its line V8 may find a function's first statement rather than the file's, if that comes first.
    // In what is there already it is known better; before ES modules that come V8 stops by itself; other
    // files begin with what they require.
    for script in loaded(cdp) {
        set_first_in(cdp, script).await;
    }
    let instrumentation = Instrumentation::BeforeScriptExecution;
    let modules = cdp.ask(SetInstrumentationBreakpoint { instrumentation }).await?;
    cdp.points().entry_modules = Some(modules.breakpoint_id);
    Ok(())
}

/// The user's scripts that have not run yet, or have.
fn loaded(cdp: &Cdp) -> Vec<ScriptId> {
    let sources = cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner);
    let is_user = |script: &&Script| {
        let is_library = cdp.known.just_my_code && script.url.contains(LIBRARIES);
        script.file().is_some() && !is_library && !script.url.ends_with(BOOT_NAME)
    };
    sources.scripts().iter().filter(is_user).map(|script| script.id.clone()).collect()
}

async fn set_first_in(cdp: &Cdp, script_id: ScriptId) {
    let start = Location { script_id, line_number: 0, column_number: Some(0) };
    let command =
        GetPossibleBreakpoints { start: start.clone(), end: None, restrict_to_function: true };
    let found = cdp.ask(command).await.map(|it| it.locations).unwrap_or_default();
    let Some(first) = found.first() else { return };
    let location =
        Location { line_number: first.line_number, column_number: first.column_number, ..start };
    if let Ok(set) = cdp.ask(SetBreakpoint { location, condition: None }).await {
        cdp.points().entry.push(set.breakpoint_id);
    }
}

/// The entry is reached, or was elsewhere.
pub(super) async fn remove_entry(cdp: &Cdp) {
    let ids = {
        let mut points = cdp.points();
        let modules = points.entry_modules.take();
        std::mem::take(&mut points.entry).into_iter().chain(modules)
    };
    for breakpoint_id in ids {
        if let Err(failure) = cdp.ask(RemoveBreakpoint { breakpoint_id }).await {
            tracing::debug!(%failure, "the entry's breakpoint stays");
        }
    }
}

async fn set_first(cdp: &Cdp, url_regex: String) -> Result<(), Failure> {
    let first =
        SetBreakpointByUrl { line_number: 0, url_regex, column_number: None, condition: None };
    let set = cdp.ask(first).await?;
    cdp.points().entry.push(set.breakpoint_id);
    Ok(())
}

/// The task that owns the connection's inbox: each thread's events go to its own watch.
struct Router {
    requester: Requester,
    inbox: Inbox,
    main: mpsc::Sender<Event>,
    workers: HashMap<WorkerSession, mpsc::Sender<Event>>,
    /// Workers that are being taken. Ended with this task.
    taking: JoinSet<()>,
    setup: Setup,
}

impl Router {
    async fn run(mut self) {
        while let Some(incoming) = self.inbox.next().await {
            match incoming {
                Incoming::Event { target: Target::Main, event } => {
                    match &event {
                        Event::WorkerAttached(attached) => self.attach((**attached).clone()),
                        Event::WorkerDetached(detached) => {
                            self.workers.remove(&detached.session_id);
                        }
                        _ => {}
                    }
                    if self.main.send(event).await.is_err() {
                        // The session is over.
                        return;
                    }
                }
                Incoming::Event { target: Target::Worker(session), event } => {
                    if let Some(worker) = self.workers.get(&session)
                        && worker.send(event).await.is_err()
                    {
                        self.workers.remove(&session);
                    }
                }
                // Console events; the console's text comes by the program's pipes.
                Incoming::Dropped { .. } => {}
                Incoming::Closed(reason) => {
                    tracing::debug!(%reason, "an inspector connection is closed");
                    return;
                }
            }
        }
    }

    fn attach(&mut self, attached: worker::Attached) {
        let (sender, events) = mpsc::channel(limits::MAILBOX);
        self.workers.insert(attached.session_id.clone(), sender);
        let requester = self.requester.worker(attached.session_id);
        let setup = self.setup.clone();
        let title = attached.worker_info.title;
        let subject = Subject {
            name: if title.is_empty() { "worker".to_owned() } else { title },
            pid: None,
            script: None,
            entry: setup.worker_entry(),
        };
        while self.taking.try_join_next().is_some() {}
        // Ends when the worker is taken, or gone.
        self.taking.spawn(async move {
            match take(requester, events, &setup, subject).await {
                Ok(taken) => {
                    // The session may have ended first.
                    setup.joining.send(taken.connected).await.unwrap_or_default();
                }
                Err(failure) => tracing::debug!(%failure, "a worker could not be debugged"),
            }
        });
    }
}
