//! Tools about the timeline: everything that happened, in one order.

pub(crate) mod note;
pub(crate) mod query;

use std::borrow::Cow;

use crate::tool::{Dialect, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("timeline"), dialect: Dialect::Words, about_programs: false };
