//! The walk over two runs: lists of calls are aligned, what is equal is passed over, what is left differs.

use std::collections::{HashMap, VecDeque};

use super::{DiffAsk, DifferenceKind};
use crate::{
    ask::is_named,
    columns::Field,
    damage::Damage,
    limits,
    recording::{CallId, Recording},
};

/// What is still to be compared, the next one last.
enum Work {
    Lists(Vec<CallId>, Vec<CallId>),
    Ends(CallId, CallId),
}

/// Pairs, and what is left of the first and of the second.
type AlikeRoots = (Vec<(CallId, CallId)>, Vec<CallId>, Vec<CallId>);

/// Two runs while they are compared.
pub(super) struct TwoRuns<'a> {
    pub(super) one: &'a Recording,
    pub(super) other: &'a Recording,
    pub(super) ask: &'a DiffAsk,
    pub(super) found: Vec<(DifferenceKind, Option<CallId>, Option<CallId>)>,
    pub(super) total: u64,
    pub(super) masked: u64,
    pub(super) opened: usize,
}

impl TwoRuns<'_> {
    pub(super) fn run(&mut self, one: Vec<CallId>, other: Vec<CallId>) -> Result<(), Damage> {
        let (one, other) = self.without_moved(one, other)?;
        let (pairs, one, other) = self.alike(one, other)?;
        let mut work = vec![Work::Lists(one, other)];
        work.extend(
            pairs.into_iter().rev().map(|(one, other)| Work::Lists(vec![one], vec![other])),
        );
        while let Some(next) = work.pop() {
            self.opened += 1;
            if self.opened > limits::COMPARED_MAX {
                return Ok(());
            }
            match next {
                Work::Lists(one, other) => self.lists(&one, &other, &mut work)?,
                Work::Ends(one, other) => self.ends(one, other)?,
            }
        }
        Ok(())
    }

    /// Outermost calls without those that both runs made in another order: callbacks come as their events do.
    fn without_moved(
        &self,
        one: Vec<CallId>,
        other: Vec<CallId>,
    ) -> Result<(Vec<CallId>, Vec<CallId>), Damage> {
        let of = |of: &Recording, calls: &[CallId]| -> Result<Vec<u64>, Damage> {
            calls.iter().map(|it| of.get(*it, Field::Hash)).collect()
        };
        let (mine, their) = (of(self.one, &one)?, of(self.other, &other)?);
        if mine == their {
            return Ok((one, other));
        }
        let mut counts: HashMap<u64, (usize, usize)> = HashMap::new();
        mine.iter().for_each(|it| counts.entry(*it).or_default().0 += 1);
        their.iter().for_each(|it| counts.entry(*it).or_default().1 += 1);
        // Those that one run made more often stay: which of them it is, their places say.
        let is_left = |hash: &u64| counts.get(hash).is_none_or(|(one, other)| one != other);
        let left = |calls: Vec<CallId>, hashes: &[u64]| {
            let both = calls.into_iter().zip(hashes).filter(|(_, hash)| is_left(hash));
            both.map(|(call, _)| call).collect()
        };
        Ok((left(one, &mine), left(other, &their)))
    }

    /// Of those that are left, the same calls with the same arguments, wherever they stand; then the rest of both.
    fn alike(&self, one: Vec<CallId>, other: Vec<CallId>) -> Result<AlikeRoots, Damage> {
        let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (at, call) in other.iter().enumerate() {
            places.entry(self.other.key_of(*call)?.1).or_default().push_back(at);
        }
        let mut theirs: Vec<Option<CallId>> = other.into_iter().map(Some).collect();
        let (mut pairs, mut left) = (Vec::new(), Vec::new());
        for call in one {
            let at = places.get_mut(&self.one.key_of(call)?.1).and_then(VecDeque::pop_front);
            match at.and_then(|it| theirs.get_mut(it)).and_then(Option::take) {
                Some(their) => pairs.push((call, their)),
                None => left.push(call),
            }
        }
        Ok((pairs, left, theirs.into_iter().flatten().collect()))
    }

    fn ends(&mut self, one: CallId, other: CallId) -> Result<(), Damage> {
        if self.one.end_hash(one)? != self.other.end_hash(other)? {
            self.add(DifferenceKind::Result, Some(one), Some(other));
        } else if self.one.is_masked(one, self.other, other)? {
            self.masked += 1;
        }
        Ok(())
    }

    fn add(&mut self, kind: DifferenceKind, one: Option<CallId>, other: Option<CallId>) {
        self.total += 1;
        if self.found.len() < limits::ALIGNED_MAX {
            self.found.push((kind, one, other));
        }
    }

    fn is_ignored(&self, of: &Recording, call: CallId) -> Result<bool, Damage> {
        if self.ask.ignore.is_empty() {
            return Ok(false);
        }
        let function = of.small(call, Field::Function)?;
        let name = of.process(call.process)?.qualified(function);
        Ok(self.ask.ignore.iter().any(|it| is_named(name, it)))
    }

    fn lists(
        &mut self,
        one: &[CallId],
        other: &[CallId],
        work: &mut Vec<Work>,
    ) -> Result<(), Damage> {
        let kept = |of: &Recording, calls: &[CallId]| -> Result<Vec<CallId>, Damage> {
            let mut kept = Vec::new();
            for call in calls {
                if !self.is_ignored(of, *call)? {
                    kept.push(*call);
                }
            }
            Ok(kept)
        };
        let (one, other) = (kept(self.one, one)?, kept(self.other, other)?);
        let mut pairs = Vec::new();
        for (mine, their) in align(self.one, &one, self.other, &other)? {
            match (mine, their) {
                (Some(mine), Some(their)) => pairs.push((mine, their)),
                (Some(mine), None) => self.add(DifferenceKind::OnlyFirst, Some(mine), None),
                (None, Some(their)) => self.add(DifferenceKind::OnlySecond, None, Some(their)),
                (None, None) => {}
            }
        }
        // The first pair is to be looked at first, so it is put last; of each, its children before its end.
        for (mine, their) in pairs.into_iter().rev() {
            let same = self.one.get(mine, Field::Hash)? == self.other.get(their, Field::Hash)?;
            if same {
                continue;
            }
            if self.one.key_of(mine)?.1 != self.other.key_of(their)?.1 {
                self.add(DifferenceKind::Arguments, Some(mine), Some(their));
            }
            work.push(Work::Ends(mine, their));
            work.push(Work::Lists(self.one.own_children(mine)?, self.other.own_children(their)?));
        }
        Ok(())
    }
}

type Aligned = Vec<(Option<CallId>, Option<CallId>)>;

/// The calls of two lists that belong together: what is the same at both ends, and between them the longest common
/// sequence of functions with their arguments, then of functions.
fn align(
    one: &Recording,
    ours: &[CallId],
    other: &Recording,
    theirs: &[CallId],
) -> Result<Aligned, Damage> {
    let hashes = |of: &Recording, calls: &[CallId]| -> Result<Vec<u64>, Damage> {
        calls.iter().map(|it| of.get(*it, Field::Hash)).collect()
    };
    let (mine, their) = (hashes(one, ours)?, hashes(other, theirs)?);
    let begin = mine.iter().zip(&their).take_while(|(one, other)| one == other).count();
    let end = mine.iter().skip(begin).rev().zip(their.iter().skip(begin).rev());
    let end = end.take_while(|(one, other)| one == other).count();
    let middle =
        |calls: &[CallId]| calls.get(begin..calls.len() - end).unwrap_or_default().to_vec();
    let (ours, theirs) = (middle(ours), middle(theirs));
    let keys = |of: &Recording, calls: &[CallId]| -> Result<Vec<(u64, u64)>, Damage> {
        calls.iter().map(|it| of.key_of(*it)).collect()
    };
    if ours.len() > limits::ALIGNED_MAX || theirs.len() > limits::ALIGNED_MAX {
        let count = ours.len().max(theirs.len());
        return Ok((0..count).map(|at| (ours.get(at).copied(), theirs.get(at).copied())).collect());
    }
    let (mine, their) = (keys(one, &ours)?, keys(other, &theirs)?);
    Ok(common(&ours, &mine, &theirs, &their))
}

/// By the longest common sequence; an equal pair with equal arguments counts twice.
fn common(
    ours: &[CallId],
    mine: &[(u64, u64)],
    theirs: &[CallId],
    their: &[(u64, u64)],
) -> Aligned {
    let (rows, columns) = (mine.len() + 1, their.len() + 1);
    let mut best = vec![0_u32; rows * columns];
    let worth = |one: &(u64, u64), other: &(u64, u64)| match (one.1 == other.1, one.0 == other.0) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 0,
    };
    let at = |row: usize, column: usize| row * columns + column;
    let get = |best: &[u32], row, column| best.get(at(row, column)).copied().unwrap_or(0);
    for (row, one) in mine.iter().enumerate().rev() {
        for (column, other) in their.iter().enumerate().rev() {
            let value = worth(one, other);
            let both = if value > 0 { value + get(&best, row + 1, column + 1) } else { 0 };
            let most = both.max(get(&best, row + 1, column)).max(get(&best, row, column + 1));
            best.get_mut(at(row, column)).into_iter().for_each(|it| *it = most);
        }
    }
    let (mut row, mut column, mut out) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (mine.get(row), their.get(column)) {
        let value = worth(one, other);
        let is_pair =
            value > 0 && get(&best, row, column) == value + get(&best, row + 1, column + 1);
        if is_pair {
            out.push((ours.get(row).copied(), theirs.get(column).copied()));
            (row, column) = (row + 1, column + 1);
        } else if get(&best, row + 1, column) >= get(&best, row, column + 1) {
            out.push((ours.get(row).copied(), None));
            row += 1;
        } else {
            out.push((None, theirs.get(column).copied()));
            column += 1;
        }
    }
    out.extend(ours.get(row..).unwrap_or_default().iter().map(|it| (Some(*it), None)));
    out.extend(theirs.get(column..).unwrap_or_default().iter().map(|it| (None, Some(*it))));
    out
}
