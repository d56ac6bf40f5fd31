//! No place given: where the run first fails, what is there, and what came of it.

use holdpoint_engine::{
    adapter,
    backend::{Exceptions, Frame},
    budget::{self, Budget},
    failure::{Code, Failure},
    language::Manners,
    launch::Launch,
    session::{Session, Shown, Stream},
};
use serde_json::json;

use super::{
    frames,
    hits::{self, Caller, Names, Seen as Looked},
    plan::Expression,
    rows::{Row, SHORT, pair, plain, short, within},
    said, tell,
    watch::{End, Seen},
};
use crate::{
    tool::{Answer, Reply},
    tools::debug::report,
};

/// Bytes of the message, and of all locals together.
const MESSAGE: usize = 400;
const LOCALS: usize = 300;
/// Where the line itself names some, the others have this room.
const OTHERS: usize = 120;
/// Bytes of one local.
const LOCAL: usize = 90;
/// An exception that is, or may be, the failure.
pub(super) struct Failed {
    /// `ValueError: too much`.
    what: String,
    who: Option<String>,
    /// `shop.py:12 in total`.
    at: String,
    source: Option<String>,
    callers: Vec<Caller>,
    values: Vec<Looked>,
    is_locals: bool,
    /// Nobody catches it but a runner of tests.
    pub(super) is_sure: bool,
}

/// Which exceptions are looked at: a runner of tests catches what its tests throw.
pub(super) fn exceptions(launch: &Launch, manners: Manners) -> Exceptions {
    let user_unhandled = manners.stops_at_user_unhandled && said::runs_tests(launch);
    Exceptions { user_unhandled, ..Exceptions::default() }
}

/// `TypeError: x is not a function`, the class once.
pub(super) async fn what(session: &Session, shown: &Shown) -> String {
    let thread = shown.stop.thread;
    let info = match session.backend(thread.target) {
        Ok(backend) => backend.exception(thread.thread).await.ok(),
        Err(_) => None,
    };
    let Some(info) = info else { return shown.stop.text.clone().unwrap_or_default() };
    // The debugger adds a note of its own where it stands outside of the frame that raised.
    let kind = info.kind.split_once(" (note: ").map_or(info.kind.as_str(), |(kind, _)| kind).trim();
    let kind = kind.strip_prefix("builtins.").unwrap_or(kind);
    // `AssertionError [ERR_ASSERTION]: 1 == 2`
    let message = info.message.strip_prefix(kind).map_or(&*info.message, |rest| {
        rest.split_once(": ")
            .filter(|(code, _)| code.starts_with(" ["))
            .map_or(&*info.message, |it| it.1)
    });
    if message.is_empty() { kind.to_owned() } else { format!("{kind}: {message}") }
}

/// `None` for one that a runner of tests provokes itself, outside of any test.
pub(super) async fn look(
    session: &Session,
    shown: &Shown,
    expressions: &[Expression],
    names: &mut Names,
) -> Option<Failed> {
    let thread = shown.stop.thread;
    let backend = session.backend(thread.target).ok();
    let frames = match &backend {
        Some(backend) => hits::whole(backend, shown).await,
        None => shown.stack.frames.clone(),
    };
    let runs_tests = session.launch().is_some_and(said::runs_tests);
    if runs_tests && !frames.iter().any(calls_tests) && frames.iter().any(is_runners) {
        return None;
    }
    let what = what(session, shown).await;
    let who = names.of(session, shown).await;
    // What a library throws is the business of whoever called it.
    let begin = frames.iter().position(|it| it.is_user).unwrap_or(0);
    let own = frames.get(begin..).unwrap_or_default();
    let values = match &backend {
        Some(backend) => hits::values(backend, own, expressions).await,
        None => Vec::new(),
    };
    let top = own.first();
    let at = top.map(|it| format!("{} in {}", report::spot(it, session), it.function));
    Some(Failed {
        what,
        who,
        at: at.unwrap_or_default(),
        source: top.and_then(hits::source),
        callers: own.iter().skip(1).map(|it| Caller::of(it, session)).collect(),
        values,
        is_locals: expressions.is_empty(),
        is_sure: is_sure(own, runs_tests),
    })
}

/// Whether the code that called the user's is nobody's, or a runner's.
fn is_sure(own: &[Frame], runs_tests: bool) -> bool {
    let around = own.iter().find(|it| !it.is_user);
    around.is_none_or(if runs_tests { calls_tests } else { is_runners })
}

fn is_runners(frame: &Frame) -> bool {
    let file = frame.file.as_ref().map(|it| it.display().to_string().replace('\\', "/"));
    file.is_some_and(|file| {
        adapter::runners().flat_map(|it| it.code).any(|part| file.contains(part))
    })
}

fn calls_tests(frame: &Frame) -> bool {
    adapter::runners().any(|it| it.callers.contains(&frame.function.as_str())) && is_runners(frame)
}

/// The one that made the run fail. A runner of tests has the last word: what it does not report, it expected.
///
/// Where none is sure to have been caught by nobody, and the run failed, it is the last one: what calls a program of
/// Rust is a library, too.
fn cause<'a>(
    failures: &'a [Failed],
    judged: Option<&(String, Option<String>)>,
    has_failed: bool,
) -> Option<&'a Failed> {
    let last = || failures.last().filter(|_| has_failed);
    let sure = || failures.iter().find(|it| it.is_sure).or_else(last);
    let Some((verdict, reason)) = judged else { return sure() };
    if !said::has_failed(verdict) {
        return None;
    }
    let is_it = |it: &&Failed| reason.as_deref().is_some_and(|reason| it.is_told_by(reason));
    failures.iter().find(is_it).or_else(sure)
}

impl Failed {
    /// Whether a runner's report is about it: the same place, or the same words.
    fn is_told_by(&self, reason: &str) -> bool {
        let place = self.at.split(" in ").next().unwrap_or_default();
        let line = self.what.lines().next().unwrap_or_default();
        let line = line.split_once(": ").map_or(line, |(_, message)| message);
        reason.split(' ').next() == Some(place) || (!line.is_empty() && reason.contains(line))
    }
}

pub(super) fn answer(session: &Session, seen: &Seen, budget: Budget) -> Result<Reply, Failure> {
    let judged = said::judged(session);
    let reason = judged.as_ref().and_then(|(_, reason)| reason.clone());
    let has_failed = match (&judged, &seen.end) {
        (Some(_), _) => reason.is_some(),
        (None, End::Exit(exit)) => !matches!(exit, holdpoint_engine::process::Exit::Code(0)),
        (None, _) => false,
    };
    let failed = cause(&seen.failures, judged.as_ref(), has_failed);
    if let (None, End::Late(patience)) = (failed, &seen.end) {
        let text =
            format!("no uncaught exception within {} s; it was ended", patience.as_secs_f64());
        return Err(Failure::new(Code::Timeout, text).hint("pass a larger `timeout_s`, or a place"));
    }
    let is_told = failed.is_some();
    let rows = failed.map(|it| rows(it, short(budget))).unwrap_or_default();
    let mut tail: Vec<String> = said::note(session).into_iter().collect();
    // What a library caught and wrote down may be what is looked for: multiprocessing does so in children.
    let wrote = || !session.output.since(0, Some(Stream::Stderr)).text.is_empty();
    if !is_told && judged.is_none() && (has_failed || wrote()) {
        tail.extend(said::line(session));
    }
    let last = match (&judged, is_told) {
        (Some((verdict, _)), true) => verdict.clone(),
        (None, true) => tell::over(session, &seen.end).trim_start_matches(" · ").to_owned(),
        (_, false) => {
            let word = if has_failed { "no exception was seen" } else { "no uncaught exception" };
            format!("{word}{}", tell::over(session, &seen.end))
        }
    };
    let text = within(&rows, tail, &last, budget);
    let exit = match &seen.end {
        End::Exit(exit) => Some(report::exit_json(*exit)),
        End::Done | End::Late(_) => None,
    };
    let data = json!({
        "reached": is_told || has_failed,
        "exception": failed.map(|it| budget::cut(&it.what, MESSAGE)).or(reason),
        "at": failed.map(|it| it.at.as_str()),
        "thread": failed.and_then(|it| it.who.as_deref()),
        "values": failed.map(|it| tell::values_json(&it.values)),
        "exit": exit,
        "ended": last,
        "session_id": session.id,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// The exception, its place with its callers, and the values, each as wide as `bytes` beside [`SHORT`].
fn rows(failed: &Failed, bytes: usize) -> Vec<Row> {
    let wider = bytes / SHORT;
    let who = failed.who.as_deref().map(|it| format!(" · {it}")).unwrap_or_default();
    let source = failed.source.as_deref().filter(|_| failed.is_locals);
    let source = source.map(|it| format!(": {}", budget::cut(it, 120)));
    let mut rows = vec![
        Row::head(plain(&failed.what, MESSAGE * wider)),
        Row::head(format!("at {}{who}{}", failed.at, source.unwrap_or_default())),
    ];
    let own = failed.callers.iter().filter(|it| it.is_user);
    let callers = frames::places(&failed.at, own);
    // Whoever asks for values of a caller names it.
    if !callers.is_empty() && failed.is_locals {
        rows.push(Row::head(budget::cut(&callers, MESSAGE)));
    }
    let text = |it: &Looked| {
        let (name, value) = it;
        pair(name, value.as_ref().map(|it| it.text.as_str()).map_err(String::as_str), LOCAL * wider)
    };
    if !failed.is_locals {
        let all = failed.values.iter().map(|(name, value)| {
            let value = value.as_ref().map(|it| it.text.as_str()).map_err(String::as_str);
            pair(name, value, MESSAGE * wider)
        });
        rows.push(Row::head(all.collect::<Vec<_>>().join(" · ")));
        return rows;
    }
    let mut values: Vec<&Looked> = failed.values.iter().collect();
    // What the line itself names tells the most.
    let is_named = |it: &Looked| failed.source.as_deref().is_some_and(|text| names(text, &it.0));
    values.sort_by_key(|it| (!is_named(it), is_object(it)));
    let (mut shown, mut left, mut room) = (Vec::new(), Vec::new(), LOCALS * wider);
    let has_named = values.first().is_some_and(|it| is_named(it));
    for value in values {
        let text = text(value);
        if has_named && !is_named(value) {
            room = room.min(OTHERS * wider);
        }
        if shown.is_empty() || text.len() <= room {
            room = room.saturating_sub(text.len() + 4);
            shown.push(text);
        } else {
            left.push(value.0.as_str());
        }
    }
    if !shown.is_empty() {
        rows.push(Row::head(format!("locals: {}", shown.join(" · "))));
    }
    if !left.is_empty() {
        let names = budget::cut(&left.join(", "), LOCALS);
        rows.push(Row::head(format!("more locals, by `expressions`: {names}")));
    }
    rows
}

/// `self`, and what shows nothing but its address.
fn is_object((name, value): &Looked) -> bool {
    matches!(name.as_str(), "self" | "this")
        || value.as_ref().is_ok_and(|it| it.text.contains(" at 0x"))
}

/// Whether a text has this word.
fn names(text: &str, name: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    text.split(|it| !is_word(it)).any(|it| it == name)
}
