//! What a server says unasked: its lists changed, a call of it makes progress, it logs something, it wants
//! something. We have no model and no person to ask: sampling is refused, an elicitation declined.
#![expect(deprecated, reason = "logging lives on in four of five revisions")]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use holdpoint_engine::{budget, event::Event, limits, log::Log};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::NotificationContext,
};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use super::{config::ServerConfig, noted::Pace};
use crate::app::VERSION;

/// What was heard of one connection.
#[derive(Default)]
pub(super) struct Heard {
    tools: AtomicBool,
    resources: AtomicBool,
    /// Wakes whoever keeps the lists.
    pub(super) changed: Notify,
    progress: Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>,
    pace: Pace,
}

impl Heard {
    /// Whether the tools, the resources changed since this was asked last.
    pub(super) fn take_changes(&self) -> (bool, bool) {
        let take = |it: &AtomicBool| it.swap(false, Ordering::Relaxed);
        (take(&self.tools), take(&self.resources))
    }

    /// The progress of a call, until it is dropped.
    pub(super) fn follow(&self, token: ProgressToken) -> mpsc::Receiver<ProgressNotificationParam> {
        let (to, from) = mpsc::channel(limits::PROGRESS_QUEUE);
        self.followed().insert(token, to);
        from
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.followed().remove(token);
    }

    fn followed(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>
    {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Ears {
    pub(super) server: String,
    pub(super) config: Arc<ServerConfig>,
    pub(super) heard: Arc<Heard>,
    pub(super) log: Arc<Log>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("holdpoint", VERSION);
        ClientConfig::new(ClientCapabilities::default(), me)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let to = self.heard.followed().get(&said.progress_token).cloned();
        // Full: whoever follows has some to look at already.
        if let Some(to) = to {
            drop(to.try_send(said));
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.tools.store(true, Ordering::Relaxed);
        self.heard.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.resources.store(true, Ordering::Relaxed);
        self.heard.changed.notify_one();
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let Some(left_out) = self.heard.pace.admit(Instant::now()) else { return };
        let text = match &said.data {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut text = budget::cut(&self.config.conceal(&text), limits::EXTERNAL_LOG);
        if left_out > 0 {
            text += &format!(" ({left_out} messages before it were left out)");
        }
        let level = serde_json::to_value(said.level).ok();
        let level = level.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default();
        self.log.append(Event::ExternalLog { server: self.server.clone(), level, text });
    }
}
