//! What callers want of a program: to go on, to stop; and what becomes of it when its debugger refuses.

use std::collections::BTreeSet;

use super::{Beside, CommandRefusal, Life, Output, Sent, State, Status, Stop, Target};
use crate::{
    backend::Step,
    ids::{Epoch, TargetId, ThreadKey},
};

impl State {
    pub(super) fn resume(&mut self) -> Vec<Output> {
        match self.reported() {
            Ok(stop) => {
                let (thread, epoch) = (stop.thread, stop.epoch);
                self.go(stop, thread, Output::Resume { thread, epoch })
            }
            Err(refusal) => vec![Output::Refuse(refusal)],
        }
    }

    pub(super) fn take_step(&mut self, wanted: Option<ThreadKey>, step: Step) -> Vec<Output> {
        let stop = match self.reported() {
            Ok(stop) => stop,
            Err(refusal) => return vec![Output::Refuse(refusal)],
        };
        let thread = wanted.unwrap_or(stop.thread);
        if !self.is_stopped(thread) {
            return vec![Output::Refuse(CommandRefusal::NoSuchThread)];
        }
        let epoch = stop.epoch;
        self.go(stop, thread, Output::Step { thread, step, epoch })
    }

    /// Ends the reported stop, unless the thread is of another process. What is sent ends every other stop of
    /// the process too: one that nobody has seen comes first.
    fn go(&mut self, stop: Stop, thread: ThreadKey, send: Output) -> Vec<Output> {
        let target = stop.thread.target;
        if thread.target != target {
            let waits = self.waiting.iter().position(|it| it.thread == thread);
            let unseen = waits.and_then(|at| self.waiting.remove(at));
            self.set_off(&send, unseen);
            return std::iter::once(send).chain(self.settle()).collect();
        }
        // A thread that the caller names is known to them.
        let is_unseen = |it: &Stop| it.thread.target == target && it.thread != thread;
        let mut out = Vec::new();
        self.current = None;
        self.status = Status::Running;
        if self.waiting.iter().any(is_unseen) {
            self.target(target).put_by = Some((stop, send));
            out.push(Output::Over);
        } else {
            self.set_off(&send, Some(Stop { is_again: true, ..stop }));
            out.extend([send, Output::Running]);
        }
        let next = self.settle();
        out.extend(self.report());
        out.extend(next);
        out
    }

    /// Something that lets a process run is on its way.
    fn set_off(&mut self, send: &Output, stop: Option<Stop>) {
        let (key, epoch, runs) = match send {
            Output::Resume { thread, epoch } => (*thread, *epoch, true),
            Output::Step { thread, epoch, .. } => (*thread, *epoch, false),
            _ => return,
        };
        let known = self.target(key.target);
        let stood = known.threads.iter().filter(|(_, it)| it.is_stopped).map(|(id, _)| *id);
        let stood: Vec<i64> = stood.collect();
        let others = stood.iter().copied().filter(|id| *id != key.thread).collect();
        known.beside = Some(Beside { epoch, thread: key.thread, runs, others });
        known.sent = Some(Sent { epoch, stop, stood });
        known.put_by = None;
        self.run(key.target, None);
    }

    /// A process let go of one thread only: the others stand. Where they were all to go on they are let go one by
    /// one, unless there is a stop of theirs to be looked at first.
    pub(super) fn alone(&mut self, thread: ThreadKey, epoch: Option<Epoch>) -> Vec<Output> {
        let target = thread.target;
        let Some(known) = self.targets.get_mut(&target) else { return Vec::new() };
        let is_it = |it: &mut Beside| {
            it.thread == thread.thread && epoch.is_none_or(|epoch| epoch == it.epoch)
        };
        let beside = known.beside.take_if(is_it).filter(|it| !it.others.is_empty());
        let Some(Beside { epoch, runs, others, .. }) = beside else { return Vec::new() };
        let is_shown =
            self.current.iter().chain(&self.waiting).any(|it| it.thread.target == target);
        let goes = runs && !is_shown;
        for id in &others {
            if let Some(other) = known.threads.get_mut(id) {
                other.is_stopped = !goes;
            }
        }
        if !goes {
            return vec![Output::ThreadsChanged];
        }
        let send = |id: &i64| Output::Resume { thread: ThreadKey { target, thread: *id }, epoch };
        let sent = others.iter().map(send).collect();
        known.sent = Some(Sent { epoch, stop: None, stood: others });
        sent
    }

    /// Sends what was put by to processes of which no stop is left to be shown.
    pub(super) fn send_put_by(&mut self) -> Vec<Output> {
        let shown = self.current.iter().chain(&self.waiting).map(|it| it.thread.target);
        let shown: BTreeSet<TargetId> = shown.collect();
        let due =
            |(id, target): (&TargetId, &mut Target)| target.put_by.take_if(|_| !shown.contains(id));
        let due: Vec<(Stop, Output)> = self.targets.iter_mut().filter_map(due).collect();
        let mut out = Vec::new();
        for (stop, send) in due {
            if self.is_stopped(stop.thread) {
                self.set_off(&send, Some(Stop { is_again: true, ..stop }));
                out.push(send);
            }
        }
        out
    }

    /// The process stands as it stood, unless it has said otherwise.
    pub(super) fn refused(&mut self, target: TargetId, epoch: Epoch) -> Vec<Output> {
        let Some(known) = self.targets.get_mut(&target) else { return Vec::new() };
        let sent = known.sent.take_if(|it| it.epoch == epoch);
        known.beside = None;
        let Some(Sent { stop, stood, .. }) = sent else { return Vec::new() };
        for id in stood {
            if let Some(thread) = known.threads.get_mut(&id) {
                thread.is_stopped = true;
            }
        }
        let stop = stop.filter(|it| self.is_stopped(it.thread));
        stop.into_iter().for_each(|it| self.waiting.push_front(it));
        if self.status == Status::Running { self.report() } else { Vec::new() }
    }

    pub(super) fn pause(&mut self) -> Vec<Output> {
        let mut live = self.targets.iter().filter(|(_, it)| it.life == Life::Live);
        let refusal = match (self.status, live.next()) {
            (Status::Running, Some((target, _))) => {
                return vec![Output::Pause { target: *target }];
            }
            (Status::Running, None) => CommandRefusal::NoProcess,
            (Status::Starting, _) => CommandRefusal::NotStarted,
            (Status::Stopped, _) => CommandRefusal::AlreadyStopped,
            (Status::Ended, _) => CommandRefusal::Ended,
        };
        vec![Output::Refuse(refusal)]
    }

    fn reported(&self) -> Result<Stop, CommandRefusal> {
        match (&self.status, &self.current) {
            (Status::Stopped, Some(current)) => Ok(current.clone()),
            (Status::Starting, _) => Err(CommandRefusal::NotStarted),
            (Status::Ended, _) => Err(CommandRefusal::Ended),
            (Status::Running | Status::Stopped, _) => Err(CommandRefusal::AlreadyRunning),
        }
    }
}
