//! Our recorder for Node, required by `NODE_OPTIONS`: every Node that the program starts has it, too.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    adapter::provided,
    failure::{Code, Failure},
};

/// One file of `clients/js/record`.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../clients/js/record/", $name)))
    };
}

const FILES: &[(&str, &str)] = &[
    file!("awaited.cjs"),
    file!("changes.cjs"),
    file!("config.cjs"),
    file!("crash.cjs"),
    file!("ends.cjs"),
    file!("frames.cjs"),
    file!("hooks.mjs"),
    file!("loaders.cjs"),
    file!("recorder.cjs"),
    file!("register.cjs"),
    file!("secrets.cjs"),
    file!("stacks.cjs"),
    file!("stream.cjs"),
    file!("texts.cjs"),
    file!("values.cjs"),
    file!("weave.cjs"),
    file!("weaving.mjs"),
];

pub(super) fn env(
    home: &Path,
    known: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Code::LaunchFailed, format!("the recorder cannot be written: {error}"))
            .hint("is the home of Holdpoint writable?")
    };
    let folder = provided::below(home, written).map_err(failed)?;
    let before = known("NODE_OPTIONS").filter(|it| !it.is_empty()).map(|it| it + " ");
    // Node takes a quoted word for one, whatever is in it.
    let file = folder.join("register.cjs").display().to_string().replace('"', "\\\"");
    let options = format!("{}--require=\"{file}\"", before.unwrap_or_default());
    Ok(BTreeMap::from([("NODE_OPTIONS".to_owned(), options)]))
}

/// The folder below `base` with all of its files.
pub(super) fn written(base: &Path) -> std::io::Result<PathBuf> {
    let folder = base.join("record-node");
    for (name, content) in FILES {
        provided::write_once(&folder.join(name), content)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_recorder_is_brought_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/js/record");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .filter(|it| it.ends_with("js"))
            .collect();
        there.sort();
        let listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(there, listed);
    }
}
