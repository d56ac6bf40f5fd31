//! A place that was not reached, or not often enough: what ran instead.

use std::{collections::BTreeSet, path::Path};

use holdpoint_engine::{
    breakpoints::{Breakpoints, Place},
    budget, inspect,
    language::Outlined,
    limits,
    session::Session,
};

use super::{
    plan::{Plan, Planned, Want},
    watch::Seen,
};

/// Bytes of a list of lines or functions.
const LIST_BYTES: usize = 300;

/// Why a place was not hit at all; `passes` are those before the wanted one.
pub(super) fn why(
    session: &Session,
    own: &Breakpoints,
    plan: &Plan,
    planned: &Planned,
    seen: &Seen,
) -> String {
    let condition = planned.condition.as_deref().map(|it| format!(" with `{it}` true"));
    let condition = condition.unwrap_or_default();
    let passes = passes_before(own, planned);
    if let (Want::Nth(number), 1..) = (planned.want, passes.0) {
        let least = if passes.1 { "" } else { "at least " };
        let times = if passes.0 == 1 { "once" } else { &format!("{} times", passes.0) };
        return format!(
            "{} was passed {least}{times}{condition}, not {number} times",
            planned.label
        );
    }
    match &planned.place {
        Place::Function { name, file } => {
            let why = session.why_unbound(planned.id).filter(|it| !it.contains("not run yet"));
            let why = why.filter(|it| !it.contains("not loaded yet"));
            // Where it lies nowhere, nobody knows whether it was.
            let never = match &why {
                Some(why) if !why.contains("no function") => {
                    format!("`{name}` could not be watched")
                }
                _ => format!("`{name}` was never called{condition}"),
            };
            // What follows is for other tools.
            let why = why.map(|it| format!(": {}", it.split("; launch").next().unwrap_or(&it)));
            let ran = file.as_deref().and_then(|it| Some((it, ran(own, plan, seen, it)?)));
            let called = ran.map(|(file, ran)| called(session, file, &ran));
            format!("{never}{}", why.or(called).unwrap_or_default())
        }
        Place::Line { file, line, .. } => {
            let place = inspect::place(file, session.cwd());
            let ran = ran(own, plan, seen, file);
            let told = ran.map(|it| told(session, file, *line, &it, planned)).unwrap_or_default();
            let moved = planned.note.as_deref();
            let moved = moved.map(|it| format!(" ({it})")).unwrap_or_default();
            format!("Line {line} of {place}{moved} was never reached{condition}{told}")
        }
    }
}

/// How often the program passed before the wanted pass, and whether that is exact.
fn passes_before(own: &Breakpoints, planned: &Planned) -> (u64, bool) {
    let Some((counter, step)) = planned.counter else { return (0, true) };
    (own.gathered().total(counter) * step, step == 1)
}

/// The lines of a file that are known to have run.
struct Ran {
    lines: BTreeSet<u32>,
    /// Whether what is not among them did not run: a file may have too many functions to mark them all.
    is_whole: bool,
}

/// `None` where nobody counted, or whoever did was killed.
fn ran(own: &Breakpoints, plan: &Plan, seen: &Seen, file: &Path) -> Option<Ran> {
    let gathered = own.gathered();
    match plan.marks.get(file).map(Vec::as_slice) {
        None | Some([]) => Some(Ran { lines: seen.reached.get(file)?.clone(), is_whole: true }),
        Some(marks) => {
            let lines =
                marks.iter().filter_map(|id| gathered.of(*id).site.map(|(_, line, _)| line));
            Some(Ran { lines: lines.collect(), is_whole: marks.len() < limits::PROBE_MARKS })
        }
    }
}

fn told(session: &Session, file: &Path, line: u32, ran: &Ran, planned: &Planned) -> String {
    let needs_more = planned.condition.is_some() || planned.counter.is_some();
    if ran.lines.contains(&line) && needs_more {
        return ": the line was passed, the condition never held".to_owned();
    }
    let functions = inspect::outline(file);
    let Some(around) = inspect::function_at(&functions, line) else {
        return called(session, file, ran);
    };
    let own: Vec<u32> = ran
        .lines
        .iter()
        .copied()
        .filter(|it| inspect::function_at(&functions, *it) == Some(around))
        .collect();
    // The head of a function runs where it is defined.
    if own.iter().all(|it| *it == around.head && around.body > around.head) {
        return format!(": `{}` was not called{}", around.name, called(session, file, ran));
    }
    format!(": of `{}` ran {}", around.name, ranges(&own))
}

/// The functions of a file that were called.
fn called(session: &Session, file: &Path, ran: &Ran) -> String {
    let functions = inspect::outline(file);
    let place = inspect::place(file, session.cwd());
    if functions.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = functions
        .iter()
        .filter(|it| was_called(it, &functions, &ran.lines))
        .map(|it| it.name.as_str())
        .collect();
    let names_or_none = match (names.is_empty(), ran.is_whole) {
        (true, true) => return format!("; no function of {place} was"),
        (true, false) => return String::new(),
        (false, true) => format!("; of {place} were called: "),
        (false, false) => format!("; of {place} were called, among others: "),
    };
    names_or_none + &budget::cut(&names.join(", "), LIST_BYTES)
}

fn was_called(function: &Outlined, all: &[Outlined], lines: &BTreeSet<u32>) -> bool {
    let mut own = lines.iter().filter(|it| inspect::function_at(all, **it) == Some(function));
    own.any(|line| *line != function.head || function.body == function.head)
}

/// `lines 3, 5–9`
fn ranges(lines: &[u32]) -> String {
    let mut told: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match told.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => told.push((*line, *line)),
        }
    }
    let one = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let list = told.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("{word} {}", budget::cut(&list, LIST_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_in_ranges() {
        assert_eq!(ranges(&[3]), "line 3");
        assert_eq!(ranges(&[3, 5, 6, 7, 9]), "lines 3, 5–7, 9");
    }
}
