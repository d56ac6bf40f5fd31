//! The style sheet, the script and the icon, embedded. Their addresses carry a mark of their text, so a browser keeps
//! each for ever and never shows an old one.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::sheet::mark;

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const ASSETS: &[Asset] = &[
    Asset {
        name: "page.css",
        kind: "text/css; charset=utf-8",
        text: concat!(
            include_str!("assets/page.css"),
            include_str!("assets/calls.css"),
            include_str!("assets/timeline.css"),
            include_str!("assets/recordings.css"),
            include_str!("assets/outside.css"),
        ),
    },
    Asset {
        name: "page.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("assets/page.js"),
    },
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("assets/icon.svg") },
];

const BELOW: &str = "/page/";

/// Each with its mark, made when the first page is shown.
static MARKED: LazyLock<Vec<(&'static Asset, String)>> =
    LazyLock::new(|| ASSETS.iter().map(|asset| (asset, mark(asset.text))).collect());

pub(super) fn is_one(path: &str) -> bool {
    path.strip_prefix(BELOW).is_some_and(|name| ASSETS.iter().any(|it| it.name == name))
}

pub(super) fn style() -> String {
    address("page.css")
}

pub(super) fn script() -> String {
    address("page.js")
}

pub(super) fn icon() -> String {
    address("icon.svg")
}

fn address(name: &str) -> String {
    let found = MARKED.iter().find(|(asset, _)| asset.name == name);
    let mark = found.map(|(_, mark)| mark.as_str()).unwrap_or_default();
    format!("{BELOW}{name}?v={mark}")
}

pub(super) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some((asset, mark)) = MARKED.iter().find(|(asset, _)| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tag = format!("\"{mark}\"");
    let kept = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable".to_owned()),
    ];
    let has = headers.get(header::IF_NONE_MATCH).and_then(|it| it.to_str().ok());
    if has.is_some_and(|it| it.contains(&tag)) {
        return (StatusCode::NOT_MODIFIED, kept).into_response();
    }
    (kept, [(header::CONTENT_TYPE, asset.kind)], asset.text).into_response()
}
