//! Taking a program under control: the connection, what is set before its first line, and its workers.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_cdp::{
    Client, Event, Inbox, Incoming, Limits, Target, UserFile, WorkerSession,
    types::{
        debugger::{SetAsyncCallStackDepth, SetBreakpointByUrl},
        worker::Attached,
    },
};
use tokio::sync::{mpsc, oneshot};

use super::{Cdp, refused, watch::Watch};
use crate::{
    adapter::Connected,
    backend::{Backend, Signal},
    breakpoints::Breakpoints,
    failure::Failure,
    limits,
};

/// The script that Node runs for us before a program's own: nobody wants to see it.
pub const BOOT_NAME: &str = "holdpoint-boot.cjs";
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
}

/// What one thread is and where it is to stop first.
pub struct Subject {
    pub name: String,
    pub pid: Option<u32>,
    /// The program's own file, where it is known.
    pub script: Option<PathBuf>,
    pub entry: Entry,
}

pub enum Entry {
    /// V8 stops before the first line; nobody is told.
    Silent,
    /// V8 stops before the first line.
    Told,
    /// V8 does not stop by itself; the first line of this file, if any, is where to.
    At(Option<PathBuf>),
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
    let (client, inbox) = Client::connect(url, Limits::default()).await.map_err(refused)?;
    let (events, taken) = mpsc::channel(limits::MAILBOX);
    let router = Router {
        client: client.clone(),
        inbox,
        main: events,
        workers: HashMap::new(),
        setup: setup.clone(),
    };
    // Ends with the connection, which ends with the program or with its session.
    tokio::spawn(router.run());
    take(client, taken, &setup, subject).await
}

/// One thread, from its first event on.
async fn take(
    client: Client,
    events: mpsc::Receiver<Event>,
    setup: &Setup,
    subject: Subject,
) -> Result<(Connected, oneshot::Receiver<Began>), Failure> {
    let cdp = Cdp::new(client, subject.name, setup);
    let (sender, signals) = mpsc::channel::<Signal>(limits::MAILBOX);
    let (began, beginning) = oneshot::channel();
    let watch = Watch {
        cdp: cdp.clone(),
        events,
        signals: sender,
        tells_entry: matches!(subject.entry, Entry::Told),
        is_entering: false,
        script: subject.script,
        began: Some(began),
    };
    // Ends with the thread it watches.
    tokio::spawn(watch.run());
    let revision = setup.breakpoints.revision();
    configure(&cdp, setup, subject.entry).await?;
    let backend = Backend::Cdp(cdp);
    Ok((Connected { backend, signals, pid: subject.pid, revision }, beginning))
}

/// Each step waits for its answer: sent at once, Node lost the entry stop in 3 of 50 tries.
async fn configure(cdp: &Cdp, setup: &Setup, entry: Entry) -> Result<(), Failure> {
    let enabled = tokio::time::timeout(limits::ADAPTER_ANSWER, cdp.client.enable());
    enabled
        .await
        .map_err(|_| Failure::new(crate::failure::Code::LaunchFailed, "the inspector is silent"))?
        .map_err(refused)?;
    cdp.set_exceptions(&setup.breakpoints.exceptions()).await?;
    // Libraries only from the first line on: a program may lie among them, as test runners do.
    cdp.blackbox(matches!(entry, Entry::At(_))).await?;
    // A program that V8 does not stop has its loader already: it was let in by a script of ours.
    if matches!(entry, Entry::At(_)) {
        cdp.points().has_loader = true;
        cdp.ask(SetAsyncCallStackDepth { max_depth: limits::ASYNC_DEPTH }).await?;
    }
    for (file, wanted) in setup.breakpoints.by_file() {
        cdp.set_breakpoints(&file, &wanted).await?;
    }
    let functions = setup.breakpoints.functions();
    if !functions.is_empty() {
        cdp.set_functions(&functions).await?;
    }
    if let Entry::At(Some(file)) = entry {
        set_entry(cdp, &file).await?;
    }
    cdp.client.run().await.map_err(refused)
}

/// A breakpoint on a file's first line, which stands for the entry.
pub(super) async fn set_entry(cdp: &Cdp, file: &Path) -> Result<(), Failure> {
    let first = SetBreakpointByUrl {
        line_number: 0,
        url_regex: UserFile::new(file).url_regex(),
        column_number: None,
        condition: None,
    };
    let set = cdp.ask(first).await?;
    cdp.points().entry = Some(set.breakpoint_id);
    Ok(())
}

/// The task that owns the connection's inbox: each thread's events go to its own watch.
struct Router {
    client: Client,
    inbox: Inbox,
    main: mpsc::Sender<Event>,
    workers: HashMap<WorkerSession, mpsc::Sender<Event>>,
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

    fn attach(&mut self, attached: Attached) {
        let (sender, events) = mpsc::channel(limits::MAILBOX);
        self.workers.insert(attached.session_id.clone(), sender);
        let client = self.client.worker(attached.session_id);
        let setup = self.setup.clone();
        let title = attached.worker_info.title;
        let subject = Subject {
            name: if title.is_empty() { "worker".to_owned() } else { title },
            pid: None,
            script: None,
            entry: Entry::Silent,
        };
        // Ends when the worker is taken, or gone.
        tokio::spawn(async move {
            match take(client, events, &setup, subject).await {
                Ok((connected, _)) => {
                    // The session may have ended first.
                    setup.joining.send(connected).await.unwrap_or_default();
                }
                Err(failure) => tracing::debug!(%failure, "a worker could not be debugged"),
            }
        });
    }
}
