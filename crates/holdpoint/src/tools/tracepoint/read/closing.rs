//! The last line: how many of how many, whether there will be more, and the call that shows the rest.

use std::{collections::BTreeMap, fmt, sync::Arc};

use holdpoint_engine::{
    ids::{Seq, SessionId},
    log::Record,
    session::{Session, Status},
};

use super::{hits::Selected, meant::Meant, words};
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
    /// How many there are, of each program by itself.
    hits: String,
    programs: String,
    left_out: String,
    id: Option<i64>,
    since: Option<u64>,
    /// Where to read on.
    next: Seq,
}

impl Closing {
    pub(super) fn of(selected: &Selected<'_>, shown: &[Record]) -> Closing {
        let Selected { sessions, page, id, since, .. } = selected;
        let total: u64 = selected.totals.values().sum();
        let mut each: BTreeMap<SessionId, u64> = BTreeMap::new();
        for ((_, session), hits) in &selected.totals {
            *each.entry(*session).or_default() += hits;
        }
        let in_page = page.records.len() - shown.len();
        let later = if since.is_some() { page.more + in_page } else { page.more };
        let told = (shown.len() + later) as u64;
        let meant = meant(sessions, selected.meant);
        let is_one_of_several = selected.has_several() || !selected.meant.others.is_empty();
        Closing {
            total,
            shown: shown.len(),
            earlier: total.saturating_sub(told),
            later,
            is_over: meant.iter().all(|it| it.view().status == Status::Ended),
            hits: words::by_session(&each, selected.has_several()),
            programs: programs(&meant, is_one_of_several),
            left_out: left_out(selected),
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
        let Closing { shown, total, earlier, later, programs, hits, .. } = self;
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
        f.write_str(&self.left_out)
    }
}

/// The programs that are meant, as far as they are still known.
fn meant(sessions: &[Arc<Session>], meant: &Meant) -> Vec<Arc<Session>> {
    sessions.iter().filter(|it| meant.sessions.contains(&it.id)).cloned().collect()
}

/// Hits of programs before, and of tracepoints that were removed: none of these, and where they are.
fn left_out(selected: &Selected<'_>) -> String {
    let Meant { others, removed, .. } = selected.meant;
    let mut text = String::new();
    if !others.is_empty() {
        let hits = words::by_session(others, true);
        text += &format!("; before: {hits} (`since` 0 shows them)");
    }
    if *removed > 0 && selected.id.is_none() {
        let hits = words::count(*removed, "hit");
        text += &format!("; {hits} of removed tracepoints: `timeline_query` has them");
    }
    text
}

fn programs(meant: &[Arc<Session>], is_one_of_several: bool) -> String {
    let state = |it: &Arc<Session>| match it.view().status {
        Status::Ended if it.was_stopped() && is_cut_short(it.view().exit) => {
            "was stopped on request"
        }
        Status::Ended if is_cut_short(it.view().exit) => {
            "was killed, so that hits of its last moment may be missing"
        }
        Status::Ended => "ended",
        Status::Stopped => "stands",
        Status::Starting | Status::Running => "runs",
    };
    match meant {
        [] => "no program runs".to_owned(),
        [only] if !is_one_of_several => format!("the program {}", state(only)),
        several => {
            let each: Vec<String> =
                several.iter().map(|it| format!("{} {}", it.id, state(it))).collect();
            each.join(", ")
        }
    }
}
