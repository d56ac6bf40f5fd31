//! Line debugging: a Python program with a bug, found by breakpoint, evaluate and step.

use anyhow::Context as _;
use serde_json::json;

use super::{Scene, stage::Stage};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "A bug in a Python program", play: |stage| Box::pin(play(stage)) };

const PROGRAM: &str = include_str!("../../../../../fixtures/python/invoice.py");

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let (folder, file) = super::written("invoice.py", PROGRAM)?;
    let found = hunt(stage, &file).await;
    std::fs::remove_dir_all(&folder).context("the temporary folder stays")?;
    found
}

async fn hunt(stage: &mut Stage, file: &std::path::Path) -> anyhow::Result<()> {
    let line = super::marked(PROGRAM, "BP: amount")?;
    out::line(
        "invoice.py prints 31.96; by hand it is 31.99. The agent stops where amounts are made:",
    );
    stage.call("debug_breakpoint", &json!({ "file": file, "line": line }).to_string()).await?;
    stage.call("debug_launch", &json!({ "program": file }).to_string()).await?;
    stage.call("debug_continue", "{}").await?;
    out::line("\nThe first line is fine. It runs on to the book, and looks:");
    stage.call("debug_continue", "{}").await?;
    stage.call("debug_step", r#"{"action": "step_in"}"#).await?;
    stage
        .call(
            "debug_evaluate",
            r#"{"expression": "price * 100, int(price * 100), round(price * 100)"}"#,
        )
        .await?;
    out::line("\nint() cuts 1998.9999… to 1998: that is a cent. The program is ended:");
    stage.call("debug_stop", "{}").await?;
    stage
        .call("breakpoint_remove", &json!({ "file": "invoice.py", "line": line }).to_string())
        .await
}
