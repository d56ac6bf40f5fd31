//! The same measure for any language of the suite: `[bench]` of `fixtures/<language>/suite/suite.toml` says what is
//! launched, and how its debugger is driven without us.
//!
//! - `source`: the program, whose lines that end in ` hit` and ` next` are the breakpoint and the one after it
//! - `launch`: what `debug_launch` is given; `expression`: one that is 42 there
//! - `raw`: the debugger's command (with `{port}` it listens there, else it speaks by its pipes), `raw_launch` the
//!   arguments of its `launch`, with `{stop}` for whether to stop at the entry
//! - `build`: commands first

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use super::adapter::{Raw, RawAdapter};
use super::{Pair, Refused, Target, compare, ours::Ours};
use crate::bench::client::{Home, Server};
use crate::bench::table::Row;
use crate::process::{Show, run};
use crate::workspace::Workspace;

/// A build that takes longer hangs.
const BUILD_LIMIT: std::time::Duration = std::time::Duration::from_secs(300);

pub(super) fn rows(workspace: &Workspace, server: &Server, language: &str) -> Result<Vec<Row>> {
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
    let table = Table { bench, folder: &folder };
    for words in table.lists("build") {
        let (program, args) = words.split_first().context("an empty command")?;
        let mut command = std::process::Command::new(program);
        let finished = run(command.args(args).current_dir(&folder), BUILD_LIMIT, Show::Errors)?;
        if !finished.success() {
            bail!("`{}` failed", words.join(" "));
        }
    }
    let source = folder.join(table.text("source")?);
    let mut target = Target::at(&source)?;
    target.launch = Some(serde_json::from_str(&table.text("launch")?).context("`launch`")?);
    target.expression = table.text("expression")?;
    let raw =
        Raw { words: table.list("raw"), launch: table.text("raw_launch")?, folder: folder.clone() };
    let mut ours = Ours::new(&target, server)?;
    super::Debugger::launch(&mut ours, super::First::Entry).context(Refused)?;
    super::Debugger::end(&mut ours)?;
    let called = document.get("called").and_then(Item::as_str).unwrap_or(language);
    compare(called, &target, Pair { ours, floor: RawAdapter::new(&target, raw)? })
}

struct Table<'a> {
    bench: &'a Item,
    folder: &'a Path,
}

impl Table<'_> {
    fn text(&self, key: &str) -> Result<String> {
        let text = self.bench.get(key).and_then(Item::as_str);
        Ok(self.put(text.with_context(|| format!("`[bench]` has no `{key}`"))?))
    }

    fn list(&self, key: &str) -> Vec<String> {
        let all = self.bench.get(key).and_then(Item::as_array).into_iter().flatten();
        all.filter_map(|it| it.as_str().map(|it| self.put(it))).collect()
    }

    fn lists(&self, key: &str) -> Vec<Vec<String>> {
        let all = self.bench.get(key).and_then(Item::as_array).into_iter().flatten();
        let words = |it: &toml_edit::Value| {
            let each = it.as_array().into_iter().flatten();
            each.filter_map(|it| it.as_str().map(|it| self.put(it))).collect()
        };
        all.map(words).collect()
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

/// What the arguments of a raw launch say of the entry.
pub(super) fn arguments(template: &str, stops: bool) -> Result<Value> {
    let text = template.replace("{stop}", if stops { "true" } else { "false" });
    serde_json::from_str(&text).with_context(|| format!("`raw_launch`: {text}"))
}
