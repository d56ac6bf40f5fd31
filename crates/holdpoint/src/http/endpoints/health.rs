//! `/healthz`: whether the server answers, for scripts and supervisors.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::{App, VERSION},
    tools::server::status::StoreRow,
};

#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    ok: bool,
    version: &'static str,
    pid: u32,
    uptime_s: u64,
    /// Programs that are being debugged.
    sessions: usize,
    /// `open`, `closed`, `failing` or `failed`: whether what is to outlive this server is kept.
    store: &'static str,
}

#[utoipa::path(get, path = "/healthz", responses(
    (status = 200, description = "The server answers", body = Health)
))]
pub(super) async fn healthz(State(app): State<App>) -> Json<Health> {
    let uptime_s = app.engine.uptime().as_secs();
    let sessions = app.engine.sessions.live();
    let store = StoreRow::of(&app).state;
    Json(Health { ok: true, version: VERSION, pid: std::process::id(), uptime_s, sessions, store })
}
