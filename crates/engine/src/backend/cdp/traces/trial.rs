//! The first evaluation of what calls something.
//!
//! V8 cannot end what a condition does, so a call that does not end would hold the program for ever. So at the
//! first hit of such a tracepoint its condition holds, the program stands, and evaluates there, where V8 ends
//! what takes too long. What ended is evaluated in the condition from then on; what did not end, a few times,
//! is not evaluated any more.

use holdpoint_cdp::types::{CallFrame, Paused, debugger::EvaluateOnCallFrame};

use super::super::{
    Asked, Cdp, points,
    watch::{Unheard, Watch},
};
use crate::{
    backend::{Signal, Step, TraceWay, Tracing, Wanted},
    breakpoints::{Breakpoint, Trace},
    ids::BreakpointId,
    limits,
    nouns::Stream,
    template::Template,
};

/// The next evaluation of a tracepoint's condition is a trial.
const TRIES: &str = "globalThis[Symbol.for('holdpoint')].tries()";
/// Takes down what became of it.
const TRIED: &str = "globalThis[Symbol.for('holdpoint')]?.tried?.()";

/// What of a tracepoint may not end: 1 its condition, 2 an expression of its message.
pub(in super::super) fn risks(condition: Option<&str>, tracing: &Tracing) -> u8 {
    let mut expressions = tracing.template.iter().flat_map(Template::expressions);
    u8::from(condition.is_some_and(may_call)) + 2 * u8::from(expressions.any(may_call))
}

/// What a tracepoint costs the program.
pub(in super::super) fn trace_way(breakpoint: &Breakpoint) -> TraceWay {
    let expressions = breakpoint.trace.iter().flat_map(Trace::expressions);
    let mut all = expressions.chain(breakpoint.condition.as_deref());
    if all.any(may_call) { TraceWay::Tried } else { TraceWay::InProcess }
}

/// Names, paths and arithmetic run nothing, but for getters.
pub(super) fn may_call(expression: &str) -> bool {
    expression.contains(['(', '`']) || expression.contains("new ")
}

impl Watch {
    /// Tries what the program stopped for, and says whether it stopped for nothing else.
    pub(in super::super) async fn is_trial(&self, paused: &mut Paused) -> Result<bool, Unheard> {
        let tracing = self.cdp.points().tracing(&paused.hit_breakpoints);
        let Some(top) = paused.call_frames.first().filter(|_| !tracing.is_empty()) else {
            return Ok(false);
        };
        for (_, wanted) in &tracing {
            if !attempt(&self.cdp, top, wanted).await {
                self.tell_stuck(wanted.id).await?;
            }
        }
        paused.hit_breakpoints.retain(|hit| !tracing.iter().any(|(part, _)| part == hit));
        Ok(paused.hit_breakpoints.is_empty() && paused.reason == "other" && !self.ends_here(paused))
    }

    /// Whether somebody asked for a stop that is due here.
    fn ends_here(&self, paused: &Paused) -> bool {
        let moment = self.cdp.moment();
        let depth = paused.call_frames.len();
        match moment.asked {
            Asked::Nothing => false,
            Asked::Pause | Asked::Step(Step::In) => true,
            Asked::Step(Step::Over) => depth <= moment.step_depth,
            Asked::Step(Step::Out) => depth < moment.step_depth,
        }
    }

    /// What waits outside of JavaScript, V8 cannot end either.
    async fn tell_stuck(&self, id: BreakpointId) -> Result<(), Unheard> {
        let text = format!(
            "tracepoint {id}: an expression of it waits for something outside of JavaScript, which V8 \
             cannot end; the program stands until it does, or `debug_stop` ends it\n"
        );
        self.tell(Signal::Output { stream: Stream::Debugger, text }).await
    }
}

/// Evaluates a tracepoint where the program stands; `false` when V8 does not come back.
async fn attempt(cdp: &Cdp, top: &CallFrame, wanted: &Wanted) -> bool {
    let bad = cdp.traces().bad.clone();
    let Ok(Some(condition)) = points::condition(wanted, &bad) else { return true };
    let mut command =
        EvaluateOnCallFrame::new(top.call_frame_id.clone(), format!("({TRIES}, {condition})"));
    command.timeout = Some(limits::TRACE_EVALUATE.as_secs_f64() * 1_000.0);
    let patience = limits::TRACE_EVALUATE + limits::ADAPTER_ANSWER;
    let tried = tokio::time::timeout(patience, cdp.requester.send(command)).await;
    let Ok(tried) = tried else { return false };
    if let Err(error) = tried {
        tracing::debug!(%error, "an expression of a tracepoint did not end");
    }
    let command = EvaluateOnCallFrame::new(top.call_frame_id.clone(), TRIED);
    if let Err(failure) = cdp.ask(command).await {
        tracing::debug!(%failure, "what a tracepoint saw is lost");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_run_code_is_a_risk() {
        for harmless in ["i", "cart.items[0].price", "i % 7 === 0", "newest", "a ? b : c"] {
            assert!(!may_call(harmless), "{harmless}");
        }
        for risk in ["f()", "new Date", "tag`x`", "items.map(it => it.id)", "(a)"] {
            assert!(may_call(risk), "{risk}");
        }
    }
}
