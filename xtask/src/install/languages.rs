//! What the suite's languages need beside Python and Node: packages of the system, a row each.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::VERSION_LIMIT;
use super::system::provided_as;
use crate::process::{Show, run};
use crate::workspace::Workspace;

/// A package, and the command that succeeds where it is installed.
const PACKAGES: &[(&str, &[&str])] = &[
    ("libperl-languageserver-perl", &["perl", "-MPerl::LanguageServer", "-e", "1"]),
    ("g++", &["c++", "--version"]),
    ("lldb-19", &["lldb-dap-19", "--version"]),
    ("ruby", &["ruby", "-rdebug/version", "-rminitest", "-e", "1"]),
    ("ruby-rspec", &["ruby", "-rrspec/core", "-e", "1"]),
    ("default-jdk-headless", &["javac", "-version"]),
    ("maven", &["mvn", "--version"]),
    ("mono-runtime", &["mono", "--version"]),
    ("mono-mcs", &["mcs", "--version"]),
    // The compiler refers to it whether a program does or not.
    ("libmono-system-core4.0-cil", &["test", "-e", "/usr/lib/mono/4.5/System.Core.dll"]),
];

/// Installs what is missing. The tests of a language that it cannot be got for fail in CI, and say so.
pub(crate) fn languages(workspace: &Workspace) -> Result<()> {
    for (package, check) in PACKAGES {
        let found = || runs(check).then(PathBuf::new);
        provided_as(workspace, package, found, "the suite's language")?;
    }
    Ok(())
}

fn runs(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else { return false };
    run(Command::new(program).args(args), VERSION_LIMIT, Show::Nothing).is_ok_and(|it| it.success())
}
