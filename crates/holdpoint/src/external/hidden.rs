//! What lets us in at other servers, as the log must not show it: a server may say it back, and the SDK writes down
//! whatever it was told.

use std::{
    collections::VecDeque,
    sync::{PoisonError, RwLock},
};

use holdpoint_engine::limits;

/// Shorter ones stand in any text.
const SHORTEST: usize = 6;

static HIDDEN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Those that are renewed: the last of them.
static TOKENS: RwLock<VecDeque<String>> = RwLock::new(VecDeque::new());

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

/// The same for a token, of which there is a new one every hour.
pub(super) fn hide_token(value: &str) {
    if value.len() < SHORTEST {
        return;
    }
    let is_known = |tokens: &VecDeque<String>| tokens.iter().any(|it| it == value);
    if is_known(&TOKENS.read().unwrap_or_else(PoisonError::into_inner)) {
        return;
    }
    let mut tokens = TOKENS.write().unwrap_or_else(PoisonError::into_inner);
    tokens.push_back(value.to_owned());
    if tokens.len() > limits::EXTERNAL_TOKENS {
        tokens.pop_front();
    }
}

/// A line of the log without them.
pub(crate) fn without(text: String) -> String {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    let tokens = TOKENS.read().unwrap_or_else(PoisonError::into_inner);
    hidden.iter().chain(tokens.iter()).fold(text, |text, value| {
        match text.contains(value.as_str()) {
            true => text.replace(value.as_str(), "‹secret›"),
            false => text,
        }
    })
}
