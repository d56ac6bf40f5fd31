//! What every face of one process shares. State is one and lives here, never in a connection:
//! what one client does, every client sees.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use holdpoint_engine::{
    callpoints::Retention, engine::Engine, ids::Seq, memory::Location, secrets::Secrets,
};
use tokio_util::sync::CancellationToken;

use crate::{
    activity::Activity,
    catalogue::Catalogue,
    clients::Clients,
    delivery::Delivery,
    external::manager::Manager,
    home,
    http::serving::{pages::Pages, users::TurnedAway},
    mcp::{Structured, notify::Written},
    metadata::workspace::FileRow,
    page::Desk,
};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How `holdpoint tool` names itself.
pub(crate) const SHELL: &str = "holdpoint tool";

/// Cheap to clone: everything behind it is shared.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) activity: Activity,
    pub(crate) clients: Clients,
    pub(crate) catalogue: Catalogue,
    pub(crate) delivery: Delivery,
    pub(crate) written: Written,
    pub(crate) pages: Arc<Pages>,
    /// What open pages have looked at.
    pub(crate) desk: Desk,
    /// Users who tried to connect and may not.
    pub(crate) turned_away: Arc<TurnedAway>,
    /// The default deadline of a tool, when the command line sets another.
    pub(crate) tool_timeout: Option<Duration>,
    /// Whether answers carry data beside their text.
    pub(crate) structured: Structured,
    /// Up to where the shell knows what happened: its calls are one reader, each on a connection of its own.
    shell_knows: Mutex<Option<Seq>>,
    /// Other MCP servers, where the start names some.
    pub(crate) external: OnceLock<Arc<Manager>>,
    /// The files of tools that the workspace brings along, as the start found them.
    pub(crate) tool_files: OnceLock<Vec<FileRow>>,
    /// Where HTTP listens, once it does.
    pub(crate) http: OnceLock<Vec<SocketAddr>>,
    /// Cancelled once, when the server stops; every task that outlives a call watches it.
    pub(crate) shutdown: CancellationToken,
}

impl App {
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn new(
        catalogue: Catalogue,
        tool_timeout: Option<Duration>,
        structured: Structured,
        db: Option<&Path>,
        secrets: Secrets,
    ) -> App {
        App::over(App::engine(db, secrets), catalogue, tool_timeout, structured)
    }

    /// What all of it stands on.
    pub(crate) fn engine(db: Option<&Path>, secrets: Secrets) -> Arc<Engine> {
        let guard = std::env::current_exe().unwrap_or_else(|_| "holdpoint".into());
        let home = home::folder().unwrap_or_else(std::env::temp_dir);
        let location = match db {
            Some(path) if path == Path::new(":memory:") => Location::Memory,
            Some(path) => Location::File(path.to_owned()),
            None => Location::File(home.join("holdpoint.db")),
        };
        let retention = Retention::default();
        Engine::start(VERSION, guard, home, location, retention, secrets)
    }

    /// The same over an engine that runs already.
    pub(crate) fn over(
        engine: Arc<Engine>,
        catalogue: Catalogue,
        tool_timeout: Option<Duration>,
        structured: Structured,
    ) -> App {
        App(Arc::new(Shared {
            clients: Clients::new(Arc::clone(&engine.log)),
            engine,
            activity: Activity::new(),
            catalogue,
            delivery: Delivery::default(),
            written: Written::default(),
            pages: Arc::default(),
            desk: Desk::default(),
            turned_away: Arc::default(),
            tool_timeout,
            structured,
            shell_knows: Mutex::default(),
            external: OnceLock::new(),
            tool_files: OnceLock::new(),
            http: OnceLock::new(),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Where a reader that comes back left off, if it is one that comes back.
    pub(crate) fn left_off(&self, name: &str) -> Option<Seq> {
        let knows = self.shell_knows.lock().unwrap_or_else(PoisonError::into_inner);
        knows.filter(|_| name == SHELL)
    }

    pub(crate) fn leave_off(&self, name: &str, at: Seq) {
        if name == SHELL {
            *self.shell_knows.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
        }
    }

    /// `http://127.0.0.1:5174`, once HTTP listens.
    pub(crate) fn base_url(&self) -> Option<String> {
        let address = self.http.get()?.first()?;
        Some(format!("http://{address}"))
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
