//! A login from its beginning to its end: what the server asks for, where a person says yes, and what is got for it.

use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    AuthorizationSession,
};
use serde_json::{Value, json};

use super::{
    challenged,
    grant::{self, Grant, GrantStore, file},
    words,
};
use crate::{
    app::VERSION,
    external::{config::Remote, hidden, http},
    web,
};

/// Under which we are registered.
const CLIENT: &str = "Holdpoint";

/// What is asked for beside what the server says itself.
#[derive(Default)]
pub(crate) struct LoginTerms {
    /// One that was registered by hand, or the https:// address of a document that says who we are.
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<String>,
    /// Beside those that were granted before.
    pub(crate) scopes: Vec<String>,
    /// What the server said last, where that is known.
    pub(crate) challenge: Option<String>,
}

/// One that waits for a person.
pub(crate) struct LoginAttempt {
    session: AuthorizationSession,
    state: String,
}

/// Asks the server how one logs in there.
pub(crate) async fn begin(
    name: &str,
    remote: &Remote,
    redirect_uri: &str,
    wanted: LoginTerms,
) -> Result<LoginAttempt, String> {
    let challenge = match &wanted.challenge {
        Some(challenge) => challenge.clone(),
        None => asked(remote).await?,
    };
    web::provide();
    let url = remote.url.as_str();
    let manager = AuthorizationManager::new_allowing_private_addresses(url).await;
    let mut manager = manager.map_err(|error| words(&error))?;
    let found = manager.resolve_metadata_from_challenge(Some(&challenge)).await;
    let found = found.map_err(|error| words(&error))?.metadata;
    let by_document = takes_documents(&found);
    manager.set_metadata(found);
    let file = file(name).ok_or("there is no home to keep a login in")?;
    let before = grant::read(&file).ok().flatten().filter(|it| it.url == remote.url);
    let scopes = scopes(&manager, before.as_ref(), &wanted.scopes).await;

    let mut request = AuthorizationRequest::new(redirect_uri).with_client_name(CLIENT);
    request = request.with_initial_scope_selection().with_scopes(scopes.clone());
    let mut to = Grant::new(url, "", redirect_uri);
    match wanted.client_id {
        Some(document) if by_document && document.starts_with("https://") => {
            to.client_id.clone_from(&document);
            request = request.with_client_metadata_url(document);
        }
        Some(id) if !id.starts_with("https://") => {
            (to.client_id, to.client_secret) = (id, wanted.client_secret);
        }
        _ => {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let registered = manager.register_client(CLIENT, redirect_uri, &scopes).await;
            let registered = registered.map_err(|error| unregistered(&error))?;
            (to.client_id, to.client_secret) = (registered.client_id, registered.client_secret);
        }
    }
    if request.client_metadata_url.is_none() {
        request = request.with_preregistered_client(&to.client_id);
        request.client_secret.clone_from(&to.client_secret);
    }
    manager.set_credential_store(GrantStore::new(file, to));
    let session = AuthorizationSession::new(manager, request).await;
    let session = session.map_err(|(_, error)| words(&error))?;
    let state = query(&session.auth_url, "state").unwrap_or_default();
    Ok(LoginAttempt { session, state })
}

fn takes_documents(found: &AuthorizationMetadata) -> bool {
    let said = found.additional_fields.get("client_id_metadata_document_supported");
    said.and_then(Value::as_bool) == Some(true)
}

/// Those that were granted and those that are wanted; without any, what the server names.
async fn scopes(
    manager: &AuthorizationManager,
    before: Option<&Grant>,
    wanted: &[String],
) -> Vec<String> {
    if wanted.is_empty() {
        return manager.select_initial_scopes(&[]).await;
    }
    let mut all: Vec<String> = before.map(|it| it.scopes().to_vec()).unwrap_or_default();
    for scope in wanted {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

fn unregistered(error: &AuthError) -> String {
    format!("{}; --client-id names a client that was registered by hand", words(error))
}

/// What the server says to somebody who has no token.
async fn asked(remote: &Remote) -> Result<String, String> {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "holdpoint", "version": VERSION },
    }});
    let client = http::client(remote)?;
    let request = client.post(&remote.url).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let response = request.body(hello.to_string()).send().await;
    let response = response.map_err(|error| web::reason(&error))?;
    if let Some(challenge) = challenged(&response) {
        return Ok(challenge);
    }
    // Servers of the older transport take no POST there.
    let response = client.get(&remote.url).header("accept", "text/event-stream").send().await;
    let response = response.map_err(|error| web::reason(&error))?;
    challenged(&response).ok_or_else(|| "it asks for no login".to_owned())
}

fn query(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

impl LoginAttempt {
    /// Where a person says yes.
    pub(crate) fn url(&self) -> &str {
        &self.session.auth_url
    }

    /// Whether an address that a browser was sent to is of this login.
    pub(crate) fn is_mine(&self, came: &str) -> bool {
        query(came, "state").is_some_and(|it| it == self.state)
    }

    /// What came back, changed for a token, which is kept.
    pub(crate) async fn finish(&self, came: &str) -> Result<(), String> {
        if let Some(error) = query(came, "error") {
            let more = query(came, "error_description").map(|it| format!(": {it}"));
            return Err(format!("it was refused: {error}{}", more.unwrap_or_default()));
        }
        if let Some(code) = query(came, "code") {
            hidden::hide_token(&code);
        }
        self.session.handle_callback_url(came).await.map(drop).map_err(|error| words(&error))
    }
}
