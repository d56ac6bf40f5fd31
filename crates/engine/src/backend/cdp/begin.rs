//! The moment before a file's first statement, for files that breakpoints wait for.
//!
//! What runs under a file's name may have been made from it: its lines are found by a source map, which is
//! known when the script is, and a script runs the moment it is there. [`holdpoint_cdp::Hold`] stops before
//! those that Node's own loaders compile; loaders of others, and parts of Node's, compile in ways that
//! nothing can be set on. So V8 stops at the first statement of each such file, whoever compiled it; by then
//! its breakpoints are set.

use std::path::Path;

use holdpoint_cdp::{
    Origin, UserFile,
    types::{
        self, Location, Paused,
        debugger::{
            GetPossibleBreakpoints, RemoveBreakpoint, Resume, SetBreakpoint, SetBreakpointByUrl,
        },
    },
};

use super::{
    Asked, Cdp,
    watch::{Unheard, Watch},
};
use crate::{backend::Binding, failure::Failure};

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
        is_beginning
    }

    /// Goes on from a stop of ours. A step under way would end with it, so it is given another end: the
    /// next place of the function that it left.
    pub(super) async fn go_past(&self, paused: &Paused) -> Result<(), Unheard> {
        if matches!(self.cdp.moment().asked, Asked::Step(_))
            && self.cdp.points().step_end.is_none()
            && let Some(next) = self.next_place(paused).await
            && let Ok(set) = self.cdp.ask(SetBreakpoint { location: next, condition: None }).await
        {
            self.cdp.points().step_end = Some(set.breakpoint_id);
        }
        if let Err(failure) = self.cdp.ask(Resume::default()).await {
            tracing::debug!(%failure, "a stop of ours could not be resumed");
        }
        Ok(())
    }

    /// A step has ended, here or elsewhere.
    pub(super) async fn step_is_over(&self) {
        let end = self.cdp.points().step_end.take();
        if let Some(id) = end {
            forget(&self.cdp, id).await;
        }
    }

    async fn next_place(&self, paused: &Paused) -> Option<Location> {
        let top = &paused.call_frames.first()?.location.script_id;
        let is_user = |id: &types::ScriptId| matches!(self.origin(id), Some(Origin::File { .. }));
        let mut frames = paused.call_frames.iter().map(|frame| &frame.location);
        let left = frames.find(|it| it.script_id != *top && is_user(&it.script_id))?;
        let column = left.column_number.unwrap_or(0).saturating_add(1);
        let start = Location { column_number: Some(column), ..left.clone() };
        let command = GetPossibleBreakpoints { start, end: None, restrict_to_function: true };
        let found = self.cdp.ask(command).await.ok()?.locations;
        let next = found.iter().find(|it| it.line_number > left.line_number);
        next.or(found.first()).map(|it| Location {
            script_id: left.script_id.clone(),
            line_number: it.line_number,
            column_number: it.column_number,
        })
    }
}
