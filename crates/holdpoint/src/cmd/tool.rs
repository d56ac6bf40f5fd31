//! `holdpoint tool`: one call from a shell, over a server's streamable HTTP.
//!
//! Whoever has a shell has every tool: where no server runs for this folder, one is started that
//! outlives the call, so that a program launched by one command is there for the next.

mod arguments;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, bail};
use holdpoint_engine::{failure::Code, limits};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{
        CallToolRequestMethod, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
        ClientCapabilities, ClientRequest, Implementation, InitializeRequestParams, JsonObject,
        Request, RequestMetaObject, ServerResult,
    },
    service::{PeerRequestOptions, RunningService},
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;

use crate::{
    app::{SHELL, VERSION},
    catalogue::Catalogue,
    config::{Config, Settings},
    mcp::STRUCTURED,
    metadata, out,
    serve::runtime,
    servers::{find, trust},
    tool::word,
    web,
};

/// For a server to greet us.
const CONNECT: Duration = Duration::from_secs(10);
/// The tool behind which a server has those that it does not list.
const MORE: &str = "more_tools";
/// The exit code of a command that was written wrongly, as clap's own.
const USAGE: u8 = 2;
/// The exit code of what was interrupted, as shells have it.
const INTERRUPTED: u8 = 130;

type CallRequest = Request<CallToolRequestMethod, CallToolRequestParams>;
type Connected = RunningService<RoleClient, InitializeRequestParams>;

/// Call a tool and print its text; no set-up needed
///
/// Where no server runs for this folder, one is started that ends after ten idle minutes: programs
/// live on between calls, `holdpoint stop` ends it. Exit code 1 when the tool fails, 2 when the
/// command is wrong. Examples: holdpoint tool debug_probe '{"program": "app.py", "line": 7}'
/// or holdpoint tool timeline_query limit=5
#[derive(clap::Parser)]
#[command(disable_help_flag = true)]
pub(crate) struct Tool {
    /// The tool's name; `holdpoint tools` lists them
    #[arg(required_unless_present = "help")]
    name: Option<String>,
    /// Its parameters: a JSON object, `-` to read that from stdin, or `name=value` for each
    arguments: Vec<String>,
    /// Print the structured answer as JSON instead of the text
    #[arg(long)]
    json: bool,
    /// Print this help; behind a name, what that tool does and what each of its parameters is
    #[arg(short, long)]
    help: bool,
}

impl super::Command for Tool {
    const NAME: &'static str = "tool";
    const TAKES: &'static [&'static str] = &["url", "token", "token-file", "end-idle"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        match self.name {
            Some(name) if self.help => about(&name),
            Some(name) => run(&name, &self.arguments, &config.settings.with_token()?, self.json),
            None => help(),
        }
    }
}

/// The command's own help.
fn help() -> anyhow::Result<ExitCode> {
    if let Some(tool) = super::COMMANDS.iter().find(|it| it.name == "tool") {
        let mut command = (tool.build)().bin_name("holdpoint tool");
        out::line(command.render_long_help().to_string().trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// One of the editor's is known by its name, wherever it is mounted; `more_tools` is listed where there are more.
fn catalogue(name: &str) -> anyhow::Result<Catalogue> {
    let toolset = if name == MORE { vec!["agent".to_owned()] } else { Vec::new() };
    Ok(Catalogue::with(metadata::asked_for(&[name.to_owned()]), &toolset)?)
}

/// `holdpoint tool NAME --help`, `holdpoint tools NAME`.
pub(super) fn about(name: &str) -> anyhow::Result<ExitCode> {
    match catalogue(name)?.tool(name) {
        Ok(tool) => {
            out::line(super::tools::about(tool));
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            out::error(&failure.to_string());
            Ok(ExitCode::from(USAGE))
        }
    }
}

fn run(
    name: &str,
    arguments: &[String],
    server: &Settings,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let idle = server.end_idle.unwrap_or(limits::DETACHED_IDLE);
    let catalogue = catalogue(name)?;
    let schema = catalogue.tool(name).ok().map(|tool| tool.schema());
    let mut arguments = match arguments::read(arguments, schema) {
        Ok(arguments) => arguments,
        Err(error) => {
            out::error(&format!("{error:#}"));
            return Ok(ExitCode::from(USAGE));
        }
    };
    let here = std::env::current_dir().context("the current folder is gone")?;
    let answer = runtime()?.block_on(async {
        let found = find::find(server.url.as_deref(), &here, idle).await?;
        let pass = trust::pass(&found, server.token.as_deref())?;
        if found.folder.as_deref().is_some_and(|folder| folder != here) {
            arguments::place(&mut arguments, schema, &here);
        }
        let call = |request| call(&found.url, pass.as_deref(), request);
        let answer = call(request(name, arguments.clone(), json)).await?;
        match &answer {
            // An agent's server lists few tools and has the others behind one.
            Some(result) if schema.is_some() && name != MORE && is_unknown_there(result) => {
                let wrapped = json!({ "name": name, "arguments": arguments });
                let wrapped = wrapped.as_object().cloned().unwrap_or_default();
                call(request(MORE, wrapped, json)).await
            }
            _ => Ok(answer),
        }
    })?;
    let Some(result) = answer else {
        out::error("interrupted; the call was cancelled");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    show(&result, json)?;
    let failed = result.is_error.unwrap_or_default();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_unknown_there(result: &CallToolResult) -> bool {
    let in_words = format!("[{}]", Code::UnknownTool.as_str());
    // A family that answers in JSON does so for what it has not, too.
    let in_json = format!("{{\"error\":\"{}\"", word(Code::UnknownTool));
    let mut texts = result.content.iter().filter_map(|block| block.as_text());
    texts.any(|text| text.text.starts_with(&in_words) || text.text.starts_with(&in_json))
}

fn show(result: &CallToolResult, json: bool) -> anyhow::Result<()> {
    if json {
        out::line(serde_json::to_string_pretty(&result.structured_content)?);
        return Ok(());
    }
    for text in result.content.iter().filter_map(|block| block.as_text()) {
        out::line(&text.text);
    }
    Ok(())
}

fn request(name: &str, arguments: JsonObject, json: bool) -> CallRequest {
    let mut request =
        Request::new(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments));
    if json {
        let mut meta = RequestMetaObject::default();
        meta.insert(STRUCTURED.to_owned(), true.into());
        request.extensions.insert(meta);
    }
    request
}

/// The result; none when it was interrupted.
async fn call(
    url: &str,
    token: Option<&str>,
    request: CallRequest,
) -> anyhow::Result<Option<CallToolResult>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let url = format!("{url}/mcp");
    let server = tokio::select! {
        connected = connect(&url, token) => connected?,
        _ = interrupt.recv() => return Ok(None),
    };
    let request = ClientRequest::CallToolRequest(request);
    // The server keeps the deadline; this is for one that is gone.
    let patience = limits::TOOL_TIMEOUT_MAX + limits::TOOL_GRACE;
    let options = PeerRequestOptions::with_timeout(patience);
    let asked = server.send_request_with_option(request, options).await?;
    let id = asked.id.clone();
    let answer = tokio::select! {
        answer = asked.await_response() => Some(answer?),
        _ = interrupt.recv() => None,
    };
    if answer.is_none() {
        let cancelled = CancelledNotificationParam::new(Some(id), Some("interrupted".to_owned()));
        server.notify_cancelled(cancelled).await.context("cancelling the call")?;
    }
    server.cancel().await.context("closing the connection")?;
    match answer {
        None => Ok(None),
        Some(ServerResult::CallToolResult(result)) => Ok(Some(result)),
        Some(other) => bail!("the server answered something else than a tool's result: {other:?}"),
    }
}

async fn connect(url: &str, token: Option<&str>) -> anyhow::Result<Connected> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    // A server of ours sends nobody elsewhere; one connection per call is what one call needs.
    let client = web::builder(url).pool_max_idle_per_host(0);
    let client = web::build(client.redirect(reqwest::redirect::Policy::none()));
    let client = client.map_err(anyhow::Error::msg)?;
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let me = InitializeRequestParams::new(
        ClientCapabilities::default(),
        Implementation::new(SHELL, VERSION),
    );
    let connected = tokio::time::timeout(CONNECT, me.serve(transport)).await;
    connected
        .context("timed out")
        .and_then(|connected| connected.map_err(anyhow::Error::from))
        .with_context(|| format!("no Holdpoint answers at {url}"))
}
