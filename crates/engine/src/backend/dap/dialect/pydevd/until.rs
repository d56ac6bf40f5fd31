//! A value that is watched inside the program, by our helper.

use std::sync::PoisonError;

use serde_json::{Value as Json, json};

use super::{Own, Talk, literal};
use crate::{
    backend::{UntilAsked, UntilEnd, UntilSeen},
    failure::{Code, Failure},
    limits,
};

/// What `until_begin` answers as it fails, with its reason behind it.
const UNPARSED: &str = "SyntaxError";

impl Own {
    /// The program ends while a value is watched: it has told what it was.
    pub(super) fn until_told(&self, body: &Json) {
        let Some(told) = body.get("until") else { return };
        match serde_json::from_value(told.clone()) {
            Ok(seen) => *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen),
            Err(error) => tracing::debug!(%error, "what was seen of a value makes no sense"),
        }
    }
}

impl Talk<'_> {
    /// Evaluates on the thread that stands there, so that it can be interrupted as any evaluation.
    pub(super) async fn until(self, asked: &UntilAsked) -> Result<UntilSeen, Failure> {
        // So that the helper is there.
        self.until_ends(UntilEnd::Over).await?;
        let words = json!({
            "frame": asked.frame.as_number()?,
            "top": asked.top.as_number()?,
            "expression": asked.expression,
            "becomes": asked.becomes,
            "seconds": asked.patience.as_secs_f64(),
        });
        let begin =
            format!("__import__('_holdpoint').until_begin({})", literal(&words.to_string()));
        match self.dap.evaluate(Some(&asked.frame), &begin, limits::VALUES).await {
            Ok(_) => {}
            Err(failure) if failure.message.contains(UNPARSED) => return Err(unparsed(&failure)),
            Err(failure) => return Err(failure),
        }
        let seen = self.helper("until_seen()").await?;
        read(&seen)?.ok_or_else(|| Failure::internal("a value that nobody watches"))
    }

    pub(super) async fn until_ends(self, end: UntilEnd) -> Result<Option<UntilSeen>, Failure> {
        let word = match end {
            UntilEnd::Run => "run",
            UntilEnd::Over => "over",
        };
        match self.helper(&format!("until_ends('{word}')")).await {
            Ok(seen) => read(&seen),
            // It is gone, and may have told before.
            Err(failure) if failure.code == Code::SessionEnded => {
                Ok(self.own.until.lock().unwrap_or_else(PoisonError::into_inner).take())
            }
            Err(failure) => Err(failure),
        }
    }
}

fn read(seen: &str) -> Result<Option<UntilSeen>, Failure> {
    serde_json::from_str(seen)
        .map_err(|error| Failure::internal(format!("what was seen of a value: {error}")))
}

fn unparsed(failure: &Failure) -> Failure {
    let why = failure.message.rsplit("SyntaxError: ").next().unwrap_or_default();
    Failure::new(Code::InvalidParams, format!("the expression does not parse: {why}"))
        .hint("`expression` and `becomes` are expressions of the program's own language")
}
