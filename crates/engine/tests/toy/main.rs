//! A dry run of "add a language" (CONTRIBUTING.md): a toy language with a debug server of its own, in
//! `adapter.rs`, mounted by one line. Its program is launched, stopped, looked at and ended as any other.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

mod adapter;

use std::{path::PathBuf, sync::Arc, time::Duration};

use holdpoint_engine::{
    adapter::Adapter,
    backend::{Exceptions, Slice, Step},
    breakpoints::{Asked, Place, Trace},
    ids::Epoch,
    inspect,
    launch::Launch,
    log::Log,
    process::Exit,
    session::{Outcome, Session, Shown, Stream},
    sessions::Sessions,
};
use tokio::sync::mpsc;

/// The one line.
const LANGUAGES: &[&dyn Adapter] = &[&adapter::Toy];

const PROGRAM: &str = "; adds up\nn = 1\nn = n + 2\nprint n\nn = n * 10\nprint n\nexit 3\n";

/// A file of this folder and not one that the test writes: a file that a child of another test, forked in that
/// moment, holds open for writing cannot be run.
const GUARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/toy/guard.sh");

struct Stage {
    _folder: tempfile::TempDir,
    file: PathBuf,
    sessions: Sessions,
}

impl Stage {
    fn new() -> Stage {
        holdpoint_engine::adapter::mount(LANGUAGES);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sum.toy");
        std::fs::write(&file, PROGRAM).unwrap();
        let home = folder.path().join("home");
        let sessions = Sessions::new(Arc::new(Log::default()), GUARD.into(), home);
        Stage { _folder: folder, file, sessions }
    }

    fn set(&self, line: u32, asked: impl Fn(Asked) -> Asked) {
        let place = Place::Line { file: self.file.clone(), line, column: None };
        self.sessions.breakpoints.add(asked(Asked::at(place))).unwrap();
    }

    async fn launch(&self, stop_on_entry: bool) -> Arc<Session> {
        let cwd = self.file.parent().unwrap().to_owned();
        let program = Some(self.file.clone());
        let launch = Launch { program, cwd, stop_on_entry, ..Launch::default() };
        let (progress, _told) = mpsc::channel(8);
        self.sessions.launch(launch, progress).await.unwrap_or_else(|it| panic!("{it:?}"))
    }
}

async fn stop(session: &Session, after: Epoch) -> Arc<Shown> {
    match session.wait(after, Duration::from_secs(20)).await {
        Outcome::Stopped(shown) => shown,
        other => panic!("{other:?}"),
    }
}

async fn names(session: &Session, shown: &Shown) -> Vec<String> {
    let backend = session.backend(shown.stop.thread.target).unwrap();
    let locals = inspect::locals(&backend, &shown.stack.frames[0].id).await.unwrap();
    locals.iter().map(|it| format!("{} = {}", it.name, it.value.text)).collect()
}

fn written(session: &Session, stream: Stream) -> String {
    session.output.since(0, Some(stream)).text
}

#[tokio::test]
async fn a_program_is_launched_stopped_looked_at_and_ends_with_its_exit_code() {
    let stage = Stage::new();
    stage.set(3, |it| it);
    let session = stage.launch(false).await;
    assert_eq!(session.language, "toy");
    let shown = stop(&session, Epoch::default()).await;
    let top = &shown.stack.frames[0];
    assert_eq!((top.file.as_ref(), top.line, top.is_user), (Some(&stage.file), 3, true));
    assert_eq!(shown.hits.len(), 1, "{:?}", shown.hits);
    assert_eq!(names(&session, &shown).await, ["n = 1"]);
    let (backend, frame) = (session.stopped().unwrap().1, top.id.clone());
    let value = backend.evaluate(Some(&frame), "n + 41", Duration::from_secs(5)).await.unwrap();
    assert_eq!(value.text, "42");
    session.step(None, Step::Over).await.unwrap();
    let shown = stop(&session, shown.stop.epoch).await;
    assert_eq!((shown.stack.frames[0].line, shown.stop.reason.as_str()), (4, "step"));
    assert_eq!(names(&session, &shown).await, ["n = 3"]);
    session.resume().await.unwrap();
    assert_eq!(session.ended().await, Exit::Code(3));
    assert_eq!(written(&session, Stream::Stdout), "3\n30\n");
    assert_eq!(written(&session, Stream::Debugger), "toy server: ready\n");
}

#[tokio::test]
async fn what_its_debugger_cannot_do_is_done_for_it() {
    let stage = Stage::new();
    stage.set(5, |it| Asked { condition: Some("n > 3".to_owned()), ..it });
    stage.set(6, |it| Asked { condition: Some("n == 30".to_owned()), ..it });
    let trace = Trace::new(Some("n is {n}".to_owned()), 0, 0).unwrap();
    stage.set(4, |it| Asked { trace: Some(trace.clone()), ..it });
    let session = stage.launch(false).await;
    let shown = stop(&session, Epoch::default()).await;
    assert_eq!(shown.stack.frames[0].line, 6);
    assert_eq!(session.passes()[0].reported, 1);
    let (backend, thread) = (session.stopped().unwrap().1, shown.stop.thread.thread);
    let refused = backend.set_exceptions(&Exceptions::default()).await.unwrap_err();
    assert!(refused.message.contains("has no stop at exceptions that are uncaught"), "{refused:?}");
    let all = backend.stack(thread, Slice { start: 0, count: 5 }).await.unwrap();
    assert_eq!(all.frames.len(), 1);
    session.resume().await.unwrap();
    assert_eq!(session.ended().await, Exit::Code(3));
}

#[tokio::test]
async fn it_stops_at_its_entry_and_is_ended_with_its_server() {
    let stage = Stage::new();
    let session = stage.launch(true).await;
    let shown = stop(&session, Epoch::default()).await;
    assert_eq!((shown.stack.frames[0].line, shown.stop.reason.as_str()), (2, "entry"));
    assert_eq!(session.stop().await, Exit::Signal(15));
    assert_eq!(written(&session, Stream::Stdout), "");
}

/// What was asked for before it goes on is there, however long its debugger takes; what waits for its turn is
/// sent once.
#[tokio::test]
async fn it_does_not_run_past_what_is_being_set() {
    let stage = Stage::new();
    std::fs::write(&stage.file, PROGRAM.replace("adds up", "slow")).unwrap();
    let session = stage.launch(true).await;
    let shown = stop(&session, Epoch::default()).await;
    let setting: Vec<_> = [3, 4, 5, 6]
        .map(|line| {
            stage.set(line, |it| it);
            let (session, file) = (Arc::clone(&session), stage.file.clone());
            let breakpoints = Arc::clone(&stage.sessions.breakpoints);
            tokio::spawn(async move {
                let place = Place::Line { file, line, column: None };
                session.sync_breakpoints(&breakpoints, &place).await
            })
        })
        .into();
    // All of them are asked for, and the first one is on its way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut epoch = shown.stop.epoch;
    for line in [3, 4, 5, 6] {
        session.resume().await.unwrap();
        let shown = stop(&session, epoch).await;
        assert_eq!(shown.stack.frames[0].line, line);
        epoch = shown.stop.epoch;
    }
    for set in setting {
        let bound = set.await.unwrap().remove(0).unwrap();
        assert_eq!(bound.len(), 4, "{bound:?}");
    }
}

/// Its sources are read as it says.
#[test]
fn its_comments_and_endings_are_known() {
    let stage = Stage::new();
    assert_eq!(holdpoint_engine::adapter::language_of(&stage.file), Some("toy"));
    let text = inspect::source_text(&stage.file, PROGRAM.as_bytes());
    assert_eq!(text.code_at(1), Err(Some(2)));
}
