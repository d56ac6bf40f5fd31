//! What pages have looked at, kept for a while: several pages, and one page ten times a second, ask a stopped program
//! once.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use holdpoint_engine::{
    backend::Slice,
    failure::Failure,
    ids::{Epoch, Seq, SessionId, TargetId, ThreadKey},
    inspect::{self, Locals, Source},
    limits,
    secrets::Secrets,
    session::{Session, Shown, Status},
};
use maud::Markup;

use super::{
    calls::CallAnswers, colours, recordings::RecordingAnswers, setup::LastLook,
    timeline::DrawnTimelines,
};

#[derive(Default)]
pub(crate) struct Desk {
    stops: Mutex<VecDeque<Arc<SeenStop>>>,
    texts: Mutex<VecDeque<(TextKey, Arc<SeenText>)>>,
    windows: Mutex<VecDeque<(WindowKey, Arc<SeenWindow>)>>,
    /// What the store said of calls and values.
    pub(super) calls: CallAnswers,
    /// What recordings said.
    pub(super) recordings: RecordingAnswers,
    /// Held while one is read on: whoever comes meanwhile finds it done.
    pub(super) timelines: tokio::sync::Mutex<DrawnTimelines>,
    pub(super) last_look: LastLook,
}

/// A frame of a stop, as it was looked at.
pub(super) struct SeenStop {
    session: SessionId,
    /// Another thread than the one that stopped.
    pub(super) thread: Option<ThreadKey>,
    frame: usize,
    /// How often something had been evaluated by then: it may have changed what was seen.
    evaluations: u64,
    pub(super) shown: Arc<Shown>,
    pub(super) locals: Result<Locals, Failure>,
    /// The variables of the stop before it, where that was in the same function.
    pub(super) before: Option<BTreeMap<String, String>>,
    /// Where that stop was: what changed since, this line changed.
    pub(super) from: Option<u32>,
    /// What the threads are called, where the program tells.
    pub(super) threads: BTreeMap<ThreadKey, String>,
}

/// A file as a program runs it.
pub(super) struct SeenText {
    pub(super) source: Source,
    pub(super) lines: usize,
    /// Of its text: the same text is coloured once.
    mark: u64,
}

/// Some lines of it.
pub(super) struct SeenWindow {
    pub(super) lines: Vec<Markup>,
    /// The numbers of those that hold a secret.
    pub(super) hides: BTreeSet<usize>,
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
    last: usize,
}

impl Desk {
    /// A frame of the stop that stands; while the program runs, what was last seen of it.
    pub(super) async fn stop(&self, session: &Arc<Session>, frame: usize) -> Option<Arc<SeenStop>> {
        let evaluations = session.evaluations();
        let seen = |seq: Option<Seq>| {
            let stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = stops
                .iter()
                .rev()
                .filter(|it| it.session == session.id && it.frame == frame && it.thread.is_none());
            let is_now =
                |it: &SeenStop, seq: Seq| it.shown.seq == seq && it.evaluations == evaluations;
            all.find(|it| seq.is_none_or(|seq| is_now(it, seq))).cloned()
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
        let from = before.as_ref().and_then(|_| stood(session, shown.seq));
        let threads = names(session).await;
        let (session, thread) = (session.id, None);
        let seen =
            SeenStop { session, thread, frame, evaluations, shown, locals, before, from, threads };
        Some(self.keep_stop(seen))
    }

    /// A frame of another thread, while the program stands.
    pub(super) async fn thread(
        &self,
        session: &Arc<Session>,
        thread: ThreadKey,
        frame: usize,
    ) -> Result<Arc<SeenStop>, Failure> {
        let (stopped, _) = session.stopped()?;
        let evaluations = session.evaluations();
        let is_it = |it: &&Arc<SeenStop>| {
            let of = (it.session, it.thread, it.frame, it.evaluations);
            of == (session.id, Some(thread), frame, evaluations) && it.shown.seq == stopped.seq
        };
        let kept = |all: &VecDeque<Arc<SeenStop>>| all.iter().find(is_it).cloned();
        if let Some(seen) = kept(&self.stops.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(seen);
        }
        let backend = session.backend(thread.target)?;
        let slice = Slice { start: 0, count: limits::STACK_FRAMES };
        let asked = tokio::time::timeout(limits::VALUES, backend.stack(thread.thread, slice));
        let stack = asked.await.unwrap_or_else(|_| Err(late()))?;
        let locals = match stack.frames.get(frame) {
            Some(at) => {
                let asked = inspect::locals(&backend, &at.id);
                tokio::time::timeout(limits::VALUES, asked).await.unwrap_or_else(|_| Err(late()))
            }
            None => Ok(Locals::new()),
        };
        let shown = Arc::new(stopped.of_thread(thread, stack));
        let threads = names(session).await;
        let (session, thread, before, from) = (session.id, Some(thread), None, None);
        let seen =
            SeenStop { session, thread, frame, evaluations, shown, locals, before, from, threads };
        Ok(self.keep_stop(seen))
    }

    /// What could not be read is asked for again.
    fn keep_stop(&self, seen: SeenStop) -> Arc<SeenStop> {
        let seen = Arc::new(seen);
        if seen.locals.is_ok() {
            keep(&self.stops, Arc::clone(&seen), limits::PAGE_STOPS);
        }
        seen
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

    /// A file that an app names, as it is now; none where it is no source that can be read here.
    pub(super) async fn file(&self, file: &Path) -> Option<Arc<SeenText>> {
        let path = file.to_owned();
        let text = tokio::task::spawn_blocking(move || inspect::read(&path)).await.ok()??;
        let (lines, mark) = (text.lines().count(), hash(&text));
        let source = Source { text: text.into(), edited: None };
        Some(Arc::new(SeenText { source, lines, mark }))
    }

    /// Lines of it with their colours, and without their secrets.
    pub(super) fn window(
        &self,
        secrets: &Secrets,
        file: &Path,
        text: &SeenText,
        (first, last): (usize, usize),
    ) -> Arc<SeenWindow> {
        let key = WindowKey { file: file.to_owned(), mark: text.mark, first, last };
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = windows.iter().find(|(of, _)| *of == key).map(|(_, lines)| Arc::clone(lines));
        drop(windows);
        if let Some(lines) = kept {
            return lines;
        }
        let window = Arc::new(SeenWindow::of(secrets, file, &text.source.text, first, last));
        keep(&self.windows, (key, Arc::clone(&window)), limits::PAGE_WINDOWS);
        window
    }
}

impl SeenWindow {
    fn of(secrets: &Secrets, file: &Path, text: &str, first: usize, last: usize) -> SeenWindow {
        let clean = colours::lines(file, text, first, last, |line| secrets.text(line));
        let raw = text.lines().enumerate().skip(first.saturating_sub(1)).take(clean.len());
        let hides = raw.filter(|(_, line)| matches!(secrets.text(line), Cow::Owned(_)));
        SeenWindow { lines: clean, hides: hides.map(|(at, _)| at + 1).collect() }
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

/// The threads' names, asked of each process once; what does not come in time has none.
async fn names(session: &Session) -> BTreeMap<ThreadKey, String> {
    let targets: BTreeSet<TargetId> =
        session.view().threads.iter().map(|it| it.key.target).collect();
    let mut names = BTreeMap::new();
    for target in targets {
        let Ok(backend) = session.backend(target) else { continue };
        let asked = tokio::time::timeout(limits::TITLE, backend.threads()).await;
        let told = asked.ok().and_then(Result::ok).unwrap_or_default();
        names.extend(told.into_iter().map(|it| (ThreadKey { target, thread: it.id }, it.name)));
    }
    names
}

/// The line of the stop before this one.
fn stood(session: &Session, seq: Seq) -> Option<u32> {
    let stops = session.stops();
    let before = stops.iter().rev().find(|it| it.seq < seq)?;
    before.frames.first().map(|it| it.line)
}

fn late() -> Failure {
    use holdpoint_engine::failure::Code;
    Failure::new(Code::Timeout, "its values do not come in time")
        .hint("reload the page to ask again")
}
