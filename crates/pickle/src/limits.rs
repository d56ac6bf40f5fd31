//! Every bound of reading and showing a pickle, with its reason.
//!
//! A pickle is somebody else's bytes: a few of them can name a structure of any size.
//! Strings and bytes are borrowed from the input, so what is bounded here is everything else.

/// What reading may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Opcodes. Each costs a few nanoseconds and at most a few words of stack, memo and container.
    pub steps_max: usize,
    /// Values. Each costs 32 bytes, and an opcode of one byte can ask for one.
    pub nodes_max: usize,
    /// Entries of the memo that are out of order; the others cost no more than the value they name.
    pub memo_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // About 40 MB and 50 ms at worst, which one hostile argument of one call may cost a server.
        Limits { steps_max: 2_000_000, nodes_max: 500_000, memo_max: 50_000 }
    }
}

/// How much of a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// Characters of the text.
    pub chars_max: usize,
    /// Containers inside containers; what is deeper is only counted.
    pub depth_max: usize,
}

impl Show {
    /// A text of this many characters, at most [`CHARS_MAX`].
    pub fn chars(chars_max: usize) -> Self {
        Show { chars_max: chars_max.min(CHARS_MAX), ..Show::default() }
    }
}

impl Default for Show {
    fn default() -> Self {
        Show { chars_max: 500, depth_max: DEPTH_MAX }
    }
}

/// Showing calls itself once a level, a few hundred bytes of stack each time.
pub const DEPTH_MAX: usize = 32;
/// Showing looks at every level about five times as much as it prints.
pub const CHARS_MAX: usize = 1_000_000;
/// How many children one listing names.
pub const CHILDREN_MAX: usize = 1_000;
/// Segments of a path.
pub const PATH_MAX: usize = 64;

/// Containers that are closed although a bound was reached inside them.
pub(crate) const FOLD_MAX: usize = 10_000;
/// Digits of an integer, as many as Python itself prints; the conversion is quadratic.
pub(crate) const DIGITS_MAX: usize = 4_300;
/// States given to one object. Real ones have one or two.
pub(crate) const STATES_MAX: usize = 8;
/// Parameters shown of one function.
pub(crate) const PARAMS_MAX: usize = 64;
/// Entries of a class or of a function's state that are searched for a name.
pub(crate) const SEARCH_MAX: usize = 256;
/// How far a name is followed through `getattr` calls and base classes.
pub(crate) const HOPS_MAX: usize = 8;
/// Elements of an array that are shown; a longer one is told by its shape.
pub(crate) const ELEMENTS_MAX: usize = 16;
/// Bytes of a name or a file's name, where it is part of another text.
pub(crate) const WORD_MAX: usize = 300;
