//! All other servers: who there is, what they offer together, and how they come and go.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use holdpoint_engine::{event::Event, log::Log};
use tokio::task::JoinHandle;

use super::{
    config::ServerConfig,
    edits,
    failure::Unserved,
    plan::Plan,
    server::{Connection, Context, ExternalServer, ExternalTool, LinkState, LinkStatus},
};
use crate::tool::nearest;

pub(crate) struct Manager {
    context: Context,
    servers: Mutex<BTreeMap<String, Kept>>,
    /// Of the command line: an edit of the file does not touch them.
    inline: BTreeMap<String, ServerConfig>,
    /// What the file says, as it holds.
    of_file: Mutex<BTreeMap<String, ServerConfig>>,
    /// Watches the file; aborted with the manager.
    watch: Mutex<Option<JoinHandle<()>>>,
}

/// A server, and the task that keeps it; aborted when it is let go.
struct Kept {
    server: Arc<ExternalServer>,
    task: JoinHandle<()>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A tool, its server, and the way there.
type Routed = (Arc<ExternalServer>, Arc<ExternalTool>, Arc<Connection>);

/// Why a server was not added.
#[derive(Debug)]
pub(crate) enum NotAdded {
    Duplicate,
    Failed(String),
}

impl Manager {
    /// Begins to connect what the plan names, and returns at once.
    pub(crate) fn start(plan: Plan, log: Arc<Log>) -> Arc<Manager> {
        let guard = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("holdpoint"));
        let Plan { file, inline, servers } = plan;
        let of_file = servers.iter().filter(|(name, _)| !inline.contains_key(*name));
        let of_file = of_file.map(|(name, config)| (name.clone(), config.clone())).collect();
        let manager = Arc::new(Manager {
            context: Context { log, guard },
            servers: Mutex::default(),
            inline,
            of_file: Mutex::new(of_file),
            watch: Mutex::default(),
        });
        for (name, config) in servers {
            manager.insert(&name, config);
        }
        if let Some(file) = file {
            // Aborted by `stop`.
            let watch = tokio::spawn(edits::follow(Arc::clone(&manager), file));
            *manager.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
        }
        manager
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.context.log
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, name: &str, config: ServerConfig) -> Arc<ExternalServer> {
        self.insert_in(&mut self.kept(), name, config)
    }

    fn insert_in(
        &self,
        servers: &mut BTreeMap<String, Kept>,
        name: &str,
        config: ServerConfig,
    ) -> Arc<ExternalServer> {
        let server = Arc::new(ExternalServer::new(name, config, self.context.clone()));
        // Aborted when the server is let go.
        let task = tokio::spawn(Arc::clone(&server).keep());
        let kept = Kept { server: Arc::clone(&server), task };
        servers.insert(name.to_owned(), kept);
        server
    }

    pub(crate) fn all(&self) -> Vec<Arc<ExternalServer>> {
        self.kept().values().map(|it| Arc::clone(&it.server)).collect()
    }

    pub(crate) fn server(&self, name: &str) -> Result<Arc<ExternalServer>, Unserved> {
        let kept = self.kept();
        kept.get(name).map(|it| Arc::clone(&it.server)).ok_or_else(|| {
            let near = nearest(name, kept.keys().map(String::as_str)).map(str::to_owned);
            Unserved::NoServer { server: name.to_owned(), near }
        })
    }

    /// Adds a server and waits until it is connected or is not; it stays either way.
    pub(crate) async fn add(
        &self,
        name: &str,
        config: ServerConfig,
    ) -> Result<LinkState, NotAdded> {
        let server = {
            let mut kept = self.kept();
            if kept.contains_key(name) {
                return Err(NotAdded::Duplicate);
            }
            self.insert_in(&mut kept, name, config)
        };
        connected(server.first().await).map_err(NotAdded::Failed)
    }

    pub(crate) async fn disconnect(&self, name: &str) -> Result<(), Unserved> {
        self.server(name)?.wish(false).await;
        Ok(())
    }

    /// Connects it anew by its own configuration. The error of the server is the inner one.
    pub(crate) async fn reconnect(
        &self,
        name: &str,
    ) -> Result<Result<LinkState, String>, Unserved> {
        Ok(connected(self.server(name)?.wish(true).await))
    }

    /// The file was edited.
    pub(super) async fn edited(&self, read: BTreeMap<String, ServerConfig>) {
        let mut read = read;
        read.retain(|name, _| !self.inline.contains_key(name));
        let before = {
            let mut of_file = self.of_file.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *of_file, read.clone())
        };
        let (gone, new) = edits::differences(&before, &read);
        for name in gone {
            self.let_go(&name, "removed").await;
        }
        for (name, config) in new {
            self.let_go(&name, "changed").await;
            self.insert(&name, config);
        }
    }

    async fn let_go(&self, name: &str, status: &'static str) {
        let Some(kept) = self.kept().remove(name) else { return };
        kept.server.wish(false).await;
        let detail = "its entry in the file was edited".to_owned();
        self.log().append(Event::ExternalServer { server: name.to_owned(), status, detail });
    }

    /// The tool that a name stands for, and its server's connection: by the lists, never by taking the name apart.
    pub(crate) fn tool(&self, name: &str) -> Result<Routed, Unserved> {
        let found = self.kept().values().find_map(|kept| {
            let (tool, connection) = kept.server.tool(name)?;
            Some((Arc::clone(&kept.server), tool, connection))
        });
        found.ok_or_else(|| self.no_tool(name))
    }

    /// Whether a callpoint of this name is of a tool here, or of all tools of a server.
    pub(crate) fn names(&self, point: &str) -> bool {
        let whole = |server: &ExternalServer| {
            point.strip_suffix("/*").is_some_and(|name| name == server.name)
        };
        self.all().iter().any(|it| whole(it) || it.state().tools.contains_key(point))
    }

    fn no_tool(&self, name: &str) -> Unserved {
        let Some((server, _)) = name.split_once('/') else {
            return Unserved::NoName(name.to_owned());
        };
        let state = match self.server(server) {
            Ok(found) => found.state(),
            Err(refused) => return refused,
        };
        if let Err(refused) = connection(server, &state) {
            return refused;
        }
        let near = nearest(name, state.tools.keys().map(String::as_str)).map(str::to_owned);
        Unserved::NoTool { tool: name.to_owned(), near }
    }

    /// Ends all connections at once, each within a moment.
    pub(crate) async fn stop(&self) {
        if let Some(watch) = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take() {
            watch.abort();
        }
        let servers = self.all();
        let ends = servers.iter().map(|server| server.wish(false));
        futures::future::join_all(ends).await;
    }
}

fn connected(state: LinkState) -> Result<LinkState, String> {
    match state.status {
        LinkStatus::Connected => Ok(state),
        _ => Err(state.error.unwrap_or_else(|| format!("it is {}", state.status.as_str()))),
    }
}

/// Its connection, if it is connected.
pub(crate) fn connection(server: &str, state: &LinkState) -> Result<Arc<Connection>, Unserved> {
    state.connection.clone().ok_or_else(|| Unserved::NotConnected {
        server: server.to_owned(),
        status: state.status.as_str(),
        error: state.error.clone(),
    })
}
