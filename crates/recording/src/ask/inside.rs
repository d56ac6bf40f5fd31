//! The calls that one call made, some at a time: for a tree that is opened level by level, however many there are.

use super::calls::ListedCall;
use crate::{
    columns::Field,
    damage::Damage,
    recording::{AskError, CallId, Recording},
};

/// Calls beside each other, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct CallsInside {
    /// Each with the number of calls that it made itself, counted up to [`CallsInside::COUNTED`].
    pub rows: Vec<ListedCall>,
    /// The last of them, where others follow.
    pub further: Option<CallId>,
}

impl CallsInside {
    /// More calls than this are not counted: a loop may make a million.
    pub const COUNTED: u64 = 100;
}

impl Recording {
    /// What `of` called, behind the call `after`; without `of`, the calls that nothing recorded made.
    pub fn inside(
        &self,
        of: Option<CallId>,
        after: Option<CallId>,
        limit: usize,
    ) -> Result<CallsInside, AskError> {
        let mut beside = self.beside(of, after)?;
        let mut rows = Vec::new();
        while rows.len() < limit.max(1)
            && let Some(call) = beside.next().transpose()?
        {
            let mut row = self.row(call, 0)?;
            row.hidden = self.children(call).take(CallsInside::COUNTED as usize).count() as u64;
            rows.push(row);
        }
        let last = rows.last().map(|it| it.call.id);
        let further = beside.next().transpose()?.and(last);
        Ok(CallsInside { rows, further })
    }

    fn beside(
        &self,
        of: Option<CallId>,
        after: Option<CallId>,
    ) -> Result<Box<dyn Iterator<Item = Result<CallId, Damage>> + '_>, Damage> {
        let first = match (of, after) {
            (_, Some(after)) => {
                let next = self.call_of(after, Field::Next)?;
                self.from(next)
            }
            (Some(of), None) => return Ok(Box::new(self.children(of))),
            (None, None) => self.roots(0),
        };
        if of.is_some() {
            return Ok(Box::new(first));
        }
        let process = after.map_or(0, |it| it.process);
        let others = self.processes().iter().skip(process as usize + 1);
        Ok(Box::new(first.chain(others.flat_map(|it| self.roots(it.number)))))
    }
}
