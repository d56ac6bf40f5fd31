//! Line breakpoints: set, list, enable, remove; which exceptions stop.

pub(crate) mod bind;
pub(crate) mod enable;
pub(crate) mod list;
pub(crate) mod place;
pub(crate) mod remove;
pub(crate) mod set;
pub(crate) mod set_exception;
pub(crate) mod wait;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("breakpoint"), form: AnswerForm::Words, about_programs: true };
