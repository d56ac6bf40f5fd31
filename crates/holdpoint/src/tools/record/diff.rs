//! `record_diff`: where two recorded runs first part, and what came of it.

use std::time::Duration;

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    recordings::{DiffAsk, OpenRecording, Recordings, RunChange},
    secrets::Secrets,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    tools::debug::wait::patience,
};

pub(crate) struct Diff;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Params {
    /// `r7`; default: the last.
    pub(crate) a: Option<String>,
    /// Default: the one before.
    pub(crate) b: Option<String>,
    /// Or run `a` again with another `commit` (not in your tree), `test`, `args`, `env`, `stdin`.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) change: RunChange,
    /// Functions to pass over.
    pub(crate) ignore: Vec<String>,
    /// Begin there: `#9`, `#9/#12`.
    pub(crate) from: Option<String>,
    pub(crate) timeout_s: Option<f64>,
}

impl Tool for Diff {
    const NAME: &'static str = "record_diff";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Where do a passing and a failing run first differ? Aligns two recordings, past times, \
        uuids, thread order; shows call, line, values.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Compare recordings";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let tokens = super::tokens(&call);
        let recordings = &app.engine.recordings;
        call.doing("comparing two runs".to_owned());
        let (a, text) = compare(recordings, params, tokens, app.engine.secrets()).await?;
        super::told(text, &a)
    }
}

/// The name of the first one, and what is told.
pub(crate) async fn compare(
    recordings: &Recordings,
    params: Params,
    tokens: usize,
    secrets: &Secrets,
) -> Result<(String, String), Failure> {
    let (a, b) = sides(recordings, &params, secrets).await?;
    let (ignore, from) = (params.ignore, params.from);
    let told = recordings.ask_both((&a, &b), move |one, other| {
        let from = match &from {
            Some(from) => {
                let (first, second) = from.split_once('/').unwrap_or((from, from));
                Some((one.recording.call_named(first)?, other.recording.call_named(second)?))
            }
            None => None,
        };
        let found = one.recording.diff(&other.recording, &DiffAsk { ignore, from })?;
        Ok(found.tell((&label(one), &label(other)), tokens))
    });
    let told = told.await?;
    Ok((a, told))
}

/// `r7 (FAILED)`, `r8 (passed, commit 1f3c5a07)`.
fn label(of: &OpenRecording) -> String {
    let verdict = of.recording.overview().map(|it| it.verdict()).unwrap_or_default();
    let verdict = verdict.split(" (").next().unwrap_or_default().to_owned();
    let change = of.about.change.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
    format!("{} ({verdict}{change})", of.about.id)
}

/// The last two, unless they are named; or the second is made now.
async fn sides(
    recordings: &Recordings,
    params: &Params,
    secrets: &Secrets,
) -> Result<(String, String), Failure> {
    let named = params.a.as_deref().filter(|it| *it != "last");
    let first = recordings.about(named)?;
    if params.change.is_empty() {
        let b = match &params.b {
            Some(b) => b.clone(),
            None => before(recordings, &first.id)?,
        };
        return Ok((first.id, b));
    }
    if params.b.is_some() {
        let text = "`b` names a recording, and something else is to be run: pass one of them";
        return Err(Failure::new(Code::InvalidParams, text));
    }
    let patience = patience(params.timeout_s, Diff::TIMEOUT);
    let (b, end) = recordings.run_again(&first, &params.change, patience, secrets).await?;
    if end.is_none() {
        let text = format!("{b} still runs after {:.0} s", patience.as_secs_f64());
        let again =
            format!("`record_diff {{\"a\": \"{}\", \"b\": \"{b}\"}}` compares them", first.id);
        return Err(Failure::new(Code::Timeout, text).hint(again));
    }
    Ok((first.id, b))
}

fn before(recordings: &Recordings, first: &str) -> Result<String, Failure> {
    let mut known = recordings.list().into_iter().map(|it| it.id);
    known.find(|it| it != first).ok_or_else(|| {
        Failure::new(Code::NotFound, "there is no second recording").hint(
            "`change` makes one: `{\"change\": {\"commit\": \"HEAD~1\"}}`, or another `test`, `args`, `env`, `stdin`",
        )
    })
}
