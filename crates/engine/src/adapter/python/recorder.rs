//! Our recorder for Python, as a folder on `PYTHONPATH`: every Python that the program starts has it, too.

use std::{collections::BTreeMap, path::Path};

use crate::{
    adapter::provided,
    failure::{Code, Failure},
};

/// One file of `clients/python/record`.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../clients/python/record/", $name)))
    };
}

const FILES: &[(&str, &str)] = &[
    file!("sitecustomize.py"),
    file!("_holdpoint_record/__init__.py"),
    file!("_holdpoint_record/config.py"),
    file!("_holdpoint_record/files.py"),
    file!("_holdpoint_record/imports.py"),
    file!("_holdpoint_record/lines.py"),
    file!("_holdpoint_record/mutators.py"),
    file!("_holdpoint_record/native.py"),
    file!("_holdpoint_record/plan.py"),
    file!("_holdpoint_record/process.py"),
    file!("_holdpoint_record/pure.py"),
    file!("_holdpoint_record/pytest_plugin.py"),
    file!("_holdpoint_record/runners.py"),
    file!("_holdpoint_record/secret_rules.py"),
    file!("_holdpoint_record/secrets.py"),
    file!("_holdpoint_record/stores.py"),
    file!("_holdpoint_record/stream.py"),
    file!("_holdpoint_record/tail.py"),
    file!("_holdpoint_record/values.py"),
];

/// The compiled part, which stands beside the others; empty where it could not be built. Without it the pure recorder
/// does what it can.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/holdpoint_record.so"));

pub(super) fn env(
    home: &Path,
    known: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Code::LaunchFailed, format!("the recorder cannot be written: {error}"))
            .hint("is the home of Holdpoint writable?")
    };
    let folder = provided::below(home, |base| {
        let folder = base.join("record-python");
        for (name, content) in FILES {
            provided::write_once(&folder.join(name), content)?;
        }
        if !LIBRARY.is_empty() {
            provided::write_once(&folder.join("holdpoint_record.so"), LIBRARY)?;
        }
        Ok(folder)
    })
    .map_err(failed)?;
    let mut path = folder.display().to_string();
    if let Some(before) = known("PYTHONPATH").filter(|it| !it.is_empty()) {
        path = format!("{path}:{before}");
    }
    Ok(BTreeMap::from([("PYTHONPATH".to_owned(), path)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_recorder_is_brought_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/record");
        let inner = folder.join("_holdpoint_record");
        let mut there: Vec<String> = std::fs::read_dir(inner)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .filter(|it| it.ends_with(".py"))
            .map(|it| format!("_holdpoint_record/{it}"))
            .chain(["sitecustomize.py".to_owned()])
            .collect();
        there.sort();
        let mut listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }
}
