//! Where things are, and how cargo is asked for a binary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{Show, run};

/// A cold build with every optimisation takes ten minutes on two slow cores.
const BUILD_LIMIT: Duration = Duration::from_secs(45 * 60);

/// The checked-out repository.
#[derive(Clone)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// `target/xtask`: everything that is installed lives here and may be deleted at any time.
    pub(crate) cache: PathBuf,
    /// Whether the system's package manager may be asked: in CI, or with `--system`.
    pub(crate) may_change_system: bool,
    /// Where optimised binaries are that were built already, by whatever profile.
    pub(crate) built: Option<PathBuf>,
}

impl Workspace {
    pub(crate) fn here() -> Result<Self> {
        // Asked at run time: checkouts that share a target folder share this binary.
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&xtask).parent().context("xtask has no parent folder")?.to_owned();
        let cache = root.join("target").join("xtask");
        std::fs::create_dir_all(&cache)
            .with_context(|| format!("creating `{}`", cache.display()))?;
        Ok(Self { root, cache, may_change_system: in_ci(), built: None })
    }

    /// `cargo`, the one that runs us, at the repository's root.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Builds the debug binary with the fixtures of the official conformance suite.
    pub(crate) fn debug_holdpoint_with_conformance(&self) -> Result<PathBuf> {
        self.build("holdpoint", &["--features", "conformance"])
    }

    /// Builds the debug binary with the features that ship.
    pub(crate) fn debug_holdpoint(&self) -> Result<PathBuf> {
        self.build("holdpoint", &[])
    }

    /// Builds one package as it ships, with nobody else's features.
    pub(crate) fn optimised(&self, package: &str) -> Result<PathBuf> {
        let Some(folder) = &self.built else { return self.build(package, &["--profile", "dist"]) };
        let found = folder.join(package);
        if !found.is_file() {
            bail!("no `{package}` in `{}`", folder.display());
        }
        Ok(found)
    }

    /// The path comes from cargo itself: target folders can be configured in many places.
    fn build(&self, package: &str, options: &[&str]) -> Result<PathBuf> {
        let mut command =
            self.cargo(["build", "--message-format=json-render-diagnostics", "-p", package]);
        command.args(options);
        let finished = run(&mut command, BUILD_LIMIT, Show::Errors)?;
        if !finished.success() {
            bail!("`{package}` does not build ({})", finished.how_it_ended());
        }
        executable(&finished.stdout, package)
            .with_context(|| format!("cargo named no executable for `{package}`"))
    }
}

/// Nobody's own machine.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// The executable of a package's binary in cargo's JSON messages.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(
        |message| {
            let target = message.get("target")?;
            let is_binary =
                target.get("kind")?.as_array()?.iter().any(|kind| kind.as_str() == Some("bin"));
            let is_wanted = target.get("name")?.as_str() == Some(name);
            let path = message.get("executable")?.as_str()?;
            (is_binary && is_wanted).then(|| PathBuf::from(path))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_the_binary_not_its_library_or_tests() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"holdpoint"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"holdpoint"},"executable":"/t/deps/holdpoint-1"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"holdpoint"},"executable":"/t/debug/holdpoint"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "holdpoint"), Some(PathBuf::from("/t/debug/holdpoint")));
        assert_eq!(executable(messages, "floor"), None);
    }
}
