//! What a launch comes to: a program that the Go toolchain builds without optimisations into a folder of ours, where
//! the next build of the same finds it; or one that was built already.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{not_for_go, sources, testing, too_much, toolchain::Toolchain};
use crate::{
    adapter::{Around, has_ending, provided},
    budget,
    failure::{Code, Failure},
    launch::Launch,
    limits,
    process::{Exit, Program, Spec},
};

/// How Go marks the part of a program that says how it was built.
const MARK: &[u8] = b"\xff Go buildinf:";

/// A program that is there.
pub(super) struct Built {
    pub(super) file: PathBuf,
    pub(super) args: Vec<String>,
    /// Where it runs, where that is not the launch's folder.
    pub(super) cwd: Option<PathBuf>,
    /// The function where it begins.
    pub(super) entry: Option<String>,
    pub(super) note: Option<String>,
}

/// What is to be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) is_test: bool,
    /// Where the toolchain runs.
    pub(super) folder: PathBuf,
    /// A package, or files.
    pub(super) what: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) args: Vec<String>,
    pub(super) entry: String,
}

impl Built {
    pub(super) async fn of(
        launch: &Launch,
        toolchain: &Toolchain,
        around: &Around,
    ) -> Result<Built, Failure> {
        if let Some(program) = launch.program.as_deref().filter(|it| is_go_binary(it)) {
            return Ok(ready(program, launch));
        }
        let wish = Wish::of(launch)?;
        let home = provided::writable(&around.home).map_err(|error| {
            Failure::new(Code::LaunchFailed, format!("no folder to build into: {error}"))
        })?;
        let file = wish.file(&home);
        make(&wish, &file, launch, toolchain, around).await?;
        // A test runs where its package is, as `go test` has it.
        let cwd = wish.is_test.then(|| wish.folder.clone());
        let Wish { args, entry, .. } = wish;
        Ok(Built { file, args, cwd, entry: Some(entry), note: None })
    }
}

fn ready(program: &Path, launch: &Launch) -> Built {
    let file = program.to_owned();
    let note = "built by somebody else: what was optimised away cannot be shown; `go build \
                -gcflags='all=-N -l'` leaves it in";
    Built {
        file,
        args: launch.args.clone(),
        cwd: None,
        entry: Some("main.main".to_owned()),
        note: Some(note.to_owned()),
    }
}

impl Wish {
    fn of(launch: &Launch) -> Result<Wish, Failure> {
        let said = [
            launch.program.is_some(),
            launch.module.is_some(),
            !launch.command.is_empty(),
            launch.test.is_some(),
        ];
        if said.iter().filter(|it| **it).count() != 1 {
            return Err(too_much());
        }
        if let Some(test) = &launch.test {
            return testing::wish(test, launch);
        }
        if let Some(program) = &launch.program {
            return program_wish(program, launch);
        }
        if let Some(module) = &launch.module {
            return Ok(package(launch.cwd.clone(), module.clone(), launch));
        }
        match launch.command.as_slice() {
            [go, run, rest @ ..] if go == "go" && run == "run" => run_wish(rest, launch),
            [go, test, rest @ ..] if go == "go" && test == "test" => {
                Ok(testing::command(rest, launch))
            }
            command => Err(not_for_go(&command.join(" "))),
        }
    }

    /// The same for the same: a build that changes nothing takes no time then.
    fn file(&self, home: &Path) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (self.is_test, &self.folder, &self.what, &self.flags).hash(&mut hasher);
        let folder = self.folder.file_name().and_then(|it| it.to_str()).unwrap_or("program");
        let name = match self.what.first().map(Path::new) {
            Some(first) if first != Path::new(".") => {
                first.file_stem().and_then(|it| it.to_str()).unwrap_or(folder)
            }
            _ => folder,
        };
        let name = if self.is_test { format!("{name}.test") } else { name.to_owned() };
        home.join("go").join("built").join(format!("{:016x}", hasher.finish())).join(name)
    }

    fn words(&self, file: &Path) -> Vec<std::ffi::OsString> {
        let verb: &[&str] = if self.is_test { &["test", "-c"] } else { &["build"] };
        let mut words: Vec<std::ffi::OsString> = verb.iter().map(Into::into).collect();
        words.extend(["-v".into(), "-gcflags=all=-N -l".into(), "-o".into(), file.into()]);
        words.extend(self.flags.iter().map(Into::into));
        words.extend(self.what.iter().map(Into::into));
        words
    }

    fn told(&self) -> String {
        let verb = if self.is_test { "go test -c" } else { "go build" };
        format!("{verb} {}", self.what.join(" "))
    }
}

fn package(folder: PathBuf, what: String, launch: &Launch) -> Wish {
    Wish {
        is_test: false,
        folder,
        what: vec![what],
        flags: Vec::new(),
        args: launch.args.clone(),
        entry: "main.main".to_owned(),
    }
}

/// A folder is a package; a file is its package where there is a module, and itself where there is none.
fn program_wish(program: &Path, launch: &Launch) -> Result<Wish, Failure> {
    if program.is_dir() {
        is_program(sources(program), program)?;
        return Ok(package(program.to_owned(), ".".to_owned(), launch));
    }
    if !has_ending(program, &["go"]) {
        return Err(not_for_go(&program.display().to_string()));
    }
    is_program(std::iter::once(program.to_owned()), program)?;
    let folder = program.parent().unwrap_or(Path::new("/")).to_owned();
    let text = std::fs::read_to_string(program).unwrap_or_default();
    let is_alone = text.lines().any(|it| it.trim() == "//go:build ignore");
    let has_module = folder.ancestors().any(|it| it.join("go.mod").is_file());
    match has_module && !is_alone {
        true => Ok(package(folder, ".".to_owned(), launch)),
        false => Ok(package(folder, program.display().to_string(), launch)),
    }
}

/// Go builds a library without a word, and nothing comes of it.
fn is_program(files: impl Iterator<Item = PathBuf>, of: &Path) -> Result<(), Failure> {
    let named = |file: &Path| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|it| it.strip_prefix("package "))?;
        Some(line.split_whitespace().next()?.to_owned())
    };
    let names: Vec<String> = files.filter_map(|it| named(&it)).collect();
    if names.is_empty() || names.iter().any(|it| it == "main") {
        return Ok(());
    }
    let name = names.first().cloned().unwrap_or_default();
    let text = format!("`{}` is package `{name}`, which is no program", of.display());
    Err(Failure::new(Code::InvalidParams, text)
        .hint("pass the folder of a `package main`, or `test`: `folder::TestName`"))
}

/// Flags of the toolchain that are followed by their value.
const VALUED: [&str; 9] =
    ["-tags", "-ldflags", "-gcflags", "-mod", "-modfile", "-overlay", "-pkgdir", "-p", "-asmflags"];

/// Flags as far as they go, then what is to be built.
pub(super) fn flags(words: &[String]) -> (Vec<String>, &[String]) {
    let mut flags = Vec::new();
    let mut rest = words;
    while let [first, more @ ..] = rest {
        if !first.starts_with('-') {
            break;
        }
        flags.push(first.clone());
        rest = more;
        if let [value, more @ ..] = rest
            && VALUED.contains(&first.as_str())
        {
            flags.push(value.clone());
            rest = more;
        }
    }
    (flags, rest)
}

fn run_wish(words: &[String], launch: &Launch) -> Result<Wish, Failure> {
    let (flags, rest) = flags(words);
    let files = rest.iter().take_while(|it| it.ends_with(".go")).count();
    let (what, args) = rest.split_at(files.max(1).min(rest.len()));
    if what.is_empty() {
        return Err(not_for_go("go run"));
    }
    let args = args.iter().chain(&launch.args).cloned().collect();
    let mut wish = package(launch.cwd.clone(), String::new(), launch);
    (wish.what, wish.flags, wish.args) = (what.to_vec(), flags, args);
    Ok(wish)
}

/// Builds it, and says meanwhile what is compiled.
async fn make(
    wish: &Wish,
    file: &Path,
    launch: &Launch,
    toolchain: &Toolchain,
    around: &Around,
) -> Result<(), Failure> {
    make_room(file);
    let env = launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let (program, cwd) = (toolchain.go.clone(), wish.folder.clone());
    let spec = Spec { program, args: wish.words(file), cwd, env };
    // Dropped with the call, and then its whole tree ends; what it compiled is kept by Go.
    let mut building = Program::start(&around.guard, &spec)?;
    building.pipes.stdin = None;
    let said = match building.pipes.stderr.take() {
        Some(stderr) => follow(stderr, wish, around).await,
        None => Vec::new(),
    };
    let exit = building.wait().await;
    if exit == Exit::Code(0) && file.is_file() {
        return Ok(());
    }
    let errors = match said.is_empty() {
        true => format!("it ended with {exit} and made nothing"),
        false => budget::cut(&said.join("\n"), limits::BUILD_CAUSES),
    };
    let text = format!("`{}` failed in {}\n{errors}", wish.told(), wish.folder.display());
    Err(Failure::new(Code::LaunchFailed, text).hint("correct that and launch it again"))
}

/// What it says beside the packages that it compiles.
async fn follow(
    stderr: impl tokio::io::AsyncRead + Unpin,
    wish: &Wish,
    around: &Around,
) -> Vec<String> {
    let mut lines = BufReader::new(stderr).lines();
    let (mut said, mut compiled) = (Vec::new(), 0_usize);
    while let Ok(Some(line)) = lines.next_line().await {
        let is_package = !line.is_empty() && !line.contains([' ', ':', '#', '\t']);
        if is_package {
            compiled += 1;
            let text = format!("`{}`: {compiled} packages compiled, now {line}", wish.told());
            // Nobody may be listening; that is no reason not to build.
            around.progress.try_send(text).unwrap_or_default();
        } else if said.len() < limits::BUILD_LINES {
            said.push(line);
        }
    }
    said
}

/// Those that were not built for the longest time go.
fn make_room(file: &Path) {
    let Some(own) = file.parent() else { return };
    let Some(all) = own.parent() else { return };
    let age = |it: &PathBuf| it.metadata().and_then(|it| it.modified()).ok();
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it != own).collect();
    folders.sort_by_key(age);
    let over = folders.len().saturating_sub(limits::BUILDS);
    for old in folders.iter().take(over) {
        if let Err(error) = std::fs::remove_dir_all(old) {
            tracing::debug!(%error, "an old build stays");
        }
    }
}

/// Whether Go made this program.
pub(in crate::adapter) fn is_go_binary(file: &Path) -> bool {
    use std::io::{Read as _, Seek as _};
    let Ok(mut open) = std::fs::File::open(file) else { return false };
    let mut magic = [0; 4];
    let is_program = open.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF";
    if !is_program || open.rewind().is_err() {
        return false;
    }
    let mut bytes = Vec::new();
    let read = open.take(limits::PROGRAM_LOOK).read_to_end(&mut bytes);
    // It begins on a round address.
    read.is_ok() && bytes.chunks(16).any(|it| it.starts_with(MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(command: &[&str]) -> Launch {
        let command = command.iter().map(|it| (*it).to_owned()).collect();
        Launch { command, cwd: "/srv".into(), ..Launch::default() }
    }

    #[test]
    fn what_go_run_is_given_is_built_and_the_rest_is_the_programs() {
        let wish =
            Wish::of(&launch(&["go", "run", "-tags", "fast", "./cmd/shop", "sum", "-v"])).unwrap();
        assert_eq!(wish.what, ["./cmd/shop"]);
        assert_eq!(wish.flags, ["-tags", "fast"]);
        assert_eq!(wish.args, ["sum", "-v"]);
        let wish = Wish::of(&launch(&["go", "run", "a.go", "b.go", "x"])).unwrap();
        assert_eq!((wish.what.len(), wish.args.len()), (2, 1));
        assert!(Wish::of(&launch(&["go", "vet"])).is_err());
    }

    #[test]
    fn a_library_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cart.go");
        std::fs::write(&file, "// Cart.\npackage cart\n").unwrap();
        let launch = Launch { program: Some(file), ..Launch::default() };
        let failure = Wish::of(&launch).unwrap_err();
        assert!(failure.message.contains("package `cart`, which is no program"), "{failure:?}");
    }
}
