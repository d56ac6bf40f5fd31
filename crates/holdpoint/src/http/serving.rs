//! From the sockets to the endpoints: who may ask, where they are served, and where they find us.
//!
//! REST, the event stream and MCP's two HTTP transports are behind one gate.

pub(crate) mod door;
pub(crate) mod lanes;
pub(crate) mod listen;
pub(crate) mod port_file;
pub(crate) mod stall;

pub(crate) mod pages;
pub(crate) mod users;

mod caught;
mod gate;
mod places;

use axum::Router;
use holdpoint_engine::limits;
use tower_http::limit::RequestBodyLimitLayer;

pub(crate) use self::gate::{Gate, Rules};
use super::endpoints;
use crate::{
    app::App,
    mcp::{self, sse},
};

/// What the gate let in.
fn router(app: App, gate: &Gate, with_sse: bool) -> Router {
    let mut transports = mcp::http::router(&app);
    if with_sse {
        transports = transports.merge(sse::router(app.clone()));
    }
    let cors = gate.cors();
    transports
        .layer(RequestBodyLimitLayer::new(limits::BODY_BYTES_READ))
        // Endpoints bound their bodies where they read them: one about a call is never cut off.
        .merge(crate::page::router(app.clone()))
        .merge(endpoints::router(app))
        .layer(cors)
}
