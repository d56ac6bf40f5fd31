//! Which Python: the one that is named, else the one that [`project`] finds; and what it says of itself.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    time::SystemTime,
};

use serde::Deserialize;

use super::{
    PROBE,
    project::{self, Choice},
};
use crate::{
    failure::{Code, Failure},
    launch::Launch,
    process::command,
};

#[derive(Debug, Clone)]
pub(super) struct Interpreter {
    pub(super) path: PathBuf,
    /// Why it is this one.
    pub(super) why: String,
    /// What it said of itself.
    pub(super) facts: Facts,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Facts {
    pub(super) version: (u32, u32, u32),
    /// The version of the debugpy it can import, if any.
    pub(super) debugpy: Option<String>,
}

/// Answers without importing anything heavy.
const QUESTION: &str = "
import json, sys
try:
    from importlib import metadata, util
    found = metadata.version('debugpy') if util.find_spec('debugpy') else None
except Exception:
    found = None
print(json.dumps({'version': sys.version_info[:3], 'debugpy': found}))
";

impl Interpreter {
    /// A version as people write it.
    pub(super) fn version(&self) -> String {
        let (major, minor, patch) = self.facts.version;
        format!("{major}.{minor}.{patch}")
    }

    pub(super) async fn find(
        launch: &Launch,
        named: Option<&Path>,
    ) -> Result<Interpreter, Failure> {
        let found = match named {
            Some(named) => resolve(named, &launch.cwd)
                .map(|path| Choice { path, why: "as given".to_owned() })
                .ok_or_else(|| missing(named))?,
            None => project::find(launch).await.ok_or_else(|| missing(Path::new("python3")))?,
        };
        let interpreter = Interpreter::at(&found.path).await?;
        Ok(Interpreter { why: found.why, ..interpreter })
    }

    /// The one of that path.
    pub(super) async fn at(path: &Path) -> Result<Interpreter, Failure> {
        let facts = facts(path).await?;
        if facts.version < (3, 8, 0) {
            let (major, minor, _) = facts.version;
            let text =
                format!("`{}` is Python {major}.{minor}; the debugger needs 3.8", path.display());
            return Err(Failure::new(Code::LaunchFailed, text).hint("pass a newer `interpreter`"));
        }
        Ok(Interpreter { path: path.to_owned(), why: String::new(), facts })
    }
}

fn resolve(named: &Path, cwd: &Path) -> Option<PathBuf> {
    if named.components().count() == 1 {
        return search(named.to_str()?);
    }
    Some(cwd.join(named)).filter(|it| it.is_file())
}

/// The first of that name on PATH.
pub(super) fn search(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|it| it.is_file())
}

/// Asked once per interpreter and change of it: the question costs 50 ms.
async fn facts(path: &Path) -> Result<Facts, Failure> {
    static KNOWN: LazyLock<Mutex<HashMap<(PathBuf, SystemTime), Facts>>> =
        LazyLock::new(Mutex::default);
    let changed =
        std::fs::metadata(path).and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let key = (path.to_owned(), changed);
    if let Some(facts) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(facts.clone());
    }
    let asked = command(path)
        .args(["-c", QUESTION])
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PROBE, asked)
        .await
        .map_err(|_| not_python(path, "it did not answer"))?
        .map_err(|error| not_python(path, &error.to_string()))?;
    let facts: Facts = serde_json::from_slice(&output.stdout)
        .map_err(|_| not_python(path, String::from_utf8_lossy(&output.stderr).trim()))?;
    // A debugger that was just installed must be seen, so only a complete answer is kept.
    if facts.debugpy.is_some() {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key, facts.clone());
    }
    Ok(facts)
}

fn missing(named: &Path) -> Failure {
    Failure::new(Code::LaunchFailed, format!("no interpreter `{}`", named.display())).hint(
        "pass `interpreter`, the path of a Python; `holdpoint doctor` says what is on this machine",
    )
}

fn not_python(path: &Path, why: &str) -> Failure {
    let why = crate::budget::cut(why, 400);
    Failure::new(Code::LaunchFailed, format!("`{}` is not a working Python: {why}", path.display()))
        .hint("pass `interpreter`, the path of a Python")
}
