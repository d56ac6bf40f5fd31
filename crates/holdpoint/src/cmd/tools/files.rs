//! `holdpoint tools list`, `check` and `trust`: the tools that a workspace brings along.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, bail};

use crate::{
    config,
    metadata::{
        trust::Trust,
        workspace::{self, FileState, TRUST, ToolFile},
    },
    out,
};

#[derive(clap::Subcommand)]
pub(super) enum Action {
    /// The workspace's own tools (`.holdpoint/tools/*.yaml`), each with what it runs and whether it is mounted
    List,
    /// Say what is wrong with files of tools: these, or else the workspace's
    Check { files: Vec<PathBuf> },
    /// Let the workspace's tools run: these files, or else all of it, as they are now
    ///
    /// A file that is changed afterwards is asked about again.
    Trust { files: Vec<PathBuf> },
}

impl Action {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Action::List => list(),
            Action::Check { files } => check(&files),
            Action::Trust { files } => trust(&files),
        }
    }
}

fn all() -> anyhow::Result<Vec<ToolFile>> {
    let folder = config::workspace().context("there is no working folder")?;
    Ok(workspace::look(&folder, &Trust::load()))
}

fn list() -> anyhow::Result<ExitCode> {
    let files = all()?;
    if files.is_empty() {
        let folder = config::workspace().unwrap_or_default();
        let folder = workspace::folder(&folder);
        out::line(format_args!("no tools in {}", folder.display()));
    }
    for file in files {
        let state = match &file.state {
            FileState::Mounted(_) => "trusted",
            FileState::Untrusted(_) => "untrusted",
            FileState::Disabled => "disabled",
            FileState::Wrong(_) => "wrong",
        };
        out::line(format_args!("{state:9} {}: {}", file.path.display(), file.state));
    }
    Ok(ExitCode::SUCCESS)
}

fn check(files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut well = true;
    let mut tell = |path: &PathBuf, wrong: &[(usize, String)]| {
        for (line, text) in wrong {
            out::line(format_args!("{}:{line}: {text}", path.display()));
        }
        if wrong.is_empty() {
            out::line(format_args!("{}: ok", path.display()));
        }
        well &= wrong.is_empty();
    };
    if files.is_empty() {
        for file in all()? {
            match &file.state {
                FileState::Wrong(wrong) => tell(&file.path, wrong),
                _ => tell(&file.path, &[]),
            }
        }
    }
    for path in files {
        let text = workspace::read(path).with_context(|| path.display().to_string())?;
        tell(path, &workspace::checked(&text).err().unwrap_or_default());
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what will run, and remembers that this is meant.
fn trust(files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let known = all()?;
    let mut trust = Trust::load();
    let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let wanted: Vec<PathBuf> = files.iter().map(whole).collect();
    for path in &wanted {
        if !known.iter().any(|file| whole(&file.path) == *path) {
            bail!(
                "`{}` is no tool of this workspace\nhint: those are in .holdpoint/tools; `holdpoint tools list`",
                path.display()
            );
        }
    }
    let (mut count, mut wrong) = (0, false);
    let is_wanted = |file: &&ToolFile| wanted.is_empty() || wanted.contains(&whole(&file.path));
    for file in known.iter().filter(is_wanted) {
        match &file.state {
            FileState::Mounted(spec) | FileState::Untrusted(spec) => {
                trust.add(&file.path, &file.text);
                count += 1;
                let does = workspace::runs(&spec.run);
                out::line(format_args!("trusted: {}: `{}` {does}", file.path.display(), spec.name));
            }
            FileState::Disabled => {}
            FileState::Wrong(_) => {
                wrong = true;
                out::line(format_args!("not trusted: {}: {}", file.path.display(), file.state));
            }
        }
    }
    trust.save().context("the home cannot be written")?;
    if count > 0 {
        out::line("They are in the list of a server that starts from now on.");
    } else if !wrong {
        out::line(format_args!(
            "there is nothing to trust here; `{TRUST}` is for .holdpoint/tools"
        ));
    }
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
