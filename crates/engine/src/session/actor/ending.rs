//! How a session ends: the program ended, was ended, or was let go.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::Actor;
use crate::{
    backend::Signal,
    ids::TargetId,
    limits,
    process::{Exit, Program},
    running::{self, Running},
    session::{
        state::Input,
        target::{Target, Targets},
    },
};

impl Actor {
    /// The end of a session: the program's, or that we let it go.
    pub(super) async fn end(
        &mut self,
        program: Option<&mut Program>,
        drained: impl Future<Output = ()>,
    ) -> Exit {
        let is_ours = program.is_some();
        let exit = match (self.exit, program) {
            (Some(exit), Some(server)) if server.is_server() && self.is_dead => {
                self.ending();
                self.late_exit().await;
                server.kill_at_once().await;
                exit
            }
            // It would live on without its program.
            (Some(exit), Some(server)) if server.is_server() => {
                self.late_exit().await;
                server.kill().await;
                exit
            }
            (Some(exit), Some(_)) => exit,
            // It looks at a program that is not ours: that is let go first, without our breakpoints.
            (None, Some(server)) if server.is_visitor() => {
                self.let_go().await;
                server.kill().await;
                Exit::Left
            }
            (None, Some(program)) => program.kill().await,
            (exit, None) => {
                let main = self.targets.backend(TargetId::MAIN);
                let ends = main.is_some_and(|it| it.ends_it());
                self.let_go().await;
                exit.unwrap_or(if ends { Exit::Unknown } else { Exit::Left })
            }
        };
        // What the program wrote last is there before its end is told.
        if is_ours && tokio::time::timeout(limits::DRAIN, drained).await.is_err() {
            tracing::debug!(session = %self.id, "a child keeps the program's output open");
        }
        if is_ours {
            self.ending();
            self.last_hits().await;
        } else {
            self.what_came();
        }
        // Of a program that we did not start, only the system and its debugger know.
        let exit = match exit {
            Exit::Unknown => self.seen_exit.or(self.told_exit).unwrap_or(exit),
            exit => exit,
        };
        self.exit = Some(exit);
        self.part(exit);
        let outputs = self.state.step(Input::Exited);
        self.carry_out(outputs, None);
        exit
    }

    /// The last word about a program that its debugger holds.
    pub(super) async fn last(&mut self, last: Last, process: Option<&Running>) {
        self.exit = Some(last.exit(process).await);
        self.is_dead = process.is_some_and(|it| !it.is_alive());
        // Its own parent may not have taken note of it yet.
        self.seen_exit = self.seen_exit.or_else(|| process.and_then(Running::ended_with));
    }

    /// What is still read may take a while: whoever asks meanwhile is not told that it runs.
    pub(super) fn ending(&mut self) {
        if !self.is_ending {
            self.is_ending = true;
            self.show();
        }
    }

    /// What the processes still say is taken meanwhile: behind it are their answers.
    async fn let_go(&mut self) {
        let going = let_go(self.targets.clone());
        tokio::pin!(going);
        loop {
            tokio::select! {
                biased;
                () = &mut going => return,
                Some((target, signal)) = self.inbox.recv() => self.late(target, signal),
            }
        }
    }

    /// Some debuggers tell the exit code after the end.
    async fn late_exit(&mut self) {
        let coming = async {
            while self.told_exit.is_none()
                && let Some((target, signal)) = self.inbox.recv().await
            {
                let is_over = target == TargetId::MAIN && matches!(signal, Signal::Gone { .. });
                self.signal(target, signal);
                if is_over {
                    break;
                }
            }
        };
        if tokio::time::timeout(limits::DRAIN, coming).await.is_err() {
            tracing::debug!(session = %self.id, "no exit code is told");
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
                    Signal::Gone { .. } => drop(open.remove(&target)),
                    Signal::Passed(_) => {
                        self.late(target, signal);
                        tokio::task::yield_now().await;
                    }
                    signal => self.late(target, signal),
                }
            }
        };
        if tokio::time::timeout(limits::LAST_HITS, taking).await.is_err() {
            tracing::warn!(session = %self.id, "the last hits of tracepoints took too long");
        }
    }

    /// A program that was let go lives on, and so may its connection: only what has come counts.
    fn what_came(&mut self) {
        while let Ok((target, signal)) = self.inbox.try_recv() {
            self.late(target, signal);
        }
    }

    pub(super) fn exited(&mut self, target: TargetId, code: i64) {
        if target == TargetId::MAIN {
            // A process that a signal ended has no code; some debuggers write it so.
            let by_signal = (-64..0).contains(&code);
            let told = i32::try_from(code).ok();
            self.told_exit =
                told.map(|it| if by_signal { Exit::Signal(-it) } else { Exit::Code(it) });
        }
    }

    pub(super) fn killed(&mut self, target: TargetId, signal: i32) {
        if target == TargetId::MAIN {
            self.told_exit = Some(Exit::Signal(signal));
        }
    }

    /// Of what comes after the end, what is still to be told.
    fn late(&mut self, target: TargetId, signal: Signal) {
        match signal {
            Signal::Exited { code } => self.exited(target, code),
            Signal::Killed { signal } => self.killed(target, signal),
            Signal::Passed(hits) => self.tell.passed(target, hits),
            Signal::Titled(title) => self.tell.titled(target, &title),
            Signal::Reached(all) => self.tell.reached(all),
            Signal::Output { stream, text } => self.output.push(stream, text.as_bytes()),
            // How it runs and what it stops at is no matter any more.
            Signal::Stopped(_)
            | Signal::Continued { .. }
            | Signal::ThreadStarted { .. }
            | Signal::ThreadEnded { .. }
            | Signal::Breakpoint(_)
            | Signal::Held { .. }
            | Signal::Ended
            | Signal::Gone { .. } => {}
        }
    }

    /// The processes that have not said themselves that they are gone.
    fn part(&self, exit: Exit) {
        let left = std::mem::take(&mut *self.targets.lock());
        for target in left.into_keys() {
            self.tell.process_ended(target, &exit.to_string());
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
pub(super) enum Last {
    /// It told that it ends.
    Said,
    /// Its connection is gone.
    Silent,
}

pub(super) fn ends(target: TargetId, signal: &Signal) -> Option<Last> {
    match signal {
        Signal::Ended if target == TargetId::MAIN => Some(Last::Said),
        Signal::Gone { .. } if target == TargetId::MAIN => Some(Last::Silent),
        _ => None,
    }
}

impl Last {
    /// Only a parent learns how a process ended; that it lives on is to be seen.
    pub(super) async fn exit(self, process: Option<&Running>) -> Exit {
        match (self, process) {
            (Last::Silent, Some(process)) if !process.ends_within(limits::DRAIN).await => {
                Exit::Lost
            }
            (Last::Said | Last::Silent, _) => Exit::Unknown,
        }
    }
}

/// Waits for the end of a program that a debug server holds: some tell nothing of what dies while it stands. `server` is
/// ours, and holds what it traces.
pub(super) async fn dead(
    mut process: Option<Running>,
    targets: Targets,
    server: Option<u32>,
) -> Option<Exit> {
    if let (None, Some(server)) = (&process, server) {
        process = traced(told(&targets).await, server);
    }
    match process {
        Some(process) => process.ends().await,
        None => std::future::pending().await,
    }
}

/// Waits until whoever debugs a dead program has had the time to say so.
pub(super) async fn silent(died: Option<Instant>) {
    match died {
        Some(died) => tokio::time::sleep_until(died + limits::DEAD_SEEN).await,
        None => std::future::pending().await,
    }
}

/// Waits for the number of the program's process.
async fn told(targets: &Targets) -> u32 {
    loop {
        if let Some(pid) = targets.backend(TargetId::MAIN).and_then(|it| it.pid()) {
            return pid;
        }
        tokio::time::sleep(limits::DEAD_LOOK).await;
    }
}

/// The number means a process of this system where our server traces it.
fn traced(pid: u32, server: u32) -> Option<Running> {
    let process = Running::find(pid).ok()?;
    let tracer = process.tracer()?;
    running::is_below(tracer, server).then_some(process)
}

/// Waits for the end of a program of ours; of others we learn by their debugger. With a debug server its
/// program goes too, and how that ended is not known by this.
pub(super) async fn ended(program: Option<&mut Program>) -> Exit {
    match program {
        Some(server) if server.is_server() => {
            server.wait().await;
            Exit::Unknown
        }
        Some(program) => program.wait().await,
        None => std::future::pending().await,
    }
}
