//! The prompts the suite lists and gets.

use futures::future::BoxFuture;
use holdpoint_engine::failure::Failure;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, PromptMessage,
    ResourceContents, Role,
};
use serde_json::Value;

use super::{content::PNG, rounds};
use crate::mcp::prompts::{Argument, Prompt};

pub(super) const PROMPTS: &[Prompt] =
    &[SIMPLE, WITH_ARGUMENTS, WITH_EMBEDDED_RESOURCE, WITH_IMAGE, ASKING];

const SIMPLE: Prompt = Prompt {
    name: "test_simple_prompt",
    about: "One message, always the same",
    arguments: &[],
    render: |_, _| now(vec![says("This is a simple prompt for testing.")]),
    values: |_, _| Vec::new(),
};

const WITH_ARGUMENTS: Prompt = Prompt {
    name: "test_prompt_with_arguments",
    about: "One message that repeats its arguments",
    arguments: &[
        Argument { name: "arg1", about: "first test argument", required: true },
        Argument { name: "arg2", about: "second test argument", required: true },
    ],
    render: |_, given| {
        let value = |name| given.get(name).unwrap_or_default();
        let (first, second) = (value("arg1"), value("arg2"));
        now(vec![says(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
    },
    values: |_, _| vec!["testValue1".to_owned(), "testValue2".to_owned()],
};

const WITH_EMBEDDED_RESOURCE: Prompt = Prompt {
    name: "test_prompt_with_embedded_resource",
    about: "A resource and what to do with it",
    arguments: &[Argument { name: "resourceUri", about: "the resource to embed", required: true }],
    render: |_, given| {
        let uri = given.get("resourceUri").unwrap_or_default();
        let resource = ResourceContents::text("Embedded resource content for testing.", uri)
            .with_mime_type("text/plain");
        now(vec![
            PromptMessage::new(Role::User, ContentBlock::resource(resource)),
            says("Please process the embedded resource above."),
        ])
    },
    ..SIMPLE
};

const WITH_IMAGE: Prompt = Prompt {
    name: "test_prompt_with_image",
    about: "An image and what to do with it",
    render: |_, _| {
        let image = ContentBlock::image(PNG, "image/png");
        now(vec![PromptMessage::new(Role::User, image), says("Please analyze the image above.")])
    },
    ..SIMPLE
};

/// Rendered by [`asking`] once it has its answer.
const ASKING: Prompt = Prompt {
    name: "test_input_required_result_prompt",
    about: "Asks for a context before it answers",
    ..SIMPLE
};

pub(super) fn asking(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    if request.name != ASKING.name {
        return None;
    }
    let answers = request.input_responses.as_ref();
    let context = answers.and_then(|it| it.get("user_context")?.pointer("/content/context"));
    match context.and_then(Value::as_str) {
        Some(context) => {
            let message = says(format!("Answer in the context of: {context}"));
            Some(GetPromptResult::new(vec![message]).into())
        }
        None => {
            let question = rounds::form("What context should the prompt use?", "context", "string");
            rounds::required([("user_context", question)], None).ok().map(Into::into)
        }
    }
}

fn says(text: impl Into<String>) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}

fn now(messages: Vec<PromptMessage>) -> BoxFuture<'static, Result<Vec<PromptMessage>, Failure>> {
    Box::pin(std::future::ready(Ok(messages)))
}
