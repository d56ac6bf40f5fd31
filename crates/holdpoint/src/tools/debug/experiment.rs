//! `debug_experiment`: several hypotheses about one run, each judged where it can be seen.

use std::time::Duration;

use holdpoint_engine::{
    failure::{Code, Failure},
    launch::Launch,
    limits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use super::{
    probe::{
        params::{Spot, spot, texts},
        trials::{self, TrialAsked},
    },
    wait::patience,
};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool, bare},
    tools::shared::params,
};

pub(crate) struct Experiment;

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: launch {
        /// Up to 20. `at`: `a.py:12`, `a.py:text of the line` or a function; `condition` chooses the pass, else the
        /// first. There `capture` is read and `expect` judged; then `set` (`rate = 0.2`) runs, and it goes on.
        #[schemars(schema_with = "bare_hypotheses")]
        experiments: Vec<Hypothesis>,
        timeout_s: Option<f64>,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hypothesis {
    #[serde(deserialize_with = "place")]
    #[schemars(with = "String")]
    at: Spot,
    condition: Option<String>,
    #[serde(default, deserialize_with = "texts")]
    capture: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    set: Vec<String>,
    expect: String,
    #[serde(default)]
    hypothesis: String,
}

/// In every form in which `debug_probe` takes one.
fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Spot, D::Error> {
    spot(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn bare_hypotheses(generator: &mut SchemaGenerator) -> Schema {
    bare::<Vec<Hypothesis>>(generator, &[])
}

impl Tool for Experiment {
    const NAME: &'static str = "debug_experiment";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Test several hypotheses about a bug in one run: what should be true at each place, and \
        what a changed value does. Each is confirmed, refuted or not reached, with its values; the run goes to its end.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, which counts for itself.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Test hypotheses";
    const LONG: bool = true;
    const RARE: &'static [&'static str] = &["language", "stdin"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let launch = Launch { stop_on_entry: false, ..params.what().resolve()? };
        check(&params.experiments)?;
        let asked = params.experiments.into_iter().map(Hypothesis::asked).collect();
        trials::run(app, launch, asked, patience, call).await
    }
}

fn check(experiments: &[Hypothesis]) -> Result<(), Failure> {
    let invalid = |text: String| Err(Failure::new(Code::InvalidParams, text));
    match experiments.len() {
        0 => return invalid("`experiments` is empty".to_owned()),
        1..=limits::EXPERIMENTS => {}
        many => return invalid(format!("{many} experiments, {} at the most", limits::EXPERIMENTS)),
    }
    match experiments.iter().position(|it| it.expect.trim().is_empty()) {
        Some(at) => invalid(format!("experiment {}: `expect` is empty", at + 1)),
        None => Ok(()),
    }
}

impl Hypothesis {
    fn asked(self) -> TrialAsked {
        TrialAsked {
            // With nothing to capture, the locals are evidence.
            at: self.at.at_first(self.condition, self.capture),
            expect: self.expect.trim().to_owned(),
            set: self.set,
            hypothesis: self.hypothesis.trim().to_owned(),
        }
    }
}
