//! What a page may ask for, by the path. Whatever is not here is for programs, and for pages of our own.

use axum::http::Method;

use crate::page;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// What the app's side of the call protocol uses: how a page that is debugged works.
    Call,
    /// The client itself, which is public code.
    Client,
    /// Where a page of ours brings its key.
    Entrance,
    /// Where a page of ours begins.
    Index,
    /// A view of the page, which shows nothing without the cookie.
    View,
    /// What a page of ours is made of: public.
    Asset,
    /// How a server proves itself, before anybody shows it anything.
    Proof,
    Health,
    Other,
}

/// Below these the path goes on by one name.
const CALL_BELOW: [&str; 2] = ["/api/poll/", "/api/poll-repl/"];

impl Route {
    pub(super) fn of(method: &Method, path: &str) -> Route {
        let is_get = matches!(*method, Method::GET | Method::HEAD);
        match path {
            "/api/call/start"
            | "/api/call/complete"
            | "/api/call/event"
            | "/api/call/batch"
            | "/api/call/repl-result"
            | "/api/report-com-error"
            | "/api/callpoints/watch"
            | "/api/functions"
            | "/api/breakpoints" => Route::Call,
            "/api/debug-client.js" | "/api/debug-client.cjs" | "/api/debug-client.d.ts" => {
                Route::Client
            }
            "/" if is_get => Route::Index,
            "/open" if is_get => Route::Entrance,
            "/api/proof" if is_get => Route::Proof,
            "/healthz" if is_get => Route::Health,
            path if is_get && page::asks(path).is_some() => match page::asks(path) {
                Some(page::Asks::Asset) => Route::Asset,
                _ => Route::View,
            },
            path if CALL_BELOW.iter().any(|it| is_below(path, it)) => Route::Call,
            _ => Route::Other,
        }
    }
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_other_programs_is_no_route_of_calls() {
        let of = |method: &str, path| Route::of(&method.parse().unwrap(), path);
        for path in ["/api/poll/1", "/api/call/start", "/api/functions", "/api/callpoints/watch"] {
            assert_eq!(of("POST", path), Route::Call, "{path}");
        }
        for path in [
            "/mcp",
            "/mcp/sse",
            "/api/paused",
            "/api/paused/1/continue",
            "/api/repl/1/eval",
            "/api/repl/start",
            "/api/events",
            "/api/open",
            "/api/breakpoints/f/behavior",
            "/api/poll/",
            "/api/poll/1/2",
            "/api/call/start/",
            "//api/call/start",
            "/openapi.json",
            "/api/behavior",
            "/api/call/../../mcp",
        ] {
            assert_eq!(of("POST", path), Route::Other, "{path}");
        }
        assert_eq!(of("POST", "/open"), Route::Other);
        assert_eq!(of("GET", "/open"), Route::Entrance);
    }
}
