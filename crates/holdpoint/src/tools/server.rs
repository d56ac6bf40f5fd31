//! Tools about the server itself.

pub(crate) mod status;

use std::borrow::Cow;

use crate::tool::{Dialect, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("server"), dialect: Dialect::Words, about_programs: false };
