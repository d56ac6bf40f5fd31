//! The last line: how many of how many, whether there will be more, and the call that shows the rest.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use holdpoint_engine::{
    ids::{BreakpointId, Seq, SessionId},
    log::Record,
    session::{Session, Status},
};

use super::{hits::Selected, of, words};
use crate::tools::debug::report::is_cut_short;

pub(super) struct Closing {
    /// Hits that were told, also those that are no longer in memory.
    pub(super) total: u64,
    pub(super) shown: usize,
    /// Hits before the first that is shown, and after the last.
    pub(super) earlier: u64,
    pub(super) later: usize,
    /// No program will bring more.
    pub(super) is_over: bool,
    programs: String,
    id: Option<i64>,
    since: Option<u64>,
    /// Where to read on.
    next: Seq,
}

impl Closing {
    pub(super) fn of(selected: &Selected<'_>, shown: &[Record]) -> Closing {
        let Selected { sessions, page, id, since, .. } = selected;
        let total: u64 = selected.totals.values().sum();
        let in_page = page.records.len() - shown.len();
        let later = if since.is_some() { page.more + in_page } else { page.more };
        let told = (shown.len() + later) as u64;
        let with_hits: BTreeSet<SessionId> =
            shown.iter().filter_map(of).map(|it| it.session).collect();
        let meant = meant(sessions, &with_hits);
        Closing {
            total,
            shown: shown.len(),
            earlier: total.saturating_sub(told),
            later,
            is_over: meant.iter().all(|it| it.view().status == Status::Ended),
            programs: programs(&meant),
            id: *id,
            since: *since,
            next: shown.last().map_or(page.head, |it| it.seq),
        }
    }

    /// `tracepoint_read {"id": 2, "since": 7}`
    fn call(&self, more: &str) -> String {
        let id = self.id.map(|id| format!("\"id\": {id}, ")).unwrap_or_default();
        format!("`tracepoint_read {{{id}{more}}}`")
    }
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Closing { shown, total, earlier, later, programs, .. } = self;
        let hits = words::count(*total, "hit");
        let after = self.since.filter(|since| *since > 0).map(|it| format!(" after seq {it}"));
        match (*shown, *later, *earlier) {
            (0, ..) if *total == 0 => write!(f, "no hit")?,
            (0, ..) => write!(f, "no hit{}, {hits} in all", after.unwrap_or_default())?,
            (_, 0, 0) => write!(f, "{hits}, all shown")?,
            (_, 0, _) if self.since.is_some() => {
                write!(f, "the last {shown} of {hits} shown")?;
            }
            (_, 0, _) => write!(f, "the newest {shown} of {hits} shown")?,
            (_, later, 0) => write!(f, "the first {shown} of {hits} shown, {later} more")?,
            (_, later, _) => write!(f, "{shown} of {hits} shown, {later} more")?,
        }
        write!(f, "; {programs}")?;
        let onward = format!("\"since\": {}", self.next);
        match (*later, *earlier) {
            (0, 0) => {}
            (0, _) if self.since.is_some() => {}
            (0, _) => write!(
                f,
                "; from the first: {}, in sum: {}",
                self.call("\"since\": 0"),
                self.call("\"aggregate\": true")
            )?,
            _ => write!(
                f,
                "; the next: {}, in sum: {}",
                self.call(&onward),
                self.call("\"aggregate\": true")
            )?,
        }
        if *later == 0 && !self.is_over {
            write!(f, "; later ones: {}", self.call(&onward))?;
        }
        Ok(())
    }
}

/// How many hits of each tracepoint were told: those that are kept, and what the programs say.
pub(super) fn totals(kept: &[Record], sessions: &[Arc<Session>]) -> BTreeMap<BreakpointId, u64> {
    let mut totals: BTreeMap<BreakpointId, u64> = BTreeMap::new();
    for hit in kept.iter().filter_map(of) {
        *totals.entry(hit.breakpoint).or_default() += 1;
    }
    let mut told: BTreeMap<BreakpointId, u64> = BTreeMap::new();
    for passes in sessions.iter().flat_map(|it| it.passes()) {
        *told.entry(passes.point.id).or_default() += passes.reported;
    }
    for (id, told) in told {
        // Of one tracepoint or of all: of others nothing is kept here.
        totals.entry(id).and_modify(|kept| *kept = told.max(*kept));
    }
    totals
}

/// The programs that brought these hits; where there are none, those that could.
fn meant(sessions: &[Arc<Session>], with_hits: &BTreeSet<SessionId>) -> Vec<Arc<Session>> {
    let brought = sessions.iter().filter(|it| with_hits.contains(&it.id)).cloned();
    let live = sessions.iter().filter(|it| it.view().status != Status::Ended).cloned();
    let all: Vec<Arc<Session>> = if with_hits.is_empty() {
        let live: Vec<_> = live.collect();
        if live.is_empty() { sessions.last().cloned().into_iter().collect() } else { live }
    } else {
        brought.collect()
    };
    all
}

fn programs(meant: &[Arc<Session>]) -> String {
    let state = |it: &Arc<Session>| match it.view().status {
        Status::Ended if is_cut_short(it.view().exit) => {
            "was killed, so that hits of its last moment may be missing"
        }
        Status::Ended => "ended",
        Status::Stopped => "stands",
        Status::Starting | Status::Running => "runs",
    };
    match meant {
        [] => "no program runs".to_owned(),
        [only] => format!("the program {}", state(only)),
        several => {
            let each: Vec<String> =
                several.iter().map(|it| format!("{} {}", it.id, state(it))).collect();
            each.join(", ")
        }
    }
}
