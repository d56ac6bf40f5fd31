//! What a tool sends while it works: progress and log messages.
#![expect(deprecated, reason = "logging lives on in four of five revisions")]

use std::time::Duration;

use holdpoint_engine::failure::Failure;
use rmcp::{
    model::{
        CallToolResponse, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    },
    service::ServiceError,
};
use serde_json::json;

use super::fixture::{Client, Fixture, Nothing, text};

/// The suite wants its messages apart from each other.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Progress;

impl Fixture for Progress {
    const NAME: &'static str = "test_tool_with_progress";
    const ABOUT: &'static str = "Reports 0, 50 and 100 of 100 while it works.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        for done in [0.0, 50.0, 100.0] {
            if let Some(token) = client.meta.get_progress_token() {
                let sign = ProgressNotificationParam::new(token, done).with_total(100.0);
                client.peer.notify_progress(sign).await.map_err(unsent)?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(text("Reported progress three times."))
    }
}

pub(super) struct Logging;

impl Fixture for Logging {
    const NAME: &'static str = "test_tool_with_logging";
    const ABOUT: &'static str = "Logs three messages while it works.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let steps = ["Tool execution started", "Tool processing data", "Tool execution completed"];
        for step in steps {
            log(&client, step).await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(text("Logged three messages."))
    }
}

pub(super) struct QuietLogging;

impl Fixture for QuietLogging {
    const NAME: &'static str = "test_logging_tool";
    const ABOUT: &'static str = "Logs one message, if the client wants to hear any.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        log(&client, "Tool execution started").await?;
        Ok(text("Logged for who listens."))
    }
}

pub(super) struct Reconnection;

impl Fixture for Reconnection {
    const NAME: &'static str = "test_reconnection";
    const ABOUT: &'static str = "Answers on a stream that a client could resume.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Ok(text("Reconnection test completed."))
    }
}

/// Since 2026-07-28 a request says in its `_meta` whether it wants messages; before, a client always gets them.
async fn log(client: &Client, message: &str) -> Result<(), Failure> {
    if client.is_stateless() && client.meta.log_level().is_none() {
        return Ok(());
    }
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message))
        .with_logger("conformance");
    client.peer.notify_logging_message(message).await.map_err(unsent)
}

fn unsent(error: ServiceError) -> Failure {
    Failure::internal(format!("a notification did not reach the client: {error}"))
}
