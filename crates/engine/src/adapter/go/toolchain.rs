//! The Go that builds: which one the project's folder chooses, and which folders are its own.

use std::{path::PathBuf, time::Duration};

use crate::{
    failure::{Code, Failure},
    launch::Launch,
    process::command,
};

/// A toolchain that the project asks for may have to be fetched first.
const PROBE: Duration = Duration::from_secs(60);

pub(super) struct Toolchain {
    pub(super) go: PathBuf,
    /// `go1.26.8`
    pub(super) version: String,
    root: PathBuf,
    modules: PathBuf,
    /// Where `go install` puts programs.
    pub(super) bin: Option<PathBuf>,
}

impl Toolchain {
    pub(super) async fn find(launch: &Launch) -> Result<Toolchain, Failure> {
        let go = launch.interpreter.clone().unwrap_or_else(|| "go".into());
        let asked = command(&go)
            .args(["env", "GOVERSION", "GOROOT", "GOMODCACHE", "GOBIN", "GOPATH"])
            .envs(&launch.env)
            .current_dir(&launch.cwd)
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output();
        let failed = |why: &str| {
            let text = format!("`{} env` failed: {why}", go.display());
            Failure::new(Code::LaunchFailed, text).hint(
                "install Go, from https://go.dev or as a package; `interpreter` names another",
            )
        };
        let output = tokio::time::timeout(PROBE, asked)
            .await
            .map_err(|_| failed("it did not answer"))?
            .map_err(|error| failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = said.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        let (version, root, modules) = (next(), next(), next());
        let (bin, path) = (next(), next());
        let own = match (bin.as_str(), path.split(':').next()) {
            ("", Some(first)) if !first.is_empty() => Some(PathBuf::from(first).join("bin")),
            ("", _) => None,
            (bin, _) => Some(PathBuf::from(bin)),
        };
        // As it is called where it is, which a project may have chosen.
        let root = PathBuf::from(root);
        let go = Some(root.join("bin/go")).filter(|it| it.is_file()).unwrap_or(go);
        Ok(Toolchain { go, version, root, modules: modules.into(), bin: own })
    }

    /// Folders of code that is not the user's.
    pub(super) fn libraries(&self) -> Vec<PathBuf> {
        let all = [self.root.join("src"), self.modules.clone()];
        all.into_iter().filter(|it| it.is_absolute()).collect()
    }

    #[cfg(test)]
    pub(super) fn for_test(version: &str) -> Toolchain {
        let (go, root, modules) = ("go".into(), "/go".into(), "/mod".into());
        Toolchain { go, version: version.to_owned(), root, modules, bin: None }
    }
}
