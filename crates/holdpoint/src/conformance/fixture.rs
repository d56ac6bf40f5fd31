//! What makes a fixture a tool like any other: less to write, nothing of the boundary left out.
//!
//! A fixture sees the client behind the call (who it is, what it can be asked, what it answered),
//! and answers with the protocol's own types, past our envelope.

use std::borrow::Cow;

use holdpoint_engine::failure::Failure;
use rmcp::{
    Peer, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        InputRequest, InputResponses, ProtocolVersion, RequestMetaObject,
    },
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};

use crate::tool::{AnswerForm, Call, Effect, Family, Reply, Scope, Tool};

pub(super) const FIXTURES: Family =
    Family { name: Cow::Borrowed("fixture"), form: AnswerForm::Words, about_programs: false };

pub(crate) trait Fixture: 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    type Params: DeserializeOwned + JsonSchema + Send + 'static;

    fn answer(
        client: Client,
        params: Self::Params,
    ) -> impl Future<Output = Result<CallToolResponse, Failure>> + Send;
}

/// For fixtures that take no parameters.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

impl<F: Fixture> Tool for F {
    const NAME: &'static str = F::NAME;
    const FAMILY: &'static Family = &FIXTURES;
    const ABOUT: &'static str = F::ABOUT;
    const EFFECT: Effect = Effect::Reads;
    type Scope = Client;
    type Params = F::Params;

    async fn run(client: Client, params: F::Params, _: Call) -> Result<Reply, Failure> {
        Ok(Reply::Raw(Box::new(F::answer(client, params).await?)))
    }
}

pub(super) fn text(text: impl Into<String>) -> CallToolResponse {
    content(vec![ContentBlock::text(text)])
}

pub(super) fn content(blocks: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(blocks).into()
}

/// The request as it came, carried past the tool boundary.
#[derive(Clone, Default)]
pub(crate) struct Received(Option<Client>);

#[derive(Clone)]
pub(crate) struct Client {
    pub(super) peer: Peer<RoleServer>,
    pub(super) meta: RequestMetaObject,
    pub(super) capabilities: ClientCapabilities,
    /// The answers to what the last round asked.
    pub(super) responses: InputResponses,
    pub(super) state: Option<String>,
    protocol: Option<ProtocolVersion>,
}

impl Received {
    pub(crate) fn new(
        context: &RequestContext<RoleServer>,
        request: &CallToolRequestParams,
    ) -> Received {
        Received(Some(Client {
            peer: context.peer.clone(),
            meta: context.meta.clone(),
            capabilities: context.client_capabilities().unwrap_or_default(),
            responses: request.input_responses.clone().unwrap_or_default(),
            state: request.request_state.clone(),
            protocol: context.protocol_version(),
        }))
    }

    /// A call that came from no client.
    #[cfg(test)]
    pub(crate) fn absent() -> Received {
        Received(None)
    }
}

impl Scope for Client {
    async fn enter(call: &Call) -> Result<Self, Failure> {
        call.received.0.clone().ok_or_else(|| Failure::internal("this call came from no client"))
    }
}

impl Client {
    /// Since 2026-07-28 a server never sends requests, and logs only to who asked for it.
    pub(super) fn is_stateless(&self) -> bool {
        let stateless = ProtocolVersion::V_2026_07_28;
        self.protocol.as_ref().is_some_and(|it| it.as_str() >= stateless.as_str())
    }

    pub(super) fn can_answer(&self, question: &InputRequest) -> bool {
        match question {
            InputRequest::CreateMessage(_) => self.capabilities.sampling.is_some(),
            InputRequest::Elicitation(_) => self.capabilities.elicitation.is_some(),
            InputRequest::ListRoots(_) => self.capabilities.roots.is_some(),
            // The SDK may come to know more kinds of questions than the suite asks.
            _ => false,
        }
    }
}
