//! Which calls there were: as a tree, as a list that a condition narrows, or counted.

use std::{cell::Cell, collections::HashSet};

use super::NextAsk;
use crate::{
    columns::{Field, OPEN, SUSPENDED, SWALLOWED},
    condition::{Condition, Judge, JudgedCall},
    damage::Damage,
    head::NONE,
    limits,
    recording::{AskError, CallId, Process, Recording},
    show::{CallShown, LONG, SHORT},
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallOrder {
    #[default]
    First,
    Last,
    Slowest,
    /// As they ended; those that have not, last.
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallsForm {
    Tree,
    List,
    Count,
}

/// Which calls are wanted.
#[derive(Debug, Clone, Default)]
pub struct CallsAsk {
    pub under: Option<CallId>,
    pub function: Option<String>,
    /// A condition over recorded values.
    pub condition: Option<String>,
    pub order: CallOrder,
    /// Of a tree.
    pub depth: Option<u32>,
    pub limit: Option<usize>,
    pub form: Option<CallsForm>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallsFound {
    pub form: CallsForm,
    /// Of the wanted functions, whatever the condition says.
    pub considered: u64,
    pub matched: u64,
    pub rows: Vec<ListedCall>,
    pub counts: Vec<FunctionTally>,
    /// Calls of these functions without a record of their own.
    pub counted_only: u64,
    /// How often only a part of a value was kept, so that the condition could not be decided.
    pub unsure: u64,
    pub missing: Vec<String>,
    pub next: Option<NextAsk>,
}

/// The calls of one function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionTally {
    pub function: String,
    pub calls: u64,
    /// Those for which the condition holds, and of these the ones that were left and never resumed.
    pub matched: u64,
    pub suspended: u64,
    /// Of those that matched; what is suspended has none.
    pub milliseconds: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ListedCall {
    pub depth: u32,
    pub call: CallShown,
    pub notes: Vec<String>,
    /// Calls that it made and that are not shown.
    pub hidden: u64,
    /// Calls of the same function that stand behind it, beside it, and are not shown.
    pub alike: u64,
}

const ROOTS: &[&str] =
    &["args", "result", "error", "ms", "function", "file", "raised", "swallowed"];

/// Rows of an answer, and levels of a tree, unless told.
const ROWS: usize = 20;
const TREE_ROWS: usize = 40;
const DEPTH: u32 = 3;

/// More siblings of one function than this are told by their number.
const ALIKE: usize = 3;

impl Recording {
    pub fn calls(&self, ask: &CallsAsk) -> Result<CallsFound, AskError> {
        let is_narrow = ask.function.is_some() || ask.condition.is_some();
        let form = match ask.form {
            Some(form) => form,
            None if is_narrow || ask.order != CallOrder::First => CallsForm::List,
            None => CallsForm::Tree,
        };
        let condition = match &ask.condition {
            Some(text) => Some(Condition::parse(text, ROOTS)?),
            None => None,
        };
        let functions = match &ask.function {
            Some(name) => Some(self.functions_named(name)?.into_iter().collect::<HashSet<_>>()),
            None => None,
        };
        if let Some(condition) = &condition {
            self.check_parameters(condition, functions.as_ref())?;
        }
        if form == CallsForm::Tree {
            return Ok(self.tree(ask)?);
        }
        let picked = self.pick(ask, condition.as_ref(), functions.as_ref())?;
        self.listed(ask, form, picked, functions.as_ref())
    }

    /// A parameter that no wanted function has is a mistake.
    fn check_parameters(
        &self,
        condition: &Condition,
        functions: Option<&HashSet<(u32, u32)>>,
    ) -> Result<(), AskError> {
        let Some(functions) = functions else { return Ok(()) };
        let mut known = Vec::new();
        for (process, function) in functions {
            let of = self.process(*process)?;
            let at = of.function(*function)?;
            known.extend(at.slots.iter().take(at.parameters as usize).map(|it| of.string(*it)));
        }
        known.sort_unstable();
        known.dedup();
        for (root, way) in condition.paths() {
            let Some(name) = way.first().filter(|_| root == "args") else { continue };
            if !known.contains(&name.as_str()) {
                let near = crate::condition::nearest(name, known.iter().copied());
                let near =
                    near.map(|it| format!("; did you mean `args.{it}`?")).unwrap_or_default();
                let what = format!("no such function has the parameter `{name}`");
                let hint = format!("its parameters: {}{near}", known.join(", "));
                return Err(AskError::Invalid { what, hint });
            }
        }
        Ok(())
    }

    fn pick(
        &self,
        ask: &CallsAsk,
        condition: Option<&Condition>,
        functions: Option<&HashSet<(u32, u32)>>,
    ) -> Result<Picked, AskError> {
        let limit = ask.limit.unwrap_or(ROWS).clamp(1, limits::ALIGNED_MAX);
        let wanted = |process: u32, function: u32| {
            functions.is_none_or(|it| it.contains(&(process, function)))
        };
        let mut picked = Picked { order: ask.order, limit, ..Picked::default() };
        picked.counts = self.processes().iter().map(|it| FunctionCounts::new(it, wanted)).collect();
        let unsure = Cell::new(0);
        let mut judge = condition.map(|it| Judge::new(self, it));
        let mut one = |row: &JudgedCall, times: &dyn Fn() -> Result<(u64, u64), Damage>| {
            let Some(count) = picked.count(row) else { return Ok(()) };
            count.calls += 1;
            if let Some(judge) = &mut judge
                && !judge.holds(row, &unsure)?
            {
                return Ok(());
            }
            picked.take(row, times()?);
            Ok(())
        };
        match ask.under {
            Some(top) => self.each_below(top, &mut one)?,
            None => self.each_call(condition.is_some(), wanted, &mut one)?,
        }
        picked.unsure = unsure.get();
        Ok(picked)
    }

    /// Every call of functions that are wanted, column by column.
    fn each_call(
        &self,
        has_condition: bool,
        wanted: impl Fn(u32, u32) -> bool,
        visit: &mut CallVisitor<'_>,
    ) -> Result<(), Damage> {
        for process in self.processes() {
            let number = process.number;
            let known = 0..process.head.functions.len() as u32;
            let wanted: Vec<bool> = known.map(|it| wanted(number, it)).collect();
            let blocks = (process.head.calls as usize).div_ceil(limits::BLOCK) as u32;
            for block in 0..blocks {
                let functions = self.column(number, block, Field::Function)?;
                let is_wanted = |it: &u64| {
                    usize::try_from(*it).is_ok_and(|it| wanted.get(it).is_none_or(|it| *it))
                };
                if !functions.iter().any(is_wanted) {
                    continue;
                }
                let column = |field| self.column(number, block, field);
                let results = match has_condition {
                    true => Some(column(Field::Result)?),
                    false => None,
                };
                let (endings, begin, took) =
                    (column(Field::Ending)?, column(Field::Begin)?, column(Field::Took)?);
                let first = block * limits::BLOCK as u32;
                for (at, function) in functions.iter().enumerate() {
                    let call = CallId { process: number, number: first + at as u32 };
                    if !is_wanted(function) || call.number >= process.head.calls {
                        continue;
                    }
                    let small = |column: &[u64]| {
                        let number = column.get(at).copied().ok_or(Damage::Unknown("call"))?;
                        u32::try_from(number).map_err(|_| Damage::Number)
                    };
                    let function = u32::try_from(*function).map_err(|_| Damage::Number)?;
                    let result = results.as_ref().map_or(Ok(NONE), |it| small(it))?;
                    let ending = small(&endings)?;
                    let one =
                        |column: &[u64]| column.get(at).copied().ok_or(Damage::Unknown("call"));
                    let times = || Ok((one(&begin)?, one(&took)?));
                    visit(&JudgedCall { call, function, ending, result }, &times)?;
                }
            }
        }
        Ok(())
    }

    /// Every call below a call.
    fn each_below(&self, top: CallId, visit: &mut CallVisitor<'_>) -> Result<(), Damage> {
        let mut open: Vec<CallId> = vec![top];
        while let Some(call) = open.pop() {
            if call != top {
                let function = self.small(call, Field::Function)?;
                let ending = self.small(call, Field::Ending)?;
                let result = self.small(call, Field::Result)?;
                let row = JudgedCall { call, function, ending, result };
                let times = || Ok((self.get(call, Field::Begin)?, self.get(call, Field::Took)?));
                visit(&row, &times)?;
            }
            let at = open.len();
            for child in self.children(call) {
                open.push(child?);
            }
            open.get_mut(at..).unwrap_or_default().reverse();
        }
        Ok(())
    }

    fn listed(
        &self,
        ask: &CallsAsk,
        form: CallsForm,
        picked: Picked,
        functions: Option<&HashSet<(u32, u32)>>,
    ) -> Result<CallsFound, AskError> {
        let mut rows = Vec::new();
        if form == CallsForm::List {
            for (_, call) in &picked.rows {
                rows.push(self.row(*call, 0)?);
            }
        }
        let mut counted_only = 0;
        for (process, function) in functions.into_iter().flatten() {
            let tally = self.process(*process)?.head.tallies.get(*function as usize);
            counted_only += tally.map_or(0, |it| it.counted);
        }
        let mut counts = Vec::new();
        for (process, of) in self.processes().iter().zip(&picked.counts) {
            for (function, PickedCount { calls, matched, suspended, ticks }) in of.called() {
                let milliseconds = process.milliseconds(ticks);
                let function = process.qualified(function).to_owned();
                counts.push(FunctionTally { function, calls, matched, suspended, milliseconds });
            }
        }
        counts.sort_by(|one, other| {
            let rank = |it: &FunctionTally| (it.matched, it.calls);
            rank(other).cmp(&rank(one)).then_with(|| one.function.cmp(&other.function))
        });
        let most = counts.first().filter(|it| it.matched > 0 && ask.function.is_none());
        let of_most = || most.map(|it| NextAsk::Calls { function: it.function.clone() });
        let next = rows.first().map(|it| NextAsk::Frame(it.call.id)).or_else(of_most);
        let (considered, matched, unsure) = (picked.considered, picked.matched, picked.unsure);
        let missing = self.missing();
        Ok(CallsFound {
            form,
            considered,
            matched,
            rows,
            counts,
            counted_only,
            unsure,
            missing,
            next,
        })
    }

    pub(super) fn row(&self, call: CallId, depth: u32) -> Result<ListedCall, Damage> {
        let notes = self.notes_of(call)?;
        Ok(ListedCall { depth, call: self.call_shown(call, SHORT)?, notes, hidden: 0, alike: 0 })
    }

    /// What else there is to say of a call: exceptions that ended in it.
    pub(crate) fn notes_of(&self, call: CallId) -> Result<Vec<String>, Damage> {
        if self.small(call, Field::Ending)? & SWALLOWED == 0 {
            return Ok(Vec::new());
        }
        let of = self.process(call.process)?;
        let here = of.head.exceptions.kept.iter().filter(|it| it.is_swallowed());
        let here = here.filter_map(|it| {
            it.handled.filter(|(by, _)| *by == call.number).map(|(_, line)| (it, line))
        });
        let told = here.map(|(it, line)| {
            format!("swallowed {} at :{line}", self.shown(call.process, it.value, LONG / 2))
        });
        Ok(told.take(2).collect())
    }

    fn tree(&self, ask: &CallsAsk) -> Result<CallsFound, Damage> {
        let rows_max = ask.limit.unwrap_or(TREE_ROWS).clamp(1, limits::ALIGNED_MAX);
        let depth_max = ask.depth.unwrap_or(DEPTH);
        let mut rows = Vec::new();
        let mut open: Vec<(CallId, u32, u64)> = Vec::new();
        match ask.under {
            Some(call) => open.push((call, 0, 0)),
            None => {
                for process in self.processes().iter().rev() {
                    let roots = self.roots(process.number).collect::<Result<Vec<_>, _>>()?;
                    open.extend(self.condensed(&roots, 0)?.into_iter().rev());
                }
            }
        }
        let (mut matched, mut left) = (0, 0);
        while let Some((call, depth, alike)) = open.pop() {
            matched += 1 + alike;
            let children = self.children(call).collect::<Result<Vec<_>, _>>()?;
            if rows.len() >= rows_max {
                left += 1;
                continue;
            }
            let mut row = self.row(call, depth)?;
            row.alike = alike;
            if depth >= depth_max {
                row.hidden = children.len() as u64;
            } else {
                open.extend(self.condensed(&children, depth + 1)?.into_iter().rev());
            }
            rows.push(row);
        }
        let mut missing = self.missing();
        if left > 0 {
            missing.insert(0, format!("{left} further calls of these levels: ask with a larger `n`, or `under` one of them"));
        }
        let hidden = rows.iter().find(|it| it.hidden > 0).map(|it| it.call.id);
        let next = hidden.map(|it| NextAsk::Tree(Some(it)));
        let considered = self.processes().iter().map(|it| u64::from(it.head.calls)).sum();
        let form = CallsForm::Tree;
        let (counts, counted_only, unsure) = (Vec::new(), 0, 0);
        Ok(CallsFound {
            form,
            considered,
            matched,
            rows,
            counts,
            counted_only,
            unsure,
            missing,
            next,
        })
    }

    /// Siblings, of many of one function the first and the last.
    fn condensed(&self, calls: &[CallId], depth: u32) -> Result<Vec<(CallId, u32, u64)>, Damage> {
        let mut out: Vec<(CallId, u32, u64)> = Vec::new();
        let mut functions = Vec::with_capacity(calls.len());
        for call in calls {
            functions.push(self.small(*call, Field::Function)?);
        }
        let pairs: Vec<(u32, CallId)> = functions.into_iter().zip(calls.iter().copied()).collect();
        for run in pairs.chunk_by(|one, other| one.0 == other.0) {
            match run {
                [(_, first), middle @ .., (_, last)] if run.len() > ALIKE => {
                    out.push((*first, depth, middle.len() as u64));
                    out.push((*last, depth, 0));
                }
                run => out.extend(run.iter().map(|(_, call)| (*call, depth, 0))),
            }
        }
        Ok(out)
    }
}

/// What was found so far.
#[derive(Default)]
struct Picked {
    order: CallOrder,
    limit: usize,
    considered: u64,
    matched: u64,
    unsure: u64,
    /// With what they are ordered by.
    rows: Vec<(u64, CallId)>,
    /// Of each process.
    counts: Vec<FunctionCounts>,
}

/// Calls of a function, those that were picked, of these the ones that are suspended, and the ticks of the others.
#[derive(Debug, Clone, Copy, Default)]
struct PickedCount {
    calls: u64,
    matched: u64,
    suspended: u64,
    ticks: u64,
}

/// Of each function: whether it is wanted, and its counts.
#[derive(Default)]
struct FunctionCounts(Vec<(bool, PickedCount)>);

impl FunctionCounts {
    fn new(process: &Process, wanted: impl Fn(u32, u32) -> bool) -> FunctionCounts {
        let all = 0..process.head.functions.len() as u32;
        FunctionCounts(all.map(|it| (wanted(process.number, it), PickedCount::default())).collect())
    }

    fn called(&self) -> impl Iterator<Item = (u32, PickedCount)> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, (_, it))| it.calls > 0).map(|(at, (_, it))| (at as u32, *it))
    }
}

/// Is given a call, and how to learn when it began and how long it took.
type CallVisitor<'a> =
    dyn FnMut(&JudgedCall, &dyn Fn() -> Result<(u64, u64), Damage>) -> Result<(), Damage> + 'a;

impl Picked {
    /// The counts of its function, if that is wanted.
    fn count(&mut self, row: &JudgedCall) -> Option<&mut PickedCount> {
        let of = self.counts.get_mut(row.call.process as usize)?;
        let (is_wanted, count) = of.0.get_mut(row.function as usize)?;
        if !*is_wanted {
            return None;
        }
        self.considered += 1;
        Some(count)
    }

    fn take(&mut self, row: &JudgedCall, (begin, took): (u64, u64)) {
        let call = row.call;
        let is_suspended = row.ending & 3 == SUSPENDED;
        let of = self.counts.get_mut(call.process as usize);
        if let Some((_, count)) = of.and_then(|it| it.0.get_mut(row.function as usize)) {
            count.matched += 1;
            count.suspended += u64::from(is_suspended);
            if !is_suspended {
                count.ticks = count.ticks.saturating_add(took);
            }
        }
        self.matched += 1;
        match self.order {
            CallOrder::First => {
                if self.rows.len() < self.limit {
                    self.rows.push((took, call));
                }
            }
            CallOrder::Last => {
                if self.rows.len() >= self.limit {
                    self.rows.remove(0);
                }
                self.rows.push((took, call));
            }
            // Nobody knows how long what was never resumed would take: the least comes last.
            CallOrder::Slowest => self.insert(u64::MAX - if is_suspended { 0 } else { took }, call),
            CallOrder::Ended => {
                let has_ended = !matches!(row.ending & 3, OPEN | SUSPENDED);
                self.insert(if has_ended { begin.saturating_add(took) } else { u64::MAX }, call);
            }
        }
    }

    /// Among the others, the least first.
    fn insert(&mut self, rank: u64, call: CallId) {
        let at = self.rows.partition_point(|(it, _)| *it <= rank);
        if at < self.limit {
            self.rows.insert(at, (rank, call));
            self.rows.truncate(self.limit);
        }
    }
}
