//! What is gone when it is dropped: folders, and children.

use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A fresh folder, removed with everything in it.
pub(crate) struct Home(pub(crate) PathBuf);

impl Home {
    pub(crate) fn new() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "holdpoint-xtask-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("creating `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("warning: `{}` stays behind: {error}", self.0.display());
        }
    }
}

/// A child that is killed and reaped when dropped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// A line of what the kernel says of its memory, in megabytes.
    pub(crate) fn memory_mb(&self, line: &str) -> Result<f64> {
        let path = format!("/proc/{}/status", self.0.id());
        let status = std::fs::read_to_string(&path).with_context(|| format!("reading `{path}`"))?;
        let kilobytes = status
            .lines()
            .find_map(|text| text.strip_prefix(line)?.trim().strip_suffix(" kB"))
            .with_context(|| format!("no {line}"))?;
        Ok(kilobytes.parse::<f64>()? * 1024.0 / 1e6)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself when its stdin closed.
        self.0.kill().ok();
        if let Err(error) = self.0.wait() {
            eprintln!("warning: process {} was not reaped: {error}", self.0.id());
        }
    }
}
