//! Run control as a pure function: inputs in, outputs out. No clock, no sockets, no await.
//!
//! Only signals say that something stopped or runs. A command changes nothing by itself but for one thing:
//! a resume that was sent makes its threads "running" at once, so that it is never sent twice.
//! Stops of several processes are reported one after the other; none is resumed before it was reported.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use crate::{
    backend::{Signal, Step, StopReason, Stopped},
    ids::{BreakpointId, Epoch, TargetId, ThreadKey},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program is being started; nothing of it has run.
    Starting,
    Running,
    /// What [`Stop`] says.
    Stopped,
    /// The program is gone; the session can still be read.
    Ended,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Starting => "starting",
            Status::Running => "running",
            Status::Stopped => "stopped",
            Status::Ended => "ended",
        }
    }
}

/// A stop as it is reported: one at a time, each with its own epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub epoch: Epoch,
    pub thread: ThreadKey,
    pub reason: StopReason,
    pub hits: Vec<BreakpointId>,
    pub text: Option<String>,
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
}

#[derive(Debug, PartialEq)]
pub(super) enum Output {
    Resume {
        thread: ThreadKey,
    },
    Step {
        thread: ThreadKey,
        step: Step,
    },
    Pause {
        target: TargetId,
    },
    /// A stop to be completed with its stack and then shown.
    Report(Stop),
    /// The program runs on.
    Running,
    /// A thread or process came or went.
    ThreadsChanged,
    Ended,
    Refuse(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotStarted,
    AlreadyRunning,
    AlreadyStopped,
    Ended,
    NoSuchThread,
}

#[derive(Debug, Default)]
struct Target {
    threads: BTreeMap<i64, Thread>,
    gone: bool,
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
    /// What stopped and was not reported yet, oldest first.
    waiting: VecDeque<(TargetId, Stopped)>,
    current: Option<ThreadKey>,
}

impl Default for State {
    fn default() -> Self {
        State {
            status: Status::Starting,
            epoch: Epoch::default(),
            targets: BTreeMap::new(),
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
                self.targets.entry(target).or_default();
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
            Signal::Gone { .. } | Signal::Ended => self.gone(target),
            // Not a matter of run control.
            Signal::Output { .. }
            | Signal::Exited { .. }
            | Signal::Breakpoint(_)
            | Signal::Titled(_)
            | Signal::Passed(_)
            | Signal::Reached(_) => Vec::new(),
        }
    }

    fn stopped(&mut self, target: TargetId, stopped: Stopped) -> Vec<Output> {
        if self.status == Status::Ended {
            return Vec::new();
        }
        self.thread(target, stopped.thread).is_stopped = true;
        if stopped.all {
            let threads = self.targets.entry(target).or_default().threads.values_mut();
            threads.for_each(|thread| thread.is_stopped = true);
        }
        self.waiting.push_back((target, stopped));
        // A stop is reported when the one before it has been resumed.
        if self.status == Status::Stopped { Vec::new() } else { self.report() }
    }

    /// Shows the oldest stop that still stands, if any.
    fn report(&mut self) -> Vec<Output> {
        while let Some((target, stopped)) = self.waiting.pop_front() {
            let thread = ThreadKey { target, thread: stopped.thread };
            if !self.is_stopped(thread) {
                continue;
            }
            self.epoch = self.epoch.next();
            self.status = Status::Stopped;
            self.current = Some(thread);
            return vec![Output::Report(Stop {
                epoch: self.epoch,
                thread,
                reason: stopped.reason,
                hits: stopped.hits,
                text: stopped.text,
            })];
        }
        Vec::new()
    }

    fn continued(&mut self, target: TargetId, thread: Option<i64>) -> Vec<Output> {
        let threads = &mut self.targets.entry(target).or_default().threads;
        for (id, state) in threads {
            if thread.is_none_or(|thread| thread == *id) {
                state.is_stopped = false;
            }
        }
        self.settle()
    }

    /// After something ran on or went: is the reported stop still one?
    fn settle(&mut self) -> Vec<Output> {
        match (&self.status, self.current) {
            (Status::Stopped, Some(current)) if !self.is_stopped(current) => {
                self.current = None;
                self.status = Status::Running;
                let mut out = vec![Output::Running];
                out.extend(self.report());
                out
            }
            _ => Vec::new(),
        }
    }

    fn forget(&mut self, target: TargetId, which: impl Fn(i64) -> bool) -> Vec<Output> {
        if let Some(target) = self.targets.get_mut(&target) {
            target.threads.retain(|id, _| !which(*id));
        }
        let mut out = vec![Output::ThreadsChanged];
        out.extend(self.settle());
        out
    }

    fn gone(&mut self, target: TargetId) -> Vec<Output> {
        self.targets.entry(target).or_default().gone = true;
        self.forget(target, |_| true)
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

    fn resume(&mut self) -> Vec<Output> {
        let thread = match self.reported() {
            Ok(thread) => thread,
            Err(refusal) => return vec![Output::Refuse(refusal)],
        };
        let mut out = vec![Output::Resume { thread }];
        out.extend(self.continued(thread.target, None));
        out
    }

    fn take_step(&mut self, wanted: Option<ThreadKey>, step: Step) -> Vec<Output> {
        let current = match self.reported() {
            Ok(thread) => thread,
            Err(refusal) => return vec![Output::Refuse(refusal)],
        };
        let thread = wanted.unwrap_or(current);
        if !self.is_stopped(thread) {
            return vec![Output::Refuse(Refusal::NoSuchThread)];
        }
        let mut out = vec![Output::Step { thread, step }];
        out.extend(self.continued(thread.target, None));
        out
    }

    fn pause(&mut self) -> Vec<Output> {
        match self.status {
            Status::Running => {
                let live = self.targets.iter().filter(|(_, target)| !target.gone);
                live.map(|(target, _)| Output::Pause { target: *target }).take(1).collect()
            }
            Status::Starting => vec![Output::Refuse(Refusal::NotStarted)],
            Status::Stopped => vec![Output::Refuse(Refusal::AlreadyStopped)],
            Status::Ended => vec![Output::Refuse(Refusal::Ended)],
        }
    }

    fn reported(&self) -> Result<ThreadKey, Refusal> {
        match (&self.status, self.current) {
            (Status::Stopped, Some(current)) => Ok(current),
            (Status::Starting, _) => Err(Refusal::NotStarted),
            (Status::Ended, _) => Err(Refusal::Ended),
            (Status::Running | Status::Stopped, _) => Err(Refusal::AlreadyRunning),
        }
    }

    fn is_stopped(&self, key: ThreadKey) -> bool {
        let threads = self.targets.get(&key.target).map(|target| &target.threads);
        threads.and_then(|it| it.get(&key.thread)).is_some_and(|thread| thread.is_stopped)
    }

    fn thread(&mut self, target: TargetId, thread: i64) -> &mut Thread {
        self.targets.entry(target).or_default().threads.entry(thread).or_default()
    }
}

#[cfg(test)]
mod tests;
