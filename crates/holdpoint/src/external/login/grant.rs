//! A login as it is kept: one file of the home for each server, for this user alone.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use holdpoint_engine::limits;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::hidden;
use crate::home;

/// The form of the file.
const FORM: u32 = 1;

/// What was granted, and to whom.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    form: u32,
    /// Of the server.
    pub(super) url: String,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    pub(super) redirect_uri: String,
    /// As the SDK writes it; none before the first.
    credentials: Option<StoredCredentials>,
}

/// Where the login of a server is kept.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    Some(home::folder()?.join("logins").join(format!("{name}.json")))
}

/// None where there is none.
pub(super) fn read(file: &Path) -> io::Result<Option<Grant>> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let grant: Grant = serde_json::from_slice(&text).map_err(io::Error::other)?;
    if grant.form != FORM {
        return Err(io::Error::other("its file is of another version"));
    }
    grant.secrets().iter().for_each(|it| hidden::hide_token(it));
    Ok(Some(grant))
}

impl Grant {
    pub(super) fn new(url: &str, client_id: &str, redirect_uri: &str) -> Grant {
        Grant {
            form: FORM,
            url: url.to_owned(),
            client_id: client_id.to_owned(),
            client_secret: None,
            redirect_uri: redirect_uri.to_owned(),
            credentials: None,
        }
    }

    /// Looked at as JSON: the SDK's types for it are another crate's.
    fn response(&self) -> Option<Value> {
        serde_json::to_value(self.credentials.as_ref()?.token_response.as_ref()?).ok()
    }

    fn word(&self, name: &str) -> Option<String> {
        self.response()?.get(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn token(&self) -> Option<String> {
        self.word("access_token")
    }

    pub(super) fn can_renew(&self) -> bool {
        self.word("refresh_token").is_some()
    }

    /// What was granted, as far as it was said.
    pub(crate) fn scopes(&self) -> &[String] {
        self.credentials.as_ref().map(|it| it.granted_scopes.as_slice()).unwrap_or_default()
    }

    /// Whether the token ends before a request with it could be answered.
    pub(super) fn is_stale(&self) -> bool {
        let lives = self.response().and_then(|it| it.get("expires_in")?.as_u64());
        let since = self.credentials.as_ref().and_then(|it| it.token_received_at);
        let (Some(lives), Some(since)) = (lives, since) else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let end = Duration::from_secs(since.saturating_add(lives));
        end.saturating_sub(limits::EXTERNAL_TOKEN) <= now
    }

    fn secrets(&self) -> Vec<String> {
        let tokens = ["access_token", "refresh_token", "id_token"].map(|it| self.word(it));
        tokens.into_iter().flatten().chain(self.client_secret.clone()).collect()
    }
}

/// The file, as the SDK sees it.
pub(super) struct GrantStore {
    file: PathBuf,
    /// Whom the credentials are granted to.
    to: Grant,
}

impl GrantStore {
    pub(super) fn new(file: PathBuf, to: Grant) -> GrantStore {
        GrantStore { file, to }
    }
}

fn failed(error: io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait::async_trait]
impl CredentialStore for GrantStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let grant = read(&self.file).map_err(failed)?;
        let grant = grant.filter(|it| it.url == self.to.url && it.client_id == self.to.client_id);
        Ok(grant.and_then(|it| it.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let grant = Grant { credentials: Some(credentials), ..self.to.clone() };
        grant.secrets().iter().for_each(|it| hidden::hide_token(it));
        let text = serde_json::to_string(&grant).map_err(|it| failed(io::Error::other(it)))?;
        home::put(&self.file, &text).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    /// Of the servers of a home one renews at a time: a token that is spent twice is refused, and with it the login.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let file = home::kept(&self.file.with_extension("lock")).map_err(failed)?;
        // Ends when the lock is free, which it is when its holder's request has ended, or its process.
        let locked = tokio::task::spawn_blocking(move || {
            flock(&file, FlockOperation::LockExclusive).map(|()| file)
        });
        let locked = locked.await.map_err(|error| failed(io::Error::other(error)))?;
        Ok(Some(CredentialRefreshGuard::new(locked.map_err(|error| failed(error.into()))?)))
    }
}
