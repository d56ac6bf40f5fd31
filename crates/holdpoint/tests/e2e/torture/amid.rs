//! Requests that are under way while somebody dies: whatever comes of them, they are answered in time.

use serde_json::{Value, json};

use super::{
    client::Asked,
    counts::{Failed, Victim, Wrong, wrong},
    model::{Now, Point},
    server::kill,
    walk::{LATE, Walk},
};

/// Where a breakpoint is set meanwhile.
const SET: &str = "say";

/// What else a call may fail with whose program dies under it.
const DYING: &[&str] = &[
    "E_ADAPTER_FAILED",
    "E_LAUNCH_FAILED",
    "E_ATTACH_FAILED",
    "E_EVALUATE_FAILED",
    "E_TIMEOUT",
    "E_SHUTTING_DOWN",
    "E_CANCELLED",
];

impl Walk<'_, '_> {
    /// Something that takes a moment, not yet answered.
    pub(super) fn amid(&mut self) -> Option<Asked> {
        let round = self.round;
        if round.chance(30) {
            return None;
        }
        let id = json!(self.model.id);
        let stopped: &[(&str, Value)] = &[
            ("debug_continue", json!({ "session_id": id, "timeout_s": 2 })),
            ("debug_step", json!({ "session_id": id, "timeout_s": 2 })),
            (
                "debug_evaluate",
                json!({ "session_id": id, "expression": self.long(), "timeout_s": 1 }),
            ),
            ("debug_stack", json!({ "session_id": id })),
            ("debug_variables", json!({ "session_id": id })),
        ];
        let running: &[(&str, Value)] = &[
            ("debug_wait", json!({ "session_id": id, "timeout_s": 2 })),
            ("debug_pause", json!({ "session_id": id, "timeout_s": 2 })),
            ("debug_output", json!({ "session_id": id })),
            ("breakpoint_set", json!({ "file": self.model.file, "line": self.model.line(SET) })),
        ];
        let all = if matches!(self.model.now, Now::Stopped(_)) { stopped } else { running };
        let (tool, arguments) = &all[round.pick(all.len())];
        let asked = self.client().ask(round, tool, arguments.clone());
        round.linger(30);
        Some(asked)
    }

    fn long(&self) -> &'static str {
        if self.model.program.language.is_some() {
            "40 + 2"
        } else if self.model.program.is_python() {
            "time.sleep(0.2)"
        } else {
            "for (let i = 0; i < 1e8; i++) ;"
        }
    }

    /// Whatever came of it, it was answered in time.
    pub(super) fn answered(&mut self, asked: Option<Asked>) -> Result<(), Failed> {
        let Some(asked) = asked else { return Ok(()) };
        let Some(said) = asked.take(self.round)? else {
            return wrong(Wrong::Crash, "the connection ended");
        };
        let is_fine = said.is_ok() || said.failed_with(LATE) || said.failed_with(DYING);
        self.round.check(is_fine, || said.text.clone())?;
        if let Some(id) = said.data["breakpoint_id"].as_u64() {
            self.model.points.retain(|it| it.id != id);
            self.model.points.push(Point { id, mark: SET, is_choosy: false });
        }
        Ok(())
    }

    /// Somebody dies while the program is being started.
    pub(super) fn killed_in_launch(mut self) -> Result<(), Failed> {
        let arguments = self.launch_arguments();
        let round = self.round;
        let asked = self.client().ask(round, "debug_launch", arguments);
        round.linger(500);
        let (guard, program) = self.server.newest();
        match (round.pick(4), guard, program) {
            (0, Some(guard), _) => {
                round.kills(Victim::Guard);
                kill(guard.pid);
            }
            (1, _, Some(program)) => {
                round.kills(Victim::Program);
                kill(program.pid);
            }
            (2, ..) => {
                round.kills(Victim::Server);
                return self.server.kill(round);
            }
            _ => {
                round.kills(Victim::Client);
                drop(asked);
                return self.server.ends(round, false);
            }
        }
        self.answered(Some(asked))?;
        // Of what is started for one of these, some is done when it dies: a compiler, a look at a version.
        if super::lang::is_chosen() {
            self.client().ask(round, "debug_stop", json!({})).take(round)?;
        }
        self.over()
    }
}
