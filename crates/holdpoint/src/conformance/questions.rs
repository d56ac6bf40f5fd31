//! Questions to the client while a tool works, as revisions before 2026-07-28 ask them: by a request of ours.
#![expect(deprecated, reason = "sampling lives on in four of five revisions")]

use holdpoint_engine::failure::Failure;
use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams,
        SamplingMessage,
    },
    service::ServiceError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fixture::{Client, Fixture, Nothing, text};

pub(super) struct Sampling;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SamplingParams {
    /// What to ask the client's model.
    prompt: String,
}

impl Fixture for Sampling {
    const NAME: &'static str = "test_sampling";
    const ABOUT: &'static str = "Asks the client's model.";
    type Params = SamplingParams;

    async fn answer(client: Client, params: SamplingParams) -> Result<CallToolResponse, Failure> {
        let messages = vec![SamplingMessage::user_text(params.prompt)];
        let request = CreateMessageRequestParams::new(messages, 100);
        let result = client.peer.create_message(request).await.map_err(unanswered)?;
        let said: Vec<&str> = result
            .message
            .content
            .iter()
            .filter_map(|block| block.as_text().map(|it| it.text.as_str()))
            .collect();
        Ok(text(format!("LLM response: {}", said.join(" "))))
    }
}

pub(super) struct Elicitation;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ElicitationParams {
    /// What to ask the user.
    message: String,
}

impl Fixture for Elicitation {
    const NAME: &'static str = "test_elicitation";
    const ABOUT: &'static str = "Asks the user for a name and an address.";
    type Params = ElicitationParams;

    async fn answer(
        client: Client,
        params: ElicitationParams,
    ) -> Result<CallToolResponse, Failure> {
        let form = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            },
            "required": ["username", "email"],
        });
        Ok(text(format!("User response: {}", elicit(&client, &params.message, form).await?)))
    }
}

pub(super) struct Defaults;

impl Fixture for Defaults {
    const NAME: &'static str = "test_elicitation_sep1034_defaults";
    const ABOUT: &'static str = "Asks by a form whose every field has a default.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let form = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active",
                },
                "verified": { "type": "boolean", "default": true },
            },
        });
        let said = elicit(&client, "Please look over these values.", form).await?;
        Ok(text(format!("Elicitation completed: {said}")))
    }
}

pub(super) struct Enums;

impl Fixture for Enums {
    const NAME: &'static str = "test_elicitation_sep1330_enums";
    const ABOUT: &'static str = "Asks by a form with every kind of choice.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let options = json!(["option1", "option2", "option3"]);
        let titled = json!([
            { "const": "value1", "title": "First" },
            { "const": "value2", "title": "Second" },
            { "const": "value3", "title": "Third" },
        ]);
        let form = json!({
            "type": "object",
            "properties": {
                "untitledSingle": { "type": "string", "enum": options },
                "titledSingle": { "type": "string", "oneOf": titled },
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"],
                },
                "untitledMulti": {
                    "type": "array",
                    "items": { "type": "string", "enum": options },
                },
                "titledMulti": { "type": "array", "items": { "anyOf": titled } },
            },
        });
        let said = elicit(&client, "Please choose.", form).await?;
        Ok(text(format!("Elicitation completed: {said}")))
    }
}

/// Only for clients that can be asked to sample; [`check_capabilities`] turns the others away.
pub(super) struct MissingCapability;

impl Fixture for MissingCapability {
    const NAME: &'static str = "test_missing_capability";
    const ABOUT: &'static str = "Works only for clients with a model to ask.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Ok(text("This client has a model to ask."))
    }
}

pub(super) fn check_capabilities(tool: &str, can: &ClientCapabilities) -> Result<(), ErrorData> {
    if tool != MissingCapability::NAME || can.sampling.is_some() {
        return Ok(());
    }
    let required = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(required))
}

async fn elicit(client: &Client, message: &str, form: Value) -> Result<String, Failure> {
    let request = json!({ "mode": "form", "message": message, "requestedSchema": form });
    let request: ElicitRequestParams = serde_json::from_value(request)
        .map_err(|error| Failure::internal(format!("this is not a form: {error}")))?;
    let said = client.peer.create_elicitation(request).await.map_err(unanswered)?;
    Ok(format!("action={:?}, content={}", said.action, json!(said.content)))
}

fn unanswered(error: ServiceError) -> Failure {
    Failure::internal(format!("the client did not answer: {error}"))
}
