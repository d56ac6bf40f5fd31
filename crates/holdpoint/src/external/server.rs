//! One other server: what is wished of it, how it stands, and the task that brings the one to the other.
//!
//! The task alone connects, reconnects and closes; everybody else says what is wished and looks at the state.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use holdpoint_engine::{event::Event, limits};
use jiff::Timestamp;
use rmcp::model::{ClientRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams};
use serde_json::{Map, Value};
use tokio::{sync::watch, time::Instant};

pub(crate) use super::connection::{Connection, Context};
use super::{config::ServerConfig, failure::Unserved};

/// Words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkStatus {
    Connecting,
    Connected,
    /// It was, or was told not to be.
    Disconnected,
    /// It never was, at this try.
    Error,
    /// Given up until somebody asks for it.
    Failed,
}

impl LinkStatus {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            LinkStatus::Connecting => "connecting",
            LinkStatus::Connected => "connected",
            LinkStatus::Disconnected => "disconnected",
            LinkStatus::Error => "error",
            LinkStatus::Failed => "failed",
        }
    }
}

/// A tool of another server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExternalTool {
    /// `server/tool`.
    pub(crate) name: String,
    /// As the server calls it.
    pub(crate) original: String,
    /// All that the server says of it.
    pub(crate) said: Value,
}

impl ExternalTool {
    pub(crate) fn description(&self) -> &str {
        self.said.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn given_schema(&self) -> Option<&Map<String, Value>> {
        self.said.get("inputSchema").and_then(Value::as_object)
    }

    /// One that takes anything, where the server gives none.
    pub(crate) fn schema(&self) -> Value {
        let given = self.given_schema().cloned().map(Value::Object);
        given.unwrap_or_else(|| serde_json::json!({ "type": "object" }))
    }
}

/// How it stands.
#[derive(Clone)]
pub(crate) struct LinkState {
    pub(crate) status: LinkStatus,
    pub(crate) error: Option<String>,
    pub(crate) connected_at: Option<f64>,
    /// Of tries to reconnect since it was connected last.
    pub(crate) attempts: usize,
    pub(crate) transport: &'static str,
    pub(crate) tools: Arc<BTreeMap<String, Arc<ExternalTool>>>,
    pub(crate) resources: Arc<Vec<Value>>,
    pub(crate) connection: Option<Arc<Connection>>,
    /// The wish that this state is of.
    wish: u64,
}

/// What is wished of it: each is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wish {
    up: bool,
    number: u64,
}

pub(crate) struct ExternalServer {
    pub(crate) name: String,
    pub(crate) config: Arc<ServerConfig>,
    context: Context,
    wish: watch::Sender<Wish>,
    state: watch::Sender<LinkState>,
}

/// How one connection ended.
enum Ended {
    /// Something else is wished.
    Wished,
    Lost(String),
}

impl ExternalServer {
    pub(super) fn new(name: &str, config: ServerConfig, context: Context) -> ExternalServer {
        let state = LinkState {
            status: LinkStatus::Connecting,
            error: None,
            connected_at: None,
            attempts: 0,
            transport: config.transport(),
            tools: Arc::default(),
            resources: Arc::default(),
            connection: None,
            wish: 1,
        };
        ExternalServer {
            name: name.to_owned(),
            config: Arc::new(config),
            context,
            wish: watch::Sender::new(Wish { up: true, number: 1 }),
            state: watch::Sender::new(state),
        }
    }

    pub(crate) fn state(&self) -> LinkState {
        self.state.borrow().clone()
    }

    /// A tool of it, where it is connected.
    pub(super) fn tool(&self, name: &str) -> Option<(Arc<ExternalTool>, Arc<Connection>)> {
        let state = self.state.borrow();
        Some((Arc::clone(state.tools.get(name)?), Arc::clone(state.connection.as_ref()?)))
    }

    /// Wishes it connected, or not; returns when that is decided.
    pub(super) async fn wish(&self, up: bool) -> LinkState {
        let mut number = 0;
        self.wish.send_modify(|wish| {
            *wish = Wish { up, number: wish.number + 1 };
            number = wish.number;
        });
        self.settled(number).await
    }

    /// The state that came of the first wish.
    pub(crate) async fn first(&self) -> LinkState {
        self.settled(1).await
    }

    async fn settled(&self, number: u64) -> LinkState {
        let mut states = self.state.subscribe();
        let settled =
            states.wait_for(|state| state.wish >= number && state.status != LinkStatus::Connecting);
        match settled.await {
            Ok(state) => state.clone(),
            Err(_closed) => self.state(),
        }
    }

    fn set(&self, wish: Wish, change: impl FnOnce(&mut LinkState)) {
        self.state.send_modify(|state| {
            let before = state.status;
            state.wish = wish.number;
            change(state);
            if state.status != before {
                let detail = match state.status {
                    LinkStatus::Connected => format!("{} tools", state.tools.len()),
                    _ => state.error.clone().unwrap_or_default(),
                };
                let (server, status) = (self.name.clone(), state.status.as_str());
                self.context.log.append(Event::ExternalServer { server, status, detail });
            }
        });
    }

    fn down(&self, wish: Wish, status: LinkStatus, error: Option<String>) {
        self.set(wish, |state| {
            state.status = status;
            state.error = error;
            state.connected_at = None;
            state.connection = None;
            state.tools = Arc::default();
            state.resources = Arc::default();
        });
    }

    /// The task: until it is aborted, or the server is dropped.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut wishes = self.wish.subscribe();
        let mut attempts = 0;
        let mut last = 0;
        loop {
            let wish = *wishes.borrow_and_update();
            if wish.number != last {
                (attempts, last) = (0, wish.number);
            }
            if !wish.up {
                self.down(wish, LinkStatus::Disconnected, None);
                if wishes.changed().await.is_err() {
                    return;
                }
                continue;
            }
            let since = Instant::now();
            if !self.once(wish, attempts, &mut wishes).await {
                continue;
            }
            if since.elapsed() >= limits::EXTERNAL_STEADY {
                attempts = 0;
            }
            if !self.pause(wish, &mut attempts, &mut wishes).await {
                return;
            }
        }
    }

    /// One connection from its beginning to its end. Whether it failed: else something new is wished.
    async fn once(&self, wish: Wish, attempts: usize, wishes: &mut watch::Receiver<Wish>) -> bool {
        self.set(wish, |state| {
            state.status = LinkStatus::Connecting;
            state.attempts = attempts;
        });
        let made = tokio::select! {
            made = self.connect() => made,
            _ = wishes.changed() => return false,
        };
        match made {
            Err(error) => {
                self.down(wish, LinkStatus::Error, Some(error));
                true
            }
            Ok(connection) => {
                let ended = self.hold(&connection, wishes).await;
                // Out of the catalogue before it is closed: nobody is to call what goes.
                let why = match &ended {
                    Ended::Lost(why) => Some(why.clone()),
                    Ended::Wished => None,
                };
                self.down(wish, LinkStatus::Disconnected, why);
                connection.close().await;
                matches!(ended, Ended::Lost(_))
            }
        }
    }

    /// Waits before the next attempt, or for a wish where there is none. False: nobody wishes any more.
    async fn pause(
        &self,
        wish: Wish,
        attempts: &mut usize,
        wishes: &mut watch::Receiver<Wish>,
    ) -> bool {
        let wait = limits::EXTERNAL_RECONNECT.get(*attempts);
        let Some(wait) = wait.filter(|_| self.config.auto_reconnect) else {
            if self.config.auto_reconnect {
                let error = self.state().error;
                self.set(wish, |state| {
                    state.status = LinkStatus::Failed;
                    state.error = error;
                });
            }
            return wishes.changed().await.is_ok();
        };
        *attempts += 1;
        tokio::select! {
            () = tokio::time::sleep(*wait) => true,
            changed = wishes.changed() => changed.is_ok(),
        }
    }

    async fn connect(&self) -> Result<Arc<Connection>, String> {
        let connection = Connection::make(&self.context, &self.name, &self.config).await?;
        let connection = Arc::new(connection);
        match self.look(&connection).await {
            Ok(()) => Ok(connection),
            Err(error) => {
                connection.close().await;
                Err(error.message())
            }
        }
    }

    /// Reads the lists of a new connection, and says that it is one.
    async fn look(&self, connection: &Arc<Connection>) -> Result<(), Unserved> {
        let tools = self.tools(connection).await?;
        let resources = self.resources(connection).await;
        let wish = *self.wish.borrow();
        let now = Timestamp::now().as_millisecond();
        self.set(wish, |state| {
            state.status = LinkStatus::Connected;
            state.error = None;
            #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
            {
                state.connected_at = Some(now as f64 / 1_000.0);
            }
            state.transport = connection.transport;
            state.tools = Arc::new(tools);
            state.resources = Arc::new(resources);
            state.connection = Some(Arc::clone(connection));
        });
        Ok(())
    }

    /// Until it ends, or something else is wished.
    async fn hold(
        &self,
        connection: &Arc<Connection>,
        wishes: &mut watch::Receiver<Wish>,
    ) -> Ended {
        tokio::select! {
            biased;
            _ = wishes.changed() => Ended::Wished,
            () = connection.over() => {
                let words = connection.last_words().await;
                Ended::Lost(words.unwrap_or_else(|| "it closed the connection".into()))
            }
            why = self.watch(connection) => Ended::Lost(why),
        }
    }

    /// Keeps the lists fresh and looks whether it is there; returns when it is not, with the reason.
    async fn watch(&self, connection: &Arc<Connection>) -> String {
        loop {
            tokio::select! {
                () = connection.heard.changed.notified() => {
                    self.refresh(connection).await;
                    // One that says it over and over is heard now and then.
                    tokio::time::sleep(limits::EXTERNAL_REFRESH).await;
                }
                () = connection.suspect.notified() => {
                    if !connection.answers().await {
                        return "it does not answer any more".to_owned();
                    }
                }
                () = tokio::time::sleep(limits::EXTERNAL_PING) => {
                    if !connection.answers().await {
                        return unanswered(limits::EXTERNAL_PONG);
                    }
                }
            }
        }
    }

    async fn refresh(&self, connection: &Arc<Connection>) {
        let (tools, resources) = connection.heard.take_changes();
        if tools && let Ok(tools) = self.tools(connection).await {
            self.state.send_modify(|state| state.tools = Arc::new(tools));
        }
        if resources {
            let resources = self.resources(connection).await;
            self.state.send_modify(|state| state.resources = Arc::new(resources));
        }
    }

    async fn tools(
        &self,
        connection: &Connection,
    ) -> Result<BTreeMap<String, Arc<ExternalTool>>, Unserved> {
        let said = pages(connection, "tools", |params| {
            ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params))
        });
        let said = match said.await {
            // It has none.
            Err(Unserved::Failed { code: Some(-32601), .. }) => Vec::new(),
            said => said?,
        };
        let tool = |said: Value| {
            let original = said.get("name")?.as_str()?.to_owned();
            let name = format!("{}/{original}", self.name);
            Some((name.clone(), Arc::new(ExternalTool { name, original, said })))
        };
        Ok(said.into_iter().filter_map(tool).collect())
    }

    /// None where they cannot be read: its tools work without them.
    async fn resources(&self, connection: &Connection) -> Vec<Value> {
        if !connection.has_resources() {
            return Vec::new();
        }
        let said = pages(connection, "resources", |params| {
            ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params))
        });
        said.await.unwrap_or_else(|refused| {
            tracing::debug!(server = self.name, why = refused.message(), "no resources");
            Vec::new()
        })
    }
}

fn unanswered(waited: Duration) -> String {
    format!("it did not answer a ping within {} s", waited.as_secs())
}

/// Every page of a list.
async fn pages(
    connection: &Connection,
    what: &str,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Result<Vec<Value>, Unserved> {
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..limits::EXTERNAL_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let mut page = connection.list(request(params)).await?;
        let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match page.get_mut(what).map(Value::take) {
            Some(Value::Array(items)) => all.extend(items),
            _ => return Err(Unserved::failed(format!("its list has no `{what}`"))),
        }
        // The same again would come for ever.
        if next.is_none() || next == cursor || all.len() > limits::EXTERNAL_ITEMS {
            break;
        }
        cursor = next;
    }
    all.truncate(limits::EXTERNAL_ITEMS);
    Ok(all)
}
