//! What pages have looked at, kept for a while: several pages, and one page ten times a second, ask a stopped program
//! once.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use holdpoint_engine::{
    failure::Failure,
    ids::{Epoch, Seq, SessionId, TargetId},
    inspect::{self, Locals, Source},
    limits,
    session::{Session, Shown, Status},
};
use maud::Markup;

use super::colours;

#[derive(Default)]
pub(crate) struct Desk {
    stops: Mutex<VecDeque<Arc<SeenStop>>>,
    texts: Mutex<VecDeque<(TextKey, Arc<SeenText>)>>,
    windows: Mutex<VecDeque<(WindowKey, Arc<Vec<Markup>>)>>,
}

/// A frame of a stop, as it was looked at.
pub(super) struct SeenStop {
    session: SessionId,
    frame: usize,
    pub(super) shown: Arc<Shown>,
    pub(super) locals: Result<Locals, Failure>,
    /// The variables of the stop before it, where that was in the same function.
    pub(super) before: Option<BTreeMap<String, String>>,
}

/// A file as a program runs it.
pub(super) struct SeenText {
    pub(super) source: Source,
    pub(super) lines: usize,
    /// Of its text: the same text is coloured once.
    mark: u64,
}

#[derive(PartialEq, Clone)]
struct TextKey {
    session: SessionId,
    file: PathBuf,
    newest: Epoch,
    status: Status,
    changed: Option<SystemTime>,
}

#[derive(PartialEq, Clone)]
struct WindowKey {
    file: PathBuf,
    mark: u64,
    first: usize,
}

impl Desk {
    /// A frame of the stop that stands; while the program runs, what was last seen of it.
    pub(super) async fn stop(&self, session: &Arc<Session>, frame: usize) -> Option<Arc<SeenStop>> {
        let seen = |seq: Option<Seq>| {
            let stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all =
                stops.iter().rev().filter(|it| it.session == session.id && it.frame == frame);
            all.find(|it| seq.is_none_or(|seq| it.shown.seq == seq)).cloned()
        };
        let Ok((shown, backend)) = session.stopped() else { return seen(None) };
        if let Some(seen) = seen(Some(shown.seq)) {
            return Some(seen);
        }
        let locals = match shown.stack.frames.get(frame) {
            Some(at) => {
                let asked = inspect::locals(&backend, &at.id);
                tokio::time::timeout(limits::VALUES, asked).await.unwrap_or_else(|_| Err(late()))
            }
            None => Ok(Locals::new()),
        };
        let before = match (&locals, shown.stack.frames.first()) {
            (Ok(locals), Some(top)) if frame == 0 => {
                changes(session, &shown, &top.function, locals)
            }
            _ => None,
        };
        let seen = Arc::new(SeenStop { session: session.id, frame, shown, locals, before });
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.push_back(Arc::clone(&seen));
        if stops.len() > limits::PAGE_STOPS {
            stops.pop_front();
        }
        Some(seen)
    }

    /// A file as a session runs it; none where it cannot be read as source.
    pub(super) async fn text(
        &self,
        session: &Arc<Session>,
        target: Option<TargetId>,
        file: &Path,
    ) -> Option<Arc<SeenText>> {
        let view = session.view();
        let key = TextKey {
            session: session.id,
            file: file.to_owned(),
            newest: view.newest,
            status: view.status,
            changed: std::fs::metadata(file).and_then(|it| it.modified()).ok(),
        };
        let kept = |all: &VecDeque<(TextKey, Arc<SeenText>)>| {
            all.iter().find(|(of, _)| *of == key).map(|(_, text)| Arc::clone(text))
        };
        if let Some(text) = kept(&self.texts.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Some(text);
        }
        let source = session.source(target, file).await?;
        let lines = source.text.lines().count();
        let text = Arc::new(SeenText { mark: hash(&source.text), lines, source });
        keep(&self.texts, (key, Arc::clone(&text)), limits::PAGE_TEXTS);
        Some(text)
    }

    /// Lines of it with their colours.
    pub(super) fn window(
        &self,
        file: &Path,
        text: &SeenText,
        first: usize,
        last: usize,
    ) -> Arc<Vec<Markup>> {
        let key = WindowKey { file: file.to_owned(), mark: text.mark, first };
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = windows.iter().find(|(of, _)| *of == key).map(|(_, lines)| Arc::clone(lines));
        drop(windows);
        if let Some(lines) = kept {
            return lines;
        }
        let lines = Arc::new(colours::lines(file, &text.source.text, first, last));
        keep(&self.windows, (key, Arc::clone(&lines)), limits::PAGE_WINDOWS);
        lines
    }
}

fn keep<T>(all: &Mutex<VecDeque<T>>, one: T, most: usize) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.push_back(one);
    if all.len() > most {
        all.pop_front();
    }
}

fn hash(text: &str) -> u64 {
    use std::hash::BuildHasher as _;
    foldhash::quality::FixedState::with_seed(7).hash_one(text)
}

fn changes(
    session: &Session,
    shown: &Shown,
    function: &str,
    locals: &Locals,
) -> Option<BTreeMap<String, String>> {
    session.remember(shown, locals);
    let now = locals.iter().map(|it| (it.name.clone(), it.value.text.clone())).collect();
    session.tell(shown.seq, function, now)
}

fn late() -> Failure {
    use holdpoint_engine::failure::Code;
    Failure::new(Code::Timeout, "its values do not come in time")
        .hint("reload the page to ask again")
}
