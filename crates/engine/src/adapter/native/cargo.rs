//! Programs, examples and tests of a Cargo package: built by Cargo, which says where they are.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{build::Built, kind::NativeLanguage};
use crate::{
    adapter::{Around, tool::BuildTool},
    failure::{Code, Failure},
    launch::Launch,
};

/// What Cargo says of something that it has built.
#[derive(Debug, Clone, Deserialize)]
struct Artifact {
    target: Target,
    manifest_path: PathBuf,
    executable: Option<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
struct Target {
    name: String,
    src_path: PathBuf,
}

/// A program that Cargo made.
#[derive(Debug, Clone)]
struct Made {
    target: Target,
    manifest: PathBuf,
    program: PathBuf,
}

/// The package that a file is in, if it is in one.
pub(super) fn manifest(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).map(|it| it.join("Cargo.toml")).find(|it| it.is_file())
}

/// The program whose root is this file; the only one of the package where none is named.
pub(super) async fn program(
    root: Option<&Path>,
    manifest: &Path,
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    let mut words = vec!["build".to_owned()];
    words.extend(root.map_or_else(|| vec!["--bins".to_owned()], |it| selecting(it, manifest)));
    let made = build(&words, Some(manifest), launch, around).await?;
    let made = match root {
        Some(root) => {
            let own: Vec<Made> =
                made.iter().filter(|it| it.target.src_path == root).cloned().collect();
            if own.is_empty() { made } else { own }
        }
        None => made,
    };
    let made = only(made, "program")?;
    let built = Built::of(made.program, launch, NativeLanguage::Rust);
    // Where nobody said where it runs, it runs where Cargo would run it.
    let is_unsaid = root.and_then(Path::parent) == Some(&built.cwd);
    match manifest.parent().filter(|_| is_unsaid) {
        Some(package) => Ok(Built { cwd: package.to_owned(), ..built }),
        None => Ok(built),
    }
}

/// Which of a package's targets a file is the root of.
fn selecting(root: &Path, manifest: &Path) -> Vec<String> {
    let package = manifest.parent().unwrap_or(manifest);
    let inside = root.strip_prefix(package).unwrap_or(root);
    let folder = inside.parent().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = inside.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    match folder.as_str() {
        "src/bin" => vec!["--bin".to_owned(), stem],
        "examples" => vec!["--example".to_owned(), stem],
        "benches" => vec!["--bench".to_owned(), stem],
        _ => vec!["--bins".to_owned()],
    }
}

/// `src/cart.rs::tests::adds`, `tests/shop.rs::adds`, `Cargo.toml::tests::adds`: the test of that name, alone.
pub(super) async fn test(test: &str, launch: &Launch, around: &Around) -> Result<Built, Failure> {
    let (file, name) = test.split_once("::").unwrap_or((test, ""));
    let file = launch.cwd.join(file);
    let Some(manifest) = manifest(&file) else {
        let text = format!("`{}` is in no Cargo package", file.display());
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("tests are run by Cargo: there is no `Cargo.toml` above it"));
    };
    let mut words = vec!["test".to_owned(), "--no-run".to_owned()];
    words.extend(testing(&file, &manifest));
    let made = build(&words, Some(&manifest), launch, around).await?;
    let (made, name) = find(made, name, launch, around).await?;
    Ok(one_test(made, name, launch))
}

/// Which programs of tests may have it.
fn testing(file: &Path, manifest: &Path) -> Vec<String> {
    let package = manifest.parent().unwrap_or(manifest);
    let inside = file.strip_prefix(package).unwrap_or(file);
    let stem = inside.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let is_directly = inside.parent().is_some_and(|it| it == Path::new("tests"));
    if is_directly {
        return vec!["--test".to_owned(), stem];
    }
    if !inside.starts_with("src") {
        return Vec::new();
    }
    let has_library = package.join("src/lib.rs").is_file();
    let own = (stem == "main" || inside.starts_with("src/bin")).then(|| "--bins".to_owned());
    let library = has_library.then(|| "--lib".to_owned());
    vec![own.or(library).unwrap_or_else(|| "--bins".to_owned())]
}

fn one_test(made: Made, name: String, launch: &Launch) -> Built {
    let root = made.target.name.replace('-', "_");
    let mut args = vec![name.clone(), "--exact".to_owned(), "--nocapture".to_owned()];
    args.push("--test-threads=1".to_owned());
    args.extend(launch.args.iter().cloned());
    let built = Built::of(made.program, launch, NativeLanguage::Rust);
    let mut env = built.env.clone();
    // As Cargo itself would run it.
    let package = made.manifest.parent().map(Path::to_owned).unwrap_or_else(|| launch.cwd.clone());
    env.entry("CARGO_MANIFEST_DIR".to_owned()).or_insert(package.display().to_string());
    Built { args, cwd: package, env, test: Some(format!("{root}::{name}")), ..built }
}

/// The one test that a name means, among all that these programs have.
async fn find(
    made: Vec<Made>,
    name: &str,
    launch: &Launch,
    around: &Around,
) -> Result<(Made, String), Failure> {
    let (mut found, mut all) = (Vec::new(), Vec::new());
    for one in made {
        let program = one.program.display().to_string();
        let args = ["--list", "--format", "terse"].map(OsString::from).to_vec();
        let folder = one.manifest.parent().unwrap_or(&launch.cwd);
        let tool = BuildTool { program: &program, args, cwd: folder, env: &launch.env };
        let listed = tool.run(around).await?;
        let tests = listed.iter().filter_map(|it| it.strip_suffix(": test"));
        for test in tests {
            all.push(test.to_owned());
            if test == name || test.ends_with(&format!("::{name}")) {
                found.push((one.clone(), test.to_owned()));
            }
        }
    }
    // The whole name is meant before a part of another.
    if found.iter().any(|(_, it)| it == name) {
        found.retain(|(_, it)| it == name);
    }
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some((_, last)), false) => {
            let names: Vec<String> = found.into_iter().map(|(_, it)| it).chain([last]).collect();
            let text = format!("several tests are called `{name}`: {}", names.join(", "));
            Err(Failure::new(Code::InvalidParams, text).hint("pass the whole path of one"))
        }
        (None, _) => {
            let nearest = crate::budget::cut(&all.join(", "), 400);
            let text = match name {
                "" => "no test is named".to_owned(),
                name => format!("no test `{name}` is built here"),
            };
            Err(Failure::new(Code::NotFound, text)
                .hint(format!("pass `file::name`; tests here: {nearest}")))
        }
    }
}

/// `cargo run --bin shop -- 3`, `cargo test adds`.
pub(super) async fn command(
    words: &[String],
    launch: &Launch,
    around: &Around,
) -> Result<Built, Failure> {
    let split = words.iter().position(|it| it == "--").unwrap_or(words.len());
    let (own, rest) = words.split_at(split);
    let rest: Vec<String> = rest.iter().skip(1).chain(&launch.args).cloned().collect();
    let launch = Launch { args: rest, ..launch.clone() };
    let Some((verb, flags)) = own.split_first() else { return Err(verbs()) };
    match verb.as_str() {
        "run" | "r" | "build" | "b" => {
            let words: Vec<String> = [&["build".to_owned()], flags].concat();
            let made = build(&words, None, &launch, around).await?;
            only(made, "program").map(|made| Built::of(made.program, &launch, NativeLanguage::Rust))
        }
        "test" | "t" => {
            let (filter, flags) = filter_of(flags);
            let verb = ["test".to_owned(), "--no-run".to_owned()];
            let words: Vec<String> = [&verb, flags.as_slice()].concat();
            let made = build(&words, None, &launch, around).await?;
            let (made, name) = find(made, &filter.unwrap_or_default(), &launch, around).await?;
            Ok(one_test(made, name, &launch))
        }
        _ => Err(verbs()),
    }
}

fn verbs() -> Failure {
    Failure::new(Code::InvalidParams, "of Cargo's commands `run` and `test` can be debugged")
        .hint("`cargo run --bin NAME -- ARGS`, `cargo test NAME`")
}

/// The words of a test's name among flags, and the flags.
fn filter_of(words: &[String]) -> (Option<String>, Vec<String>) {
    const WITH_VALUE: &[&str] = &[
        "-p",
        "--package",
        "--test",
        "--bin",
        "--example",
        "--bench",
        "--features",
        "-F",
        "--profile",
        "--target",
        "--target-dir",
        "--manifest-path",
        "-j",
        "--jobs",
        "--exclude",
    ];
    let (mut filter, mut flags) = (None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') && filter.is_none() {
            filter = Some(word.clone());
            continue;
        }
        flags.push(word.clone());
        if WITH_VALUE.contains(&word.as_str()) {
            flags.extend(words.next().cloned());
        }
    }
    (filter, flags)
}

/// Has Cargo build, and hears what came of it.
async fn build(
    words: &[String],
    manifest: Option<&Path>,
    launch: &Launch,
    around: &Around,
) -> Result<Vec<Made>, Failure> {
    let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
    args.push("--message-format=json-render-diagnostics".into());
    if let Some(manifest) = manifest {
        args.extend(["--manifest-path".into(), manifest.as_os_str().to_owned()]);
    }
    around.progress.try_send(format!("cargo {}", words.join(" "))).unwrap_or_default();
    let tool = BuildTool { program: "cargo", args, cwd: &launch.cwd, env: &launch.env };
    let said = tool.run(around).await?;
    let artifacts = said.iter().filter(|it| it.contains("\"compiler-artifact\""));
    let artifacts = artifacts.filter_map(|it| serde_json::from_str::<Artifact>(it).ok());
    let made = artifacts.filter_map(|it| {
        Some(Made { target: it.target, manifest: it.manifest_path, program: it.executable? })
    });
    Ok(made.collect())
}

fn only(mut made: Vec<Made>, what: &str) -> Result<Made, Failure> {
    match (made.pop(), made.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::new(Code::LaunchFailed, format!("Cargo built no {what} here"))
            .hint("a library has none: pass `test`, or an example by `command`")),
        (Some(last), false) => {
            let names: Vec<&str> =
                made.iter().chain([&last]).map(|it| it.target.name.as_str()).collect();
            let text = format!("Cargo built several programs: {}", names.join(", "));
            Err(Failure::new(Code::InvalidParams, text)
                .hint("choose one: `command`: `cargo run --bin NAME`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_test_s_name_is_told_from_flags() {
        let (filter, flags) = filter_of(&words("-p shop adds --release"));
        assert_eq!((filter.as_deref(), flags), (Some("adds"), words("-p shop --release")));
    }

    #[test]
    fn a_file_says_which_target_it_is_of() {
        let manifest = Path::new("/nowhere/Cargo.toml");
        let selected = |file: &str| selecting(&Path::new("/nowhere").join(file), manifest);
        assert_eq!(selected("src/bin/till.rs"), words("--bin till"));
        assert_eq!(selected("examples/sell.rs"), words("--example sell"));
        assert_eq!(selected("src/main.rs"), words("--bins"));
        let tested = |file: &str| testing(&Path::new("/nowhere").join(file), manifest);
        assert_eq!(tested("tests/shop.rs"), words("--test shop"));
        assert_eq!(tested("src/main.rs"), words("--bins"));
    }
}
