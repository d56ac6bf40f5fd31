//! Other servers by https://, with the authority that vouches for them and without it.

use std::path::Path;

use holdpoint_testkit::{
    process::{Process, home},
    servers::{Listening, authority},
};
use serde_json::{Value, json};

use crate::gateway::{BIN, Hub, write};

/// With these servers, and the authorities of this file trusted alone.
fn trusting(authorities: &Path, servers: &Value, args: &[&str]) -> Hub {
    let folder = home();
    write(&folder.path().join("mcp_clients.json"), servers);
    let mut all = vec!["serve", "--port", "0", "--mcp-clients"];
    all.extend(args);
    let process = Process::start_at(BIN, &all, folder.path(), |command| {
        command.env("SSL_CERT_FILE", authorities).env_remove("SSL_CERT_DIR");
    });
    Hub::of(process, folder)
}

fn both(server: &Listening) -> Value {
    json!({
        "new": { "url": server.url("/mcp"), "transport": "http" },
        "old": { "url": server.url("/sse"), "transport": "sse" },
    })
}

#[test]
fn an_https_server_is_reached_where_its_authority_is_trusted() {
    let server = Listening::fixture(&["--tls"]);
    let inline = format!("either:{}", server.url("/sse"));
    let hub = trusting(&authority(), &both(&server), &["--mcp-client", &inline]);
    for (name, transport) in [("new", "http"), ("old", "sse"), ("either", "sse")] {
        assert_eq!(hub.connected(name)["transport"], transport, "{name}");
        hub.call(&format!("{name}/count"), json!({}));
    }
    let big = hub.call("new/big", json!({ "bytes": 3_000_000 }));
    assert_eq!(big["content"][0]["text"].as_str().unwrap().len(), 3_000_000);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_with_words() {
    let server = Listening::fixture(&["--tls"]);
    // The authorities of the system: there are some, and this one is not among them.
    let hub = Hub::with(&both(&server));
    for name in ["new", "old"] {
        let error = hub.status(name, "error")["error"].as_str().unwrap().to_owned();
        for word in ["certificate is not trusted", "UnknownIssuer", "SSL_CERT_FILE"] {
            assert!(error.contains(word), "{name}: {error}");
        }
    }
    let (status, refusal) = hub.try_call("new/count", &json!({}));
    assert_eq!((status, &refusal["error"]), (409, &json!("server_not_connected")), "{refusal}");
}

#[test]
fn without_any_authority_it_is_said_how_to_name_one() {
    let server = Listening::fixture(&["--tls"]);
    let none = tempfile::NamedTempFile::new().unwrap();
    let hub = trusting(none.path(), &both(&server), &[]);
    let error = hub.status("new", "error")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("SSL_CERT_FILE"), "{error}");
}

#[test]
fn an_address_that_speaks_no_tls_says_so() {
    let server = Listening::fixture(&[]);
    let url = server.url("/mcp").replace("http://", "https://");
    let hub = trusting(&authority(), &json!({ "plain": { "url": url, "transport": "http" } }), &[]);
    let error = hub.status("plain", "error")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("does not speak TLS"), "{error}");
}
