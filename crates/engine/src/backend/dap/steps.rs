//! Steps of debuggers that know nothing of whose code is whose: one that ends in a library goes on until it is
//! back in the user's own code. Also what such a debugger shows above the user's own frames.

use std::{collections::BTreeMap, path::PathBuf};

use holdpoint_dap::{request::Continue, types as t};

use super::{Dap, dialect::InterruptedSteps};
use crate::{
    backend::{Frame, Slice, Stack, Step, StopReason, Stopped},
    failure::Failure,
    limits,
};

/// The steps that are under way, and where each thread was seen last.
#[derive(Debug, Default)]
pub(super) struct Steps {
    under_way: BTreeMap<i64, Way>,
    seen: BTreeMap<i64, Seen>,
}

/// One step, as it was asked for.
#[derive(Debug, Clone)]
struct Way {
    step: Step,
    from: Option<Seen>,
    /// Steps that were taken beyond the first.
    more: usize,
    /// It met points that nobody wanted to stop at, so often; from then on it is led to its end by us.
    met: usize,
}

/// Where a thread stood.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    file: Option<PathBuf>,
    line: u32,
    is_user: bool,
    depth: Option<usize>,
    /// Frames of the runtime above that one, which are not shown.
    above: usize,
}

impl Steps {
    pub(super) fn begin(&mut self, thread: i64, step: Step) {
        let from = self.seen.get(&thread).cloned();
        self.under_way.insert(thread, Way { step, from, more: 0, met: 0 });
    }

    /// It is to go on, and not to step.
    pub(super) fn remove(&mut self, thread: &i64) {
        self.under_way.remove(thread);
    }

    /// Whether any was under way; none is from now on.
    pub(super) fn are_over(&mut self) -> bool {
        !std::mem::take(&mut self.under_way).is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    pub(super) fn contains(&self, thread: &i64) -> bool {
        self.under_way.contains_key(thread)
    }

    /// How many frames above those that are shown are not.
    pub(super) fn above(&self, thread: i64) -> usize {
        self.seen.get(&thread).map_or(0, |it| it.above)
    }

    pub(super) fn saw(&mut self, thread: i64, stack: &Stack, above: usize) {
        let Some(top) = stack.frames.first() else { return };
        let (file, line, is_user) = (top.file.clone(), top.line, top.is_user);
        let before = self.seen.get(&thread).filter(|it| (&it.file, it.line) == (&file, line));
        // Of a part of a stack some do not know how deep the whole is.
        let depth = stack.total.or_else(|| before.and_then(|it| it.depth));
        self.seen.insert(thread, Seen { file, line, is_user, depth, above });
    }

    /// A point was met on its way. False where it has met so many that nobody waits for its end.
    fn meets(&mut self, thread: i64) -> bool {
        let Some(way) = self.under_way.get_mut(&thread) else { return false };
        way.met += 1;
        way.met <= limits::STEP_MEETS
    }

    fn again(&mut self, thread: i64) -> bool {
        let Some(way) = self.under_way.get_mut(&thread) else { return false };
        way.more += 1;
        way.more <= limits::STEPS_BACK
    }
}

impl Way {
    /// The step that leads to its end from here; none where that is here, or where the depth is not known.
    fn led(&self, stack: &Stack) -> Option<Step> {
        let (top, from) = (stack.frames.first()?, self.from.as_ref()?);
        let (now, then) = (stack.total?, from.depth?);
        let is_same = now == then && (&top.file, top.line) == (&from.file, from.line);
        match self.step {
            Step::Over if now > then => Some(Step::Out),
            Step::Out if now >= then => Some(Step::Out),
            Step::Over | Step::In if is_same => Some(self.step),
            Step::Over | Step::In | Step::Out => None,
        }
    }
}

/// What is to be done about a step that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Onward {
    /// It is where it was to be.
    Told,
    Step(Step),
    /// Nothing of the user's is above: the thread ends, or the program does.
    Run,
}

impl Dap {
    /// Whether the end of a step has to be looked at.
    pub(super) fn may_go_on(&self, stopped: &Stopped) -> bool {
        let dialect = &*self.known.dialect;
        let met = self.known.steps().under_way.get(&stopped.thread).map(|it| it.met);
        let may = match met {
            Some(met) => met > 0 || dialect.stays_in_users_code() || dialect.finishes_inside(),
            None => dialect.interrupted_steps() != InterruptedSteps::Forgotten,
        };
        stopped.reason == StopReason::Step && may
    }

    /// Goes on with a step that has not ended in the user's own code. Whether it is under way again.
    pub(super) async fn goes_on(&self, thread: i64) -> Result<bool, Failure> {
        let way = self.known.steps().under_way.get(&thread).cloned();
        let Some(way) = way else {
            // It ended long ago, at a breakpoint; its debugger carries it out only now.
            self.resume(thread).await?;
            return Ok(true);
        };
        let slice = Slice { start: 0, count: limits::STEP_FRAMES };
        let stack = self.frames(thread, slice).await?;
        let onward = self.onward(&way, &stack);
        if onward == Onward::Told || !self.known.steps().again(thread) {
            return Ok(false);
        }
        match onward {
            Onward::Told => return Ok(false),
            Onward::Step(step) => self.take_step(thread, step).await?,
            Onward::Run => {
                self.resume(thread).await?;
            }
        }
        Ok(true)
    }

    /// A step met a point that nobody wanted to stop at. Whether it is under way again: where it would have ended by
    /// itself it ends.
    pub(super) async fn steps_on(&self, thread: i64) -> Result<bool, Failure> {
        let way = self.known.steps().under_way.get(&thread).cloned();
        let Some(way) = way else { return Ok(false) };
        let stack = self.stack(thread, Slice { start: 0, count: limits::STEP_FRAMES }).await?;
        let Some(step) = way.led(&stack) else { return Ok(false) };
        if self.known.dialect.interrupted_steps() == InterruptedSteps::CarriedOut {
            let arguments = t::ContinueArguments { thread_id: thread, ..Default::default() };
            self.go::<Continue>(arguments).await?;
            return Ok(true);
        }
        if !self.known.steps().meets(thread) {
            return Ok(false);
        }
        self.take_step(thread, step).await?;
        Ok(true)
    }

    fn onward(&self, way: &Way, stack: &Stack) -> Onward {
        let (Some(top), Some(from)) = (stack.frames.first(), &way.from) else {
            return Onward::Told;
        };
        if way.met > 0
            && let Some(step) = way.led(stack)
        {
            return Onward::Step(step);
        }
        let is_inside = self.known.dialect.finishes_inside() && way.step == Step::Out;
        if is_inside && way.more == 0 && stack.total.is_some() && stack.total >= from.depth {
            return Onward::Step(Step::Over);
        }
        // Whoever steps through a library means it.
        if !self.known.dialect.stays_in_users_code() || !from.is_user {
            return Onward::Told;
        }
        let is_user = |it: &Frame| it.is_user;
        match stack.frames.iter().any(is_user) {
            _ if top.is_user => match way.step {
                // Back from a library: the rest of the line may call what is the user's.
                Step::In if way.more > 0 && (&top.file, top.line) == (&from.file, from.line) => {
                    Onward::Step(Step::In)
                }
                Step::In | Step::Over | Step::Out => Onward::Told,
            },
            true => Onward::Step(Step::Out),
            false => Onward::Run,
        }
    }
}
