//! The task that owns a session's state: feeds it what happens, carries out what it says.
//!
//! Requests that take time run beside the loop and come back as [`Done`], so that pause and stop always
//! get through. Everything that runs for a session is owned here and ends with the loop: what is beside it,
//! who listens to its processes, and who reads its pipes. The loop itself ends with the program, or with the
//! last who holds the session.

mod carry;
mod ending;
mod joining;

use std::{collections::BTreeSet, sync::Arc, time::SystemTime};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};

use self::{
    carry::answer,
    ending::{Last, dead, ended, ends, silent},
};
use super::{
    Command, Output as ProgramOutput, Reply,
    control::{Control, Holder},
    state::{Input, State, Stop},
    target::{Look, Target, Targets},
    teller::Teller,
    view::{Shown, ThreadRow, View},
};
use crate::{
    adapter::Started,
    backend::{Signal, Stack, Went},
    breakpoints::Breakpoints,
    failure::Failure,
    ids::{BreakpointId, Epoch, SessionId, TargetId, ThreadKey},
    limits,
    nouns::{Status, Stream},
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
    control: Arc<Control>,
    exit: Option<Exit>,
    /// It is over, and its last reports are read.
    is_ending: bool,
    /// How the program ended, where its debugger told.
    told_exit: Option<Exit>,
    /// The same, as the system tells it.
    seen_exit: Option<Exit>,
    /// A program that a debug server held: nothing is to be let go.
    is_dead: bool,
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
    /// One for each process: brings its signals here.
    listening: JoinSet<()>,
    signals: mpsc::Sender<(TargetId, Signal)>,
    inbox: mpsc::Receiver<(TargetId, Signal)>,
}

/// Something that ran beside the loop is finished.
enum Done {
    Stack { stop: Stop, stack: Stack, thread: Option<String> },
    Sent { ends: Option<(ThreadKey, Epoch)>, result: Result<Went, Failure>, reply: Option<Reply> },
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
        control: Arc<Control>,
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
            control,
            exit: None,
            is_ending: false,
            told_exit: None,
            seen_exit: None,
            is_dead: false,
            stop: None,
            began: None,
            look: None,
            taken_out: BTreeSet::new(),
            titled: BTreeSet::new(),
            beside: FuturesUnordered::new(),
            listening: JoinSet::new(),
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
        let mut in_a_row = 0;
        let server = program.as_ref().filter(|it| it.is_server()).and_then(Program::root);
        let mut died = None;
        let mut dead = std::pin::pin!(dead(process.clone(), self.targets.clone(), server));
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
                // What passed before a stop is told before it: the stop has to wait for its stack, below.
                Some((target, signal)) = self.inbox.recv(), if in_a_row < limits::IN_A_ROW => {
                    in_a_row = if matches!(signal, Signal::Stopped(_)) { 0 } else { in_a_row + 1 };
                    let is_told = program.as_ref().is_none_or(Program::is_server);
                    let last = ends(target, &signal).filter(|_| is_told);
                    let is_burst = matches!(signal, Signal::Passed(_));
                    self.signal(target, signal);
                    if let Some(last) = last {
                        self.last(last, process.as_ref()).await;
                        break;
                    }
                    if is_burst {
                        // Whoever is to be told of these hits comes before the next.
                        tokio::task::yield_now().await;
                    }
                }
                Some(done) = self.beside.next() => self.done(done),
                Some(_) = self.listening.join_next() => {}
                Ok(()) = spending.changed() => self.take_out_spent(),
                Some(target) = Target::due(self.look.clone()) => self.look_at(target),
                // A flood of hits has no end, and what callers want is sent from beside: that had its turn.
                () = std::future::ready(()), if in_a_row >= limits::IN_A_ROW => {
                    in_a_row = 0;
                    if program.as_mut().is_some_and(Program::end_what_is_left) {
                        self.ending();
                    }
                }
                exit = &mut dead, if died.is_none() => {
                    died = Some(Instant::now());
                    self.seen_exit = exit;
                }
                () = silent(died) => {
                    self.is_dead = true;
                    self.exit = Some(Exit::Unknown);
                    break;
                }
                exit = ended(program.as_mut()) => {
                    self.exit = Some(match &process {
                        // Its debugger is gone, which need not be its own end.
                        Some(process) => Last::Silent.exit(Some(process)).await,
                        None => exit,
                    });
                    break;
                }
            }
        }
        let exit = self.end(program.as_mut(), drained).await;
        for reply in stoppers {
            // Whoever asked may be gone.
            reply.send(exit).unwrap_or_default();
        }
    }

    /// Reads the program's pipes for as long as there is anything to read. A program that we did not start
    /// has none: what its debugger tells is followed for as long as this is kept.
    fn drain(&self, program: Option<&mut Program>) -> impl Future<Output = ()> + use<> {
        let is_ours = program.is_some();
        let pipes = program.map(|it| &mut it.pipes);
        let pipes = pipes.map(|it| (it.stdout.take(), it.stderr.take(), it.debugger.take()));
        let (stdout, stderr, debugger) = pipes.unwrap_or_default();
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
            let own = async {
                if let Some(pipe) = debugger {
                    output.drain(Stream::Debugger, pipe).await;
                }
            };
            tokio::select! {
                _ = async { tokio::join!(out, err, own) }, if is_ours => {}
                () = tell.follow_output() => {}
            }
        });
        let reading = tokio_util::task::AbortOnDropHandle::new(reading);
        async move { reading.await.unwrap_or_default() }
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
            Signal::Exited { code } => self.exited(target, *code),
            Signal::Killed { signal } => self.killed(target, *signal),
            Signal::Held { by_person } => {
                let holder = if *by_person { Holder::Person } else { Holder::Agents };
                self.control.hold(holder, &self.tell);
            }
            Signal::Titled(title) => {
                self.titled.insert(target);
                self.tell.titled(target, title);
            }
            Signal::Stopped(_)
            | Signal::Continued { .. }
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
            Done::Sent { ends, result, reply } => {
                match &result {
                    Ok(Went::All) => {}
                    Ok(Went::Alone) => {
                        self.fell_short(ends, |thread, epoch| Input::Alone { thread, epoch })
                    }
                    Err(failure) => {
                        tracing::debug!(session = %self.id, %failure, "a command was refused");
                        self.fell_short(ends, |thread, epoch| Input::Refused {
                            target: thread.target,
                            epoch,
                        });
                    }
                }
                answer(reply, result.map(drop));
            }
            Done::Synced => {}
        }
    }

    /// Not all that was to go on did.
    fn fell_short(&mut self, ends: Option<(ThreadKey, Epoch)>, how: fn(ThreadKey, Epoch) -> Input) {
        if let Some((thread, epoch)) = ends {
            let outputs = self.state.step(how(thread, epoch));
            self.carry_out(outputs, None);
        }
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
        let (is_ending, exit) = (self.is_ending, self.exit);
        let view = View { status, is_stopping, is_ending, stop, newest, threads, exit };
        self.shown.send_replace(Arc::new(view));
    }
}
