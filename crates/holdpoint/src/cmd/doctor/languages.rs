//! The languages whose programs can be debugged. None of them is needed; each opens a door.
//! What to look for, each language says.

use std::path::Path;

use holdpoint_engine::{
    adapter::{self, Adapter},
    language::{DebuggerProgram, WantedLibrary, Wants},
};

use super::process::{self, Answer};
use super::{Check, Finding, FindingKind, Look, Machine};
use crate::cmd::adapters::{fix, version_by_name, version_in as version_anywhere};
use crate::cmd::setup::whereabouts::Platform;

/// One check for each language, and one for its debugger where that is a program of its own.
pub(super) fn checks() -> impl Iterator<Item = Check> {
    let check = |look| Check { is_needed: false, look };
    adapter::all().iter().flat_map(move |language| {
        let runtime = language
            .wants()
            .map(|wants| -> Look { Box::new(move |machine: &Machine| look(&wants, machine)) });
        let debugger = language.debugger().map(|wanted| -> Look {
            Box::new(move |machine: &Machine| vec![look_for_debugger(*language, &wanted, machine)])
        });
        runtime.into_iter().chain(debugger).map(check)
    })
}

fn look_for_debugger(
    language: &dyn Adapter,
    wanted: &DebuggerProgram,
    machine: &Machine,
) -> Finding {
    let home = machine.whereabouts.holdpoint_folder().unwrap_or_default();
    let Some(path) = adapter::debugger::seek(language.language(), wanted, &home) else {
        let detail = format!("is not here: no line debugging of {}", language.called());
        return Finding::new(FindingKind::Warning, wanted.name, detail)
            .with_fix(fix(language, wanted.install));
    };
    let answer = process::ask(&path, wanted.version, process::DEADLINE);
    let version = match &answer {
        Answer::Said(text) => version_anywhere(text).or_else(|| version_by_name(&path)),
        Answer::TooLate | Answer::Failed(_) => None,
    };
    match version {
        Some(version) => found(wanted.name, &version, &path),
        None => no_version(wanted.name, &path, wanted.version, &answer),
    }
}

fn look(wants: &Wants, machine: &Machine) -> Vec<Finding> {
    let name = match machine.whereabouts.platform {
        Platform::Windows => wants.program_on_windows,
        Platform::MacOs | Platform::Xdg => wants.program,
    };
    let Some(path) = machine.whereabouts.find_program(name) else {
        return vec![not_installed(name, wants.language).with_fix(wants.install)];
    };
    let version = process::ask(&path, wants.version, process::DEADLINE);
    let Some(version) = version_in(&version, wants.version_prefix) else {
        return vec![no_version(name, &path, wants.version, &version)];
    };
    let mut findings = vec![describe(wants, name, &version, &path)];
    findings.extend(wants.library.map(|library| {
        let answer = process::ask(&path, library.version, process::DEADLINE);
        describe_library(&library, wants.language, name, &answer)
    }));
    findings
}

fn describe_library(
    library: &WantedLibrary,
    language: &str,
    runtime: &str,
    answer: &Answer,
) -> Finding {
    let WantedLibrary { name, shows, without, .. } = *library;
    if let Some(version) = version_in(answer, "") {
        return Finding::new(
            FindingKind::Ok,
            format!("{name} {version}"),
            format!("for line debugging of {language}"),
        );
    }
    match answer {
        Answer::Said(_) | Answer::Failed(_) => {
            Finding::new(FindingKind::Info, name, format!("is not in {runtime}; {without}"))
        }
        Answer::TooLate => {
            let late = process::DEADLINE.as_secs();
            let detail = format!("was not imported within {late} s in {runtime}; {without}");
            Finding::new(FindingKind::Warning, name, detail)
                .with_fix(format!("{runtime} {shows} shows what is wrong"))
        }
    }
}

fn describe(wants: &Wants, name: &str, version: &str, path: &Path) -> Finding {
    let finding = found(name, version, path);
    let Some(least) = wants.major_min else { return finding };
    let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
    if major.is_some_and(|major| major >= least) {
        return finding;
    }
    let detail = format!("{}; {least} or newer is recommended", finding.detail);
    Finding { status: FindingKind::Warning, detail, ..finding }.with_fix(wants.install)
}

/// The version, if the answer begins with one after the prefix.
fn version_in(answer: &Answer, prefix: &str) -> Option<String> {
    let Answer::Said(text) = answer else { return None };
    let version = text.strip_prefix(prefix)?.split_whitespace().next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

fn found(name: &str, version: &str, path: &Path) -> Finding {
    Finding::new(FindingKind::Ok, format!("{name} {version}"), format!("at {}", path.display()))
}

fn not_installed(name: &str, language: &str) -> Finding {
    Finding::new(
        FindingKind::Warning,
        name,
        format!("is not on PATH: no line debugging of {language}"),
    )
}

fn no_version(name: &str, path: &Path, words: &[&str], answer: &Answer) -> Finding {
    let why = match answer {
        Answer::Said(_) => "does not say its version".to_owned(),
        Answer::TooLate => format!("did not answer within {} s", process::DEADLINE.as_secs()),
        Answer::Failed(error) => format!("does not run: {error}"),
    };
    let path = path.display();
    Finding::new(FindingKind::Warning, name, format!("at {path} {why}"))
        .with_fix(format!("{path} {} shows what is wrong", words.join(" ")))
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

    fn wants(language: &str) -> Wants {
        let of = |it: &&&dyn adapter::Adapter| it.language() == language;
        adapter::all().iter().find(of).unwrap().wants().unwrap()
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
        .assert_eq(&report(root.path(), &look(&wants("python"), &machine)));
        expect![[r#"
            warning node is not on PATH: no line debugging of JavaScript
                    fix: install Node.js 20 or newer, from https://nodejs.org or as a package"#]]
        .assert_eq(&report(root.path(), &look(&wants("node"), &machine)));
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
        let node = |version| describe(&wants("node"), "node", version, path);
        check(node("20.0.0"), expect!["ok      node 20.0.0 at /usr/bin/node"]);
        check(
            node("18.19.1"),
            expect![[r#"
                warning node 18.19.1 at /usr/bin/node; 20 or newer is recommended
                        fix: install Node.js 20 or newer, from https://nodejs.org or as a package"#]],
        );
    }

    #[test]
    fn without_debugpy_holdpoint_provides_it() {
        let library = wants("python").library.unwrap();
        let debugpy = |answer| describe_library(&library, "Python", "python3", &answer);
        check(
            debugpy(said("1.8.14")),
            expect!["ok      debugpy 1.8.14 for line debugging of Python"],
        );
        check(
            debugpy(said("")),
            expect![
                "info    debugpy is not in python3; Holdpoint provides its own at the first launch"
            ],
        );
        check(
            debugpy(Answer::TooLate),
            expect![[r#"
                warning debugpy was not imported within 3 s in python3; Holdpoint provides its own at the first launch
                        fix: python3 -c 'import debugpy' shows what is wrong"#]],
        );
    }

    #[test]
    fn a_program_that_does_not_answer_is_a_warning() {
        let check = |answer, expected| {
            check(no_version("node", Path::new("/usr/bin/node"), &["--version"], &answer), expected)
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
        let findings = look(&wants("node"), &machine);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].status, FindingKind::Warning);
    }
}
