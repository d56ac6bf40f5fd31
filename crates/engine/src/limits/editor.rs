//! Bounds of programs that an editor debugs.

use std::time::Duration;

/// Bytes of `launch.json`.
pub const LAUNCH_FILE: u64 = 1024 * 1024;
/// How long the editor may take to end a program.
pub const EDITOR_STOP: Duration = Duration::from_secs(15);
/// How long the editor may take to list its sessions for somebody who asked for ours.
pub const EDITOR_SEEN: Duration = Duration::from_secs(2);
/// How often it is looked whether the editor is there, while it tells nothing.
pub const EDITOR_LOOK: Duration = Duration::from_secs(2);
/// How long a stop waits for its place, where the debugger does not say it at once.
pub const EDITOR_LOCATED: Duration = Duration::from_secs(2);
/// A move whose job has not failed in this time was taken: a refusal comes at once, a stop perhaps never.
pub const EDITOR_TAKEN: Duration = Duration::from_millis(500);
/// How soon a program is looked at that the public bridge does not tell about; it doubles while nothing happens.
pub const EDITOR_POLL: Duration = Duration::from_millis(300);
/// The longest of these: each look leaves a timer behind in the editor.
pub const EDITOR_POLL_MAX: Duration = Duration::from_secs(15);
/// The same while it stands: the person may step it.
pub const EDITOR_IDLE: Duration = Duration::from_secs(5);
