//! `breakpoint_wait`: the next stop of any session, also one that came just before the call.
//!
//! It reads the log from its own place, so several waiters all see the same stop, and each stop is also a
//! notification. What ends a wait is decided in one place, [`Wanted::takes`]: whatever else is to end one
//! (a paused call) belongs there.

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    callpoints::behavior::Moment,
    event::{Event, StoppedAt},
    failure::{Code, Failure},
    ids::{BreakpointId, Seq, SessionId},
    limits,
    log::{Read, Record},
    session::{Outcome, Session, Status},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::{
        debug::{report, status, wait::patience},
        session::Any,
    },
    view::{self, short},
};

pub(crate) struct Wait;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    #[serde(default)]
    ids: Vec<i64>,
    /// The `seq` of an earlier answer.
    since: Option<u64>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Wait {
    const NAME: &'static str = "breakpoint_wait";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Wait until any program stops (at one of `ids`) or a call of an \
        instrumented app pauses.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Wait for any stop";
    type Scope = Any;
    type Params = Params;

    async fn run(at: Any, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let wanted = Wanted::new(&at, &params)?;
        let cursors = cursors(&at.app);
        // Before the look at what stands: a stop in between is after it.
        let from = params.since.map_or_else(|| at.app.engine.log.head(), Seq);
        let found = match wanted.standing().filter(|_| params.since.is_none()) {
            Some(found) => Some(found),
            None => {
                call.doing(wanted.doing());
                let found = tokio::time::timeout(patience, wanted.next(from)).await;
                found.ok().flatten()
            }
        };
        match found {
            Some(Took::Paused { pause_id, line, seq }) => {
                wanted.paused(&pause_id, &line, seq).await
            }
            Some(Took::Stop(found)) => tell(&wanted, found, &cursors).await,
            None => wanted.nothing(patience),
        }
    }
}

struct Wanted {
    app: App,
    /// The one that was named.
    session: Option<Arc<Session>>,
    ids: Vec<BreakpointId>,
}

/// What ended a wait: a thread that stopped, or a call that paused.
enum Took {
    Stop(Halt),
    Paused { pause_id: String, line: String, seq: Seq },
}

struct Halt {
    session: SessionId,
    seq: Seq,
    at: StoppedAt,
    /// Numbers that left the log before they were looked at.
    gap: Option<(Seq, Seq)>,
}

impl Wanted {
    fn new(named: &Any, params: &Params) -> Result<Wanted, Failure> {
        let sessions = &named.app.engine.sessions;
        let session = named.id.as_deref().map(|id| sessions.find(Some(id))).transpose()?;
        let ids: Vec<BreakpointId> = params.ids.iter().copied().map(BreakpointId).collect();
        if let Some(unknown) = ids.iter().find(|id| sessions.breakpoints.get(**id).is_none()) {
            return Err(Failure::new(Code::NotFound, format!("no breakpoint {unknown}"))
                .hint("`breakpoint_list` lists them"));
        }
        let is_trace = |id: &&BreakpointId| {
            sessions.breakpoints.get(**id).is_some_and(|it| it.trace.is_some())
        };
        if let Some(trace) = ids.iter().find(is_trace) {
            let text = format!("{trace} is a tracepoint, and nothing stops there");
            return Err(Failure::new(Code::InvalidParams, text)
                .hint("`tracepoint_read` shows its hits; `breakpoint_set` makes it a breakpoint"));
        }
        if sessions.all().is_empty() && !has_callpoints(&named.app) {
            return Err(Failure::new(Code::NoSession, "no program is being debugged")
                .hint("start one with `debug_launch`"));
        }
        Ok(Wanted { app: named.app.clone(), session, ids })
    }

    fn sessions(&self) -> Vec<Arc<Session>> {
        match &self.session {
            Some(session) => vec![Arc::clone(session)],
            None => self.app.engine.sessions.all(),
        }
    }

    fn doing(&self) -> String {
        let ids: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
        match ids.is_empty() {
            true => "waiting for a stop or a paused call".to_owned(),
            false => format!("waiting for a stop at breakpoint {}", ids.join(" or ")),
        }
    }

    /// Whether an event ends the wait.
    fn takes(&self, record: &Record) -> Option<Took> {
        let at = match &*record.event {
            Event::Stopped(at) => at,
            Event::CallPaused { pause_id, line, .. } if self.takes_calls() => {
                let (pause_id, line, seq) = (pause_id.clone(), line.clone(), record.seq);
                return Some(Took::Paused { pause_id, line, seq });
            }
            _ => return None,
        };
        let is_ours = self.session.as_ref().is_none_or(|session| session.id == at.session);
        let hit = |id: &BreakpointId| at.hits.iter().any(|hit| hit.breakpoint == Some(*id));
        let is_wanted = self.ids.is_empty() || self.ids.iter().any(hit);
        (is_ours && is_wanted).then(|| {
            Took::Stop(Halt { session: at.session, seq: record.seq, at: at.clone(), gap: None })
        })
    }

    /// Neither a session nor a breakpoint was named.
    fn takes_calls(&self) -> bool {
        self.session.is_none() && self.ids.is_empty()
    }

    /// A call that waits now: the oldest.
    fn paused_now(&self) -> Option<Took> {
        let callpoints = self.app.engine.opened_callpoints().filter(|_| self.takes_calls())?;
        let paused = callpoints.paused();
        let pause = paused.iter().find(|it| it.is_waiting)?;
        Some(Took::Paused {
            pause_id: pause.id.clone(),
            line: pause.seen.call.line(),
            seq: self.app.engine.log.head(),
        })
    }

    /// A stop that stands now.
    fn standing(&self) -> Option<Took> {
        let log = &self.app.engine.log;
        let stopped = self.sessions().iter().find_map(|session| {
            let view = session.view();
            let shown = view.stop.as_ref().filter(|_| view.status == Status::Stopped)?;
            let page = log.page(Seq(shown.seq.0.saturating_sub(1)), 1, |_| true);
            page.records.first().filter(|it| it.seq == shown.seq).and_then(|it| self.takes(it))
        });
        stopped.or_else(|| self.paused_now())
    }

    /// A call that paused, and whether it still does.
    async fn paused(&self, pause_id: &str, line: &str, seq: Seq) -> Result<Reply, Failure> {
        let pause = self.app.engine.callpoints().await.paused_one(pause_id);
        let now = if pause.is_some() { "paused" } else { "resumed" };
        let secrets = self.app.engine.secrets();
        let short =
            pause.as_ref().map(|it| short::pause(&short::without(secrets, view::pause(it))));
        let site = pause.as_ref().and_then(|it| it.seen.frames.get(0));
        let site = site.map(|frame| format!("\ncalled at {}", short::frame(frame)));
        let is_over = pause.as_ref().is_some_and(|it| it.moment != Moment::Before);
        let (when, hint) = match is_over {
            true => (" after it ran", "`breakpoint_continue` lets it go on; its outcome stands"),
            false => ("", "`breakpoint_continue` decides; `breakpoint_repl_eval` evaluates there"),
        };
        let site = site.unwrap_or_default();
        let text =
            format!("Call paused{when}: {line}{site}\npause_id: {pause_id} · {now}\nhint: {hint}");
        let data = json!({
            "hit": true, "timed_out": false, "type": "paused_call", "pause_id": pause_id,
            "state": now, "pause": short, "seq": seq,
        });
        Ok(Answer::new(text, &data)?.into())
    }

    /// The next stop after `from`; nothing when every program that could stop has ended.
    async fn next(&self, from: Seq) -> Option<Took> {
        let log = &self.app.engine.log;
        let mut reader = log.reader(from);
        let mut gap = None;
        loop {
            let reads = reader.take(limits::NOTIFY_BATCH);
            for read in &reads {
                match read {
                    Read::Record(record) => match self.takes(record) {
                        Some(Took::Stop(found)) => {
                            return Some(Took::Stop(Halt { gap, ..found }));
                        }
                        Some(paused) => return Some(paused),
                        None => {}
                    },
                    Read::Gap { first, last } => gap = Some((*first, *last)),
                }
            }
            if !reads.is_empty() {
                continue;
            }
            // A call may pause whether a program runs or not.
            let waits_for_calls = self.takes_calls() && has_callpoints(&self.app);
            let is_over =
                self.sessions().iter().all(|session| session.view().status == Status::Ended);
            if is_over && !waits_for_calls {
                return None;
            }
            reader.ready().await;
        }
    }

    /// The truth when nothing came: what each program does now.
    fn nothing(&self, waited: Duration) -> Result<Reply, Failure> {
        let sessions = self.sessions();
        let all: Vec<Value> = sessions.iter().map(|session| state(session)).collect();
        let ended = sessions.iter().all(|session| session.view().status == Status::Ended);
        let is_over = ended && !sessions.is_empty();
        let head = match is_over {
            true => "No stop: the program has ended".to_owned(),
            false => format!("No stop within {} s", waited.as_secs_f64()),
        };
        let lines: Vec<String> = sessions.iter().map(|session| status::row(session).0).collect();
        let hint = match is_over {
            true => "`debug_restart` runs it again",
            false => "wait again with `since`; `debug_pause` stops a program that runs",
        };
        let text = format!("{head}\n{}\nhint: {hint}", lines.join("\n"));
        let data = json!({
            "hit": false, "timed_out": !is_over, "sessions": all,
            "seq": self.app.engine.log.head(),
        });
        Ok(Answer::new(text, &data)?.into())
    }
}

fn has_callpoints(app: &App) -> bool {
    app.engine.opened_callpoints().is_some_and(|it| !it.callpoints().is_empty())
}

fn state(session: &Session) -> Value {
    let view = session.view();
    let stop = view.stop.as_ref().filter(|_| view.status == Status::Stopped);
    json!({
        "session_id": session.id,
        "state": view.status,
        "stop": stop.map(|shown| report::stop_json(shown)),
        "exit": view.exit.map(report::exit_json),
    })
}

/// Where each program's output was before the wait, to tell what came with the stop.
fn cursors(app: &App) -> Vec<(SessionId, u64)> {
    let sessions = app.engine.sessions.all();
    sessions.iter().map(|session| (session.id, session.output.cursor())).collect()
}

/// The stop as it stands, or as it was if the program has run on.
async fn tell(
    wanted: &Wanted,
    found: Halt,
    cursors: &[(SessionId, u64)],
) -> Result<Reply, Failure> {
    let session = wanted.sessions().into_iter().find(|it| it.id == found.session);
    let stands = session.as_ref().and_then(|session| {
        let view = session.view();
        view.stop.clone().filter(|shown| shown.seq == found.seq)
    });
    let reply = match (&session, stands) {
        (Some(session), Some(shown)) => {
            let since = cursors.iter().find(|(id, _)| *id == session.id).map_or(0, |(_, at)| *at);
            let outcome = Outcome::Stopped(shown);
            report::outcome(session, outcome, since, Duration::ZERO).await?
        }
        (session, _) => passed(&found, session.as_deref())?,
    };
    let hit = found.at.hits.iter().find(|hit| {
        wanted.ids.is_empty() || hit.breakpoint.is_some_and(|id| wanted.ids.contains(&id))
    });
    let gap = found.gap.map(|(first, last)| json!({ "first": first, "last": last }));
    Ok(reply.with_data([
        ("hit", json!(true)),
        ("timed_out", json!(false)),
        ("breakpoint_id", json!(hit.and_then(|hit| hit.breakpoint))),
        ("hit_count", json!(hit.map(|hit| hit.hit_count))),
        ("gap", json!(gap)),
    ]))
}

/// A stop that somebody has resumed meanwhile.
fn passed(found: &Halt, session: Option<&Session>) -> Result<Reply, Failure> {
    let at = &found.at;
    let event = Event::Stopped(at.clone());
    let now = session.map_or("ended", |session| session.view().status.as_str());
    let text = format!("Stopped, and ran on since: {} · now {now}", event.line());
    let data = json!({
        "session_id": at.session, "state": now, "seq": found.seq, "passed": true,
        "stop": {
            "reason": at.reason, "epoch": at.epoch, "thread_id": at.thread, "text": at.text,
            "file": at.file, "line": at.line, "column": at.column, "function": at.function,
        },
    });
    Ok(Answer::new(text, &data)?.into())
}
