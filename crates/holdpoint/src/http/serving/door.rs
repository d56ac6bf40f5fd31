//! What answers the requests of one connection.
//!
//! Nearly all that a busy app asks is that a call begins and that it ends. These two are answered here,
//! past the router and its layers, which cost more than the answer. The gate looks at them as at
//! everything else; a page's requests, which need their headers, go through the router.

use std::{
    convert::Infallible,
    future::ready,
    sync::{Arc, OnceLock},
};

use axum::{
    Json, Router,
    body::Body,
    extract::{FromRequest as _, Request, State},
    http::{Method, StatusCode, header::ORIGIN},
    response::{IntoResponse as _, Response},
};
use futures::future::BoxFuture;
use hyper::{body::Incoming, service::Service};
use serde_json::json;
use tower::Service as _;

use super::{
    Gate,
    caught::Asked,
    places::{Busy, Place},
    router,
    stall::Awaited,
    users::OtherEnd,
};
use crate::{
    app::App,
    http::endpoints::{
        body::Sent,
        calls,
        proof::{self, Proves},
    },
    panics,
};

/// One for all connections.
pub(crate) struct Door {
    pub(super) app: App,
    gate: Gate,
    with_sse: bool,
    /// Made when it is first needed: a server on stdio may never need it, and describing every
    /// endpoint costs 2 ms and 3 MB.
    router: OnceLock<Router>,
}

impl Door {
    pub(crate) fn new(app: App, gate: Gate, with_sse: bool) -> Door {
        Door { app, gate, with_sse, router: OnceLock::new() }
    }

    fn router(&self) -> Router {
        let make = || router(self.app.clone(), &self.gate, self.with_sse);
        self.router.get_or_init(make).clone()
    }
}

/// A connection at the door, in its place.
pub(super) struct Visitor {
    pub(super) door: Arc<Door>,
    pub(super) place: Arc<Place>,
    pub(super) caller: OtherEnd,
}

impl Service<hyper::Request<Incoming>> for Visitor {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        self.answer(request.map(Body::new))
    }
}

impl Visitor {
    fn answer(&self, request: Request) -> BoxFuture<'static, Result<Response, Infallible>> {
        // Before anything else looks at it: nothing is done for a request that should not be here.
        if let Some(refused) = self.door.gate.refused(&self.caller, &request) {
            let busy = Busy::new(Arc::clone(&self.place));
            return Box::pin(async move { Ok(busy.until_made(refused)) });
        }
        self.door.app.activity.touch();
        let door = Arc::clone(&self.door);
        let place = Arc::clone(&self.place);
        let Some(about) = AboutCall::of(&request) else {
            let asked = Asked::by(&request);
            let busy = match asked {
                Asked::Other => Busy::other(place),
                _ => Some(Busy::new(place)),
            };
            let Some(busy) = busy else { return Box::pin(ready(Ok(crowded()))) };
            let mut request = request.map(|body| Body::new(Awaited::new(body)));
            if request.uri().path() == proof::PATH {
                let proof = Proves { key: door.gate.key().cloned(), address: self.caller.local };
                request.extensions_mut().insert(proof);
            }
            return Box::pin(async move {
                let answer = panics::caught(async move { door.router().call(request).await });
                let response = answer.await.unwrap_or_else(|_panic| Ok(asked.answer()))?;
                Ok(busy.until_made(response))
            });
        };
        let busy = Busy::new(place);
        Box::pin(async move {
            let answer = panics::caught(about.answer(&door, request));
            let response = answer.await.unwrap_or_else(|_panic| about.asked().answer());
            Ok(busy.until_made(response))
        })
    }
}

/// Told to whoever is neither an app nor among the first.
fn crowded() -> Response {
    let error = "too many requests and streams are open; the places that are left are for apps";
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": error }))).into_response()
}

/// The two requests that every call of an app makes.
#[derive(Clone, Copy)]
enum AboutCall {
    Start,
    Complete,
}

impl AboutCall {
    fn of(request: &Request) -> Option<AboutCall> {
        if request.method() != Method::POST || request.headers().contains_key(ORIGIN) {
            return None;
        }
        match request.uri().path() {
            "/api/call/start" => Some(AboutCall::Start),
            "/api/call/complete" => Some(AboutCall::Complete),
            _ => None,
        }
    }

    fn asked(self) -> Asked {
        match self {
            AboutCall::Start => Asked::Start,
            AboutCall::Complete => Asked::Tells,
        }
    }

    async fn answer(self, door: &Door, request: Request) -> Response {
        let app = door.app.clone();
        let sent = match Sent::from_request(request, &app).await {
            Ok(sent) => sent,
            Err(refusal) => return refusal,
        };
        match self {
            AboutCall::Start => calls::start(State(app), sent).await,
            AboutCall::Complete => calls::complete(State(app), sent).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use holdpoint_engine::secrets::Secrets;

    use super::*;
    use crate::{
        catalogue::Catalogue,
        http::serving::{Rules, places::Places},
    };

    fn door() -> Door {
        let catalogue = Catalogue::ours(&[]).unwrap();
        let app = App::new(
            catalogue,
            None,
            crate::mcp::Structured::Auto,
            Some(Path::new(":memory:")),
            Secrets::default(),
        );
        Door::new(app, Gate::new(Rules::default()), false)
    }

    /// Each request carries the room for its answer, which was 11 kB before rare ways had their own.
    #[tokio::test]
    async fn the_answer_to_a_call_is_small_to_carry() {
        let door = door();
        for about in [AboutCall::Start, AboutCall::Complete] {
            let answer = about.answer(&door, Request::new(Body::empty()));
            assert!(size_of_val(&answer) < 2_048, "{}", size_of_val(&answer));
        }
    }

    async fn fail() -> Response {
        panic!("a handler of a test")
    }

    #[tokio::test]
    async fn a_panic_is_answered_and_its_connection_lives_on() {
        let door = Arc::new(door());
        let routes = Router::new().route("/api/poll/{id}", axum::routing::get(fail));
        door.router.set(routes.fallback(fail)).unwrap();
        let place = Places::new().enter(std::time::Duration::ZERO).await.unwrap();
        let caller = OtherEnd { local: ([127, 0, 0, 1], 5174).into(), is_known: true };
        let visitor = Visitor { door, place: Arc::clone(&place), caller };
        for (path, status) in [("/api/poll/p1", 200), ("/api/paused", 500), ("/mcp", 500)] {
            let request = Request::builder().uri(path).header("host", "127.0.0.1:5174");
            let request = request.body(Body::empty()).unwrap();
            let response = visitor.answer(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{path}");
        }
        assert!(place.is_idle(), "a request that panicked is over");
    }
}
