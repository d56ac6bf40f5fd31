//! Our own binary and our own folder.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::{Finding, FindingKind, Machine};
use crate::cmd::setup::whereabouts::Platform;

pub(super) fn binary(machine: &Machine) -> Vec<Finding> {
    let whereabouts = &machine.whereabouts;
    let on_path = match whereabouts.find_program("holdpoint") {
        None => "; it is not on PATH".to_owned(),
        Some(_) if whereabouts.own_command().is_ok_and(|command| command == "holdpoint") => {
            String::new()
        }
        Some(other) => format!("; PATH leads to another one, {}", other.display()),
    };
    let what = format!("holdpoint {}", machine.version);
    vec![Finding::new(FindingKind::Ok, what, format!("at {}{on_path}", whereabouts.exe.display()))]
}

/// Where the store, the port file and the adapters live. It has to be writable, or creatable.
pub(super) fn home_folder(machine: &Machine) -> Vec<Finding> {
    let Ok(folder) = machine.whereabouts.holdpoint_folder() else {
        return vec![
            Finding::new(
                FindingKind::Missing,
                "home folder",
                "is not known: neither HOLDPOINT_HOME nor HOME is set",
            )
            .with_fix("set HOLDPOINT_HOME to a folder you can write to"),
        ];
    };
    let what = format!("home folder {}", folder.display());
    // `create_dir_all` makes what is missing, so what counts is the lowest folder that is there.
    let lowest = folder.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(&folder);
    vec![match probe(lowest) {
        Ok(()) if lowest == folder => Finding::new(FindingKind::Ok, what, "is writable"),
        Ok(()) => {
            Finding::new(FindingKind::Ok, what, "is not there yet; the first start creates it")
        }
        Err(error) => Finding::new(FindingKind::Missing, what, format!("is not writable: {error}"))
            .with_fix(format!(
                "{}, or set HOLDPOINT_HOME to a folder you can write to",
                repair(lowest, machine.whereabouts.platform)
            )),
    }]
}

/// Writes a file and removes it: permission bits alone do not say whether a folder can be written to.
fn probe(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".holdpoint-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&file)?;
    fs::remove_file(&file)
}

fn repair(path: &Path, platform: Platform) -> String {
    let folder = platform.shell_word(&path.to_string_lossy());
    if !path.is_dir() {
        return format!("rename {folder}, which is not a folder");
    }
    match platform {
        Platform::Windows => format!("let yourself write to {folder}"),
        Platform::MacOs | Platform::Xdg => format!("chmod u+rwx {folder}"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{machine_in, report};
    use super::*;
    use crate::cmd::setup::whereabouts::tests::add_program;

    #[track_caller]
    fn check(
        look: fn(&Machine) -> Vec<Finding>,
        change: impl FnOnce(&mut Machine),
        expected: Expect,
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut machine = machine_in(root.path());
        change(&mut machine);
        expected.assert_eq(&report(root.path(), &look(&machine)));
    }

    #[test]
    fn the_binary_says_where_it_is_and_what_path_says() {
        check(binary, |_| (), expect!["ok      holdpoint 1.2.3 at /bin/holdpoint"]);
        check(
            binary,
            |machine| machine.whereabouts.search_path = None,
            expect!["ok      holdpoint 1.2.3 at /bin/holdpoint; it is not on PATH"],
        );
        check(
            binary,
            |machine| {
                machine.whereabouts.exe =
                    add_program(&machine.whereabouts.cwd.join("build"), "holdpoint")
            },
            expect![
                "ok      holdpoint 1.2.3 at /project/build/holdpoint; PATH leads to another one, /bin/holdpoint"
            ],
        );
    }

    #[test]
    fn the_home_folder_is_writable_or_can_be_created() {
        check(
            home_folder,
            |_| (),
            expect![
                "ok      home folder /home/.holdpoint is not there yet; the first start creates it"
            ],
        );
        check(
            home_folder,
            |machine| fs::create_dir(machine.whereabouts.holdpoint_folder().unwrap()).unwrap(),
            expect!["ok      home folder /home/.holdpoint is writable"],
        );
    }

    #[test]
    fn the_probe_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        probe(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_in_place_of_the_home_folder_is_found() {
        check(
            home_folder,
            |machine| fs::write(machine.whereabouts.holdpoint_folder().unwrap(), "").unwrap(),
            expect![[r#"
                missing home folder /home/.holdpoint is not writable: Not a directory (os error 20)
                        fix: rename /home/.holdpoint, which is not a folder, or set HOLDPOINT_HOME to a folder you can write to"#]],
        );
    }

    #[test]
    fn an_unknown_home_is_missing() {
        check(
            home_folder,
            |machine| machine.whereabouts.home = None,
            expect![[r#"
                missing home folder is not known: neither HOLDPOINT_HOME nor HOME is set
                        fix: set HOLDPOINT_HOME to a folder you can write to"#]],
        );
    }
}
