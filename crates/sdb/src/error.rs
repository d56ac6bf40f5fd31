//! Why a command came to nothing.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MonoError {
    #[error("{}", told(*code))]
    Refused { code: u16, body: Vec<u8> },
    #[error("the runtime's answer makes no sense: {0}")]
    Malformed(&'static str),
    #[error("the runtime is gone: {0}")]
    Closed(String),
}

pub(crate) const INVOKE_ABORTED: u16 = 107;

fn told(code: u16) -> String {
    let text = match code {
        20 => "the object is no longer there",
        25 => "there is no such field",
        30 => "there is no such frame any more",
        100 => "this runtime cannot do that",
        101 => "the program is not suspended",
        102 => "the runtime does not take that argument",
        103 => "it was unloaded",
        104 => "nothing is being called",
        105 => "there is no debug information for it",
        106 => "no statement begins there",
        INVOKE_ABORTED => "the call was broken off",
        other => return format!("the runtime refused it with error {other}"),
    };
    text.to_owned()
}
