//! The lists: one file per core, `xtask/mutants/CORE.toml`.
//!
//! A mutant is text of the source and what would stand in its place: an expression for an expression, or
//! statements (with their semicolons) for statements.

use std::path::Path;

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Table};

/// Code that decides and does nothing else, with the tests that say how.
#[derive(Default)]
pub(super) struct Core {
    /// That of its file.
    pub(super) name: String,
    pub(super) about: String,
    pub(super) package: String,
    /// What cargo is to build: `--lib`, or `--bin` and a name.
    pub(super) target: Vec<String>,
    /// Parts of the names of its tests.
    pub(super) tests: Vec<String>,
    pub(super) mutants: Vec<Mutant>,
}

#[derive(Debug)]
pub(super) struct Mutant {
    pub(super) file: String,
    /// Text of the file behind which `find` is looked for; without it there is one such place in the file.
    pub(super) after: Option<String>,
    pub(super) find: String,
    pub(super) with: String,
    /// What a user would suffer.
    pub(super) hurts: String,
    /// Why no test can tell.
    pub(super) excused: Option<String>,
}

impl Core {
    pub(super) fn mutant_name(&self, index: usize) -> String {
        format!("{}-{}", self.name, index + 1)
    }
}

/// All cores, by their names.
pub(super) fn read(folder: &Path) -> Result<Vec<Core>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut cores = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name =
            path.file_name().and_then(|it| it.to_str()).and_then(|it| it.strip_suffix(".toml"));
        let Some(name) = name else { bail!("`{}` is no list", path.display()) };
        let text = std::fs::read_to_string(&path)?;
        cores.push(parse(name, &text).with_context(|| path.display().to_string())?);
    }
    cores.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cores)
}

fn parse(name: &str, text: &str) -> Result<Core> {
    let list: DocumentMut = text.parse()?;
    let mutants = list.get("mutant").and_then(|it| it.as_array_of_tables());
    let mutants = mutants.context("no `[[mutant]]`")?.iter().map(mutant);
    let target = word(&list, "target")?;
    Ok(Core {
        name: name.to_owned(),
        about: word(&list, "about")?,
        package: word(&list, "package")?,
        target: target.split(' ').map(str::to_owned).collect(),
        tests: word(&list, "tests")?.split(' ').map(str::to_owned).collect(),
        mutants: mutants.collect::<Result<_>>()?,
    })
}

fn mutant(table: &Table) -> Result<Mutant> {
    const KEYS: [&str; 6] = ["file", "after", "find", "with", "hurts", "excused"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
        bail!("a mutant has no `{key}`");
    }
    Ok(Mutant {
        file: word(table, "file")?,
        after: optional(table, "after"),
        find: word(table, "find")?,
        with: word(table, "with")?,
        hurts: word(table, "hurts")?,
        excused: optional(table, "excused"),
    })
}

fn word(table: &Table, key: &str) -> Result<String> {
    optional(table, key).with_context(|| format!("no `{key}` in\n{table}"))
}

fn optional(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(|it| it.as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "
about = 'counting'
package = 'p'
target = '--bin p'
tests = 'count sum'

[[mutant]]
file = 'crates/p/src/count.rs'
find = 'a + 1'
with = 'a'
hurts = 'one is missing'
";

    #[test]
    fn a_list_is_read() {
        let core = parse("count", LIST).unwrap();
        assert_eq!(core.target, ["--bin", "p"]);
        assert_eq!(core.tests, ["count", "sum"]);
        assert_eq!(core.mutant_name(0), "count-1");
        let [mutant] = &core.mutants[..] else { panic!("{:?}", core.mutants) };
        assert_eq!((mutant.find.as_str(), mutant.with.as_str()), ("a + 1", "a"));
        assert!(mutant.after.is_none() && mutant.excused.is_none());
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let error = |text: &str| format!("{:#}", parse("count", text).map(|_| ()).unwrap_err());
        assert!(error(&LIST.replace("hurts", "hurt")).contains("no `hurt`"));
        assert!(error(&LIST.replace("find = 'a + 1'", "")).contains("no `find`"));
        assert!(error("about = 'nothing'").contains("no `[[mutant]]`"));
    }
}
