//! Where two runs part.

use super::{Page, plural};
use crate::{
    diff::{DiffFound, Difference, DifferenceKind, LineDifference},
    show::{CallShown, cut},
};

impl DiffFound {
    /// `names`: what the two are called.
    pub fn tell(&self, names: (&str, &str), tokens: usize) -> String {
        let mut page = Page::new(tokens);
        let head = format!("{} against {}", names.0, names.1);
        let Some(first) = self.differences.first() else {
            page.must(&format!(
                "{head}: no difference in {} and {} calls",
                self.calls.0, self.calls.1
            ));
            self.tell_rest(&mut page);
            return page.end(&self.missing, None);
        };
        let place = first.one.as_ref().or(first.other.as_ref()).map_or(0, |it| it.id.number);
        page.must(&format!(
            "{head}: same up to call {place} of {} and {}",
            self.calls.0, self.calls.1
        ));
        page.must(&format!("first difference  {}", difference(first)));
        if let Some(line) = &self.first_line {
            for told in lines(line) {
                page.line(&format!("  {told}"));
            }
        }
        let others: Vec<String> = self.differences.iter().skip(1).map(difference).collect();
        if self.total > 1 {
            page.line(&format!("after it  {}", plural(self.total - 1, "further difference")));
            for other in others {
                page.line(&format!("  {other}"));
            }
        }
        self.tell_rest(&mut page);
        page.end(&self.missing, self.next.as_ref())
    }

    fn tell_rest(&self, page: &mut Page) {
        if self.masked > 0 {
            page.line(&format!(
                "masked  {} (times, addresses, uuids, temporary paths)",
                plural(self.masked, "value")
            ));
        }
        if self.alone != (0, 0) {
            let (one, other) = self.alone;
            page.line(&format!(
                "alone   {one} threads or tasks of the first, {other} of the second"
            ));
        }
    }
}

fn difference(of: &Difference) -> String {
    match (of.kind, &of.one, &of.other) {
        (DifferenceKind::Result, Some(one), Some(other)) => format!(
            "{} {} / {}   {} / {}",
            one.signature(60),
            one.id,
            other.id,
            one.end.shown(),
            other.end.shown()
        ),
        (DifferenceKind::Arguments, Some(one), Some(other)) => given(of, one, other),
        (_, Some(one), _) => {
            format!("{} {} {} only in the first", one.signature(60), one.id, one.end.shown())
        }
        (_, None, Some(other)) => {
            format!("{} {} {} only in the second", other.signature(60), other.id, other.end.shown())
        }
        (_, None, None) => String::new(),
    }
}

/// A call that was given something else: whole where it is short, else what differs.
fn given(of: &Difference, one: &CallShown, other: &CallShown) -> String {
    let (first, second) = (one.signature(usize::MAX), other.signature(usize::MAX));
    let is_short = first.chars().count() + second.chars().count() <= GIVEN
        && !first.contains('…')
        && !second.contains('…');
    if of.parts.is_empty() || is_short {
        return format!("{} {} / {} {}", one.signature(60), one.id, other.signature(60), other.id);
    }
    let told = of.parts.iter().map(|(name, mine, their)| format!("{name}={mine} / {their}"));
    let told = told.collect::<Vec<_>>().join(", ");
    format!("{}({told}) {} / {}", one.function, one.id, other.id)
}

/// Characters of two calls with what they were given.
const GIVEN: usize = 120;

fn lines(of: &LineDifference) -> Vec<String> {
    let side = |line: Option<u32>, changes: &[String]| match line {
        Some(_) if changes.is_empty() => "nothing changed".to_owned(),
        Some(_) => cut(changes.join(", "), 120),
        None => "not reached".to_owned(),
    };
    let place = match of.lines {
        (Some(one), Some(other)) if one != other => format!("{}:{one} / :{other}", of.file),
        (Some(line), _) | (None, Some(line)) => format!("{}:{line}", of.file),
        (None, None) => of.file.clone(),
    };
    let (one, other) = (side(of.lines.0, &of.changes.0), side(of.lines.1, &of.changes.1));
    let mut told = vec![format!("{place}   {one} / {other}")];
    match &of.sources {
        (Some(one), Some(other)) if one.trim() != other.trim() => {
            told.push(format!("{} / {}", one.trim(), other.trim()));
        }
        (Some(one), _) => told.push(one.trim().to_owned()),
        _ => {}
    }
    told
}
