//! `debug_output`: what the program wrote, from where one read last.

mod matches;

use holdpoint_engine::{
    budget::{self, Budget},
    failure::{Code, Failure},
    session::{OutputText, Stream},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::matches::Matches;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::Chosen,
};

pub(crate) struct Output;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Of an earlier answer.
    #[serde(default)]
    cursor: u64,
    stream: Option<Which>,
    /// Text to look for.
    find: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Which {
    Stdout,
    Stderr,
    Debugger,
}

/// Whose output is not ours to read.
const ATTACHED: &str = "\n(attached: only what its debugger reports of it since then, such as `print` \
    and `console.log`; the rest goes where it went before)";

impl Tool for Output {
    const NAME: &'static str = "debug_output";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Read what it printed, also after its end.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Output";
    const LONG: bool = true;
    const OLD_NAMES: &'static [(&'static str, &'static str)] = &[("since", "cursor")];
    const RARE: &'static [&'static str] = &["stream"];
    type Scope = Chosen;
    type Params = Params;

    async fn run(Chosen(session): Chosen, params: Params, call: Call) -> Result<Reply, Failure> {
        let only = params.stream.map(|which| match which {
            Which::Stdout => Stream::Stdout,
            Which::Stderr => Stream::Stderr,
            Which::Debugger => Stream::Debugger,
        });
        let read = session.output.since(params.cursor, only);
        let mut answer = match params.find.as_deref() {
            None => whole(&read, call.budget)?,
            Some("") => {
                return Err(Failure::new(Code::InvalidParams, "parameter `find` is empty"));
            }
            Some(find) => places(&read, find, call.budget)?,
        };
        if session.attach().is_some() {
            answer.text += ATTACHED;
        }
        let said = session.output.since(params.cursor, Some(Stream::Debugger)).text;
        if only.is_none() && !said.trim().is_empty() {
            answer.text += &format!(
                "\n(the debugger's own {} bytes: `debug_output {{\"stream\": \"debugger\"}}`)",
                said.len()
            );
        }
        Ok(answer.into())
    }
}

fn whole(read: &OutputText, budget: Budget) -> Result<Answer, Failure> {
    let shown = budget::cut(&read.text, budget.bytes());
    let mut text = if shown.is_empty() { "(no output)".to_owned() } else { shown.clone() };
    if shown.len() < read.text.len() {
        text += "\n(cut; `find` searches in all of it, `budget_tokens` shows more)";
    }
    let data = json!({
        "output": shown, "bytes": read.text.len(), "lost": read.lost, "cursor": read.cursor,
    });
    Answer::new(lost(read) + &text, &data)
}

fn places(read: &OutputText, find: &str, budget: Budget) -> Result<Answer, Failure> {
    let found = Matches::of(&read.text, find, budget);
    let mut text = lost(read);
    if found.total == 0 {
        text += &format!("(`{find}` is not in the {} bytes of output)", read.text.len());
    } else {
        text += &found.text;
    }
    if found.shown < found.total {
        let more = found.total - found.shown;
        text +=
            &format!("\n… {more} more: a narrower `find` or a larger `budget_tokens` shows them");
    }
    let data = json!({
        "output": found.text, "found": found.total, "shown": found.shown,
        "bytes": read.text.len(), "lost": read.lost, "cursor": read.cursor,
    });
    Answer::new(text, &data)
}

fn lost(read: &OutputText) -> String {
    match read.lost {
        0 => String::new(),
        lost => format!("({lost} bytes before this are no longer kept)\n"),
    }
}
