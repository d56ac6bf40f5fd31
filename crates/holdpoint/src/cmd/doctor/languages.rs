//! The languages whose programs can be debugged. None of them is needed; each opens a door.

use std::path::Path;

use super::process::{self, Answer};
use super::{Finding, Machine, Status};
use crate::cmd::setup::whereabouts::Platform;

/// Older lines of Node.js are no longer mended by their makers.
const NODE_MAJOR_MIN: u32 = 20;

/// An empty entry in the path stands for the current folder, whose files must not be run by a doctor.
const IMPORT_DEBUGPY: &str = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; import debugpy; print(debugpy.__version__)";

pub(super) fn python(machine: &Machine) -> Vec<Finding> {
    let name = match machine.whereabouts.platform {
        Platform::Windows => "python",
        Platform::MacOs | Platform::Xdg => "python3",
    };
    let Some(path) = machine.whereabouts.find_program(name) else {
        return vec![
            not_installed(name, "Python")
                .with_fix("install Python 3, from https://www.python.org or as a package"),
        ];
    };
    let version = process::ask(&path, &["--version"], process::DEADLINE);
    let Some(version) = version_in(&version, "Python ") else {
        return vec![no_version(name, &path, &version)];
    };
    let debugpy = process::ask(&path, &["-c", IMPORT_DEBUGPY], process::DEADLINE);
    vec![found(name, &version, &path), describe_debugpy(name, &debugpy)]
}

pub(super) fn node(machine: &Machine) -> Vec<Finding> {
    let Some(path) = machine.whereabouts.find_program("node") else {
        return vec![not_installed("node", "JavaScript").with_fix(install_node())];
    };
    let answer = process::ask(&path, &["--version"], process::DEADLINE);
    vec![match version_in(&answer, "v") {
        Some(version) => describe_node(&version, &path),
        None => no_version("node", &path, &answer),
    }]
}

fn describe_debugpy(python: &str, answer: &Answer) -> Finding {
    if let Some(version) = version_in(answer, "") {
        return Finding::new(
            Status::Ok,
            format!("debugpy {version}"),
            "for line debugging of Python",
        );
    }
    let ours = "Holdpoint provides its own at the first launch";
    match answer {
        Answer::Said(_) | Answer::Failed(_) => {
            Finding::new(Status::Info, "debugpy", format!("is not in {python}; {ours}"))
        }
        Answer::TooLate => {
            let late = process::DEADLINE.as_secs();
            let detail = format!("was not imported within {late} s in {python}; {ours}");
            Finding::new(Status::Warning, "debugpy", detail)
                .with_fix(format!("{python} -c 'import debugpy' shows what is wrong"))
        }
    }
}

fn describe_node(version: &str, path: &Path) -> Finding {
    let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
    let finding = found("node", version, path);
    if major.is_some_and(|major| major >= NODE_MAJOR_MIN) {
        return finding;
    }
    let detail = format!("{}; {NODE_MAJOR_MIN} or newer is recommended", finding.detail);
    Finding { status: Status::Warning, detail, ..finding }.with_fix(install_node())
}

fn install_node() -> String {
    format!("install Node.js {NODE_MAJOR_MIN} or newer, from https://nodejs.org or as a package")
}

/// The version, if the answer begins with one after the prefix.
fn version_in(answer: &Answer, prefix: &str) -> Option<String> {
    let Answer::Said(text) = answer else { return None };
    let version = text.strip_prefix(prefix)?.split_whitespace().next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

fn found(name: &str, version: &str, path: &Path) -> Finding {
    Finding::new(Status::Ok, format!("{name} {version}"), format!("at {}", path.display()))
}

fn not_installed(name: &str, language: &str) -> Finding {
    Finding::new(Status::Warning, name, format!("is not on PATH: no line debugging of {language}"))
}

fn no_version(name: &str, path: &Path, answer: &Answer) -> Finding {
    let why = match answer {
        Answer::Said(_) => "does not say its version".to_owned(),
        Answer::TooLate => format!("did not answer within {} s", process::DEADLINE.as_secs()),
        Answer::Failed(error) => format!("does not run: {error}"),
    };
    let path = path.display();
    Finding::new(Status::Warning, name, format!("at {path} {why}"))
        .with_fix(format!("{path} --version shows what is wrong"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{machine_in, report};
    use super::*;

    #[track_caller]
    fn check(finding: Finding, expected: Expect) {
        expected.assert_eq(&finding.render());
    }

    fn said(text: &str) -> Answer {
        Answer::Said(text.to_owned())
    }

    #[test]
    fn a_language_that_is_not_there_is_a_warning() {
        let root = tempfile::tempdir().unwrap();
        let machine = machine_in(root.path());
        expect![[r#"
            warning python3 is not on PATH: no line debugging of Python
                    fix: install Python 3, from https://www.python.org or as a package"#]]
        .assert_eq(&report(root.path(), &python(&machine)));
        expect![[r#"
            warning node is not on PATH: no line debugging of JavaScript
                    fix: install Node.js 20 or newer, from https://nodejs.org or as a package"#]]
        .assert_eq(&report(root.path(), &node(&machine)));
    }

    #[test]
    fn a_version_is_what_follows_the_prefix() {
        let check = |text: &str, prefix: &str, expected: Option<&str>| {
            assert_eq!(version_in(&said(text), prefix).as_deref(), expected, "{text}");
        };
        check("Python 3.11.7", "Python ", Some("3.11.7"));
        check("Python 3.13.0rc1 (free-threading)", "Python ", Some("3.13.0rc1"));
        check("v22.4.1", "v", Some("22.4.1"));
        check("1.8.14", "", Some("1.8.14"));
        check("", "v", None);
        check("pyenv: python3: command not found", "Python ", None);
        check("version", "v", None);
    }

    #[test]
    fn an_old_node_is_a_warning() {
        let path = Path::new("/usr/bin/node");
        check(describe_node("20.0.0", path), expect!["ok      node 20.0.0 at /usr/bin/node"]);
        check(
            describe_node("18.19.1", path),
            expect![[r#"
                warning node 18.19.1 at /usr/bin/node; 20 or newer is recommended
                        fix: install Node.js 20 or newer, from https://nodejs.org or as a package"#]],
        );
    }

    #[test]
    fn without_debugpy_holdpoint_provides_it() {
        check(
            describe_debugpy("python3", &said("1.8.14")),
            expect!["ok      debugpy 1.8.14 for line debugging of Python"],
        );
        check(
            describe_debugpy("python3", &said("")),
            expect![
                "info    debugpy is not in python3; Holdpoint provides its own at the first launch"
            ],
        );
        check(
            describe_debugpy("python3", &Answer::TooLate),
            expect![[r#"
                warning debugpy was not imported within 3 s in python3; Holdpoint provides its own at the first launch
                        fix: python3 -c 'import debugpy' shows what is wrong"#]],
        );
    }

    #[test]
    fn a_program_that_does_not_answer_is_a_warning() {
        let check = |answer, expected| {
            check(no_version("node", Path::new("/usr/bin/node"), &answer), expected)
        };
        check(
            said("hello"),
            expect![[r#"
                warning node at /usr/bin/node does not say its version
                        fix: /usr/bin/node --version shows what is wrong"#]],
        );
        check(
            Answer::TooLate,
            expect![[r#"
                warning node at /usr/bin/node did not answer within 3 s
                        fix: /usr/bin/node --version shows what is wrong"#]],
        );
        check(
            Answer::Failed("permission denied".to_owned()),
            expect![[r#"
                warning node at /usr/bin/node does not run: permission denied
                        fix: /usr/bin/node --version shows what is wrong"#]],
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_program_on_the_path_is_asked() {
        let root = tempfile::tempdir().unwrap();
        let mut machine = machine_in(root.path());
        // `true` runs, whatever it is asked, and is no Node.js.
        let folder = root.path().join("bin");
        let real = ["/bin/true", "/usr/bin/true"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .unwrap();
        std::os::unix::fs::symlink(real, folder.join("node")).unwrap();
        machine.whereabouts.search_path = Some(folder.into_os_string());
        let findings = node(&machine);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].status, Status::Warning);
    }
}
