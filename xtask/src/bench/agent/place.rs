//! A fresh copy of a real package for one side of one question, with the question's files and planted bugs,
//! as a git repository in which everything is committed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::super::client::Home;
use super::question::{Package, Question};
use crate::install::copy_tree;
use crate::process::{Show, run};

const GIT_LIMIT: Duration = Duration::from_secs(60);

/// The environment of Python packages that are recorded: lines want a newer Python than debugging does.
pub(super) const RECORDED: &str = "packages-python-recorded";

pub(super) struct Place {
    _folder: Home,
    pub(super) root: PathBuf,
}

impl Place {
    /// `packages` holds what `cargo xtask install` put there.
    pub(super) fn new(packages: &Path, question: &Question) -> Result<Self> {
        let folder = Home::new()?;
        // Debuggers name files by their real paths.
        let base = folder.0.canonicalize()?;
        let root = match &question.package {
            Package::Python(name) => {
                let root = base.join(name.split('-').next().unwrap_or(name));
                copy_tree(&packages.join("packages-python-sources").join(name), &root)?;
                let environment = match question.is_recorded() {
                    true => RECORDED,
                    false => "packages-python",
                };
                symlink(packages.join(environment), root.join(".venv"))?;
                root
            }
            Package::Node(name) => {
                let modules = packages.join("packages-node").join("node_modules");
                let root = base.join(name);
                copy_tree(&modules.join(name), &root)?;
                symlink(&modules, root.join("node_modules"))?;
                root
            }
        };
        let place = Self { _folder: folder, root };
        place.fill(question)?;
        place.git(&["init", "--quiet"])?;
        fs::write(place.root.join(".git/info/exclude"), ".venv\nnode_modules\n")?;
        place.git(&["add", "--all"])?;
        place.git(&["commit", "--quiet", "--message", "as it was"])?;
        Ok(place)
    }

    /// Whether the project is as it was: whoever looks leaves nothing behind in it.
    pub(super) fn is_clean(&self) -> Result<bool> {
        Ok(self.git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty())
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
        let finished = run(git.args(arguments).current_dir(&self.root), GIT_LIMIT, Show::Nothing)?;
        if !finished.success() {
            bail!("`git {}` failed\n{}", arguments.join(" "), finished.last_words());
        }
        Ok(finished.stdout)
    }

    fn fill(&self, question: &Question) -> Result<()> {
        for file in &question.files {
            fs::write(self.root.join(&file.name), &file.text)?;
        }
        for plant in &question.plants {
            let path = self.root.join(&plant.file);
            let text = fs::read_to_string(&path)
                .with_context(|| format!("reading `{}`", path.display()))?;
            let found = text.matches(&plant.old).count();
            if found != 1 {
                bail!("`{}` occurs {found} times in {}", plant.old, plant.file);
            }
            fs::write(&path, text.replace(&plant.old, &plant.new))?;
        }
        Ok(())
    }

    /// The project as both sides find it: its own sources are installed, in place.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let sources = self.root.join("src");
        let sources = if sources.is_dir() { sources } else { self.root.clone() };
        vec![
            ("PYTHONPATH".into(), sources.into()),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("TERM".into(), "dumb".into()),
        ]
    }

    /// What a person's shell has besides: the project's environment is active.
    pub(super) fn path(&self) -> Result<OsString> {
        let mut folders =
            vec![self.root.join(".venv").join("bin"), self.root.join("node_modules/.bin")];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        Ok(std::env::join_paths(folders)?)
    }
}
