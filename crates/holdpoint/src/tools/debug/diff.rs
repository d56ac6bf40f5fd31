//! `debug_diff`: what changed between two snapshots or two stops: paths that are new, gone or different.

use std::{path::Path, sync::Arc};

use holdpoint_engine::{
    budget::{Budget, Lines},
    failure::{Code, Failure},
    ids::{Seq, SessionId},
    inspect::{self, Change, Diff as Differences, Snapshot, What},
    session::Session,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::Any,
};

pub(crate) struct Diff;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// A snapshot's label, a stop's `seq`, or `previous`.
    #[serde(default, deserialize_with = "side")]
    #[schemars(with = "Option<String>")]
    a: Option<Wanted>,
    /// The same, or `now`.
    #[serde(default, deserialize_with = "side")]
    #[schemars(with = "Option<String>")]
    b: Option<Wanted>,
    path: Option<String>,
}

impl Tool for Diff {
    const NAME: &'static str = "debug_diff";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What changed between two snapshots or stops; default: the \
        previous stop and now.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Diff";
    const LONG: bool = true;
    type Scope = Any;
    type Params = Params;

    async fn run(at: Any, params: Params, call: Call) -> Result<Reply, Failure> {
        let found = Sides { app: at.app, session: at.id };
        let (a, b) = found.both(params.a, params.b).await?;
        let diff = inspect::diff(&a, &b, params.path.as_deref());
        render(&found, (&a, &b), &diff, call.budget)
    }
}

/// One side, as it was asked for.
enum Wanted {
    Now,
    Previous,
    Stop(Seq),
    Named(String),
}

/// A seq is a number to some and text to others.
fn side<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Wanted>, D::Error> {
    let given = Value::deserialize(deserializer)?;
    let text = match (&given, given.as_u64()) {
        (Value::String(text), _) => text.trim(),
        (_, Some(seq)) => return Ok(Some(Wanted::Stop(Seq(seq)))),
        _ => return Err(serde::de::Error::custom("expected a label, a seq, `now` or `previous`")),
    };
    Ok(Some(match (text, text.parse()) {
        ("now", _) => Wanted::Now,
        ("previous", _) => Wanted::Previous,
        (_, Ok(seq)) => Wanted::Stop(Seq(seq)),
        (name, Err(_)) => Wanted::Named(name.to_owned()),
    }))
}

struct Sides {
    app: App,
    /// The session that was named.
    session: Option<String>,
}

impl Sides {
    /// What stands is looked at as deep as the other side was.
    async fn both(
        &self,
        a: Option<Wanted>,
        b: Option<Wanted>,
    ) -> Result<(Arc<Snapshot>, Arc<Snapshot>), Failure> {
        let (a, b) = (a.unwrap_or(Wanted::Previous), b.unwrap_or(Wanted::Now));
        let (known_a, known_b) = (self.known(&a)?, self.known(&b)?);
        let b = match known_b {
            Some(b) => b,
            None => match b {
                Wanted::Now | Wanted::Stop(_) | Wanted::Named(_) => {
                    self.now(known_a.as_deref()).await?
                }
                Wanted::Previous => self.previous(known_a.as_deref())?,
            },
        };
        let a = match known_a {
            Some(a) => a,
            None => match a {
                Wanted::Now => self.now(Some(&b)).await?,
                Wanted::Previous | Wanted::Stop(_) | Wanted::Named(_) => self.previous(Some(&b))?,
            },
        };
        Ok((a, b))
    }

    /// One that is kept; none for what depends on the other side.
    fn known(&self, wanted: &Wanted) -> Result<Option<Arc<Snapshot>>, Failure> {
        match wanted {
            Wanted::Now | Wanted::Previous => Ok(None),
            Wanted::Stop(seq) => {
                let stops = self.stops();
                let found = stops.iter().find(|stop| stop.seq == *seq).cloned();
                found.map(Some).ok_or_else(|| {
                    Failure::new(Code::NotFound, format!("no stop with seq {seq} is remembered"))
                        .hint(self.choices())
                })
            }
            Wanted::Named(name) => {
                self.app.engine.snapshots.find(name).map(Some).ok_or_else(|| {
                    Failure::new(Code::NotFound, format!("no snapshot `{name}`"))
                        .hint(self.choices())
                })
            }
        }
    }

    async fn now(&self, other: Option<&Snapshot>) -> Result<Arc<Snapshot>, Failure> {
        let session = self.session(other)?;
        let (shown, backend) = session.stopped()?;
        let depth = other.map_or(0, |other| other.depth);
        let name = "now".to_owned();
        Ok(Arc::new(Snapshot::take(shown.standing(session.id), &backend, name, depth).await?))
    }

    /// The stop before another one, of the same session.
    fn previous(&self, other: Option<&Snapshot>) -> Result<Arc<Snapshot>, Failure> {
        let session = self.session(other)?;
        let before = other.map_or(Seq(u64::MAX), |other| other.seq);
        let stops = session.stops();
        stops.iter().rev().find(|stop| stop.seq < before).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "there is no earlier stop to compare with").hint(
                "`debug_snapshot` now, let the program run on, then `debug_diff` with its label",
            )
        })
    }

    fn session(&self, other: Option<&Snapshot>) -> Result<Arc<Session>, Failure> {
        let other = other.map(|other| other.session.to_string());
        let sessions = &self.app.engine.sessions;
        match (&self.session, other) {
            (Some(named), _) => sessions.find(Some(named)),
            // Another run of the program may stand now: that is what is meant then.
            (None, other) => match sessions.find(None) {
                Ok(only) => Ok(only),
                Err(failure) => other.map_or(Err(failure), |id| sessions.find(Some(&id))),
            },
        }
    }

    fn stops(&self) -> Vec<Arc<Snapshot>> {
        let sessions = self.app.engine.sessions.all();
        sessions.iter().flat_map(|session| session.stops()).collect()
    }

    fn of(&self, id: SessionId) -> Option<Arc<Session>> {
        self.app.engine.sessions.all().into_iter().find(|session| session.id == id)
    }

    /// What could be named, for whoever named something else.
    fn choices(&self) -> String {
        let snapshots = self.app.engine.snapshots.all();
        let named = snapshots
            .iter()
            .rev()
            .take(8)
            .map(|it| format!("`{}`", it.label.as_deref().unwrap_or(&it.name)));
        let stops = self.stops();
        let stops = stops.iter().rev().take(8).map(|stop| {
            let place = stop.frames.first().map(|top| format!(" ({}:{})", top.function, top.line));
            format!("{}{}", stop.seq, place.unwrap_or_default())
        });
        let (named, stops) =
            (named.collect::<Vec<_>>().join(", "), stops.collect::<Vec<_>>().join(", "));
        match (named.is_empty(), stops.is_empty()) {
            (true, true) => "`debug_snapshot` keeps one at a stop".to_owned(),
            (true, false) => format!("stops by seq: {stops}; `debug_snapshot` keeps one"),
            (false, true) => format!("snapshots: {named}"),
            (false, false) => format!("snapshots: {named}; stops by seq: {stops}"),
        }
    }
}

/// ``snap1 `before` (s1, add at cart.py:12, seq 14)``
pub(super) fn title(it: &Snapshot, cwd: &Path) -> String {
    let label = it.label.as_deref().map(|label| format!(" `{label}`")).unwrap_or_default();
    let place = it.frames.first().map(|top| {
        let file = top.file.as_deref().map(|file| inspect::place(Path::new(file), cwd));
        format!(", {} at {}:{}", top.function, file.unwrap_or_default(), top.line)
    });
    format!("{}{label} ({}{}, seq {})", it.name, it.session, place.unwrap_or_default(), it.seq)
}

fn render(
    found: &Sides,
    (a, b): (&Snapshot, &Snapshot),
    diff: &Differences,
    budget: Budget,
) -> Result<Reply, Failure> {
    let mut lines = Lines::within(budget);
    let titled = |it: &Snapshot| {
        let session = found.of(it.session);
        title(it, session.as_ref().map_or(Path::new(""), |session| session.cwd()))
    };
    lines.always(&format!("{} → {}", titled(a), titled(b)));
    for (what, functions) in [("left", &diff.left), ("entered", &diff.entered)] {
        if !functions.is_empty() {
            lines.always(&format!("{what}: {}", functions.join(", ")));
        }
    }
    let mut rows = Rows::default();
    for change in &diff.changes {
        if !rows.fit(change, budget) || !lines.push(&format!("  {}", line(change))) {
            break;
        }
        rows.push(change);
    }
    let more = diff.changes.len() - rows.count;
    if diff.changes.is_empty() {
        lines.always(&format!("no differences in {} values", diff.same));
    } else if more > 0 {
        lines.always(&format!("  … {more} more: pass `path`, or a larger `budget_tokens`"));
    }
    for (it, why) in [a, b].iter().filter_map(|it| it.cut.map(|why| (it, why))) {
        lines.always(&format!("{} does not have everything: {why}", it.name));
    }
    let side = |it: &Snapshot| json!({ "name": it.name, "label": it.label, "session_id": it.session, "seq": it.seq });
    let Rows { added, removed, changed, .. } = rows;
    let data = json!({
        "a": side(a), "b": side(b),
        "added": added, "removed": removed, "changed": changed,
        "more": more, "unchanged": diff.same, "left": diff.left, "entered": diff.entered,
    });
    Ok(Answer::json(lines.into_text(), data).into())
}

/// The changes as data, within the budget.
#[derive(Default)]
struct Rows {
    added: Vec<Value>,
    removed: Vec<Value>,
    changed: Vec<Value>,
    count: usize,
    bytes: usize,
}

impl Rows {
    /// Short values cost more as data than as text.
    fn fit(&mut self, change: &Change, budget: Budget) -> bool {
        self.bytes += row(change).to_string().len();
        self.count == 0 || self.bytes <= 2 * budget.bytes()
    }

    fn push(&mut self, change: &Change) {
        let rows = match change.what {
            What::Added { .. } => &mut self.added,
            What::Removed { .. } => &mut self.removed,
            What::Changed { .. } => &mut self.changed,
        };
        rows.push(row(change));
        self.count += 1;
    }
}

fn row(Change { frame, path, what }: &Change) -> Value {
    match what {
        What::Added { kind, value } | What::Removed { kind, value } => {
            json!({ "path": path, "frame": frame, "type": kind, "value": value })
        }
        What::Changed { kind, old, new } => {
            json!({ "path": path, "frame": frame, "type": kind, "old": old, "new": new })
        }
    }
}

/// `~ total: 3 → 5`, `+ items[2]: int = 7`, `- tmp = x`; of an outer frame `~ main: n: 1 → 2`.
fn line(Change { frame, path, what }: &Change) -> String {
    let frame = frame.as_deref().map(|frame| format!("{frame}: ")).unwrap_or_default();
    let typed =
        |kind: &Option<String>| kind.as_deref().map(|kind| format!(": {kind}")).unwrap_or_default();
    let flat = |text: &str| text.replace('\n', "⏎").replace('\r', "");
    match what {
        What::Added { kind, value } => {
            format!("+ {frame}{path}{} = {}", typed(kind), flat(value))
        }
        What::Removed { kind, value } => {
            format!("- {frame}{path}{} = {}", typed(kind), flat(value))
        }
        What::Changed { old, new, .. } => {
            format!("~ {frame}{path}: {} → {}", flat(old), flat(new))
        }
    }
}
