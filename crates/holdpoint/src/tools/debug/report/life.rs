//! A program with a recorder inside: what each stop says of the frame's life before it.

use holdpoint_engine::{recordings::FrameLife, session::Session};
use serde_json::{Value, json};

/// The frame's lines so far, and the call that tells all of them.
pub(super) fn told(session: &Session, life: Option<&FrameLife>) -> String {
    let Some(recording) = session.recording() else { return String::new() };
    let life = life.filter(|it| !it.text.is_empty());
    let Some(FrameLife { call, text }) = life else { return String::new() };
    format!(
        "\nso far in this frame ({call}):\n{text}\nmore: record_frame {{\"recording\": \"{recording}\", \"call\": \"{call}\"}}"
    )
}

pub(super) fn add(data: &mut Value, session: &Session, life: Option<&FrameLife>) {
    if let (Some(recording), Some(object)) = (session.recording(), data.as_object_mut()) {
        let call = life.map(|it| it.call.as_str());
        object.insert("recording".to_owned(), json!({ "id": recording, "call": call }));
    }
}

/// Said once, where the program begins.
pub(super) fn begun(session: &Session) -> Option<String> {
    let id = session.recording()?;
    Some(format!(
        "recorded as {id}, which can be asked while it runs: record_calls {{\"recording\": \"{id}\"}}"
    ))
}

/// Said where it ended.
pub(super) fn whole(session: &Session) -> Option<String> {
    let id = session.recording()?;
    Some(format!("its recording is {id}: record_calls {{\"recording\": \"{id}\"}}"))
}
