//! What the public bridge does not tell and has to be asked: a move waits inside of its own job for what it comes to,
//! and otherwise it is looked at now and then. Rarely, for each job of it leaves a timer behind in the editor.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value as Json, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, sleep_until},
};

use super::{
    Vscode,
    state::{Move, Standing},
    told::guessed,
    translate::{number, text},
};
use crate::{
    backend::{Binding, Bound, Signal, Stopped},
    failure::{Code, Failure},
    limits,
};

/// A move that is to be carried out.
pub(super) struct Ask {
    script: &'static str,
    reply: oneshot::Sender<Result<(), Failure>>,
}

impl Vscode {
    /// Returns when the move was taken, as far as can be told: its job has not failed at once.
    pub(super) async fn go_and_wait(&self, script: &'static str) -> Result<(), Failure> {
        let gone = || Failure::new(Code::SessionEnded, "the editor's session has ended");
        let (reply, answer) = oneshot::channel();
        let asks = self.known.asks.as_ref().ok_or_else(gone)?;
        asks.send(Ask { script, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Until the editor's session ends, its bridge goes, or nobody takes the signals.
pub(super) async fn follow(
    vscode: Vscode,
    mut asks: mpsc::Receiver<Ask>,
    up: mpsc::Sender<Signal>,
) {
    let mut follower = Follower { vscode, up, pause: limits::EDITOR_POLL };
    loop {
        let next = tokio::time::Instant::now() + follower.pause;
        let is_over = tokio::select! {
            Some(ask) = asks.recv() => follower.carry_out(ask).await,
            () = sleep_until(next) => follower.look().await,
            () = follower.up.closed() => return,
        };
        if let Some(reason) = is_over {
            // The session may have ended first.
            return follower.up.send(Signal::Gone { reason }).await.unwrap_or_default();
        }
    }
}

struct Follower {
    vscode: Vscode,
    up: mpsc::Sender<Signal>,
    /// Until it is looked at again.
    pause: Duration,
}

/// Why there is nothing to follow any more.
type Over = Option<String>;

impl Follower {
    async fn carry_out(&mut self, ask: Ask) -> Over {
        let Ask { script, reply } = ask;
        let wait = u64::try_from(holdpoint_bridge::WAIT_SLICE.as_millis()).unwrap_or(u64::MAX);
        let vscode = self.vscode.clone();
        let patience = holdpoint_bridge::WAIT_SLICE + limits::EDITOR_POLL;
        let job = vscode.ask_within(script, json!({ "timeoutMs": wait }), patience);
        tokio::pin!(job);
        let mut reply = Some(reply);
        let outcome = tokio::select! {
            outcome = &mut job => outcome,
            () = sleep(limits::EDITOR_TAKEN) => {
                answer(reply.take(), Ok(()));
                job.await
            }
        };
        self.pause = limits::EDITOR_POLL;
        match outcome {
            Ok(outcome) => {
                answer(reply, Ok(()));
                self.came_to(&outcome).await
            }
            // Whether it went is to be seen.
            Err(failure) if reply.is_none() => {
                tracing::debug!(%failure, "a move of the editor did not say what it came to");
                self.look().await
            }
            Err(failure) => {
                answer(reply, Err(failure));
                None
            }
        }
    }

    async fn came_to(&mut self, outcome: &Json) -> Over {
        match text(outcome, "event") {
            Some("stopped") => {
                let standing = self.standing(outcome, outcome);
                self.stands(standing).await
            }
            Some("terminated") => self.ends(number(outcome, "exitCode")).await,
            // Not stopped within the job's time: it runs.
            _ => None,
        }
    }

    /// How it is, whoever moved it.
    async fn look(&mut self) -> Over {
        let status = match self.vscode.ask("debug.status", json!({})).await {
            Ok(status) => status,
            Err(failure) if failure.code == Code::BridgeUnavailable => {
                return Some(failure.message.into_owned());
            }
            Err(failure) => {
                tracing::debug!(%failure, "the editor did not say how it is");
                self.pause = (self.pause * 2).min(limits::EDITOR_POLL_MAX);
                return None;
            }
        };
        if status.get("isActive").and_then(Json::as_bool) == Some(false) {
            return self.ends(None).await;
        }
        let frames = status.get("stackFrames").and_then(Json::as_array);
        let top = frames.and_then(|it| it.first());
        let is_paused = status.get("isPaused").and_then(Json::as_bool) == Some(true);
        // It says so of js-debug's programs that run, too; those have no frames.
        let Some(top) = top.filter(|_| is_paused) else { return self.runs().await };
        let thread = status.get("currentThread").unwrap_or(&Json::Null);
        let mut standing = self.standing(top, &json!({ "threadId": number(thread, "id") }));
        let file = top.get("source").and_then(|it| text(it, "path")).unwrap_or_default();
        standing.file = PathBuf::from(self.vscode.known.sides.here(file));
        standing.frame = number(top, "id");
        let known = self.vscode.known.moment().at.clone();
        match known {
            Some(known) if is_same(&known, &standing) => {
                self.vscode.known.moment().at = Some(standing);
                self.pause = limits::EDITOR_IDLE;
                None
            }
            Some(known) => {
                self.vscode.known.went();
                self.vscode.known.goes_to(Move::Step);
                let went = Signal::Continued { thread: Some(known.thread) };
                self.send(went).await;
                self.stands(standing).await
            }
            None => self.stands(standing).await,
        }
    }

    fn standing(&self, place: &Json, thread: &Json) -> Standing {
        let file = text(place, "file").unwrap_or_default();
        let thread = number(thread, "threadId").unwrap_or(0);
        Standing {
            file: PathBuf::from(self.vscode.known.sides.here(file)),
            line: number(place, "line").and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            frame: None,
            thread: self.vscode.known.local("", thread),
        }
    }

    async fn stands(&mut self, standing: Standing) -> Over {
        self.pause = limits::EDITOR_IDLE;
        let (thread, line) = (standing.thread, standing.line);
        let hits = self.vscode.known.points().hits(&[], &standing.file, line);
        let told = self.vscode.known.stands(standing);
        // That it is bound is known by now.
        for id in &hits {
            let state = Binding::At { line, column: None };
            self.send(Signal::Breakpoint(Bound { id: *id, state })).await;
        }
        let reason = guessed(told, !hits.is_empty());
        self.send(Signal::Stopped(Stopped { thread, reason, hits, text: None, all: true })).await;
        None
    }

    async fn runs(&mut self) -> Over {
        let was = self.vscode.known.moment().at.take();
        if was.is_some() {
            self.vscode.known.went();
            self.pause = limits::EDITOR_POLL;
            self.send(Signal::Continued { thread: None }).await;
        } else {
            self.pause = (self.pause * 2).min(limits::EDITOR_POLL_MAX);
        }
        None
    }

    async fn ends(&mut self, code: Option<i64>) -> Over {
        self.vscode.known.forget_all();
        if let Some(code) = code {
            self.send(Signal::Exited { code }).await;
        }
        self.send(Signal::Ended).await;
        Some("the editor's session has ended".to_owned())
    }

    /// Whoever takes them may be gone; the loop sees that.
    async fn send(&self, signal: Signal) {
        self.up.send(signal).await.unwrap_or_default();
    }
}

/// Whether it has not moved: a frame that is not known yet tells nothing.
fn is_same(one: &Standing, other: &Standing) -> bool {
    let is_same_frame = one.frame.is_none() || other.frame.is_none() || one.frame == other.frame;
    one.file == other.file && one.line == other.line && is_same_frame
}

fn answer(reply: Option<oneshot::Sender<Result<(), Failure>>>, result: Result<(), Failure>) {
    if let Some(reply) = reply {
        // Whoever asked may be gone.
        reply.send(result).unwrap_or_default();
    }
}
