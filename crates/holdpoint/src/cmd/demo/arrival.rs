//! An agent arrives: initialize, list, call, be told, and a failure that says what to do next.

use anyhow::Context as _;
use rmcp::model::SubscribeRequestParams;

use super::{Scene, stage::Stage};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "An agent connects", play: |stage| Box::pin(play(stage)) };

#[expect(
    deprecated,
    reason = "this client speaks 2025-11-25, where resources/subscribe is the way"
)]
async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let info = stage.client.peer_info().context("the server did not introduce itself")?;
    let server = info.server_info.as_ref().context("the server did not name itself")?;
    out::line(format_args!(
        "{} {} over MCP {}",
        server.name, server.version, info.protocol_version
    ));
    let tools = stage.client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    out::line(format_args!("tools: {}", names.join(", ")));
    stage.call("server_status", "{}").await?;
    out::line("\nIt subscribes to the timeline, leaves a note, and is told of it:");
    stage.client.subscribe(SubscribeRequestParams::new("holdpoint://timeline")).await?;
    stage
        .call("timeline_note", r#"{"text": "total is off by one cent; suspect rounding"}"#)
        .await?;
    stage.hear("notifications/timeline/note").await?;
    stage.hear("holdpoint://timeline").await?;
    stage.call("timeline_query", r#"{"since": 0}"#).await?;
    out::line("\nA wrong call says how to make it right:");
    stage.call("timeline_query", r#"{"knids": ["note"]}"#).await
}
