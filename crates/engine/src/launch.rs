//! What to debug, as a caller says it. Kept across restarts, so its serialised form is a contract.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::secrets::Secrets;

/// One of `program`, `module`, `command`, `test` and `configuration` says what runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    pub program: Option<PathBuf>,
    pub module: Option<String>,
    pub command: Vec<String>,
    /// One test: `tests/test_a.py::test_total`, `cart.test.js::adds up`.
    pub test: Option<String>,
    pub language: Option<String>,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub env: BTreeMap<String, String>,
    /// Secrets of its environment that were not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    pub stop_on_entry: bool,
    /// Written to the program's stdin at its start, which then ends.
    pub stdin: Option<String>,
    pub interpreter: Option<PathBuf>,
    pub just_my_code: bool,
    /// With a recorder inside, beside the debugger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// A configuration of the editor that has `cwd` open; then nothing else of this says what runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

impl Launch {
    /// As it may be kept: without the secrets of its environment, but with their names.
    pub fn without_secrets(&self, secrets: &Secrets) -> Launch {
        let mut kept = self.clone();
        let named = kept.env.extract_if(.., |name, value| secrets.is_secret(name, value));
        kept.withheld = named.map(|(name, _)| name).collect();
        kept
    }

    /// The same again, with what is given anew. An error names the secrets that are missing still.
    pub fn again(mut self, env: BTreeMap<String, String>) -> Result<Launch, Vec<String>> {
        self.env.extend(env);
        let env = &self.env;
        self.withheld.retain(|name| !env.contains_key(name));
        if self.withheld.is_empty() { Ok(self) } else { Err(self.withheld) }
    }

    /// What to call the session when nobody named it.
    pub fn title(&self) -> String {
        let file =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.configuration
            .clone()
            .or_else(|| self.program.as_ref().and_then(file))
            .or_else(|| self.module.clone())
            .or_else(|| self.command.first().cloned())
            .or_else(|| self.test.clone())
            .unwrap_or_else(|| "program".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_kept_without_its_secrets() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let env = [("API_KEY", "hunter2"), ("LANG", "C"), ("DB", "postgres://a:b@c/d")];
        let launch = Launch { env: env.map(pair).into(), ..Launch::default() };
        let kept = launch.without_secrets(&Secrets::default());
        assert_eq!(kept.withheld, ["API_KEY"]);
        assert!(!serde_json::to_string(&kept).unwrap().contains("hunter2"));
        assert_eq!(kept.clone().again(BTreeMap::new()), Err(vec!["API_KEY".to_owned()]));
        let again = kept.again([pair(("API_KEY", "other"))].into()).unwrap();
        assert_eq!(again.env.get("API_KEY").unwrap(), "other");
        assert_eq!(again.env.get("LANG").unwrap(), "C");
    }
}
