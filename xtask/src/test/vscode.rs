//! A real VS Code, without a window: code-server and a browser, our extension in it, and programs debugged by files.
//!
//! Not in the default run: it installs the editor, which takes minutes. What it starts is in one process group, and
//! whatever left it carries a mark by which it is found and ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{Site, Step, sdk_js, show};
use crate::install::{chromium, code_server, copy_tree, debugpy, empty, node_modules};
use crate::summary::Outcome;
use crate::vsix;

pub(super) const VSCODE: Step = Step {
    name: "vscode",
    about: "a real VS Code with our extension; only with --vscode",
    run: vscode,
    again: true,
};

const LIMIT: Duration = Duration::from_secs(25 * 60);

/// What ends by itself when its parent or its pipe is gone gets so long for it.
const GRACE: Duration = Duration::from_secs(10);

/// Between two looks at what is still there.
const LOOK: Duration = Duration::from_millis(200);

const MARK: &str = "HOLDPOINT_VSCODE_RUN";

fn vscode(site: &Site) -> Result<Outcome> {
    let workspace = site.workspace;
    let editor = code_server(workspace)?;
    let browser = chromium(workspace, "VS Code")?;
    let python = debugpy(workspace)?;
    let source = workspace.root.join("tests").join("vscode");
    let tests = node_modules(workspace, "vscode-driver", &source)?.join("tests");
    empty(&tests)?;
    copy_tree(&source, &tests).context("copying the tests")?;
    let mark = format!("{}-{}", std::process::id(), tests.display());
    let mut command = Command::new(&editor.node);
    command
        .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .args(["editor.test.mjs", "agent.test.mjs"])
        .current_dir(&tests)
        .env("HOLDPOINT_CODE_NODE", &editor.node)
        .env("HOLDPOINT_CODE_ENTRY", &editor.entry)
        .env("HOLDPOINT_VSIX", vsix::written(workspace)?)
        .env("HOLDPOINT_TEST_VSIX", test_debugger(&tests)?)
        .env("HOLDPOINT_CHROMIUM", browser)
        .env("HOLDPOINT_TEST_PYTHON", python)
        .env("HOLDPOINT_BIN", binary(site)?)
        .env(MARK, &mark);
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_js::totals(&finished.stdout);
    let outcome = Outcome::of_tests(&finished, totals, "node --test tests/vscode");
    let left = end_what_is_left(&format!("{MARK}={mark}"));
    if left.is_empty() {
        return Ok(outcome);
    }
    let note = format!("left behind and ended: {}", left.join(", "));
    Ok(Outcome::of_all(vec![outcome, Outcome::failed(note)]))
}

/// The server: the one that `HOLDPOINT_BIN` names, where somebody built it already, else a new one.
fn binary(site: &Site) -> Result<PathBuf> {
    match std::env::var_os("HOLDPOINT_BIN") {
        Some(path) => Ok(std::path::absolute(path)?),
        None => Ok(site.holdpoint()?.to_owned()),
    }
}

/// The debugger for Python that only this test has.
fn test_debugger(tests: &Path) -> Result<PathBuf> {
    let (_, bytes) = vsix::packed(&tests.join("debugger"))?;
    let path = tests.join("debugger.vsix");
    fs::write(&path, bytes).with_context(|| format!("writing `{}`", path.display()))?;
    Ok(path)
}

/// Ends whatever still carries the mark after a moment; says what it was.
fn end_what_is_left(mark: &str) -> Vec<String> {
    let until = Instant::now() + GRACE;
    let mut left = marked(mark);
    while !left.is_empty() && Instant::now() < until {
        thread::sleep(LOOK);
        left = marked(mark);
    }
    for (pid, name) in &left {
        if let Err(error) = Command::new("kill").args(["-9", pid]).status() {
            eprintln!("warning: process {pid} (`{name}`) stays behind: {error}");
        }
    }
    left.into_iter().map(|(pid, name)| format!("{name} ({pid})")).collect()
}

/// The processes whose environment has the mark, by what they are called.
fn marked(mark: &str) -> Vec<(String, String)> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found = Vec::new();
    for entry in all.filter_map(Result::ok) {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|it| *it == 0).any(|it| it == mark.as_bytes()) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push((pid, name.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_carries_the_mark_is_found_and_ended() {
        let value = format!("test-{}", std::process::id());
        let mut child = Command::new("sleep").arg("100").env(MARK, &value).spawn().unwrap();
        let found = marked(&format!("{MARK}={value}"));
        assert_eq!(found, [(child.id().to_string(), "sleep".to_owned())]);
        assert!(marked(&format!("{MARK}={value}0")).is_empty(), "only the whole mark");
        Command::new("kill").args(["-9", &child.id().to_string()]).status().unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
