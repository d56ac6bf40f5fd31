//! What runs: a program that is there, or one that is built first, of a lone source file, by Cargo, Make or CMake.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{cargo, kind::NativeLanguage};
use crate::{
    adapter::{Around, has_ending, one_of, provided, tool::BuildTool},
    failure::{Code, Failure},
    launch::Launch,
    limits,
};

/// A program that can be started.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: BTreeMap<String, String>,
    /// The function that is one test: the user's code begins there.
    pub(super) test: Option<String>,
    /// What there is to say about how it was made.
    pub(super) note: Option<String>,
    pub(super) kind: NativeLanguage,
}

impl Built {
    pub(super) fn of(program: PathBuf, launch: &Launch, kind: NativeLanguage) -> Built {
        Built {
            program,
            args: launch.args.clone(),
            cwd: launch.cwd.clone(),
            env: launch.env.clone(),
            test: None,
            note: None,
            kind,
        }
    }
}

/// Builds what has to be.
pub(super) async fn prepare(
    kind: NativeLanguage,
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    let parts = [
        launch.program.is_some(),
        launch.module.is_some(),
        !launch.command.is_empty(),
        launch.test.is_some(),
    ];
    if parts.iter().filter(|it| **it).count() != 1 || launch.module.is_some() {
        return Err(one_of());
    }
    if launch.test.is_some() && kind != NativeLanguage::Rust {
        let text = "C and C++ have no runner of tests that everybody uses";
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("build the program of the tests, and pass it as `program` with its `args`"));
    }
    if let Some(test) = &launch.test {
        return cargo::test(test, launch, around).await;
    }
    if let Some(program) = &launch.program {
        return of_file(kind, program, launch, around).await;
    }
    by_command(launch, around).await
}

async fn of_file(
    kind: NativeLanguage,
    program: &Path,
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    if let Some(kind) = NativeLanguage::of_program(program) {
        return Ok(Built::of(program.to_owned(), launch, kind));
    }
    if program.file_name().is_some_and(|it| it == "Cargo.toml") {
        return cargo::program(None, program, launch, around).await;
    }
    if has_ending(program, NativeLanguage::Rust.endings())
        && let Some(manifest) = cargo::manifest(program)
    {
        return cargo::program(Some(program), &manifest, launch, around).await;
    }
    let is_source = has_ending(program, kind.endings());
    if !is_source {
        let text = format!("`{}` is no compiled program and no source file", program.display());
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("pass the program that the build made, a source file, or `command`"));
    }
    compiled(kind, program, launch, around).await
}

/// A lone source file, into a folder of our own; one program for each file, the last one that was made.
async fn compiled(
    kind: NativeLanguage,
    source: &Path,
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    let folder = provided::below(&around.home, |home| {
        let folder = home.join("compiled").join(number_of(source));
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    });
    let folder = folder.map_err(|error| {
        Failure::new(Code::LaunchFailed, format!("no folder to compile into: {error}"))
    })?;
    let name = source.file_stem().unwrap_or(source.as_os_str());
    let program = folder.join(name);
    // One that runs still is not written to.
    let new = folder.join(format!(".{}", uuid::Uuid::new_v4().simple()));
    let variable = |name: &str, usual: &'static str| {
        let own = launch.env.get(name).cloned().or_else(|| std::env::var(name).ok());
        own.filter(|it| !it.is_empty()).unwrap_or_else(|| usual.to_owned())
    };
    let (compiler, before, after): (String, &[&str], &[&str]) = match kind {
        NativeLanguage::C => (variable("CC", "cc"), &["-g", "-O0"], &["-lm", "-pthread"]),
        NativeLanguage::Cpp => (variable("CXX", "c++"), &["-g", "-O0"], &["-lm", "-pthread"]),
        NativeLanguage::Rust => {
            (variable("RUSTC", "rustc"), &["-g", "-C", "opt-level=0", "--edition", "2024"], &[])
        }
    };
    let mut args: Vec<OsString> = before.iter().map(Into::into).collect();
    args.extend(["-o".into(), new.clone().into_os_string(), source.as_os_str().to_owned()]);
    args.extend(after.iter().map(OsString::from));
    around.progress.try_send(format!("compiling {}", source.display())).unwrap_or_default();
    let folder_of = source.parent().unwrap_or(&launch.cwd);
    let tool = BuildTool { program: &compiler, args, cwd: folder_of, env: &launch.env };
    tool.run(around).await?;
    std::fs::rename(&new, &program).map_err(|error| {
        Failure::new(Code::LaunchFailed, format!("`{compiler}` made no program: {error}"))
    })?;
    forget_old(&folder);
    let note = Some(format!("compiled by `{compiler}`"));
    Ok(Built { note, ..Built::of(program, launch, kind) })
}

/// The same for the same file, and no path that could be too long.
fn number_of(source: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The programs that were compiled longest ago go.
fn forget_old(newest: &Path) {
    let folders = newest.parent().map(std::fs::read_dir);
    let folders = folders.into_iter().flatten().flatten().flatten();
    let mut dated: Vec<(SystemTime, PathBuf)> =
        folders.filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path()))).collect();
    dated.sort();
    let over = dated.len().saturating_sub(limits::COMPILED_KEPT);
    for (_, folder) in dated.into_iter().take(over).filter(|(_, it)| it != newest) {
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::debug!(%error, "an old compiled program stays");
        }
    }
}

/// `cargo run …`, `make shop`, `cmake --build build --target shop`, or a program with its words.
async fn by_command(launch: &Launch, around: &Around) -> Result<Built, Failure> {
    let Some((first, rest)) = launch.command.split_first() else { return Err(one_of()) };
    let name = Path::new(first).file_name().and_then(|it| it.to_str()).unwrap_or_default();
    match name {
        "cargo" => return cargo::command(rest, launch, around).await,
        "make" | "gmake" | "cmake" | "ninja" => {
            return made(first, rest, launch, around).await;
        }
        _ => {}
    }
    let program = on_path(first, launch);
    let found = program.and_then(|it| Some((NativeLanguage::of_program(&it)?, it)));
    let Some((kind, program)) = found else {
        let text = format!("`{first}` is no compiled program that is found from here");
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("name the program itself, not a script or shell around it"));
    };
    let args = rest.iter().chain(&launch.args).cloned().collect();
    Ok(Built { args, ..Built::of(program, launch, kind) })
}

/// A program as a shell would find it.
pub(super) fn on_path(word: &str, launch: &Launch) -> Option<PathBuf> {
    if word.contains('/') {
        let path = launch.cwd.join(word);
        return path.is_file().then(|| path.canonicalize().unwrap_or(path));
    }
    let path = launch.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path).map(|it| it.join(word)).find(|it| it.is_file())
}

/// Runs the builder, and takes the program that has its target's name.
async fn made(
    builder: &str,
    words: &[String],
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    let Some((target, folder)) = target_of(words) else {
        let text = format!("`{builder}` is not told which target to build");
        return Err(Failure::new(Code::InvalidParams, text).hint(
            "name it: `make shop`, `cmake --build build --target shop`; its program is debugged",
        ));
    };
    around.progress.try_send(format!("building {target}")).unwrap_or_default();
    let args = words.iter().map(OsString::from).collect();
    BuildTool { program: builder, args, cwd: &launch.cwd, env: &launch.env }.run(around).await?;
    let below = launch.cwd.join(folder);
    let Some((program, kind)) = made_program(&below, &target) else {
        let text = format!("`{builder}` made no program `{target}` below `{}`", below.display());
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("pass its path as `program`: that is debugged as it is"));
    };
    let note = Some(format!("built by `{builder}`"));
    Ok(Built { note, ..Built::of(program, launch, kind) })
}

/// The target, and the folder in which it is built.
fn target_of(words: &[String]) -> Option<(String, String)> {
    let (mut target, mut folder) = (None, ".".to_owned());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" | "--directory" | "--build" => folder = words.next()?.clone(),
            "-t" | "--target" => target = words.next().cloned(),
            "-f" | "-j" | "--parallel" | "--config" => drop(words.next()),
            "--" => {}
            word if word.starts_with('-') || word.contains('=') => {}
            word => target = target.or_else(|| Some(word.to_owned())),
        }
    }
    Some((target?, folder))
}

/// The newest compiled program of that name, not too deep below the folder.
fn made_program(folder: &Path, target: &str) -> Option<(PathBuf, NativeLanguage)> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let direct = folder.join(target);
        if let Some(kind) = NativeLanguage::of_program(&direct).filter(|_| direct.is_file()) {
            let when = direct.metadata().and_then(|it| it.modified()).ok();
            found.push((when, direct, kind));
        }
        if depth < limits::BUILD_DEPTH {
            let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = inner.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
            let folders = folders.filter(|it| !it.file_name().to_string_lossy().starts_with('.'));
            open.extend(folders.take(limits::BUILD_FOLDERS).map(|it| (it.path(), depth + 1)));
        }
    }
    found.sort_by_key(|(when, ..)| *when);
    found.pop().map(|(_, program, kind)| (program, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_of_a_build_is_its_program() {
        let of = |line: &str| target_of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("-j 4 CFLAGS=-g shop"), Some(("shop".into(), ".".into())));
        assert_eq!(of("-C sub shop"), Some(("shop".into(), "sub".into())));
        assert_eq!(of("--build out --target shop"), Some(("shop".into(), "out".into())));
        assert_eq!(of("-j 2"), None);
    }
}
