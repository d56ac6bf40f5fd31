//! `cargo xtask mutants`: is there a test that fails when the code is wrong?
//!
//! The lists in `xtask/mutants/` say how the pure cores could be wrong, each with what a user would suffer.
//! All of them are planted into a copy of the sources, each behind a switch, so that a crate is built once and
//! its tests run once per mutant: a minute where a build for each would take hours. The working tree is read only.

mod copy;
mod list;
mod plant;
mod report;
mod trial;

use std::collections::{BTreeMap, btree_map::Entry};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use toml_edit::DocumentMut;

use self::list::Core;
use self::plant::{Named, Planted, plant};
use self::trial::{Trial, Verdict};
use crate::Command;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "mutants", help: HELP, run: mutants };

const HELP: &str = "\
Break the pure cores in the ways that xtask/mutants/ lists, and see their tests fail

Usage: cargo xtask mutants [CORE…]

Arguments:
  [CORE…]   only these; all of them unless told

Options:
  --list    print the cores, and how many mutants each has

Works on a copy of the sources in target/mutants, with the dependencies that are built already.
Each mutant is `killed by N tests`, `killed by a crash`, `timed out` (killed too) or `SURVIVED`.
The exit code is 1 when one survived that its list does not excuse.
";

/// What the copy is called, so that cargo keeps it apart from what it is a copy of.
const VERSION_SUFFIX: &str = "-mutants";

fn mutants(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let cores = list::read(&workspace.root.join("xtask/mutants"))?;
    if arguments.iter().any(|argument| argument == "--list") {
        for core in &cores {
            println!("{:10}{:3}  {}", core.name, core.mutants.len(), core.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = select(&cores, arguments)?;
    let (copy, lines) = copied(workspace, &cores)?;
    let mut tried = Vec::new();
    for core in wanted {
        tried.push((core, try_all(workspace, &copy, core, &lines)?));
    }
    print!("\n{}", report::render(&tried));
    let failed = tried.iter().any(|(core, verdicts)| report::is_failed(core, verdicts));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn select<'a>(cores: &'a [Core], names: &[String]) -> Result<Vec<&'a Core>> {
    for name in names {
        if !cores.iter().any(|core| core.name == *name) {
            let known = cores.iter().map(|core| core.name.as_str()).collect::<Vec<_>>().join(", ");
            bail!("no core `{name}`; there are {known}\n{HELP}");
        }
    }
    Ok(cores.iter().filter(|core| names.is_empty() || names.contains(&core.name)).collect())
}

/// The line of each mutant, by its name.
type Lines = BTreeMap<String, usize>;

/// The copy with every mutant in it, whichever are wanted: else each choice would be a build of its own.
fn copied(workspace: &Workspace, cores: &[Core]) -> Result<(PathBuf, Lines)> {
    let copy = workspace.root.join("target/mutants/src");
    let (mut changed, lines) = planted(&workspace.root, cores)?;
    let manifest = std::fs::read_to_string(workspace.root.join("Cargo.toml"))?;
    changed.insert(PathBuf::from("Cargo.toml"), renamed(&manifest)?);
    copy::refresh(&workspace.root, &copy, &changed)?;
    Ok((copy, lines))
}

/// Every file with mutants, with them in it.
fn planted(root: &Path, cores: &[Core]) -> Result<(BTreeMap<PathBuf, String>, Lines)> {
    let mut files: BTreeMap<&str, Vec<Named>> = BTreeMap::new();
    for core in cores {
        for (index, mutant) in core.mutants.iter().enumerate() {
            let name = core.mutant_name(index);
            files.entry(mutant.file.as_str()).or_default().push(Named { name, mutant });
        }
    }
    let mut changed: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut all_lines = Lines::new();
    for (file, mutants) in files {
        let text = std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        let Planted { text, lines } = plant(&text, &mutants).with_context(|| file.to_owned())?;
        changed.insert(PathBuf::from(file), text);
        all_lines.extend(mutants.into_iter().map(|it| it.name).zip(lines));
        let crate_root = crate_root(root, file)?;
        let path = root.join(&crate_root);
        if let Entry::Vacant(vacant) = changed.entry(crate_root) {
            vacant.insert(std::fs::read_to_string(path)? + plant::SWITCH);
        }
    }
    Ok((changed, all_lines))
}

/// `crates/NAME/src/lib.rs`, or `main.rs` where there is no library.
fn crate_root(root: &Path, file: &str) -> Result<PathBuf> {
    let (folder, _) =
        file.split_once("/src/").with_context(|| format!("`{file}` is in no crate"))?;
    let candidates = ["src/lib.rs", "src/main.rs"].map(|it| Path::new(folder).join(it));
    let found = candidates.into_iter().find(|it| root.join(it).is_file());
    found.with_context(|| format!("`{folder}` has no `src/lib.rs` and no `src/main.rs`"))
}

/// A package is known to cargo by its name, its version and its place in the workspace.
fn renamed(manifest: &str) -> Result<String> {
    let mut manifest: DocumentMut = manifest.parse().context("reading `Cargo.toml`")?;
    let package = manifest.get_mut("workspace").and_then(|it| it.get_mut("package"));
    let version = package.and_then(|it| it.get_mut("version"));
    let version = version.context("`Cargo.toml` has no `workspace.package.version`")?;
    let number = version.as_str().context("the version is no text")?;
    *version = toml_edit::value(format!("{number}{VERSION_SUFFIX}"));
    Ok(manifest.to_string())
}

fn try_all(
    workspace: &Workspace,
    copy: &Path,
    core: &Core,
    lines: &Lines,
) -> Result<Vec<(usize, Verdict)>> {
    eprintln!("{}: building the tests of {}", core.name, core.package);
    let Some(trial) = Trial::build(workspace, copy, core)? else {
        return Ok(core.mutants.iter().map(|_| (0, Verdict::DoesNotCompile)).collect());
    };
    let mut verdicts = Vec::new();
    for (index, mutant) in core.mutants.iter().enumerate() {
        let name = core.mutant_name(index);
        let line = lines.get(&name).copied().unwrap_or_default();
        let verdict = trial.run(&name)?;
        let count = core.mutants.len();
        println!("{name:14} of {count}  {:22} {}:{line}", verdict.to_string(), mutant.file);
        verdicts.push((line, verdict));
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code moves: a list that no longer finds its place would say nothing about the tests.
    #[test]
    fn every_mutant_finds_its_place_and_each_core_has_ten() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let cores = list::read(&root.join("xtask/mutants")).unwrap();
        let names: Vec<&str> = cores.iter().map(|core| core.name.as_str()).collect();
        assert_eq!(
            names,
            ["behavior", "codec", "gate", "guard", "hits", "log", "state", "template"]
        );
        for core in &cores {
            assert!(core.mutants.len() >= 10, "{} has {}", core.name, core.mutants.len());
        }
        let (changed, lines) = planted(root, &cores).unwrap();
        assert_eq!(lines.len(), cores.iter().map(|core| core.mutants.len()).sum::<usize>());
        let main = changed.get(Path::new("crates/holdpoint/src/main.rs")).unwrap();
        assert!(main.contains(plant::SWITCH));
    }

    #[test]
    fn the_copy_has_a_version_of_its_own() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n";
        let renamed = renamed(manifest).unwrap();
        assert_eq!(renamed, "[workspace.package]\nversion = \"0.1.0-mutants\"\n");
        assert!(super::renamed("[workspace]\n").is_err());
    }

    #[test]
    fn an_unknown_core_is_refused_with_those_that_there_are() {
        let core = |name: &str| Core { name: name.to_owned(), ..Core::default() };
        let cores = [core("state"), core("hits")];
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
            select(&cores, &wanted)
                .map(|it| it.iter().map(|it| it.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["state", "hits"]);
        assert_eq!(names(&["hits"]).unwrap(), ["hits"]);
        let error = names(&["stat"]).unwrap_err().to_string();
        assert!(error.contains("`stat`; there are state, hits"), "{error}");
    }
}
