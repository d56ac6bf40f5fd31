//! Line debugging: start a program, stop it, look, step, evaluate.

pub(crate) mod attach;
pub(crate) mod r#continue;
pub(crate) mod diff;
pub(crate) mod evaluate;
pub(crate) mod exception;
pub(crate) mod experiment;
pub(crate) mod input;
pub(crate) mod launch;
pub(crate) mod output;
pub(crate) mod pause;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod restart;
pub(crate) mod set_variable;
pub(crate) mod snapshot;
pub(crate) mod source;
pub(crate) mod stack;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod step;
pub(crate) mod stop;
pub(crate) mod threads;
pub(crate) mod until;
pub(crate) mod variables;
pub(crate) mod wait;
pub(crate) mod what;

use std::borrow::Cow;

use crate::tool::{AnswerForm, Family};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("debug"), form: AnswerForm::Words, about_programs: true };
