//! A lone source file, compiled with all that a debugger needs into a folder of ours.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    sources::package_of,
    what::{main_class, on_path},
};
use crate::{
    adapter::{Around, tool::BuildTool},
    budget,
    failure::{Code, Failure},
    launch::Launch,
    limits,
    process::Exit,
    running::Running,
};

pub(super) struct Compiled {
    pub(super) classes: PathBuf,
    /// The class that has the `main`.
    pub(super) main: String,
}

pub(super) async fn compile(
    file: &Path,
    launch: &Launch,
    around: &Around,
    java: &Path,
) -> Result<Compiled, Failure> {
    let failed = |text: String| Failure::new(Code::LaunchFailed, text);
    let text = std::fs::read_to_string(file)
        .map_err(|error| failed(format!("cannot read `{}`: {error}", file.display())))?;
    let beside = java.with_file_name("javac");
    let javac = if beside.is_file() { Some(beside) } else { on_path("javac", launch) };
    let javac = javac.ok_or_else(|| {
        failed("there is no `javac`: this is a runtime without a compiler".to_owned())
            .hint("install a JDK, or launch a compiled class or a jar")
    })?;
    let classes = folder(&around.home)?;
    let package = package_of(&text);
    let depth = if package.is_empty() { 0 } else { package.split('.').count() };
    let root = file.ancestors().nth(depth + 1).unwrap_or(file);
    around.progress.try_send(format!("compiling {}", file.display())).unwrap_or_default();
    let mut args: Vec<OsString> =
        ["-g", "-nowarn", "-encoding", "UTF-8", "-d"].into_iter().map(Into::into).collect();
    args.extend([classes.clone().into(), "-sourcepath".into(), root.into(), file.into()]);
    let program = javac.display().to_string();
    let tool = BuildTool { program: &program, args, cwd: &launch.cwd, env: &launch.env };
    let done = tokio::time::timeout(limits::COMPILE, tool.ended(around)).await;
    let done =
        done.map_err(|_| failed(format!("`javac` was not done after {:?}", limits::COMPILE)))??;
    if done.exit != Exit::Code(0) {
        let said = done.err.join("\n");
        let said = budget::cut(said.trim(), limits::FAILURE_CHARACTERS);
        return Err(failed(format!("it does not compile:\n{said}"))
            .hint("correct what the compiler names, by file and line, and launch it again"));
    }
    let stem = file.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Compiled { classes, main: main_class(&text, &stem) })
}

/// A new folder for one run: another may still load from its own. Those of servers that are gone are removed.
fn folder(home: &Path) -> Result<PathBuf, Failure> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let all = home.join("java");
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        let owner =
            entry.file_name().to_string_lossy().split('-').next().and_then(|it| it.parse().ok());
        let is_left = owner.is_some_and(|it: u32| Running::find(it).is_err());
        if is_left && let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::debug!(%error, "classes of an earlier run stay");
        }
    }
    let own = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = all.join(own);
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::new(Code::LaunchFailed, format!("cannot make `{}`: {error}", folder.display()))
    })?;
    Ok(folder)
}
