//! The processes of a session, and the files that they run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use super::{Process, Session, ThreadRow};
use crate::{
    backend::Backend,
    ids::{TargetId, ThreadKey},
    inspect, limits,
};

impl Session {
    /// Whether this process is under control here.
    pub fn has_process(&self, pid: u32) -> bool {
        self.targets.lock().values().any(|it| it.pid == Some(pid))
    }

    /// A file as a process runs it, and how it differs from what it is by now; the program itself when
    /// the process is gone or none is meant.
    pub async fn source(&self, target: Option<TargetId>, file: &Path) -> Option<inspect::Source> {
        match self.targets.of(target) {
            Some(it) => it.texts.source(&it.backend, file).await,
            None => Some(inspect::Source { text: inspect::read(file)?.into(), edited: None }),
        }
    }

    /// How a file differs from what a process runs, if it does.
    pub async fn edited(
        &self,
        target: Option<TargetId>,
        file: &Path,
    ) -> Option<Arc<inspect::Edited>> {
        let it = self.targets.of(target)?;
        it.texts.edited(&it.backend, file).await
    }

    /// A process of the session, also one that has ended.
    pub fn process(&self, target: TargetId) -> Option<Process> {
        self.tell.process(target)
    }

    /// Asks a process what it is called, if nobody has.
    pub async fn learn_title(&self, target: TargetId) {
        let is_known = self.process(target).is_none_or(|it| it.title.is_some());
        if is_known || target == TargetId::MAIN {
            return;
        }
        let Ok(backend) = self.backend(target) else { return };
        if let Ok(Ok(title)) = tokio::time::timeout(limits::TITLE, backend.title()).await {
            self.tell.titled(target, &title);
        }
    }

    /// How many processes there were so far.
    pub fn processes(&self) -> usize {
        self.tell.processes()
    }

    /// A thread's name, as its process knows it now.
    pub async fn thread_name(&self, key: ThreadKey) -> Option<String> {
        let threads = self.backend(key.target).ok()?.threads().await.ok()?;
        threads.into_iter().find(|it| it.id == key.thread).map(|it| it.name)
    }

    /// All threads: those that were told of, and those that only their debugger lists, in its order.
    pub async fn all_threads(&self) -> Vec<ThreadRow> {
        let view = self.view();
        let current = view.stop.as_ref().map(|it| it.stop.thread);
        let mut told: BTreeMap<ThreadKey, ThreadRow> =
            view.threads.iter().map(|it| (it.key, it.clone())).collect();
        let stands = |it: &&ThreadRow| it.is_stopped;
        let targets: BTreeSet<TargetId> =
            view.threads.iter().filter(stands).map(|it| it.key.target).collect();
        let mut rows: Vec<ThreadRow> =
            current.and_then(|it| told.get(&it)).cloned().into_iter().collect();
        for target in targets {
            let Ok(backend) = self.backend(target) else { continue };
            for it in backend.threads().await.unwrap_or_default() {
                let key = ThreadKey { target, thread: it.id };
                // One that nobody told of stands with the others.
                let is_stopped = told.remove(&key).is_none_or(|it| it.is_stopped);
                let row = ThreadRow { key, name: Some(it.name), is_stopped };
                match rows.first_mut().filter(|first| first.key == key) {
                    Some(first) => *first = row,
                    None => rows.push(row),
                }
            }
        }
        rows.extend(told.into_values().filter(|it| current != Some(it.key)));
        rows
    }

    pub(super) fn backends(&self) -> Vec<Backend> {
        self.targets.lock().values().map(|it| it.backend.clone()).collect()
    }
}
