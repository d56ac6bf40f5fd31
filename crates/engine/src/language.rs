//! What there is to know of a language that is no code of anybody's: how its sources are read, what its
//! functions are, how its debugger goes about things. Each adapter fills these in for its own.

mod debugger;
mod text;

pub use self::{
    debugger::{DebuggerProgram, Install, Mode, Modes},
    text::SourceText,
};

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
    /// What stands before and behind an expression whose truth is wanted, as `true` or `True`.
    pub truth: Option<(&'static str, &'static str)>,
}

/// The runners of tests of a language: how they are known, and what they say when they are done.
#[derive(Debug, Clone, Copy)]
pub struct Runners {
    /// How a word of the command line ends that names one.
    pub names: &'static [&'static str],
    /// What is in the paths of their own code: it calls tests, and catches what they throw.
    pub code: &'static [&'static str],
    /// The functions of that code that call a test, what is set up for it, or its module. Whatever else they
    /// call, while they collect or report, they catch.
    pub callers: &'static [&'static str],
    /// Words of a note about how the tests were started that whoever looks at their end is to read.
    pub notes: &'static [&'static str],
    /// How it went, out of the last lines of their output, the last one first: `1 failed, 2 passed`.
    pub verdict: fn(&[&str]) -> Option<String>,
    /// Why the first test failed, out of all lines: the place and the first line of what was wrong.
    pub reason: fn(&[&str]) -> Option<String>,
}

impl Default for Runners {
    fn default() -> Self {
        let none = |_: &[&str]| None;
        Runners { names: &[], code: &[], callers: &[], notes: &[], verdict: none, reason: none }
    }
}

/// What a debugger lists among the parts of a value that is none of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listing {
    /// The name under which it says how many parts there are.
    pub length: Option<&'static str>,
    /// The name under which it says that it shows no more of them.
    pub rest: Option<&'static str>,
    /// An expression for some of the parts of another, from one number to before the next.
    pub cut: Option<fn(&str, usize, usize) -> String>,
}

impl Listing {
    /// Whether a part of that name is none of the program's.
    pub fn adds(&self, name: &str) -> bool {
        [self.length, self.rest].contains(&Some(name))
    }
}

/// What is looked for on a machine, to say whether programs of a language can be debugged there.
#[derive(Debug, Clone, Copy)]
pub struct Wants {
    /// What runs them, by its name on the search path; its name on Windows.
    pub program: &'static str,
    pub program_on_windows: &'static str,
    /// What people say it is for.
    pub language: &'static str,
    /// The words that make it say its version, and what stands before that in its answer.
    pub version: &'static [&'static str],
    pub version_prefix: &'static str,
    /// Older ones are no longer mended by their makers.
    pub major_min: Option<u32>,
    /// How to come by it.
    pub install: &'static str,
    pub library: Option<WantedLibrary>,
}

/// What is looked for inside of the runtime.
#[derive(Debug, Clone, Copy)]
pub struct WantedLibrary {
    pub name: &'static str,
    /// The words after the runtime's own that make it say the library's version.
    pub version: &'static [&'static str],
    /// The words that show a person what is wrong with it.
    pub shows: &'static str,
    /// What happens without it.
    pub without: &'static str,
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
