//! Files that were edited while Python runs them: which it has loaded, and which lines of the text that runs
//! have code. pydevd looks at the file for that, whatever it has become.

use std::{path::Path, sync::PoisonError};

use serde_json::json;

use super::{
    Dap,
    pydevd::{is_python, literal},
};
use crate::{
    backend::{Loaded, Running},
    failure::Failure,
};

/// The program's own modules, without calling anything of theirs, and without our helper: every session
/// asks for them.
const LOADED: &str = "(lambda sys, os, json: json.dumps([{'file': os.path.abspath(file), 'which': id(spec)} \
     for file, spec in [(each.get('__file__'), each.get('__spec__')) for each in \
         [type(sys).__dict__['__dict__'].__get__(it) for it in list(sys.modules.values()) \
          if isinstance(it, type(sys))]] \
     if isinstance(file, str) and file.endswith(('.py', '.pyw')) \
     and not file.startswith(os.path.dirname(os.__file__)) \
     and 'site-packages' not in file and 'dist-packages' not in file and 'debugpy' not in file]))\
     (__import__('sys'), __import__('os'), __import__('json'))";

impl Dap {
    pub async fn running(&self, _: &Path) -> Result<Running, Failure> {
        Ok(Running::Unknown)
    }

    pub async fn loaded(&self) -> Result<Vec<Loaded>, Failure> {
        if !self.known.is_pydevd {
            return Ok(Vec::new());
        }
        let answer = self.silently(LOADED).await?;
        serde_json::from_str(&answer).map_err(|error| {
            Failure::internal(format!("what the program said of its modules: {error}"))
        })
    }

    /// Whether what is loaded of a file is what it says now; `None` where nothing tells.
    pub async fn is_same(&self, file: &Path) -> Result<Option<bool>, Failure> {
        if !self.known.is_pydevd {
            return Ok(None);
        }
        let asked = json!(file).to_string();
        let answer = self.helper(&format!("is_same({})", literal(&asked))).await?;
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    /// Tells which text the program runs for a file; `None` for what the file says.
    pub async fn runs(&self, file: &Path, text: Option<&str>) -> Result<(), Failure> {
        if !self.known.is_pydevd || !is_python(Some(file)) {
            return Ok(());
        }
        let told = json!({ "file": file, "text": text }).to_string();
        self.helper(&format!("runs({})", literal(&told))).await?;
        let mut texts = self.known.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => drop(texts.insert(file.to_owned(), text.to_owned())),
            None => drop(texts.remove(file)),
        }
        Ok(())
    }

    /// The text that the program runs for a file, where the file says another.
    pub(super) fn told_text(&self, file: &Path) -> Option<String> {
        let texts = self.known.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(file).cloned()
    }
}
