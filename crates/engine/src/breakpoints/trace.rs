//! Tracepoints: what they are to report, how far they have come, and what they saw.

use std::sync::Arc;

use serde::Serialize;

use super::aggregate::Aggregate;
use crate::{
    failure::Failure,
    nouns::{Passed, Tracing},
    template::{Piece, Template},
};

/// What makes a breakpoint a tracepoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// As it was written.
    pub message: Option<String>,
    #[serde(skip)]
    template: Option<Template>,
    /// Report each hit whose number is a multiple of it; 0 for every hit.
    pub multiple: u64,
    /// Report so many, then be disabled; 0 for no end.
    pub max: u64,
    /// Of a probe: see [`Tracing::is_literal`] and [`Tracing::is_mark`].
    #[serde(skip)]
    is_literal: bool,
    #[serde(skip)]
    is_mark: bool,
}

impl Trace {
    pub fn new(message: Option<String>, multiple: u64, max: u64) -> Result<Trace, Failure> {
        let template = message.as_deref().map(Template::parse).transpose()?;
        Ok(Trace { message, template, multiple, max, is_literal: false, is_mark: false })
    }

    /// The values of some expressions, as the language writes them.
    pub fn of(expressions: impl IntoIterator<Item = String>) -> Trace {
        let parts = expressions.into_iter().map(Piece::Expression).collect();
        let template = Some(Template { parts });
        Trace { message: None, template, multiple: 0, max: 0, is_literal: true, is_mark: false }
    }

    /// Only that the place was reached at all. Costs the program something once.
    pub fn mark() -> Trace {
        Trace {
            message: None,
            template: None,
            multiple: 0,
            max: 0,
            is_literal: false,
            is_mark: true,
        }
    }

    /// The expressions of its message.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.template.iter().flat_map(Template::expressions)
    }
}

/// How far a tracepoint has come since its count began.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) tracing: Arc<Tracing>,
    pub(super) reported: u64,
    pub(super) aggregate: Aggregate,
}

/// What became of a hit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Reported,
    /// It was the last one.
    ReportedLast,
    /// Of an earlier count, or past the end of this one: another process was first.
    Late,
}

impl Progress {
    pub(super) fn new(trace: &Trace, generation: u64) -> Progress {
        let Trace { template, multiple, max, is_literal, is_mark, .. } = trace.clone();
        let tracing =
            Arc::new(Tracing { generation, template, multiple, max, is_literal, is_mark });
        Progress { tracing, reported: 0, aggregate: Aggregate::default() }
    }

    pub(super) fn take(&mut self, hit: &Passed) -> Verdict {
        let Tracing { generation, max, template, .. } = &*self.tracing;
        let is_over = *max > 0 && self.reported >= *max;
        if hit.tracing.generation != *generation || is_over {
            return Verdict::Late;
        }
        self.reported += 1;
        let expressions = template.iter().flat_map(Template::expressions);
        let values = hit.values.iter().map(|it| it.as_deref().map_err(String::as_str));
        self.aggregate.add(hit.hit_count, expressions.zip(values));
        if self.reported == *max { Verdict::ReportedLast } else { Verdict::Reported }
    }
}
