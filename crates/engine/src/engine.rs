//! The one value every face holds: sessions, breakpoints, log, clock; the store as it comes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use holdpoint_store::{Host, Location, Retention, Run};
use jiff::Timestamp;
use tokio::sync::OnceCell;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    actor::Actor,
    backend::vscode::{self, SeenInEditor},
    breakpoints::Breakpoint,
    callpoints::Callpoints,
    event::{Event, InEditor},
    failure::Failure,
    log::Log,
    memory::{Memory, Restored},
    recordings::Recordings,
    secrets::Secrets,
    sessions::Sessions,
    snapshots::Snapshots,
    timeline::{Ask, Facts, Timeline},
};

pub struct Engine {
    pub log: Arc<Log>,
    pub sessions: Arc<Sessions>,
    pub snapshots: Snapshots,
    pub recordings: Arc<Recordings>,
    /// Opened when first needed.
    memory: OnceCell<Arc<Memory>>,
    /// Opened when the first app or agent asks for one.
    callpoints: OnceCell<Arc<Callpoints>>,
    /// How much is kept of calls; set before the first.
    retention: Retention,
    location: Location,
    /// The log's place in the store, once that is open.
    timeline: OnceLock<Timeline>,
    /// Who tells what the person debugs in the editor; ends with the engine.
    editor: OnceLock<AbortOnDropHandle<()>>,
    /// What was restored, until somebody has been told.
    restored: Mutex<Option<String>>,
    pub version: &'static str,
    pub started_at: Timestamp,
    started: Instant,
}

impl Engine {
    /// Starts the engine; the first event of its log says so. `guard` is our own binary, which stands
    /// over the programs we start; `home` is where we keep what we provide for them.
    /// `location` is the store's; `secrets` say what the log must not take.
    pub fn start(
        version: &'static str,
        guard: PathBuf,
        home: PathBuf,
        location: Location,
        retention: Retention,
        secrets: Secrets,
    ) -> Arc<Engine> {
        let log = Arc::new(Log::keeping(secrets));
        log.append(Event::ServerStarted { version: version.to_owned(), pid: std::process::id() });
        let sessions = Arc::new(Sessions::new(Arc::clone(&log), guard, home));
        let recordings = Arc::clone(&sessions.recordings);
        Arc::new(Engine {
            log,
            sessions,
            snapshots: Snapshots::default(),
            recordings,
            memory: OnceCell::new(),
            callpoints: OnceCell::new(),
            retention,
            location,
            timeline: OnceLock::new(),
            editor: OnceLock::new(),
            restored: Mutex::default(),
            version,
            started_at: Timestamp::now(),
            started: Instant::now(),
        })
    }

    /// What must not reach a model, and how it is shown instead.
    pub fn secrets(&self) -> &Secrets {
        self.log.secrets()
    }

    /// The store, opened now if it was not; the first time, what an earlier server left is put back.
    pub async fn memory(&self) -> &Arc<Memory> {
        let open = async {
            let memory = Arc::new(Memory::open(self.location.clone()).await);
            let restored = memory.recall(&self.sessions.breakpoints).await;
            let note = describe(&restored);
            *self.restored.lock().unwrap_or_else(PoisonError::into_inner) = note;
            self.sessions.remember(Arc::clone(&memory), restored.launch);
            self.begin_timeline(&memory).await;
            memory
        };
        self.memory.get_or_init(|| open).await
    }

    async fn begin_timeline(&self, memory: &Arc<Memory>) {
        let (pid, version) = (std::process::id(), self.version.to_owned());
        let run = Run { host: Host::here(), pid, version, started_at: self.started_at };
        let begun = Timeline::begin(Arc::clone(&self.log), Arc::clone(memory), run).await;
        if let Some(timeline) = begun {
            self.timeline.get_or_init(|| timeline);
        }
    }

    /// What happened, also before the log's ring and before this server. Opens the store only where
    /// there may be something in it.
    pub async fn timeline(&self, ask: &Ask) -> Result<Facts, Failure> {
        let is_there = || matches!(&self.location, Location::File(file) if file.is_file());
        if ask.run.is_some() || (ask.since.is_none_or(|since| since.0 == 0) && is_there()) {
            self.memory().await;
        }
        ask.of(&self.log, self.timeline.get()).await
    }

    /// This server's place in the store, once that is open.
    pub fn kept(&self) -> Option<&Timeline> {
        self.timeline.get()
    }

    /// Returns when the store has everything that happened.
    pub async fn settle(&self) {
        if let Some(timeline) = self.timeline.get() {
            timeline.settle(self.log.head()).await;
        }
    }

    /// Waits until what is written down would outlive a power cut.
    pub async fn flush(&self) {
        if let Some(timeline) = self.timeline.get() {
            timeline.flush().await;
        }
    }

    /// The callpoints, taken up now if they were not.
    pub async fn callpoints(&self) -> &Arc<Callpoints> {
        if let Some(opened) = self.callpoints.get() {
            return opened;
        }
        let open = async {
            let store = self.memory().await.calls();
            Callpoints::open(store, Arc::clone(&self.log), self.retention).await
        };
        // Apart: every request would carry the room that the first one needs.
        Box::pin(self.callpoints.get_or_init(|| open)).await
    }

    /// The callpoints, if anybody ever asked for one.
    pub fn opened_callpoints(&self) -> Option<&Arc<Callpoints>> {
        self.callpoints.get()
    }

    /// The store, if it was ever needed.
    pub fn opened(&self) -> Option<&Arc<Memory>> {
        self.memory.get()
    }

    /// What is wrong with the store, for whoever depends on it: why it is not written, and what is lost by it.
    pub fn store_trouble(&self) -> Option<String> {
        let unkept = self.opened_callpoints().map(|it| it.unkept()).unwrap_or_default();
        let before = || "the store could not be written a moment ago".to_owned();
        let waits = || (unkept.waiting > 0).then(before);
        let trouble = self.opened()?.trouble().or_else(waits)?;
        let why = trouble.lines().next().unwrap_or_default().to_owned();
        let told = [(unkept.lost, "were lost"), (unkept.waiting, "wait for it")];
        let told = told.iter().filter(|(calls, _)| *calls > 0);
        let told: String =
            told.map(|(calls, what)| format!("; {calls} recorded calls {what}")).collect();
        Some(format!("{why}{told}"))
    }

    /// From now on the log has what the person debugs in the editor that has this folder open, whenever one has. The
    /// first folder counts.
    pub fn follow_editor(&self, workspace: &Path) {
        self.editor.get_or_init(|| {
            let (log, workspace) = (Arc::clone(&self.log), workspace.to_owned());
            let following = async move {
                let tell = |seen: SeenInEditor| {
                    let SeenInEditor { id, name, change, detail } = seen;
                    let (session, editor_session, by) = (None, id, Actor::Person);
                    let told = InEditor { session, editor_session, name, change, detail, by };
                    log.append(Event::EditorSession(Box::new(told)));
                };
                vscode::follow(&workspace, tell).await;
            };
            AbortOnDropHandle::new(tokio::spawn(following))
        });
    }

    /// What was restored, told once.
    pub fn take_restored(&self) -> Option<String> {
        self.restored.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Somebody set, changed or removed a breakpoint or tracepoint.
    pub fn breakpoint_changed(&self, breakpoint: &Breakpoint, change: &'static str, by: Actor) {
        self.log.append(Event::BreakpointChanged {
            breakpoint: breakpoint.id,
            what: breakpoint.kind(),
            change,
            place: breakpoint.place.to_string(),
            by,
        });
    }

    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}

fn describe(restored: &Restored) -> Option<String> {
    let count = restored.breakpoints;
    let all = [
        (count > 0).then(|| format!("{count} breakpoints")),
        restored
            .exceptions
            .then(|| "which exceptions stop; `breakpoint_list` says which".to_owned()),
        restored
            .launch
            .as_ref()
            .map(|it| format!("the last launch was {}; `debug_restart` runs it again", it.title())),
    ];
    // A launch alone changes nothing for anybody who does not ask for it.
    let is_felt = count > 0 || restored.exceptions;
    let all: Vec<String> = all.into_iter().flatten().collect();
    is_felt.then(|| format!("restored: {}", all.join("; ")))
}
