//! Tests by Maven: its runner starts a virtual machine of its own, which dials us.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{serving::Entry, what::What};
use crate::{
    adapter::java::what::on_path,
    budget,
    failure::{Code, Failure},
    launch::Launch,
    limits,
};

/// `CartTest#total`, `CartTest` where there is a `pom.xml`, `src/test/java/shop/CartTest.java::total`.
pub(super) fn claims(test: &str, cwd: &Path) -> bool {
    let (class, _) = split(test);
    let is_file = class.ends_with(".java");
    let is_name = class.chars().all(|it| it.is_alphanumeric() || matches!(it, '.' | '_' | '$'));
    is_file || (is_name && project(cwd).is_some() && (test.contains('#') || !class.contains('.')))
}

/// The class, and the method if one is named.
fn split(test: &str) -> (&str, Option<&str>) {
    let parts = test.split_once('#').or_else(|| test.split_once("::"));
    parts.map_or((test, None), |(class, method)| (class, Some(method)))
}

/// The nearest folder with a `pom.xml`.
fn project(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().find(|it| it.join("pom.xml").is_file()).map(Path::to_owned)
}

/// The options by which the tests' own virtual machine dials us.
fn options(agent: &str) -> [OsString; 3] {
    [format!("-Dmaven.surefire.debug={agent}").into(), "-DforkCount=1".into(), "-B".into()]
}

pub(super) fn test(test: &str, launch: &Launch, agent: &str) -> Result<What, Failure> {
    let (class, method) = split(test);
    let from = launch.cwd.join(class).parent().map_or_else(|| launch.cwd.clone(), Path::to_owned);
    let folder = project(&from).or_else(|| project(&launch.cwd)).ok_or_else(|| {
        Failure::new(
            Code::LaunchFailed,
            format!("no `pom.xml` at or above `{}`", launch.cwd.display()),
        )
        .hint(
            "pass the project's folder as `cwd`; without Maven pass a `command` that runs the test",
        )
    })?;
    let stem = class.strip_suffix(".java").unwrap_or(class);
    let class = stem.rsplit('/').next().unwrap_or(stem);
    let selected = match method {
        Some(method) => format!("-Dtest={class}#{method}"),
        None => format!("-Dtest={class}"),
    };
    let mut args = vec![OsString::from("test"), selected.into()];
    args.push("-Dsurefire.failIfNoSpecifiedTests=false".into());
    args.extend(options(agent));
    if has_run_before(launch) {
        args.push("-o".into());
    }
    args.extend(launch.args.iter().map(OsString::from));
    let method = method.map(|it| it.split(['[', '(']).next().unwrap_or(it).to_owned());
    let entry = Some(Entry {
        class: format!("*{}{class}", if class.contains('.') { "" } else { "." }),
        method,
    });
    let maven = maven(&folder, launch)?;
    Ok(What {
        program: maven,
        args,
        roots: vec![folder.clone()],
        cwd: Some(folder),
        entry,
        why: "the project's build".to_owned(),
        note: None,
        builds: true,
    })
}

pub(super) fn command(
    first: &str,
    rest: &[String],
    launch: &Launch,
    agent: &str,
) -> Result<What, Failure> {
    let mut args: Vec<OsString> = rest.iter().map(OsString::from).collect();
    args.extend(options(agent));
    args.extend(launch.args.iter().map(OsString::from));
    let program = match first.contains('/') {
        true => launch.cwd.join(first),
        false => maven(&launch.cwd, launch)?,
    };
    Ok(What {
        program,
        args,
        roots: vec![launch.cwd.clone()],
        cwd: None,
        // The first test that comes is not to be told from what is around it.
        entry: None,
        why: "the command names it".to_owned(),
        note: None,
        builds: true,
    })
}

/// The project's own, else the one on the path.
fn maven(folder: &Path, launch: &Launch) -> Result<PathBuf, Failure> {
    let own = folder.join("mvnw");
    if own.is_file() {
        return Ok(own);
    }
    on_path("mvn", launch).ok_or_else(|| {
        Failure::new(
            Code::LaunchFailed,
            "there is no `mvn` on the path, and no `mvnw` in the project",
        )
        .hint("install Maven, or pass a `command` that runs the test with `java`")
    })
}

/// Whether what runs tests was fetched before: then nothing has to be asked of anybody.
fn has_run_before(launch: &Launch) -> bool {
    let home = launch.env.get("HOME").cloned().or_else(|| std::env::var("HOME").ok());
    let repository = home.map(|it| Path::new(&it).join(".m2/repository/org/apache/maven/surefire"));
    let is_runner = |it: std::fs::DirEntry| {
        let name = it.file_name().to_string_lossy().into_owned();
        name.starts_with("surefire-junit") || name.starts_with("surefire-testng")
    };
    let fetched = repository.and_then(|it| std::fs::read_dir(it).ok());
    fetched.is_some_and(|it| it.flatten().any(is_runner))
}

/// What a build complains of.
pub(super) fn complaints(written: &str) -> String {
    let lines: Vec<&str> = written.lines().filter(|it| it.contains("ERROR")).take(12).collect();
    let all = if lines.is_empty() { written.trim().to_owned() } else { lines.join("\n") };
    format!("{}\n", budget::cut(&all, limits::FAILURE_CHARACTERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_names() {
        assert_eq!(split("CartTest#total"), ("CartTest", Some("total")));
        assert_eq!(split("a/CartTest.java::total"), ("a/CartTest.java", Some("total")));
        let nowhere = Path::new("/nowhere");
        assert!(
            claims("src/test/java/CartTest.java", nowhere) && !claims("CartTest#total", nowhere)
        );
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("pom.xml"), "<project/>").unwrap();
        assert!(claims("CartTest#total", project.path()) && claims("CartTest", project.path()));
        assert!(
            !claims("tests/test_a.py::test_total", project.path())
                && !claims("a.test.js", project.path())
        );
    }
}
