//! `record_history`: every write of a variable or an attribute that was seen, in order.

use holdpoint_engine::{failure::Failure, recordings::HistoryAsk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct History;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    recording: Option<String>,
    /// `total`, `self.qty`, `Item@3.qty`, `bins[k]`
    name: String,
    /// A function, or a call `#813`.
    r#in: Option<String>,
    /// `#813`, `#813:42/2`
    before: Option<String>,
    /// `is None`, `changed type`, `< 0`
    when: Option<String>,
    n: Option<usize>,
}

impl Tool for History {
    const NAME: &'static str = "record_history";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Who last wrote this value, and when did it become wrong? All recorded writes of a \
        variable or attribute, per object, with place and old value.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Recorded history";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let tokens = super::tokens(&call);
        let recording = params.recording.clone();
        let told = app.engine.recordings.ask(recording.as_deref(), move |opened| {
            let recording = &opened.recording;
            let (mut within, mut within_call) = (params.r#in, None);
            if let Some(handle) = within.take_if(|it| it.starts_with('#')) {
                within_call = Some(recording.call_named(&handle)?);
            }
            let before = params.before.as_deref().map(|it| recording.spot_named(it)).transpose()?;
            let (name, when, limit) = (params.name, params.when, params.n);
            let ask = HistoryAsk { name, within, within_call, before, when, limit };
            let text = recording.history(&ask)?.tell(&ask, tokens);
            Ok((text, opened.about.id.clone()))
        });
        let (text, id) = told.await?;
        super::told(text, &id)
    }
}
