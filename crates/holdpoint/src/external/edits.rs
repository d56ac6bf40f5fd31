//! The file of other servers while we run: what changed in it is connected anew, the rest stays as it is.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_engine::{event::Event, limits};

use super::{
    config::{self, ServerConfig},
    manager::Manager,
};

/// A file as it was seen: another one has another of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look(Option<(i64, i64, u64, u64)>);

impl Look {
    pub(super) fn at(path: &Path) -> Look {
        let found = fs::metadata(path).ok();
        Look(found.map(|it| (it.mtime(), it.mtime_nsec(), it.size(), it.ino())))
    }
}

/// Ended with the manager.
pub(super) async fn follow(manager: Arc<Manager>, file: PathBuf) {
    let mut seen = Look::at(&file);
    loop {
        tokio::time::sleep(limits::EXTERNAL_EDITS).await;
        let now = Look::at(&file);
        if now == seen {
            continue;
        }
        seen = now;
        match config::read(&file) {
            Ok(read) => manager.edited(read).await,
            // What holds goes on holding: somebody is in the middle of an edit.
            Err(error) => {
                let detail = format!("{error:#}");
                tracing::warn!(error = detail, "the edited file of other servers is not taken");
                let server = "mcp_clients".to_owned();
                manager.log().append(Event::ExternalServer { server, status: "error", detail });
            }
        }
    }
}

/// What is to be done about an edit: gone, new or other. Pure.
pub(super) fn differences(
    before: &BTreeMap<String, ServerConfig>,
    after: &BTreeMap<String, ServerConfig>,
) -> (Vec<String>, Vec<(String, ServerConfig)>) {
    let gone = before.keys().filter(|name| !after.contains_key(*name)).cloned().collect();
    let new = after.iter().filter(|(name, config)| before.get(*name) != Some(config));
    (gone, new.map(|(name, config)| (name.clone(), config.clone())).collect())
}
