//! What our own extension tells by itself, as signals: an agent's moves and the person's alike.

use std::path::PathBuf;

use holdpoint_bridge::{BridgeEvent, EventTail};
use serde_json::Value as Json;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};

use super::{
    Vscode, points,
    state::{Move, Standing},
    translate::text,
};
use crate::{
    backend::{Bound, Signal, StopReason, Stopped},
    limits,
    nouns::Stream,
};

/// Until the editor's session ends, its window goes, or nobody takes the signals.
pub(super) async fn listen(vscode: Vscode, mut tail: EventTail, up: mpsc::Sender<Signal>) {
    let began = vscode.bridge.status().bridge_id;
    let mut late: Option<Late> = None;
    let reason = loop {
        let due = late.as_ref().map_or_else(Instant::now, |it| it.until);
        let events = tokio::select! {
            events = timeout(limits::EDITOR_LOOK, tail.next()) => events,
            () = sleep_until(due), if late.is_some() => {
                if vscode.tell(&up, vscode.nowhere(&mut late)).await.is_err() {
                    return;
                }
                continue;
            }
            () = up.closed() => return,
        };
        let Ok(events) = events else {
            let status = vscode.bridge.status();
            match status.dead {
                Some(why) => break format!("the editor's bridge is gone: {why}"),
                None if status.bridge_id != began => break REOPENED.to_owned(),
                None => continue,
            }
        };
        let mut is_over = None;
        for event in events {
            if Some(&event.bridge_id) != began.as_ref() {
                is_over = Some(REOPENED.to_owned());
                break;
            }
            if vscode.tell(&up, vscode.heard(&mut late, event)).await.is_err() {
                return;
            }
            if vscode.known.root().is_empty() {
                is_over = Some("the editor's session has ended".to_owned());
                break;
            }
        }
        if let Some(reason) = is_over {
            break reason;
        }
    };
    // An editor keeps breakpoints when its window is opened anew.
    if reason == REOPENED
        && let Err(failure) = points::take_out(&vscode).await
    {
        tracing::debug!(%failure, "breakpoints stay in the editor");
    }
    // The session may have ended first.
    up.send(Signal::Gone { reason }).await.unwrap_or_default();
}

const REOPENED: &str = "the editor's window was opened anew";

/// A stop of which the debugger has not said where it is: by its place it is known what it hit.
struct Late {
    event: BridgeEvent,
    until: Instant,
}

impl Vscode {
    /// An error where nobody takes the signals.
    async fn tell(&self, up: &mpsc::Sender<Signal>, signals: Vec<Signal>) -> Result<(), ()> {
        for signal in signals {
            up.send(signal).await.map_err(drop)?;
        }
        Ok(())
    }

    /// What an event means, beside a stop that waits for its place.
    fn heard(&self, late: &mut Option<Late>, event: BridgeEvent) -> Vec<Signal> {
        let is_its = |it: &mut Late| {
            let of = |it: &BridgeEvent| it.text("sessionId").map(str::to_owned);
            let is_later = ["located", "stopped", "continued", "session-ended"];
            is_later.contains(&event.kind.as_str()) && of(&it.event) == of(&event)
        };
        let mut signals = match (late.take_if(is_its), event.kind.as_str()) {
            (Some(stop), "located") => {
                let session = stop.event.text("sessionId").unwrap_or_default();
                return self.stopped(session, &event);
            }
            // It went on before its debugger had said where it stood.
            (Some(stop), _) => self.signals(&stop.event),
            (None, _) => Vec::new(),
        };
        if self.needs_place(&event) {
            signals.extend(self.nowhere(late));
            *late = Some(Late { event, until: Instant::now() + limits::EDITOR_LOCATED });
        } else {
            signals.extend(self.signals(&event));
        }
        signals
    }

    /// A stop without a place is one all the same.
    fn nowhere(&self, late: &mut Option<Late>) -> Vec<Signal> {
        late.take().map(|it| self.signals(&it.event)).unwrap_or_default()
    }

    /// A stop that does not say where it is, nor what it hit, nor whose it is.
    fn needs_place(&self, event: &BridgeEvent) -> bool {
        let session = event.text("sessionId").unwrap_or_default();
        let is_stop = event.kind == "stopped" && self.known.is_member(session);
        let is_nameless = event.body.get("hitBreakpointIds").is_none_or(Json::is_null);
        let asks = is_nameless && event.text("reason") == Some("breakpoint");
        let is_nobodys = event.number("threadId").is_none();
        is_stop && event.number("line").is_none() && (asks || is_nobodys)
    }

    /// What an event means; nothing for one of another program.
    fn signals(&self, event: &BridgeEvent) -> Vec<Signal> {
        let session = event.text("sessionId").unwrap_or_default();
        match event.kind.as_str() {
            "session-started" => {
                self.known.joins(session, event.text("parentId"));
                Vec::new()
            }
            "breakpoints" => self.breakpoints(event),
            "control" => {
                vec![Signal::Held { by_person: event.text("holder") == Some("person") }]
            }
            _ if !self.known.is_member(session) => Vec::new(),
            "session-ended" => self.ended(session, event),
            "stopped" => self.stopped(session, event),
            "continued" => {
                self.known.went();
                let is_all = event.body.get("allThreadsContinued").and_then(Json::as_bool);
                let thread = event.number("threadId").filter(|_| is_all == Some(false));
                vec![Signal::Continued { thread: thread.map(|it| self.known.local(session, it)) }]
            }
            "output" => self.output(session, event),
            _ => Vec::new(),
        }
    }

    fn ended(&self, session: &str, event: &BridgeEvent) -> Vec<Signal> {
        let (threads, is_root) = self.known.leaves(session);
        let mut signals: Vec<Signal> =
            threads.into_iter().map(|thread| Signal::ThreadEnded { thread }).collect();
        signals.extend(event.number("exitCode").map(|code| Signal::Exited { code }));
        if is_root {
            self.known.forget_all();
            signals.push(Signal::Ended);
        }
        signals
    }

    fn stopped(&self, session: &str, event: &BridgeEvent) -> Vec<Signal> {
        let thread = self.known.local(session, event.number("threadId").unwrap_or(0));
        let file = PathBuf::from(self.known.sides.here(event.text("file").unwrap_or_default()));
        let line = event.number("line").and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
        let named = event.body.get("hitBreakpointIds").and_then(Json::as_array);
        let named: Vec<&str> = named.into_iter().flatten().filter_map(Json::as_str).collect();
        let reason = reason(event.text("reason").unwrap_or("breakpoint"));
        let hits = match reason {
            StopReason::Breakpoint => self.known.points().hits(&named, &file, line),
            _ => Vec::new(),
        };
        let mut signals = Vec::new();
        // It went on in between, and nobody said so: the person's own step.
        if self.known.moment().at.as_ref().is_some_and(|it| it.thread == thread) {
            self.known.went();
            signals.push(Signal::Continued { thread: Some(thread) });
        }
        self.known.stands(Standing { file, line, frame: event.number("frameId"), thread });
        let all = event.body.get("allThreadsStopped").and_then(Json::as_bool).unwrap_or(false);
        let text = event.text("text").filter(|it| !it.is_empty()).map(str::to_owned);
        signals.push(Signal::Stopped(Stopped { thread, reason, hits, text, all }));
        signals
    }

    fn output(&self, session: &str, event: &BridgeEvent) -> Vec<Signal> {
        let stream = match event.text("category") {
            Some("telemetry") => return Vec::new(),
            Some("stdout") => Stream::Stdout,
            Some("stderr") => Stream::Stderr,
            _ => Stream::Debugger,
        };
        let thread = self.known.local(session, event.number("threadId").unwrap_or(0));
        let output = event.text("text").unwrap_or_default();
        let (text, hits) = self.known.points().passes(output, thread);
        let passed = (!hits.is_empty()).then_some(Signal::Passed(hits));
        let rest = (!text.is_empty()).then_some(Signal::Output { stream, text });
        passed.into_iter().chain(rest).collect()
    }

    fn breakpoints(&self, event: &BridgeEvent) -> Vec<Signal> {
        let all = event.body.get("changed").and_then(Json::as_array).into_iter().flatten();
        let bound = all.flat_map(|point| {
            let file =
                PathBuf::from(self.known.sides.here(text(point, "path").unwrap_or_default()));
            self.known.points().changed(&file, point)
        });
        let bound: Vec<Bound> = bound.collect();
        bound.into_iter().map(Signal::Breakpoint).collect()
    }
}

pub(super) fn reason(text: &str) -> StopReason {
    match text {
        "entry" => StopReason::Entry,
        "breakpoint" | "function breakpoint" | "instruction breakpoint" => StopReason::Breakpoint,
        "step" | "goto" => StopReason::Step,
        "pause" => StopReason::Pause,
        "exception" => StopReason::Exception,
        other => StopReason::Other(other.to_owned()),
    }
}

/// Why it stands, where nobody says: by what it was told last, and by whether a breakpoint is there.
pub(super) fn guessed(told: Move, has_breakpoint: bool) -> StopReason {
    match (told, has_breakpoint) {
        (_, true) => StopReason::Breakpoint,
        (Move::Step, false) => StopReason::Step,
        (Move::Pause, false) => StopReason::Pause,
        (Move::Run, false) => StopReason::Other("stopped in the editor".to_owned()),
    }
}
