//! Which values are kept, without asking the store: the ones used of late, with their short text.
//!
//! Two halves: what is used moves to the young one; when that is full, the old one is forgotten.
//! A value forgotten here is still in the store, which is then asked.

use std::collections::HashMap;

use holdpoint_store::Cid;

use crate::limits;

/// Half of a CID's hash is as unmistakable as the whole, and half as large.
type Key = [u8; 16];

#[derive(Default)]
pub(super) struct RecentValues {
    young: HashMap<Key, Entry>,
    old: HashMap<Key, Entry>,
    /// What was used last in this era or before is gone from the store.
    floor: i64,
}

#[derive(Clone)]
struct Entry {
    era: i64,
    short: Box<str>,
}

/// What is known of a value.
pub(super) struct Recent {
    pub(super) short: Box<str>,
    /// The store has to hear that it is used again.
    pub(super) aged: bool,
}

impl RecentValues {
    pub(super) fn has(&self, cid: &Cid) -> bool {
        self.last_used(cid).is_some()
    }

    /// Whether it was used in this very era, so that nobody can have dropped it: what was used before may be
    /// gone by another process, and the store is asked.
    pub(super) fn is_fresh(&self, cid: &Cid, era: i64) -> bool {
        self.last_used(cid).is_some_and(|used| used >= era)
    }

    fn last_used(&self, cid: &Cid) -> Option<i64> {
        let key = key(cid);
        let entry = self.young.get(&key).or_else(|| self.old.get(&key));
        entry.map(|entry| entry.era).filter(|era| *era > self.floor)
    }

    /// Nothing is known, but for what is gone in any case.
    pub(super) fn emptied(&self) -> RecentValues {
        RecentValues { floor: self.floor, ..RecentValues::default() }
    }

    /// Finds a value and marks it as used in `era`.
    pub(super) fn using(&mut self, cid: &Cid, era: i64) -> Option<Recent> {
        let key = key(cid);
        let entry = match self.young.get_mut(&key) {
            Some(entry) => entry,
            None => {
                let entry = self.old.remove(&key)?;
                self.make_room();
                self.young.entry(key).or_insert(entry)
            }
        };
        if entry.era <= self.floor {
            self.young.remove(&key);
            return None;
        }
        let aged = entry.era < era;
        entry.era = entry.era.max(era);
        Some(Recent { short: entry.short.clone(), aged })
    }

    pub(super) fn add(&mut self, cid: &Cid, era: i64, short: Box<str>) {
        self.make_room();
        self.young.insert(key(cid), Entry { era, short });
    }

    pub(super) fn raise_floor(&mut self, era: i64) {
        self.floor = self.floor.max(era);
    }

    fn make_room(&mut self) {
        if self.young.len() >= limits::KNOWN_VALUES / 2 {
            self.old = std::mem::take(&mut self.young);
        }
    }
}

fn key(cid: &Cid) -> Key {
    let mut key = [0; 16];
    for (to, from) in key.iter_mut().zip(cid.0) {
        *to = from;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cid(number: u64) -> Cid {
        crate::calls::value::cid_of(&number.to_be_bytes())
    }

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let mut recent = RecentValues::default();
        recent.add(&cid(0), 1, "zero".into());
        for number in 1..200_000 {
            recent.add(&cid(number), 1, "x".into());
            assert!(recent.using(&cid(0), 1).is_some(), "{number}");
        }
        assert!(recent.using(&cid(1), 1).is_none());
        assert!(recent.young.len() + recent.old.len() <= limits::KNOWN_VALUES + 1);
    }

    #[test]
    fn a_value_of_a_new_era_is_told_once_and_one_below_the_floor_is_gone() {
        let mut recent = RecentValues::default();
        recent.add(&cid(1), 1, "x".into());
        assert!(!recent.using(&cid(1), 1).unwrap().aged);
        assert!(recent.using(&cid(1), 2).unwrap().aged);
        assert!(!recent.using(&cid(1), 2).unwrap().aged);
        recent.raise_floor(2);
        assert!(recent.using(&cid(1), 3).is_none());
    }

    /// Another process may have dropped what was used before: only what was used in this era is sure to be there.
    #[test]
    fn a_value_is_fresh_in_the_era_of_its_use() {
        let mut known = RecentValues::default();
        known.add(&cid(1), 1, "x".into());
        assert!(known.is_fresh(&cid(1), 1) && !known.is_fresh(&cid(1), 2) && known.has(&cid(1)));
        // Whoever only looks does not keep it from being told.
        assert!(known.using(&cid(1), 2).unwrap().aged);
        assert!(known.is_fresh(&cid(1), 2));
        assert!(!known.emptied().has(&cid(1)));
    }
}
