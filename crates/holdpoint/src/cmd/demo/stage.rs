//! The client of the demo: a real server process, a real MCP connection, and its printed transcript.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, bail};
use rmcp::{
    ClientHandler, RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, CustomNotification,
        Implementation, InitializeRequestParams, JsonObject, ProgressNotificationParam,
        ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RunningService},
};
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    sync::mpsc,
};

use crate::{app::VERSION, out};

/// Lines of a program that nobody has read yet.
const LINES: usize = 64;
/// A first launch may have to install a debugger.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

pub(super) struct Stage {
    pub(super) client: RunningService<RoleClient, Listener>,
    pub(super) url: String,
    inbox: mpsc::Receiver<String>,
    /// What came while something else was awaited: the SDK hands pushes over in no fixed order.
    heard: Vec<String>,
    server: Child,
    /// Names the other server, for as long as ours runs.
    others: PathBuf,
}

/// Notes down what the server pushes.
pub(super) struct Listener(mpsc::Sender<String>);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        InitializeRequestParams::new(
            ClientCapabilities::default(),
            Implementation::new("holdpoint demo", VERSION),
        )
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        let params = notification.params.unwrap_or_default();
        self.hear(format!("{} {params}", notification.method));
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        out::line(format_args!("  … {}", progress.message.unwrap_or_default()));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear(format!("notifications/resources/updated {}", params.uri));
    }
}

impl Listener {
    fn hear(&self, line: String) {
        if self.0.try_send(line).is_err() {
            tracing::debug!("the demo no longer listens");
        }
    }
}

/// The server of the last scene, which is this program again.
pub(super) const OTHER: &str = "other";

/// The file that names it; the server reads it at its start.
fn others(me: &Path) -> anyhow::Result<PathBuf> {
    let entry = json!({
        "command": me, "args": ["mcp", "--port", "0", "--db", ":memory:"], "transport": "stdio",
    });
    let name = format!("holdpoint-demo-{}.json", std::process::id());
    let file = std::env::temp_dir().join(name);
    let text = json!({ "servers": { OTHER: entry } }).to_string();
    std::fs::write(&file, text).context("the file of other servers could not be written")?;
    Ok(file)
}

impl Stage {
    pub(super) async fn open(port: u16) -> anyhow::Result<Stage> {
        let me = std::env::current_exe().context("cannot find this program")?;
        let others = others(&me)?;
        let mut server = Command::new(me)
            .args(["mcp", "--mcp-sse", "--port", &port.to_string()])
            // The scenes are the same whatever is configured here.
            .args(["--toolset", "all", "--structured", "auto"])
            .args(["--mcp-clients-config"])
            .arg(&others)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the server")?;
        let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
            bail!("the server has no stdin or stdout");
        };
        let (sender, inbox) = mpsc::channel(LINES);
        let connecting = Listener(sender).serve((stdout, stdin));
        let client = tokio::time::timeout(PATIENCE, connecting)
            .await
            .context("the server did not answer in time")?
            .context("the server did not initialize")?;
        let mut stage =
            Stage { client, url: String::new(), inbox, heard: Vec::new(), server, others };
        let status = stage.data("server_status", "{}").await?;
        let url = status.get("http").and_then(Value::as_str).context("the server has no HTTP")?;
        stage.url = url.to_owned();
        Ok(stage)
    }

    /// Calls a tool and shows call and answer.
    pub(super) async fn call(&mut self, name: &'static str, arguments: &str) -> anyhow::Result<()> {
        self.show(name, arguments).await.map(drop)
    }

    /// The same, and the answer's data.
    pub(super) async fn show(
        &mut self,
        name: &'static str,
        arguments: &str,
    ) -> anyhow::Result<Value> {
        out::line(format_args!("\n→ {name} {arguments}"));
        let result = self.send(name, arguments).await?;
        for text in result.content.iter().filter_map(|block| block.as_text()) {
            for line in text.text.lines() {
                out::line(format_args!("  {line}"));
            }
        }
        let answer = result.structured_content.unwrap_or_default();
        Ok(answer.get("data").cloned().unwrap_or_default())
    }

    async fn data(&mut self, name: &'static str, arguments: &str) -> anyhow::Result<Value> {
        let answer = self.send(name, arguments).await?.structured_content.unwrap_or_default();
        answer.get("data").cloned().context("the answer has no data")
    }

    async fn send(
        &mut self,
        name: &'static str,
        arguments: &str,
    ) -> anyhow::Result<rmcp::model::CallToolResult> {
        let arguments: JsonObject = serde_json::from_str(arguments)?;
        let request = CallToolRequestParams::new(name).with_arguments(arguments);
        let answer = tokio::time::timeout(PATIENCE, self.client.call_tool(request));
        answer.await.context("no answer in time")?.with_context(|| format!("{name} failed"))
    }

    /// Shows the next push whose text contains `what`.
    pub(super) async fn hear(&mut self, what: &str) -> anyhow::Result<()> {
        let wanted = async {
            loop {
                if let Some(at) = self.heard.iter().position(|line| line.contains(what)) {
                    return Some(self.heard.remove(at));
                }
                self.heard.push(self.inbox.recv().await?);
            }
        };
        let line = tokio::time::timeout(PATIENCE, wanted).await.ok().flatten();
        out::line(format_args!("⚡ {}", line.with_context(|| format!("{what} never came"))?));
        Ok(())
    }

    pub(super) async fn ended(&mut self) {
        if let Err(error) = self.server.wait().await {
            tracing::error!(%error, "cannot wait for the server");
        }
    }

    /// Ends stdin, which ends the server; one that does not end is killed by its drop.
    pub(super) async fn close(mut self) -> anyhow::Result<()> {
        self.client.close().await.context("closing the connection")?;
        std::fs::remove_file(&self.others).context("the file of other servers stays")?;
        let status = tokio::time::timeout(PATIENCE, self.server.wait())
            .await
            .context("the server did not end with its stdin")??;
        anyhow::ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}
