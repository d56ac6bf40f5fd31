//! Tools about the server itself.

pub(crate) mod status;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("server"), form: AnswerForm::Words, about_programs: false };
