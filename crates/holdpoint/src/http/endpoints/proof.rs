//! `/api/proof`: a client's question whether this server has the key of its home, asked before it sends anything.

use std::net::SocketAddr;

use axum::{
    Extension, Json,
    extract::Query,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::key::Key;

pub(crate) const PATH: &str = "/api/proof";

/// What a connection can be told, put into its request by whoever serves it.
#[derive(Clone)]
pub(crate) struct Proves {
    pub(crate) key: Option<Key>,
    /// Where it was asked.
    pub(crate) address: SocketAddr,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    nonce: String,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Proof {
    /// HMAC-SHA256 by the key of the home over `holdpoint server`, the nonce and the address, each on its line.
    proof: String,
}

#[utoipa::path(get, path = "/api/proof",
    params(("nonce" = String, Query, description = "32 to 128 hexadecimal digits that nobody foresees")),
    responses(
        (status = 200, description = "That this server has the key of its home", body = Proof),
        (status = 400, description = "The nonce is none"),
        (status = 404, description = "This server has no key")
    ))]
pub(super) async fn proof(
    Extension(proves): Extension<Proves>,
    Query(asked): Query<Asked>,
) -> Response {
    let Some(key) = proves.key else { return super::error(StatusCode::NOT_FOUND, "no_key") };
    match key.proof(&asked.nonce, proves.address) {
        Some(proof) => Json(Proof { proof }).into_response(),
        None => super::error(StatusCode::BAD_REQUEST, "nonce_needed"),
    }
}
