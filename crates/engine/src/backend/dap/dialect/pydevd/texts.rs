//! Files that were edited while Python runs them: which it has loaded, and which lines of the text that runs
//! have code. pydevd looks at the file for that, whatever it has become.

use std::{path::Path, sync::PoisonError};

use serde_json::json;

use super::{Talk, is_python, literal};
use crate::{backend::Loaded, failure::Failure};

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

impl Talk<'_> {
    pub(super) async fn loaded(self) -> Result<Vec<Loaded>, Failure> {
        let answer = self.silently(LOADED).await?;
        serde_json::from_str(&answer).map_err(|error| {
            Failure::internal(format!("what the program said of its modules: {error}"))
        })
    }

    pub(super) async fn is_same(self, file: &Path) -> Result<Option<bool>, Failure> {
        let asked = json!(file).to_string();
        let answer = self.helper(&format!("is_same({})", literal(&asked))).await?;
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    pub(super) async fn runs(self, file: &Path, text: Option<&str>) -> Result<(), Failure> {
        if !is_python(Some(file)) {
            return Ok(());
        }
        let told = json!({ "file": file, "text": text }).to_string();
        self.helper(&format!("runs({})", literal(&told))).await?;
        let mut texts = self.own.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => drop(texts.insert(file.to_owned(), text.to_owned())),
            None => drop(texts.remove(file)),
        }
        Ok(())
    }

    /// The text that the program runs for a file, where the file says another.
    pub(super) fn told_text(self, file: &Path) -> Option<String> {
        let texts = self.own.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(file).cloned()
    }
}
