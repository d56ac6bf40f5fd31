//! The MCP face: one handler for every transport and all five protocol revisions.
//!
//! The SDK speaks the protocol; this maps it onto the catalogue. A handler belongs to one connection
//! and holds only what the protocol says is the connection's: who the client is, what it subscribed to,
//! how much it wants to hear. Everything else is the [`App`]'s.
#![expect(deprecated, reason = "logging and resources/subscribe live on in four of five revisions")]

pub(crate) mod agents;
mod bounded;
mod exact;
pub(crate) mod http;
mod news;
pub(crate) mod notify;
mod outlet;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod sse;
pub(crate) mod stdio;
mod unread;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use holdpoint_engine::{
    budget,
    failure::{Blame, Code, Failure},
    ids::Seq,
    limits,
};
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool as McpTool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, VERSION},
    clients::{Presence, Transport},
    panics,
    root::{self, Root},
    tool::{self, Caller, Meta, Reply, Shape},
};

/// A request's own word on whether it wants data beside the text: true or false.
pub(crate) const STRUCTURED: &str = "holdpoint/structured";

/// Whether answers carry data beside their text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Structured {
    /// Not to clients that are known to show it to a model in place of the text
    #[default]
    Auto,
    Always,
    Never,
}

impl Structured {
    fn of(value: &Value) -> Option<Structured> {
        match value {
            Value::Bool(true) => Some(Structured::Always),
            Value::Bool(false) => Some(Structured::Never),
            Value::String(word) => clap::ValueEnum::from_str(word, true).ok(),
            _ => None,
        }
    }
}

/// One client's side of the conversation.
pub(crate) struct Handler {
    app: App,
    transport: Transport,
    /// Set when the client names itself. A single stateless HTTP request never does.
    client: OnceLock<Presence>,
    root: Root,
    wishes: Arc<Mutex<notify::Wishes>>,
    /// Where a client that is being let in begins to hear, so that nothing falls in between.
    begins: notify::Begins,
    /// Its notifications' way out, where that is not the SDK's.
    outlet: Option<outlet::Outlet>,
    /// Up to here it knows from its answers what happened.
    knows: Mutex<Option<Seq>>,
    /// Calls of our own tools that this client may still start.
    calls: Semaphore,
    /// Its calls that go elsewhere, which wait for their turn.
    turns: Arc<Semaphore>,
    /// Cancelled when the client has gone, and with it everybody who would read an answer.
    gone: CancellationToken,
    /// Ends the notifications when the handler goes.
    notifier: OnceLock<tokio_util::task::AbortOnDropHandle<()>>,
}

impl Handler {
    pub(crate) fn new(app: App, transport: Transport) -> Handler {
        Handler {
            app,
            transport,
            client: OnceLock::new(),
            root: Root::default(),
            wishes: Arc::default(),
            begins: notify::Begins::default(),
            outlet: None,
            knows: Mutex::default(),
            calls: Semaphore::new(limits::CALLS_IN_FLIGHT),
            turns: Arc::new(Semaphore::new(limits::TURNS)),
            gone: CancellationToken::new(),
            notifier: OnceLock::new(),
        }
    }

    fn with_outlet(self, outlet: outlet::Outlet) -> Handler {
        Handler { outlet: Some(outlet), ..self }
    }

    fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// A lasting connection has a client from its first request on, with or without `initialize`.
    fn meet(&self, context: &RequestContext<RoleServer>) {
        if self.transport != Transport::Http {
            self.enter(context.client_info().as_ref(), context);
        }
    }

    fn enter(&self, info: Option<&Implementation>, context: &RequestContext<RoleServer>) {
        self.client.get_or_init(|| {
            let name = info.map_or("unnamed client", |info| info.name.as_str());
            let protocol = context.protocol_version().map(|it| it.to_string()).unwrap_or_default();
            // What came before it is the timeline's to tell, not news.
            *self.knows.lock().unwrap_or_else(PoisonError::into_inner) =
                self.app.left_off(name).or(Some(self.app.engine.log.head()));
            self.app.clients.enter(name, self.transport, &protocol)
        });
    }

    /// What the client gets beside the text: what this request asks for, else what the server was told,
    /// else what is known of clients of its name.
    fn shape(&self, name: &str, context: &RequestContext<RoleServer>) -> Shape {
        let asked = context.meta.get(STRUCTURED).and_then(Structured::of);
        match asked.unwrap_or(self.app.structured) {
            Structured::Always => Shape::Asked,
            Structured::Never => Shape::Text,
            Structured::Auto if agents::known(name).is_some() => Shape::Text,
            Structured::Auto => Shape::Perhaps,
        }
    }

    /// The answer with what happened elsewhere since the client's last one.
    fn with_news(&self, reply: Reply, by: &str) -> Reply {
        let head = self.app.engine.log.head();
        let mut knows = self.knows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(from) = knows.replace(head) else { return reply };
        self.app.leave_off(by, head);
        if from == head {
            return reply;
        }
        match news::since(&self.app, from, by, &reply.text()) {
            Some(news) => reply.with_news(news),
            None => reply,
        }
    }

    fn caller(
        &self,
        context: &RequestContext<RoleServer>,
        #[cfg_attr(
            not(feature = "conformance"),
            expect(unused_variables, reason = "for fixtures")
        )]
        request: &CallToolRequestParams,
    ) -> Caller {
        let who = self.client.get().map(Presence::client);
        let named = || context.client_info().map(|info| info.name);
        let by = who.map(|client| client.name.clone()).or_else(named).unwrap_or_default();
        Caller {
            app: self.app.clone(),
            shape: self.shape(&by, context),
            by,
            client: who.map(|client| client.id),
            request_id: match who {
                Some(client) => format!("{}-{}", client.id, context.id),
                None => context.id.to_string(),
            },
            cancel: context.ct.clone(),
            gone: self.gone.clone(),
            turns: Arc::clone(&self.turns),
            progress: context.meta.get_progress_token().map(|token| (context.peer.clone(), token)),
            #[cfg(feature = "conformance")]
            received: crate::conformance::Received::new(context, request),
        }
    }

    fn place(&self) -> Result<SemaphorePermit<'_>, Failure> {
        self.calls.try_acquire().map_err(|_| {
            let many = limits::CALLS_IN_FLIGHT;
            Failure::new(Code::Busy, format!("{many} calls are under way already"))
                .hint("wait for answers, or cancel calls that wait")
        })
    }

    async fn run_tool(
        &self,
        request: CallToolRequestParams,
        caller: Caller,
        peer: &Peer<RoleServer>,
    ) -> Result<tool::Reply, Failure> {
        let arguments = request.arguments.unwrap_or_default();
        let (mounted, arguments) = self.app.catalogue.route(&request.name, arguments)?;
        let entry = &mounted.entry;
        let _place = if entry.takes_turns { None } else { Some(self.place()?) };
        let root = match entry.family.about_programs {
            true => self.root.of(peer).await,
            false => None,
        };
        root::within(root, tool::call(entry, mounted.schema(), caller, arguments)).await
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_logging()
            .enable_completions()
            .build();
        #[cfg(feature = "conformance")]
        let capabilities = crate::conformance::capabilities(capabilities);
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("holdpoint", VERSION))
            .with_instructions(self.app.catalogue.instructions.as_str())
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.meet(&context);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.app.clients.count() >= limits::CLIENTS {
            let many = format!("{} clients are connected already", limits::CLIENTS);
            return Err(protocol_error(Failure::new(Code::Busy, many).hint("close one first")));
        }
        let mut agreed = self.negotiate_initialize(&request)?;
        let mut info = request;
        info.protocol_version = agreed.protocol_version.clone();
        context.peer.set_peer_info(info.clone());
        self.enter(Some(&info.client_info), &context);
        self.begins.mark(&self.app);
        agreed.meta = None;
        Ok(agreed)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.notifier.get_or_init(|| {
            let from = self.begins.take(&self.app);
            let outlet = self.outlet.clone().unwrap_or_else(|| outlet::Outlet::of(context));
            let pump = notify::pump(self.app.clone(), outlet, Arc::clone(&self.wishes), from);
            // Ended by the handler's drop, with the connection.
            tokio_util::task::AbortOnDropHandle::new(tokio::spawn(pump))
        });
        crate::resident::let_go_of_the_start();
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.meet(&context);
        let tools = self.app.catalogue.list().to_vec();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        self.app.catalogue.find(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.meet(&context);
        #[cfg(feature = "conformance")]
        crate::conformance::admit(&request, &context)?;
        let started = Instant::now();
        let name = request.name.clone();
        let caller = self.caller(&context, &request);
        let (request_id, by, shape) = (caller.request_id.clone(), caller.by.clone(), caller.shape);
        // Boxed: the SDK moves the future of every request about, and this is by far the largest.
        let result = Box::pin(self.run_tool(request, caller, &context.peer)).await;
        let result = result.or_else(|failure| self.app.catalogue.in_dialect(&name, failure));
        if let Err(failure) = &result {
            tracing::debug!(tool = %name, %failure, "a tool failed");
        }
        let result = result.map(|reply| self.with_news(reply, &by));
        let seq = self.app.engine.log.head();
        let meta = Meta { request_id, duration: started.elapsed(), seq };
        Ok(tool::envelope(result, &meta, shape))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.meet(&context);
        Ok(ListResourcesResult::with_all_items(resources::list(&self.app.catalogue)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.meet(&context);
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.app.catalogue)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.meet(&context);
        let contents = guarded(Box::pin(resources::read(&self.app, &request.uri))).await;
        let contents =
            contents.map_err(|it| protocol_error(self.app.catalogue.mentions.failure(it)))?;
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::find(&self.app, &request.uri).map_err(protocol_error)?;
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.subscribe(request.uri).map_err(protocol_error)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.begins.mark(&self.app);
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::find(&self.app, uri).is_ok());
        let mut accepted = requested.clone();
        accepted.resource_subscriptions =
            Some(known.take(limits::SUBSCRIPTIONS).cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.meet(subscription.request_context());
        let from = self.begins.take(&self.app);
        Box::pin(notify::listen(&self.app, &subscription, from, &self.gone)).await;
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The revision removed the method; the SDK refuses it over HTTP only.
        if context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).level = request.level;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.meet(&context);
        Ok(ListPromptsResult::with_all_items(prompts::list(self.app.catalogue.prompts)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.meet(&context);
        let got = guarded(Box::pin(prompts::get(&self.app, request))).await;
        got.map_err(|it| protocol_error(self.app.catalogue.mentions.failure(it)))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.meet(&context);
        prompts::complete(&self.app, &request).map_err(protocol_error)
    }

    /// The SDK would answer with the whole name, however long.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.meet(&context);
        let text = format!("no method `{}`", budget::cut(&request.method, limits::ECHO));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    #[cfg(feature = "conformance")]
    async fn get_task(
        &self,
        request: rmcp::model::GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::GetTaskResult, ErrorData> {
        crate::conformance::tasks()?.get_task(&request.task_id).map(rmcp::model::GetTaskResult::new)
    }

    #[cfg(feature = "conformance")]
    async fn update_task(
        &self,
        request: rmcp::model::UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        crate::conformance::tasks()?.update_task(&request.task_id, request.input_responses)
    }

    #[cfg(feature = "conformance")]
    async fn cancel_task(
        &self,
        request: rmcp::model::CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        crate::conformance::tasks()?.cancel_task(&request.task_id)
    }
}

/// A panic outside a tool is answered too: measured with rmcp 3.8, the client would wait for ever.
async fn guarded<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let done = panics::caught(work).await;
    done.unwrap_or_else(|_panic| Err(Failure::internal("the server panicked on this request")))
}

/// Requests other than tool calls fail by the protocol's own errors.
fn protocol_error(failure: Failure) -> ErrorData {
    let code = match failure.code {
        Code::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        code if code.blame() == Blame::Caller => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let mut data = json!({ "code": failure.code.as_str(), "hint": failure.hint });
    if let (Some(data), Some(Value::Object(details))) =
        (data.as_object_mut(), failure.details.map(|details| *details))
    {
        data.extend(details);
    }
    ErrorData::new(code, Cow::Owned(failure.message.into_owned()), Some(data))
}
