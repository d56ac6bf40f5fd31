//! `timeline_note`: a sentence on the shared timeline, so that people and agents see each other's reasons.

use holdpoint_engine::{
    budget,
    event::Event,
    failure::{Code, Failure},
    ids::Seq,
    limits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Note;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    text: String,
}

#[derive(Serialize)]
struct Noted {
    seq: Seq,
    by: String,
}

impl Tool for Note {
    const NAME: &'static str = "timeline_note";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Write a note on the timeline, for other agents and the human.";
    const EFFECT: Effect = Effect::Writes;
    const TITLE: &'static str = "Note";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let text = params.text.trim();
        if text.is_empty() {
            return Err(Failure::new(Code::InvalidParams, "parameter `text` is empty")
                .hint("pass a sentence"));
        }
        if text.len() > limits::NOTE_BYTES {
            let sizes = format!("{} bytes, more than {}", text.len(), limits::NOTE_BYTES);
            return Err(Failure::new(Code::InvalidParams, format!("the note has {sizes}"))
                .hint("note the conclusion and say where the rest is"));
        }
        let by = call.by;
        let seq = app.engine.log.append(Event::Note { text: text.to_owned(), by: by.clone() });
        let text = format!("noted as seq {seq}: {}", budget::cut(text, 80));
        Ok(Answer::new(text, &Noted { seq, by })?.into())
    }
}
