//! Questions to the client since 2026-07-28: a call answers with what it needs to know, and the client
//! calls again with the answers (SEP-2322). What a later round must know of an earlier one is in the state.
#![expect(deprecated, reason = "sampling and roots live on in the suite")]

use holdpoint_engine::failure::Failure;
use rmcp::model::{
    CallToolResponse, CreateMessageResult, ElicitResult, ElicitationAction, InputRequest,
    InputRequiredResult, ListRootsResult,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    fixture::{Client, Fixture, Nothing, text},
    state,
};

pub(super) struct Elicitation;

impl Fixture for Elicitation {
    const NAME: &'static str = "test_input_required_result_elicitation";
    const ABOUT: &'static str = "Asks the user for a name, then greets.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let questions = [("user_name", form("What is your name?", "name", "string"))];
        if let Some(open) = ask(&client, questions, None)? {
            return Ok(open.into());
        }
        Ok(text(format!("Hello, {}!", said(&client, "user_name", "/content/name"))))
    }
}

pub(super) struct StreamingElicitation;

impl Fixture for StreamingElicitation {
    const NAME: &'static str = "test_streaming_elicitation";
    const ABOUT: &'static str = "Asks the user without a request on the stream.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Elicitation::answer(client, Nothing {}).await
    }
}

pub(super) struct Sampling;

impl Fixture for Sampling {
    const NAME: &'static str = "test_input_required_result_sampling";
    const ABOUT: &'static str = "Asks the client's model for a capital.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let questions = [("capital_question", sample("What is the capital of France?"))];
        if let Some(open) = ask(&client, questions, None)? {
            return Ok(open.into());
        }
        Ok(text(said(&client, "capital_question", "/content/text")))
    }
}

pub(super) struct ListRoots;

impl Fixture for ListRoots {
    const NAME: &'static str = "test_input_required_result_list_roots";
    const ABOUT: &'static str = "Asks the client for its roots.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        if let Some(open) = ask(&client, [("client_roots", roots())], None)? {
            return Ok(open.into());
        }
        Ok(text(format!("First root: {}", said(&client, "client_roots", "/roots/0/uri"))))
    }
}

pub(super) struct RequestState;

impl Fixture for RequestState {
    const NAME: &'static str = "test_input_required_result_request_state";
    const ABOUT: &'static str = "Asks for a confirmation and for its state back.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        confirm(&client, Self::NAME)
    }
}

pub(super) struct TamperedState;

impl Fixture for TamperedState {
    const NAME: &'static str = "test_input_required_result_tampered_state";
    const ABOUT: &'static str = "Asks for a confirmation; a state not its own never gets here.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        confirm(&client, Self::NAME)
    }
}

pub(super) struct MultipleInputs;

impl Fixture for MultipleInputs {
    const NAME: &'static str = "test_input_required_result_multiple_inputs";
    const ABOUT: &'static str = "Asks the user, the model and the client at once.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let questions = [
            ("user_name", form("What is your name?", "name", "string")),
            ("greeting", sample("Generate a greeting")),
            ("client_roots", roots()),
        ];
        if let Some(open) = ask(&client, questions, Some(state::seal(Self::NAME, 1)))? {
            return Ok(open.into());
        }
        let name = said(&client, "user_name", "/content/name");
        Ok(text(format!("{} {name}", said(&client, "greeting", "/content/text"))))
    }
}

pub(super) struct MultiRound;

/// Key, message and field of each question, in the order they are asked.
const STEPS: &[(&str, &str, &str)] = &[
    ("step1", "Step 1: What is your name?", "name"),
    ("step2", "Step 2: What is your favorite color?", "color"),
];

impl Fixture for MultiRound {
    const NAME: &'static str = "test_input_required_result_multi_round";
    const ABOUT: &'static str = "Asks two questions, one round after the other.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        // The state says how many questions were asked; the last of them may still be open.
        let mut next = state::step(Self::NAME, client.state.as_deref()).unwrap_or_default();
        if let Some((key, message, field)) = next.checked_sub(1).and_then(|last| STEPS.get(last))
            && !has_answer(&client, key, &question(form(message, field, "string"))?)
        {
            next -= 1;
        }
        let Some((key, message, field)) = STEPS.get(next) else {
            return Ok(text("Both questions are answered."));
        };
        let state = state::seal(Self::NAME, next + 1);
        Ok(required([(*key, form(message, field, "string"))], Some(state))?.into())
    }
}

pub(super) struct Capabilities;

impl Fixture for Capabilities {
    const NAME: &'static str = "test_input_required_result_capabilities";
    const ABOUT: &'static str = "Asks only what the client says it can answer.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let questions = [
            ("user_name", form("What is your name?", "name", "string")),
            ("greeting", sample("Generate a greeting")),
        ];
        Ok(ask(&client, questions, None)?.map_or_else(|| text("Nothing to ask."), Into::into))
    }
}

/// Two rounds with a state between them.
fn confirm(client: &Client, tool: &str) -> Result<CallToolResponse, Failure> {
    let questions = [("confirm", form("Please confirm", "ok", "boolean"))];
    let sealed = state::seal(tool, 1);
    if client.state.as_ref() != Some(&sealed) {
        return Ok(required(questions, Some(sealed))?.into());
    }
    Ok(ask(client, questions, Some(sealed))?.map_or_else(|| text("state-ok"), Into::into))
}

/// What the client has to answer before its call can go on; nothing when it has answered all it can.
pub(super) fn ask<'q>(
    client: &Client,
    questions: impl IntoIterator<Item = (&'q str, Value)>,
    state: Option<String>,
) -> Result<Option<InputRequiredResult>, Failure> {
    let mut open = required(questions, state)?;
    let asked = open.input_requests.get_or_insert_default();
    // A client is never asked what it did not say it can answer (SEP-2322).
    asked.retain(|_, question| client.can_answer(question));
    let done = asked.iter().all(|(key, question)| has_answer(client, key, question));
    Ok((!done).then_some(open))
}

/// The same, whatever the client has said and can do.
pub(super) fn required<'q>(
    questions: impl IntoIterator<Item = (&'q str, Value)>,
    state: Option<String>,
) -> Result<InputRequiredResult, Failure> {
    let questions = questions.into_iter();
    let asked = questions.map(|(key, text)| Ok((key.to_owned(), question(text)?)));
    Ok(InputRequiredResult::new(Some(asked.collect::<Result<_, Failure>>()?), state))
}

/// The part of an answer that `pointer` names, as text.
pub(super) fn said(client: &Client, key: &str, pointer: &str) -> String {
    let part = client.responses.get(key).and_then(|answer| answer.pointer(pointer));
    part.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A form with one field.
pub(super) fn form(message: &str, field: &str, kind: &str) -> Value {
    let form = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field],
    });
    json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": form },
    })
}

pub(super) fn question(text: Value) -> Result<InputRequest, Failure> {
    serde_json::from_value(text)
        .map_err(|error| Failure::internal(format!("this is not a question: {error}")))
}

fn sample(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({
        "method": "sampling/createMessage",
        "params": { "messages": [message], "maxTokens": 100 },
    })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// An answer of the wrong kind is none: the question is asked again.
fn has_answer(client: &Client, key: &str, question: &InputRequest) -> bool {
    let Some(answer) = client.responses.get(key) else { return false };
    match question {
        InputRequest::CreateMessage(_) => CreateMessageResult::deserialize(answer).is_ok(),
        InputRequest::Elicitation(_) => ElicitResult::deserialize(answer)
            .is_ok_and(|it| it.action == ElicitationAction::Accept && it.content.is_some()),
        InputRequest::ListRoots(_) => ListRootsResult::deserialize(answer).is_ok(),
        // The SDK may come to know more kinds of questions than the suite asks.
        _ => false,
    }
}
