//! Callpoints: a shop's till runs with the embedded client, one of its calls is paused, and the agent changes
//! what it was given.

use std::{path::Path, process::Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
};

use super::{
    Scene,
    stage::{PATIENCE, Stage},
};
use crate::out;

pub(super) const SCENE: Scene =
    Scene { title: "A call of a shop's till", play: |stage| Box::pin(play(stage)) };

const PROGRAM: &str = include_str!("../../../../../fixtures/callpoints/till.py");

/// What `--watch` and the callpoint call it.
const FUNCTION: &str = "till:charge";

/// The till prints three lines; whatever more it says is not ours to hold.
const OUTPUT: u64 = 16 * 1024;

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    let (folder, file) = super::written("till.py", PROGRAM)?;
    let done = put_right(stage, &file).await;
    std::fs::remove_dir_all(&folder).context("the temporary folder stays")?;
    done
}

async fn put_right(stage: &mut Stage, file: &Path) -> anyhow::Result<()> {
    out::line(
        "till.py would take 450 euros from Ann, who owes 4.50. The agent asks to see each charge first:",
    );
    let point = json!({ "function_name": FUNCTION });
    let stop = json!({ "function_name": FUNCTION, "behavior": "stop" });
    stage.call("breakpoint_add", &stop.to_string()).await?;
    out::line(format_args!(
        "\nThe app starts, as it is:\n$ holdpoint run --watch '{FUNCTION}' -- python3 till.py"
    ));
    let mut app = start(&stage.url, file)?;
    let waited = stage.show("breakpoint_wait", r#"{"timeout_s": 60}"#).await?;
    let Some(pause) = waited.get("pause_id").and_then(Value::as_str) else {
        anyhow::bail!("the till did not pause; {}", ended(&mut app).await?)
    };
    let question = json!({ "pause_id": pause, "expression": "customer, amount / 100" });
    stage.call("breakpoint_repl_eval", &question.to_string()).await?;
    out::line("\nThe amount is in cents. Ann pays what she owes, and the others are not held:");
    stage.call("breakpoint_remove", &point.to_string()).await?;
    let change = json!({ "pause_id": pause, "modified_args": ["ann", 4.5] });
    stage.call("breakpoint_continue", &change.to_string()).await?;
    out::line("\nThe app's own output, to its end:");
    for line in ended(&mut app).await?.lines() {
        out::line(format_args!("  {line}"));
    }
    out::line("\nEvery call was recorded; Ann's says what was decided:");
    let hers = json!({ "function_name": FUNCTION, "search": "ann", "limit": 1 });
    stage.call("breakpoint_get_call_records", &hers.to_string()).await
}

/// The app under `holdpoint run`, which is this program; it ends with the demo.
fn start(url: &str, file: &Path) -> anyhow::Result<Child> {
    let me = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(me);
    command.args(["run", "--url", url, "--watch", FUNCTION, "--", "python3"]).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    command.spawn().context("cannot start the till")
}

/// What the app printed, once it has ended.
async fn ended(app: &mut Child) -> anyhow::Result<String> {
    let stdout = app.stdout.take().context("the till has no stdout")?;
    let mut printed = String::new();
    let reading = async {
        stdout.take(OUTPUT).read_to_string(&mut printed).await?;
        app.wait().await
    };
    let status = tokio::time::timeout(PATIENCE, reading).await;
    let status = status.context("the till did not end")?.context("the till cannot be read")?;
    anyhow::ensure!(status.success(), "the till ended with {status}: {printed}");
    Ok(printed)
}
