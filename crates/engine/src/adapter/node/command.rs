//! What runs, in Node's own terms: which node, its flags, the script and its arguments.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{super::one_of, testing};
use crate::{
    adapter::{Runtime, has_ending},
    failure::{Code, Failure},
    launch::Launch,
};

pub(super) const SCRIPTS: &[&str] = &["js", "mjs", "cjs", "jsx"];
pub(super) const TYPESCRIPT: &[&str] = &["ts", "mts", "cts", "tsx"];

pub(super) struct What {
    pub(super) node: PathBuf,
    /// Flags of ours, then the words that were given.
    pub(super) words: Vec<OsString>,
    /// Node's own test runner has no first line: its children have.
    pub(super) is_runner: bool,
}

/// Whether a command is one of Node's world.
pub(super) fn is_ours(command: &[String], cwd: &Path) -> bool {
    let Some(first) = command.first() else { return false };
    let name = file_name(first);
    matches!(
        name,
        "node" | "nodejs" | "npx" | "npm" | "tsx" | "ts-node" | "mocha" | "jest" | "vitest"
    ) || has_ending(Path::new(first), SCRIPTS)
        || has_ending(Path::new(first), TYPESCRIPT)
        || in_project(first, cwd).is_some()
}

impl What {
    pub(super) async fn of(launch: &Launch) -> Result<What, Failure> {
        let mut what = What {
            node: find_node(launch.interpreter.as_deref())?,
            words: Vec::new(),
            is_runner: false,
        };
        let test = launch.test.as_deref().map(|test| testing::command(test, &launch.cwd));
        let command = match &test {
            Some(test) if launch.command.is_empty() => test,
            _ => &launch.command,
        };
        match (&launch.program, &launch.module, command.as_slice()) {
            _ if test.is_some() && !launch.command.is_empty() => return Err(one_of()),
            (Some(program), None, []) => what.script(program, launch).await?,
            (None, None, [first, rest @ ..]) => what.command(first, rest, launch).await?,
            (None, Some(_), []) => {
                return Err(Failure::new(Code::InvalidParams, "`module` is for Python")
                    .hint("pass `program` with a file, or `command`"));
            }
            _ => return Err(one_of()),
        }
        what.words.extend(launch.args.iter().map(OsString::from));
        Ok(what)
    }

    /// Which node it is, and why.
    pub(super) fn runtime(&self, launch: &Launch) -> Runtime {
        let is_given = launch.interpreter.is_some() || !is_on_path(&self.node);
        let why = if is_given { "as given" } else { "PATH" }.to_owned();
        Runtime { path: self.node.clone(), version: None, why, installed: None }
    }

    /// A file to run, with what it takes to run TypeScript.
    async fn script(&mut self, script: &Path, launch: &Launch) -> Result<(), Failure> {
        if has_ending(script, TYPESCRIPT) {
            self.words.extend(typescript(&self.node, script, &launch.cwd).await?);
        }
        self.words.push(script.into());
        Ok(())
    }

    async fn command(
        &mut self,
        first: &str,
        rest: &[String],
        launch: &Launch,
    ) -> Result<(), Failure> {
        let given = |words: &[String]| words.iter().map(OsString::from).collect::<Vec<_>>();
        match (file_name(first), rest) {
            ("node" | "nodejs", _) => self.node_itself(first, rest, launch).await,
            ("npx", [name, rest @ ..]) if !name.starts_with('-') => {
                Box::pin(self.command(name, rest, launch)).await
            }
            ("npx", [flag, rest @ ..]) if flag.starts_with('-') => {
                Box::pin(self.command("npx", rest, launch)).await
            }
            ("tsx" | "ts-node", [script, rest @ ..]) if !script.starts_with('-') => {
                self.script(&launch.cwd.join(script), launch).await?;
                self.words.extend(given(rest));
                Ok(())
            }
            (name, _) => {
                let script = find_script(first, &launch.cwd)?;
                self.script(&script, launch).await?;
                self.words.extend(given(rest));
                self.words.extend(for_runner(name, rest));
                Ok(())
            }
        }
    }

    async fn node_itself(
        &mut self,
        first: &str,
        rest: &[String],
        launch: &Launch,
    ) -> Result<(), Failure> {
        if first.contains('/') && launch.interpreter.is_none() {
            self.node = launch.cwd.join(first);
        }
        self.is_runner = rest.iter().take_while(|it| it.starts_with('-')).any(|it| it == "--test");
        // An address of the caller's own would be one we do not know.
        let kept = rest.iter().filter(|it| !it.starts_with("--inspect"));
        if let Some(script) = rest.iter().find(|it| has_ending(Path::new(it), TYPESCRIPT)) {
            let script = launch.cwd.join(script);
            self.words.extend(typescript(&self.node, &script, &launch.cwd).await?);
        }
        self.words.extend(kept.map(OsString::from));
        Ok(())
    }
}

/// One process and one file at a time: parallel runs under a debugger only confuse.
fn for_runner(name: &str, given: &[String]) -> Vec<OsString> {
    let has = |words: &[&str]| {
        given
            .iter()
            .any(|it| words.iter().any(|word| it == word || it.starts_with(&format!("{word}="))))
    };
    let mut more: Vec<OsString> = Vec::new();
    match name {
        "jest" if !has(&["-i", "--runInBand", "-w", "--maxWorkers"]) => more.push("-i".into()),
        "vitest" => {
            if !has(&["run", "watch", "dev", "related", "bench", "list", "--run"]) {
                more.push("--run".into());
            }
            if !has(&["--fileParallelism", "--no-file-parallelism"]) {
                more.push("--no-file-parallelism".into());
            }
        }
        _ => {}
    }
    more
}

/// The script behind a command: a path, a program of the project, or one on the PATH.
fn find_script(word: &str, cwd: &Path) -> Result<PathBuf, Failure> {
    let by_path = word.contains('/')
        || has_ending(Path::new(word), SCRIPTS)
        || has_ending(Path::new(word), TYPESCRIPT);
    let found = if by_path {
        Some(cwd.join(word))
    } else {
        in_project(word, cwd).or_else(|| on_path(word).and_then(|it| javascript(&it)))
    };
    found.filter(|it| it.is_file()).ok_or_else(|| {
        Failure::new(
            Code::NotFound,
            format!("no JavaScript program `{word}` in the project or on the PATH"),
        )
        .hint("pass the path of its script, or install it in the project: `npm install`")
    })
}

/// `node_modules/.bin/word`, here or in a folder above, as the JavaScript file that it is.
pub(super) fn in_project(word: &str, cwd: &Path) -> Option<PathBuf> {
    if word.contains('/') {
        return None;
    }
    cwd.ancestors().find_map(|folder| {
        let modules = folder.join("node_modules");
        let bin = modules.join(".bin").join(word);
        if !bin.exists() {
            return None;
        }
        javascript(&bin).or_else(|| by_package(&modules.join(word), word))
    })
}

/// Some package managers put shell scripts into `.bin`; the package itself says what it runs.
fn by_package(folder: &Path, word: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    let bin = package.get("bin")?;
    let path = bin.as_str().or_else(|| bin.get(word)?.as_str())?;
    Some(folder.join(path)).filter(|it| it.is_file())
}

/// A file that node runs: by its name, or by its first line.
fn javascript(file: &Path) -> Option<PathBuf> {
    let real = file.canonicalize().ok()?;
    if has_ending(&real, SCRIPTS) {
        return Some(real);
    }
    let mut head = [0; 128];
    let count = std::io::Read::read(&mut std::fs::File::open(&real).ok()?, &mut head).ok()?;
    let head = String::from_utf8_lossy(head.get(..count)?).into_owned();
    let first = head.lines().next().unwrap_or_default();
    (first.starts_with("#!") && first.contains("node")).then_some(real)
}

fn find_node(given: Option<&Path>) -> Result<PathBuf, Failure> {
    match given {
        Some(path) if path.components().count() > 1 && !path.is_file() => {
            Err(Failure::new(Code::NotFound, format!("`{}` is not a file", path.display()))
                .hint("`interpreter` is the path of a node"))
        }
        Some(path) if path.components().count() > 1 => Ok(path.to_owned()),
        given => {
            let name = given.and_then(Path::to_str).unwrap_or("node");
            on_path(name).or_else(|| on_path("nodejs").filter(|_| given.is_none())).ok_or_else(
                || {
                    Failure::new(Code::NotFound, format!("no `{name}` on the PATH"))
                        .hint("install Node.js, or pass its path as `interpreter`")
                },
            )
        }
    }
}

fn is_on_path(node: &Path) -> bool {
    ["node", "nodejs"].iter().any(|name| on_path(name).as_deref() == Some(node))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.is_file())
}

/// The flags that make Node run TypeScript: none where it does so itself, else a loader of the project.
async fn typescript(node: &Path, script: &Path, cwd: &Path) -> Result<Vec<OsString>, Failure> {
    let folders = || script.ancestors().skip(1).chain(cwd.ancestors());
    let in_modules =
        |path: &str| folders().map(|it| it.join("node_modules").join(path)).find(|it| it.is_file());
    if let Some(loader) = in_modules("tsx/dist/loader.mjs") {
        return Ok(vec!["--import".into(), holdpoint_cdp::file_url(&loader).into()]);
    }
    if let Some(loader) = in_modules("ts-node/register/index.js") {
        return Ok(vec!["--require".into(), loader.into()]);
    }
    if strips_types(node).await {
        return Ok(Vec::new());
    }
    let file = script.display();
    Err(Failure::new(Code::LaunchFailed, format!("this node cannot run TypeScript: `{file}`"))
        .hint("install `tsx` in the project (`npm install --save-dev tsx`), use Node 22.18 or newer, or launch the compiled JavaScript: source maps are followed"))
}

async fn strips_types(node: &Path) -> bool {
    let mut command = crate::process::command(node);
    command.args(["-p", "Boolean(process.features.typescript)"]).kill_on_drop(true);
    command.env_remove("NODE_OPTIONS").stdin(std::process::Stdio::null());
    let asked = tokio::time::timeout(super::PROBE, command.output()).await;
    matches!(asked, Ok(Ok(output)) if output.stdout.starts_with(b"true"))
}

fn file_name(word: &str) -> &str {
    Path::new(word).file_name().and_then(|it| it.to_str()).unwrap_or_default()
}
