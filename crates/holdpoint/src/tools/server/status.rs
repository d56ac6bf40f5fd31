//! `server_status`: what is running and who is connected. The resource `holdpoint://status` is the same.

use holdpoint_engine::{failure::Failure, ids::Seq, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    http::serving::users::{self, Stranger},
    metadata::workspace::FileRow,
    panics, stderr,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Status;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

#[derive(Serialize)]
pub(crate) struct Report {
    version: &'static str,
    pid: u32,
    started_at: String,
    uptime_s: u64,
    /// Programs under line-level debugging.
    sessions: usize,
    /// Intercepted calls that wait for a decision.
    paused: usize,
    clients: usize,
    client_list: Vec<ClientRow>,
    store: StoreRow,
    /// Parts of the server that failed; each ended only what it was doing.
    panics: u64,
    /// Lines of the log that could not be written.
    log_lines_dropped: u64,
    http: Option<String>,
    /// Users of this machine who tried to connect and may not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    turned_away: Vec<StrangerRow>,
    tools: usize,
    /// The workspace's own files of tools, those that are not mounted too, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_files: Vec<FileRow>,
    seq: Seq,
}

#[derive(Serialize)]
struct ClientRow {
    id: String,
    name: String,
    transport: &'static str,
    protocol: String,
}

#[derive(Serialize)]
struct StrangerRow {
    user: String,
    uid: u32,
    connections: u64,
}

#[derive(Serialize)]
pub(crate) struct StoreRow {
    pub(crate) state: &'static str,
    /// The file, or why there is none.
    detail: String,
}

impl Tool for Status {
    const NAME: &'static str = "server_status";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What Holdpoint is doing: sessions, paused calls, clients, the \
        page's address.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Server";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, _: Call) -> Result<Reply, Failure> {
        let report = Report::of(&app);
        Ok(Answer::new(report.text(), &report)?.into())
    }
}

impl Report {
    pub(crate) fn of(app: &App) -> Report {
        let live = app.clients.live();
        let rows = live.iter().take(limits::STATUS_CLIENTS).map(|client| ClientRow {
            id: client.id.to_string(),
            name: client.name.clone(),
            transport: client.transport.as_str(),
            protocol: client.protocol.clone(),
        });
        Report {
            version: app.engine.version,
            pid: std::process::id(),
            started_at: app.engine.started_at.to_string(),
            uptime_s: app.engine.uptime().as_secs(),
            sessions: app.engine.sessions.live(),
            paused: app.engine.opened_callpoints().map_or(0, |it| it.paused_count()),
            clients: live.len(),
            client_list: rows.collect(),
            store: StoreRow::of(app),
            panics: panics::count(),
            log_lines_dropped: stderr::dropped(),
            http: app.base_url(),
            turned_away: app.turned_away.all().into_iter().map(StrangerRow::of).collect(),
            tools: app.catalogue.tools().count(),
            tool_files: app.tool_files.get().cloned().unwrap_or_default(),
            seq: app.engine.log.head(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "holdpoint {} · pid {} · up {} s · seq {}\nsessions: {} · paused calls: {} · clients: {}",
            self.version,
            self.pid,
            self.uptime_s,
            self.seq,
            self.sessions,
            self.paused,
            self.clients
        );
        for row in &self.client_list {
            text += &format!(
                "\n  {} {} over {} (MCP {})",
                row.id, row.name, row.transport, row.protocol
            );
        }
        if self.clients > self.client_list.len() {
            text += &format!("\n  and {} more", self.clients - self.client_list.len());
        }
        text += &format!("\nstore: {}, {}", self.store.state, self.store.detail);
        if self.panics > 0 {
            text += &format!("\npanics: {} (stderr says where; please report them)", self.panics);
        }
        if self.log_lines_dropped > 0 {
            let lines = self.log_lines_dropped;
            text += &format!("\n{lines} lines of the log were dropped: nobody reads stderr");
        }
        for StrangerRow { user, uid, connections } in &self.turned_away {
            text += &format!(
                "\nrefused: {connections} connections of user {user} (uid {uid}); a server started with \
                 `--allow-user {user}` lets them in"
            );
        }
        for row in self.tool_files.iter().filter(|it| it.is_open()) {
            text += &format!("\n{row}");
        }
        text += &format!("\npage: {}", self.http.as_deref().unwrap_or("HTTP is not listening"));
        text
    }
}

impl StrangerRow {
    fn of(stranger: Stranger) -> StrangerRow {
        let Stranger { uid, connections } = stranger;
        StrangerRow { user: users::name(uid), uid, connections }
    }
}

impl StoreRow {
    pub(crate) fn of(app: &App) -> StoreRow {
        let Some(memory) = app.engine.opened() else {
            return StoreRow {
                state: "closed",
                detail: "opened when a program is debugged or an app calls".to_owned(),
            };
        };
        let place = match memory.path() {
            Some(path) => path.display().to_string(),
            None => "in memory only".to_owned(),
        };
        let state = match (app.engine.store_trouble(), memory.is_open()) {
            (Some(trouble), true) => {
                return StoreRow { state: "failing", detail: format!("{place}: {trouble}") };
            }
            (Some(trouble), false) => return StoreRow { state: "failed", detail: trouble },
            (None, _) => "open",
        };
        let lost = app.engine.opened_callpoints().map_or(0, |it| it.unkept().lost);
        let lost = match lost {
            0 => String::new(),
            lost => format!(" ({lost} recorded calls were lost while it could not be written)"),
        };
        StoreRow { state, detail: format!("{place}{lost}") }
    }
}
