//! Starting a server for a folder where none runs, for `holdpoint tool`.
//!
//! It outlives the shell that started it and ends by itself when nobody needs it. Of two shells that
//! find none in the same moment, one starts it and the other waits for that.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use holdpoint_engine::limits;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
};

use super::{Server, choose, project, running};
use crate::home;

/// How much of a failed start's log is shown: its last words.
const LOG_LINES: usize = 5;

/// The server for this folder: the running one, else a new one.
pub(crate) async fn find_or_start(here: &Path, idle: Duration) -> anyhow::Result<Server> {
    let project = project(here);
    if let Some(server) = choose(&running(), here, &project) {
        return Ok(server.clone());
    }
    let folder = home::servers().context("neither $HOLDPOINT_HOME nor a home folder is set")?;
    home::make(&folder).map_err(|error| {
        let folder = folder.display();
        anyhow!(
            "cannot make `{folder}`: {error}\nhint: set HOLDPOINT_HOME to a folder you can write to"
        )
    })?;
    let name = name(&project);
    let turn = File::create(folder.join(format!("{name}.lock"))).and_then(|file| {
        file.lock()?;
        Ok(file)
    });
    let _turn = turn.with_context(|| format!("cannot write to `{}`", folder.display()))?;
    // Whoever had the turn before us may have started it.
    if let Some(server) = choose(&running(), here, &project) {
        return Ok(server.clone());
    }
    start(&project, idle, &folder.join(format!("{name}.log"))).await
}

async fn start(project: &Path, idle: Duration, log: &Path) -> anyhow::Result<Server> {
    let exe = std::env::current_exe().context("this executable cannot be located")?;
    let written = home::fresh(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let mut child = Command::new(exe)
        .args(["serve", "--detached", "--end-idle", &idle.as_secs_f64().to_string()])
        .current_dir(project)
        // The agent's around this shell, which need not be the one of this folder.
        .env_remove("CLAUDE_PROJECT_DIR")
        // Nothing of the shell's may stay open: whoever reads its output waits for the last holder.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(written)
        .spawn()
        .context("cannot start a server")?;
    let said = child.stdout.take().context("the server's output is not a pipe")?;
    let mut line = String::new();
    let mut said = BufReader::new(said);
    let heard = tokio::time::timeout(limits::DETACHED_START, said.read_line(&mut line)).await;
    if let Ok(server) = serde_json::from_str(&line) {
        return Ok(server);
    }
    if heard.is_err() {
        child.start_kill().unwrap_or_default();
    }
    let why = if heard.is_err() { "did not answer in time" } else { "did not start" };
    bail!(
        "the server for {} {why}\n{}hint: its log is {}",
        project.display(),
        tail(log),
        log.display()
    )
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LOG_LINES));
    last.map(|line| format!("  {line}\n")).collect()
}

/// Where the server for a folder writes its log.
pub(crate) fn log(project: &Path) -> Option<PathBuf> {
    Some(home::servers()?.join(format!("{}.log", name(project))))
}

/// A name for a folder's files: what people call it, and what tells it from its namesakes.
fn name(project: &Path) -> String {
    let called = project.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let called: String = called.chars().map(plain).take(40).collect();
    // FNV-1a: the same in every version of this program, and nobody's adversary chooses folders.
    let hash =
        project.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{called}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folders_files_are_named_after_it() {
        assert_eq!(name(Path::new("/home/ann/my shop")), "my-shop-0e0df24e4f1c7aa8");
        assert_ne!(name(Path::new("/a/shop")), name(Path::new("/b/shop")));
    }
}
