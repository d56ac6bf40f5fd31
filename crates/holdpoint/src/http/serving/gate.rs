//! Who may talk to us. The page and the API face a browser, where any site can send requests to loopback.
//!
//! Every request names a host we answer to and, when it comes from a page, an origin we trust;
//! else it gets 403. With a token set, every request but `/healthz` also carries it.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{AUTHORIZATION, HOST, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde_json::json;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer, ExposeHeaders};

#[derive(Clone)]
pub(crate) struct Gate(Arc<Rules>);

struct Rules {
    /// As given on the command line: `scheme://host[:port]`.
    origins: Vec<String>,
    token: Option<String>,
}

impl Gate {
    pub(crate) fn new(origins: Vec<String>, token: Option<String>) -> Gate {
        Gate(Arc::new(Rules { origins, token }))
    }

    /// Trusted pages may read answers; no wildcard, ever.
    pub(super) fn cors(&self) -> CorsLayer {
        let gate = self.clone();
        let trusted = move |origin: &HeaderValue, _: &_| {
            origin.to_str().is_ok_and(|origin| gate.trusts_origin(origin))
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
            .expose_headers(ExposeHeaders::list(["mcp-session-id".parse().unwrap_or(ORIGIN)]))
    }

    fn trusts_origin(&self, origin: &str) -> bool {
        if self.0.origins.iter().any(|known| known == origin) {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        scheme && uri.authority().is_some_and(is_loopback)
    }

    fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        let authorized = self.0.token.as_deref().map(|token| carries(headers, token));
        // Whoever knows the token was let in by the owner, by whatever name they reached us.
        if authorized != Some(true) && !names_us(uri, headers) {
            return Some((StatusCode::FORBIDDEN, "the Host header does not name this server"));
        }
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        if origin.is_some_and(|origin| !self.trusts_origin(origin)) {
            return Some((
                StatusCode::FORBIDDEN,
                "this origin is not trusted; start the server with --allow-origin to trust it",
            ));
        }
        if authorized == Some(false) && uri.path() != "/healthz" {
            return Some((
                StatusCode::UNAUTHORIZED,
                "send the header `Authorization: Bearer <token>` with the server's --token",
            ));
        }
        None
    }
}

pub(super) async fn check(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    match refused(&gate, &request) {
        None => next.run(request).await,
        Some(response) => response,
    }
}

/// The answer to a request that should not be here.
pub(super) fn refused(gate: &Gate, request: &Request) -> Option<Response> {
    let (status, error) = gate.refusal(request.uri(), request.headers())?;
    tracing::warn!(uri = %request.uri(), error, "refused a request");
    Some((status, Json(json!({ "error": error }))).into_response())
}

fn names_us(uri: &Uri, headers: &HeaderMap) -> bool {
    let header = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
    match header {
        Some(host) if is_usual(host) => true,
        Some(host) => host.parse::<Authority>().is_ok_and(|host| is_loopback(&host)),
        None => uri.authority().is_some_and(is_loopback),
    }
}

/// What nearly every client writes, known without taking it apart.
fn is_usual(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    matches!(name, "127.0.0.1" | "localhost") && port.parse::<u16>().is_ok()
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn carries(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    same_secret(given.as_bytes(), token.as_bytes())
}

/// Takes the same time wherever the two differ.
fn same_secret(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (x, y)| differ | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(token: Option<&str>, headers: &[(&str, &str)], expected: Option<u16>) {
        check_at("/api/events", token, headers, expected);
    }

    #[track_caller]
    fn check_at(
        uri: &'static str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        expected: Option<u16>,
    ) {
        let gate = Gate::new(vec!["https://ok.example".into()], token.map(str::to_owned));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(
                axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        let refusal = gate.refusal(&Uri::from_static(uri), &map);
        assert_eq!(refusal.map(|(status, _)| status.as_u16()), expected, "{uri} {headers:?}");
    }

    #[test]
    fn loopback_names_are_ours() {
        for host in ["localhost:5174", "127.0.0.1:5174", "[::1]:5174", "LOCALHOST", "127.0.0.2"] {
            check(None, &[("host", host)], None);
        }
    }

    #[test]
    fn a_rebound_name_is_refused() {
        for host in ["evil.example:5174", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            check(None, &[("host", host)], Some(403));
        }
        check(None, &[], Some(403));
    }

    /// What looks like us at its beginning or its end, and addresses that are not this machine's own.
    #[test]
    fn a_name_that_resembles_ours_is_refused() {
        let hosts = [
            "127.0.0.1:80@evil.example",
            "evil-localhost",
            "evil.localhost:5174",
            "0.0.0.0:5174",
            "10.0.0.7:5174",
            "[2001:db8::1]:5174",
            "é",
        ];
        for host in hosts {
            check(None, &[("host", host)], Some(403));
        }
    }

    /// HTTP/2 and proxies name the host in the request itself.
    #[test]
    fn without_a_header_the_name_in_the_request_counts() {
        check_at("http://localhost:5174/api/events", None, &[], None);
        check_at("http://evil.example/api/events", None, &[], Some(403));
    }

    #[test]
    fn only_trusted_pages_may_ask() {
        let at = |origin| [("host", "localhost"), ("origin", origin)];
        check(None, &at("http://localhost:3000"), None);
        check(None, &at("http://[::1]:3000"), None);
        check(None, &at("https://ok.example"), None);
        check(None, &at("https://ok.example.evil"), Some(403));
        check(None, &at("https://evil.example"), Some(403));
        check(None, &at("http://localhost.evil.example"), Some(403));
        check(None, &at("null"), Some(403));
        check(None, &at("file://localhost"), Some(403));
        check(None, &at("http://10.0.0.7:3000"), Some(403));
        check(None, &at("é"), Some(403));
    }

    #[test]
    fn a_token_is_asked_for_and_lets_any_name_in() {
        let bearer = ("authorization", "Bearer secret");
        check(Some("secret"), &[("host", "localhost")], Some(401));
        check(Some("secret"), &[("host", "localhost"), bearer], None);
        check(Some("secret"), &[("host", "box.example"), bearer], None);
        check(Some("secret"), &[("host", "box.example")], Some(403));
        check(
            Some("secret"),
            &[("host", "localhost"), ("authorization", "Bearer wrong")],
            Some(401),
        );
        let page = ("origin", "https://evil.example");
        check(Some("secret"), &[("host", "localhost"), bearer, page], Some(403));
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        for given in ["Bearer ", "Bearer s", "Bearer secre", "Bearer secrets", "Bearer xecret"] {
            check(Some("secret"), &[("host", "localhost"), ("authorization", given)], Some(401));
        }
        for given in ["secret", "bearer secret", "Basic secret", "Bearer Bearer secret", "é"] {
            check(Some("secret"), &[("host", "localhost"), ("authorization", given)], Some(401));
        }
    }

    #[test]
    fn a_monitor_needs_no_token_and_nobody_else_does_as_it_does() {
        let headers = [("host", "localhost")];
        check_at("/healthz", Some("secret"), &headers, None);
        check_at("/healthz?verbose", Some("secret"), &headers, None);
        for path in ["/healthz/", "/healthz/../api/events", "/healthzz", "//healthz"] {
            check_at(path, Some("secret"), &headers, Some(401));
        }
        check_at("/healthz", Some("secret"), &[("host", "evil.example")], Some(403));
    }

    proptest::proptest! {
        /// Whatever a browser sends: only names of loopback pass, and nothing panics.
        #[test]
        fn only_loopback_passes(host in "[ -~]{0,40}", origin in "[ -~]{0,40}") {
            let gate = Gate::new(Vec::new(), None);
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            headers.insert(ORIGIN, origin.parse().unwrap());
            if gate.refusal(&Uri::from_static("/"), &headers).is_none() {
                let is_ours = |text: &str| text.contains("localhost") || text.contains("127.") || text.contains("::1");
                proptest::prop_assert!(is_ours(&host.to_lowercase()) && is_ours(&origin.to_lowercase()));
            }
        }

        #[test]
        fn a_name_that_only_contains_ours_is_refused(before in "[a-z]{1,9}", after in "[a-z]{1,9}") {
            let gate = Gate::new(Vec::new(), None);
            for name in [format!("{before}.localhost.{after}"), format!("127.0.0.1.{after}"), format!("localhost{after}")] {
                let mut headers = HeaderMap::new();
                headers.insert(HOST, name.parse().unwrap());
                proptest::prop_assert!(gate.refusal(&Uri::from_static("/"), &headers).is_some());
            }
        }
    }
}
