//! Another MCP server, used from here: a call of it is held, and the agent changes what it was given. The other server
//! is this program again, so the scene needs nothing that is not there.

use anyhow::Context as _;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::{
    Scene,
    stage::{OTHER, PATIENCE, Stage},
};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "A call of another MCP server", play: |stage| Box::pin(play(stage)) };

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let tool = format!("{OTHER}/timeline_note");
    out::line(
        "This server was started with another one behind it. What it can do is found by words:",
    );
    stage.call("external_list_tools", r#"{"search": "timeline note"}"#).await?;
    out::line("\nIts calls are held like those of any app:");
    let point = json!({ "function_name": tool, "behavior": "stop", "after": "go" });
    stage.call("breakpoint_add", &point.to_string()).await?;
    let arguments = json!({ "tool": tool, "arguments": { "text": "the launch code is 0000" } });
    out::line(format_args!("\n→ external_call_tool {arguments}"));
    let called = call(stage, &arguments)?;
    let waited = stage.show("breakpoint_wait", r#"{"timeout_s": 60}"#).await?;
    let pause = waited.get("pause_id").and_then(Value::as_str).context("the call did not pause")?;
    out::line("\nThat is nothing to write down. The agent says something else in its place:");
    let change = json!({ "pause_id": pause, "modified_kwargs": { "text": "launched" } });
    stage.call("breakpoint_continue", &change.to_string()).await?;
    let said = tokio::time::timeout(PATIENCE, called).await.context("no answer in time")??;
    out::line(format_args!("\nWhat the other server answered:\n  {said}"));
    stage.call("breakpoint_remove", &json!({ "function_name": tool }).to_string()).await?;
    let kinds = r#"{"kinds": ["external_server", "call_resumed"], "limit": 4}"#;
    stage.call("timeline_query", kinds).await
}

/// Calls beside the stage, which goes on meanwhile. What comes back ends with the server at the latest.
fn call(
    stage: &Stage,
    arguments: &Value,
) -> anyhow::Result<impl Future<Output = anyhow::Result<String>> + use<>> {
    let arguments = arguments.as_object().cloned().context("the arguments are an object")?;
    let request = CallToolRequestParams::new("external_call_tool").with_arguments(arguments);
    let peer = stage.client.peer().clone();
    // Awaited by the scene, with a deadline.
    let task = tokio::spawn(async move { peer.call_tool(request).await });
    Ok(async move {
        let result = task.await?.context("external_call_tool failed")?;
        let text = result.content.first().and_then(|block| block.as_text());
        Ok(text.map(|it| it.text.clone()).unwrap_or_default())
    })
}
