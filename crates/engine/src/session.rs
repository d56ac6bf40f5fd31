//! One program under line-level debugging: a mailbox and a watched view. The only door.
//!
//! Its state has one owner, the actor task. Commands go to it by the mailbox; what is true now is in the
//! [`View`]. Reading a stopped program (stack, variables, evaluation) goes past the actor, straight to the
//! process, with handles that are good for one stop.

mod actor;
mod beside;
mod output;
mod state;
mod target;
mod teller;
mod texts;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt as _,
    process::ChildStdin,
    sync::{mpsc, oneshot, watch},
};

use self::{
    beside::Beside,
    target::{Target, Targets, UNANSWERED},
    teller::Teller,
};
pub use self::{
    output::{Output, Stream, Text},
    state::{Refusal, Status, Stop},
    view::{Passes, Process, Shown, ThreadRow, View},
};
use crate::{
    adapter::{Runtime, Started},
    attach::Attach,
    backend::{self, Backend, Binding, Bound, Exceptions, Step, TraceWay},
    breakpoints::{Breakpoint, Breakpoints, Place},
    failure::{Code, Failure},
    ids::{BreakpointId, Epoch, Seq, SessionId, TargetId, ThreadKey},
    inspect::{self, Snapshot},
    launch::Launch,
    limits,
    log::Log,
    process::Exit,
};

pub struct Session {
    pub id: SessionId,
    pub name: String,
    pub language: &'static str,
    pub origin: Origin,
    /// What runs it; `None` for a program that we only attached to.
    pub runtime: Option<Runtime>,
    pub output: Arc<Output>,
    view: watch::Receiver<Arc<View>>,
    commands: mpsc::Sender<Command>,
    targets: Targets,
    breakpoints: Arc<Breakpoints>,
    tell: Arc<Teller>,
    stdin: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    /// What callers began and do not wait for.
    beside: Beside,
    /// The last stop that was told, to say what changed.
    told: Mutex<Option<ToldStop>>,
    /// The stops that were told, oldest first.
    stops: Mutex<VecDeque<Arc<Snapshot>>>,
}

/// How we came to the program.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    Launched(Launch),
    Attached(Attach),
}

/// What a caller wants of the actor.
enum Command {
    Resume { reply: Reply },
    Step { thread: Option<ThreadKey>, step: Step, reply: Reply },
    Pause { reply: Reply },
    Stop { reply: oneshot::Sender<Exit> },
}

type Reply = oneshot::Sender<Result<(), Failure>>;

/// What a wait found.
#[derive(Debug, Clone)]
pub enum Outcome {
    Stopped(Arc<Shown>),
    Ended(Exit),
    /// Neither, by the deadline. A later stop is not lost: it has a later epoch.
    Running,
}

/// The variables of a stop, as they were told.
struct ToldStop {
    seq: Seq,
    function: String,
    now: BTreeMap<String, String>,
    /// Those it was compared with.
    before: Option<BTreeMap<String, String>>,
}

impl Session {
    /// Takes over a program that is under control.
    pub fn adopt(
        id: SessionId,
        name: String,
        language: &'static str,
        origin: Origin,
        mut started: Started,
        breakpoints: Arc<Breakpoints>,
        log: Arc<Log>,
    ) -> Arc<Session> {
        let output = Arc::new(Output::default());
        if let Some(note) = &started.note {
            output.push(Stream::Debugger, format!("{note}\n").as_bytes());
        }
        let targets = Targets::default();
        let stdin = started.program.as_mut().and_then(|it| it.pipes.stdin.take());
        let (commands, inbox) = mpsc::channel(limits::MAILBOX);
        let (shown, view) = watch::channel(Arc::new(View::default()));
        let tell = Teller::new(id, language, log, Arc::clone(&output), Arc::clone(&breakpoints));
        let tell = Arc::new(tell);
        let actor = actor::Actor::new(
            id,
            shown,
            targets.clone(),
            Arc::clone(&output),
            Arc::clone(&breakpoints),
            Arc::clone(&tell),
        );
        let runtime = started.runtime.take();
        // Ends with the program, when it is told to stop, or with the session: it has its mailbox.
        tokio::spawn(actor.run(started, inbox));
        Arc::new(Session {
            id,
            name,
            language,
            origin,
            runtime,
            output,
            view,
            commands,
            targets,
            breakpoints,
            tell,
            stdin: Arc::new(tokio::sync::Mutex::new(stdin)),
            beside: Beside::default(),
            told: Mutex::default(),
            stops: Mutex::default(),
        })
    }

    /// What was launched; `None` for a program that we only attached to.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.origin {
            Origin::Launched(launch) => Some(launch),
            Origin::Attached(_) => None,
        }
    }

    /// What we attached to; `None` for a program that we started.
    pub fn attach(&self) -> Option<&Attach> {
        match &self.origin {
            Origin::Launched(_) => None,
            Origin::Attached(attach) => Some(attach),
        }
    }

    /// Where relative paths begin.
    pub fn cwd(&self) -> &Path {
        match &self.origin {
            Origin::Launched(launch) => &launch.cwd,
            Origin::Attached(attach) => &attach.cwd,
        }
    }

    /// Whether this process is under control here.
    pub fn has_process(&self, pid: u32) -> bool {
        self.targets.lock().values().any(|it| it.pid == Some(pid))
    }

    /// What is true now.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.borrow())
    }

    pub async fn resume(&self) -> Result<(), Failure> {
        self.go(|reply| Command::Resume { reply }).await
    }

    pub async fn step(&self, thread: Option<ThreadKey>, step: Step) -> Result<(), Failure> {
        self.go(|reply| Command::Step { thread, step, reply }).await
    }

    pub async fn pause(&self) -> Result<(), Failure> {
        self.command(|reply| Command::Pause { reply }).await
    }

    /// Ends the program and everything it started; one that we only attached to is let go, and runs on.
    pub async fn stop(&self) -> Exit {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command::Stop { reply }).await.is_err() {
            return self.view().exit.unwrap_or(Exit::Unknown);
        }
        answer.await.unwrap_or_else(|_| self.view().exit.unwrap_or(Exit::Unknown))
    }

    /// The first stop after `after`, or the end, or the deadline.
    pub async fn wait(&self, after: Epoch, patience: Duration) -> Outcome {
        let mut view = self.view.clone();
        // A stop that has been resumed since is nothing to return with.
        let arrived = |view: &Arc<View>| match view.status {
            Status::Stopped => after < view.epoch(),
            Status::Ended => true,
            Status::Starting | Status::Running => false,
        };
        let found = tokio::time::timeout(patience, view.wait_for(arrived)).await;
        match found {
            // The actor is gone: what it left is the end.
            Ok(Err(_)) | Err(_) => self.outcome(after),
            Ok(Ok(view)) => outcome(&view, after),
        }
    }

    /// Returns when the first process is under control, or none will ever be.
    pub async fn joined(&self) {
        let mut view = self.view.clone();
        // An error means that the actor is gone.
        view.wait_for(|view| view.status != Status::Starting).await.map(drop).unwrap_or_default();
    }

    /// Returns when the program has ended.
    pub async fn ended(&self) -> Exit {
        let mut view = self.view.clone();
        // An error means that the actor is gone; what it left is the end.
        view.wait_for(|view| view.status == Status::Ended).await.map(drop).unwrap_or_default();
        self.view().exit.unwrap_or(Exit::Unknown)
    }

    fn outcome(&self, after: Epoch) -> Outcome {
        outcome(&self.view(), after)
    }

    /// The stop that stands, with its process; one that is known and not yet where is waited for.
    pub async fn standing(&self) -> Result<(Arc<Shown>, Backend), Failure> {
        if self.view().is_stopping {
            let mut view = self.view.clone();
            let shown = view.wait_for(|view| !view.is_stopping);
            // An error, or the time: what is true then is told.
            tokio::time::timeout(limits::STOP_SHOWN, shown).await.map(drop).unwrap_or_default();
        }
        self.stopped()
    }

    /// The stop that stands, with its process.
    pub fn stopped(&self) -> Result<(Arc<Shown>, Backend), Failure> {
        let view = self.view();
        match (&view.status, &view.stop) {
            (Status::Stopped, Some(shown)) => {
                let backend = self.backend(shown.stop.thread.target)?;
                Ok((Arc::clone(shown), backend))
            }
            (Status::Ended, _) => Err(ended(self, view.exit)),
            _ => Err(Failure::new(Code::NotStopped, format!("{} is running", self.id))
                .hint("`debug_pause` stops it, `debug_wait` waits for its next stop")),
        }
    }

    pub fn backend(&self, target: TargetId) -> Result<Backend, Failure> {
        self.targets.backend(target).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("process {} of {} is gone", target.0, self.id))
        })
    }

    fn backends(&self) -> Vec<Backend> {
        self.targets.lock().values().map(|it| it.backend.clone()).collect()
    }

    /// Sends the breakpoints that share a place's file, or those by function, to every process; what
    /// became of each, per process.
    pub async fn sync_breakpoints(
        &self,
        breakpoints: &Breakpoints,
        place: &Place,
    ) -> Vec<Result<Vec<Bound>, Failure>> {
        // A session with breakpoints of its own has no others.
        if !std::ptr::eq(&*self.breakpoints, breakpoints) {
            return Vec::new();
        }
        let targets = self.targets.lock().clone();
        let sent = targets.into_iter().map(|(target, it)| self.send(target, it, place));
        futures::future::join_all(sent).await
    }

    /// A program that keeps its interpreter to itself takes them when it comes back; until then nobody
    /// need wait.
    async fn send(
        &self,
        target: TargetId,
        to: Target,
        place: &Place,
    ) -> Result<Vec<Bound>, Failure> {
        let (breakpoints, tell) = (Arc::clone(&self.breakpoints), Arc::clone(&self.tell));
        let at = place.clone();
        let endless = match &to.backend {
            Backend::Cdp(cdp) => cdp.endless(),
            Backend::Dap(_) => None,
        };
        let sending = self.beside.begin(backend::patiently(async move {
            let bound = to.sync(&breakpoints, &at).await?;
            tell.bound(target, &bound);
            Ok(bound)
        }));
        match tokio::time::timeout(limits::PROMPT, sending).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Err(Failure::internal(format!("breakpoints were not sent: {error}"))),
            Err(_) => {
                self.tell.unanswered(target, place);
                let when = "`breakpoint_list` tells when".to_owned();
                let hint = endless.map_or(when.clone(), |it| format!("{when}; perhaps {it}"));
                Err(Failure::new(Code::Timeout, UNANSWERED).hint(hint))
            }
        }
    }

    /// A file as a process runs it, and how it differs from what it is by now; the program itself when
    /// the process is gone or none is meant.
    pub async fn source(&self, target: Option<TargetId>, file: &Path) -> Option<inspect::Source> {
        match self.targets.of(target) {
            Some(it) => it.texts.source(&it.backend, file).await,
            None => Some(inspect::Source { text: inspect::read(file)?.into(), edited: None }),
        }
    }

    /// How a file differs from what a process runs, if it does.
    pub async fn edited(
        &self,
        target: Option<TargetId>,
        file: &Path,
    ) -> Option<Arc<inspect::Edited>> {
        let it = self.targets.of(target)?;
        it.texts.edited(&it.backend, file).await
    }

    /// Moves breakpoints with their code, where their files were edited since they were loaded: the next
    /// run has other lines. Those that moved, and from where.
    pub async fn follow_edits(&self) -> Vec<(u32, Breakpoint)> {
        let Some(main) = self.targets.of(None) else { return Vec::new() };
        let went = main.texts.went(&main.backend, &self.breakpoints).await;
        went.into_iter().filter_map(|(id, line)| self.breakpoints.go_to(id, line)).collect()
    }

    /// The line that runs of a breakpoint that was asked for by the lines of a file that was edited since
    /// it was loaded.
    pub fn runs_as(&self, id: BreakpointId) -> Option<u32> {
        self.targets.lock().values().find_map(|it| it.texts.runs_as(id))
    }

    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        for backend in self.backends() {
            backend.set_exceptions(exceptions).await?;
        }
        Ok(())
    }

    /// Where a breakpoint lies in this session, or why it does not; `None` for one of another language.
    pub fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        self.tell.binding_of(id)
    }

    /// What is enabled and lies nowhere in this session, with the reason where one was told.
    pub fn pending(&self) -> Vec<(Breakpoint, Option<String>)> {
        self.tell.pending()
    }

    /// Why a breakpoint lay nowhere in this session, also after its end.
    pub fn why_unbound(&self, id: BreakpointId) -> Option<String> {
        self.tell.why_unbound(id)
    }

    /// Breakpoints that are to stop and never did here, and whether each is known to have been bound.
    pub fn never_hit(&self) -> Vec<(Breakpoint, bool)> {
        self.tell.never_hit()
    }

    /// The tracepoints that are to report here, and how often each did.
    pub fn passes(&self) -> Vec<Passes> {
        self.tell.passes()
    }

    /// A process of the session, also one that has ended.
    pub fn process(&self, target: TargetId) -> Option<Process> {
        self.tell.process(target)
    }

    /// Asks a process what it is called, if nobody has.
    pub async fn learn_title(&self, target: TargetId) {
        let is_known = self.process(target).is_none_or(|it| it.title.is_some());
        if is_known || target == TargetId::MAIN {
            return;
        }
        let Ok(backend) = self.backend(target) else { return };
        if let Ok(Ok(title)) = tokio::time::timeout(limits::TITLE, backend.title()).await {
            self.tell.titled(target, &title);
        }
    }

    /// How many processes there were so far.
    pub fn processes(&self) -> usize {
        self.tell.processes()
    }

    /// The lines of a surveyed file that ran, where a process told it; what still runs is asked now.
    pub async fn lines_reached(&self, file: &Path) -> Option<BTreeSet<u32>> {
        for backend in self.backends() {
            if let Backend::Cdp(cdp) = backend {
                self.tell.reached(cdp.survey().await);
            }
        }
        self.tell.lines_reached(file)
    }

    /// A thread's name, as its process knows it now.
    pub async fn thread_name(&self, key: ThreadKey) -> Option<String> {
        let threads = self.backend(key.target).ok()?.threads().await.ok()?;
        threads.into_iter().find(|it| it.id == key.thread).map(|it| it.name)
    }

    /// Remembers a stop by the variables that were told with it.
    pub fn remember(&self, shown: &Shown, variables: &inspect::Locals) {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.retain(|stop| stop.seq != shown.seq);
        stops.push_back(Arc::new(Snapshot::of_stop(self.id, shown, variables)));
        while stops.len() > limits::STOPS {
            stops.pop_front();
        }
    }

    /// The stops that are remembered, oldest first.
    pub fn stops(&self) -> Vec<Arc<Snapshot>> {
        let stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.iter().cloned().collect()
    }

    /// Remembers the variables of a stop and gives those of the stop before it, if it was in the same
    /// function. A stop that is told again is told as it was before: nothing is used up by asking.
    pub fn tell(
        &self,
        seq: Seq,
        function: &str,
        now: BTreeMap<String, String>,
    ) -> Option<BTreeMap<String, String>> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match told.take() {
            Some(again) if again.seq == seq => again.before,
            Some(last) => Some(last.now).filter(|_| last.function == function),
            None => None,
        };
        let function = function.to_owned();
        *told = Some(ToldStop { seq, function, now, before: before.clone() });
        before
    }

    /// Writes to the program's stdin. What it does not read at once goes on its way beside: a program
    /// that stands still reads nothing.
    pub async fn input(&self, text: &str, close: bool) -> Result<(), Failure> {
        if self.attach().is_some() {
            let text = format!("{} was attached to: its stdin is not ours", self.id);
            return Err(Failure::new(Code::NotFound, text)
                .hint("write to it where it was started, or start it with `debug_launch`"));
        }
        let free = tokio::time::timeout(limits::DRAIN, Arc::clone(&self.stdin).lock_owned()).await;
        let mut stdin = free.map_err(|_| {
            Failure::new(Code::Busy, "the program has not read what was written before")
                .hint("let it run until it reads its stdin")
        })?;
        let Some(mut pipe) = stdin.take() else {
            return Err(Failure::new(Code::NotFound, "the program's stdin is closed"));
        };
        let text = text.to_owned();
        // Ends when the program has read it, or with the program.
        let writing = self.beside.begin(async move {
            pipe.write_all(text.as_bytes()).await?;
            pipe.flush().await?;
            if !close {
                *stdin = Some(pipe);
            }
            Ok::<(), std::io::Error>(())
        });
        match tokio::time::timeout(limits::DRAIN, writing).await {
            Ok(Ok(Err(error))) => Err(Failure::new(
                Code::NotFound,
                format!("the program no longer reads its stdin: {error}"),
            )),
            Ok(Ok(Ok(()))) | Err(_) => Ok(()),
            Ok(Err(error)) => Err(Failure::internal(format!("stdin was not written: {error}"))),
        }
    }

    /// Whether a condition is one, as far as a process that could hold it can tell.
    pub async fn check_condition(
        &self,
        file: Option<&std::path::Path>,
        condition: &str,
    ) -> Result<(), Failure> {
        let checked = async {
            for backend in self.backends() {
                match backend {
                    Backend::Dap(dap) => dap.check_condition(file, condition).await?,
                    Backend::Cdp(cdp) => cdp.check_condition(condition).await?,
                }
            }
            Ok(())
        };
        // What is not checked now is told when it is hit.
        tokio::time::timeout(limits::PROMPT, checked).await.unwrap_or(Ok(()))
    }

    /// A program that dies as it is told to go on did go on: how it ended is what there is to tell.
    async fn go(&self, make: impl FnOnce(Reply) -> Command) -> Result<(), Failure> {
        let was_alive = self.view().status != Status::Ended;
        match self.command(make).await {
            Err(failure) if was_alive && failure.code == Code::SessionEnded => {
                tokio::time::timeout(limits::DRAIN, self.ended()).await.map_err(|_| failure)?;
                Ok(())
            }
            answer => answer,
        }
    }

    /// Whether the expressions of a tracepoint are some, as far as a process that could hold it can tell.
    pub async fn check_expressions(
        &self,
        file: Option<&std::path::Path>,
        expressions: &[&str],
    ) -> Result<(), Failure> {
        let checked = async {
            for backend in self.backends() {
                backend.check_expressions(file, expressions).await?;
            }
            Ok(())
        };
        // What is not checked now is told when it is hit.
        tokio::time::timeout(limits::PROMPT, checked).await.unwrap_or(Ok(()))
    }

    /// How a tracepoint works in its processes: in the one where it costs the most.
    pub fn trace_way(&self, breakpoint: &Breakpoint) -> Option<TraceWay> {
        self.backends().iter().map(|it| it.trace_way(breakpoint)).max()
    }

    async fn command(&self, make: impl FnOnce(Reply) -> Command) -> Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(make(reply)).await.is_err() {
            return Err(ended(self, self.view().exit));
        }
        answer.await.unwrap_or_else(|_| Err(ended(self, self.view().exit)))
    }
}

fn outcome(view: &View, after: Epoch) -> Outcome {
    match (&view.status, &view.stop) {
        (Status::Ended, _) => Outcome::Ended(view.exit.unwrap_or(Exit::Unknown)),
        (Status::Stopped, Some(shown)) if after < shown.stop.epoch => {
            Outcome::Stopped(Arc::clone(shown))
        }
        _ => Outcome::Running,
    }
}

fn ended(session: &Session, exit: Option<Exit>) -> Failure {
    let how = exit.map(|exit| format!(" with {exit}")).unwrap_or_default();
    let (text, hint) = match (&session.origin, exit) {
        (Origin::Attached(_), Some(Exit::Left | Exit::Lost)) => {
            (format!("{} has ended{how}", session.id), "`debug_attach` takes it again")
        }
        (Origin::Attached(_), _) => (
            format!("the program of {} has ended{how}", session.id),
            "`debug_output` reads what its debugger reported",
        ),
        (Origin::Launched(_), _) => (
            format!("the program of {} has ended{how}", session.id),
            "`debug_restart` runs it again; `debug_output` reads what it wrote",
        ),
    };
    Failure::new(Code::SessionEnded, text).hint(hint)
}
