//! What a tracepoint saw as the program passed it.

use jiff::Timestamp;
use serde::Serialize;

use crate::ids::{BreakpointId, SessionId, ThreadKey};

/// One hit that is reported. `at` is the program's own clock, at the hit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceHit {
    pub session: SessionId,
    pub breakpoint: BreakpointId,
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
    pub function: Option<String>,
    pub thread: ThreadKey,
    /// Of this tracepoint in this session, those that were not reported included.
    pub hit_count: u64,
    /// The template with its expressions evaluated; none for a tracepoint without one.
    pub message: Option<String>,
    pub values: Vec<Traced>,
    pub at: Timestamp,
}

/// An expression of the template: its value, or the type of what it threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Traced {
    pub expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TraceHit {
    /// `s1 tracepoint 2 (hit 7) at shop.py:12 in total: x = 3`
    pub fn line(&self) -> String {
        let TraceHit { session, breakpoint, file, line, hit_count, .. } = self;
        let function = self.function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
        let message = self.message.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
        format!(
            "{session} tracepoint {breakpoint} (hit {hit_count}) at {file}:{line}{function}{message}"
        )
    }

    /// About how many bytes it keeps alive.
    pub fn weight(&self) -> usize {
        let length = |it: &Option<String>| it.as_ref().map_or(0, String::len);
        let traced = |it: &Traced| {
            size_of::<Traced>() + it.expression.len() + length(&it.value) + length(&it.error)
        };
        size_of::<TraceHit>()
            + self.file.len()
            + length(&self.function)
            + length(&self.message)
            + self.values.iter().map(traced).sum::<usize>()
    }
}
