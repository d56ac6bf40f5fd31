//! The calls of a process as columns: while they are read, and packed in blocks.

use crate::{
    bytes::{Cursor, put_number, put_signed},
    damage::Damage,
    head::NONE,
    limits,
    steps::moved,
};

/// The low two bits of `ending`.
pub(crate) const OPEN: u32 = 0;
pub(crate) const RETURNED: u32 = 1;
pub(crate) const UNWOUND: u32 = 2;
pub(crate) const SUSPENDED: u32 = 3;
/// Beside them: an exception was raised in it, was caught in it, went no further from it.
pub(crate) const RAISED: u32 = 4;
pub(crate) const HANDLED: u32 = 8;
pub(crate) const SWALLOWED: u32 = 16;

/// What is kept of each call, one column each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    Function,
    Parent,
    FirstChild,
    /// The next call of the same parent.
    Next,
    Lane,
    /// The parent's line.
    Site,
    Begin,
    Took,
    Ending,
    Result,
    /// Steps that were kept.
    Kept,
    Hash,
}

pub(crate) const FIELDS: [Field; 12] = [
    Field::Function,
    Field::Parent,
    Field::FirstChild,
    Field::Next,
    Field::Lane,
    Field::Site,
    Field::Begin,
    Field::Took,
    Field::Ending,
    Field::Result,
    Field::Kept,
    Field::Hash,
];

/// How a column's numbers become small.
enum Coding {
    /// As they are.
    Plain,
    /// How far before or behind the call itself; 0 is none.
    Back,
    Ahead,
    /// The distance to the one before.
    Delta,
}

impl Field {
    fn coding(self) -> Coding {
        match self {
            Field::Parent => Coding::Back,
            Field::FirstChild | Field::Next => Coding::Ahead,
            Field::Begin | Field::Result => Coding::Delta,
            Field::Function | Field::Lane | Field::Site | Field::Took => Coding::Plain,
            Field::Ending | Field::Kept | Field::Hash => Coding::Plain,
        }
    }
}

/// All columns, while a stream is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    pub(crate) function: Vec<u32>,
    pub(crate) parent: Vec<u32>,
    pub(crate) first_child: Vec<u32>,
    pub(crate) next: Vec<u32>,
    pub(crate) lane: Vec<u32>,
    pub(crate) site: Vec<u32>,
    pub(crate) begin: Vec<u64>,
    pub(crate) took: Vec<u64>,
    pub(crate) ending: Vec<u32>,
    pub(crate) result: Vec<u32>,
    pub(crate) kept: Vec<u32>,
    pub(crate) hash: Vec<u32>,
    /// The arguments of all calls, one behind the other, and where each call's end.
    pub(crate) arguments: Vec<u32>,
    pub(crate) arguments_end: Vec<u32>,
}

/// A call that begins.
pub(crate) struct Beginning<'a> {
    pub(crate) function: u32,
    pub(crate) parent: u32,
    pub(crate) lane: u32,
    pub(crate) site: u32,
    pub(crate) begin: u64,
    pub(crate) arguments: &'a [u32],
}

impl Columns {
    pub(crate) fn len(&self) -> u32 {
        self.function.len() as u32
    }

    pub(crate) fn push(&mut self, call: &Beginning<'_>) {
        self.function.push(call.function);
        self.parent.push(call.parent);
        self.first_child.push(NONE);
        self.next.push(NONE);
        self.lane.push(call.lane);
        self.site.push(call.site);
        self.begin.push(call.begin);
        self.took.push(0);
        self.ending.push(OPEN);
        self.result.push(NONE);
        self.kept.push(0);
        self.hash.push(0);
        self.arguments.extend_from_slice(call.arguments);
        self.arguments_end.push(self.arguments.len() as u32);
    }

    pub(crate) fn flag(&mut self, call: u32, flag: u32) {
        if let Some(ending) = self.ending.get_mut(call as usize) {
            *ending |= flag;
        }
    }

    pub(crate) fn unflag(&mut self, call: u32, flag: u32) {
        if let Some(ending) = self.ending.get_mut(call as usize) {
            *ending &= !flag;
        }
    }

    fn number(&self, field: Field, call: usize) -> u64 {
        let small = |column: &[u32]| column.get(call).map_or(0, |it| u64::from(*it));
        match field {
            Field::Function => small(&self.function),
            Field::Parent => small(&self.parent),
            Field::FirstChild => small(&self.first_child),
            Field::Next => small(&self.next),
            Field::Lane => small(&self.lane),
            Field::Site => small(&self.site),
            Field::Begin => self.begin.get(call).copied().unwrap_or(0),
            Field::Took => self.took.get(call).copied().unwrap_or(0),
            Field::Ending => small(&self.ending),
            Field::Result => small(&self.result),
            Field::Kept => small(&self.kept),
            Field::Hash => small(&self.hash),
        }
    }

    /// One column of one block; the numbers of its calls.
    pub(crate) fn encode(&self, field: Field, block: usize) -> Vec<u8> {
        let (begin, end) = span(block, self.function.len());
        let (mut out, mut last) = (Vec::with_capacity(end - begin), 0_u64);
        for call in begin..end {
            let number = self.number(field, call);
            match field.coding() {
                Coding::Plain => put_number(&mut out, number),
                _ if number == u64::from(NONE) => put_number(&mut out, 0),
                Coding::Back => put_number(&mut out, (call as u64).saturating_sub(number)),
                Coding::Ahead => put_number(&mut out, number.saturating_sub(call as u64)),
                Coding::Delta => {
                    // 0 is none.
                    let delta = number.cast_signed().wrapping_sub(last.cast_signed());
                    put_signed(&mut out, if delta >= 0 { delta + 1 } else { delta });
                    last = number;
                }
            }
        }
        out
    }

    /// The arguments of one block: how many, then each as the distance to the one before.
    pub(crate) fn encode_arguments(&self, block: usize) -> Vec<u8> {
        let (begin, end) = span(block, self.function.len());
        let (mut out, mut last) = (Vec::new(), 0);
        for call in begin..end {
            let all = self.arguments_of(call);
            put_number(&mut out, all.len() as u64);
            for value in all {
                put_signed(&mut out, i64::from(*value) - i64::from(last));
                last = *value;
            }
        }
        out
    }

    fn arguments_of(&self, call: usize) -> &[u32] {
        let end_of = |call: usize| self.arguments_end.get(call).map_or(0, |it| *it as usize);
        let begin = call.checked_sub(1).map_or(0, end_of);
        self.arguments.get(begin..end_of(call)).unwrap_or_default()
    }
}

/// The calls of a block.
fn span(block: usize, calls: usize) -> (usize, usize) {
    let begin = block.saturating_mul(limits::BLOCK).min(calls);
    (begin, begin.saturating_add(limits::BLOCK).min(calls))
}

/// One column of a block, read back.
pub(crate) fn decode(field: Field, first: u32, bytes: &[u8]) -> Result<Vec<u64>, Damage> {
    let (mut from, mut all, mut last) = (Cursor::new(bytes), Vec::new(), 0_u64);
    while !from.is_empty() {
        if all.len() >= limits::BLOCK {
            return Err(Damage::Many("calls of a block"));
        }
        let call = u64::from(first) + all.len() as u64;
        let none = u64::from(NONE);
        all.push(match field.coding() {
            Coding::Plain => from.number()?,
            Coding::Back => match from.number()? {
                0 => none,
                back => call.checked_sub(back).ok_or(Damage::Number)?,
            },
            Coding::Ahead => match from.number()? {
                0 => none,
                ahead => call.checked_add(ahead).ok_or(Damage::Number)?,
            },
            Coding::Delta => match from.signed()? {
                0 => none,
                coded => {
                    let delta = if coded > 0 { coded - 1 } else { coded };
                    last = last.wrapping_add(delta.cast_unsigned());
                    last
                }
            },
        });
    }
    Ok(all)
}

/// The arguments of a block's calls, and where each call's end.
pub(crate) fn decode_arguments(bytes: &[u8]) -> Result<(Vec<u32>, Vec<u32>), Damage> {
    let (mut from, mut last) = (Cursor::new(bytes), 0);
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    while !from.is_empty() {
        for _ in 0..from.count()? {
            last = moved(last, from.signed()?)?;
            all.push(last);
        }
        ends.push(all.len() as u32);
    }
    Ok((all, ends))
}
