//! HTTP+SSE, the two-endpoint transport of revision 2024-11-05, from the client's side: a stream that names where
//! to post. The SDK has none any more.

use std::{io, time::Duration};

use futures::StreamExt as _;
use holdpoint_engine::limits;
use reqwest::{
    Client, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    RoleClient, model::ServerJsonRpcMessage, service::TxJsonRpcMessage, transport::Transport,
};

use super::{
    config::Remote,
    events::{Events, events},
    http::client,
    long::Reading,
};

/// How long a server may take to say that it took a message. One that was restarted never does.
const POST: Duration = Duration::from_secs(10);

/// A stream that is open, and where its messages go.
pub(super) struct Opened {
    client: Client,
    endpoint: Url,
    /// None once it is closed.
    events: Option<Events>,
    reading: Reading,
}

pub(super) async fn open(remote: &Remote) -> Result<Opened, String> {
    let client = client(remote)?;
    let url = Url::parse(&remote.url).map_err(|error| error.to_string())?;
    let asked = client.get(url.clone()).header(ACCEPT, "text/event-stream").send().await;
    let response = asked.map_err(|error| reason(error.without_url()))?;
    if !response.status().is_success() {
        return Err(format!("the stream was refused with HTTP {}", response.status()));
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
        return Err("its endpoint is on another server".to_owned());
    }
    Ok(Opened { client, endpoint, events: Some(events), reading: Reading::default() })
}

/// An error of the client's with what it stands for: `error sending request` says nothing.
pub(super) fn reason(error: reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = cause.to_string();
        source = cause.source();
    }
    text
}

impl Transport<RoleClient> for Opened {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone());
        let body = serde_json::to_vec(&item);
        async move {
            let request = request.header(CONTENT_TYPE, "application/json").body(body?);
            let response = request.timeout(POST.min(limits::EXTERNAL_CONNECT)).send().await;
            let response = response.map_err(|it| io::Error::other(reason(it.without_url())))?;
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(io::Error::other(format!("the message was refused: HTTP {status}"))),
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
