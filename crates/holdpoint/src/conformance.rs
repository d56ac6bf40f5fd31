//! `holdpoint conformance`: the fixtures of the official MCP conformance suite on our own transports.
//!
//! The suite (npm `@modelcontextprotocol/conformance`) calls tools, resources and prompts by name and says
//! what each must answer. Here they are, mounted like our own: the same router and gate, the same handler,
//! the same tool boundary. Nothing of this is in a shipped binary, and nothing of it acts in a binary
//! that serves anything else: the hooks in `mcp.rs` ask [`STAGE`] first.

pub(crate) mod client;
mod content;
mod fixture;
mod notifications;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod schemas;
mod state;
mod tasks;

use std::{
    net::{IpAddr, Ipv4Addr},
    process::ExitCode,
    sync::OnceLock,
};

use anyhow::Context as _;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, GetPromptRequestParams, GetPromptResponse, ServerCapabilities,
        TASKS_EXTENSION_ID,
    },
    service::RequestContext,
    task_manager::TaskManager,
};

pub(crate) use self::fixture::Received;
use crate::{
    app::App,
    catalogue::Catalogue,
    cmd::Command,
    config::Config,
    http::serving::{Gate, Rules, listen},
    out, serve,
    tool::{Entry, entry, unique},
};

/// The only list of fixtures. The suite calls the first one to try out headers, so it takes no parameters.
const FIXTURES: &[Entry] = &[
    entry::<content::SimpleText>(),
    entry::<content::Image>(),
    entry::<content::Audio>(),
    entry::<content::Embedded>(),
    entry::<content::Mixed>(),
    entry::<content::Fails>(),
    entry::<notifications::Progress>(),
    entry::<notifications::Logging>(),
    entry::<notifications::QuietLogging>(),
    entry::<notifications::Reconnection>(),
    entry::<questions::Sampling>(),
    entry::<questions::Elicitation>(),
    entry::<questions::Defaults>(),
    entry::<questions::Enums>(),
    entry::<questions::MissingCapability>(),
    entry::<rounds::Elicitation>(),
    entry::<rounds::StreamingElicitation>(),
    entry::<rounds::Sampling>(),
    entry::<rounds::ListRoots>(),
    entry::<rounds::RequestState>(),
    entry::<rounds::TamperedState>(),
    entry::<rounds::MultipleInputs>(),
    entry::<rounds::MultiRound>(),
    entry::<rounds::Capabilities>(),
    entry::<schemas::Header>(),
    entry::<tasks::Greet>(),
    entry::<tasks::SlowCompute>(),
    entry::<tasks::FailingJob>(),
    entry::<tasks::ProtocolErrorJob>(),
    entry::<tasks::ConfirmDelete>(),
    entry::<tasks::MultiInput>(),
    entry::<tasks::AfterRounds>(),
];

const _: () = assert!(unique(FIXTURES), "two fixtures share a name");

const INSTRUCTIONS: &str = "Fixtures of the official MCP conformance suite.";

/// What fixtures share. Set once, by [`run`]; empty in a process that serves anything else.
static STAGE: OnceLock<Stage> = OnceLock::new();

#[derive(Default)]
struct Stage {
    tasks: TaskManager,
}

/// Serve the fixtures of the official conformance suite
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Conformance {
    #[arg(long, default_value_t = 0)]
    port: u16,
}

impl Command for Conformance {
    const NAME: &'static str = "conformance";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        run(self.port)
    }
}

fn run(port: u16) -> anyhow::Result<ExitCode> {
    let fixtures = FIXTURES.iter().cloned().chain([schemas::draft_2020()]).collect();
    let catalogue = Catalogue::of(fixtures, resources::RESOURCES, prompts::PROMPTS, INSTRUCTIONS)?;
    let app = App::new(
        catalogue,
        None,
        crate::mcp::Structured::Auto,
        Some(std::path::Path::new(":memory:")),
        holdpoint_engine::secrets::Secrets::default(),
    );
    serve::runtime()?.block_on(serve_fixtures(app, port))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve_fixtures(app: App, port: u16) -> anyhow::Result<()> {
    let mut signals = serve::Signals::new().context("cannot listen for signals")?;
    let stage = STAGE.get_or_init(Stage::default);
    let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let listeners = listen::bind(host, port).await.context("no port could be bound")?;
    // The suite asks as a page of this server would that has no cookie: it is trusted as users trust one.
    let origins = listeners.iter().filter_map(|it| it.local_addr().ok());
    let origins = origins.map(|it| format!("http://{it}")).collect();
    let gate = Gate::new(Rules { origins, ..Rules::default() });
    let mut served = serve::Served::start(&app, gate, listeners, true)?;
    served.announce(&app);
    let url = app.base_url().context("HTTP does not listen")?;
    out::line(format_args!("conformance server on {url}/mcp"));
    let reason = signals.next().await;
    stage.tasks.shutdown();
    serve::stop(&app, reason, served).await;
    Ok(())
}

/// Adds what only fixtures offer: the tasks extension (SEP-2663).
pub(crate) fn capabilities(mut ours: ServerCapabilities) -> ServerCapabilities {
    if STAGE.get().is_some() {
        let extensions = ours.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new());
    }
    ours
}

/// Refuses, by the protocol's own errors, what may not reach a fixture.
pub(crate) fn admit(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    if STAGE.get().is_none() {
        return Ok(());
    }
    state::check(&request.name, request.request_state.as_deref())?;
    let can = context.client_capabilities().unwrap_or_default();
    questions::check_capabilities(&request.name, &can)?;
    tasks::check_capabilities(&request.name, &can)
}

/// The tasks under way; a method of nobody's in a process that serves anything else.
pub(crate) fn tasks() -> Result<&'static TaskManager, ErrorData> {
    let stage = STAGE.get().ok_or_else(|| {
        ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, "tasks are not offered", None)
    })?;
    Ok(&stage.tasks)
}

/// The answer to a prompt that first asks back.
pub(crate) fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    STAGE.get()?;
    prompts::asking(request)
}
