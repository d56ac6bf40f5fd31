//! What went wrong, for the next step: a code, what happened, a hint, whose fault.
//!
//! Every face shows the same failure in its own way; none invents one of its own.

use std::{borrow::Cow, fmt};

use serde_json::Value;

/// The closed set of codes. A code is a contract: agents branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    InvalidParams,
    UnknownTool,
    NotFound,
    NoSession,
    NotStopped,
    AlreadyStopped,
    SessionEnded,
    LaunchFailed,
    AttachFailed,
    EvaluateFailed,
    AdapterFailed,
    StoreFailed,
    HumanInControl,
    BridgeNotFound,
    BridgeUnavailable,
    AmbiguousSymbol,
    NoLanguageServer,
    ReadOnly,
    InvalidReference,
    Unsupported,
    NoTest,
    ToolFailed,
    Busy,
    Timeout,
    Cancelled,
    ShuttingDown,
    Internal,
}

/// Whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The call can be corrected.
    Caller,
    /// The debugged program, or how it is started.
    Program,
    /// The debugger of the language.
    Adapter,
    /// Nobody erred: time ran out, or somebody asked to stop.
    Circumstance,
    /// A bug of Holdpoint.
    Ours,
}

impl Code {
    pub const ALL: &[Code] = &[
        Code::InvalidParams,
        Code::UnknownTool,
        Code::NotFound,
        Code::NoSession,
        Code::NotStopped,
        Code::AlreadyStopped,
        Code::SessionEnded,
        Code::LaunchFailed,
        Code::AttachFailed,
        Code::EvaluateFailed,
        Code::AdapterFailed,
        Code::StoreFailed,
        Code::HumanInControl,
        Code::BridgeNotFound,
        Code::BridgeUnavailable,
        Code::AmbiguousSymbol,
        Code::NoLanguageServer,
        Code::ReadOnly,
        Code::InvalidReference,
        Code::Unsupported,
        Code::NoTest,
        Code::ToolFailed,
        Code::Busy,
        Code::Timeout,
        Code::Cancelled,
        Code::ShuttingDown,
        Code::Internal,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Code::InvalidParams => "E_INVALID_PARAMS",
            Code::UnknownTool => "E_UNKNOWN_TOOL",
            Code::NotFound => "E_NOT_FOUND",
            Code::NoSession => "E_NO_SESSION",
            Code::NotStopped => "E_NOT_STOPPED",
            Code::AlreadyStopped => "E_ALREADY_STOPPED",
            Code::SessionEnded => "E_SESSION_ENDED",
            Code::LaunchFailed => "E_LAUNCH_FAILED",
            Code::AttachFailed => "E_ATTACH_FAILED",
            Code::EvaluateFailed => "E_EVALUATE_FAILED",
            Code::AdapterFailed => "E_ADAPTER_FAILED",
            Code::StoreFailed => "E_STORE_FAILED",
            Code::HumanInControl => "E_HUMAN_IN_CONTROL",
            Code::BridgeNotFound => "E_BRIDGE_NOT_FOUND",
            Code::BridgeUnavailable => "E_BRIDGE_UNAVAILABLE",
            Code::AmbiguousSymbol => "E_AMBIGUOUS_SYMBOL",
            Code::NoLanguageServer => "E_NO_LANGUAGE_SERVER",
            Code::ReadOnly => "E_READ_ONLY",
            Code::InvalidReference => "E_INVALID_REFERENCE",
            Code::Unsupported => "E_UNSUPPORTED",
            Code::NoTest => "E_NO_TEST_AT_CURSOR",
            Code::ToolFailed => "E_TOOL_FAILED",
            Code::Busy => "E_BUSY",
            Code::Timeout => "E_TIMEOUT",
            Code::Cancelled => "E_CANCELLED",
            Code::ShuttingDown => "E_SHUTTING_DOWN",
            Code::Internal => "E_INTERNAL",
        }
    }

    /// The code of this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// What the code means, for the generated reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Code::InvalidParams => "a parameter is missing, unknown, or of the wrong kind",
            Code::UnknownTool => "no tool has that name",
            Code::NotFound => "what the call names does not exist",
            Code::NoSession => "no program is being debugged, or none of that name",
            Code::NotStopped => "the program runs; what was asked needs it to stand still",
            Code::AlreadyStopped => "the program stands still already",
            Code::SessionEnded => "the program has ended",
            Code::LaunchFailed => "the program could not be started under the debugger",
            Code::AttachFailed => "the running program could not be taken under the debugger",
            Code::EvaluateFailed => "the expression raised, or does not parse",
            Code::AdapterFailed => "the language's debugger refused or did not answer",
            Code::StoreFailed => "the database refused or did not answer; programs go on",
            Code::HumanInControl => "a person steers the program now; reading it still works",
            Code::BridgeNotFound => "no editor has this workspace open, or none with a bridge",
            Code::BridgeUnavailable => "the editor's bridge is there and does not answer",
            Code::AmbiguousSymbol => "several symbols have that name",
            Code::NoLanguageServer => "nothing in the editor knows that language, or not yet",
            Code::ReadOnly => "what was to be written cannot be",
            Code::InvalidReference => "the reference is of an earlier stop",
            Code::Unsupported => "the editor or the debugger cannot do that",
            Code::NoTest => "the editor knows no test there",
            Code::ToolFailed => "the script, command or request behind a described tool failed",
            Code::Busy => "too many calls of this client are under way",
            Code::Timeout => "the work was not done by the deadline",
            Code::Cancelled => "the client cancelled the call",
            Code::ShuttingDown => "the server is stopping",
            Code::Internal => "a bug of Holdpoint; the server goes on",
        }
    }

    pub const fn blame(self) -> Blame {
        match self {
            Code::InvalidParams
            | Code::UnknownTool
            | Code::NotFound
            | Code::NoSession
            | Code::NotStopped
            | Code::AlreadyStopped
            | Code::SessionEnded
            | Code::AmbiguousSymbol
            | Code::InvalidReference
            | Code::NoTest
            | Code::Busy => Blame::Caller,
            Code::LaunchFailed
            | Code::AttachFailed
            | Code::EvaluateFailed
            | Code::ReadOnly
            | Code::ToolFailed => Blame::Program,
            Code::AdapterFailed | Code::Unsupported => Blame::Adapter,
            Code::HumanInControl
            | Code::BridgeNotFound
            | Code::BridgeUnavailable
            | Code::NoLanguageServer
            | Code::Timeout
            | Code::Cancelled
            | Code::ShuttingDown
            | Code::StoreFailed => Blame::Circumstance,
            Code::Internal => Blame::Ours,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: Code,
    /// Lowercase, no full stop, values in backticks.
    pub message: Cow<'static, str>,
    /// The next step, best as the very call that takes it.
    pub hint: Option<Cow<'static, str>>,
    /// Facts a program may branch on, beside the text.
    pub details: Option<Box<Value>>,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Failure { code, message: message.into(), hint: None, details: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// A bug of ours, told without blame and without its insides.
    pub fn internal(what: impl Into<Cow<'static, str>>) -> Self {
        Failure::new(Code::Internal, what)
            .hint("this is a bug of Holdpoint; the server goes on, its log says more")
    }
}

/// `[E_CODE] what happened`, then the hint on its own line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code.as_str(), self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_code_and_hint_on_two_lines() {
        let failure = Failure::new(Code::NotFound, "no resource `x`").hint("read `y`");
        assert_eq!(failure.to_string(), "[E_NOT_FOUND] no resource `x`\nhint: read `y`");
    }

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            assert!(name.starts_with("E_") && name.chars().all(|c| c == '_' || c.is_uppercase()));
        }
    }
}
