//! The passes of several places as one list in the order of time: which branch was taken, and when.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_engine::{
    breakpoints::passes::{Pass, Passes},
    session::Session,
};

use super::{
    passes::{self, Telling},
    plan::{Plan, Planned},
    rows::{Row, column, differ},
};

/// More lines than these are told place by place.
const FEW: u64 = 40;

/// `None` where each place has to speak for itself: there is one, they are grouped, too many, or ask for
/// different things.
pub(super) fn told(
    session: &Session,
    plan: &Plan,
    all: &BTreeMap<usize, Passes>,
    bytes: usize,
) -> Option<Telling> {
    let total: u64 = all.values().map(|it| it.total).sum();
    if all.len() < 2 || plan.by.is_some() || !(1..=FEW).contains(&total) {
        return None;
    }
    let places: Vec<(&Planned, &Passes)> =
        all.iter().filter_map(|(at, passes)| Some((plan.places.get(*at)?, passes))).collect();
    let (first, _) = places.first()?;
    if places.iter().any(|(it, _)| it.expressions != first.expressions) {
        return None;
    }
    let labels = labels(session, &places);
    let mut list: Vec<(&str, &Pass)> = Vec::new();
    for ((_, passes), label) in places.iter().zip(&labels.each) {
        list.extend(passes.first.iter().map(|it| (label.as_str(), it)));
    }
    list.sort_by_key(|(_, pass)| pass.order);
    let has_who = differ(list.iter().map(|(_, it)| it.who.as_deref()));
    let names = first.expressions.iter().map(|it| column(&it.text));
    let head = labels.head.into_iter().chain(names).collect::<Vec<_>>().join(" · ");
    let mut rows = vec![Row::head(head)];
    for (number, (label, pass)) in (1..).zip(&list) {
        let values = passes::values(session, pass, has_who, bytes);
        let text =
            if values.is_empty() { (*label).to_owned() } else { format!("{label} · {values}") };
        rows.push(Row::cells(number, text));
    }
    let counts =
        places.iter().zip(&labels.each).map(|((_, it), label)| format!("{label}: {}", it.total));
    Some(Telling {
        rows,
        counts: vec![counts.collect::<Vec<_>>().join(", ")],
        data: places.iter().map(|(planned, passes)| passes::data(planned, passes)).collect(),
    })
}

struct Labels {
    /// What all places have in common: `filters.py in do_truncate`.
    head: Option<String>,
    /// What tells them apart: the line, or file and line.
    each: Vec<String>,
}

fn labels(session: &Session, places: &[(&Planned, &Passes)]) -> Labels {
    let sites: Vec<_> = places.iter().filter_map(|(_, it)| it.site.as_ref()).collect();
    let files: BTreeSet<&str> = sites.iter().map(|(file, ..)| file.as_str()).collect();
    let functions: BTreeSet<Option<&str>> = sites.iter().map(|(.., it)| it.as_deref()).collect();
    let (true, Some((file, _, function))) = (files.len() == 1, sites.first()) else {
        let each = places.iter().map(|(it, _)| it.label.clone()).collect();
        return Labels { head: None, each };
    };
    let is_there =
        |it: &Planned| it.place.file().is_some_and(|of| of == std::path::Path::new(file));
    let each = places.iter().map(|(planned, passes)| match (&passes.site, &planned.place) {
        (Some((_, line, _)), _) => line.to_string(),
        (None, holdpoint_engine::breakpoints::Place::Line { line, .. }) if is_there(planned) => {
            line.to_string()
        }
        (None, _) => planned.label.clone(),
    });
    let each = each.collect();
    let path = places.first().map(|(it, _)| passes::path(session, it, file)).unwrap_or_default();
    let function = function.as_deref().filter(|_| functions.len() == 1);
    let function = function.map(|it| format!(" in {it}")).unwrap_or_default();
    Labels { head: Some(format!("{path}{function}")), each }
}
