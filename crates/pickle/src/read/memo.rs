//! What a pickle remembers, to name it again.

use std::collections::HashMap;

use crate::node::Id;

/// Picklers count from zero, so nearly all of a memo is a plain list; a hostile or
/// hand-optimised one may name any number, which must not cost as many places.
#[derive(Debug, Default)]
pub(super) struct Memo {
    dense: Vec<Id>,
    sparse: HashMap<u64, Id>,
}

impl Memo {
    #[inline]
    pub(super) fn push(&mut self, id: Id) {
        self.dense.push(id);
    }

    /// Whether there was room: `sparse_max` entries may be out of order.
    pub(super) fn set(&mut self, index: u64, id: Id, sparse_max: usize) -> bool {
        let dense = self.dense.len() as u64;
        if let Some(place) = usize::try_from(index).ok().and_then(|at| self.dense.get_mut(at)) {
            *place = id;
        } else if index == dense {
            self.dense.push(id);
        } else if index == 1 && dense == 0 {
            // Python 2 counts from one.
            self.dense.extend([id, id]);
        } else if self.sparse.len() < sparse_max {
            self.sparse.insert(index, id);
        } else {
            return false;
        }
        true
    }

    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<Id> {
        let dense = usize::try_from(index).ok().and_then(|index| self.dense.get(index));
        dense.or_else(|| self.sparse.get(&index)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_index_costs_one_entry() {
        let mut memo = Memo::default();
        assert!(memo.set(u64::MAX, Id::TRUE, 1));
        assert!(!memo.set(u64::MAX - 1, Id::TRUE, 1), "no room for a second");
        assert!(memo.set(0, Id::NONE, 1) && memo.set(1, Id::FALSE, 1));
        assert_eq!(memo.get(u64::MAX), Some(Id::TRUE));
        assert_eq!((memo.get(0), memo.get(1)), (Some(Id::NONE), Some(Id::FALSE)));
        assert_eq!((memo.get(2), memo.get(u64::MAX - 1)), (None, None));
    }

    #[test]
    fn a_memo_that_counts_from_one_stays_dense() {
        let mut memo = Memo::default();
        for index in 1..100 {
            assert!(memo.set(index, Id::TRUE, 0), "{index}");
        }
        assert_eq!(memo.get(99), Some(Id::TRUE));
    }
}
