//! JavaScript and TypeScript text in, the same text with the recorder's probes out, and a table of what they stand for.
//!
//! Only insertions, and never a newline: the lines of an instrumented text are those of the original, so no source map is
//! needed, and types stay where they are for whoever strips them. What a probe means is
//! `clients/js/record/frames.cjs`, which answers it. This crate knows no file and no process, and it alone knows oxc.

mod changes;
mod function;
mod insert;
mod lines;
mod maps;
mod names;
mod probes;
mod reads;
mod statement;
mod table;
#[cfg(test)]
mod tests;
mod tests_named;
mod weave;
mod write;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

pub use table::{Instrumented, ProbedFunction};
pub use weave::{PROBE, Woven, WovenCall, WovenPiece, WovenPoint, weave};

/// What a change of the probes changes: texts of another version are not taken from a cache.
pub const VERSION: u32 = 3;

/// A text beyond this is left as it is: it is a bundle or data, and nobody's own code.
pub const TEXT_MAX: usize = 4 << 20;

/// How the text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An ES module.
    Module,
    /// The body of a function, as CommonJS has it.
    CommonJs,
    /// A script, as `vm.Script` takes it.
    Script,
}

/// One text, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'t> {
    pub text: &'t str,
    pub goal: Goal,
    /// Whether it has types, and is not yet stripped of them.
    pub typescript: bool,
    pub jsx: bool,
}

/// Why a text is left as it is. The program then runs unrecorded there, and the recording says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// It cannot be read; whoever runs it will say why.
    Syntax,
    /// It has the probes' own name in it: it was instrumented already, or it means something else by it.
    Taken,
    TooLong,
    /// Nothing of what was asked for can be put into it.
    Nothing,
}

impl LeftAlone {
    /// The word for it in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Taken => "taken",
            Self::TooLong => "too_long",
            Self::Nothing => "nothing",
        }
    }
}

/// The text with probes, or why it has none.
///
/// # Errors
/// See [`LeftAlone`].
pub fn instrument(given: SourceText<'_>) -> Result<Instrumented, LeftAlone> {
    if given.text.len() > TEXT_MAX {
        return Err(LeftAlone::TooLong);
    }
    if given.text.contains("$hp") {
        return Err(LeftAlone::Taken);
    }
    let allocator = Allocator::default();
    let options = ParseOptions {
        allow_return_outside_function: given.goal == Goal::CommonJs,
        ..ParseOptions::default()
    };
    let parsed =
        Parser::new(&allocator, given.text, source_type(given)).with_options(options).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(LeftAlone::Syntax);
    }
    // Node tries a text of unknown kind as CommonJS first, and as a module when it says so.
    if given.goal == Goal::CommonJs && parsed.module_record.has_module_syntax {
        return Err(LeftAlone::Syntax);
    }
    let mut probes = probes::Probes::new(given.text, given.goal);
    probes.declared = changes::Declared::of(&parsed.program);
    probes.visit_program(&parsed.program);
    Ok(probes.finish())
}

fn source_type(given: SourceText<'_>) -> SourceType {
    let goal = match given.goal {
        Goal::Module => SourceType::mjs(),
        Goal::CommonJs => SourceType::cjs(),
        Goal::Script => SourceType::script(),
    };
    goal.with_typescript(given.typescript).with_jsx(given.jsx)
}
