//! What to run, as a call says it, made whole: what cannot run is refused before anything is started.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use holdpoint_engine::{
    adapter,
    failure::{Code, Failure},
    launch::Launch,
};

use crate::root;

/// The parameters of a launch; `params!` declares them.
pub(crate) struct What {
    pub(crate) program: Option<PathBuf>,
    pub(crate) module: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) test: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) stdin: Option<String>,
    pub(crate) interpreter: Option<PathBuf>,
}

impl What {
    /// With whole paths, to stop at its entry, libraries left out.
    pub(crate) fn resolve(self) -> Result<Launch, Failure> {
        let here = root::current();
        let base = self.cwd.as_deref().map(|cwd| here.join(cwd));
        if let Some(folder) = base.as_deref().filter(|folder| !folder.is_dir()) {
            return Err(not_there(folder, "a folder", &here));
        }
        let from = base.clone().unwrap_or_else(|| here.clone());
        let program = self.program.as_ref().map(|program| absolute(&from, program));
        let is_name = |test: &&str| adapter::all().iter().any(|it| it.takes_test(test, &from));
        let named = self.test.as_deref().filter(|it| !is_name(it));
        let test = named.map(|test| absolute(&from, file_of(test)));
        let is_package =
            |it: &Path| it.is_dir() && adapter::all().iter().any(|one| one.takes_folder(it));
        let is_missing = |it: &&PathBuf| !it.is_file() && !is_package(it);
        // A runner takes a folder of tests as well.
        let no_test = test.as_ref().filter(|it| !it.exists());
        if let Some(file) = program.as_ref().filter(is_missing) {
            return Err(not_there(file, "a file", &from));
        }
        if let Some(file) = no_test {
            let text =
                format!("`{}` is not a file: a test is named behind its file", file.display());
            let as_in = "`tests/test_a.py::test_x`, `a_test.go::TestX`, `src/lib.rs::tests::x`";
            return Err(Failure::new(Code::NotFound, text)
                .hint(format!("as in {as_in}; relative to {}", from.display())));
        }
        let folder =
            |it: &Path| if it.is_dir() { Some(it) } else { it.parent() }.map(Path::to_owned);
        let own = program.as_deref().and_then(folder);
        let around = test.as_deref().and_then(|test| project(test, &here));
        let cwd = base.or(own).or(around).unwrap_or_else(|| here.clone());
        let interpreter = self.interpreter.map(|it| interpreter(it, &here, &cwd)).transpose()?;
        let command = match &self.command {
            None => Vec::new(),
            Some(line) => shlex::split(line).ok_or_else(|| {
                Failure::new(Code::InvalidParams, format!("`{line}` has an open quote"))
            })?,
        };
        Ok(Launch {
            program,
            module: self.module,
            command,
            test: self.test.map(|it| from_folder(&it, &from, &cwd)),
            language: self.language,
            args: self.args,
            cwd,
            env: self.env,
            withheld: Vec::new(),
            stop_on_entry: true,
            stdin: self.stdin,
            interpreter,
            just_my_code: true,
            record: false,
            configuration: None,
        })
    }
}

/// A path as whoever calls means it, else as the program does; a bare name is looked for on PATH.
fn interpreter(named: PathBuf, here: &Path, cwd: &Path) -> Result<PathBuf, Failure> {
    if named.components().count() < 2 {
        return Ok(named);
    }
    let (first, second) = (here.join(&named), cwd.join(&named));
    if let Some(found) = [&first, &second].into_iter().find(|it| it.is_file()) {
        return Ok(found.clone());
    }
    let also = if first == second { String::new() } else { format!(", `{}`", second.display()) };
    let text = format!("no interpreter at `{}`{also}", first.display());
    Err(Failure::new(Code::LaunchFailed, text)
        .hint("a relative `interpreter` begins at your working folder, else at the program's"))
}

/// `tests/test_a.py` of `tests/test_a.py::test_total`.
fn file_of(test: &str) -> &Path {
    Path::new(test.split("::").next().unwrap_or(test))
}

/// The same test, named from another folder than the one it was named from.
fn from_folder(test: &str, from: &Path, cwd: &Path) -> String {
    let file = file_of(test);
    if from == cwd || file.is_absolute() {
        return test.to_owned();
    }
    let rest = test.split_once("::").map(|(_, rest)| format!("::{rest}")).unwrap_or_default();
    format!("{}{rest}", absolute(from, file).display())
}

/// Where a test runs: in the working folder if it is in there, else in the project around it.
fn project(test: &Path, here: &Path) -> Option<PathBuf> {
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    if test.starts_with(&here) {
        return Some(here);
    }
    let roots = || adapter::all().iter().flat_map(|it| it.roots()).chain(&[".git"]);
    let is_root = |folder: &&Path| roots().any(|it| folder.join(it).exists());
    let around = test.ancestors().skip(1);
    around.clone().find(is_root).or_else(|| around.clone().next()).map(Path::to_owned)
}

/// A path as the runtime will report it: whole, links followed where they lead somewhere.
pub(crate) fn absolute(base: &Path, path: &Path) -> PathBuf {
    let whole = base.join(path);
    whole.canonicalize().unwrap_or(whole)
}

pub(crate) fn not_there(path: &Path, what: &str, base: &Path) -> Failure {
    Failure::new(Code::NotFound, format!("`{}` is not {what}", path.display()))
        .hint(format!("paths may be absolute, or relative to {}", base.display()))
}
