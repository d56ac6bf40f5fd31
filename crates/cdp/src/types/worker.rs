//! The `NodeWorker` domain. Messages of workers travel inside messages of the main thread;
//! [`crate::Client::worker`] hides that.

use serde::{Deserialize, Serialize};

use super::{Done, WorkerSession, commands};

commands! {
    Enable => "NodeWorker.enable", Done;
    Detach => "NodeWorker.detach", Done;
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    /// With `false` workers of a program under `--inspect-brk` wait all the same, and hang.
    pub wait_for_debugger_on_start: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detach {
    pub session_id: WorkerSession,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    pub session_id: WorkerSession,
    pub worker_info: WorkerInfo,
    #[serde(default)]
    pub waiting_for_debugger: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerInfo {
    #[serde(default)]
    pub worker_id: String,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub url: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detached {
    pub session_id: WorkerSession,
}

/// The envelope of a worker's message, from the worker.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Received {
    pub(crate) session_id: WorkerSession,
    pub(crate) message: String,
}

/// The envelope of a worker's message, to the worker.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendMessage<'a> {
    pub(crate) session_id: &'a WorkerSession,
    pub(crate) message: &'a str,
}

pub(crate) const SEND: &str = "NodeWorker.sendMessageToWorker";
pub(crate) const RECEIVED: &str = "NodeWorker.receivedMessageFromWorker";
