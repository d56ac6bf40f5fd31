//! One program under line-level debugging: a mailbox and a watched view. The only door.
//!
//! Its state has one owner, the actor task. Commands go to it by the mailbox; what is true now is in the
//! [`View`]. Reading a stopped program (stack, variables, evaluation) goes past the actor, straight to the
//! process, with handles that are good for one stop.

mod actor;
mod beside;
mod control;
mod input;
mod life;
mod output;
mod points;
mod processes;
mod state;
mod target;
mod teller;
mod texts;
mod told;
mod view;

use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    process::ChildStdin,
    sync::{mpsc, oneshot, watch},
};

use self::{
    beside::Beside, control::Control, life::RecordedSession, target::Targets, teller::Teller,
    told::ToldStop,
};
pub use self::{
    control::{Holder, Move},
    output::{Output, OutputTail, OutputText},
    state::{CommandRefusal, Stop},
    view::{PassCount, Process, Shown, ThreadRow, View},
};
pub use crate::nouns::{Status, Stream};
use crate::{
    actor::Actor,
    adapter::{Runtime, Started},
    attach::{At, Attach},
    backend::{Backend, Step},
    breakpoints::Breakpoints,
    failure::{Code, Failure},
    ids::{Epoch, SessionId, TargetId, ThreadKey},
    inspect::Snapshot,
    launch::Launch,
    limits,
    log::Log,
    process::Exit,
};

pub struct Session {
    pub id: SessionId,
    pub name: String,
    pub language: &'static str,
    pub origin: Origin,
    /// What runs it; `None` for a program that we only attached to.
    pub runtime: Option<Runtime>,
    pub output: Arc<Output>,
    pub began: jiff::Timestamp,
    view: watch::Receiver<Arc<View>>,
    commands: mpsc::Sender<Command>,
    targets: Targets,
    breakpoints: Arc<Breakpoints>,
    tell: Arc<Teller>,
    stdin: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    control: Arc<Control>,
    /// What callers began and do not wait for.
    beside: Beside,
    /// The last stop that was told, to say what changed.
    told: Mutex<Option<ToldStop>>,
    /// The stops that were told, oldest first.
    stops: Mutex<VecDeque<Arc<Snapshot>>>,
    /// What was evaluated may have changed what was seen of it.
    evaluations: AtomicU64,
    /// Somebody had it ended.
    is_stopped: AtomicBool,
    /// Where the recorder inside the program writes, if there is one.
    recorded: OnceLock<RecordedSession>,
}

/// How we came to the program.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    Launched(Launch),
    Attached(Attach),
}

/// What a caller wants of the actor.
enum Command {
    Resume { reply: Reply },
    Step { thread: Option<ThreadKey>, step: Step, reply: Reply },
    Pause { reply: Reply },
    Stop { reply: oneshot::Sender<Exit> },
}

type Reply = oneshot::Sender<Result<(), Failure>>;

/// What a wait found.
#[derive(Debug, Clone)]
pub enum Outcome {
    Stopped(Arc<Shown>),
    Ended(Exit),
    /// Neither, by the deadline. A later stop is not lost: it has a later epoch.
    Running,
}

impl Session {
    /// Takes over a program that is under control.
    pub fn adopt(
        id: SessionId,
        name: String,
        language: &'static str,
        origin: Origin,
        mut started: Started,
        breakpoints: Arc<Breakpoints>,
        log: Arc<Log>,
    ) -> Arc<Session> {
        let output = Arc::new(Output::default());
        if let Some(note) = &started.note {
            output.push(Stream::Debugger, format!("{note}\n").as_bytes());
        }
        let targets = Targets::default();
        let stdin = started.program.as_mut().and_then(|it| it.pipes.stdin.take());
        let (commands, inbox) = mpsc::channel(limits::MAILBOX);
        let (shown, view) = watch::channel(Arc::new(View::default()));
        let tell = Teller::new(id, language, log, Arc::clone(&output), Arc::clone(&breakpoints));
        let tell = Arc::new(tell);
        let control = Arc::new(Control::default());
        let actor = actor::Actor::new(
            id,
            shown,
            targets.clone(),
            Arc::clone(&output),
            Arc::clone(&breakpoints),
            Arc::clone(&tell),
            Arc::clone(&control),
        );
        let runtime = started.runtime.take();
        // Ends with the program, when it is told to stop, or with the session: it has its mailbox.
        tokio::spawn(actor.run(started, inbox));
        Arc::new(Session {
            id,
            name,
            language,
            origin,
            runtime,
            output,
            began: jiff::Timestamp::now(),
            view,
            commands,
            targets,
            breakpoints,
            tell,
            stdin: Arc::new(tokio::sync::Mutex::new(stdin)),
            control,
            beside: Beside::default(),
            told: Mutex::default(),
            stops: Mutex::default(),
            evaluations: AtomicU64::default(),
            is_stopped: AtomicBool::default(),
            recorded: OnceLock::new(),
        })
    }

    /// What was launched; `None` for a program that we only attached to.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.origin {
            Origin::Launched(launch) => Some(launch),
            Origin::Attached(_) => None,
        }
    }

    /// What we attached to; `None` for a program that we started.
    pub fn attach(&self) -> Option<&Attach> {
        match &self.origin {
            Origin::Launched(_) => None,
            Origin::Attached(attach) => Some(attach),
        }
    }

    /// Where relative paths begin.
    pub fn cwd(&self) -> &Path {
        match &self.origin {
            Origin::Launched(launch) => &launch.cwd,
            Origin::Attached(attach) => &attach.cwd,
        }
    }

    /// What is true now.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.borrow())
    }

    /// Says who asks for what follows: the event of it names them.
    pub fn by(&self, actor: Actor) -> &Session {
        self.tell.asked_by(actor);
        self
    }

    pub async fn resume(&self) -> Result<(), Failure> {
        self.go(|reply| Command::Resume { reply }).await
    }

    pub async fn step(&self, thread: Option<ThreadKey>, step: Step) -> Result<(), Failure> {
        self.go(|reply| Command::Step { thread, step, reply }).await
    }

    pub async fn pause(&self) -> Result<(), Failure> {
        self.command(|reply| Command::Pause { reply }).await
    }

    /// Ends the program and everything it started; one that we only attached to is let go, and runs on.
    pub async fn stop(&self) -> Exit {
        if self.view().exit.is_none() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command::Stop { reply }).await.is_err() {
            return self.view().exit.unwrap_or(Exit::Unknown);
        }
        answer.await.unwrap_or_else(|_| self.view().exit.unwrap_or(Exit::Unknown))
    }

    /// Whether it is what a program left behind when it crashed.
    pub fn is_core(&self) -> bool {
        self.attach().is_some_and(|it| matches!(it.at, At::Core { .. }))
    }

    /// Whether it ended because somebody had it ended.
    pub fn was_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// The first stop after `after`, or the end, or the deadline.
    pub async fn wait(&self, after: Epoch, patience: Duration) -> Outcome {
        let mut view = self.view.clone();
        // A stop that has been resumed since is nothing to return with.
        let arrived = |view: &Arc<View>| match view.status {
            Status::Stopped => after < view.epoch(),
            Status::Ended => true,
            Status::Starting | Status::Running => false,
        };
        let found = tokio::time::timeout(patience, view.wait_for(arrived)).await;
        match found {
            // The actor is gone: what it left is the end.
            Ok(Err(_)) | Err(_) => self.outcome(after),
            Ok(Ok(view)) => outcome(&view, after),
        }
    }

    /// Returns when the first process is under control, or none will ever be.
    pub async fn joined(&self) {
        let mut view = self.view.clone();
        // An error means that the actor is gone.
        view.wait_for(|view| view.status != Status::Starting).await.map(drop).unwrap_or_default();
    }

    /// Returns when the program has ended.
    pub async fn ended(&self) -> Exit {
        let mut view = self.view.clone();
        // An error means that the actor is gone; what it left is the end.
        view.wait_for(|view| view.status == Status::Ended).await.map(drop).unwrap_or_default();
        self.view().exit.unwrap_or(Exit::Unknown)
    }

    fn outcome(&self, after: Epoch) -> Outcome {
        outcome(&self.view(), after)
    }

    /// The stop that stands, with its process; one that is known and not yet where is waited for.
    pub async fn standing(&self) -> Result<(Arc<Shown>, Backend), Failure> {
        if self.view().is_stopping {
            let mut view = self.view.clone();
            let shown = view.wait_for(|view| !view.is_stopping);
            // An error, or the time: what is true then is told.
            tokio::time::timeout(limits::STOP_SHOWN, shown).await.map(drop).unwrap_or_default();
        }
        self.stopped()
    }

    /// The stop that stands, with its process.
    pub fn stopped(&self) -> Result<(Arc<Shown>, Backend), Failure> {
        let view = self.view();
        match (&view.status, &view.stop) {
            (Status::Stopped, Some(shown)) => {
                let backend = self.backend(shown.stop.thread.target)?;
                Ok((Arc::clone(shown), backend))
            }
            (Status::Ended, _) => Err(ended(self, view.exit)),
            _ => Err(Failure::new(Code::NotStopped, format!("{} is running", self.id))
                .hint("`debug_pause` stops it, `debug_wait` waits for its next stop")),
        }
    }

    pub fn backend(&self, target: TargetId) -> Result<Backend, Failure> {
        self.targets.backend(target).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("process {} of {} is gone", target.0, self.id))
        })
    }

    /// A program that dies as it is told to go on did go on: how it ended is what there is to tell.
    async fn go(&self, make: impl FnOnce(Reply) -> Command) -> Result<(), Failure> {
        if self.is_core() {
            let text = "a core file does not run: its program has ended";
            return Err(Failure::new(Code::AdapterFailed, text)
                .hint("`debug_stack`, `debug_variables` and `debug_evaluate` show what it left"));
        }
        let was_alive = self.view().status != Status::Ended;
        self.settle_changes().await;
        match self.command(make).await {
            Err(failure) if was_alive && failure.code == Code::SessionEnded => {
                tokio::time::timeout(limits::DRAIN, self.ended()).await.map_err(|_| failure)?;
                Ok(())
            }
            answer => answer,
        }
    }

    async fn command(&self, make: impl FnOnce(Reply) -> Command) -> Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(make(reply)).await.is_err() {
            return Err(ended(self, self.view().exit));
        }
        answer.await.unwrap_or_else(|_| Err(ended(self, self.view().exit)))
    }
}

fn outcome(view: &View, after: Epoch) -> Outcome {
    match (&view.status, &view.stop) {
        (Status::Ended, _) => Outcome::Ended(view.exit.unwrap_or(Exit::Unknown)),
        (Status::Stopped, Some(shown)) if after < shown.stop.epoch => {
            Outcome::Stopped(Arc::clone(shown))
        }
        _ => Outcome::Running,
    }
}

fn ended(session: &Session, exit: Option<Exit>) -> Failure {
    let how = exit.map(|exit| format!(" with {exit}")).unwrap_or_default();
    let (text, hint) = match (&session.origin, exit) {
        (Origin::Attached(_), Some(Exit::Left | Exit::Lost)) => {
            (format!("{} has ended{how}", session.id), "`debug_attach` takes it again")
        }
        (Origin::Attached(_), _) => (
            format!("the program of {} has ended{how}", session.id),
            "`debug_output` reads what its debugger reported",
        ),
        (Origin::Launched(_), _) => (
            format!("the program of {} has ended{how}", session.id),
            "`debug_restart` runs it again; `debug_output` reads what it wrote",
        ),
    };
    Failure::new(Code::SessionEnded, text).hint(hint)
}
