//! What a person debugs in the editor by themselves.

use serde::Serialize;

use crate::{actor::Actor, ids::SessionId};

/// A debug session of the editor that the person started there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InEditor {
    /// Ours that joined it, where one does.
    pub session: Option<SessionId>,
    /// What the editor calls it: `debug_attach` takes it by this.
    pub editor_session: String,
    pub name: String,
    /// `started`, `found` where it ran before it was looked for, `joined` or `ended`.
    pub change: &'static str,
    /// How it ended, where that is told.
    pub detail: String,
    pub by: Actor,
}

impl InEditor {
    pub(super) fn line(&self) -> String {
        let InEditor { session, editor_session, name, change, detail, by } = self;
        let what = format!("{name} (`{editor_session}`)");
        match (*change, session) {
            ("joined", Some(session)) => format!("{session} joined {what} in the editor, by {by}"),
            ("ended", _) if detail.is_empty() => format!("{what} ended in the editor"),
            ("ended", _) => format!("{what} ended in the editor: {detail}"),
            ("found", _) => format!("{what} is debugged in the editor already, by {by}"),
            _ => format!("{what} {change} in the editor, by {by}"),
        }
    }

    pub(super) fn weight(&self) -> usize {
        let texts = self.editor_session.len() + self.name.len() + self.detail.len();
        size_of::<InEditor>() + texts + self.by.weight()
    }
}
