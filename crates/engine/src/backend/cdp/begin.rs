//! The moment before a file's first statement, for files that breakpoints wait for.
//!
//! What runs under a file's name may have been made from it: its lines are found by a source map, which is
//! known when the script is, and a script runs the moment it is there. [`holdpoint_cdp::Hold`] stops before
//! those that Node's own loaders compile; loaders of others, and parts of Node's, compile in ways that
//! nothing can be set on. So V8 stops at the first statement of each such file, whoever compiled it; by then
//! its breakpoints are set.

use std::path::Path;

use holdpoint_cdp::{
    UserFile,
    types::{
        self, CallFrame, Location, Paused,
        debugger::{
            BreakLocation, GetPossibleBreakpoints, RemoveBreakpoint, SetBreakpoint,
            SetBreakpointByUrl,
        },
    },
};

use super::{
    Asked, Cdp,
    watch::{Unheard, Watch},
};
use crate::{backend::Binding, failure::Failure, limits};

/// Stops at the file's first statement as long as one of its breakpoints is not bound.
pub(super) async fn watch_for(cdp: &Cdp, file: &Path) -> Result<(), Failure> {
    let is_awaited = {
        let points = cdp.points();
        let mut here = points.files.get(file).into_iter().flatten();
        here.any(|point| matches!(point.binding, Binding::Not { .. }))
    };
    let known = cdp.points().begins.get(file).cloned();
    match (is_awaited, known) {
        (true, None) => {
            let first = SetBreakpointByUrl {
                line_number: 0,
                // Not the text that a breakpoint of the user's has: V8 takes the two for one.
                url_regex: format!("(?:{})", UserFile::new(file).url_regex()),
                column_number: None,
                condition: None,
            };
            if let Ok(set) = cdp.ask(first).await {
                cdp.points().begins.insert(file.to_owned(), set.breakpoint_id);
            }
        }
        (false, Some(id)) => forget(cdp, id).await,
        (true, Some(_)) | (false, None) => {}
    }
    Ok(())
}

/// Takes one of these breakpoints away: it has done what it was for.
async fn forget(cdp: &Cdp, id: types::BreakpointId) {
    cdp.points().begins.retain(|_, it| *it != id);
    if let Err(failure) = cdp.ask(RemoveBreakpoint { breakpoint_id: id }).await {
        tracing::debug!(%failure, "a breakpoint of ours stays");
    }
}

impl Watch {
    /// Whether a file begins that breakpoints wait for. If nothing else stops here, nobody is told.
    pub(super) async fn is_beginning(&self, paused: &Paused) -> bool {
        let hit: Vec<types::BreakpointId> = {
            let points = self.cdp.points();
            let is_hit = |id: &&types::BreakpointId| paused.hit_breakpoints.contains(id);
            points.begins.values().filter(is_hit).cloned().collect()
        };
        let is_beginning = !hit.is_empty();
        for id in hit {
            forget(&self.cdp, id).await;
        }
        if is_beginning {
            self.begun().await;
        }
        is_beginning
    }

    /// Goes on from a stop of ours. A step under way would end with it, so it goes on in the function that
    /// it began in: as a step where that is on top, else to whichever place of it comes next.
    pub(super) async fn go_past(&self, paused: &Paused) -> Result<(), Unheard> {
        let (asked, depth) = {
            let moment = self.cdp.moment();
            (moment.asked, moment.step_depth)
        };
        let Asked::Step(step) = asked else { return self.go_on().await };
        let below = paused.call_frames.len().checked_sub(depth).filter(|below| *below > 0);
        let Some(frame) = below.and_then(|below| paused.call_frames.get(below)) else {
            if let Err(failure) = self.cdp.step_on(step).await {
                tracing::debug!(%failure, "a step ended on its way");
            }
            return Ok(());
        };
        if self.cdp.points().step_ends.is_empty() {
            for location in self.places(frame).await {
                let set = self.cdp.ask(SetBreakpoint { location, condition: None }).await;
                self.cdp.points().step_ends.extend(set.ok().map(|it| it.breakpoint_id));
            }
        }
        self.go_on().await
    }

    /// Whether one of these places was reached by another call of the same function.
    pub(super) fn is_deeper(&self, paused: &Paused) -> bool {
        let points = self.cdp.points();
        paused.call_frames.len() > self.cdp.moment().step_depth
            && !paused.hit_breakpoints.is_empty()
            && paused.hit_breakpoints.iter().all(|id| points.step_ends.contains(id))
    }

    /// A step has ended, here or elsewhere.
    pub(super) async fn step_is_over(&self) {
        let ends = std::mem::take(&mut self.cdp.points().step_ends);
        for id in ends {
            forget(&self.cdp, id).await;
        }
    }

    /// Where a function may go from a line of it: the lines behind it first.
    async fn places(&self, frame: &CallFrame) -> Vec<Location> {
        let now = &frame.location;
        // At the very beginning of a file V8 takes its first function for the one that is meant.
        let begins = frame.function_location.clone().filter(|it| it.column_number != Some(0));
        let mut lines = Vec::new();
        for start in std::iter::once(now.clone()).chain(begins) {
            let command = GetPossibleBreakpoints { start, end: None, restrict_to_function: true };
            let found = self.cdp.ask(command).await.map(|it| it.locations).unwrap_or_default();
            lines.extend(found.into_iter().filter(|it| it.line_number != now.line_number));
        }
        lines.sort_by_key(|it| (it.line_number < now.line_number, it.line_number));
        lines.dedup_by_key(|it| it.line_number);
        let place = |it: BreakLocation| Location {
            script_id: now.script_id.clone(),
            line_number: it.line_number,
            column_number: it.column_number,
        };
        lines.into_iter().take(limits::STEP_ENDS).map(place).collect()
    }
}
