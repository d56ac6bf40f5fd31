//! Printing, in the commands that print. While MCP runs on stdio, nothing here is called but [`error`].

use std::{
    fmt::Display,
    io::{IsTerminal as _, Write as _},
};

use crate::stderr;

/// A line of data. A reader that went away (`holdpoint tools | head`) is not a failure.
pub(crate) fn line(text: impl Display) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}")
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        tracing::error!(%error, "stdout does not take text");
    }
}

/// Whether a person reads it.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// A line for the person at the terminal.
pub(crate) fn error(text: &str) {
    stderr::line(&format!("error: {text}"));
}
