//! What lets us in at other servers, as the log must not show it: a server may say it back, and the SDK writes down
//! whatever it was told.

use std::sync::{PoisonError, RwLock};

/// Shorter ones stand in any text.
const SHORTEST: usize = 6;

static HIDDEN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// The parts of a value that are not to be shown: all of it, and what stands after a scheme such as `Bearer`.
pub(super) fn parts(value: &str) -> impl Iterator<Item = &str> {
    let rest = value.split_once(' ').map(|(_, rest)| rest);
    [Some(value), rest].into_iter().flatten().filter(|it| it.len() >= SHORTEST)
}

/// From now on no line of the log shows it.
pub(super) fn hide(value: &str) {
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    for part in parts(value) {
        if !hidden.iter().any(|it| it == part) {
            hidden.push(part.to_owned());
        }
    }
}

/// A line of the log without them.
pub(crate) fn without(text: String) -> String {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    hidden.iter().fold(text, |text, value| match text.contains(value.as_str()) {
        true => text.replace(value.as_str(), "‹secret›"),
        false => text,
    })
}
