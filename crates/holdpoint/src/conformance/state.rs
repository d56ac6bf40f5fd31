//! `requestState`: where a call of several rounds stands, sealed so that a client cannot make one up.
//!
//! The seal is a keyed hash over the tool and the step, with a key that lives and dies with the process.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use rmcp::ErrorData;

static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

pub(super) fn seal(tool: &str, step: usize) -> String {
    format!("{step}.{:016x}", KEY.hash_one((tool, step)))
}

/// The step a state was sealed for; the first one without a state.
pub(super) fn step(tool: &str, state: Option<&str>) -> Option<usize> {
    let Some(state) = state else { return Some(0) };
    let (step, _) = state.split_once('.')?;
    let step = step.parse().ok()?;
    (seal(tool, step) == state).then_some(step)
}

/// A state of anybody else is refused before a fixture sees it (SEP-2322).
pub(super) fn check(tool: &str, state: Option<&str>) -> Result<(), ErrorData> {
    match step(tool, state) {
        Some(_) => Ok(()),
        None => {
            Err(ErrorData::invalid_params("`requestState` was not sealed by this server", None))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_state_of_ours_opens_and_only_for_its_tool() {
        let sealed = seal("one", 2);
        assert_eq!(step("one", Some(&sealed)), Some(2));
        assert_eq!(step("two", Some(&sealed)), None);
        assert_eq!(step("one", Some(&sealed.replacen('2', "3", 1))), None);
        assert_eq!(step("one", Some(&format!("{sealed}-TAMPERED"))), None);
        assert_eq!(step("one", None), Some(0));
    }
}
