//! The small language over recorded values: `result is None and args.amount < 0`. It is read and checked before it
//! runs, and runs here: nothing of the program is ever called.

mod eval;
mod judge;
mod parse;

pub(crate) use self::{
    eval::ValueSide,
    judge::{Judge, JudgedCall},
    parse::{Comparison, Condition, Term, nearest},
};
