//! The only list of prompts, and completion of what they and the resources' templates take.

mod debug_session_start;
mod inspect_paused_call;
mod review_timeline;

use futures::future::BoxFuture;
use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, JsonObject, Prompt as McpPrompt, PromptArgument,
    PromptMessage, Reference,
};
use serde_json::Value;

use crate::app::App;

/// Fills in a prompt.
pub(crate) type Render =
    for<'a> fn(&'a App, &'a FilledIn) -> BoxFuture<'a, Result<Vec<PromptMessage>, Failure>>;

pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) render: Render,
    /// The values an argument may take, where they can be listed.
    pub(crate) values: fn(app: &App, argument: &str) -> Vec<String>,
}

pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) required: bool,
}

pub(crate) const PROMPTS: &[Prompt] = &[
    review_timeline::REVIEW_TIMELINE,
    debug_session_start::DEBUG_SESSION_START,
    inspect_paused_call::INSPECT_PAUSED_CALL,
];

/// What the client filled in. Arguments of prompts are always text.
pub(crate) struct FilledIn(JsonObject);

impl FilledIn {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

pub(super) fn list(prompts: &[Prompt]) -> Vec<McpPrompt> {
    let argument = |argument: &Argument| {
        PromptArgument::new(argument.name)
            .with_description(argument.about)
            .with_required(argument.required)
    };
    prompts
        .iter()
        .map(|prompt| {
            let arguments = prompt.arguments.iter().map(argument).collect();
            McpPrompt::new(prompt.name, Some(prompt.about), Some(arguments))
        })
        .collect()
}

pub(super) async fn get(
    app: &App,
    request: GetPromptRequestParams,
) -> Result<GetPromptResponse, Failure> {
    #[cfg(feature = "conformance")]
    if let Some(response) = crate::conformance::prompt(&request) {
        return Ok(response);
    }
    let prompt = find(app, &request.name)?;
    let given = FilledIn(request.arguments.unwrap_or_default());
    for argument in prompt.arguments.iter().filter(|argument| argument.required) {
        if given.get(argument.name).is_none() {
            return Err(Failure::new(
                Code::InvalidParams,
                format!("missing argument `{}` of `{}`", argument.name, prompt.name),
            )
            .hint(format!("pass `{}`: {}", argument.name, argument.about)));
        }
    }
    let messages = (prompt.render)(app, &given).await?;
    Ok(GetPromptResult::new(messages).with_description(prompt.about).into())
}

pub(super) fn complete(
    app: &App,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, Failure> {
    let argument = &request.argument;
    let all = match &request.r#ref {
        Reference::Prompt(prompt) => (find(app, &prompt.name)?.values)(app, &argument.name),
        Reference::Resource(template) => {
            let known = app.catalogue.resources.iter().find(|it| it.uri == template.uri);
            known.map(|resource| (resource.parts)(app)).unwrap_or_default()
        }
        // The SDK may come to know more kinds of references than we have things to refer to.
        _ => Vec::new(),
    };
    let starts = |value: &String| value.starts_with(&argument.value);
    let matching: Vec<String> = all.into_iter().filter(starts).collect();
    let total = u32::try_from(matching.len()).ok();
    let more = matching.len() > CompletionInfo::MAX_VALUES;
    let values = matching.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    let info = CompletionInfo::with_pagination(values, total, more).map_err(Failure::internal)?;
    Ok(CompleteResult::new(info))
}

fn find(app: &App, name: &str) -> Result<&'static Prompt, Failure> {
    let prompts = app.catalogue.prompts;
    prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
        let known: Vec<&str> = prompts.iter().map(|prompt| prompt.name).collect();
        // The protocol has no code of its own for an unknown prompt; it is a bad parameter.
        Failure::new(
            Code::InvalidParams,
            format!("no prompt `{}`", budget::cut(name, limits::ECHO)),
        )
        .hint(format!("prompts: {}", known.join(", ")))
    })
}
