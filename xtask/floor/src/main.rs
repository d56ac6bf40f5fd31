//! The floor: the least that an MCP server built on rmcp can be, and the least that an HTTP server can be.
//!
//! A tool, `echo`, that answers at once, and one whose answer is as long as one likes; no logging, no state, no checks of its own.
//! `bare` has no MCP at all: what apps ask about their calls is answered by a handler that does nothing.
//! `cargo xtask bench` runs it beside Holdpoint in the same minute, so that what a number
//! costs us and what it costs anyone on this machine can be told apart.
//! It must stay naive: an optimisation here would hide a cost that every server has.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => stdio().await,
        Some("http") => serve(mcp()).await,
        Some("bare") => serve(bare()).await,
        _ => bail!("usage: floor stdio|http|bare"),
    }
}

async fn stdio() -> Result<()> {
    Floor.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

fn mcp() -> Router {
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(|| Ok(Floor), sessions, StreamableHttpServerConfig::default());
    Router::new().nest_service("/mcp", service)
}

fn bare() -> Router {
    Router::new().route("/api/call/start", post(nothing)).route("/api/call/complete", post(nothing))
}

/// As long as the answers that it stands beside.
async fn nothing() -> impl IntoResponse {
    let body = r#"{"call_id":"1700000000.000000-000001","action":"continue","status":"ok"}"#;
    ([(CONTENT_TYPE, "application/json")], body)
}

#[expect(clippy::print_stdout, reason = "the bench reads the port from this line")]
async fn serve(router: Router) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    // Without it every second answer waits 40 ms for an acknowledgement: that would flatter us.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            debug_assert!(false, "set_nodelay: {error}");
        }
    });
    axum::serve(listener, router).await.context("serving HTTP")
}

struct Floor;

impl ServerHandler for Floor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut schema = JsonObject::new();
        schema.insert("type".into(), "object".into());
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new("echo", "Answers its text.", schema.clone()),
            Tool::new("repeat", "Answers its text so many `times`.", schema),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        let times =
            arguments.get("times").and_then(|it| it.as_u64()).filter(|_| request.name == "repeat");
        let text = text.repeat(usize::try_from(times.unwrap_or(1)).unwrap_or(1));
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
