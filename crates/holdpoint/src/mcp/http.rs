//! MCP over streamable HTTP at `/mcp`: sessions for the older revisions, none for 2026-07-28.

use std::{io, sync::Arc};

use holdpoint_engine::limits;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::Handler;
use crate::{app::App, clients::Transport};

pub(crate) fn service(app: &App) -> StreamableHttpService<Handler, LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(limits::HTTP_SESSION_IDLE);
    let config = StreamableHttpServerConfig::default()
        // Our own guard checks Host and Origin, for these routes as for all others.
        .disable_allowed_hosts()
        .with_sse_keep_alive(Some(limits::KEEP_ALIVE_EVERY))
        .with_max_request_body_bytes(limits::BODY_BYTES)
        .with_cancellation_token(app.shutdown.child_token());
    let app = app.clone();
    let make = move || {
        if app.clients.count() >= limits::CLIENTS {
            return Err(io::Error::other("too many clients are connected"));
        }
        Ok(Handler::new(app.clone(), Transport::Http))
    };
    StreamableHttpService::new(make, Arc::new(sessions), config)
}
