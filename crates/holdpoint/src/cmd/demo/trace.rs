//! Tracepoints: a hot loop that never stops, and its one odd value in ten thousand.

use anyhow::Context as _;
use serde_json::json;

use super::{Scene, stage::Stage};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "A tracepoint in a hot loop", play: |stage| Box::pin(play(stage)) };

const PROGRAM: &str = include_str!("../../../../../fixtures/python/stock.py");

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let (folder, file) = super::written("stock.py", PROGRAM)?;
    let found = hunt(stage, &file).await;
    std::fs::remove_dir_all(&folder).context("the temporary folder stays")?;
    found
}

async fn hunt(stage: &mut Stage, file: &std::path::Path) -> anyhow::Result<()> {
    let line = super::marked(PROGRAM, "BP: left")?;
    out::line(
        "stock.py ends at 14004 where 10000 is right. Stopping 10,000 times is no way to look:",
    );
    let point = json!({
        "file": file, "line": line,
        "log_message": "order {order['number']}: {order['count']} taken, {left} left",
    });
    stage.call("tracepoint_set", &point.to_string()).await?;
    let launch = json!({ "program": file, "stop_on_entry": false });
    stage.call("debug_launch", &launch.to_string()).await?;
    out::line(
        "\nEvery hit was reported, and none stopped the program. All of them in a few lines:",
    );
    stage.call("tracepoint_read", r#"{"aggregate": true}"#).await?;
    out::line("\nAll orders take 4 but one, which takes -4000: found without a single stop.");
    stage.call("breakpoint_remove", &json!({ "file": "stock.py", "line": line }).to_string()).await
}
