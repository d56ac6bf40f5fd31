//! A name's writes, one line each.

use super::{Page, plural};
use crate::{
    ask::history::{HistoryAsk, HistoryFound},
    recording::SpotId,
};

impl HistoryFound {
    pub fn tell(&self, ask: &HistoryAsk, tokens: usize) -> String {
        let mut page = Page::new(tokens);
        let before = ask.before.map(|it| format!(" before {}", spot(&it))).unwrap_or_default();
        let when = match &ask.when {
            Some(when) => format!(", {} {when}", self.matched),
            None => String::new(),
        };
        page.must(&format!("{}: {}{before}{when}", self.of, plural(self.total, "write")));
        let left = self.matched.saturating_sub(self.rows.len() as u64);
        let middle = if ask.before.is_some() { 0 } else { self.rows.len() / 2 };
        let mut told = None;
        for (at, row) in self.rows.iter().enumerate() {
            if left > 0 && at == middle {
                page.line(&format!("… {left} writes"));
            }
            let place = match row.line {
                0 => format!("{}", row.call),
                line => format!("{}:{line}", row.call),
            };
            let item = row.item.as_ref().map(|it| format!("{it} ")).unwrap_or_default();
            let change = match (&row.before, row.line) {
                (Some(before), _) => format!("{item}{before} → {}", row.value),
                (None, 0) => format!("passed {}", row.value),
                (None, _) => format!("{item}= {}", row.value),
            };
            // Of one call once, with what it was given.
            if told == Some(row.call) {
                page.line(&format!("{place:<10} {change}"));
                continue;
            }
            told = Some(row.call);
            let note = row.note.as_deref().map(|it| format!("  {it}")).unwrap_or_default();
            page.line(&format!("{place:<10} {change}   {}{note}", row.function));
        }
        if !self.others.is_empty() {
            let all = self.others.iter().map(|(name, times)| format!("{name} ({times})"));
            page.line(&format!("others  {}", all.collect::<Vec<_>>().join(", ")));
        }
        page.line(&format!("blind   {}", self.blind.join("; ")));
        let mut missing = self.missing.clone();
        if left > 0 {
            missing.insert(0, format!("{left} writes: ask with `before`, `when` or a larger `n`"));
        }
        page.end(&missing, None)
    }
}

fn spot(spot: &SpotId) -> String {
    match spot.line {
        Some(line) => format!("{}:{line}/{}", spot.call, spot.nth),
        None => spot.call.to_string(),
    }
}
