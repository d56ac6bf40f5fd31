//! What is wrong with a file, and where.

use std::fmt;

/// Complaints that are told of one file; who mends these sees the rest.
const MOST: usize = 20;

/// One thing that is wrong, by its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub line: usize,
    pub text: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// All that is wrong with one file.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Vec<Complaint>);

impl Complaints {
    pub(crate) fn add(&mut self, line: usize, text: impl Into<String>) {
        if self.0.len() < MOST {
            self.0.push(Complaint { line, text: text.into() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the lines.
    pub(crate) fn into_list(mut self) -> Vec<Complaint> {
        self.0.sort_by_key(|it| it.line);
        self.0
    }
}

/// `key` with the one that was meant, if it is like any.
pub(crate) fn meant<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = known
        .into_iter()
        .map(|it| (strsim::jaro_winkler(key, it), it))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match near {
        Some((_, near)) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}
