//! Tools that record a run once and then ask it: what ran, one call line by line, a value's life, where two runs part.

pub(crate) mod calls;
pub(crate) mod diff;
pub(crate) mod frame;
pub(crate) mod history;
pub(crate) mod run;

use std::borrow::Cow;

use holdpoint_engine::{budget::Budget, recordings::BUDGET};
use serde_json::{Value, json};

use crate::tool::{Answer, AnswerForm, Call, Family, Reply};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("record"), form: AnswerForm::Words, about_programs: true };

/// What an answer may cost: less than other tools', unless the call says.
fn tokens(call: &Call) -> usize {
    let asked = call.budget.bytes();
    if asked == Budget::default().bytes() { BUDGET } else { asked * 5 / 18 }
}

/// The text is the answer; the data says of what.
fn told(text: String, recording: &str) -> Result<Reply, holdpoint_engine::failure::Failure> {
    let data: Value = json!({ "recording": recording });
    Ok(Answer::json(text, data).into())
}
