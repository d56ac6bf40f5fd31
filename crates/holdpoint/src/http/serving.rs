//! From the sockets to the endpoints: who may ask, where they are served, and where they find us.
//!
//! REST, the event stream and MCP's two HTTP transports are behind one gate.

pub(crate) mod door;
pub(crate) mod lanes;
pub(crate) mod listen;
pub(crate) mod port_file;
pub(crate) mod stall;

mod caught;
mod gate;
mod places;

use axum::{Router, middleware};
use holdpoint_engine::limits;
use tower_http::limit::RequestBodyLimitLayer;

pub(crate) use self::gate::Gate;
use super::endpoints;
use crate::{
    app::App,
    mcp::{self, sse},
};

fn router(app: App, gate: Gate, with_sse: bool) -> Router {
    let mut transports = mcp::http::router(&app);
    if with_sse {
        transports = transports.merge(sse::router(app.clone()));
    }
    let cors = gate.cors();
    transports
        .layer(RequestBodyLimitLayer::new(limits::BODY_BYTES_READ))
        // Endpoints bound their bodies where they read them: one about a call is never cut off.
        .merge(endpoints::router(app))
        .layer(cors)
        // Outermost: nothing is done for a request that should not be here.
        .layer(middleware::from_fn_with_state(gate, gate::check))
}
