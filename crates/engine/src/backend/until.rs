//! Running until a value turns, by whatever the debugger has for it.
//!
//! The watch is begun where the program stands; a step into the next line is what sets it off, and it is told
//! as one step that takes long. A debugger with data breakpoints would have its own way here: none of those
//! that have a helper of ours, or the inspector, announces them (`supportsDataBreakpoints`).

use super::Backend;
use crate::{
    failure::{Code, Failure},
    nouns::{UntilAsked, UntilEnd, UntilSeen, UntilWay},
};

impl Backend {
    /// How a value is watched here.
    pub fn until_way(&self) -> UntilWay {
        match self {
            Backend::Dap(_) => UntilWay::InProcess,
            Backend::Cdp(_) | Backend::Vscode(_) => UntilWay::Debugger,
        }
    }

    /// Watches a value from here on; the step that follows goes on until it turns.
    pub async fn until(&self, asked: &UntilAsked) -> Result<UntilSeen, Failure> {
        self.is_now(asked.frame.moment)?;
        match self {
            Backend::Dap(dap) => dap.until(asked).await,
            Backend::Cdp(cdp) => cdp.until(asked).await,
            Backend::Vscode(_) => Err(unwatched()),
        }
    }

    /// Ends a watch and tells what it saw; `None` where there is none.
    pub async fn until_ends(&self, end: UntilEnd) -> Result<Option<UntilSeen>, Failure> {
        match self {
            Backend::Dap(dap) => dap.until_ends(end).await,
            Backend::Cdp(cdp) => Ok(cdp.until_ends(end).await),
            Backend::Vscode(_) => Ok(None),
        }
    }
}

pub(super) fn unwatched() -> Failure {
    Failure::new(Code::Unsupported, "its debugger watches no values")
        .hint("`debug_step` and `debug_evaluate` look line by line")
}
