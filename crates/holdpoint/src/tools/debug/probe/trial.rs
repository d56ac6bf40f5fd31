//! What is judged and tried at a place: whether something is so there, and what is made otherwise before the
//! program goes on.

use holdpoint_engine::{
    backend::{Backend, Frame},
    breakpoints::Breakpoints,
    ids::BreakpointId,
    language::Manners,
};

use super::{hits, plan::Expression};

#[derive(Debug, Clone, Default)]
pub(super) struct Trial {
    /// What should be true, before anything is set.
    pub(super) expect: String,
    /// Statements that run then.
    pub(super) set: Vec<String>,
    /// Counts every pass, where a condition chooses one.
    pub(super) passes: Option<BreakpointId>,
    /// How truth is asked for in the program's language.
    pub(super) manners: Manners,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    /// Whether it was so; else why nobody knows.
    pub(super) held: Result<bool, String>,
    pub(super) set: Vec<(String, Result<(), String>)>,
    /// The pass at which it was looked at.
    pub(super) pass: u64,
}

impl Trial {
    /// Judges first and sets then: what is expected is about the program as it is.
    pub(super) async fn run(
        &self,
        backend: &Backend,
        frames: &[Frame],
        own: &Breakpoints,
    ) -> Tried {
        let held = self.is_so(backend, frames, &self.expect).await;
        let mut set = Vec::new();
        for text in &self.set {
            let statement = Expression { text: text.clone(), frame: None };
            let done = hits::evaluate(backend, frames, &statement).await.map(drop);
            set.push((text.clone(), done));
        }
        let passed = self.passes.map(|id| own.gathered().total(id));
        Tried { held, set, pass: passed.unwrap_or(1).max(1) }
    }

    /// Whether something is true there.
    pub(super) async fn is_so(
        &self,
        backend: &Backend,
        frames: &[Frame],
        what: &str,
    ) -> Result<bool, String> {
        let Expression { text, frame } = Expression::of(what);
        let asked = |text: &str| match self.manners.truth {
            Some((before, behind)) => format!("{before}{text}{behind}"),
            None => text.to_owned(),
        };
        let asked = match frame {
            Some((name, inner)) => Expression { text, frame: Some((name, asked(&inner))) },
            None => Expression { text: asked(&text), frame: None },
        };
        let value = hits::evaluate(backend, frames, &asked).await?;
        Ok(!matches!(value.text.as_str(), "False" | "false" | "0" | "" | "null" | "nil" | "None"))
    }
}
