//! HTTP+SSE, the two-endpoint transport of revision 2024-11-05, from the client's side: a stream that names where
//! to post. The SDK has none any more.

use std::{io, time::Duration};

use futures::StreamExt as _;
use holdpoint_engine::limits;
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    RoleClient,
    model::ServerJsonRpcMessage,
    service::TxJsonRpcMessage,
    transport::{Transport, streamable_http_client::AuthRequiredError},
};

use super::{
    config::Remote,
    connection::NotMade,
    events::{Events, events},
    http::Http,
    long::Reading,
};

/// How long a server may take to say that it took a message. One that was restarted never does.
const POST: Duration = Duration::from_secs(10);

/// A stream that is open, and where its messages go.
pub(super) struct Opened {
    http: Http,
    endpoint: Url,
    /// None once it is closed.
    events: Option<Events>,
    reading: Reading,
}

pub(super) async fn open(name: &str, remote: &Remote) -> Result<Opened, NotMade> {
    let http = Http::new(name, remote)?;
    let url = Url::parse(&remote.url).map_err(|error| error.to_string())?;
    let asked = http.client.get(url.clone()).header(ACCEPT, "text/event-stream");
    let response = http.send(asked).await?;
    if !response.status().is_success() {
        let text = format!("the stream was refused with HTTP {}", response.status());
        return Err(NotMade { text, challenge: http.challenged(&response) });
    }
    let mut events = events(response);
    let endpoint = loop {
        let event = events.next().await.ok_or("the stream ended before it named its endpoint")?;
        let event = event.map_err(|error| error.to_string())?;
        if event.event.as_deref() == Some("endpoint") {
            let named = event.data.unwrap_or_default();
            break url.join(named.trim()).map_err(|_| "its endpoint is no address".to_owned())?;
        }
    };
    // The headers would go to whoever is named.
    if endpoint.origin() != url.origin() {
        return Err("its endpoint is on another server".to_owned().into());
    }
    Ok(Opened { http, endpoint, events: Some(events), reading: Reading::default() })
}

impl Transport<RoleClient> for Opened {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (http, endpoint) = (self.http.clone(), self.endpoint.clone());
        let body = serde_json::to_vec(&item);
        async move {
            let request = http.client.post(endpoint).header(CONTENT_TYPE, "application/json");
            let request = request.timeout(POST.min(limits::EXTERNAL_CONNECT)).body(body?);
            let response = http.send(request).await.map_err(io::Error::other)?;
            match (response.status(), http.challenged(&response)) {
                (_, Some(challenge)) => Err(io::Error::other(AuthRequiredError::new(challenge))),
                (status, None) if status.is_success() => Ok(()),
                (status, None) => {
                    Err(io::Error::other(format!("the message was refused: HTTP {status}")))
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(read) = self.reading.done().await {
                return Some(read);
            }
            let event = self.events.as_mut()?.next().await?.ok()?;
            self.reading.begin(event.data.unwrap_or_default().into_bytes());
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.events = None;
        Ok(())
    }
}
