//! A session whose program has a recorder inside: what that has seen of the frame that stands.

use std::sync::Arc;

use super::{Session, Shown};
use crate::{
    limits,
    recordings::{FrameLife, Recordings, StandingFrame},
};

/// Where it is written.
pub(super) struct RecordedSession {
    id: String,
    recordings: Arc<Recordings>,
}

impl Session {
    /// From now on its stops can be asked what came before them.
    pub(crate) fn recorded_by(&self, recordings: Arc<Recordings>, id: &str) {
        self.recorded.get_or_init(|| RecordedSession { id: id.to_owned(), recordings });
    }

    /// The recording of its program.
    pub fn recording(&self) -> Option<&str> {
        self.recorded.get().map(|it| it.id.as_str())
    }

    /// The life so far of the frame that stands on top; nothing where it is not recorded.
    pub async fn life(&self, shown: &Shown) -> Option<FrameLife> {
        let RecordedSession { id, recordings } = self.recorded.get()?;
        let top = shown.stack.frames.first()?;
        let standing = StandingFrame {
            pid: self.process(shown.stop.thread.target).and_then(|it| it.pid),
            file: top.file.as_ref()?.display().to_string(),
            function: top.function.clone(),
            line: top.line,
            thread: shown.thread.clone(),
        };
        recordings.life(id, standing, limits::RECORDED_LIFE_TOKENS).await
    }
}
