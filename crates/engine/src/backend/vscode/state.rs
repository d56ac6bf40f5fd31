//! What is known of one program in the editor: its sessions, its threads by both numbers, where it stands.

use std::{
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use holdpoint_bridge::{Capabilities, Sides};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::{asked::Ask, points::Points};

pub(super) struct EditorState {
    pub(super) name: String,
    pub(super) is_started_here: bool,
    pub(super) sides: Sides,
    capabilities: Capabilities,
    moment: Mutex<Moment>,
    tree: Mutex<Tree>,
    points: Mutex<Points>,
    control: Mutex<EditorControl>,
    /// The editor is told who steers by one at a time.
    pub(super) telling: tokio::sync::Mutex<()>,
    /// Whether somebody chose here which exceptions stop.
    exceptions: AtomicBool,
    /// To whoever carries out moves and waits for what they come to; of the public bridge alone.
    pub(super) asks: Option<mpsc::Sender<Ask>>,
}

/// Where it stands.
#[derive(Debug, Default)]
pub(super) struct Moment {
    /// How many stops there were, and how often it went on: what was got before means nothing after.
    epoch: u64,
    /// Where it stood when it was last seen to stand.
    pub(super) at: Option<Standing>,
    /// What the next stop may be due to.
    pub(super) asked: Move,
}

/// Who steers, as our side has it.
#[derive(Debug, Default)]
pub(super) struct EditorControl {
    pub(super) is_persons: bool,
    /// Whether the next move is the person's.
    pub(super) mover_is_person: bool,
}

/// How it was before it was told to go on.
pub(super) struct Before {
    epoch: u64,
    at: Option<Standing>,
}

/// A place where it stood, as far as one can be told from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// The debugger's number of its top frame, which most count up from stop to stop.
    pub(super) frame: Option<i64>,
    pub(super) thread: i64,
}

/// What it was told to do last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    #[default]
    Run,
    Step,
    Pause,
}

/// The editor's sessions that are this program.
#[derive(Debug, Default)]
struct Tree {
    /// The root first, then as they came.
    sessions: Vec<String>,
    /// The place of each is its number here, less one.
    threads: Vec<Spot>,
}

/// A thread as the editor names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) session: String,
    pub(super) thread: i64,
}

impl EditorState {
    pub(super) fn new(
        name: String,
        is_started_here: bool,
        sides: Sides,
        capabilities: Capabilities,
        asks: Option<mpsc::Sender<Ask>>,
    ) -> EditorState {
        EditorState {
            name,
            is_started_here,
            sides,
            capabilities,
            moment: Mutex::default(),
            tree: Mutex::default(),
            asks,
            points: Mutex::default(),
            control: Mutex::default(),
            telling: tokio::sync::Mutex::default(),
            exceptions: AtomicBool::default(),
        }
    }

    /// Whether the other end announced it.
    pub(super) fn has(&self, capability: &str) -> bool {
        self.capabilities.has(capability)
    }

    pub(super) fn epoch(&self) -> u64 {
        self.moment().epoch
    }

    /// It is told to go on; what was before is needed where it refuses.
    pub(super) fn goes(&self, how: Move) -> Before {
        let mut moment = self.moment();
        let before = Before { epoch: moment.epoch, at: moment.at.take() };
        (moment.epoch, moment.asked) = (before.epoch + 1, how);
        before
    }

    pub(super) fn goes_to(&self, how: Move) {
        self.moment().asked = how;
    }

    /// It refused.
    pub(super) fn stays(&self, before: Before) {
        let mut moment = self.moment();
        (moment.epoch, moment.at) = (before.epoch, before.at);
    }

    /// It went on, whoever told it.
    pub(super) fn went(&self) {
        let mut moment = self.moment();
        moment.epoch += 1;
        moment.at = None;
    }

    /// It stands. What it was told is told no more.
    pub(super) fn stands(&self, at: Standing) -> Move {
        let mut moment = self.moment();
        moment.epoch += 1;
        moment.at = Some(at);
        std::mem::take(&mut moment.asked)
    }

    pub(super) fn moment(&self) -> MutexGuard<'_, Moment> {
        self.moment.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn points(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn control(&self) -> MutexGuard<'_, EditorControl> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn was_told_exceptions(&self) -> bool {
        self.exceptions.load(Ordering::Relaxed)
    }

    pub(super) fn tells_exceptions(&self) {
        self.exceptions.store(true, Ordering::Relaxed);
    }

    /// The editor's session, once it is there.
    pub(super) fn begins(&self, root: &str) {
        self.tree().sessions.insert(0, root.to_owned());
    }

    pub(super) fn root(&self) -> String {
        self.tree().sessions.first().cloned().unwrap_or_default()
    }

    pub(super) fn sessions(&self) -> Vec<String> {
        self.tree().sessions.clone()
    }

    /// The one that came last: where a root has no threads it is the one that runs the program.
    pub(super) fn newest_session(&self) -> String {
        self.tree().sessions.last().cloned().unwrap_or_default()
    }

    pub(super) fn is_member(&self, session: &str) -> bool {
        self.tree().sessions.iter().any(|it| it == session)
    }

    /// A child of one of them; whether it was not known.
    pub(super) fn joins(&self, session: &str, parent: Option<&str>) -> bool {
        let mut tree = self.tree();
        let is_child = parent.is_some_and(|it| tree.sessions.iter().any(|known| known == it));
        let is_new = !tree.sessions.iter().any(|it| it == session);
        if is_child && is_new {
            tree.sessions.push(session.to_owned());
        }
        is_child && is_new
    }

    /// The numbers here of the threads of a session that has ended; whether it was the root.
    pub(super) fn leaves(&self, session: &str) -> (Vec<i64>, bool) {
        let mut tree = self.tree();
        let is_root = tree.sessions.first().is_some_and(|it| it == session);
        tree.sessions.retain(|it| it != session);
        let numbered = (1..).zip(&tree.threads).filter(|(_, it)| it.session == session);
        (numbered.map(|(number, _)| number).collect(), is_root)
    }

    /// The root has ended, and with it all of them.
    pub(super) fn forget_all(&self) {
        self.tree().sessions.clear();
    }

    /// The number here of a thread there, of which 0 may be one.
    pub(super) fn local(&self, session: &str, thread: i64) -> i64 {
        let mut tree = self.tree();
        let spot = Spot { session: session.to_owned(), thread };
        let at = tree.threads.iter().position(|it| *it == spot).unwrap_or_else(|| {
            tree.threads.push(spot);
            tree.threads.len() - 1
        });
        i64::try_from(at).unwrap_or_default() + 1
    }

    pub(super) fn remote(&self, thread: i64) -> Spot {
        let tree = self.tree();
        let at = usize::try_from(thread - 1).ok();
        let known = at.and_then(|at| tree.threads.get(at)).cloned();
        known.unwrap_or_else(|| Spot {
            session: tree.sessions.last().cloned().unwrap_or_default(),
            thread,
        })
    }

    /// The parameters that name a thread.
    pub(super) fn of_thread(&self, thread: i64) -> Json {
        let Spot { session, thread } = self.remote(thread);
        json!({ "sessionId": session, "threadId": thread })
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_bridge::Machine;

    use super::*;

    fn state() -> EditorState {
        let sides = Sides { editor: Machine::Unix, ours: Machine::Unix };
        let state = EditorState::new("app".to_owned(), true, sides, Capabilities::default(), None);
        state.begins("root");
        state
    }

    #[test]
    fn threads_have_one_number_each_and_zero_is_one() {
        let state = state();
        assert!(state.joins("child", Some("root")));
        assert!(!state.joins("child", Some("root")));
        assert!(!state.joins("other", Some("somebody")));
        assert_eq!(state.local("child", 0), 1);
        assert_eq!(state.local("child", 7), 2);
        assert_eq!(state.local("child", 0), 1);
        assert_eq!(state.remote(1), Spot { session: "child".to_owned(), thread: 0 });
        assert_eq!(state.remote(9).session, "child", "the one that runs the program");
        assert_eq!(state.leaves("child"), (vec![1, 2], false));
        assert_eq!(state.leaves("root"), (vec![], true));
    }

    #[test]
    fn what_was_got_before_it_went_on_is_of_another_moment() {
        let state = state();
        let at = Standing { file: "/a".into(), line: 1, frame: None, thread: 1 };
        state.stands(at.clone());
        let (stood, before) = (state.epoch(), state.goes(Move::Step));
        assert_ne!(state.epoch(), stood);
        state.stays(before);
        assert_eq!(state.epoch(), stood, "it refused");
        state.goes(Move::Step);
        assert_eq!(state.stands(at.clone()), Move::Step);
        assert_eq!(state.stands(at), Move::Run, "it was told that once");
    }
}
