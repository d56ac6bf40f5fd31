//! What lets us in at a server that asks for a login (OAuth 2.1): the tokens that `holdpoint gateway login` got, read
//! anew for every request, because another process may renew them or log in.
//!
//! The protocol is the SDK's: discovery, registration, PKCE, renewal. Here is when it is asked, and where what came
//! of it is kept ([`grant`]). A token is sent to the address that it was got for, and nowhere else.

mod attempt;
mod grant;

use std::{error::Error, io, path::PathBuf};

use reqwest::{RequestBuilder, Response, StatusCode, header::WWW_AUTHENTICATE};
use rmcp::transport::{
    auth::{AuthError, AuthorizationManager, OAuthClientConfig},
    streamable_http_client::{AuthRequiredError, InsufficientScopeError},
};
use tokio::sync::Mutex;

use self::grant::GrantStore;
pub(crate) use self::{
    attempt::{LoginAttempt, LoginTerms, begin},
    grant::{Grant, file},
};
use super::{config::Remote, hidden};
use crate::web;

/// The login of one connection.
pub(super) struct Login {
    name: String,
    url: String,
    file: PathBuf,
    /// Renews; made when it is needed first, since it reads certificates. Locked while it does: two renewals at once
    /// would spend one token twice.
    manager: Mutex<Option<AuthorizationManager>>,
}

impl Login {
    /// None where the configuration has an `Authorization` of its own.
    pub(super) fn of(name: &str, remote: &Remote) -> Option<Login> {
        let is_set = remote.headers.keys().any(|it| it.eq_ignore_ascii_case("authorization"));
        let file = file(name).filter(|_| !is_set)?;
        let manager = Mutex::default();
        Some(Login { name: name.to_owned(), url: remote.url.clone(), file, manager })
    }

    /// Sends a request with the token there is. One that the server refuses unseen is sent again with a new one.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, String> {
        let Some(token) = self.token().await? else { return sent(request).await };
        let again = request.try_clone();
        let response = sent(request.bearer_auth(&token)).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        match (again, self.renewed(&token).await?) {
            (Some(again), Some(token)) => sent(again.bearer_auth(token)).await,
            _ => Ok(response),
        }
    }

    async fn token(&self) -> Result<Option<String>, String> {
        let Some(grant) = self.grant()? else { return Ok(None) };
        let Some(token) = grant.token() else { return Ok(None) };
        match grant.is_stale() && grant.can_renew() {
            true => self.renewed(&token).await,
            false => Ok(Some(token)),
        }
    }

    fn grant(&self) -> Result<Option<Grant>, String> {
        let grant = grant::read(&self.file).map_err(|error| format!("the login: {error}"))?;
        Ok(grant.filter(|it| it.url == self.url))
    }

    /// Another token than this one, if there is one to be had without a person.
    async fn renewed(&self, refused: &str) -> Result<Option<String>, String> {
        let mut manager = self.manager.lock().await;
        let Some(grant) = self.grant()? else { return Ok(None) };
        // Somebody else was quicker.
        if let Some(token) = grant.token().filter(|it| it != refused) {
            return Ok(Some(token));
        }
        if !grant.can_renew() {
            return Ok(None);
        }
        let made = match manager.take() {
            Some(made) => made,
            None => match self.manager(grant).await? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        let renewed = made.refresh_token().await;
        *manager = Some(made);
        match renewed {
            Ok(_) => Ok(self.grant()?.and_then(|it| it.token()).filter(|it| it != refused)),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(format!(
                "its login cannot be renewed: {}; {}",
                words(&error),
                command(&self.name)
            )),
        }
    }

    /// None where the login is of an authorization server that the server does not trust any more.
    async fn manager(&self, grant: Grant) -> Result<Option<AuthorizationManager>, String> {
        web::provide();
        let told = |error: AuthError| format!("its login cannot be renewed: {}", words(&error));
        let url = self.url.as_str();
        let mut manager =
            AuthorizationManager::new_allowing_private_addresses(url).await.map_err(told)?;
        let mut client = OAuthClientConfig::new(&grant.client_id, &grant.redirect_uri);
        client.client_secret.clone_from(&grant.client_secret);
        manager.set_credential_store(GrantStore::new(self.file.clone(), grant));
        if !manager.initialize_from_store().await.map_err(told)? {
            return Ok(None);
        }
        manager.configure_client(client).map_err(told)?;
        Ok(Some(manager))
    }
}

async fn sent(request: RequestBuilder) -> Result<Response, String> {
    request.send().await.map_err(|error| web::reason(&error))
}

/// What a refusal asks for: the challenge, empty where it has none. Nothing where it is about something else.
pub(super) fn challenged(response: &Response) -> Option<String> {
    let said = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let said: Vec<&str> = said.filter_map(|it| it.to_str().ok()).collect();
    let bearer = said.iter().find(|it| it.to_lowercase().starts_with("bearer"));
    let challenge = (*bearer.or(said.first()).unwrap_or(&"")).to_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(challenge),
        StatusCode::FORBIDDEN => Some(challenge).filter(|it| it.contains("insufficient_scope")),
        _ => None,
    }
}

/// The challenge that an error came of, if it did.
pub(super) fn challenge<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e str> {
    let mut next = Some(error);
    while let Some(error) = next {
        // What it was made of is not among its sources.
        let made = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let error = made.map_or(error, |it| it as &(dyn Error + 'static));
        if let Some(it) = error.downcast_ref::<AuthRequiredError>() {
            return Some(&it.www_authenticate_header);
        }
        if let Some(it) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(&it.www_authenticate_header);
        }
        next = error.source();
    }
    None
}

/// The scope that a challenge asks for.
pub(crate) fn scope(challenge: &str) -> Option<&str> {
    let (_, rest) = challenge.split_once("scope=\"")?;
    let (scope, _) = rest.split_once('"')?;
    Some(scope).filter(|it| !it.is_empty())
}

/// What to do about it: the command, with the scope where a login without it is not enough.
pub(crate) fn advice(name: &str, challenge: &str) -> String {
    match scope(challenge).filter(|_| challenge.contains("insufficient_scope")) {
        Some(scope) => format!("`holdpoint gateway login {name} --scope \"{scope}\"`"),
        None => command(name),
    }
}

fn command(name: &str) -> String {
    format!("`holdpoint gateway login {name}` logs in")
}

/// An error of the SDK's without what nobody may see.
fn words(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    hidden::without(text)
}
