//! A lone source file, compiled with debug information into a folder of ours.
//!
//! Each text has its own place there, so that a program that runs keeps what it runs, and one that was compiled before is
//! not compiled again.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{
    adapter::{Around, debugger, provided, tool::BuildTool},
    budget,
    failure::{Code, Failure},
    language::{DebuggerProgram, Install},
    limits,
    process::Exit,
};

const COMPILER: DebuggerProgram = DebuggerProgram {
    name: "Mono's compiler",
    programs: &["mcs"],
    version: &["--version"],
    install: Install::Apt(&["mono-mcs"]),
};

/// The program that the file comes to.
pub(super) async fn compiled(file: &Path, around: &Around) -> Result<PathBuf, Failure> {
    let compiler = debugger::find("csharp", &COMPILER, &around.home)?;
    let file = file.canonicalize().map_err(|error| failed(file, &error.to_string()))?;
    let text = std::fs::read(&file).map_err(|error| failed(&file, &error.to_string()))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let home = provided::writable(&around.home);
    let home = home.map_err(|error| failed(&file, &error.to_string()))?.join("csharp");
    let folder = home.join(key(&file, &text));
    let exe = folder.join(format!("{name}.exe"));
    if exe.is_file() {
        return Ok(exe);
    }
    around.progress.try_send(format!("compiling {}", file.display())).unwrap_or_default();
    // Beside its place first: one that breaks off leaves nothing half done.
    let fresh = folder.with_extension(format!("{}.new", std::process::id()));
    std::fs::create_dir_all(&fresh).map_err(|error| failed(&file, &error.to_string()))?;
    let made = compile(&compiler, &file, &fresh.join(format!("{name}.exe")), around).await;
    let moved = match made {
        Ok(()) => std::fs::rename(&fresh, &folder).map_err(|it| failed(&file, &it.to_string())),
        Err(failure) => Err(failure),
    };
    // Another server was faster, or nothing came of it.
    if fresh.exists()
        && let Err(error) = std::fs::remove_dir_all(&fresh)
    {
        tracing::debug!(%error, "what was compiled for nobody stays");
    }
    match moved {
        Err(failure) if !exe.is_file() => Err(failure),
        _ => {
            forget_old(&home).unwrap_or_else(|error| {
                tracing::debug!(%error, "programs that were compiled long ago stay");
            });
            Ok(exe)
        }
    }
}

/// The same file with the same text.
fn key(file: &Path, text: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(file.as_os_str().as_encoded_bytes());
    hash.update([0]);
    hash.update(text);
    hash.finalize().iter().take(12).map(|it| format!("{it:02x}")).collect()
}

async fn compile(compiler: &Path, file: &Path, exe: &Path, around: &Around) -> Result<(), Failure> {
    let args = ["-debug".into(), "-nologo".into(), "-warn:0".into()].into_iter();
    let args: Vec<OsString> =
        args.chain([format!("-out:{}", exe.display()).into(), file.into()]).collect();
    let (program, env) = (compiler.display().to_string(), BTreeMap::new());
    let cwd = file.parent().unwrap_or(file);
    let ran = BuildTool { program: &program, args, cwd, env: &env }.ended(around);
    let ran = tokio::time::timeout(limits::MONO_COMPILE, ran).await;
    let late =
        || failed(file, &format!("the compiler was not done after {:?}", limits::MONO_COMPILE));
    let ran = ran.map_err(|_| late())??;
    if ran.exit == Exit::Code(0) {
        return Ok(());
    }
    Err(failed(file, &errors(&[ran.out, ran.err].concat().join("\n"))))
}

/// `shop.cs(3,9): error CS1002: …` as `shop.cs:3: …`; what else was said where there is none.
fn errors(said: &str) -> String {
    let one = |line: &str| {
        let (place, error) = line.split_once(": error ")?;
        let (file, at) = place.rsplit_once('(')?;
        let number = at.split([',', ')']).next()?;
        Some(format!("{file}:{number}: {error}"))
    };
    let found: Vec<String> = said.lines().filter_map(one).collect();
    match found.as_slice() {
        [] => budget::cut(said.trim(), 2_000),
        found => budget::cut(&found.join("\n"), 2_000),
    }
}

/// Keeps the newest of them.
fn forget_old(home: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(home)? {
        let entry = entry?;
        all.push((entry.metadata()?.modified()?, entry.path()));
    }
    all.sort();
    let old = all.len().saturating_sub(limits::MONO_COMPILED);
    for (_, folder) in all.into_iter().take(old) {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

fn failed(file: &Path, why: &str) -> Failure {
    let text = format!("`{}` does not compile:\n{why}", file.display());
    Failure::new(Code::LaunchFailed, text).hint("mend it and launch it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_lines() {
        let said = "/w/shop.cs(3,9): error CS1002: ; expected\n/w/shop.cs(4,1): warning CS1: no\n\
                    Compilation failed: 1 error(s), 1 warnings\n";
        assert_eq!(errors(said), "/w/shop.cs:3: CS1002: ; expected");
        assert_eq!(errors("error CS2001: no file\n"), "error CS2001: no file");
    }

    #[test]
    fn another_text_is_another_program() {
        let file = Path::new("/w/shop.cs");
        assert_eq!(key(file, b"a"), key(file, b"a"));
        assert_ne!(key(file, b"a"), key(file, b"b"));
        assert_ne!(key(file, b"a"), key(Path::new("/w/ship.cs"), b"a"));
    }
}
