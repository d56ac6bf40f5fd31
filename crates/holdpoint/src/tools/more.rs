//! `more_*`: the way to what a toolset leaves out.

pub(crate) mod tools;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("more"), form: AnswerForm::Words, about_programs: false };
