//! `record_calls`: which calls there were, as a tree, a list that a condition narrows, or counted.

use holdpoint_engine::{
    failure::Failure,
    recordings::{CallOrder, CallsAsk, CallsForm},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Calls;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// `r7`; default: the last.
    recording: Option<String>,
    /// A call, `#813`.
    under: Option<String>,
    /// `rate`, `Cart.total`, `cart.py:total`, `cart.py`
    function: Option<String>,
    /// `result is None`, `args.n < 0`, `raised KeyError`, `swallowed`, `ms > 50`, `file == 'a.py'`; and, or, not
    r#where: Option<String>,
    order: Option<Order>,
    depth: Option<u32>,
    n: Option<usize>,
    r#as: Option<Form>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Order {
    First,
    Last,
    Slowest,
    Ended,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Form {
    Tree,
    List,
    Count,
}

impl Tool for Calls {
    const NAME: &'static str = "record_calls";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Which calls did a recorded run make, and which returned None, raised, or took long? As \
        tree, list or count.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Calls of a recording";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let tokens = super::tokens(&call);
        let recording = params.recording.clone();
        let told = app.engine.recordings.ask(recording.as_deref(), move |opened| {
            let under = params.under.as_deref().map(|it| opened.recording.call_named(it));
            let ask = CallsAsk {
                under: under.transpose()?,
                function: params.function,
                condition: params.r#where,
                order: match params.order {
                    Some(Order::Last) => CallOrder::Last,
                    Some(Order::Slowest) => CallOrder::Slowest,
                    Some(Order::Ended) => CallOrder::Ended,
                    Some(Order::First) | None => CallOrder::First,
                },
                depth: params.depth,
                limit: params.n,
                form: params.r#as.map(|it| match it {
                    Form::Tree => CallsForm::Tree,
                    Form::List => CallsForm::List,
                    Form::Count => CallsForm::Count,
                }),
            };
            let text = opened.recording.calls(&ask)?.tell(&ask, tokens);
            Ok((text, opened.about.id.clone()))
        });
        let (text, id) = told.await?;
        super::told(text, &id)
    }
}
