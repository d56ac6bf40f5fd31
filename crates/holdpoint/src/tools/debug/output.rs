//! `debug_output`: what the program wrote, from where one read last.

use holdpoint_engine::{budget, failure::Failure, session::Stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    tool::{Answer, Call, Effect, Reply, Tool},
    tools::session::Known,
};

pub(crate) struct Output;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Read on after this `cursor` of an earlier answer (default: from the beginning).
    #[serde(default)]
    since: u64,
    /// Only `stdout`, `stderr` or `debugger`.
    stream: Option<Which>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Which {
    Stdout,
    Stderr,
    Debugger,
}

impl Tool for Output {
    const NAME: &'static str = "debug_output";
    const ABOUT: &'static str = "What the program wrote to stdout and stderr, also after its end.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Known;
    type Params = Params;

    async fn run(Known(session): Known, params: Params, call: Call) -> Result<Reply, Failure> {
        let only = params.stream.map(|which| match which {
            Which::Stdout => Stream::Stdout,
            Which::Stderr => Stream::Stderr,
            Which::Debugger => Stream::Debugger,
        });
        let read = session.output.since(params.since, only);
        let shown = budget::cut(&read.text, call.budget.bytes());
        let mut text = if shown.is_empty() { "(no output)".to_owned() } else { shown.clone() };
        if read.lost > 0 {
            text = format!("({} bytes before this are no longer kept)\n{text}", read.lost);
        }
        let data = json!({
            "output": shown, "bytes": read.text.len(), "lost": read.lost, "cursor": read.cursor,
        });
        Ok(Answer::new(text, &data)?.into())
    }
}
