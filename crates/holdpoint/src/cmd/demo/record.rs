//! The recorder: a run that fails is recorded once, and three questions find the cause.

use anyhow::Context as _;
use serde_json::json;

use super::{Scene, stage::Stage};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "One recording, three questions", play: |stage| Box::pin(play(stage)) };

const PROGRAM: &str = include_str!("../../../../../fixtures/python/basket.py");

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let (folder, file) = super::written("basket.py", PROGRAM)?;
    let found = hunt(stage, &file).await;
    std::fs::remove_dir_all(&folder).context("the temporary folder stays")?;
    found
}

async fn hunt(stage: &mut Stage, file: &std::path::Path) -> anyhow::Result<()> {
    out::line("basket.py fails, far from its cause. It is recorded once, then asked:");
    let run = json!({ "program": file, "cwd": file.parent(), "focus": ["price", "total"] });
    stage.call("record_run", &run.to_string()).await?;
    out::line("\nOne price is None, and nobody was told. Which call was that?");
    stage.call("record_calls", r#"{"function": "price", "where": "result is None"}"#).await?;
    out::line("\nWhat happened inside?");
    stage.call("record_frame", r#"{"function": "price", "where": "result is None"}"#).await?;
    out::line("\nAnd what did that do to the sum?");
    stage.call("record_history", r#"{"name": "cents", "in": "total"}"#).await?;
    out::line("\n'Pad' is not 'pad': its price is swallowed as None, and the sum lacks 600.");
    Ok(())
}
