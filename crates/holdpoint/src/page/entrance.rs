//! Who may see the page: a browser that `holdpoint open` gave its cookie. Everybody else is told that one command,
//! and shown nothing.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use maud::{DOCTYPE, Markup, html};

use super::{layout, pieces};
use crate::app::App;

/// Whether a browser asks, for a person to read.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    accepts.is_some_and(|it| it.contains("text/html"))
}

pub(super) fn is_signed_in(app: &App, headers: &HeaderMap) -> bool {
    let port = app.http.get().and_then(|it| it.first()).map_or(0, |it| it.port());
    app.pages.knows(headers, port)
}

/// Stands before everything that shows or does something.
pub(super) async fn signed_in(State(app): State<App>, request: Request, next: Next) -> Response {
    if is_signed_in(&app, request.headers()) {
        return next.run(request).await;
    }
    match *request.method() {
        Method::GET | Method::HEAD => locked(request.uri().path()),
        _ => (StatusCode::FORBIDDEN, "this page has no session; run `holdpoint open`\n")
            .into_response(),
    }
}

/// Says how to get in. A link from another site comes without the cookie that the browser has; the same link from here
/// brings it.
pub(super) fn locked(path: &str) -> Response {
    (StatusCode::FORBIDDEN, html(path)).into_response()
}

fn html(path: &str) -> axum::response::Html<String> {
    let page: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            (layout::head("Holdpoint"))
            body {
                (pieces::sprite())
                main.locked #main {
                    h1 { "This browser may not look yet" }
                    p { "Run this in the folder of your project; it opens the page with a session of its own:" }
                    (pieces::copy_line("holdpoint open"))
                    p.quiet { "Opened it here before? " a href=(path) { "Go on" } "." }
                }
            }
        }
    };
    axum::response::Html(page.into_string())
}
