//! Whose hits are meant: those of tracepoints that there are, in which programs.
//!
//! Each program counts from 1, so that two of them are never added up: without a place to read from, what runs is
//! meant, else what ran last. Hits of tracepoints that were removed are in the timeline.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use holdpoint_engine::{
    breakpoints::Breakpoint,
    event::TraceHit,
    ids::{BreakpointId, Seq, SessionId},
    log::Record,
    session::{Session, Status},
};

use super::of;

/// How many hits of each tracepoint each program told.
pub(super) type Totals = BTreeMap<(BreakpointId, SessionId), u64>;

pub(super) struct Meant {
    points: BTreeSet<BreakpointId>,
    pub(super) sessions: BTreeSet<SessionId>,
    /// Hits of programs that are not meant, by the program.
    pub(super) others: BTreeMap<SessionId, u64>,
    /// Hits of tracepoints that are no longer there.
    pub(super) removed: u64,
}

impl Meant {
    pub(super) fn of(
        all: &[Record],
        points: &[Breakpoint],
        sessions: &[Arc<Session>],
        since: Option<Seq>,
    ) -> Meant {
        let points: BTreeSet<BreakpointId> = points.iter().map(|it| it.id).collect();
        let (mut brought, mut after) = (BTreeMap::new(), BTreeSet::new());
        let mut removed = 0;
        for record in all {
            let Some(hit) = of(record) else { continue };
            if !points.contains(&hit.breakpoint) {
                removed += 1;
                continue;
            }
            *brought.entry(hit.session).or_insert(0) += 1;
            if since.is_some_and(|since| record.seq > since) {
                after.insert(hit.session);
            }
        }
        let live: BTreeSet<SessionId> = sessions
            .iter()
            .filter(|it| it.view().status != Status::Ended)
            .map(|it| it.id)
            .collect();
        let meant = chosen(&brought.keys().copied().collect(), after, live, sessions);
        brought.retain(|session, _| !meant.contains(session));
        Meant { points, sessions: meant, others: brought, removed }
    }

    pub(super) fn has(&self, hit: &TraceHit) -> bool {
        self.points.contains(&hit.breakpoint) && self.sessions.contains(&hit.session)
    }

    /// Those that are kept, and what the programs say, which knows also those that are not.
    pub(super) fn totals(&self, kept: &[Record], sessions: &[Arc<Session>]) -> Totals {
        let mut totals = Totals::new();
        for hit in kept.iter().filter_map(of) {
            *totals.entry((hit.breakpoint, hit.session)).or_default() += 1;
        }
        for session in sessions {
            for passes in session.passes() {
                // Of others nothing is kept here.
                totals
                    .entry((passes.point.id, session.id))
                    .and_modify(|kept| *kept = passes.reported.max(*kept));
            }
        }
        totals
    }
}

/// The programs with hits after the place to read from; else those that run and brought some, else the last that did;
/// else those that could.
fn chosen(
    brought: &BTreeSet<SessionId>,
    after: BTreeSet<SessionId>,
    live: BTreeSet<SessionId>,
    sessions: &[Arc<Session>],
) -> BTreeSet<SessionId> {
    if !after.is_empty() {
        return after;
    }
    let running: BTreeSet<SessionId> = brought.intersection(&live).copied().collect();
    if !running.is_empty() {
        return running;
    }
    let last = sessions.iter().rfind(|it| brought.contains(&it.id)).map(|it| it.id);
    match last.or(brought.last().copied()) {
        Some(last) if live.is_empty() => [last].into(),
        _ if !live.is_empty() => live,
        _ => sessions.last().map(|it| it.id).into_iter().collect(),
    }
}
