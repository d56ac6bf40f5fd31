//! Printing, in the commands that print. While MCP runs on stdio, nothing here is called but [`error`].

use std::{fmt::Display, io::Write as _};

/// A line of data. A reader that went away (`holdpoint tools | head`) is not a failure.
pub(crate) fn line(text: impl Display) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}")
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        tracing::error!(%error, "stdout does not take text");
    }
}

/// A line for the person at the terminal.
pub(crate) fn error(text: &str) {
    // Where stderr is closed there is nobody to tell.
    writeln!(std::io::stderr(), "error: {text}").unwrap_or_default();
}
