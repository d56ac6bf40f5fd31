//! What there is to know of a language that is no code of anybody's: how its sources are read, what its
//! functions are, how its debugger goes about things. Each adapter fills these in for its own.

/// How source files become lines.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// How a line begins that is only a comment.
    pub comment: &'static str,
    /// What ends a line beside CR and LF.
    pub line_ends: &'static [char],
    /// The text of bytes that are not UTF-8, where the file itself says so.
    pub decode: fn(&[u8]) -> Option<String>,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { comment: "//", line_ends: &[], decode: |_| None }
    }
}

/// How a language and its debugger go about what a probe asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manners {
    /// It stops where an exception leaves the user's code for a library, such as a runner of tests.
    pub stops_at_user_unhandled: bool,
    /// In passing only the function itself is seen, not those who call it.
    pub sees_no_callers_in_passing: bool,
    /// The runtime itself counts which lines ran.
    pub counts_lines: bool,
    /// A function's head is a statement: it is passed where the function is defined.
    pub runs_heads: bool,
}

/// A function that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlined {
    /// After the names of what it is in: `Cart.total`.
    pub name: String,
    /// The line that names it.
    pub head: u32,
    /// The line of its first statement, past a docstring.
    pub body: u32,
    pub last: u32,
    /// The lines on which its own statements begin, where the language says so by its lines.
    pub lines: Vec<u32>,
}

impl Outlined {
    pub fn has(&self, line: u32) -> bool {
        (self.head..=self.last).contains(&line)
    }
}
