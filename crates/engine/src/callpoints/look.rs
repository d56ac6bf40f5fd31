//! Values as they come are looked at: whether they are what their CID says, and how they are shown.
//!
//! What is large is looked at aside. How a value is shown matters only if it is new, and is found out
//! before anybody is kept waiting for the books.

use holdpoint_store::era;

use super::Callpoints;
use crate::{
    aside::aside,
    calls::{
        clock, pretty,
        value::{BadItem, Checked, Item},
    },
    limits,
};

/// Items that were looked at, in their order.
pub(super) struct Looked {
    pub(super) found: Vec<Found>,
    pub(super) bad: Option<BadItem>,
}

/// A checked value, and how it is shown if it is new.
pub(super) struct Found {
    pub(super) checked: Checked,
    pub(super) shown: Option<pretty::ShownValue>,
}

impl Callpoints {
    /// Shows those that nobody sent before.
    pub(super) fn show(&self, found: &mut [Found]) {
        let new: Vec<bool> = {
            let live = self.live();
            let now = era(clock::now());
            let is_new = |it: &Found| !live.recent.is_fresh(&it.checked.cid, now);
            found.iter().map(|it| it.shown.is_none() && is_new(it)).collect()
        };
        for (found, _) in found.iter_mut().zip(new).filter(|(_, new)| *new) {
            found.shown = Some(pretty::of(found.checked.format, &found.checked.bytes));
        }
    }
}

/// Whether items can be looked at here and now.
pub(super) fn are_light<'i>(items: impl IntoIterator<Item = &'i Item>) -> bool {
    items.into_iter().map(Item::weight).sum::<usize>() <= limits::ASIDE_BYTES
}

/// Checks items; large ones aside, because hashing a megabyte holds up every other call.
pub(super) async fn look_at(items: &[&Item], lenient: bool) -> Looked {
    if are_light(items.iter().copied()) {
        return look(items.iter().copied(), lenient, false);
    }
    let items: Vec<Item> = items.iter().map(|item| (*item).clone()).collect();
    let looked = Box::pin(aside(move || look(&items, lenient, true))).await;
    looked.unwrap_or(Looked { found: Vec::new(), bad: Some(BadItem::Dill) })
}

/// Checks values that came without a call; those that are wrong are counted.
pub(super) async fn look_each(items: Vec<Item>) -> (Vec<Found>, usize) {
    let light = are_light(&items);
    let look = move || {
        let total = items.len();
        let good = items.iter().filter_map(|item| look([item], false, true).found.pop());
        let good: Vec<Found> = good.collect();
        let bad = total - good.len();
        (good, bad)
    };
    if light {
        return look();
    }
    aside(look).await.unwrap_or_default()
}

pub(super) fn look<'i>(
    items: impl IntoIterator<Item = &'i Item>,
    lenient: bool,
    show: bool,
) -> Looked {
    let mut found = Vec::new();
    for item in items {
        match item.check(lenient) {
            Ok(None) => {}
            Ok(Some(checked)) => {
                let shown = show.then(|| pretty::of(checked.format, &checked.bytes));
                found.push(Found { checked, shown });
            }
            Err(bad) => return Looked { found, bad: Some(bad) },
        }
    }
    Looked { found, bad: None }
}
