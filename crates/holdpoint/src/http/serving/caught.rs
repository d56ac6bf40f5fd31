//! What a request is answered whose handler panicked.
//!
//! A connection that is reset ends the program of an existing client. So what apps ask about their calls is
//! answered in the protocol's own words for "go on", and everything else with 500.

use axum::{
    Json,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

/// What was asked, as far as the answer depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Start,
    /// An app tells something and only hears that it was taken.
    Tells,
    Batch,
    Poll,
    Expression,
    /// Our own clients hear of the callpoints so.
    Watch,
    Other,
}

impl Asked {
    pub(super) fn by(request: &Request) -> Asked {
        let path = request.uri().path();
        match path {
            "/api/call/start" => Asked::Start,
            "/api/call/batch" => Asked::Batch,
            "/api/callpoints/watch" => Asked::Watch,
            "/api/functions" if request.method() != axum::http::Method::POST => Asked::Other,
            "/api/call/complete"
            | "/api/call/event"
            | "/api/call/repl-result"
            | "/api/report-com-error"
            | "/api/functions" => Asked::Tells,
            _ if path.starts_with("/api/poll/") => Asked::Poll,
            _ if path.starts_with("/api/poll-repl/") => Asked::Expression,
            _ => Asked::Other,
        }
    }

    /// The answer that nobody came to make.
    pub(super) fn answer(self) -> Response {
        let go_on = |body: Value| Json(body).into_response();
        match self {
            Asked::Start => {
                let id = uuid::Uuid::new_v4().to_string();
                go_on(json!({ "call_id": id, "action": "continue", "captured": false }))
            }
            Asked::Tells => go_on(json!({ "status": "ok", "captured": false })),
            Asked::Batch => go_on(json!({
                "status": "ok", "accepted": 0, "rejected": 0, "missing_cids": [], "captured": false,
            })),
            Asked::Poll => go_on(json!({ "status": "ready", "action": { "action": "continue" } })),
            Asked::Expression => go_on(json!({ "eval_id": null })),
            Asked::Watch | Asked::Other => {
                let text = "the server failed at this request; its log says where";
                let body = json!({ "error": "internal_error", "message": text });
                (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, status: u16, holds: &str) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = Asked::by(&request).answer();
        assert_eq!(response.status().as_u16(), status, "{path}");
        let body = axum::body::to_bytes(response.into_body(), 1_000);
        let body = futures::executor::block_on(body).unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains(holds), "{path}: {text}");
    }

    #[test]
    fn an_app_goes_on_and_everybody_else_hears_of_it() {
        check("POST", "/api/call/start", 200, r#""action":"continue""#);
        check("POST", "/api/call/complete", 200, r#""status":"ok""#);
        check("POST", "/api/call/event", 200, r#""status":"ok""#);
        check("POST", "/api/call/batch", 200, r#""missing_cids":[]"#);
        check("GET", "/api/poll/p1", 200, r#""action":{"action":"continue"}"#);
        check("GET", "/api/poll-repl/p1", 200, r#""eval_id":null"#);
        check("POST", "/api/functions", 200, r#""status":"ok""#);
        check("GET", "/api/functions", 500, r#""error":"internal_error""#);
        check("GET", "/api/paused", 500, r#""error":"internal_error""#);
        check("POST", "/mcp", 500, r#""error":"internal_error""#);
    }
}
