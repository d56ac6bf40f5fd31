//! HTTP clients, all of this process. Certificates are read only where an address needs them: they cost milliseconds
//! and memory, and most servers that we speak to are on this machine.
//!
//! The authorities that are trusted are the system's, so that a company's own and its proxies' are among them;
//! `SSL_CERT_FILE` and `SSL_CERT_DIR` name others in their place.

use std::{error::Error, io, sync::Once};

use reqwest::ClientBuilder;
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// What to do about a certificate that nobody here vouches for.
const PRIVATE: &str = "SSL_CERT_FILE names a file of the authorities to trust";

/// A client for this address and for others of its scheme.
pub(crate) fn builder(url: &str) -> ClientBuilder {
    match is_https(url) {
        true => secure(),
        false => ClientBuilder::new().tls_backend_preconfigured(nobody()),
    }
}

pub(crate) fn client(url: &str) -> Result<reqwest::Client, String> {
    build(builder(url))
}

pub(crate) fn build(builder: ClientBuilder) -> Result<reqwest::Client, String> {
    builder.build().map_err(|error| reason(&error))
}

/// With the system's certificates.
fn secure() -> ClientBuilder {
    provide();
    ClientBuilder::new()
}

/// Says whose arithmetic TLS is done with, for clients that others build.
pub(crate) fn provide() {
    static PROVIDED: Once = Once::new();
    PROVIDED.call_once(|| {
        if ring::default_provider().install_default().is_err() {
            tracing::debug!("somebody else provided the arithmetic of TLS");
        }
    });
}

/// Trusts nobody: for a client that speaks no TLS, and has to be given some all the same.
fn nobody() -> ClientConfig {
    provide();
    ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

fn is_https(url: &str) -> bool {
    url.get(..8).is_some_and(|it| it.eq_ignore_ascii_case("https://"))
}

/// An error of the client's by what it stands for: `error sending request` says nothing. Without the address, which
/// may hold what lets one in.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(it) = cause {
        if let Some(told) = tls(it) {
            return told;
        }
        text = it.to_string();
        cause = it.source();
    }
    match text.is_empty() {
        true => nameless(error),
        false => text,
    }
}

fn nameless(error: &reqwest::Error) -> String {
    let text = error.to_string();
    match error.url() {
        Some(url) => text.replace(url.as_str(), "its address"),
        None => text,
    }
}

/// What went wrong with a certificate or a handshake.
fn tls(cause: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = cause;
    // What an error of this kind was made of is not among its sources.
    while let Some(inner) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        cause = inner;
    }
    Some(match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => {
            format!("its certificate is not trusted: {why}; {PRIVATE}")
        }
        rustls::Error::General(why) => format!("{why}; {PRIVATE}"),
        rustls::Error::InvalidMessage(_) => "it does not speak TLS; is it http://?".to_owned(),
        other => format!("TLS: {other}"),
    })
}
