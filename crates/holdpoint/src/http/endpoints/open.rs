//! How a page of ours gets its session: `holdpoint open` asks for a key that works once, and the browser changes it for a
//! cookie on its way to the page.

use axum::{
    Json,
    extract::{Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use holdpoint_engine::limits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;

#[derive(Serialize, ToSchema)]
pub(super) struct Opening {
    /// The address to open in a browser; it works once.
    url: String,
    /// How long it works.
    expires_s: u64,
}

#[utoipa::path(post, path = "/api/open", responses(
    (status = 200, description = "An address that gives a browser its session", body = Opening)
))]
pub(super) async fn key(State(app): State<App>) -> Response {
    let Some((base, key)) = app.base_url().zip(app.pages.key()) else {
        return super::error(StatusCode::SERVICE_UNAVAILABLE, "no_session_can_be_made");
    };
    let url = format!("{base}/open?key={key}");
    // A key is nobody's to keep.
    let headers = [(header::CACHE_CONTROL, "no-store")];
    (headers, Json(Opening { url, expires_s: limits::OPEN_KEY.as_secs() })).into_response()
}

#[derive(Deserialize)]
pub(super) struct Brought {
    #[serde(default)]
    key: String,
}

#[utoipa::path(get, path = "/open", params(("key" = String, Query, description = "What `POST /api/open` gave")), responses(
    (status = 303, description = "The session's cookie, and the way to the page"),
    (status = 403, description = "The key was used, or is too old", body = String)
))]
pub(super) async fn open(State(app): State<App>, Query(brought): Query<Brought>) -> Response {
    let port = app.http.get().and_then(|it| it.first()).map_or(0, |it| it.port());
    let Some(cookie) = app.pages.redeem(&brought.key, port) else {
        let text = "This address works once, for a minute. Run `holdpoint open` again.\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    };
    let headers = [
        (header::SET_COOKIE, cookie.as_str()),
        (header::LOCATION, "/"),
        (header::CACHE_CONTROL, "no-store"),
        // The address with the key in it goes nowhere else.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
