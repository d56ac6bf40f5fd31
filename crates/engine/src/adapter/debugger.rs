//! Where the debugger of a language is: what `holdpoint adapters install` put into our own folder, else what the
//! machine has. One that is nowhere fails with the one command that gets it.

use std::path::{Path, PathBuf};

use crate::{
    failure::{Code, Failure},
    language::{DebuggerProgram, Install},
};

/// The folder of a language's debugger below our home.
pub fn folder(home: &Path, language: &str) -> PathBuf {
    home.join("adapters").join(language)
}

/// The debugger's file.
pub fn find(language: &str, wanted: &DebuggerProgram, home: &Path) -> Result<PathBuf, Failure> {
    seek(language, wanted, home).ok_or_else(|| missing(language, wanted))
}

/// The same where nobody has to have it.
pub fn seek(language: &str, wanted: &DebuggerProgram, home: &Path) -> Option<PathBuf> {
    let own = folder(home, language);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [own.join("bin"), own.join("node_modules/.bin")];
    let folders: Vec<PathBuf> = folders.into_iter().chain(std::env::split_paths(&path)).collect();
    // The better name wins over the nearer folder, but ours over both: somebody has chosen it.
    let here = |name: &&str| folders.iter().take(2).map(|it| it.join(name)).find(|it| runs(it));
    let there = |name: &&str| folders.iter().skip(2).map(|it| it.join(name)).find(|it| runs(it));
    wanted.programs.iter().find_map(&here).or_else(|| wanted.programs.iter().find_map(&there))
}

/// The failure of a launch whose debugger is not here.
pub fn missing(language: &str, wanted: &DebuggerProgram) -> Failure {
    let names = wanted.programs.join("`, `");
    let text = format!("`{}` is not here: no `{names}` is on PATH", wanted.name);
    let hint = match wanted.install {
        Install::ByHand(step) => step.to_owned(),
        Install::Apt(_) | Install::Go(_) | Install::Npm(_) | Install::Provided => {
            format!("`holdpoint adapters install {language}` gets it")
        }
    };
    Failure::new(Code::LaunchFailed, text).hint(hint)
}

fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const WANTED: DebuggerProgram = DebuggerProgram {
        name: "the toy's debugger",
        programs: &["toy-debugger-2", "toy-debugger"],
        version: &["--version"],
        install: Install::Apt(&["toy-debugger"]),
    };

    #[test]
    fn what_was_installed_for_us_is_found_and_the_better_name_wins() {
        let home = tempfile::tempdir().unwrap();
        let bin = folder(home.path(), "toy").join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for name in ["toy-debugger", "toy-debugger-2"] {
            assert!(
                seek("toy", &WANTED, home.path()).is_none_or(|it| it.ends_with("toy-debugger"))
            );
            std::fs::write(bin.join(name), "").unwrap();
            // A file that cannot be run is none.
            let before = seek("toy", &WANTED, home.path());
            assert!(before.is_none_or(|it| !it.ends_with(name)));
            let may_run = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(bin.join(name), may_run).unwrap();
        }
        let found = find("toy", &WANTED, home.path()).unwrap();
        assert_eq!(found, bin.join("toy-debugger-2"));
    }

    #[test]
    fn one_that_is_nowhere_is_got_by_one_command() {
        let home = tempfile::tempdir().unwrap();
        let failure = find("toy", &WANTED, home.path()).unwrap_err();
        assert_eq!(failure.hint.as_deref(), Some("`holdpoint adapters install toy` gets it"));
    }
}
