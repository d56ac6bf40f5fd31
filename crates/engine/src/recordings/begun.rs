//! A recording that was begun: its folder, and the variables by which a program loads its recorder. Whoever starts the
//! program says when it has ended; then its streams become one file.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc, time::Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    RecordAsk, Recordings, RunEnd, RunningRecord, Shared, broken,
    folder::{RecordingAbout, RecordingFolder},
    run::{about, recorder},
};
use crate::{
    adapter::{Adapter, PlainRun},
    aside::aside,
    failure::Failure,
    process::Exit,
    secrets::Secrets,
};

pub struct BegunRecording {
    pub(super) about: RecordingAbout,
    folder: RecordingFolder,
    env: BTreeMap<String, String>,
    shared: Arc<Shared>,
    began: Instant,
    tell: watch::Sender<Option<RunEnd>>,
    end: CancellationToken,
    unstarted: Unstarted,
}

/// What is written down as the end of one that whoever recorded it had ended.
pub const STOPPED_END: &str = "stopped";

/// The folder of a recording whose program has not started. It goes with whoever was to start that: a call that was
/// cancelled leaves no recording that seems to be live.
struct Unstarted(Option<PathBuf>);

impl Drop for Unstarted {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take()
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            tracing::debug!(%error, "the folder of a recording that did not begin stays");
        }
    }
}

impl Recordings {
    /// Begins one of a program that the caller starts. `languages`: whose recorders it loads.
    pub fn accompany(
        &self,
        ask: &RecordAsk,
        languages: &[&dyn Adapter],
        secrets: &Secrets,
    ) -> Result<BegunRecording, Failure> {
        let mut env = BTreeMap::new();
        for adapter in languages {
            // One language that cannot be recorded is no reason not to record another.
            if let Ok(more) = recorder(*adapter, &self.home, &ask.launch, &env) {
                env.extend(more);
            }
        }
        self.note_down(ask, None, env, secrets)
    }

    /// Makes room and a folder, with what recorders and readers have to know.
    pub(super) fn note_down(
        &self,
        ask: &RecordAsk,
        plain: Option<&PlainRun>,
        mut env: BTreeMap<String, String>,
        secrets: &Secrets,
    ) -> Result<BegunRecording, Failure> {
        self.prune();
        let written = |error: std::io::Error| broken(&self.folder, &error);
        let folder = RecordingFolder::create(&self.folder).map_err(written)?;
        fs::write(folder.config(), self.config(ask, secrets)).map_err(written)?;
        let about = about(ask, plain, &folder, secrets);
        folder.write_about(&about).map_err(written)?;
        env.insert("HOLDPOINT_RECORD".to_owned(), folder.config().display().to_string());
        env.insert("HOLDPOINT_BIN".to_owned(), self.guard.display().to_string());
        let (tell, told) = watch::channel(None);
        let end = CancellationToken::new();
        self.shared.began(folder.id(), RunningRecord { told, end: end.clone() });
        let (shared, began) = (Arc::clone(&self.shared), Instant::now());
        let unstarted = Unstarted(Some(folder.path().to_owned()));
        Ok(BegunRecording { about, folder, env, shared, began, tell, end, unstarted })
    }
}

impl BegunRecording {
    pub fn id(&self) -> &str {
        self.folder.id()
    }

    /// What its program needs in its environment.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Its program runs: from now on there is something to ask.
    pub fn started(&mut self) {
        self.unstarted.0 = None;
    }

    /// Cancelled when somebody wants its program ended.
    pub fn end(&self) -> CancellationToken {
        self.end.clone()
    }

    pub(super) fn told(&self) -> watch::Receiver<Option<RunEnd>> {
        self.tell.subscribe()
    }

    /// Its program has ended, and had written this at last.
    pub async fn ended(self, exit: Exit, output: &str, secrets: &Secrets) {
        self.ended_with(exit, output, secrets, std::future::ready(())).await;
    }

    /// The same, with what is to be done once it is one file and before anybody is told.
    pub(super) async fn ended_with(
        self,
        exit: Exit,
        output: &str,
        secrets: &Secrets,
        last: impl Future<Output = ()>,
    ) {
        let BegunRecording { mut about, folder, shared, began, tell, end, .. } = self;
        let (took, known) = (began.elapsed(), Arc::clone(&shared));
        about.output = secrets.text(output).into_owned();
        let is_stopped = end.is_cancelled();
        about.ended = Some(if is_stopped { STOPPED_END.to_owned() } else { exit.to_string() });
        about.exit_code = if let Exit::Code(code) = exit { Some(code) } else { None };
        about.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let finished = aside(move || {
            folder.write_about(&about).map_err(|error| broken(folder.path(), &error))?;
            shared.finish(&folder)
        });
        let trouble = match finished.await {
            Some(Ok(())) => None,
            Some(Err(failure)) => Some(failure.to_string()),
            None => Some("reading its streams panicked".to_owned()),
        };
        last.await;
        tell.send_replace(Some(RunEnd { exit, took, trouble }));
        known.changed();
    }

    /// Its program is about to take the place of this process; a keeper waits for its end. What does not start leaves
    /// nothing.
    pub fn hand_over(&self) -> Result<(), Failure> {
        let pid = Some(std::process::id());
        let about = RecordingAbout { program_pid: pid, ..self.about.clone() };
        self.folder.write_about(&about).map_err(|error| broken(self.folder.path(), &error))
    }
}
