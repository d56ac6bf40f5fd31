//! Which files of workspaces the user trusts: by their place and by what stood in them. A repository that somebody
//! cloned brings tools along; none of them is more than a text until its user says so, and one that was changed is
//! asked about again.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::home;

/// In the home: what it holds is the user's alone.
const NAME: &str = "trusted_tools.json";
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trust {
    format: u32,
    /// The hash of what stood in the file when it was trusted.
    files: BTreeMap<PathBuf, String>,
}

impl Trust {
    /// What was trusted before. A file that cannot be read trusts nothing.
    pub(crate) fn load() -> Trust {
        let text = home::folder().and_then(|home| fs::read_to_string(home.join(NAME)).ok());
        let trust = text.and_then(|text| serde_json::from_str::<Trust>(&text).ok());
        trust
            .filter(|it| it.format == FORMAT)
            .unwrap_or(Trust { format: FORMAT, files: BTreeMap::new() })
    }

    pub(crate) fn has(&self, path: &Path, text: &str) -> bool {
        self.files.get(&whole(path)).is_some_and(|hash| *hash == hash_of(text))
    }

    pub(crate) fn add(&mut self, path: &Path, text: &str) {
        self.files.insert(whole(path), hash_of(text));
    }

    pub(crate) fn save(&self) -> io::Result<()> {
        let home = home::folder().ok_or_else(|| io::Error::other("there is no home folder"))?;
        home::make(&home)?;
        home::put(&home.join(NAME), &serde_json::to_string_pretty(self)?)
    }
}

/// One file has one name.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn hash_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_not_trusted() {
        let mut trust = Trust { format: FORMAT, files: BTreeMap::new() };
        let path = Path::new("/nowhere/a_b.yaml");
        trust.add(path, "one");
        assert!(trust.has(path, "one"));
        assert!(!trust.has(path, "two"));
        assert!(!trust.has(Path::new("/nowhere/b_a.yaml"), "one"));
    }
}
