//! Source files, and sources that exist only in the adapter.

use serde_json::Value;

use crate::lenient::{loose, words};

loose! {
    /// Sent back to the adapter as it came: some find a source by its reference or their own data.
    pub struct Source {
        pub name: Option<String>,
        pub path: Option<String>,
        /// Read it through [`Source::reference`]: 0 means none.
        pub source_reference: Option<i64>,
        pub presentation_hint: Option<SourceHint>,
        pub origin: Option<String>,
        pub sources: Option<Vec<Source>>,
        pub adapter_data: Option<Value>,
    }

    pub struct SourceArguments {
        pub source: Option<Source>,
        /// Required by the protocol although it repeats `source`, for old adapters.
        pub source_reference: i64,
    }

    pub struct SourceBody {
        pub content: String,
        pub mime_type: Option<String>,
    }

    pub struct LoadedSourcesBody {
        pub sources: Vec<Source>,
    }
}

words! {
    pub enum SourceHint {
        Normal = "normal",
        Emphasize = "emphasize",
        Deemphasize = "deemphasize",
    }
}

impl Source {
    /// A file by its path.
    pub fn at(path: impl Into<String>) -> Self {
        Source { path: Some(path.into()), ..Source::default() }
    }

    /// The number by which the adapter gives the text; none means that `path` is a file.
    pub fn reference(&self) -> Option<i64> {
        self.source_reference.filter(|reference| *reference > 0)
    }
}
