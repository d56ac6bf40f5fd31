//! The task that owns a session's state: feeds it what happens, carries out what it says.
//!
//! Requests that take time run beside the loop and come back as [`Done`], so that pause and stop always
//! get through.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::{mpsc, watch};

use super::{
    Command, Output as ProgramOutput, Reply,
    output::Stream,
    state::{Input, Output, Refusal, State, Status, Stop},
    target::{Look, Target, Targets},
    teller::Teller,
    view::{Shown, ThreadRow, View},
};
use crate::{
    adapter::{Connected, Started},
    backend::{self, Backend, Signal, Slice, Stack},
    breakpoints::Breakpoints,
    failure::{Code, Failure},
    ids::{BreakpointId, SessionId, TargetId, ThreadKey},
    limits,
    process::{Exit, Program},
    running::Running,
};

pub(super) struct Actor {
    id: SessionId,
    state: State,
    shown: watch::Sender<Arc<View>>,
    targets: Targets,
    next_target: u32,
    output: Arc<ProgramOutput>,
    breakpoints: Arc<Breakpoints>,
    tell: Arc<Teller>,
    exit: Option<Exit>,
    stop: Option<Arc<Shown>>,
    /// When a program began that we did not start.
    began: Option<SystemTime>,
    /// What to look at once nobody steps any more.
    look: Option<Look>,
    /// Tracepoints that disabled themselves and are not in the program any more.
    taken_out: BTreeSet<(BreakpointId, u64)>,
    /// Processes that were asked what they are called.
    titled: BTreeSet<TargetId>,
    /// Requests under way.
    beside: FuturesUnordered<BoxFuture<'static, Done>>,
    signals: mpsc::Sender<(TargetId, Signal)>,
    inbox: mpsc::Receiver<(TargetId, Signal)>,
}

/// Something that ran beside the loop is finished.
enum Done {
    Stack { stop: Stop, stack: Stack, thread: Option<String> },
    Sent { result: Result<(), Failure>, reply: Option<Reply> },
    Synced,
}

impl Actor {
    pub(super) fn new(
        id: SessionId,
        shown: watch::Sender<Arc<View>>,
        targets: Targets,
        output: Arc<ProgramOutput>,
        breakpoints: Arc<Breakpoints>,
        tell: Arc<Teller>,
    ) -> Actor {
        let (signals, inbox) = mpsc::channel(limits::MAILBOX);
        Actor {
            id,
            state: State::default(),
            shown,
            targets,
            next_target: TargetId::MAIN.0,
            output,
            breakpoints,
            tell,
            exit: None,
            stop: None,
            began: None,
            look: None,
            taken_out: BTreeSet::new(),
            titled: BTreeSet::new(),
            beside: FuturesUnordered::new(),
            signals,
            inbox,
        }
    }

    pub(super) async fn run(mut self, started: Started, mut commands: mpsc::Receiver<Command>) {
        let Started { mut program, process, targets: mut joining, .. } = started;
        self.began = process.as_ref().and_then(Running::since);
        let drained = self.drain(program.as_mut());
        let mut stoppers = Vec::new();
        let mut spending = self.breakpoints.spending();
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(Command::Stop { reply }) => {
                        stoppers.push(reply);
                        break;
                    }
                    Some(command) => self.command(command),
                    // Nobody holds the session any more.
                    None => break,
                },
                Some(connected) = joining.recv() => self.join(connected),
                Some((target, signal)) = self.inbox.recv() => {
                    let last = ends(target, &signal).filter(|_| program.is_none());
                    let is_burst = matches!(signal, Signal::Passed(_));
                    self.signal(target, signal);
                    if let Some(last) = last {
                        self.exit = Some(last.exit(process.as_ref()).await);
                        break;
                    }
                    if is_burst {
                        // Whoever is to be told of these hits comes before the next.
                        tokio::task::yield_now().await;
                    }
                }
                Some(done) = self.beside.next() => self.done(done),
                Ok(()) = spending.changed() => self.take_out_spent(),
                Some(target) = Target::due(self.look.clone()) => self.look_at(target),
                exit = ended(program.as_mut()) => {
                    self.exit = Some(exit);
                    break;
                }
            }
        }
        let exit = match (self.exit, &mut program) {
            (Some(exit), Some(_)) => exit,
            (None, Some(program)) => program.kill().await,
            (exit, None) => {
                let_go(self.targets.clone()).await;
                exit.unwrap_or(Exit::Left)
            }
        };
        // What the program wrote last is there before its end is told.
        if program.is_some() && tokio::time::timeout(limits::DRAIN, drained).await.is_err() {
            tracing::debug!(session = %self.id, "a child keeps the program's output open");
        }
        self.exit = Some(exit);
        if program.is_some() {
            self.last_hits().await;
        } else {
            self.hits_so_far();
        }
        self.part(exit);
        let outputs = self.state.step(Input::Exited);
        self.carry_out(outputs, None);
        for reply in stoppers {
            // Whoever asked may be gone.
            reply.send(exit).unwrap_or_default();
        }
    }

    /// What the program reported is still on its way when it is gone; the connection's end is behind it.
    async fn last_hits(&mut self) {
        let mut open: BTreeSet<TargetId> = self.targets.lock().keys().copied().collect();
        let taking = async {
            while !open.is_empty()
                && let Ok(Some((target, signal))) =
                    tokio::time::timeout(limits::DRAIN, self.inbox.recv()).await
            {
                match signal {
                    Signal::Passed(hits) => {
                        self.tell.passed(target, hits);
                        tokio::task::yield_now().await;
                    }
                    Signal::Titled(title) => self.tell.titled(target, &title),
                    Signal::Reached(all) => self.tell.reached(all),
                    Signal::Gone { .. } => drop(open.remove(&target)),
                    _ => {}
                }
            }
        };
        if tokio::time::timeout(limits::LAST_HITS, taking).await.is_err() {
            tracing::warn!(session = %self.id, "the last hits of tracepoints took too long");
        }
    }

    /// A program that was let go lives on, and so may its connection: only what has come counts.
    fn hits_so_far(&mut self) {
        while let Ok((target, signal)) = self.inbox.try_recv() {
            match signal {
                Signal::Titled(title) => self.tell.titled(target, &title),
                Signal::Passed(hits) => self.tell.passed(target, hits),
                _ => {}
            }
        }
    }

    /// The processes that have not said themselves that they are gone.
    fn part(&self, exit: Exit) {
        let left = std::mem::take(&mut *self.targets.lock());
        for target in left.into_keys() {
            self.tell.process_ended(target, &exit.to_string());
        }
    }

    /// Reads the program's pipes for as long as there is anything to read. A program that we did not start
    /// has none: what its debugger tells is followed for as long as this is kept.
    fn drain(&self, program: Option<&mut Program>) -> impl Future<Output = ()> + use<> {
        let is_ours = program.is_some();
        let pipes = program.map(|it| (it.pipes.stdout.take(), it.pipes.stderr.take()));
        let (stdout, stderr) = pipes.unwrap_or_default();
        let (output, tell) = (Arc::clone(&self.output), Arc::clone(&self.tell));
        let reading = tokio::spawn(async move {
            let out = async {
                if let Some(pipe) = stdout {
                    output.drain(Stream::Stdout, pipe).await;
                }
            };
            let err = async {
                if let Some(pipe) = stderr {
                    output.drain(Stream::Stderr, pipe).await;
                }
            };
            tokio::select! {
                _ = async { tokio::join!(out, err) }, if is_ours => {}
                () = tell.follow_output() => {}
            }
        });
        let reading = tokio_util::task::AbortOnDropHandle::new(reading);
        async move { reading.await.unwrap_or_default() }
    }

    fn join(&mut self, connected: Connected) {
        let target = TargetId(self.next_target);
        self.next_target += 1;
        let Connected { backend, mut signals, revision, pid, bound } = connected;
        self.tell.process_started(target, pid);
        self.tell.begins_with(target, bound);
        let texts = self.targets.texts_of(target, pid, self.began);
        texts.begin(&self.breakpoints);
        let joined = Target { backend, pid, texts, order: Arc::default() };
        self.targets.lock().insert(target, joined.clone());
        self.look = Some((joined.clone(), tokio::time::Instant::now() + limits::LOOK_RUNNING));
        let outputs = self.state.step(Input::Joined { target });
        self.carry_out(outputs, None);
        if target == TargetId::MAIN {
            self.tell.running();
        }
        if revision != self.breakpoints.revision() {
            self.resync(target, joined);
        }
        let up = self.signals.clone();
        // Ends with the connection, or with the actor.
        tokio::spawn(async move {
            loop {
                let signal = tokio::select! {
                    signal = signals.recv() => signal,
                    () = up.closed() => None,
                };
                let Some(signal) = signal else { return };
                if up.send((target, signal)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// A breakpoint was set while this process was connecting.
    fn resync(&self, target: TargetId, joined: Target) {
        let (breakpoints, tell) = (Arc::clone(&self.breakpoints), Arc::clone(&self.tell));
        self.beside.push(Box::pin(async move {
            let _order = joined.order.lock().await;
            let Target { backend, texts, .. } = &joined;
            for (file, _) in breakpoints.by_file() {
                match texts.set(backend, &breakpoints, &file).await {
                    Ok(bound) => tell.bound(target, &bound),
                    Err(failure) => {
                        tracing::warn!(%failure, "breakpoints were not sent to a child process");
                    }
                }
            }
            let rest = async {
                tell.bound(target, &backend.set_functions(&breakpoints.functions()).await?);
                backend.set_exceptions(&breakpoints.exceptions()).await
            };
            if let Err(failure) = rest.await {
                tracing::warn!(%failure, "a child process stops at fewer places");
            }
            Done::Synced
        }));
    }

    /// Tracepoints that have reported all they were to are taken out of the program.
    fn take_out_spent(&mut self) {
        let spent = self.breakpoints.spent();
        let now: BTreeSet<(BreakpointId, u64)> =
            spent.iter().map(|(it, of)| (it.id, *of)).collect();
        for (point, generation) in spent {
            if self.taken_out.contains(&(point.id, generation)) {
                continue;
            }
            self.tell.spent(point.id, point.trace.as_ref().map_or(0, |it| it.max));
            let targets: Vec<Target> = self.targets.lock().values().cloned().collect();
            let breakpoints = Arc::clone(&self.breakpoints);
            self.beside.push(Box::pin(async move {
                for target in targets {
                    if let Err(failure) = target.sync(&breakpoints, &point.place).await {
                        tracing::debug!(%failure, "a tracepoint is still in a process");
                    }
                }
                Done::Synced
            }));
        }
        self.taken_out = now;
    }

    fn signal(&mut self, target: TargetId, signal: Signal) {
        let signal = match signal {
            Signal::Passed(hits) => {
                if let Some(asked) = self.title(target) {
                    self.beside.push(Box::pin(async move {
                        asked.await;
                        Done::Synced
                    }));
                }
                return self.tell.passed(target, hits);
            }
            Signal::Reached(all) => return self.tell.reached(all),
            signal => signal,
        };
        match &signal {
            Signal::Output { stream, text } => self.output.push(*stream, text.as_bytes()),
            Signal::Gone { reason } => {
                tracing::debug!(session = %self.id, target = target.0, reason, "a process is gone");
                self.targets.lock().remove(&target);
                self.tell.process_ended(target, reason);
            }
            Signal::ThreadStarted { thread, name } => {
                self.tell.thread_started(ThreadKey { target, thread: *thread }, name.as_deref());
            }
            Signal::ThreadEnded { thread } => {
                self.tell.thread_ended(ThreadKey { target, thread: *thread });
            }
            Signal::Breakpoint(bound) => {
                let texts = self.targets.lock().get(&target).map(|it| Arc::clone(&it.texts));
                let bound = texts.map_or_else(|| bound.clone(), |it| it.up(bound.clone()));
                self.tell.bound(target, &[bound]);
            }
            Signal::Titled(title) => {
                self.titled.insert(target);
                self.tell.titled(target, title);
            }
            Signal::Stopped(_)
            | Signal::Continued { .. }
            | Signal::Exited { .. }
            | Signal::Ended
            | Signal::Passed(_)
            | Signal::Reached(_) => {}
        }
        let outputs = self.state.step(Input::Signal { target, signal });
        self.carry_out(outputs, None);
    }

    fn command(&mut self, command: Command) {
        let (input, reply) = match command {
            Command::Resume { reply } => (Input::Resume, reply),
            Command::Step { thread, step, reply } => (Input::Step { thread, step }, reply),
            Command::Pause { reply } => (Input::Pause, reply),
            // Taken by the loop itself.
            Command::Stop { .. } => return,
        };
        let outputs = self.state.step(input);
        self.carry_out(outputs, Some(reply));
    }

    fn carry_out(&mut self, outputs: Vec<Output>, mut reply: Option<Reply>) {
        for output in outputs {
            match output {
                Output::Resume { thread } => {
                    self.send(thread.target, reply.take(), move |it| {
                        Box::pin(async move { it.resume(thread.thread).await })
                    });
                }
                Output::Step { thread, step } => {
                    self.send(thread.target, reply.take(), move |it| {
                        Box::pin(async move { it.step(thread.thread, step).await })
                    });
                }
                Output::Pause { target } => {
                    self.send(target, reply.take(), |it| {
                        Box::pin(async move { it.pause(None).await })
                    });
                }
                Output::Report(stop) => {
                    self.fetch_stack(stop);
                    self.show();
                }
                Output::Running => {
                    self.stop = None;
                    self.tell.running();
                    self.show();
                }
                Output::ThreadsChanged => self.show(),
                Output::Ended => {
                    self.stop = None;
                    self.tell.ended(self.exit.unwrap_or(Exit::Unknown).to_string());
                    self.show();
                }
                Output::Refuse(refusal) => answer(reply.take(), Err(self.refuse(refusal))),
            }
        }
        answer(reply, Ok(()));
    }

    fn send(
        &self,
        target: TargetId,
        reply: Option<Reply>,
        request: impl FnOnce(Backend) -> BoxFuture<'static, Result<(), Failure>> + Send + 'static,
    ) {
        let backend = self.targets.backend(target);
        self.beside.push(Box::pin(async move {
            let result = match backend {
                // Whoever asked waits for as long as they like.
                Some(backend) => backend::patiently(request(backend)).await,
                None => Err(Failure::new(Code::NotFound, "the process is gone")),
            };
            Done::Sent { result, reply }
        }));
    }

    /// Asks a child process once what it is called. Not before it does something of its own: its name is
    /// given to it after it has joined.
    fn title(&mut self, target: TargetId) -> Option<impl Future<Output = ()> + use<>> {
        if target == TargetId::MAIN || !self.titled.insert(target) {
            return None;
        }
        let backend = self.targets.backend(target)?;
        let tell = Arc::clone(&self.tell);
        Some(async move {
            let asked = tokio::time::timeout(limits::TITLE, backend.title()).await;
            if let Ok(Ok(title)) = asked {
                tell.titled(target, &title);
            }
        })
    }

    /// The stack is asked for the moment a stop is known; the stop is shown with it.
    fn fetch_stack(&mut self, stop: Stop) {
        let backend = self.targets.backend(stop.thread.target);
        let target = self.targets.lock().get(&stop.thread.target).cloned();
        let later = tokio::time::Instant::now() + limits::LOOK_AFTER;
        // At the first stop at once: nobody can have edited anything before they hear of it.
        let (first, next) = match target {
            Some(target) if !target.texts.has_looked() => (Some(target), None),
            target => (None, target.map(|it| (it, later))),
        };
        self.look = next;
        let title = self.title(stop.thread.target);
        self.beside.push(Box::pin(async move {
            if let Some(target) = first {
                target.look().await;
            }
            let first = Slice { start: 0, count: limits::STACK_FRAMES };
            let stack = match &backend {
                Some(backend) => backend.stack(stop.thread.thread, first).await,
                None => Err(Failure::new(Code::NotFound, "the process is gone")),
            };
            if let Some(title) = title {
                title.await;
            }
            let thread = match &backend {
                Some(backend) if !stop.thread.is_main() => {
                    let all = backend.threads().await.unwrap_or_default();
                    all.into_iter().find(|it| it.id == stop.thread.thread).map(|it| it.name)
                }
                _ => None,
            };
            let stack = stack.unwrap_or_else(|failure| {
                tracing::debug!(%failure, "a stop has no stack");
                Stack { frames: Vec::new(), total: None }
            });
            Done::Stack { stop, stack, thread }
        }));
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Stack { stop, stack, thread } => {
                // It may have run on meanwhile; then there is nothing to show.
                if self.state.epoch() != stop.epoch || *self.state.status() != Status::Stopped {
                    return;
                }
                self.keep_texts(&stop, &stack);
                let (seq, hits) = self.tell.stopped(&stop, &stack);
                self.stop = Some(Arc::new(Shown { stop, stack, seq, hits, thread }));
                self.show();
            }
            Done::Sent { result, reply } => {
                if let Err(failure) = &result {
                    tracing::debug!(session = %self.id, %failure, "a command was refused");
                }
                answer(reply, result);
            }
            Done::Synced => {}
        }
    }

    fn keep_texts(&self, stop: &Stop, stack: &Stack) {
        let texts = self.targets.lock().get(&stop.thread.target).map(|it| Arc::clone(&it.texts));
        let files = stack.frames.iter().filter_map(|it| it.file.as_deref());
        if let Some(texts) = texts {
            files.for_each(|file| texts.keep(file));
        }
    }

    fn look_at(&mut self, target: Target) {
        self.look = None;
        self.beside.push(Box::pin(async move {
            target.look().await;
            Done::Synced
        }));
    }

    fn show(&mut self) {
        let threads = self.state.threads().map(|(key, name, is_stopped)| ThreadRow {
            key,
            name: name.map(str::to_owned),
            is_stopped,
        });
        let threads = threads.collect();
        // A stop without its stack yet is still a running program to everyone else.
        let status = match (self.state.status(), &self.stop) {
            (Status::Stopped, None) => Status::Running,
            (status, _) => *status,
        };
        let newest = match &self.stop {
            Some(shown) => shown.stop.epoch,
            None => self.shown.borrow().newest,
        };
        let is_stopping = *self.state.status() == Status::Stopped && self.stop.is_none();
        let stop = self.stop.clone();
        let view = View { status, is_stopping, stop, newest, threads, exit: self.exit };
        self.shown.send_replace(Arc::new(view));
    }

    fn refuse(&self, refusal: Refusal) -> Failure {
        let id = self.id;
        match refusal {
            Refusal::NotStarted => {
                Failure::new(Code::NotStopped, format!("{id} is still starting"))
                    .hint("`debug_wait` waits for its first stop")
            }
            Refusal::AlreadyRunning => Failure::new(Code::NotStopped, format!("{id} is running"))
                .hint("`debug_pause` stops it, `debug_wait` waits for its next stop"),
            Refusal::AlreadyStopped => {
                Failure::new(Code::AlreadyStopped, format!("{id} is stopped already"))
                    .hint("`debug_stack` says where")
            }
            Refusal::Ended => {
                Failure::new(Code::SessionEnded, format!("the program of {id} has ended"))
                    .hint("`debug_restart` runs it again")
            }
            Refusal::NoSuchThread => Failure::new(Code::NotFound, "no such thread is stopped")
                .hint("`debug_threads` lists them"),
        }
    }
}

/// Leaves every process running, without our breakpoints; the program itself last, for its workers speak
/// through it.
async fn let_go(targets: Targets) {
    let all: BTreeMap<TargetId, Target> = targets.lock().clone();
    let (main, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(target, _)| *target == TargetId::MAIN);
    let leave = |(target, it): (TargetId, Target)| async move {
        if let Err(failure) = it.backend.detach().await {
            tracing::debug!(target = target.0, %failure, "a process was not told that we go");
        }
    };
    futures::future::join_all(others.into_iter().map(leave)).await;
    futures::future::join_all(main.into_iter().map(leave)).await;
}

/// The last word about a program that we did not start.
enum Last {
    /// It told that it ends.
    Said,
    /// Its connection is gone.
    Silent,
}

fn ends(target: TargetId, signal: &Signal) -> Option<Last> {
    match signal {
        Signal::Ended if target == TargetId::MAIN => Some(Last::Said),
        Signal::Gone { .. } if target == TargetId::MAIN => Some(Last::Silent),
        _ => None,
    }
}

impl Last {
    /// Only a parent learns how a process ended; that it lives on is to be seen.
    async fn exit(self, process: Option<&Running>) -> Exit {
        match (self, process) {
            (Last::Silent, Some(process)) if !process.ends_within(limits::DRAIN).await => {
                Exit::Lost
            }
            (Last::Said | Last::Silent, _) => Exit::Unknown,
        }
    }
}

/// Waits for the end of a program of ours; of others we learn by their debugger.
async fn ended(program: Option<&mut Program>) -> Exit {
    match program {
        Some(program) => program.wait().await,
        None => std::future::pending().await,
    }
}

fn answer(reply: Option<Reply>, result: Result<(), Failure>) {
    if let Some(reply) = reply {
        // Whoever asked may be gone.
        reply.send(result).unwrap_or_default();
    }
}
