//! Which requests are let in. The page and the API face a browser, where any site can send requests to loopback.
//!
//! Every request names a host that we answer to, once and plainly; whoever it comes from decides what it may ask for:
//!
//! | it comes from | it may |
//! |---|---|
//! | a program, which sends no `Origin` | everything |
//! | a page of ours, with its cookie | everything |
//! | another page of loopback | what the app's side of the call protocol uses |
//! | an `--allow-origin` | everything |
//! | any other page | nothing: 403 |
//!
//! With a token set, every request but those that show nothing carries it too, or the cookie. Where the system does not
//! say whose a connection is, it carries the home's key.

mod names;
mod routes;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::{
    Json,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, ORIGIN},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use serde_json::json;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer, ExposeHeaders};

use self::{
    names::{Host, Origin},
    routes::Route,
};
use super::{
    pages::Pages,
    users::{OtherEnd, Users},
};
use crate::key::{self, Key};

/// What browsers add of themselves: how the page that asks stands to us.
static SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

#[derive(Clone)]
pub(crate) struct Gate(Arc<Rules>);

/// What was chosen at the start.
#[derive(Default)]
pub(crate) struct Rules {
    /// As given on the command line: `scheme://host[:port]`.
    pub(crate) origins: Vec<String>,
    pub(crate) token: Option<String>,
    /// The home's.
    pub(crate) key: Option<Key>,
    pub(crate) users: Users,
    pub(crate) pages: Arc<Pages>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    /// No browser, or a person who typed the address.
    Program,
    /// A page that we served.
    Ours,
    /// A page of another server of this machine.
    Loopback,
    Allowed,
    /// A browser does not say for which page: what needs no `Origin`, such as pictures and links.
    Unnamed,
    Foreign,
}

/// Why not.
type Refusal = (StatusCode, &'static str);

const HOST_REFUSED: Refusal = (
    StatusCode::FORBIDDEN,
    "the Host header does not name this server; send exactly one, with a plain name of it",
);
const ORIGIN_REFUSED: Refusal = (
    StatusCode::FORBIDDEN,
    "this origin is not trusted; start the server with --allow-origin to trust it",
);
const LOOPBACK_REFUSED: Refusal = (
    StatusCode::FORBIDDEN,
    "a page of another server of this machine may only use the routes of the call protocol; \
     --allow-origin trusts it with everything",
);
const PAGE_REFUSED: Refusal =
    (StatusCode::FORBIDDEN, "this page has no session; `holdpoint open` opens one that has");
const TOKEN_MISSING: Refusal = (
    StatusCode::UNAUTHORIZED,
    "send the header `Authorization: Bearer <token>` with the server's --token",
);
const KEY_MISSING: Refusal = (
    StatusCode::UNAUTHORIZED,
    "the system does not say whose this connection is; send the header `Authorization: Bearer <key>` with \
     what the file `key` of the server's home holds",
);

impl Gate {
    pub(crate) fn new(rules: Rules) -> Gate {
        Gate(Arc::new(rules))
    }

    pub(crate) fn users(&self) -> Users {
        self.0.users.clone()
    }

    pub(super) fn key(&self) -> Option<&Key> {
        self.0.key.as_ref()
    }

    /// Pages that were let in may read answers; no wildcard, ever.
    pub(super) fn cors(&self) -> CorsLayer {
        let gate = self.clone();
        let trusted = move |origin: &HeaderValue, parts: &Parts| {
            let asker = origin.to_str().map_or(Asker::Foreign, |it| gate.page(it, None));
            match asker {
                Asker::Allowed => true,
                Asker::Loopback => is_for_loopback(asked(parts)),
                _ => false,
            }
        };
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(trusted))
            .allow_methods([
                Method::GET,
                Method::POST,
                Method::PUT,
                Method::PATCH,
                Method::DELETE,
                Method::OPTIONS,
            ])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(ExposeHeaders::list([HeaderName::from_static("mcp-session-id")]))
    }

    fn page(&self, origin: &str, host: Option<&Host<'_>>) -> Asker {
        if self.0.origins.iter().any(|known| known == origin) {
            return Asker::Allowed;
        }
        let Some(origin) = Origin::read(origin) else { return Asker::Foreign };
        if host.is_some_and(|host| origin.is_of(host)) {
            return Asker::Ours;
        }
        if origin.is_loopback() { Asker::Loopback } else { Asker::Foreign }
    }

    fn asker(&self, headers: &HeaderMap, host: &Host<'_>) -> Asker {
        match (one(headers, &ORIGIN), one(headers, &SITE)) {
            (Sent::Never, Sent::Never | Sent::Once("none")) => Asker::Program,
            (Sent::Never, Sent::Once("same-origin")) => Asker::Ours,
            (Sent::Never, Sent::Once(_)) => Asker::Unnamed,
            (Sent::Once(origin), Sent::Never | Sent::Once(_)) => self.page(origin, Some(host)),
            (Sent::Wrongly, _) | (_, Sent::Wrongly) => Asker::Foreign,
        }
    }

    fn refusal(
        &self,
        caller: &OtherEnd,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Refusal> {
        let has = self.has(caller, headers);
        let host = match one(headers, &HOST) {
            Sent::Once(host) => Host::read(host),
            Sent::Never | Sent::Wrongly => None,
        };
        let Some(host) = host else { return Some(HOST_REFUSED) };
        let is_preflight = is_preflight(method, headers);
        // Whoever knows the token, or has the cookie, was let in by the owner, by whatever name they reached us. And
        // where there is a token, a browser's question before it shows that is answered.
        let is_trusted = has.token || has.cookie || (is_preflight && self.0.token.is_some());
        let names_us = host.is_loopback() || host.is_ip(caller.local.ip()) || is_trusted;
        let other = uri.authority().is_some_and(|it| Host::read(it.as_str()) != Some(host));
        if !names_us || other {
            return Some(HOST_REFUSED);
        }
        let route = match is_preflight {
            true => Route::of(&asked_method(headers), uri.path()),
            false => Route::of(method, uri.path()),
        };
        let asker = self.asker(headers, &host);
        may(asker, route, headers, has).or_else(|| self.lacks(caller, route, is_preflight, has))
    }

    /// What a request shows of secrets.
    fn has(&self, caller: &OtherEnd, headers: &HeaderMap) -> Has {
        let said = match one(headers, &AUTHORIZATION) {
            Sent::Once(value) => value.strip_prefix("Bearer "),
            Sent::Never | Sent::Wrongly => None,
        };
        let token = self.0.token.as_deref().zip(said);
        let key = self.0.key.as_ref().zip(said).filter(|_| !caller.is_known);
        Has {
            token: token.is_some_and(|(token, said)| key::same(said, token)),
            key: key.is_some_and(|(key, said)| key.is(said)),
            cookie: self.0.pages.knows(headers, caller.local.port()),
        }
    }

    /// What a request should have shown.
    fn lacks(&self, caller: &OtherEnd, route: Route, preflight: bool, has: Has) -> Option<Refusal> {
        // Browsers ask before they show anything; the rest shows nothing that is anybody's.
        let is_open = preflight
            || matches!(
                route,
                Route::Client | Route::Proof | Route::Entrance | Route::View | Route::Asset
            );
        if is_open || has.token || has.cookie {
            return None;
        }
        if self.0.token.is_some() && route != Route::Health {
            return Some(TOKEN_MISSING);
        }
        (!caller.is_known && !has.key).then_some(KEY_MISSING)
    }

    /// The answer to a request that should not be here.
    pub(super) fn refused(&self, caller: &OtherEnd, request: &Request) -> Option<Response> {
        let (status, error) =
            self.refusal(caller, request.method(), request.uri(), request.headers())?;
        // Without the query, which may hold what is nobody's business.
        tracing::warn!(path = request.uri().path(), error, "refused a request");
        Some((status, Json(json!({ "error": error }))).into_response())
    }
}

/// The secrets that came with a request.
#[derive(Debug, Clone, Copy, Default)]
struct Has {
    token: bool,
    key: bool,
    cookie: bool,
}

fn may(asker: Asker, route: Route, headers: &HeaderMap, has: Has) -> Option<Refusal> {
    let is_link = || matches!(one(headers, &MODE), Sent::Once("navigate"));
    let is_for_all = is_for_loopback(route);
    let is_page = matches!(route, Route::Entrance | Route::Index | Route::View | Route::Asset);
    match asker {
        Asker::Program | Asker::Allowed => None,
        Asker::Ours if has.cookie || has.token || is_for_all || is_page => None,
        Asker::Ours => Some(PAGE_REFUSED),
        Asker::Loopback if is_for_all => None,
        Asker::Loopback => Some(LOOPBACK_REFUSED),
        Asker::Unnamed if route == Route::Client => None,
        Asker::Unnamed if is_page && is_link() => None,
        Asker::Unnamed | Asker::Foreign => Some(ORIGIN_REFUSED),
    }
}

fn is_for_loopback(route: Route) -> bool {
    matches!(route, Route::Call | Route::Client)
}

/// What a page is about to ask for, or asks.
fn asked(parts: &Parts) -> Route {
    match is_preflight(&parts.method, &parts.headers) {
        true => Route::of(&asked_method(&parts.headers), parts.uri.path()),
        false => Route::of(&parts.method, parts.uri.path()),
    }
}

fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn asked_method(headers: &HeaderMap) -> Method {
    match one(headers, &ACCESS_CONTROL_REQUEST_METHOD) {
        Sent::Once(name) => name.parse().unwrap_or(Method::OPTIONS),
        Sent::Never | Sent::Wrongly => Method::OPTIONS,
    }
}

/// How often a header came that may come once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent<'a> {
    Never,
    Once(&'a str),
    /// More than once, or not as text.
    Wrongly,
}

fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Sent<'a> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Sent::Never,
        (Some(value), None) => value.to_str().map_or(Sent::Wrongly, Sent::Once),
        (Some(_), Some(_)) => Sent::Wrongly,
    }
}
