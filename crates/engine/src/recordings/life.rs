//! What a recording knows of a frame that a debugger holds: its life so far.

use super::Recordings;
use crate::limits;
pub use holdpoint_recording::StandingFrame;

/// The life so far of a frame that stands.
#[derive(Debug, Clone)]
pub struct FrameLife {
    /// `#22`.
    pub call: String,
    /// Its lines and what changed there, the last of them at least; nothing where it is at its first.
    pub text: String,
}

impl Recordings {
    /// Of the frame that stands there; nothing where it is not recorded, or the recording is too long to be read
    /// while somebody waits for a stop.
    pub async fn life(
        &self,
        id: &str,
        standing: StandingFrame,
        tokens: usize,
    ) -> Option<FrameLife> {
        let asked = self.ask(Some(id), move |opened| {
            let Some(call) = opened.recording.standing(&standing)? else { return Ok(None) };
            let told = opened.recording.frame(&super::FrameAsk { call, lines: None })?;
            // One that has only begun has no life yet.
            let is_news = told.rows.len() > 1 || told.rows.iter().any(|it| !it.changes.is_empty());
            let text = if is_news { told.tell_so_far(tokens) } else { String::new() };
            Ok(Some(FrameLife { call: call.to_string(), text }))
        });
        match tokio::time::timeout(limits::RECORDED_LIFE, asked).await {
            Ok(Ok(life)) => life,
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "the life of a frame cannot be read");
                None
            }
            Err(_) => None,
        }
    }
}
