//! The same measure for any language of the suite: `[bench]` of `fixtures/<language>/suite/suite.toml` says what is
//! launched, and how its debugger is driven without us.
//!
//! - `source`: the program, whose lines that end in ` hit` and ` next` are the breakpoint and the one after it. Where
//!   a line ends in ` entry`, its debugger is to stop there by a breakpoint, else by its own `stopOnEntry`
//! - `build`: commands first, so that neither side compiles anything; `env`: variables of our server
//! - `launch`: what `debug_launch` is given; `expression`: one that is 42 there
//! - `raw`: the debugger's command ([`Raw`] says how it is reached)
//! - `speaks`: its protocol, `dap` when left out; `jdwp` and `sdb` are spoken with the runtime itself
//! - `raw_launch`: the arguments of its `launch`, of `dap` alone

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use super::adapter::Described;
use super::dap::DapFloor;
use super::jdwp::Jdwp;
use super::raw::Raw;
use super::sdb::Sdb;
use super::{Debugger, First, Pair, Refused, Target, compare, ours::Ours};
use crate::bench::client::{Home, Server};
use crate::bench::table::Row;
use crate::install::Missing;
use crate::process::{Show, run};
use crate::workspace::Workspace;

/// A build that takes longer hangs.
const BUILD_LIMIT: Duration = Duration::from_secs(300);
/// The same of a command that tells whether something is there.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

pub(super) fn rows(workspace: &Workspace, server: Server, language: &str) -> Result<Vec<Row>> {
    let fixtures = workspace.root.join("fixtures").join(language).join("suite");
    let file = fixtures.join("suite.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("no language `{language}`: `{}`", file.display()))?;
    let document: DocumentMut = text.parse()?;
    let bench = document.get("bench").with_context(|| format!("`{language}` has no `[bench]`"))?;
    let home = Home::new()?;
    let folder = home.0.join(language);
    copy(&fixtures, &folder)?;
    let folder = folder.canonicalize()?;
    let path = path(workspace, language)?;
    is_here(&Table { item: document.as_item(), folder: &folder }, &path)?;
    let table = Table { item: bench, folder: &folder };
    for words in table.lists("build") {
        if !succeeds(&words, &folder, &path, BUILD_LIMIT)? {
            bail!("`{}` failed", words.join(" "));
        }
    }
    let mut target = Target::at(&folder.join(table.text("source")?))?;
    target.launch = Some(table.json("launch")?.context("`[bench]` has no `launch`")?);
    target.expression = table.text("expression")?;
    let mut env = table.pairs("env");
    env.push(("PATH".into(), path.clone()));
    let server = server.inside(&folder, env);
    let mut ours = Ours::new(&target, &server)?;
    ours.launch(First::Entry).context(Refused)?;
    ours.end()?;
    let raw = Raw {
        words: table.list("raw"),
        folder: Some(folder.clone()),
        env: vec![("PATH".into(), path)],
    };
    let called = document.get("called").and_then(Item::as_str).unwrap_or(language);
    match table.text("speaks").as_deref().unwrap_or("dap") {
        "dap" => {
            let launch = table.json("raw_launch")?.context("`[bench]` has no `raw_launch`")?;
            let floor = DapFloor::new(&target, raw, Described(launch))?;
            compare(called, &target, Pair { ours, floor })
        }
        "jdwp" => compare(called, &target, Pair { ours, floor: Jdwp::new(&target, raw)? }),
        "sdb" => compare(called, &target, Pair { ours, floor: Sdb::new(&target, raw)? }),
        other => bail!("nobody here speaks `{other}`"),
    }
}

/// The search path, with what was installed for the tests.
fn path(workspace: &Workspace, language: &str) -> Result<OsString> {
    let cache = &workspace.cache;
    let installed = [cache.join("adapters").join(language).join("bin"), cache.join("delve")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = installed.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(all).context("a folder with a colon in its name")
}

/// What the suite says that the language's programs need.
fn is_here(suite: &Table<'_>, path: &OsString) -> Result<()> {
    let has = |name: &String| std::env::split_paths(path).any(|it| it.join(name).is_file());
    let check = suite.list("check");
    let absent = match suite.list("needs").into_iter().find(|it| !has(it)) {
        Some(absent) => Some(absent),
        None if check.is_empty() => None,
        None => (!succeeds(&check, suite.folder, path, CHECK_LIMIT)?).then(|| check.join(" ")),
    };
    let Some(absent) = absent else { return Ok(()) };
    let text = format!("nothing to measure: `{absent}` is not on this machine");
    Err(Missing(format!("{text}\nhint: `cargo xtask install` gets it, or says who can")).into())
}

fn succeeds(words: &[String], folder: &Path, path: &OsString, limit: Duration) -> Result<bool> {
    let (program, args) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("PATH", path);
    Ok(run(&mut command, limit, Show::Errors)?.success())
}

/// A table of the file; `{folder}` in its texts is the copy of the suite.
struct Table<'a> {
    item: &'a Item,
    folder: &'a Path,
}

impl Table<'_> {
    fn text(&self, key: &str) -> Result<String> {
        let text = self.item.get(key).and_then(Item::as_str);
        Ok(self.put(text.with_context(|| format!("`[bench]` has no `{key}`"))?))
    }

    fn json(&self, key: &str) -> Result<Option<Value>> {
        let text = self.item.get(key).and_then(Item::as_str).map(|it| self.put(it));
        text.map(|it| serde_json::from_str(&it).with_context(|| format!("`{key}`: {it}")))
            .transpose()
    }

    fn list(&self, key: &str) -> Vec<String> {
        let all = self.item.get(key).and_then(Item::as_array).into_iter().flatten();
        all.filter_map(|it| it.as_str().map(|it| self.put(it))).collect()
    }

    fn lists(&self, key: &str) -> Vec<Vec<String>> {
        let all = self.item.get(key).and_then(Item::as_array).into_iter().flatten();
        let words = |it: &toml_edit::Value| {
            let each = it.as_array().into_iter().flatten();
            each.filter_map(|it| it.as_str().map(|it| self.put(it))).collect()
        };
        all.map(words).collect()
    }

    fn pairs(&self, key: &str) -> Vec<(OsString, OsString)> {
        let all = self.item.get(key).and_then(Item::as_table_like);
        let all = all.into_iter().flat_map(|it| it.iter());
        all.filter_map(|(name, it)| Some((name.into(), self.put(it.as_str()?).into()))).collect()
    }

    fn put(&self, text: &str) -> String {
        text.replace("{folder}", &self.folder.display().to_string())
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target: PathBuf = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_of_the_suite_is_whole() {
        let fixtures = Workspace::here().unwrap().root.join("fixtures");
        let mut seen = Vec::new();
        for entry in std::fs::read_dir(fixtures).unwrap().flatten() {
            let folder = entry.path().join("suite");
            let Ok(text) = std::fs::read_to_string(folder.join("suite.toml")) else { continue };
            let document: DocumentMut = text.parse().unwrap();
            let Some(item) = document.get("bench") else { continue };
            let table = Table { item, folder: &folder };
            Target::at(&folder.join(table.text("source").unwrap())).unwrap();
            table.json("launch").unwrap().unwrap();
            assert!(!table.text("expression").unwrap().is_empty());
            assert!(!table.list("raw").is_empty());
            let is_dap = table.text("speaks").is_err();
            assert_eq!(table.json("raw_launch").unwrap().is_some(), is_dap, "{}", folder.display());
            seen.push(entry.file_name().into_string().unwrap());
        }
        seen.sort();
        assert_eq!(seen, ["c", "cpp", "go", "java", "mono", "perl", "ruby", "rust"]);
    }
}
