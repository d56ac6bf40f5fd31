//! A program under its guard, with a recorder inside: started, watched to its end, and what it left made one file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinHandle,
};

use super::{
    BegunRecording, Recordings,
    checkout::Checkout,
    folder::{RecordingAbout, RecordingFolder},
    tail,
};
use crate::{
    adapter::{self, PlainRun, has_ending},
    failure::Failure,
    launch::Launch,
    limits,
    process::{Exit, Program, Spec},
    secrets::Secrets,
};

/// What to record, and how much of it.
#[derive(Debug, Clone, Default)]
pub struct RecordAsk {
    pub launch: Launch,
    /// `auto`, `calls` or `lines`.
    pub level: String,
    /// Functions that are kept whole.
    pub focus: Vec<String>,
    /// Folders whose code is recorded; the project unless told.
    pub scope: Vec<PathBuf>,
    pub name: Option<String>,
    /// Its input and output are this process' own, and none of it is kept.
    pub is_ours: bool,
}

/// How a recorded program ended.
#[derive(Debug, Clone)]
pub struct RunEnd {
    pub exit: Exit,
    pub took: Duration,
    /// Why there is no file of it.
    pub trouble: Option<String>,
}

impl Recordings {
    /// Starts the program, and returns when it has ended, or with `None` after `patience`: then it is recorded on.
    pub async fn run(
        &self,
        ask: RecordAsk,
        patience: Duration,
        secrets: &Secrets,
    ) -> Result<(String, Option<RunEnd>), Failure> {
        self.begin(ask, None, None, patience, secrets).await
    }

    /// `change`: what differs from another recording; `checkout`: where it runs, which goes at its end.
    pub(super) async fn begin(
        &self,
        ask: RecordAsk,
        change: Option<String>,
        checkout: Option<Checkout>,
        patience: Duration,
        secrets: &Secrets,
    ) -> Result<(String, Option<RunEnd>), Failure> {
        let mut watched = match self.start(&ask, secrets).await {
            Ok(watched) => watched,
            Err(failure) => {
                if let Some(checkout) = checkout {
                    checkout.end().await;
                }
                return Err(failure);
            }
        };
        (watched.begun.about.change, watched.checkout) = (change, checkout);
        let (id, mut told) = (watched.begun.id().to_owned(), watched.begun.told());
        let (stdin, secrets) = (ask.launch.stdin, secrets.clone());
        // Ends with the program, which ends with its time, or with this process.
        tokio::spawn(async move { watched.until_its_end(stdin, &secrets).await });
        let ended = tokio::time::timeout(patience, told.wait_for(Option::is_some)).await;
        let end = match ended {
            Ok(Ok(end)) => end.clone(),
            Ok(Err(_)) => return Err(Failure::internal("the recording's task is gone")),
            Err(_) => None,
        };
        Ok((id, end))
    }

    async fn start(&self, ask: &RecordAsk, secrets: &Secrets) -> Result<Watched, Failure> {
        let (plain, env) = self.prepare(&ask.launch).await?;
        let mut begun = self.note_down(ask, Some(&plain), env, secrets)?;
        let env = begun.env().iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        let PlainRun { program, args, .. } = plain;
        let spec = Spec { program, args, cwd: ask.launch.cwd.clone(), env: env.collect() };
        let program = match ask.is_ours {
            true => Program::beside(&self.guard, &spec),
            false => Program::start(&self.guard, &spec),
        };
        let program = program?;
        begun.started();
        Ok(Watched { program, begun, checkout: None })
    }

    /// What runs, and with which variables. A command of no known language is run as it is: what it starts is recorded.
    async fn prepare(
        &self,
        launch: &Launch,
    ) -> Result<(PlainRun, BTreeMap<String, String>), Failure> {
        let mut env = launch.env.clone();
        let chosen = adapter::choose(launch);
        let plain = match (&chosen, launch.command.as_slice()) {
            (Ok(adapter), _) => {
                let plain = adapter.plain(launch).await?;
                env.extend(recorder(*adapter, &self.home, launch, &env)?);
                return Ok((plain, env));
            }
            (Err(_), [program, args @ ..]) => PlainRun {
                program: PathBuf::from(program),
                args: args.iter().map(Into::into).collect(),
                runtime: None,
                note: None,
            },
            (Err(failure), []) => return Err(failure.clone()),
        };
        for adapter in adapter::all() {
            // One language that cannot be recorded is no reason not to record another.
            if let Ok(more) = recorder(*adapter, &self.home, launch, &env) {
                env.extend(more);
            }
        }
        Ok((plain, env))
    }

    pub(super) fn config(&self, ask: &RecordAsk, secrets: &Secrets) -> Vec<u8> {
        let roots = if ask.scope.is_empty() { roots(&ask.launch) } else { ask.scope.clone() };
        let exclude = [
            "site-packages",
            "dist-packages",
            "node_modules",
            ".venv",
            "venv",
            ".tox",
            ".nox",
            "record-python",
            "record-node",
            // The client of `holdpoint run`, and the debugger.
            concat!("python-", env!("CARGO_PKG_VERSION")),
            "debugpy",
        ];
        let level = if ask.level.is_empty() { "auto" } else { &ask.level };
        let config = json!({
            "version": 1,
            "roots": roots,
            "exclude": exclude,
            "level": level,
            "focus": ask.focus,
            "secrets": secrets.for_recorders(),
            "key": uuid::Uuid::new_v4().simple().to_string(),
            "cache": self.home.join("record-cache"),
            "instrument": self.guard,
            "tail": tail::is_safe(&self.folder),
        });
        serde_json::to_vec_pretty(&config).unwrap_or_default()
    }
}

pub(super) fn recorder(
    adapter: &dyn adapter::Adapter,
    home: &Path,
    launch: &Launch,
    env: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Failure> {
    let known = |name: &str| {
        let own = || std::env::var(name).ok();
        env.get(name).or_else(|| launch.env.get(name)).cloned().or_else(own)
    };
    adapter.recorder(home, &known)
}

/// The project around the working folder, and the folder of what is run.
pub fn roots(launch: &Launch) -> Vec<PathBuf> {
    let files = || adapter::all().iter().flat_map(|it| it.roots()).chain(&[".git"]);
    let is_root = |folder: &&Path| files().any(|it| folder.join(it).exists());
    let project = launch.cwd.ancestors().take(4).find(is_root).unwrap_or(&launch.cwd);
    let mut all = vec![project.to_owned()];
    let test = launch.test.as_deref().and_then(|it| it.split("::").next());
    let files = launch.program.clone().into_iter().chain(test.map(|it| launch.cwd.join(it)));
    let folders = files.filter_map(|it| it.parent().map(Path::to_owned));
    for folder in folders.chain(of_command(launch)) {
        if !folder.starts_with(project) {
            all.push(folder);
        }
    }
    all
}

/// Where the script of a command line is, or what a runner is given: `python /srv/shop/run.py`, `pytest /srv/shop/tests`.
/// What follows it is the program's own.
fn of_command(launch: &Launch) -> Option<PathBuf> {
    launch.command.iter().skip(1).filter(|it| !it.starts_with('-')).find_map(|word| {
        let place = launch.cwd.join(word.split("::").next().unwrap_or(word));
        let place = place.canonicalize().ok()?;
        if place.is_dir() {
            return Some(place);
        }
        let is_source = adapter::all().iter().any(|it| has_ending(&place, it.endings()));
        place.parent().filter(|_| is_source).map(Path::to_owned)
    })
}

pub(super) fn about(
    ask: &RecordAsk,
    plain: Option<&PlainRun>,
    folder: &RecordingFolder,
    secrets: &Secrets,
) -> RecordingAbout {
    let launch = ask.launch.without_secrets(secrets);
    let title = match (&launch.test, launch.command.is_empty()) {
        (Some(test), _) => test.clone(),
        (None, false) => launch.command.join(" "),
        (None, true) => launch.title(),
    };
    RecordingAbout {
        version: 1,
        id: folder.id().to_owned(),
        name: ask.name.clone(),
        title: secrets.text(&title).into_owned(),
        level: ask.level.clone(),
        focus: ask.focus.clone(),
        scope: ask.scope.clone(),
        started_at: Some(Timestamp::now()),
        server_pid: std::process::id(),
        runtime: plain.and_then(|it| it.runtime.as_ref()).map(|it| {
            let version = it.version.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
            format!("{}{version}", it.path.display())
        }),
        note: plain.and_then(|it| it.note.clone()),
        launch,
        ..RecordingAbout::default()
    }
}

/// A program that is recorded.
struct Watched {
    program: Program,
    begun: BegunRecording,
    checkout: Option<Checkout>,
}

impl Watched {
    async fn until_its_end(mut self, stdin: Option<String>, secrets: &Secrets) {
        let (stdout, stderr) = (self.program.pipes.stdout.take(), self.program.pipes.stderr.take());
        let tails = [stdout, stderr].map(|pipe| pipe.map(|it| tokio::spawn(tail_of(it))));
        if let Some(mut pipe) = self.program.pipes.stdin.take()
            && let Err(error) = pipe.write_all(stdin.unwrap_or_default().as_bytes()).await
        {
            tracing::debug!(%error, "the program does not read its stdin");
        }
        let end = self.begun.end();
        let ended = tokio::select! {
            exit = self.program.wait() => Some(exit),
            () = tokio::time::sleep(limits::RECORDED_RUN) => None,
            () = end.cancelled() => None,
        };
        let exit = match ended {
            Some(exit) => exit,
            None => self.program.kill().await,
        };
        let mut output = String::new();
        for tail in tails.into_iter().flatten() {
            output.push_str(&last_of(tail).await);
        }
        let checkout = self.checkout.take();
        // Its sources are in the recording then.
        let last = async {
            if let Some(checkout) = checkout {
                checkout.end().await;
            }
        };
        self.begun.ended_with(exit, &output, secrets, last).await;
    }
}

/// Reads to the end and keeps the last of it: a program must not wait for whoever reads.
async fn tail_of(mut pipe: Box<dyn AsyncRead + Send + Unpin>) -> Vec<u8> {
    let (mut kept, mut part) = (Vec::new(), vec![0; 64 * 1024]);
    while let Ok(count) = pipe.read(&mut part).await
        && count > 0
    {
        kept.extend_from_slice(part.get(..count).unwrap_or_default());
        let over = kept.len().saturating_sub(limits::RECORDED_OUTPUT);
        kept.drain(..over);
    }
    kept
}

/// What was read so far; a child may keep the pipe open for ever.
async fn last_of(mut tail: JoinHandle<Vec<u8>>) -> String {
    let read = tokio::time::timeout(limits::DRAIN, &mut tail).await;
    if read.is_err() {
        tail.abort();
    }
    let bytes = read.ok().and_then(Result::ok).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
