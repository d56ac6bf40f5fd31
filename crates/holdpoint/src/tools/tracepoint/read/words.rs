//! A tracepoint in one line, once for all of its hits.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use holdpoint_engine::{
    breakpoints::{Breakpoint, Place},
    event::TraceHit,
    ids::SessionId,
    inspect,
    session::Session,
};

use crate::tools::breakpoint::bind;

/// Bytes of a template beside other tracepoints; alone it is whole.
const TEMPLATE: usize = 120;

/// `Tracepoint 2 · shop.py:12 in total · "x is {x}"`: what all of these hits have in common is said here.
pub(super) fn head(sessions: &[Arc<Session>], point: &Breakpoint, hits: &[&TraceHit]) -> String {
    let place = match &point.place {
        Place::Line { file, line, .. } => {
            let function = common(hits, |it| it.function.as_deref());
            let function = function.flatten().map(|it| format!(" in {it}")).unwrap_or_default();
            format!("{}:{line}{function}", short(sessions, file))
        }
        place @ Place::Function { .. } => {
            let site = common(hits, |it| (it.file.as_str(), it.line));
            let site =
                site.map(|(file, line)| format!(" at {}:{line}", short(sessions, Path::new(file))));
            format!("{place}{}", site.unwrap_or_default())
        }
    };
    let condition = point.condition.as_deref().map(|it| format!(" if {}", begins(it, TEMPLATE)));
    let message = point.trace.as_ref().and_then(|it| it.message.as_deref());
    let message = message.map(|it| format!(" · \"{}\"", begins(it, TEMPLATE)));
    let (condition, message) = (condition.unwrap_or_default(), message.unwrap_or_default());
    format!("Tracepoint {} · {place}{condition}{message}{}", point.id, bind::off(point))
}

/// The same with its template whole.
pub(super) fn whole(point: &Breakpoint) -> Option<String> {
    let message = point.trace.as_ref()?.message.as_deref()?;
    (message.len() > TEMPLATE).then(|| format!("its template: \"{message}\""))
}

/// A file as a reader in the newest program's folder would write it.
pub(super) fn short(sessions: &[Arc<Session>], file: &Path) -> String {
    let cwd = sessions.iter().rev().map(|it| it.cwd()).find(|cwd| file.starts_with(cwd));
    inspect::place(file, cwd.unwrap_or(Path::new("")))
}

/// What is the same of all, if it is.
pub(super) fn common<'a, T: PartialEq>(
    hits: &[&'a TraceHit],
    of: impl Fn(&'a TraceHit) -> T,
) -> Option<T> {
    let first = of(hits.first()?);
    hits.iter().all(|it| of(it) == first).then_some(first)
}

/// A text's beginning, and a word where that is not all of it.
fn begins(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let (start, rest) = text.split_at(text.floor_char_boundary(bytes));
    format!("{start}…, {} bytes more: pass `id`", rest.len())
}

/// `21 hits`; of several programs each by itself: `s1 20 hits, s2 1 hit`.
pub(super) fn by_session(hits: &BTreeMap<SessionId, u64>, has_several: bool) -> String {
    if !has_several {
        return count(hits.values().sum(), "hit");
    }
    let one = |(session, hits): (&SessionId, &u64)| format!("{session} {}", count(*hits, "hit"));
    if hits.is_empty() {
        "no hit".to_owned()
    } else {
        hits.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// `1 hit`, `21 hits`.
pub(super) fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_its_end_with_a_word() {
        assert_eq!(begins("{abc} {déf}", 9), "{abc} {d…, 4 bytes more: pass `id`");
        assert_eq!(begins("{abc}", 9), "{abc}");
    }
}
