//! What answers the requests of one connection.
//!
//! Nearly all that a busy app asks is that a call begins and that it ends. These two are answered here,
//! past the router and its layers, which cost more than the answer. The gate looks at them as at
//! everything else; a page's requests, which need their headers, go through the router.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{
    Router,
    body::Body,
    extract::{FromRequest as _, Request, State},
    http::{Method, header::ORIGIN},
    response::Response,
};
use futures::future::BoxFuture;
use hyper::{body::Incoming, service::Service};
use tower::Service as _;

use super::{
    Gate,
    places::{Busy, Place},
    router,
    users::Caller,
};
use crate::{
    app::App,
    http::endpoints::{
        body::Sent,
        calls,
        proof::{self, Proves},
    },
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
    pub(super) caller: Caller,
}

impl Service<hyper::Request<Incoming>> for Visitor {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let busy = Busy::new(Arc::clone(&self.place));
        let mut request = request.map(Body::new);
        // Before anything else looks at it: nothing is done for a request that should not be here.
        if let Some(refused) = self.door.gate.refused(&self.caller, &request) {
            return Box::pin(async move { Ok(busy.until_made(refused)) });
        }
        self.door.app.activity.touch();
        if let Some(about) = AboutCall::of(&request) {
            let door = Arc::clone(&self.door);
            return Box::pin(async move {
                let response = about.answer(&door, request).await;
                Ok(busy.until_made(response))
            });
        }
        if request.uri().path() == proof::PATH {
            let proof = Proves { key: self.door.gate.key().cloned(), address: self.caller.local };
            request.extensions_mut().insert(proof);
        }
        let answer = self.door.router().call(request);
        Box::pin(async move { Ok(busy.until_made(answer.await?)) })
    }
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
    use crate::{catalogue::Catalogue, http::serving::Rules};

    /// Each request carries the room for its answer, which was 11 kB before rare ways had their own.
    #[tokio::test]
    async fn the_answer_to_a_call_is_small_to_carry() {
        let catalogue = Catalogue::ours(&[]).unwrap();
        let app = App::new(
            catalogue,
            None,
            crate::mcp::Structured::Auto,
            Some(Path::new(":memory:")),
            Secrets::default(),
        );
        let door = Door::new(app, Gate::new(Rules::default()), false);
        for about in [AboutCall::Start, AboutCall::Complete] {
            let answer = about.answer(&door, Request::new(Body::empty()));
            assert!(size_of_val(&answer) < 2_048, "{}", size_of_val(&answer));
        }
    }
}
