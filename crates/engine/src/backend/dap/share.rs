//! What is asked of a debugger and what is left to us, by what it announced. Pure, but for the counts.
//!
//! Many debuggers accept a hit condition or a log message and then ignore it, so nothing is sent that was not
//! announced: [`allowed`] is the one place that decides. A condition or a hit condition that is left to us is
//! looked at when the debugger stops, and the program goes on where it does not hold.

use std::collections::BTreeMap;

use holdpoint_dap::{Request as _, request as r, types::Capabilities};

use super::{DebuggerState, dialect::Dialect};
use crate::{
    backend::{Wanted, WantedFunction},
    breakpoints::hits::HitTest,
    failure::{Code, Failure},
    ids::BreakpointId,
};

/// Something that not every debugger can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature<'a> {
    Request(&'a str),
    Condition,
    HitCondition,
    /// A part of a stack.
    SomeFrames,
    /// To say whether the program is to end with the connection.
    ChosenEnd,
}

/// What a debugger cannot, and how it would have said that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) what: &'static str,
    capability: &'static str,
    hint: &'static str,
}

/// Whether a feature may be used.
pub(super) fn allowed(known: &Capabilities, feature: Feature<'_>) -> Result<(), Missing> {
    let (is_announced, capability, what, hint) = match feature {
        Feature::Condition => (
            known.supports_conditional_breakpoints,
            "supportsConditionalBreakpoints",
            "tell whether a condition holds",
            "",
        ),
        Feature::HitCondition => (
            known.supports_hit_conditional_breakpoints,
            "supportsHitConditionalBreakpoints",
            "count the hits of a breakpoint",
            "",
        ),
        Feature::SomeFrames => (
            known.supports_delayed_stack_trace_loading,
            "supportsDelayedStackTraceLoading",
            "show a part of a stack",
            "",
        ),
        Feature::ChosenEnd => (
            known.can_terminate_debuggee(),
            "supportTerminateDebuggee",
            "choose whether the program lives on",
            "",
        ),
        Feature::Request(r::ConfigurationDone::COMMAND) => (
            known.supports_configuration_done_request,
            "supportsConfigurationDoneRequest",
            "wait until all is set",
            "",
        ),
        Feature::Request(r::SetFunctionBreakpoints::COMMAND) => (
            known.supports_function_breakpoints,
            "supportsFunctionBreakpoints",
            "stop at a function by its name",
            "set it by `file` and `line`",
        ),
        Feature::Request(r::SetExceptionBreakpoints::COMMAND) => (
            !known.exception_breakpoint_filters.is_empty() || known.supports_exception_options,
            "exceptionBreakpointFilters",
            "choose which exceptions stop",
            "",
        ),
        Feature::Request(r::SetVariable::COMMAND) => (
            known.supports_set_variable,
            "supportsSetVariable",
            "set a variable",
            "`debug_evaluate` with an assignment may do it",
        ),
        Feature::Request(r::ExceptionInfo::COMMAND) => (
            known.supports_exception_info_request,
            "supportsExceptionInfoRequest",
            "tell more of an exception",
            "`debug_stack` says where it was",
        ),
        Feature::Request(_) => return Ok(()),
    };
    if is_announced { Ok(()) } else { Err(Missing { what, capability, hint }) }
}

impl Missing {
    /// Why it is refused.
    pub(super) fn why(&self, dialect: &dyn Dialect) -> String {
        let Missing { what, capability, .. } = self;
        format!("{} cannot {what}: it does not announce `{capability}`", dialect.name())
    }

    pub(super) fn failure(self, dialect: &dyn Dialect) -> Failure {
        let failure = Failure::new(Code::AdapterFailed, self.why(dialect));
        if self.hint.is_empty() { failure } else { failure.hint(self.hint) }
    }
}

/// What a breakpoint is to look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looks<'a> {
    condition: Option<&'a str>,
    hit_condition: Option<HitTest>,
    is_trace: bool,
}

impl<'a> From<&'a Wanted> for Looks<'a> {
    fn from(wanted: &'a Wanted) -> Self {
        looks(wanted.condition.as_deref(), wanted.hit_condition.as_deref(), wanted.trace.is_some())
    }
}

impl<'a> From<&'a WantedFunction> for Looks<'a> {
    fn from(wanted: &'a WantedFunction) -> Self {
        looks(wanted.condition.as_deref(), wanted.hit_condition.as_deref(), wanted.trace.is_some())
    }
}

fn looks<'a>(condition: Option<&'a str>, hit_condition: Option<&str>, is_trace: bool) -> Looks<'a> {
    // What does not parse was refused when it was set.
    let hit_condition = hit_condition.and_then(|it| HitTest::parse(it).ok());
    Looks { condition, hit_condition, is_trace }
}

/// A breakpoint as the debugger is told of it, and what is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) condition: Option<String>,
    pub(super) hit_condition: Option<String>,
    pub(super) left: Left,
}

/// What we have to look at when the debugger stops.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) condition: Option<String>,
    pub(super) hit_condition: Option<HitTest>,
    /// The debugger has the condition, too, and stops where it cannot tell whether that holds.
    pub(super) is_doubted: bool,
}

impl Left {
    /// Of a breakpoint that shares its line: the debugger could not tell which of them it stopped for.
    pub(super) fn all(looks: Looks<'_>) -> Left {
        let condition = looks.condition.map(str::to_owned);
        Left { condition, hit_condition: looks.hit_condition, is_doubted: false }
    }

    fn is_empty(&self) -> bool {
        self.condition.is_none() && self.hit_condition.is_none()
    }
}

/// Whoever counts hits counts those where the condition holds, so hits are counted here where both are
/// given; and those of a tracepoint always, for it tells of each.
pub(super) fn share(known: &DebuggerState, looks: Looks<'_>) -> Share {
    let capabilities = known.capabilities();
    let condition = looks.condition.map(str::to_owned);
    let can_look =
        known.dialect.takes_conditions() && allowed(&capabilities, Feature::Condition).is_ok();
    let is_doubted = can_look && known.dialect.doubts_conditions();
    let left = condition.clone().filter(|_| !can_look || is_doubted);
    let sent = condition.filter(|_| can_look);
    let counts_alone = looks.condition.is_none() && !looks.is_trace;
    let can_count = counts_alone && allowed(&capabilities, Feature::HitCondition).is_ok();
    let written =
        looks.hit_condition.filter(|_| can_count).and_then(|it| known.dialect.hit_condition(it));
    let counted = looks.hit_condition.filter(|_| written.is_none());
    Share {
        condition: sent,
        hit_condition: written,
        left: Left { condition: left, hit_condition: counted, is_doubted },
    }
}

/// What is left to us of each breakpoint, and how often it was hit.
#[derive(Debug, Default)]
pub(super) struct Lefts(BTreeMap<BreakpointId, (Left, u64)>);

impl Lefts {
    /// Counts go on for a breakpoint that is what it was.
    pub(super) fn put(&mut self, all: Vec<(BreakpointId, Left)>) {
        for (id, left) in all {
            match self.0.get(&id) {
                _ if left.is_empty() => drop(self.0.remove(&id)),
                Some((before, _)) if *before == left => {}
                _ => drop(self.0.insert(id, (left, 0))),
            }
        }
    }

    pub(super) fn has(&self, id: BreakpointId) -> bool {
        self.0.contains_key(&id)
    }

    /// Whether nobody else looks at something of it.
    pub(super) fn are_alone_with(&self, id: BreakpointId) -> bool {
        self.0.get(&id).is_some_and(|(left, _)| {
            left.hit_condition.is_some() || left.condition.is_some() && !left.is_doubted
        })
    }

    pub(super) fn condition(&self, id: BreakpointId) -> Option<String> {
        self.0.get(&id).and_then(|(left, _)| left.condition.clone())
    }

    /// Counts a hit; whether it is one at which the breakpoint stops.
    pub(super) fn count(&mut self, id: BreakpointId) -> bool {
        let Some((left, hits)) = self.0.get_mut(&id) else { return true };
        *hits += 1;
        left.hit_condition.is_none_or(|it| it.holds(*hits))
    }
}
