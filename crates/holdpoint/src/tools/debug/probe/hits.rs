//! One stop, looked at: where, by whom it was called, and the values that were asked for.

use std::{collections::BTreeMap, time::Duration};

use holdpoint_engine::{
    backend::{Backend, Frame, Slice, Value},
    breakpoints::gather,
    budget,
    ids::{TargetId, ThreadKey},
    inspect,
    session::{Session, Shown},
};

use super::{
    plan::{Expression, Planned},
    trial::Tried,
};
use crate::tools::debug::report;

/// How long one expression may take.
const EVALUATE: Duration = Duration::from_secs(5);
/// Frames of a stack that are looked at.
const FRAMES: usize = 200;

/// An expression with its value, or why it has none.
pub(super) type Seen = (String, Result<Value, String>);

/// A stop at one of the places.
pub(super) struct Hit {
    /// Which of the plan's places.
    pub(super) at: usize,
    pub(super) number: u64,
    /// The thread or process, where it is not the program's main one.
    pub(super) who: Option<String>,
    pub(super) function: String,
    /// `shop.py:12`.
    pub(super) spot: String,
    pub(super) line: u32,
    pub(super) source: Option<String>,
    /// The callers, nearest first; only of the first hit of a place.
    pub(super) callers: Vec<Caller>,
    /// Frames above those.
    pub(super) more_callers: usize,
    pub(super) values: Vec<Seen>,
    /// Whether the values are the locals, since no expressions were given.
    pub(super) is_locals: bool,
    /// What came of what was tried there.
    pub(super) tried: Option<Tried>,
}

pub(super) struct Caller {
    pub(super) function: String,
    /// `shop.py:24`.
    pub(super) spot: String,
    pub(super) is_user: bool,
}

/// Threads by their names, each asked for once.
#[derive(Default)]
pub(super) struct Names(BTreeMap<ThreadKey, Option<String>>);

impl Names {
    /// The thread that stopped.
    pub(super) async fn of(&mut self, session: &Session, shown: &Shown) -> Option<String> {
        let key = shown.stop.thread;
        if let Some(known) = self.0.get(&key) {
            return known.clone();
        }
        let name = session.thread_name(key).await;
        let name = name.filter(|it| !matches!(it.as_str(), "MainThread" | "main"));
        // A process of one thread is known by its own name.
        let name = name.filter(|it| !it.starts_with("process "));
        session.learn_title(key.target).await;
        let who = gather::who(key.target, name.as_deref()).map(|it| called(session, &it));
        let top = shown.stack.frames.first();
        let who = match (who, session.backend(key.target), top) {
            (Some(who), Ok(backend), Some(top)) if key.target != TargetId::MAIN => {
                Some(format!("{who}{}", arguments(&backend, top).await))
            }
            (who, ..) => who,
        };
        self.0.insert(key, who.clone());
        who
    }
}

/// What tells one child of Node's from another that runs the same file.
async fn arguments(backend: &Backend, top: &Frame) -> String {
    if !matches!(backend, Backend::Cdp(_)) {
        return String::new();
    }
    let asked = backend.evaluate(Some(&top.id), "process.argv.slice(2).join(' ')", EVALUATE).await;
    let text = asked.ok().and_then(|it| serde_json::from_str::<String>(&it.text).ok());
    let text = text.filter(|it| !it.is_empty()).map(|it| format!(" {}", budget::cut(&it, 60)));
    text.unwrap_or_default()
}

/// `process 3` by the name that those who wrote the program gave it, where that is known.
pub(super) fn called(session: &Session, who: &str) -> String {
    let Some(rest) = who.strip_prefix("process ") else { return who.to_owned() };
    let (number, thread) = rest.split_once(' ').map_or((rest, ""), |(it, thread)| (it, thread));
    let process = number.parse().ok().and_then(|it| session.process(TargetId(it)));
    let title = process.and_then(|it| it.title).filter(|it| !it.is_empty());
    let Some(title) = title else { return who.to_owned() };
    if thread.is_empty() || thread == title { title } else { format!("{title} {thread}") }
}

/// Looks at a stop; `is_first` asks for its callers too.
pub(super) async fn look(
    session: &Session,
    shown: &Shown,
    (at, planned): (usize, &Planned),
    number: u64,
    names: &mut Names,
) -> Hit {
    let thread = shown.stop.thread;
    let who = names.of(session, shown).await;
    let backend = session.backend(thread.target).ok();
    let top = shown.stack.frames.first();
    let is_first = number == 1 || matches!(planned.want, super::plan::Want::Nth(_));
    let needs_stack = is_first || planned.expressions.iter().any(|it| it.frame.is_some());
    let frames = match &backend {
        Some(backend) if needs_stack => whole(backend, shown).await,
        _ => shown.stack.frames.clone(),
    };
    let values = match &backend {
        Some(backend) => values(backend, &frames, &planned.expressions).await,
        None => Vec::new(),
    };
    let total = shown.stack.total.unwrap_or(0).max(frames.len());
    let callers = frames.iter().skip(1).filter(|_| is_first);
    Hit {
        at,
        number,
        who,
        function: top.map(|it| it.function.clone()).unwrap_or_default(),
        spot: top.map(|it| report::spot(it, session)).unwrap_or_default(),
        line: top.map(|it| it.line).unwrap_or_default(),
        source: top.and_then(source),
        callers: callers.map(|it| Caller::of(it, session)).collect(),
        more_callers: if is_first { total - frames.len() } else { 0 },
        values,
        is_locals: planned.expressions.is_empty(),
        tried: None,
    }
}

impl Caller {
    pub(super) fn of(frame: &Frame, session: &Session) -> Caller {
        let spot = report::spot(frame, session);
        Caller { function: frame.function.clone(), spot, is_user: frame.is_user }
    }
}

/// The expressions in the first of the frames, or its locals.
pub(super) async fn values(
    backend: &Backend,
    frames: &[Frame],
    expressions: &[Expression],
) -> Vec<Seen> {
    if expressions.is_empty() {
        return match frames.first() {
            Some(top) => locals(backend, top).await,
            None => Vec::new(),
        };
    }
    let mut values = Vec::new();
    for expression in expressions {
        let value = evaluate(backend, frames, expression).await;
        values.push((expression.text.clone(), value));
    }
    values
}

/// What a stop shows are the first frames.
pub(super) async fn whole(backend: &Backend, shown: &Shown) -> Vec<Frame> {
    let first = &shown.stack.frames;
    if shown.stack.total.is_some_and(|total| total <= first.len()) {
        return first.clone();
    }
    let slice = Slice { start: 0, count: FRAMES };
    match backend.stack(shown.stop.thread.thread, slice).await {
        Ok(stack) => stack.frames,
        Err(_) => first.clone(),
    }
}

/// An expression in its frame.
pub(super) async fn evaluate(
    backend: &Backend,
    frames: &[Frame],
    expression: &Expression,
) -> Result<Value, String> {
    let (frame, text) = match &expression.frame {
        None => (frames.first(), &expression.text),
        Some((name, inner)) => {
            let found = frames.iter().find(|it| is_named(it, name));
            let names = || {
                let all: Vec<&str> = frames.iter().take(8).map(|it| it.function.as_str()).collect();
                format!("no frame of `{name}`; there are {}", all.join(", "))
            };
            (Some(found.ok_or_else(names)?), inner)
        }
    };
    let frame = frame.map(|it| &it.id);
    backend.evaluate(frame, text, EVALUATE).await.map_err(|failure| failure.message.to_string())
}

/// `total` and `Cart.total` are both `Cart.total`, as far as the runtime says.
fn is_named(frame: &Frame, name: &str) -> bool {
    let last = |it: &str| it.rsplit('.').next().unwrap_or_default().to_owned();
    if frame.function.contains('.') && name.contains('.') {
        return format!(".{}", frame.function).ends_with(&format!(".{name}"));
    }
    last(&frame.function) == last(name)
}

async fn locals(backend: &Backend, top: &Frame) -> Vec<Seen> {
    let all = inspect::locals(backend, &top.id).await.unwrap_or_default();
    all.into_iter().map(|it| (it.name, Ok(it.value))).collect()
}

/// The text of the line.
pub(super) fn source(top: &Frame) -> Option<String> {
    let view = inspect::snippet(top.file.as_deref()?, top.line, top.line, None)?;
    let text = view.text.split_once(" | ").map(|(_, text)| text.trim().to_owned())?;
    Some(text).filter(|it| !it.is_empty())
}
