//! What the probes of a text stand for: its functions, and what each can write.

use serde_json::{Value, json};

/// The flags of a function, as `docs/contract/recording.md` has them.
pub(crate) mod flags {
    pub(crate) const GENERATOR: u32 = 1;
    pub(crate) const ASYNC: u32 = 2;
    pub(crate) const REST: u32 = 4;
    pub(crate) const MODULE: u32 = 16;
    pub(crate) const METHOD: u32 = 32;
    pub(crate) const CONSTRUCTOR: u32 = 64;
}

/// One function. Its number is its place in the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedFunction {
    pub name: String,
    pub qualified: String,
    pub first: u32,
    pub last: u32,
    pub flags: u32,
    /// How many of the slots are parameters; they are the first.
    pub parameters: usize,
    pub slots: Vec<String>,
    /// The test that it is, by its titles.
    pub test: Option<String>,
}

/// A text with its probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// `$hp$N` in it stands for the number of function N in the process that loads it.
    pub text: String,
    pub functions: Vec<ProbedFunction>,
    /// Where something was inserted: `distance,length,…` in UTF-16 units of the original.
    pub places: String,
    /// What the text was made from, where it carries a map that says so.
    pub source: Option<String>,
}

impl Instrumented {
    /// The table as one line of JSON.
    #[must_use]
    pub fn table(&self) -> String {
        let functions: Vec<Value> = self.functions.iter().map(ProbedFunction::json).collect();
        json!({ "version": crate::VERSION, "source": self.source, "functions": functions })
            .to_string()
    }
}

impl ProbedFunction {
    fn json(&self) -> Value {
        json!([
            self.name,
            self.qualified,
            self.first,
            self.last,
            self.flags,
            self.parameters,
            self.slots,
            self.test
        ])
    }
}
