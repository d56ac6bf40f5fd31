//! `record_frame`: one call line by line, with only what changed; or every value at one of its lines.

use holdpoint_engine::{
    failure::Failure,
    recordings::{AskError, CallsAsk, CallsForm, FrameAsk, Recording, SpotId},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Frame;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    recording: Option<String>,
    /// `#813`; `#813:42/2` has every value before line 42, 2nd time.
    call: Option<String>,
    /// Or a function, with `nth` or `where` as `record_calls` takes it.
    function: Option<String>,
    /// From 1; -1 is the last.
    nth: Option<i64>,
    r#where: Option<String>,
    /// `36-40`: each time there.
    lines: Option<String>,
}

impl Tool for Frame {
    const NAME: &'static str = "record_frame";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What happened inside one recorded call: its source line by line with every value that \
        changed, loops condensed, calls and exceptions.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Recorded frame";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let tokens = super::tokens(&call);
        let recording = params.recording.clone();
        let told = app.engine.recordings.ask(recording.as_deref(), move |opened| {
            let text = tell(&opened.recording, &params, tokens)?;
            Ok((text, opened.about.id.clone()))
        });
        let (text, id) = told.await?;
        super::told(text, &id)
    }
}

pub(crate) fn tell(
    recording: &Recording,
    params: &Params,
    tokens: usize,
) -> Result<String, AskError> {
    let spot = spot(recording, params)?;
    if spot.line.is_some() {
        return Ok(recording.state(spot)?.tell(tokens));
    }
    let lines = params.lines.as_deref().map(range).transpose()?;
    Ok(recording.frame(&FrameAsk { call: spot.call, lines })?.tell(tokens))
}

fn spot(recording: &Recording, params: &Params) -> Result<SpotId, AskError> {
    if let Some(call) = &params.call {
        return recording.spot_named(call);
    }
    let Some(function) = &params.function else {
        let what = "pass `call`, or `function`".to_owned();
        return Err(AskError::Invalid { what, hint: "`record_calls` lists calls".to_owned() });
    };
    let nth = params.nth.unwrap_or(1);
    let wanted = usize::try_from(nth.unsigned_abs()).unwrap_or(usize::MAX).max(1);
    let order =
        if nth < 0 { holdpoint_engine::recordings::CallOrder::Last } else { Default::default() };
    let ask = CallsAsk {
        function: Some(function.clone()),
        condition: params.r#where.clone(),
        order,
        limit: Some(wanted),
        form: Some(CallsForm::List),
        ..CallsAsk::default()
    };
    let found = recording.calls(&ask)?;
    let row = if nth < 0 { found.rows.first() } else { found.rows.get(wanted - 1) };
    let row = row.filter(|_| found.rows.len() >= wanted.min(2_000));
    row.map(|it| SpotId { call: it.call.id, line: None, nth: 1 }).ok_or_else(|| {
        AskError::NotFound {
            what: format!("there are {} such calls of `{function}`, and no {nth}th", found.matched),
            hint: format!("record_calls {{\"function\": \"{function}\"}} lists them"),
        }
    })
}

/// `36-40`, `36`.
fn range(text: &str) -> Result<(u32, u32), AskError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) => Ok((first, last)),
        _ => Err(AskError::Invalid {
            what: format!("`{text}` is no range of lines"),
            hint: "as in `36-40`".to_owned(),
        }),
    }
}

impl Params {
    /// What a shell names.
    pub(crate) fn of(
        call: Option<String>,
        function: Option<String>,
        nth: Option<i64>,
        lines: Option<String>,
    ) -> Params {
        Params { recording: None, call, function, nth, r#where: None, lines }
    }
}
