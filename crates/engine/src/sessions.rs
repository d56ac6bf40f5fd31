//! All sessions of one process, and how a caller names one.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use holdpoint_dap::Tape;
use tokio::sync::mpsc;

use crate::{
    adapter::{self, Adapter, Around, Started},
    attach::{At, Attach},
    breakpoints::Breakpoints,
    event::Event,
    failure::{Code, Failure},
    ids::SessionId,
    launch::Launch,
    limits,
    log::Log,
    memory::Memory,
    recordings::{BegunRecording, RecordAsk, Recordings},
    running::Running,
    session::{Origin, Session, Status},
};

pub struct Sessions {
    known: Mutex<BTreeMap<SessionId, Arc<Session>>>,
    /// Ended ones that nobody lists any more and that can still be read by their id, oldest first.
    aside: Mutex<VecDeque<Arc<Session>>>,
    next: AtomicU64,
    pub breakpoints: Arc<Breakpoints>,
    log: Arc<Log>,
    guard: PathBuf,
    home: PathBuf,
    pub recordings: Arc<Recordings>,
    kept: Mutex<Kept>,
    tape: OnceLock<Tape>,
}

/// What outlives the sessions.
#[derive(Default)]
struct Kept {
    memory: Option<Arc<Memory>>,
    /// The launch before this server, until there is one of its own.
    last: Option<Launch>,
}

impl Sessions {
    pub fn new(log: Arc<Log>, guard: PathBuf, home: PathBuf) -> Sessions {
        let recordings = Arc::new(Recordings::new(guard.clone(), home.clone()));
        Sessions {
            known: Mutex::default(),
            aside: Mutex::default(),
            next: AtomicU64::new(1),
            breakpoints: Arc::default(),
            log,
            guard,
            home,
            recordings,
            kept: Mutex::default(),
            tape: OnceLock::new(),
        }
    }

    /// Records from now on what is said to and by debuggers that speak DAP. Only the first file counts.
    pub fn record(&self, file: &Path) -> io::Result<()> {
        let tape = Tape::open(file)?;
        self.tape.get_or_init(|| tape);
        Ok(())
    }

    /// From now on launches are kept; `last` is what an earlier server launched.
    pub fn remember(&self, memory: Arc<Memory>, last: Option<Launch>) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) =
            Kept { memory: Some(memory), last };
    }

    /// The program that was launched last, by this server or by the one before it.
    pub fn last_launch(&self) -> Option<Launch> {
        let newest = self.known().values().rev().find_map(|it| it.launch().cloned());
        newest.or_else(|| self.kept.lock().unwrap_or_else(PoisonError::into_inner).last.clone())
    }

    /// Starts a program. `progress` hears what takes long.
    pub async fn launch(
        &self,
        launch: Launch,
        progress: mpsc::Sender<String>,
    ) -> Result<Arc<Session>, Failure> {
        self.launch_with(launch, Arc::clone(&self.breakpoints), progress).await
    }

    /// Starts a program with breakpoints of its own, which nobody else sees.
    pub async fn launch_with(
        &self,
        launch: Launch,
        breakpoints: Arc<Breakpoints>,
        progress: mpsc::Sender<String>,
    ) -> Result<Arc<Session>, Failure> {
        self.make_room()?;
        let adapter = adapter::choose(&launch)?;
        let around = self.around(&breakpoints, progress);
        let recorded = self.recorded(adapter, &launch).await?;
        let mut with = launch.clone();
        with.env.extend(recorded.iter().flat_map(|it| it.env().clone()));
        let started = adapter.start(&with, around).await?;
        let name = launch.title();
        let origin = Origin::Launched(launch);
        let language = started.told.as_ref().map_or(adapter.language(), |(it, _)| it);
        let session = self.adopt(name, language, origin, started, breakpoints);
        self.keep(Arc::clone(&session));
        if let Some(mut recorded) = recorded {
            recorded.started();
            session.recorded_by(Arc::clone(&self.recordings), recorded.id());
            self.keep_recording(Arc::clone(&session), recorded);
        }
        Ok(session)
    }

    /// The recording of a program that is to be debugged with a recorder inside.
    async fn recorded(
        &self,
        adapter: &dyn Adapter,
        launch: &Launch,
    ) -> Result<Option<BegunRecording>, Failure> {
        if !launch.record {
            return Ok(None);
        }
        adapter.recorded_beside(launch).await?;
        let launch = Launch { record: false, ..launch.clone() };
        let ask = RecordAsk { launch, level: "auto".to_owned(), ..RecordAsk::default() };
        self.recordings.accompany(&ask, &[adapter], self.log.secrets()).map(Some)
    }

    /// Makes it one file at the program's end. Ends with the session.
    fn keep_recording(&self, session: Arc<Session>, recorded: BegunRecording) {
        let log = Arc::clone(&self.log);
        tokio::spawn(async move {
            let end = recorded.end();
            let exit = tokio::select! {
                exit = session.ended() => exit,
                () = end.cancelled() => session.stop().await,
            };
            let said = session.output.since(0, None).text;
            let over = said.len().saturating_sub(limits::RECORDED_OUTPUT);
            let last = (over..=said.len()).find_map(|at| said.get(at..)).unwrap_or_default();
            recorded.ended(exit, last, log.secrets()).await;
        });
    }

    /// Takes a program that runs already; whether it stands still is told beside the session.
    pub async fn attach(
        &self,
        mut attach: Attach,
        progress: mpsc::Sender<String>,
    ) -> Result<(Arc<Session>, bool), Failure> {
        self.make_room()?;
        let mut name = attach.at.to_string();
        if let At::Process(pid) = attach.at {
            self.is_free(pid)?;
            let process = Running::find(pid)?;
            name = process.script().unwrap_or_else(|| process.name().to_owned());
            attach.cwd = process.cwd().unwrap_or(attach.cwd);
        }
        let adapter = adapter::choose_running(&attach).await?;
        let breakpoints = Arc::clone(&self.breakpoints);
        let around = self.around(&breakpoints, progress);
        let started = adapter.attach(&attach, around).await?;
        let stands = started.stands;
        let origin = Origin::Attached(attach);
        let mut language = adapter.language();
        if let Some((told, called)) = &started.told {
            (language, name) = (told, called.clone());
        }
        let session = self.adopt(name, language, origin, started, breakpoints);
        self.keep(Arc::clone(&session));
        Ok((session, stands))
    }

    /// A process is debugged once.
    fn is_free(&self, pid: u32) -> Result<(), Failure> {
        let known = self.known();
        let taken = known.values().find(|it| it.has_process(pid));
        taken.map_or(Ok(()), |session| {
            let text = format!("process {pid} is being debugged already, in {}", session.id);
            Err(Failure::new(Code::Busy, text).hint(format!("pass `session_id`: `{}`", session.id)))
        })
    }

    fn around(&self, breakpoints: &Arc<Breakpoints>, progress: mpsc::Sender<String>) -> Around {
        Around {
            guard: self.guard.clone(),
            home: self.home.clone(),
            breakpoints: Arc::clone(breakpoints),
            progress,
            tape: self.tape.get().cloned(),
        }
    }

    fn adopt(
        &self,
        name: String,
        language: &'static str,
        origin: Origin,
        started: Started,
        breakpoints: Arc<Breakpoints>,
    ) -> Arc<Session> {
        let id = SessionId(self.next.fetch_add(1, Ordering::Relaxed));
        self.log.append(Event::SessionStarted { session: id, name: name.clone(), language });
        let log = Arc::clone(&self.log);
        let session = Session::adopt(id, name, language, origin, started, breakpoints, log);
        self.known().insert(id, Arc::clone(&session));
        session
    }

    /// Notes the launch down, and its end when it comes. Ends with the session.
    fn keep(&self, session: Arc<Session>) {
        let memory = self.kept.lock().unwrap_or_else(PoisonError::into_inner).memory.clone();
        let Some(memory) = memory else { return };
        let (breakpoints, log) = (Arc::clone(&self.breakpoints), Arc::clone(&self.log));
        tokio::spawn(async move {
            // Of a program that we only attached to there is nothing to do again.
            let mark = match session.launch() {
                Some(launch) => memory.begin(launch, session.language, log.secrets()).await,
                None => None,
            };
            let mut spending = breakpoints.spending();
            // A tracepoint that disabled itself stays so in the next server.
            let keep_spent = async || {
                for (spent, _) in breakpoints.spent() {
                    memory.keep(&spent).await;
                }
            };
            let exit = loop {
                tokio::select! {
                    Ok(()) = spending.changed() => keep_spent().await,
                    exit = session.ended() => break exit,
                }
            };
            // The last hits may have come with the end.
            keep_spent().await;
            if let Some(mark) = mark {
                memory.end(mark, exit.to_string()).await;
            }
        });
    }

    /// The session of that id; without one, the only live session, or else the newest.
    pub fn find(&self, id: Option<&str>) -> Result<Arc<Session>, Failure> {
        let known = self.known();
        if let Some(wanted) = id {
            let found = known.values().find(|it| it.id.to_string() == wanted).cloned();
            return found.or_else(|| self.put_aside(wanted)).ok_or_else(|| {
                Failure::new(Code::NoSession, format!("no session `{wanted}`")).hint(names(&known))
            });
        }
        let live: Vec<_> = known.values().filter(|it| it.view().status != Status::Ended).collect();
        match live.as_slice() {
            [only] => Ok(Arc::clone(only)),
            [] => known.values().next_back().cloned().ok_or_else(|| {
                Failure::new(Code::NoSession, "no program is being debugged")
                    .hint("start one with `debug_launch`, or take one with `debug_attach`")
            }),
            _ => Err(Failure::new(Code::NoSession, "several programs are being debugged")
                .hint(names(&known))),
        }
    }

    /// Lists a session that has ended no longer; the newest of such can still be read by their ids.
    pub fn put_away(&self, id: SessionId) {
        let Some(session) = self.known().remove(&id) else { return };
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        aside.push_back(session);
        while aside.len() > limits::PROBES_KEPT {
            aside.pop_front();
        }
    }

    fn put_aside(&self, id: &str) -> Option<Arc<Session>> {
        let aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        aside.iter().find(|it| it.id.to_string() == id).cloned()
    }

    /// How many programs are being debugged now.
    pub fn live(&self) -> usize {
        self.known().values().filter(|it| it.view().status != Status::Ended).count()
    }

    pub fn all(&self) -> Vec<Arc<Session>> {
        self.known().values().cloned().collect()
    }

    /// Ends every program that we started and lets the others go, and waits until that is done.
    pub async fn stop_all(&self) {
        let all = self.all();
        futures::future::join_all(all.iter().map(|session| session.stop())).await;
    }

    /// Forgets the oldest ended session when there are too many.
    fn make_room(&self) -> Result<(), Failure> {
        let mut known = self.known();
        if known.len() < limits::SESSIONS {
            return Ok(());
        }
        let ended = known.values().find(|it| it.view().status == Status::Ended).map(|it| it.id);
        match ended {
            Some(id) => {
                known.remove(&id);
                Ok(())
            }
            None => Err(Failure::new(
                Code::Busy,
                format!("{} programs are being debugged", known.len()),
            )
            .hint("`debug_stop` one first")),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<Session>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names(known: &BTreeMap<SessionId, Arc<Session>>) -> String {
    if known.is_empty() {
        return "start one with `debug_launch`".to_owned();
    }
    let each = known.values().map(|it| format!("`{}` ({})", it.id, it.name));
    format!("pass `session_id`, one of: {}", each.collect::<Vec<_>>().join(", "))
}
