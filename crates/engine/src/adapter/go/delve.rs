//! Which delve debugs, and whether it knows the Go that builds.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use super::toolchain::Toolchain;
use crate::{
    adapter::{Around, debugger},
    failure::{Code, Failure},
    language::{DebuggerProgram, Install},
    process::command,
};

pub(super) const PROGRAM: DebuggerProgram = DebuggerProgram {
    name: "delve",
    programs: &["dlv"],
    version: &["version"],
    install: Install::Go("github.com/go-delve/delve/cmd/dlv@latest"),
};

/// The oldest that dials us and tells panics apart; older ones were made for a Go that nobody builds with.
const OLDEST: u32 = 21;
/// How long it may take to say its version.
const PROBE: Duration = Duration::from_secs(20);

pub(super) struct Delve {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Delve {
    /// One that knows the toolchain's Go; each release of delve is made for one of Go.
    pub(super) async fn find(
        around: &Around,
        toolchain: Option<&Toolchain>,
    ) -> Result<Delve, Failure> {
        let own = toolchain.and_then(|it| it.bin.clone()).map(|it| it.join("dlv"));
        let path = match debugger::seek("go", &PROGRAM, &around.home) {
            Some(path) => path,
            // Where `go install` puts it, which is often not on PATH.
            None => {
                own.filter(|it| it.is_file()).ok_or_else(|| debugger::missing("go", &PROGRAM))?
            }
        };
        let version = version(&path).await?;
        let delve = Delve { path, version };
        delve.knows(toolchain)?;
        Ok(delve)
    }

    fn knows(&self, toolchain: Option<&Toolchain>) -> Result<(), Failure> {
        let Delve { path, version } = self;
        let old = |text: String| {
            Err(Failure::new(Code::LaunchFailed, text)
                .hint("`holdpoint adapters install go` builds the newest with this Go"))
        };
        let Some(minor) = minor(version) else { return Ok(()) };
        if let Some(go) = toolchain
            && let Some(newest) = super::delve::minor(go.version.trim_start_matches("go"))
            && newest > minor
        {
            return old(format!(
                "`{}` is delve {version}, which was made before {} and breaks with it",
                path.display(),
                go.version
            ));
        }
        if minor < OLDEST {
            return old(format!(
                "`{}` is delve {version}, which is too old to be driven from here",
                path.display()
            ));
        }
        Ok(())
    }

    pub(super) fn words(&self, port: u16) -> Vec<OsString> {
        ["dap".into(), format!("--client-addr=127.0.0.1:{port}").into()].into()
    }
}

async fn version(path: &std::path::Path) -> Result<String, Failure> {
    let asked = command(path)
        .args(PROGRAM.version)
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let failed = |why: &str| {
        let text = format!("`{}` does not say its version: {why}", path.display());
        Failure::new(Code::LaunchFailed, text)
            .hint("`holdpoint adapters install go` builds another")
    };
    let output = tokio::time::timeout(PROBE, asked)
        .await
        .map_err(|_| failed("it did not answer"))?
        .map_err(|error| failed(&error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.lines().find_map(|it| it.strip_prefix("Version: "));
    version.map(|it| it.trim().to_owned()).ok_or_else(|| failed("it says something else"))
}

/// `1.27.2` is 27.
pub(super) fn minor(version: &str) -> Option<u32> {
    let part = version.split('.').nth(1)?;
    let digits = part.find(|it: char| !it.is_ascii_digit()).unwrap_or(part.len());
    part.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(delve: &str, go: &str) -> Result<(), String> {
        let delve = Delve { path: "/usr/bin/dlv".into(), version: delve.to_owned() };
        let toolchain = Toolchain::for_test(go);
        delve.knows(Some(&toolchain)).map_err(|it| it.message.into_owned())
    }

    #[test]
    fn a_delve_that_is_older_than_its_go_is_refused() {
        assert_eq!(check("1.27.2", "go1.26.8"), Ok(()));
        assert_eq!(check("1.26.0", "go1.26rc1"), Ok(()));
        let why = check("1.20.2", "go1.26.8").unwrap_err();
        assert!(why.contains("delve 1.20.2, which was made before go1.26.8"), "{why}");
        let why = check("1.20.2", "go1.19").unwrap_err();
        assert!(why.contains("too old"), "{why}");
    }
}
