//! Tools about the timeline: everything that happened, in one order.

pub(crate) mod note;
pub(crate) mod query;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("timeline"), form: AnswerForm::Words, about_programs: false };
