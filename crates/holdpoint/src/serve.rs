//! Starting, serving and stopping: the life of one server process.
//!
//! Stopping is always the same, whatever asked for it: clients are told, transports close,
//! the port file goes, and all within a deadline.

use std::{net::IpAddr, process::ExitCode, sync::Arc};

use anyhow::{Context as _, bail};
use holdpoint_engine::{event::Event, limits, log::Log, secrets::Secrets};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    activity,
    app::App,
    catalogue::Catalogue,
    config::Settings,
    external::{expose, manager::Manager, plan::Plan},
    home,
    http::serving::{
        Gate, Rules, door::Door, lanes::Lanes, listen, port_file::PortFiles, users::Users,
    },
    key::Key,
    mcp,
    metadata::Mounting,
    out, resident, root,
    servers::{self, Server, Starter},
    stderr,
    tool::Entry,
    tools::external,
    wrap::{self, Wrapped},
};

/// What MCP on stdin and stdout means for the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdio {
    Off,
    /// When stdin ends, HTTP goes on.
    Beside,
    /// When stdin ends, the process ends.
    Leads,
}

pub(crate) fn run(settings: Settings, stdio: Stdio, is_detached: bool) -> anyhow::Result<ExitCode> {
    if is_detached {
        // The end of the shell that started us is not ours. Who leads a group already has none above.
        rustix::process::setsid().map(drop).unwrap_or_default();
    }
    let secrets = Secrets::of_this_server(settings.secrets.clone());
    start_logging(settings.log_level.as_deref(), stdio, &secrets)?;
    check_exposure(settings.host, settings.token.as_deref())?;
    home::close_to_others();
    if let Some(workspace) = &settings.workspace {
        root::begin(workspace);
    }
    let runtime = runtime()?;
    let plan = Plan::of(&settings)?;
    let engine = App::engine(settings.db.as_deref(), secrets);
    let (others, mut mounted) = match plan {
        None => (None, Vec::new()),
        Some(plan) => runtime.block_on(begin(plan, &settings, Arc::clone(&engine.log)))?,
    };
    let described = Mounting::of(&settings.toolset);
    mounted.extend(described.entries);
    let catalogue = Catalogue::with(mounted, &settings.toolset)?;
    let app = App::over(engine, catalogue, settings.tool_timeout, settings.structured);
    if let Some(others) = others {
        app.external.get_or_init(|| others);
    }
    for row in described.files.iter().filter(|it| it.is_open()) {
        stderr::line(&format!("holdpoint: {row}"));
    }
    app.tool_files.get_or_init(|| described.files);
    if let Some(folder) = &described.followed {
        let _entered = runtime.enter();
        app.engine.follow_editor(folder);
    }
    if let Some(file) = &settings.dap_log {
        let opened = app.engine.sessions.record(file);
        opened.with_context(|| format!("--dap-log: `{}` cannot be written", file.display()))?;
    }
    let starter = match (is_detached, stdio) {
        (true, _) => Starter::Tool,
        (false, Stdio::Off) => Starter::Person,
        (false, Stdio::Beside | Stdio::Leads) => Starter::Agent,
    };
    keep_large_files_from_ending_us()?;
    let gate = gate(&app, &settings)?;
    runtime.block_on(serve(app, gate, settings, stdio, starter))
}

/// Begins to connect other servers, and waits for those whose tools our own list is to have.
async fn begin(
    plan: Plan,
    settings: &Settings,
    log: Arc<Log>,
) -> anyhow::Result<(Option<Arc<Manager>>, Vec<Entry>)> {
    let manager = Manager::start(plan, log);
    let mut mounted = external::mounted(&settings.toolset);
    mounted.extend(expose::entries(&manager, &settings.expose, &settings.toolset).await?);
    Ok((Some(manager), mounted))
}

pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    // One thread: a call hops between tasks several times, and a hop to another core costs more than
    // the call's own work (115 µs with two threads, 43 with one). What computes for long goes aside.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("cannot start the runtime")
}

fn gate(app: &App, settings: &Settings) -> anyhow::Result<Gate> {
    let turned_away = Arc::clone(&app.turned_away);
    let users = Users::new(&settings.allow_user, settings.share_with_users, turned_away)?;
    let key = Key::of_home().inspect_err(|error| {
        tracing::warn!(%error, "this home has no key: no client can be sure that this server is yours");
    });
    if let Ok(key) = &key {
        app.pages.are_of(key.clone());
    }
    Ok(Gate::new(Rules {
        origins: settings.allow_origin.clone(),
        token: settings.token.clone(),
        key: key.ok(),
        users,
        pages: Arc::clone(&app.pages),
    }))
}

async fn serve(
    app: App,
    gate: Gate,
    settings: Settings,
    stdio: Stdio,
    starter: Starter,
) -> anyhow::Result<ExitCode> {
    if settings.db.is_some() {
        open_store(&app).await?;
    }
    // Before anything is promised: a signal from here on stops us in good order.
    let mut signals = Signals::new().context("cannot listen for signals")?;
    let listeners = match listen::bind(settings.host, settings.port).await {
        Ok(listeners) => listeners,
        // An agent's debugger must not die because a port is missing.
        Err(error) if stdio != Stdio::Off => {
            tracing::error!(%error, port = settings.port, "HTTP is off: no port could be bound");
            Vec::new()
        }
        Err(error) => bail!("no port from {} on could be bound: {error}", settings.port),
    };
    let mut served = Served::start(&app, gate, listeners, settings.mcp_sse)?;
    let _entered = match &settings.wrapped {
        None => make_known(&mut served, &app, starter),
        Some(wrapped) => {
            make_known_beside(&mut served, &app, &wrapped.name);
            None
        }
    };
    if stdio == Stdio::Off {
        resident::let_go_of_the_start();
    }
    let stdin_ended = served.serve_stdio(&app, stdio, settings.wrapped.clone());
    let idle = async {
        match settings.end_idle {
            Some(patience) => activity::idle(&app, patience).await,
            None => std::future::pending().await,
        }
    };
    let (reason, mut hurries) = tokio::select! {
        reason = signals.next() => (reason, 1),
        () = idle => ("nobody needs it", 1),
        // A client that closes our stdin often sends a signal along; that is one wish, not two.
        () = stdin_ended => ("stdin ended", 2),
    };
    let hurried = async {
        while hurries > 0 {
            signals.next().await;
            hurries -= 1;
        }
    };
    tokio::select! {
        () = stop(&app, reason, served) => Ok(ExitCode::SUCCESS),
        // A second signal: what still runs is dropped, and the port file goes with it.
        () = hurried => Ok(ExitCode::from(130)),
    }
}

/// A database that somebody named must be that one. The usual one may fail: programs are debugged without it.
async fn open_store(app: &App) -> anyhow::Result<()> {
    let memory = app.engine.memory().await;
    match memory.trouble().filter(|_| !memory.is_open()) {
        Some(trouble) => bail!("--db: {trouble}"),
        None => Ok(()),
    }
}

/// Past a limit on the size of files the system would end us; a write that fails is the store's trouble alone.
fn keep_large_files_from_ending_us() -> anyhow::Result<()> {
    let seen = Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen).context("SIGXFSZ")?;
    Ok(())
}

/// Apps and shells find this server.
fn make_known(served: &mut Served, app: &App, starter: Starter) -> Option<servers::Entered> {
    if is_for_everybody(starter) {
        served.announce(app);
    }
    enter(app, starter)
}

/// They go on finding the one that is there: this one is for the calls of a server that it stands before.
fn make_known_beside(served: &mut Served, app: &App, name: &str) {
    if servers::running().is_empty() {
        served.announce(app);
    }
    if let Some(url) = app.base_url() {
        stderr::line(&format!(
            "holdpoint wrap: the calls of `{name}` are recorded and held at {url}"
        ));
    }
}

/// Where shells look for a server. One that `holdpoint tool` started says there that it is ready.
fn enter(app: &App, starter: Starter) -> Option<servers::Entered> {
    let server = Server::here(app.http.get()?.first()?.port(), starter);
    let entered = server.enter();
    if starter == Starter::Tool
        && let Ok(line) = serde_json::to_string(&server)
    {
        out::line(line);
    }
    entered
}

/// Whether the port file is to name this server. Where a person or an agent has one running, apps go on
/// finding that, and only this folder's shells find the one that a tool started.
fn is_for_everybody(starter: Starter) -> bool {
    starter != Starter::Tool || servers::running().is_empty()
}

/// HTTP, and MCP on stdio, under way.
pub(crate) struct Served {
    tasks: JoinSet<()>,
    /// Taken away at the end, after the last answer.
    port_files: Option<PortFiles>,
}

impl Served {
    pub(crate) fn start(
        app: &App,
        gate: Gate,
        listeners: Vec<TcpListener>,
        with_sse: bool,
    ) -> anyhow::Result<Served> {
        let addresses =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        app.http.get_or_init(|| addresses);
        if let Some(url) = app.base_url() {
            tracing::info!("listening on {url}");
        }
        let users = gate.users();
        let lanes = Lanes::new(Door::new(app.clone(), gate, with_sse), app.shutdown.clone());
        let mut tasks = JoinSet::new();
        for listener in listen::Bounded::all(listeners, &users) {
            // Ended by the shutdown token, awaited or aborted in `stop`.
            tasks.spawn(Arc::clone(&lanes).serve(listener));
        }
        Ok(Served { tasks, port_files: None })
    }

    /// Writes the port where clients look for it.
    pub(crate) fn announce(&mut self, app: &App) {
        let port = app.http.get().and_then(|addresses| Some(addresses.first()?.port()));
        self.port_files = port.map(PortFiles::write);
    }

    /// Serves stdin and stdout. What is returned ends when the process is to end with stdin; else never.
    fn serve_stdio(
        &mut self,
        app: &App,
        stdio: Stdio,
        wrapped: Option<Wrapped>,
    ) -> impl Future<Output = ()> + use<> {
        let ended = CancellationToken::new();
        let leads = stdio == Stdio::Leads;
        if stdio != Stdio::Off {
            let (app, ended) = (app.clone(), ended.clone());
            // Ended by stdin or by the shutdown token, awaited or aborted in `stop`.
            self.tasks.spawn(async move {
                match wrapped {
                    Some(wrapped) => wrap::serve(app, wrapped).await,
                    None => mcp::stdio::serve(app).await,
                }
                tracing::info!("MCP on stdio has ended");
                if leads {
                    ended.cancel();
                }
            });
        }
        async move { ended.cancelled().await }
    }
}

pub(crate) async fn stop(app: &App, reason: &str, mut served: Served) {
    tracing::info!(reason, "stopping");
    let last = app.engine.log.append(Event::ServerStopping { reason: reason.to_owned() });
    // The programs first: their ends are the last thing clients hear. Other servers end beside them.
    let others = async {
        if let Some(external) = app.external.get() {
            external.stop().await;
        }
    };
    let ends = async { tokio::join!(app.engine.sessions.stop_all(), others) };
    if tokio::time::timeout(limits::PROGRAMS_END, ends).await.is_err() {
        tracing::debug!("a program took too long to end; its guard sees to it");
    }
    // Whoever is paused goes on, and is heard out: an app must neither hang nor end because its debugger went.
    if let Some(callpoints) = app.engine.opened_callpoints() {
        callpoints.close().await;
    }
    let farewell = async {
        app.delivery.everyone(last.max(app.engine.log.head())).await;
        app.shutdown.cancel();
        while served.tasks.join_next().await.is_some() {}
    };
    if tokio::time::timeout(limits::FAREWELL, farewell).await.is_err() {
        tracing::debug!("some clients did not take their last messages in time");
        app.shutdown.cancel();
    }
    // However long the farewell took: what clients were told is to be found by the next server.
    if tokio::time::timeout(limits::LAST_EVENTS, app.engine.settle()).await.is_err() {
        tracing::warn!("the end of the timeline is not kept: the store did not answer in time");
    } else if tokio::time::timeout(limits::LAST_FLUSH, app.engine.flush()).await.is_err() {
        tracing::debug!("the disk is slow: a power cut now would take the end of the timeline");
    }
}

/// The ways a person or a supervisor asks us to stop.
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupted (SIGINT)",
            _ = self.terminate.recv() => "told to end (SIGTERM)",
            _ = self.hangup.recv() => "the terminal went away (SIGHUP)",
        }
    }
}

fn check_exposure(host: IpAddr, token: Option<&str>) -> anyhow::Result<()> {
    if host.is_loopback() || token.is_some_and(|token| !token.is_empty()) {
        return Ok(());
    }
    bail!(
        "refusing to listen on {host} without a token: anyone who reaches it could run code here\n\
         hint: add --token-file FILE or --token <secret>, or leave --host out to listen on loopback only"
    );
}

/// stderr only: stdout belongs to MCP, or to nobody.
fn start_logging(level: Option<&str>, stdio: Stdio, secrets: &Secrets) -> anyhow::Result<()> {
    use tracing_subscriber::{
        filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
    };
    // An agent shows its user what we write, so by default only what matters.
    let usual = if stdio == Stdio::Off { "warn,rmcp=off,holdpoint=info" } else { "warn,rmcp=off" };
    let filter: Targets =
        level.unwrap_or(usual).parse().context("--log-level is not a level or a filter")?;
    let secrets = Arc::new(secrets.clone());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(move || stderr::LogLines(Arc::clone(&secrets)))
        .with_ansi(stderr::is_terminal())
        .with_target(false);
    tracing_subscriber::registry().with(lines).with(filter).init();
    Ok(())
}
