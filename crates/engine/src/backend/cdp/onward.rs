//! Steps that end in Node's own code go on until they are in the user's. V8 could do that by itself, but it
//! does not take the scripts of Node's start-up snapshot for what they are: they belong to no context.
//!
//! So a step into Node's code is a step out of it again, at once: from deeper in, V8 loses some steps. What
//! Node calls back on the way, such as a listener of an event, is passed.

use holdpoint_cdp::{ScriptOrigin, types::Paused};

use super::{Asked, inspect, watch::Watch};
use crate::limits;

/// How a step goes on that has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Onward {
    Out,
    /// Nothing of the user's is left on the stack.
    Resume,
}

impl Watch {
    /// How to go on from here, if this is not where a step is to end.
    pub(super) fn onward(&self, paused: &Paused) -> Option<Onward> {
        let is_skipped = matches!(self.cdp.moment().asked, Asked::Step(_))
            && paused.hit_breakpoints.is_empty()
            && !inspect::is_exception(paused)
            && self.is_internal(paused, 0);
        if !is_skipped {
            return None;
        }
        let count = paused.call_frames.len();
        if (1..count).all(|frame| self.is_internal(paused, frame)) {
            return Some(Onward::Resume);
        }
        (self.steps_onward < limits::INTERNAL_STEPS).then_some(Onward::Out)
    }

    /// Whether a frame is Node's: its script has a name of Node's, or was never announced.
    fn is_internal(&self, paused: &Paused, frame: usize) -> bool {
        let frame = paused.call_frames.get(frame);
        let Some(script) = frame.map(|it| &it.location.script_id) else { return false };
        self.origin(script).is_none_or(|origin| origin == ScriptOrigin::Internal)
    }
}
