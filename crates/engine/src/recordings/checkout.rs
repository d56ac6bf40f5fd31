//! A commit of the user's project in a folder of its own, for as long as something runs there. The user's own tree
//! and index stay as they are, no hook of theirs runs, and what git notes of the folder goes with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::process::Command;

use crate::{
    adapter,
    failure::{Code, Failure},
    limits,
};

pub(super) struct Checkout {
    root: PathBuf,
    folder: PathBuf,
    /// As it is told: its first digits.
    pub(super) commit: String,
}

impl Checkout {
    /// `commit` is whatever git takes for one; `base` holds the folders.
    pub(super) async fn of(cwd: &Path, commit: &str, base: &Path) -> Result<Checkout, Failure> {
        let root = git(cwd, &["rev-parse", "--show-toplevel"]).await.map_err(|why| {
            Failure::new(
                Code::InvalidParams,
                format!("{} is in no git repository: {why}", cwd.display()),
            )
            .hint("without one, `env`, `args`, `test` or `stdin` may differ")
        })?;
        let root = PathBuf::from(root);
        let wanted = format!("{commit}^{{commit}}");
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let full = git(&root, &verify).await.map_err(|_| {
            Failure::new(Code::NotFound, format!("git knows no commit `{commit}`"))
                .hint("`git log --oneline` lists them; `HEAD` is what was committed last")
        })?;
        let folder = free(base).map_err(|error| failed(&error.to_string()))?;
        let path = folder.display().to_string();
        let add = ["worktree", "add", "--detach", "--quiet", "--end-of-options", &path, &full];
        if let Err(why) = git(&root, &add).await {
            // Nothing is in it, or git has said what else is wrong.
            fs::remove_dir_all(&folder).unwrap_or_default();
            return Err(failed(&why));
        }
        let commit = full.chars().take(8).collect();
        let made = Checkout { root, folder, commit };
        made.take_along();
        Ok(made)
    }

    /// Where a path of the project lies here; any other stays.
    pub(super) fn moved(&self, path: &Path) -> PathBuf {
        let inside = path.canonicalize().ok();
        let inside = inside.as_deref().unwrap_or(path).strip_prefix(&self.root);
        inside.map_or_else(|_| path.to_owned(), |inside| self.folder.join(inside))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is installed beside a project is in no commit: packages, environments.
    fn take_along(&self) {
        for name in adapter::all().iter().flat_map(|it| it.installed()) {
            let (there, here) = (self.root.join(name), self.folder.join(name));
            if there.is_dir()
                && !here.exists()
                && let Err(error) = std::os::unix::fs::symlink(&there, &here)
            {
                tracing::warn!(%error, folder = %here.display(), "a checkout lacks what is installed");
            }
        }
    }

    /// Nothing runs here any more.
    pub(super) async fn end(self) {
        let path = self.folder.display().to_string();
        if let Err(why) = git(&self.root, &["worktree", "remove", "--force", &path]).await {
            tracing::debug!(%why, folder = path, "git does not remove a checkout");
            fs::remove_dir_all(&self.folder).unwrap_or_default();
            // What it noted of the folder.
            git(&self.root, &["worktree", "prune"]).await.map(drop).unwrap_or_default();
        }
    }
}

/// A folder that nobody has; those of servers that were killed go.
fn free(base: &Path) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    super::folder::make_private(base)?;
    for left in fs::read_dir(base)?.flatten() {
        let name = left.file_name().to_string_lossy().into_owned();
        let owner = name.split('-').next().and_then(|it| it.parse::<u32>().ok());
        if owner.is_some_and(|pid| !super::folder::lives(pid)) {
            fs::remove_dir_all(left.path())?;
        }
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Ok(base.join(format!("{}-{number}", std::process::id())))
}

fn failed(why: &str) -> Failure {
    Failure::new(Code::LaunchFailed, format!("the commit cannot be checked out: {why}"))
        .hint("`git worktree list` names the checkouts that there are")
}

/// What git wrote, without the line's end; an error is what it complained of.
async fn git(folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "core.hooksPath=/dev/null"]).args(args);
    command.stdin(Stdio::null()).kill_on_drop(true);
    // Of a hook that started us, perhaps: they would name another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let done = tokio::time::timeout(limits::GIT, command.output()).await;
    let output = match done {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("git does not run: {error}")),
        Err(_) => return Err(format!("git took more than {} s", limits::GIT.as_secs())),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}
