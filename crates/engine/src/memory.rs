//! What outlives a session and a server: breakpoints and launches, kept in the store.
//!
//! Opened when first needed, so that a server that debugs nothing touches no file. A store that fails
//! never fails a session: what it cannot keep is logged, and the session goes on.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use holdpoint_store::Location;
pub use holdpoint_store::StoreError;
use holdpoint_store::{self as kept, Host, Store, Tables};

use crate::{
    backend::Exceptions,
    breakpoints::{Asked, Breakpoint, Breakpoints, Place, Trace},
    ids::BreakpointId,
    launch::Launch,
    secrets::Secrets,
};

pub struct Memory {
    store: Option<Arc<dyn Tables>>,
    /// Why nothing is kept, when nothing is.
    trouble: Option<String>,
    rows: Mutex<BTreeMap<BreakpointId, kept::BreakpointKey>>,
}

/// What an earlier server left.
#[derive(Debug, Default)]
pub struct Restored {
    pub breakpoints: usize,
    /// Whether other exceptions stop than usual.
    pub exceptions: bool,
    pub launch: Option<Launch>,
}

/// A launch that is being remembered.
#[derive(Debug, Clone, Copy)]
pub struct LaunchMark(kept::LaunchId);

/// Opens the store of one place, for whoever only looks into it.
pub async fn open_store(location: Location) -> Result<Arc<dyn Tables>, StoreError> {
    let opened = tokio::task::spawn_blocking(move || Store::open(&location)).await;
    let store = opened.unwrap_or(Err(StoreError::Closed))?;
    Ok(Arc::new(store))
}

impl Memory {
    /// Opens the store. One that cannot be opened is left as it is, and nothing is kept.
    pub async fn open(location: Location) -> Memory {
        let opened = tokio::task::spawn_blocking(move || Store::open(&location)).await;
        let (store, trouble) = match opened {
            Ok(Ok(store)) => (Some(Arc::new(store) as Arc<dyn Tables>), None),
            Ok(Err(error)) => (None, Some(in_full(&error))),
            Err(error) => (None, Some(error.to_string())),
        };
        if let Some(trouble) = &trouble {
            tracing::warn!(trouble, "nothing is kept: the store cannot be opened");
        }
        Memory { store, trouble, rows: Mutex::default() }
    }

    /// Puts back what an earlier server left.
    pub async fn recall(&self, breakpoints: &Breakpoints) -> Restored {
        let Some(store) = &self.store else { return Restored::default() };
        let rows = store.breakpoints().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "breakpoints were not restored");
            Vec::new()
        });
        let mut count = 0;
        for row in rows {
            let Some(asked) = asked(&row.breakpoint) else { continue };
            let kept::KeptBreakpoint { enabled, spent, .. } = row.breakpoint;
            let Some(breakpoint) = breakpoints.recall(asked, enabled, spent) else { continue };
            self.rows().insert(breakpoint.id, row.id);
            count += 1;
        }
        let chosen = store.exceptions().await.ok().flatten();
        let chosen = chosen.and_then(|it| serde_json::from_str::<Exceptions>(&it).ok());
        let exceptions = chosen.filter(|it| *it != Exceptions::default());
        if let Some(exceptions) = &exceptions {
            breakpoints.set_exceptions(exceptions.clone());
        }
        let last = store.last_launch().await.ok().flatten();
        let launch = last.and_then(|row| serde_json::from_value(row.launch.spec).ok());
        Restored { breakpoints: count, exceptions: exceptions.is_some(), launch }
    }

    pub async fn keep_exceptions(&self, exceptions: &Exceptions) {
        let Some(store) = &self.store else { return };
        let text = serde_json::to_string(exceptions).unwrap_or_default();
        if let Err(error) = store.save_exceptions(text).await {
            tracing::warn!(%error, "the choice of exceptions was not kept");
        }
    }

    pub async fn keep(&self, breakpoint: &Breakpoint) {
        let Some(store) = &self.store else { return };
        let (line, column, function) = match &breakpoint.place {
            Place::Line { line, column, .. } => (Some(*line), *column, None),
            Place::Function { name, .. } => (None, None, Some(name.clone())),
        };
        let bound = |it: fn(&Trace) -> u64| {
            breakpoint
                .trace
                .as_ref()
                .map_or(0, |trace| u32::try_from(it(trace)).unwrap_or(u32::MAX))
        };
        let row = kept::KeptBreakpoint {
            kind: breakpoint.kind().to_owned(),
            file: breakpoint.place.file().map(|it| it.display().to_string()),
            line,
            column,
            function,
            condition: breakpoint.condition.clone(),
            hit_condition: breakpoint.hit_condition.clone(),
            log_message: breakpoint.trace.as_ref().and_then(|it| it.message.clone()),
            hit_count_multiple: bound(|it| it.multiple),
            max_notifications: bound(|it| it.max),
            enabled: breakpoint.enabled,
            spent: breakpoint.is_spent,
        };
        let saved = match store.save_breakpoint(row).await {
            Ok(saved) => saved,
            Err(error) => {
                tracing::warn!(%error, "a breakpoint was not kept");
                return;
            }
        };
        // What became of another kind is another row.
        let before = self.rows().insert(breakpoint.id, saved).filter(|before| *before != saved);
        if let Some(before) = before
            && let Err(error) = store.remove_breakpoint(before).await
        {
            tracing::warn!(%error, "what a breakpoint was before is still kept");
        }
    }

    pub async fn forget(&self, id: BreakpointId) {
        let row = self.rows().remove(&id);
        if let (Some(store), Some(row)) = (&self.store, row)
            && let Err(error) = store.remove_breakpoint(row).await
        {
            tracing::warn!(%error, "a removed breakpoint is still kept");
        }
    }

    pub async fn begin(
        &self,
        launch: &Launch,
        language: &str,
        secrets: &Secrets,
    ) -> Option<LaunchMark> {
        let store = self.store.as_ref()?;
        let launch = &launch.without_secrets(secrets);
        let row = kept::KeptLaunch {
            name: launch.title(),
            language: language.to_owned(),
            spec: serde_json::to_value(launch).unwrap_or_default(),
            cwd: launch.cwd.display().to_string(),
            owner: Some(std::process::id().to_string()),
            host: Host::here(),
        };
        match store.begin_launch(row).await {
            Ok(id) => Some(LaunchMark(id)),
            Err(error) => {
                tracing::warn!(%error, "a launch was not kept");
                None
            }
        }
    }

    pub async fn end(&self, mark: LaunchMark, exit: String) {
        if let Some(store) = &self.store
            && let Err(error) = store.end_launch(mark.0, exit).await
        {
            tracing::warn!(%error, "the end of a launch was not kept");
        }
    }

    pub(crate) fn store(&self) -> Option<&dyn Tables> {
        self.store.as_deref()
    }

    /// Where things are kept; `None` when they are kept in memory only.
    pub fn path(&self) -> Option<&Path> {
        self.store.as_ref().and_then(|store| store.path())
    }

    /// Where calls are recorded: the store, or what is left of one that cannot be opened.
    pub(crate) fn calls(&self) -> Arc<dyn Tables> {
        if let Some(store) = &self.store {
            return Arc::clone(store);
        }
        match Store::open(&Location::Memory) {
            Ok(store) => Arc::new(store),
            // Nothing but a machine without memory or threads fails here.
            Err(error) => {
                tracing::error!(%error, "calls cannot be recorded at all");
                std::process::abort()
            }
        }
    }

    /// Why nothing is kept, or not at present.
    pub fn trouble(&self) -> Option<String> {
        let now = || self.store.as_ref()?.stats().trouble;
        self.trouble.clone().or_else(now)
    }

    /// Whether the store could be opened at all.
    pub fn is_open(&self) -> bool {
        self.store.is_some()
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<BreakpointId, kept::BreakpointKey>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_full(error: &StoreError) -> String {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}

fn asked(row: &kept::KeptBreakpoint) -> Option<Asked> {
    let file = row.file.as_ref().map(Into::into);
    let place = match &row.function {
        Some(name) => Place::Function { name: name.clone(), file },
        None => Place::Line { file: file?, line: row.line?, column: row.column },
    };
    let (condition, hit_condition) = (row.condition.clone(), row.hit_condition.clone());
    let trace = match row.kind.as_str() {
        "breakpoint" => None,
        "tracepoint" => {
            let (multiple, max) = (row.hit_count_multiple.into(), row.max_notifications.into());
            Some(Trace::new(row.log_message.clone(), multiple, max).ok()?)
        }
        _ => return None,
    };
    Some(Asked { place, condition, hit_condition, trace })
}
