//! Tracepoints: the program passes, and says what it saw.

pub(crate) mod read;
pub(crate) mod set;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("tracepoint"), form: AnswerForm::Words, about_programs: true };
