//! Stopping a program where it is, once for whoever asks meanwhile.
//!
//! V8 keeps each request until JavaScript runs: a second one, or one that a breakpoint came before, would stop
//! the program again after it was told to go on.

use std::sync::Arc;

use holdpoint_cdp::types::{Location, Paused, debugger::Pause, runtime::Evaluate};

use super::{
    Asked, Cdp, IDLE, inspect,
    tokens::{At, Kind, Token},
    watch::Watch,
};
use crate::{failure::Failure, limits};

impl Cdp {
    pub async fn pause(&self, _: Option<i64>) -> Result<(), Failure> {
        let stopped = Arc::clone(&self.known.stopped).notified_owned();
        let before = std::mem::replace(&mut self.moment().asked, Asked::Pause);
        if before != Asked::Pause
            && let Err(failure) = self.send_pause().await
        {
            self.moment().asked = before;
            return Err(failure);
        }
        self.wake(stopped);
        Ok(())
    }

    async fn send_pause(&self) -> Result<(), Failure> {
        self.moment().is_pause_late = false;
        // An endless loop in a library is to be stopped as well; the next stop sets this back.
        self.blackbox(false).await?;
        self.ask(Pause {}).await.map(drop)
    }

    /// A program that waits for events runs nothing that could be stopped, so it is given something; one
    /// that runs stops by itself before that.
    fn wake(&self, stopped: tokio::sync::futures::OwnedNotified) {
        let expression = format!("undefined\n//# sourceURL={IDLE}");
        let command = Evaluate { expression, silent: true, ..Evaluate::default() };
        let requester = self.requester.clone();
        // Ends when the program runs on, or is gone.
        self.known.tasks.spawn(async move {
            if tokio::time::timeout(limits::IDLE, stopped).await.is_err()
                && let Err(error) = requester.send(command).await
            {
                tracing::debug!(%error, "the program was not woken");
            }
        });
    }
}

impl Watch {
    /// A pause that was asked for and that this stop came before.
    pub(super) fn answers_a_pause(&self, paused: &Paused, asked: Asked) {
        let is_other = !paused.hit_breakpoints.is_empty() || inspect::is_exception(paused);
        if asked == Asked::Pause && is_other {
            self.cdp.moment().is_pause_late = true;
        }
    }

    /// Whether nobody waits any more for this stop: V8 acts on a pause that another stop has answered.
    pub(super) async fn is_late_pause(&self, paused: &Paused) -> bool {
        let is_plain = paused.reason == "other" && paused.hit_breakpoints.is_empty();
        let is_late = {
            let mut moment = self.cdp.moment();
            let is_late = is_plain && moment.asked == Asked::Nothing && moment.is_pause_late;
            moment.is_pause_late &= !is_plain;
            is_late
        };
        is_late && !self.is_statement(paused).await
    }

    /// Whether it stands at a `debugger` statement, for which V8 has no other reason.
    async fn is_statement(&self, paused: &Paused) -> bool {
        let Some(top) = paused.call_frames.first() else { return false };
        let words = self.cdp.words(&top.location.script_id).await;
        words.is_none_or(|words| says_debugger(&words, &top.location))
    }
}

fn says_debugger(words: &[Token], location: &Location) -> bool {
    let number = |it: u32| it.saturating_add(1);
    let column = number(location.column_number.unwrap_or(0));
    let at = At { line: number(location.line_number), column };
    let is_it = |it: &Token| it.at == at && it.kind == Kind::Word("debugger".to_owned());
    words.is_empty() || words.iter().any(is_it)
}
