//! Where relative paths begin: the project that a client works on.
//!
//! `--workspace` says it, else `CLAUDE_PROJECT_DIR`, else the client's own roots, asked for once, else it is our working folder.
//! A server that an agent starts may have any working folder, and one over HTTP has clients in several.
#![expect(deprecated, reason = "roots live on in four of five revisions")]

use std::{path::PathBuf, sync::OnceLock};

use holdpoint_engine::limits;
use rmcp::{Peer, RoleServer};
use tokio::sync::OnceCell;

tokio::task_local! {
    /// Of the call that runs in this task.
    static ROOT: PathBuf;
}

/// What the start names; only the first counts.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// The folder that the start names is the project, whoever asks.
pub(crate) fn begin(workspace: &std::path::Path) {
    let here = std::env::current_dir().unwrap_or_default();
    let whole = here.join(workspace);
    NAMED.get_or_init(|| whole.canonicalize().unwrap_or(whole));
}

/// The folder that the start names.
pub(crate) fn named() -> Option<PathBuf> {
    NAMED.get().cloned()
}

/// One client's root, once it is known.
#[derive(Default)]
pub(crate) struct Root(OnceCell<Option<PathBuf>>);

impl Root {
    /// Asks the client at its first call that may name a file; later ones know.
    pub(crate) async fn of(&self, peer: &Peer<RoleServer>) -> Option<PathBuf> {
        if NAMED.get().is_some() || by_environment().is_some() {
            return None;
        }
        // Boxed: a question to the client is large, and is part of every call's future.
        self.0.get_or_init(|| Box::pin(ask(peer))).await.clone()
    }
}

/// Runs a call whose relative paths begin there.
pub(crate) async fn within<F: Future>(root: Option<PathBuf>, call: F) -> F::Output {
    match root {
        Some(root) => ROOT.scope(root, call).await,
        None => call.await,
    }
}

/// Where the relative paths of the call under way begin.
pub(crate) fn current() -> PathBuf {
    let told = NAMED.get().cloned().or_else(|| ROOT.try_with(Clone::clone).ok());
    told.or_else(by_environment).or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The project that the agent around us names.
pub(crate) fn by_environment() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CLAUDE_PROJECT_DIR")?);
    (folder.is_absolute() && folder.is_dir()).then_some(folder)
}

/// Some clients announce roots and do not answer: the deadline is short, and what did not come is not
/// asked for again.
async fn ask(peer: &Peer<RoleServer>) -> Option<PathBuf> {
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let asked = tokio::time::timeout(limits::ROOTS, peer.list_roots()).await;
    let roots = match asked {
        Ok(Ok(answer)) => answer.roots,
        Ok(Err(error)) => {
            tracing::debug!(%error, "the client does not tell its roots");
            return None;
        }
        Err(_) => {
            tracing::debug!("the client did not tell its roots in time");
            return None;
        }
    };
    roots.iter().find_map(|root| folder(&root.uri))
}

/// `file:///home/me/my%20app`, where that is a folder here.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = reqwest::Url::parse(uri).ok()?.to_file_path().ok()?;
    path.is_dir().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_are_here_are_roots() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("my app");
        std::fs::create_dir(&path).unwrap();
        let uri = format!("file://{}/my%20app", parent.path().display());
        assert_eq!(folder(&uri), Some(path));
        assert_eq!(folder("file:///nowhere/at/all"), None);
        assert_eq!(folder("https://example.org/"), None);
    }
}
