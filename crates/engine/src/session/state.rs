//! Run control as a pure function: inputs in, outputs out. No clock, no sockets, no await.
//!
//! Only signals say that something stopped or runs. A command changes nothing by itself but for one thing:
//! a resume that was sent makes its threads "running" at once, so that it is never sent twice. Where it is
//! refused and the process has said nothing since, they stand as they stood.
//! Stops are reported one after the other, of several processes as of several threads, and none is resumed
//! before it was reported: as a debugger resumes all threads of a process, it is told to with the last.

mod commands;

use std::collections::{BTreeMap, VecDeque};

use crate::{
    ids::{BreakpointId, Epoch, TargetId, ThreadKey},
    limits,
    nouns::{Signal, Status, Step, StopReason, Stopped},
};

/// A stop as it is reported: one at a time, each with its own epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub epoch: Epoch,
    pub thread: ThreadKey,
    pub reason: StopReason,
    pub hits: Vec<BreakpointId>,
    pub text: Option<String>,
    /// It was reported before: what was to end it was refused.
    pub is_again: bool,
}

#[derive(Debug)]
pub(super) enum Input {
    Joined {
        target: TargetId,
    },
    Signal {
        target: TargetId,
        signal: Signal,
    },
    /// The program's own process has ended.
    Exited,
    Resume,
    Step {
        thread: Option<ThreadKey>,
        step: Step,
    },
    Pause,
    /// A process did not take what was to end its stop.
    Refused {
        target: TargetId,
        epoch: Epoch,
    },
    /// It took it for that thread only.
    Alone {
        thread: ThreadKey,
        epoch: Epoch,
    },
}

#[derive(Debug, PartialEq)]
pub(super) enum Output {
    Resume {
        thread: ThreadKey,
        /// The stop that it ends.
        epoch: Epoch,
    },
    Step {
        thread: ThreadKey,
        step: Step,
        epoch: Epoch,
    },
    Pause {
        target: TargetId,
    },
    /// A stop to be completed with its stack and then shown.
    Report(Stop),
    /// The program runs on.
    Running,
    /// The stop is over and nothing runs on: the program goes, or another of its stops comes first.
    Over,
    /// A thread or process came or went.
    ThreadsChanged,
    Ended,
    Refuse(CommandRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandRefusal {
    NotStarted,
    AlreadyRunning,
    AlreadyStopped,
    Ended,
    NoSuchThread,
    NoProcess,
}

#[derive(Debug, Default)]
struct Target {
    threads: BTreeMap<i64, Thread>,
    life: Life,
    /// What was sent to end a stop, until the process says anything.
    sent: Option<Sent>,
    /// Who stood beside the thread that was let go last, and has done nothing since.
    beside: Option<Beside>,
    /// A stop, and what is to be sent to end it once no other of the process waits to be reported.
    put_by: Option<(Stop, Output)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Life {
    #[default]
    Live,
    /// It said that it ends. Until it is gone it may still stop: what runs at its end is code too.
    Ending,
    Gone,
}

#[derive(Debug)]
struct Sent {
    epoch: Epoch,
    /// What was to end, to be reported if it does not.
    stop: Option<Stop>,
    /// The threads that stood.
    stood: Vec<i64>,
}

#[derive(Debug)]
struct Beside {
    epoch: Epoch,
    /// The thread that was let go.
    thread: i64,
    /// All were to go on, not only to let that one take a step.
    runs: bool,
    others: Vec<i64>,
}

#[derive(Debug, Default)]
struct Thread {
    name: Option<String>,
    is_stopped: bool,
}

#[derive(Debug)]
pub(super) struct State {
    status: Status,
    epoch: Epoch,
    targets: BTreeMap<TargetId, Target>,
    /// Up to this one, a process that is not among them is gone: a program may start thousands.
    forgotten: Option<TargetId>,
    /// What stands and was not reported yet, oldest first. Each gets its epoch when it is.
    waiting: VecDeque<Stop>,
    /// The stop that was reported and stands.
    current: Option<Stop>,
}

impl Default for State {
    fn default() -> Self {
        State {
            status: Status::Starting,
            epoch: Epoch::default(),
            targets: BTreeMap::new(),
            forgotten: None,
            waiting: VecDeque::new(),
            current: None,
        }
    }
}

impl State {
    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Every known thread, with its name and whether it is stopped.
    pub(super) fn threads(&self) -> impl Iterator<Item = (ThreadKey, Option<&str>, bool)> {
        self.targets.iter().flat_map(|(id, target)| {
            target.threads.iter().map(|(thread, state)| {
                let key = ThreadKey { target: *id, thread: *thread };
                (key, state.name.as_deref(), state.is_stopped)
            })
        })
    }

    pub(super) fn step(&mut self, input: Input) -> Vec<Output> {
        match input {
            Input::Joined { target } => {
                self.target(target);
                // A process joins when it is configured: from then on it runs until it says otherwise.
                if self.status == Status::Starting {
                    self.status = Status::Running;
                }
                vec![Output::ThreadsChanged]
            }
            Input::Signal { target, signal } => self.signal(target, signal),
            Input::Exited => self.end(),
            Input::Resume => self.resume(),
            Input::Step { thread, step } => self.take_step(thread, step),
            Input::Pause => self.pause(),
            Input::Refused { target, epoch } => self.refused(target, epoch),
            Input::Alone { thread, epoch } => self.alone(thread, Some(epoch)),
        }
    }

    fn signal(&mut self, target: TargetId, signal: Signal) -> Vec<Output> {
        match signal {
            Signal::Stopped(stopped) => self.stopped(target, stopped),
            Signal::Continued { thread } => self.continued(target, thread),
            Signal::ThreadStarted { thread, name } => {
                self.thread(target, thread).name = name;
                vec![Output::ThreadsChanged]
            }
            Signal::ThreadEnded { thread } => self.forget(target, |id| id == thread),
            Signal::Ended => self.leaves(target, Life::Ending),
            Signal::Gone { .. } => self.leaves(target, Life::Gone),
            // Not a matter of run control.
            Signal::Output { .. }
            | Signal::Exited { .. }
            | Signal::Killed { .. }
            | Signal::Breakpoint(_)
            | Signal::Held { .. }
            | Signal::Titled(_)
            | Signal::Passed(_)
            | Signal::Reached(_) => Vec::new(),
        }
    }

    fn stopped(&mut self, target: TargetId, stopped: Stopped) -> Vec<Output> {
        // What was looked into for a while may come late.
        if self.is_gone(target) || self.status == Status::Ended {
            return Vec::new();
        }
        let Stopped { thread, reason, hits, text, all } = stopped;
        let key = ThreadKey { target, thread };
        self.target(target).sent = None;
        self.passed_over(target, |id| all || id == thread);
        self.thread(target, thread).is_stopped = true;
        if all {
            let threads = self.target(target).threads.values_mut();
            threads.for_each(|thread| thread.is_stopped = true);
        }
        // Some debuggers say it twice; a thread that stands cannot stop.
        if self.current.iter().chain(&self.waiting).any(|it| it.thread == key) {
            return Vec::new();
        }
        let epoch = Epoch::default();
        self.waiting.push_back(Stop { epoch, thread: key, reason, hits, text, is_again: false });
        // A stop is reported when the one before it has been resumed.
        if self.status == Status::Stopped { Vec::new() } else { self.report() }
    }

    /// Shows the oldest stop that nobody has seen, if any.
    fn report(&mut self) -> Vec<Output> {
        let Some(mut stop) = self.waiting.pop_front() else { return Vec::new() };
        self.epoch = self.epoch.next();
        stop.epoch = self.epoch;
        self.status = Status::Stopped;
        self.current = Some(stop.clone());
        vec![Output::Report(stop)]
    }

    fn continued(&mut self, target: TargetId, thread: Option<i64>) -> Vec<Output> {
        self.target(target).sent = None;
        let mut out = match thread {
            Some(thread) => self.alone(ThreadKey { target, thread }, None),
            None => Vec::new(),
        };
        self.passed_over(target, |id| thread.is_none_or(|thread| thread == id));
        self.run(target, thread);
        out.extend(self.settle());
        out
    }

    /// These threads have said themselves what they do.
    fn passed_over(&mut self, target: TargetId, which: impl Fn(i64) -> bool) {
        if let Some(beside) = &mut self.target(target).beside {
            beside.others.retain(|id| !which(*id));
        }
    }

    fn run(&mut self, target: TargetId, thread: Option<i64>) {
        for (id, state) in &mut self.target(target).threads {
            if thread.is_none_or(|thread| thread == *id) {
                state.is_stopped = false;
            }
        }
    }

    /// After something ran on or went: is the reported stop still one?
    fn settle(&mut self) -> Vec<Output> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|it| self.is_stopped(it.thread));
        self.waiting = waiting;
        let mut out = Vec::new();
        match self.current.take() {
            Some(stop) if !self.is_stopped(stop.thread) => {
                self.status = Status::Running;
                let target = stop.thread.target;
                // A program that goes while it stands does not run again; one of its children may go.
                let goes = target == TargetId::MAIN && self.target(target).life != Life::Live;
                out.push(if goes { Output::Over } else { Output::Running });
                out.extend(self.report());
            }
            current => self.current = current,
        }
        out.extend(self.send_put_by());
        out
    }

    fn forget(&mut self, target: TargetId, which: impl Fn(i64) -> bool) -> Vec<Output> {
        if let Some(target) = self.targets.get_mut(&target) {
            target.threads.retain(|id, _| !which(*id));
        }
        let mut out = vec![Output::ThreadsChanged];
        out.extend(self.settle());
        out
    }

    fn leaves(&mut self, target: TargetId, life: Life) -> Vec<Output> {
        let known = self.target(target);
        (known.life, known.sent, known.put_by, known.beside) = (life, None, None, None);
        let out = self.forget(target, |_| true);
        self.drop_gone();
        out
    }

    fn is_gone(&self, target: TargetId) -> bool {
        match self.targets.get(&target) {
            Some(known) => known.life == Life::Gone,
            None => self.forgotten.is_some_and(|last| target <= last),
        }
    }

    /// The oldest that are gone need not be known one by one.
    fn drop_gone(&mut self) {
        while self.targets.len() > limits::TARGETS_KNOWN {
            let is_old =
                |(id, it): &(&TargetId, &Target)| **id != TargetId::MAIN && it.life == Life::Gone;
            let Some(oldest) = self.targets.iter().find(is_old).map(|(id, _)| *id) else { return };
            self.targets.remove(&oldest);
            self.forgotten = self.forgotten.max(Some(oldest));
        }
    }

    fn end(&mut self) -> Vec<Output> {
        if self.status == Status::Ended {
            return Vec::new();
        }
        self.status = Status::Ended;
        self.current = None;
        self.waiting.clear();
        self.targets.clear();
        vec![Output::Ended]
    }

    fn is_stopped(&self, key: ThreadKey) -> bool {
        let threads = self.targets.get(&key.target).map(|target| &target.threads);
        threads.and_then(|it| it.get(&key.thread)).is_some_and(|thread| thread.is_stopped)
    }

    fn target(&mut self, target: TargetId) -> &mut Target {
        self.targets.entry(target).or_default()
    }

    fn thread(&mut self, target: TargetId, thread: i64) -> &mut Thread {
        self.target(target).threads.entry(thread).or_default()
    }
}

#[cfg(test)]
mod tests;
