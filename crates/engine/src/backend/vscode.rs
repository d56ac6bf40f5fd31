//! A debug session of the editor, where the person is looking: its own debugger, driven by the bridge's scripts.
//!
//! What a script answers says only that it was taken; stops come as events where the bridge is our own extension's
//! ([`told`]), and by asking now and then where it is the public one's ([`asked`]). An editor's session may have
//! children of its own (js-debug has a root without threads); all of them are one program here, and their threads
//! are numbered by us: that is the one place that knows both numbers.

mod asked;
mod begin;
mod failures;
mod launches;
mod points;
mod seen;
mod state;
mod told;
mod translate;

use std::{path::Path, sync::Arc, time::Duration};

use holdpoint_bridge::{Bridge, Flavour};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

pub use self::{
    begin::{EditorProgram, join, launch},
    seen::{SeenInEditor, follow, seen},
};
use self::{
    failures::failure,
    state::{EditorState, Spot},
};
use super::{
    Binding, Bound, ExceptionInfo, Exceptions, FrameId, Handle, Loaded, RunningText, Scope, Slice,
    Stack, Step, Thread, Value, Variable, Wanted, WantedFunction, Went,
};
use crate::{
    failure::{Code, Failure},
    limits,
};

/// Cheap to clone.
#[derive(Clone)]
pub struct Vscode {
    bridge: Bridge,
    known: Arc<EditorState>,
}

impl Vscode {
    /// Has a script run for this session, and waits for its answer.
    async fn ask(&self, script: &str, params: Json) -> Result<Json, Failure> {
        self.ask_within(script, params, super::patience()).await
    }

    async fn ask_within(
        &self,
        script: &str,
        params: Json,
        patience: Duration,
    ) -> Result<Json, Failure> {
        // Whoever drops this drops the call, and the bridge is told.
        let never = CancellationToken::new();
        let answer = self.bridge.call(script, params, patience, &never).await;
        answer.map(|it| it.data).map_err(|error| failure(&error))
    }

    fn is_ours(&self) -> bool {
        self.bridge.flavour() == Flavour::Ours
    }

    /// Which stop this is, or which run after it.
    pub(super) fn epoch(&self) -> u64 {
        self.known.epoch()
    }

    /// What the editor calls its session.
    pub fn root(&self) -> String {
        self.known.root()
    }

    /// Whether a stop of the session ends the program: it was started from here.
    pub fn is_started_here(&self) -> bool {
        self.known.is_started_here
    }

    pub async fn title(&self) -> Result<String, Failure> {
        Ok(self.known.name.clone())
    }

    pub async fn resume(&self, thread: i64) -> Result<Went, Failure> {
        self.go("debug.continue", thread, state::Move::Run).await.map(|()| Went::All)
    }

    pub async fn step(&self, thread: i64, step: Step) -> Result<(), Failure> {
        let script = match step {
            Step::Over => "debug.step-over",
            Step::In => "debug.step-into",
            Step::Out => "debug.step-out",
        };
        self.go(script, thread, state::Move::Step).await
    }

    /// From the moment when it is asked to go on nothing of this stop means anything, unless it refuses.
    async fn go(&self, script: &'static str, thread: i64, how: state::Move) -> Result<(), Failure> {
        let before = self.known.goes(how);
        let went = if self.is_ours() {
            // Named, one thread would go on alone.
            let params = match how {
                state::Move::Run => json!({ "sessionId": self.known.remote(thread).session }),
                state::Move::Step | state::Move::Pause => self.known.of_thread(thread),
            };
            self.ask(script, self.by(translate::with(params, "wait", false))).await.map(drop)
        } else {
            self.go_and_wait(script).await
        };
        if went.is_err() {
            self.known.stays(before);
        }
        went
    }

    pub async fn pause(&self, thread: Option<i64>) -> Result<(), Failure> {
        if !self.is_ours() {
            return Err(only_ours("stop a running program"));
        }
        self.known.goes_to(state::Move::Pause);
        let params = match thread {
            Some(thread) => self.known.of_thread(thread),
            None => json!({ "sessionId": self.known.newest_session() }),
        };
        self.ask("debug.pause", self.by(params)).await.map(drop)
    }

    pub async fn set_breakpoints(
        &self,
        file: &Path,
        wanted: &[Wanted],
    ) -> Result<Vec<Bound>, Failure> {
        points::replace(self, file, wanted).await
    }

    pub async fn set_functions(&self, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
        let why = "the editor's bridge sets breakpoints by line alone; pass `file` and `line`";
        let not =
            |it: &WantedFunction| Bound { id: it.id, state: Binding::Not { why: why.to_owned() } };
        Ok(wanted.iter().map(not).collect())
    }

    /// What the person chose in the editor holds until somebody chooses here.
    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        let is_told = self.known.was_told_exceptions();
        if *exceptions == Exceptions::default() && !is_told {
            return Ok(());
        }
        if !self.known.has("exceptions") {
            return Err(only_ours("choose which exceptions stop"));
        }
        self.known.tells_exceptions();
        let session = self.known.newest_session();
        let asked = json!({ "sessionId": session, "filters": [] });
        let available = self.ask("debug.set-exceptions", asked).await?;
        let filters = translate::filters(&available, exceptions);
        let params = json!({ "sessionId": session, "filters": filters });
        self.ask("debug.set-exceptions", params).await.map(drop)
    }

    pub async fn running(&self, _: &Path) -> Result<RunningText, Failure> {
        Ok(RunningText::Unknown)
    }

    pub async fn loaded(&self) -> Result<Vec<Loaded>, Failure> {
        Ok(Vec::new())
    }

    pub async fn is_same(&self, _: &Path) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    pub async fn runs(&self, _: &Path, _: Option<&str>) -> Result<(), Failure> {
        Ok(())
    }

    pub async fn threads(&self) -> Result<Vec<Thread>, Failure> {
        if !self.is_ours() {
            let status = self.ask("debug.status", json!({})).await?;
            return Ok(translate::threads(&status, |id| self.known.local("", id)));
        }
        let mut all = Vec::new();
        for session in self.known.sessions() {
            match self.ask("debug.threads", json!({ "sessionId": session })).await {
                Ok(answer) => {
                    all.extend(translate::threads(&answer, |id| self.known.local(&session, id)));
                }
                // One that has just ended has none.
                Err(failure) if failure.code == Code::NoSession => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(all)
    }

    pub async fn stack(&self, thread: i64, slice: Slice) -> Result<Stack, Failure> {
        let sides = &self.known.sides;
        if !self.is_ours() {
            // Its `debug.stack` has nothing in it; this has the debugger's own frames, fifty of them.
            let status = self.ask("debug.status", json!({})).await?;
            return Ok(translate::stack(&status, "stackFrames", "", sides).part(slice));
        }
        let Spot { session, thread } = self.known.remote(thread);
        let params = json!({
            "sessionId": session, "threadId": thread, "start": slice.start, "count": slice.count,
        });
        let answer = self.ask("debug.stack", params).await?;
        Ok(translate::stack(&answer, "frames", &session, sides).stack(slice))
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        let (frame, session) = translate::named(frame.as_text())?;
        let answer =
            self.ask("debug.scopes", self.with(session, json!({ "frameId": frame }))).await?;
        Ok(translate::scopes(&answer, session))
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        let (reference, session) = translate::named(of.as_text())?;
        let params = json!({
            "variablesReference": reference, "start": slice.start, "count": slice.count,
        });
        let answer = self.ask("debug.get-variable", self.with(session, params)).await?;
        Ok(translate::children(&answer, session, slice))
    }

    pub async fn evaluate(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let mut params = json!({ "expression": expression, "context": "repl" });
        let newest = self.known.newest_session();
        let mut session = newest.as_str();
        if let Some(frame) = frame {
            let (number, of) = translate::named(frame.as_text())?;
            params = translate::with(params, "frameId", number);
            session = of;
        }
        let answer = self.ask_within("debug.evaluate", self.with(session, params), patience).await;
        match answer {
            Ok(answer) => Ok(translate::evaluated(&answer, session)),
            Err(failure) if failure.code == Code::AdapterFailed => {
                Err(Failure { code: Code::EvaluateFailed, ..failure })
            }
            Err(failure) => Err(failure),
        }
    }

    pub async fn assign(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        let (reference, session) = translate::named(container.as_text())?;
        let params = json!({ "name": name, "value": value, "variablesReference": reference });
        let answer = self.ask("debug.set-variable", self.with(session, params)).await?;
        Ok(translate::assigned(&answer, session))
    }

    pub async fn exception(&self, thread: i64) -> Result<ExceptionInfo, Failure> {
        if self.known.has("exceptions") {
            let answer = self.ask("debug.exception-info", self.known.of_thread(thread)).await?;
            return Ok(translate::exception(&answer));
        }
        Err(only_ours("tell more of an exception"))
    }

    /// Takes our breakpoints out of the editor; a program that was started from here is ended, and one of the
    /// person's runs on.
    pub async fn detach(&self) -> Result<(), Failure> {
        let root = self.known.root();
        // One that has ended is not stopped: another would be.
        let ended = if self.known.is_started_here && !root.is_empty() {
            let params = self.by(self.with(&root, json!({})));
            self.ask_within("debug.stop", params, limits::EDITOR_STOP).await.map(drop)
        } else {
            Ok(())
        };
        let taken_out = points::take_out(self).await;
        match ended {
            Err(failure) if failure.code != Code::NoSession => Err(failure),
            _ => taken_out,
        }
    }

    /// Somebody at a face of ours took control, or gave it back: the editor's switch shows it.
    pub fn held(&self, by_person: bool) {
        if !self.known.has("control") {
            return;
        }
        self.known.control().is_persons = by_person;
        let vscode = self.clone();
        // Ends with its job.
        tokio::spawn(async move { vscode.tell_holder().await });
    }

    /// As it is by the time that it is told: of several who changed it at once the last is right.
    async fn tell_holder(&self) {
        let _one_by_one = self.known.telling.lock().await;
        let holder = if self.known.control().is_persons { "person" } else { "agent" };
        if self.known.root().is_empty() {
            return;
        }
        if let Err(failure) = self.ask("control.set", json!({ "holder": holder })).await {
            tracing::debug!(%failure, "the editor's switch shows somebody else");
        }
    }

    /// Who is to move it next: the editor obeys the person, whoever holds its switch.
    pub fn asked_by(&self, is_person: bool) {
        self.known.control().mover_is_person = is_person;
    }

    fn by(&self, params: Json) -> Json {
        match self.known.has("control") && self.known.control().mover_is_person {
            true => translate::with(params, "by", "person"),
            false => params,
        }
    }

    /// The public bridge knows the active session alone, and fails where another is named.
    fn with(&self, session: &str, params: Json) -> Json {
        if !self.is_ours() || session.is_empty() {
            return params;
        }
        translate::with(params, "sessionId", session)
    }
}

fn only_ours(what: &str) -> Failure {
    Failure::new(Code::AdapterFailed, format!("the public VSC-Bridge extension cannot {what}"))
        .hint("Holdpoint's own extension can; the person can do it in the editor")
}
