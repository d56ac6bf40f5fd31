//! Where a breakpoint is, as it was asked for.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Line {
        file: PathBuf,
        line: u32,
        column: Option<u32>,
    },
    /// Wherever a function of that name begins: `total`, `Cart.total`; in one file, or in any.
    Function {
        name: String,
        file: Option<PathBuf>,
    },
}

impl Place {
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::Line { file, .. } => Some(file),
            Place::Function { file, .. } => file.as_deref(),
        }
    }
}

/// `/app/shop.py:12`, `function Cart.total`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { file, line, .. } => write!(f, "{}:{line}", file.display()),
            Place::Function { name, file: None } => write!(f, "function {name}"),
            Place::Function { name, file: Some(file) } => {
                write!(f, "function {name} in {}", file.display())
            }
        }
    }
}
