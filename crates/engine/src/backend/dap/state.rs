//! What we know of a debugger and it of us: the state of one connection.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use holdpoint_dap::types::{self as t, Capabilities, CapabilitiesChange};

use super::{
    dialect::{Dialect, Inside},
    entry::Entry,
    share::Lefts,
    steps::Steps,
    traces::Traces,
};
use crate::{
    backend::{Frame, Site, WantedFunction, tasks::Tasks},
    ids::BreakpointId,
};

pub struct DebuggerState {
    pub(super) dialect: Box<dyn Dialect>,
    /// A debugger may learn more on its way.
    capabilities: Mutex<Arc<Capabilities>>,
    /// The debugger's number of a breakpoint → those of ours that share it.
    numbers: Mutex<BTreeMap<i64, Vec<BreakpointId>>>,
    /// Where each breakpoint lies, for stops that do not say which was hit.
    sites: Mutex<BTreeMap<BreakpointId, Site>>,
    /// What of them is left to us.
    lefts: Mutex<Lefts>,
    traces: Mutex<Traces>,
    steps: Mutex<Steps>,
    entry: Mutex<Entry>,
    /// How many parts of a list there are, by the number under which they are asked for.
    lists: Mutex<BTreeMap<i64, i64>>,
    epochs: Mutex<Epochs>,
    /// Threads whose stop was told and that were not let go since.
    standing: Mutex<BTreeSet<i64>>,
    /// Their stacks, where they are kept.
    stacks: Mutex<BTreeMap<i64, KeptStack>>,
    /// The functions that were asked for last: with those where exceptions are raised they are one request.
    functions: Mutex<Vec<WantedFunction>>,
    thrown: Mutex<Thrown>,
    /// The signal that the last stop was for.
    signal: Mutex<Option<i32>>,
    /// How many frames of the runtime stand above the one that a thread is shown at.
    hidden: Mutex<BTreeMap<i64, usize>>,
    /// What was told of exceptions at which threads stand.
    raised: Mutex<BTreeMap<i64, String>>,
    pid: Mutex<Option<u32>>,
    /// What is under way beside the events.
    pub(super) tasks: Tasks,
    /// The program's output comes by the protocol, for it has no pipes of ours.
    pub(super) tells_output: bool,
    /// We said that we go. Said twice, debugpy's adapter would break, and the program with it.
    parted: AtomicBool,
    pausing: AtomicBool,
    last_thread: AtomicI64,
}

impl DebuggerState {
    pub(super) fn new(
        dialect: Box<dyn Dialect>,
        capabilities: Capabilities,
        tells_output: bool,
    ) -> DebuggerState {
        DebuggerState {
            dialect,
            capabilities: Mutex::new(Arc::new(capabilities)),
            numbers: Mutex::default(),
            sites: Mutex::default(),
            lefts: Mutex::default(),
            traces: Mutex::default(),
            steps: Mutex::default(),
            entry: Mutex::default(),
            lists: Mutex::default(),
            epochs: Mutex::default(),
            standing: Mutex::default(),
            stacks: Mutex::default(),
            functions: Mutex::default(),
            thrown: Mutex::default(),
            signal: Mutex::default(),
            hidden: Mutex::default(),
            raised: Mutex::default(),
            pid: Mutex::default(),
            tasks: Tasks::default(),
            tells_output,
            parted: AtomicBool::default(),
            pausing: AtomicBool::default(),
            last_thread: AtomicI64::new(1),
        }
    }

    pub(super) fn inside(&self) -> Option<&dyn Inside> {
        self.dialect.inside()
    }

    pub(super) fn capabilities(&self) -> Arc<Capabilities> {
        Arc::clone(&lock(&self.capabilities))
    }

    pub(super) fn change_capabilities(&self, change: &CapabilitiesChange) {
        let mut capabilities = lock(&self.capabilities);
        let now = change.apply_to(&capabilities);
        *capabilities = Arc::new(now);
    }

    pub(super) fn numbers(&self) -> MutexGuard<'_, BTreeMap<i64, Vec<BreakpointId>>> {
        lock(&self.numbers)
    }

    pub(super) fn sites(&self) -> MutexGuard<'_, BTreeMap<BreakpointId, Site>> {
        lock(&self.sites)
    }

    pub(super) fn lefts(&self) -> MutexGuard<'_, Lefts> {
        lock(&self.lefts)
    }

    pub(super) fn traces(&self) -> MutexGuard<'_, Traces> {
        lock(&self.traces)
    }

    pub(super) fn steps(&self) -> MutexGuard<'_, Steps> {
        lock(&self.steps)
    }

    pub(super) fn entry(&self) -> MutexGuard<'_, Entry> {
        lock(&self.entry)
    }

    pub(super) fn lists(&self) -> MutexGuard<'_, BTreeMap<i64, i64>> {
        lock(&self.lists)
    }

    pub(super) fn epochs(&self) -> MutexGuard<'_, Epochs> {
        lock(&self.epochs)
    }

    pub(super) fn standing(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        lock(&self.standing)
    }

    pub(super) fn stacks(&self) -> MutexGuard<'_, BTreeMap<i64, KeptStack>> {
        lock(&self.stacks)
    }

    pub(super) fn functions(&self) -> MutexGuard<'_, Vec<WantedFunction>> {
        lock(&self.functions)
    }

    pub(super) fn thrown(&self) -> MutexGuard<'_, Thrown> {
        lock(&self.thrown)
    }

    pub(super) fn signal(&self) -> MutexGuard<'_, Option<i32>> {
        lock(&self.signal)
    }

    pub(super) fn hidden(&self) -> MutexGuard<'_, BTreeMap<i64, usize>> {
        lock(&self.hidden)
    }

    pub(super) fn raised(&self) -> MutexGuard<'_, BTreeMap<i64, String>> {
        lock(&self.raised)
    }

    pub(super) fn pid(&self) -> Option<u32> {
        *lock(&self.pid)
    }

    pub(super) fn set_pid(&self, pid: Option<u32>) {
        *lock(&self.pid) = pid;
    }

    /// The thread that stopped last.
    pub(super) fn last_thread(&self) -> i64 {
        self.last_thread.load(Ordering::Relaxed)
    }

    pub(super) fn stands(&self, thread: i64) {
        self.last_thread.store(thread, Ordering::Relaxed);
        self.standing().insert(thread);
    }

    /// The next stop may be the one that we ask for.
    pub(super) fn pauses(&self) {
        self.pausing.store(true, Ordering::Relaxed);
    }

    /// Whether it may be, at that stop.
    pub(super) fn was_paused(&self) -> bool {
        self.pausing.swap(false, Ordering::Relaxed)
    }

    /// Whether we go now; once only.
    pub(super) fn parts(&self) -> bool {
        !self.parted.swap(true, Ordering::Relaxed)
    }

    /// The breakpoints that lie where a frame is.
    pub(super) fn at(&self, frame: &Frame) -> Vec<BreakpointId> {
        frame.file.as_deref().map(|file| self.on(file, frame.line)).unwrap_or_default()
    }

    /// Those of ours that a debugger means: by its number, or by the place where it forgot that.
    pub(super) fn meant(&self, breakpoint: &t::Breakpoint) -> Vec<BreakpointId> {
        let by_number = breakpoint.id.and_then(|it| self.numbers().get(&it).cloned());
        by_number.unwrap_or_else(|| {
            let file = breakpoint.source.as_ref().and_then(|it| it.path.as_deref()).map(Path::new);
            let line = breakpoint.line.and_then(|it| u32::try_from(it).ok());
            file.zip(line).map(|(file, line)| self.on(file, line)).unwrap_or_default()
        })
    }

    fn on(&self, file: &Path, line: u32) -> Vec<BreakpointId> {
        let sites = self.sites();
        let here = sites.iter().filter(|(_, site)| site.line == line);
        here.filter(|(_, site)| is_same(&site.file, file)).map(|(id, _)| *id).collect()
    }
}

/// Breakpoints in the functions that raise exceptions.
#[derive(Debug, Default)]
pub(super) struct Thrown {
    pub(super) is_wanted: bool,
    /// As the debugger numbers them.
    pub(super) numbers: BTreeSet<i64>,
}

/// The stack of a thread as it was told at a stop, from its top on.
#[derive(Debug, Clone)]
pub(super) struct KeptStack {
    pub(super) epoch: u64,
    pub(super) body: t::StackTraceBody,
    pub(super) is_whole: bool,
}

impl KeptStack {
    /// So many of its frames, from one on, where they are in it.
    pub(super) fn part(&self, first: usize, count: usize) -> Option<t::StackTraceBody> {
        let all = &self.body.stack_frames;
        let is_in = self.is_whole || first.saturating_add(count) <= all.len();
        is_in.then(|| t::StackTraceBody {
            stack_frames: all.iter().skip(first).take(count).cloned().collect(),
            total_frames: self.body.total_frames,
        })
    }
}

/// How often threads went on, together and by themselves.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    all: u64,
    alone: BTreeMap<i64, u64>,
}

impl Epochs {
    /// All of them go on.
    pub(super) fn go(&mut self) {
        self.all += 1;
    }

    /// They were to go on, and did not.
    pub(super) fn stay(&mut self) {
        self.all = self.all.saturating_sub(1);
    }

    pub(super) fn went(&mut self, thread: Option<i64>) {
        match thread {
            Some(thread) => *self.alone.entry(thread).or_default() += 1,
            None => self.go(),
        }
    }

    /// A thread is over.
    pub(super) fn forget(&mut self, thread: i64) {
        self.alone.remove(&thread);
    }

    pub(super) fn of(&self, thread: Option<i64>) -> u64 {
        let alone = thread.and_then(|it| self.alone.get(&it)).copied();
        self.all + alone.unwrap_or_default()
    }
}

/// Also through links.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |it: &Path| -> Option<PathBuf> { it.canonicalize().ok() };
    one == other || (real(one).is_some() && real(one) == real(other))
}

/// The state is consistent between statements; a panic elsewhere does not spoil it.
fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
