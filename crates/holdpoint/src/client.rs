//! `holdpoint tool`: one call of a running server from a shell, over its streamable HTTP.

use std::{io::Read as _, process::ExitCode, time::Duration};

use anyhow::{Context as _, bail};
use holdpoint_engine::limits;
use rmcp::{
    ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientRequest, Implementation,
        InitializeRequestParams, JsonObject, Request, RequestMetaObject, ServerResult,
    },
    service::PeerRequestOptions,
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};

use crate::{
    app::{SHELL, VERSION},
    cli::ServerArgs,
    home,
    http::port_file,
    mcp::STRUCTURED,
    out,
    serve::runtime,
};

pub(crate) fn run(
    name: &str,
    arguments: &str,
    server: &ServerArgs,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let arguments = parse(arguments)?;
    let url = address(server.url.as_deref())?;
    let result = runtime()?.block_on(call(&url, server.token.as_deref(), name, arguments, json))?;
    if json {
        out::line(serde_json::to_string_pretty(&result.structured_content)?);
    } else {
        for text in result.content.iter().filter_map(|block| block.as_text()) {
            out::line(&text.text);
        }
    }
    let failed = result.is_error.unwrap_or_default();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn parse(arguments: &str) -> anyhow::Result<JsonObject> {
    let mut read = String::new();
    let text = if arguments == "-" {
        std::io::stdin().read_to_string(&mut read).context("cannot read stdin")?;
        &read
    } else {
        arguments
    };
    serde_json::from_str(text)
        .context("the parameters are not a JSON object\nhint: quote them, as in '{\"limit\": 5}'")
}

/// The given server, else the one that started last on this machine.
fn address(url: Option<&str>) -> anyhow::Result<String> {
    if let Some(url) = url {
        let bare = url.trim_end_matches('/').trim_end_matches("/mcp");
        return Ok(format!("{bare}/mcp"));
    }
    let file = home::port_file().context("neither $HOLDPOINT_HOME nor a home folder is set")?;
    match port_file::read(&file) {
        Some(port) => Ok(format!("http://127.0.0.1:{port}/mcp")),
        None => bail!(
            "no server is running (no port in {})\nhint: start one with `holdpoint serve`, or pass --url",
            file.display()
        ),
    }
}

async fn call(
    url: &str,
    token: Option<&str>,
    name: &str,
    arguments: JsonObject,
    json: bool,
) -> anyhow::Result<CallToolResult> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    let transport = StreamableHttpClientTransport::from_config(config);
    let me = InitializeRequestParams::new(
        ClientCapabilities::default(),
        Implementation::new(SHELL, VERSION),
    );
    let connected = tokio::time::timeout(Duration::from_secs(10), me.serve(transport)).await;
    let server = connected
        .context("timed out")
        .and_then(|connected| connected.map_err(anyhow::Error::from))
        .with_context(|| format!("no Holdpoint answers at {url}"))?;
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let mut request = Request::new(request);
    if json {
        let mut meta = RequestMetaObject::default();
        meta.insert(STRUCTURED.to_owned(), true.into());
        request.extensions.insert(meta);
    }
    let request = ClientRequest::CallToolRequest(request);
    // The server keeps the deadline; this is for one that is gone.
    let patience = limits::TOOL_TIMEOUT_MAX + limits::TOOL_GRACE;
    let options = PeerRequestOptions::with_timeout(patience);
    let answer = server.send_request_with_option(request, options).await?.await_response().await?;
    server.cancel().await.context("closing the connection")?;
    match answer {
        ServerResult::CallToolResult(result) => Ok(result),
        other => bail!("the server answered something else than a tool's result: {other:?}"),
    }
}
